// What has become of the order that was sent, in words.

import { h } from "../dom.js";
import { dateTime, money } from "../format.js";
import { t, tOr } from "../i18n/index.js";
import { sentence } from "../problems.js";
import { TRIES } from "../retry_rules.js";
import { orderHref } from "../router.js";
import * as submission from "../submission.js";
import { note } from "./page.js";

/** The note for the present phase, or null. */
export function outcome(products) {
  const state = submission.current();
  return parts[state.phase]?.(state, products) ?? null;
}

const parts = {
  sending: ({ attempt }, products) =>
    attempt === 1
      ? note("info", t("submission.sending"))
      : note("info", t("submission.again", { attempt, tries: TRIES }), whatWasSent(products)),

  waiting: ({ attempt, error }, products) =>
    note(
      "warn",
      sentence(error),
      h("p", {}, t("submission.waiting", { attempt: attempt + 1, tries: TRIES })),
      whatWasSent(products),
      button("try-now", t("submission.try_now"), submission.tryNow),
    ),

  stalled: ({ error }, products) =>
    note(
      "bad",
      sentence(error),
      h("p", {}, t("submission.stalled")),
      whatWasSent(products),
      button("try-again", t("submission.try_again"), submission.tryNow, "primary"),
    ),

  refused: ({ error }) =>
    note("bad", sentence(error), existingOrder(error), h("p", { class: "faint" }, t("submission.token_kept"))),

  look_first: ({ error, orders }) =>
    note("bad", sentence(error), latestOrders(orders), h("p", {}, t("submission.confirm_again"))),
};

const button = (testid, text, onclick, kind = "") =>
  h("button", { type: "button", class: kind, "data-testid": testid, onclick }, text);

/** The cart may have been edited since: this is what the service was asked for. */
function whatWasSent(products) {
  const sent = submission.unresolved();
  if (!sent) return null;
  const nameOf = (id) => products.find((product) => product.id === id)?.name ?? id;
  const list = sent.items.map(({ product_id: id, quantity }) => h("li", {}, `${quantity} × ${nameOf(id)}`));
  return h("ul", { class: "sent", "data-testid": "sent-items" }, list);
}

const existingOrder = ({ extras }) =>
  extras?.order_id &&
  h("a", { href: orderHref(extras.order_id), "data-testid": "existing-order" }, t("submission.to_existing"));

function latestOrders(orders) {
  if (!orders) return h("a", { href: "#/orders" }, t("nav.orders"));
  if (!orders.length) return h("p", {}, t("submission.no_orders"));
  return h(
    "ul",
    { class: "sent", "data-testid": "latest-orders" },
    orders.map((order) =>
      h(
        "li",
        {},
        h("a", { href: orderHref(order.id) }, dateTime(order.created_at)),
        ` · ${money(order.amount, order.currency)} · ${tOr(`status.${order.status}`, order.status)}`,
      ),
    ),
  );
}

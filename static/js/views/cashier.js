// The cashier: what is to be paid, what can be done about it, and what the gateway and the shop made of it.

import { h, redraw } from "../dom.js";
import { money } from "../format.js";
import { t, tOr } from "../i18n/index.js";
import { orderHref } from "../router.js";
import { actions } from "./cashier_actions.js";
import { log } from "./cashier_log.js";
import { watch } from "./cashier_watch.js";
import { empty, failure, load, note, page } from "./page.js";
import { timeline } from "./timeline.js";

const KINDS = { OPEN: "open", PAID: "good", CLOSED: "over" };

export const shopHref = (orderId) => `/${orderHref(orderId)}`;

export function cashier(main, { id, signal }) {
  const content = h("div", { class: "stack" });
  page(main, t("title.cashier"), h("p", { class: "lead" }, t("cashier.lead")), content);
  const state = watch(id, signal);
  load(content, signal, state.first, () => show(content, state, signal));
}

function show(content, state, signal) {
  if (!state.payment) {
    content.replaceChildren(empty(t("cashier.missing"), "/", t("nav.shop")));
    return;
  }
  const trouble = h("div", { "aria-live": "polite" });
  const due = h("section", { class: "card due", "aria-label": t("cashier.due"), "data-testid": "due" });
  const deeds = actions(state);
  const messages = h("div", {});
  const events = h("div", {});
  content.replaceChildren(trouble, due, deeds.element, halves(messages, events));

  const draw = () => {
    redrawIfNew(trouble, state.trouble?.message, () => (state.trouble ? [note("warn", t("cashier.no_answer"))] : []));
    redrawIfNew(due, state.payment, dueContent);
    deeds.draw();
    redrawIfNew(messages, state.payment.messages, (found) => [log(found, state.payment.currency)]);
    redrawIfNew(events, [state.entries, state.refusal?.status], () => [story(state)]);
  };
  draw();
  state.onChange(draw, signal);
  state.follow();
}

const halves = (messages, events) =>
  h(
    "div",
    { class: "halves" },
    h("section", { class: "card", "aria-label": t("log.title") }, h("h2", { tabindex: -1 }, t("log.title")), messages),
    h("section", { class: "card", "aria-label": t("timeline.title") }, h("h2", {}, t("cashier.order_side")), events),
  );

const drawn = new WeakMap();

/** What has not changed is left in peace: it may be being read. */
function redrawIfNew(region, value, content) {
  const text = JSON.stringify(value ?? null);
  if (drawn.get(region) === text) return;
  drawn.set(region, text);
  redraw(region, content(value));
}

const dueContent = (payment) => [
  h(
    "div",
    {},
    h("p", { class: "faint" }, t("cashier.due")),
    h("p", { class: "sum", "data-testid": "due-amount" }, money(payment.amount, payment.currency)),
    h(
      "span",
      {
        class: `chip ${KINDS[payment.status] ?? "over"}`,
        "data-testid": "gateway-status",
        "data-status": payment.status,
      },
      tOr(`cashier.${payment.status}`, payment.status),
    ),
  ),
  facts(payment),
  h("a", { class: "button", href: shopHref(payment.order_id), "data-testid": "back-to-order" }, t("cashier.back")),
];

function facts({ payment_id: id, order_id: order, trade_no: trade, refunded_amount: refunded, currency }) {
  const rows = [
    ["cashier.order", order],
    ["cashier.payment", id],
    ["cashier.trade_no", trade],
    ["order.refunded", refunded > 0 && money(refunded, currency)],
  ];
  return h(
    "dl",
    { class: "facts" },
    rows.filter(([, value]) => value).map(([key, value]) => h("div", {}, h("dt", {}, t(key)), h("dd", {}, value))),
  );
}

/** The order belongs to a customer of the shop, so its timeline needs the sign-in of this tab. */
function story({ entries, refusal, payment }) {
  if (entries) return timeline(entries, payment.currency);
  const link = h("a", { href: shopHref(payment.order_id), "data-testid": "sign-in-first" }, t("cashier.to_sign_in"));
  if (!refusal) return note("info", t("cashier.sign_in"), link);
  return refusal.status === 404 ? note("info", t("cashier.not_yours"), link) : failure(refusal);
}

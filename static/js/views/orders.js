// My orders, the newest first, page by page.

import * as api from "../api.js";
import { h } from "../dom.js";
import { dateTime, money } from "../format.js";
import { t } from "../i18n/index.js";
import { orderHref } from "../router.js";
import { tab } from "../storage.js";
import { empty, failure, load, page } from "./page.js";
import { balanceText } from "./points.js";
import { statusChip } from "./status_chip.js";

const PAGE = 10;

export function orders(main, { signal }) {
  const list = h("ul", { class: "order-list", "data-testid": "orders" });
  const more = h("div", { class: "more" });
  const content = h("div", {});
  const points = h("p", { class: "lead", "data-testid": "points" });
  page(main, t("title.orders"), points, content);
  showPoints(points, signal);
  const limit = Math.max(PAGE, Math.min(tab.get("orders-shown") ?? PAGE, 100));
  load(
    content,
    signal,
    () => api.orders({ limit, signal }),
    (first) => {
      if (first.data.length) content.replaceChildren(list, more);
      else content.replaceChildren(empty(t("orders.none"), "#/", t("nav.shop")));
      append(first, list, more, signal);
    },
  );
}

/** The list is worth showing without them. */
async function showPoints(container, signal) {
  const found = await api.points({ limit: 1, signal }).catch(() => null);
  if (found && !signal.aborted) container.append(h("a", { href: "#/account" }, balanceText(found.balance)));
}

/** How many are shown is remembered, so that "back" from an order finds the list as it was. */
function append({ data, next_cursor: cursor }, list, more, signal) {
  list.append(...data.map(row));
  tab.set("orders-shown", list.children.length);
  more.replaceChildren(cursor ? moreButton(cursor, list, more, signal) : "");
}

const moreButton = (cursor, list, more, signal) =>
  h(
    "button",
    { type: "button", "data-testid": "load-more", onclick: () => next(cursor, list, more, signal) },
    t("orders.more"),
  );

async function next(cursor, list, more, signal) {
  more.querySelector("button").disabled = true;
  const firstNew = list.children.length;
  try {
    append(await api.orders({ limit: PAGE, cursor, signal }), list, more, signal);
    list.children[firstNew]?.querySelector("a").focus();
  } catch (error) {
    if (!signal.aborted) more.replaceChildren(failure(error, () => retry(cursor, list, more, signal)));
  }
}

function retry(cursor, list, more, signal) {
  more.replaceChildren(moreButton(cursor, list, more, signal));
  next(cursor, list, more, signal);
}

const row = (order) =>
  h(
    "li",
    { class: "card order-row", "data-testid": `order-${order.id}` },
    h(
      "a",
      { href: orderHref(order.id) },
      h("span", { class: "when" }, dateTime(order.created_at)),
      h("span", { class: "what" }, order.items.map(({ name, quantity }) => `${quantity} × ${name}`).join(", ")),
      h("span", { class: "amount" }, money(order.amount, order.currency)),
      statusChip(order.status),
      h("span", { class: "faint id" }, `${t(`type.${order.order_type}`)} · ${order.id}`),
    ),
  );

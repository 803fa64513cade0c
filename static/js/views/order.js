// One order: what was bought, where it goes, what may still be done, and everything that has happened to it.

import * as api from "../api.js";
import { h, redraw } from "../dom.js";
import { dateTime, money } from "../format.js";
import { t } from "../i18n/index.js";
import * as submission from "../submission.js";
import { addressCard } from "./order_address.js";
import { cancelButton } from "./order_cancel.js";
import { paymentCard } from "./order_payment.js";
import { receiptButton } from "./order_receipt.js";
import { load, note, page } from "./page.js";
import { statusChip } from "./status_chip.js";
import { timeline } from "./timeline.js";

export function order(main, { id, signal }) {
  const notice = h("div", { class: "notice", "aria-live": "polite", "data-testid": "notice" }, placedNote(id));
  const content = h("div", { class: "with-aside" });
  page(main, t("order.heading", { id }), notice, content);

  const view = { id, signal, notice, content };
  view.reload = (text) => {
    if (text) notice.replaceChildren(text);
    return load(
      content,
      signal,
      () => fetchAll(id, signal),
      (found) => show(view, found),
    );
  };
  view.reload();
}

/** Without a payment there is nothing to pay back. */
async function fetchAll(id, signal) {
  const [found, entries] = await Promise.all([api.order(id, signal), api.timeline(id, signal)]);
  const refunds = found.payment ? await api.refunds(id, signal) : [];
  return { order: found, entries, refunds };
}

function placedNote(id) {
  const { phase, order: placed, replayed } = submission.current();
  if (phase !== "placed" || placed.id !== id) return "";
  return note("good", replayed ? t("order.placed_replayed") : t("order.placed"));
}

function show(view, { order: found, entries, refunds }) {
  redraw(
    view.content,
    h("div", { class: "stack" }, summary(view, found), paymentCard(view, found, refunds), addressCard(view, found)),
    h("div", { class: "card" }, timelineHead(view), timeline(entries, found.currency)),
  );
}

function summary(view, found) {
  return h(
    "section",
    { class: "card", "aria-label": t("order.summary") },
    h(
      "div",
      { class: "order-head" },
      statusChip(found.status),
      h("span", { class: "faint" }, t(`type.${found.order_type}`)),
    ),
    facts(found),
    items(found),
    actions(view, found),
  );
}

function actions(view, { allowed_actions: allowed }) {
  const buttons = [
    allowed.includes("receive") && receiptButton(view),
    allowed.includes("cancel") && cancelButton(view),
  ].filter(Boolean);
  return buttons.length > 0 && h("div", { class: "actions" }, buttons);
}

function facts(found) {
  const times = ["created_at", "expires_at", "paid_at", "shipped_at", "finished_at", "closed_at"];
  const isOpen = ["PENDING_PAYMENT", "PAYING"].includes(found.status);
  const shown = times.filter((name) => found[name] && (name !== "expires_at" || isOpen));
  return h(
    "dl",
    { class: "facts" },
    shown.map((name) => h("div", {}, h("dt", {}, t(`order.${name}`)), h("dd", {}, dateTime(found[name])))),
    found.shipment && shipment(found.shipment),
  );
}

const shipment = ({ carrier, tracking_no: number }) =>
  h("div", {}, h("dt", {}, t("order.shipment")), h("dd", { "data-testid": "shipment" }, `${carrier} ${number}`));

function items({ items: bought, amount, refunded_amount: refunded, currency }) {
  return h(
    "table",
    { class: "items", "data-testid": "items" },
    h("caption", { class: "unseen" }, t("order.items")),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["item", "quantity", "price"].map((name) => h("th", { scope: "col" }, t(`order.${name}`))),
      ),
    ),
    h(
      "tbody",
      {},
      bought.map(({ name, sku, quantity, unit_price: price }) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, name, h("small", { class: "faint" }, sku)),
          h("td", {}, String(quantity)),
          h("td", {}, money(price * quantity, currency)),
        ),
      ),
    ),
    h("tfoot", {}, foot("order.total", amount, currency), refunded > 0 && foot("order.refunded", refunded, currency)),
  );
}

const foot = (key, amount, currency) =>
  h(
    "tr",
    {},
    h("th", { scope: "row", colspan: 2 }, t(key)),
    h("td", { "data-testid": key.replace(".", "-") }, money(amount, currency)),
  );

const timelineHead = (view) =>
  h(
    "div",
    { class: "head-with-action" },
    h("h2", { tabindex: -1 }, t("timeline.title")),
    h(
      "button",
      { type: "button", class: "quiet", "data-testid": "refresh", onclick: () => view.reload() },
      t("page.refresh"),
    ),
  );

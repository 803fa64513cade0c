// The status of an order, a payment or a refund: a word, with a colour that only repeats it.

import { h } from "../dom.js";
import { tOr } from "../i18n/index.js";

const kinds = {
  PENDING_PAYMENT: "open",
  PAYING: "open",
  PAID: "good",
  SHIPPED: "good",
  FINISHED: "good",
  CLOSED: "over",
  REFUNDING: "open",
  REFUNDED: "over",
};

const paymentKinds = { CREATED: "open", LIVE: "open", SUCCEEDED: "good", FAILED: "bad", CLOSED: "over" };
const refundKinds = { REQUESTED: "open", PROCESSING: "open", SUCCEEDED: "good", FAILED: "bad" };

export const statusChip = (status) => chip(kinds, "status", status);

export const paymentChip = (status) => chip(paymentKinds, "payment", status);

export const refundChip = (status) => chip(refundKinds, "refund", status);

const chip = (colours, name, status) =>
  h(
    "span",
    { class: `chip ${colours[status] ?? "over"}`, "data-testid": `${name}-chip`, "data-status": status },
    tOr(`${name}.${status}`, status),
  );

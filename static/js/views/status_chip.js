// An order's status: a word, with a colour that only repeats it.

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

export const statusName = (status) => tOr(`status.${status}`, status);

export const statusChip = (status) =>
  h(
    "span",
    { class: `chip ${kinds[status] ?? "over"}`, "data-testid": "status-chip", "data-status": status },
    statusName(status),
  );

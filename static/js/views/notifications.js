// What the shop has told: a sentence for each event, in the reader's language.

import * as api from "../api.js";
import { announce, h } from "../dom.js";
import { dateTime, money } from "../format.js";
import { has, t } from "../i18n/index.js";
import { feedList } from "./feed_list.js";

const PAGE = 10;

/** `{element, refresh}`; `refresh` resolves to the new notifications. */
export function notificationsCard(signal) {
  const fetchPage = (cursor) => api.notifications({ limit: PAGE, cursor, signal });
  const list = feedList({ name: "notifications", fetchPage, content, none: t("notifications.none"), signal });
  const title = h("h2", { tabindex: -1 }, t("notifications.title"));
  const element = h("section", { class: "card", "aria-label": t("notifications.title") }, title, list.element);
  return { element, refresh: list.refresh };
}

/** Reads out what has come since the page was opened, the oldest first. */
export const readOut = (fresh) => fresh.length && announce(fresh.map(words).reverse().join(" "));

const content = (told) => [
  h("span", { class: "what" }, words(told)),
  h("time", { class: "faint", datetime: told.created_at }, dateTime(told.created_at)),
];

function words({ type, order_id: order, payload: { amount, currency, carrier } }) {
  const key = `notification.${type}`;
  const sum = Number.isInteger(amount) && money(amount, currency);
  return has(key) ? t(key, { order, amount: sum, carrier }) : t("notification.other", { order, type });
}

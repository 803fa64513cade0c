// My points: the balance, and what moved it.

import * as api from "../api.js";
import { h } from "../dom.js";
import { dateTime, number, signed } from "../format.js";
import { t, tOr } from "../i18n/index.js";
import { feedList } from "./feed_list.js";

const PAGE = 5;

export const balanceText = (count) => t("points.balance", { count, points: number(count) });

/** `{element, refresh}`; `refresh` resolves to the new movements. */
export function pointsCard(signal) {
  const balance = h("p", { class: "balance", "aria-live": "polite", "data-testid": "balance" });
  const fetchPage = async (cursor) => {
    const page = await api.points({ limit: PAGE, cursor, signal });
    show(balance, page.balance);
    return page;
  };
  const list = feedList({ name: "movements", fetchPage, content, none: t("points.none"), signal });
  const title = h("h2", { tabindex: -1 }, t("points.title"));
  const element = h("section", { class: "card", "aria-label": t("points.title") }, title, balance, list.element);
  return { element, refresh: list.refresh };
}

/** A text that is set again is read out again. */
function show(balance, points) {
  const text = balanceText(points);
  if (balance.textContent !== text) balance.textContent = text;
}

const content = ({ order_id: order, change, reason, created_at: at }) => [
  h("strong", { class: "change", "data-testid": "change" }, signed(change)),
  h("span", { class: "what" }, tOr(`points.${reason}`, reason)),
  h("span", { class: "faint" }, `${t("order.heading", { id: order })} · `, time(at)),
];

const time = (at) => h("time", { datetime: at }, dateTime(at));

// My account: points, and what the shop has told. Both come a moment after what happened, so the page keeps looking.

import { h } from "../dom.js";
import { follow, isRecent } from "../follow.js";
import { t } from "../i18n/index.js";
import { notificationsCard, readOut } from "./notifications.js";
import { load, note, page } from "./page.js";
import { pointsCard } from "./points.js";

export function account(main, { signal }) {
  const notice = h("div", { class: "notice", "aria-live": "polite", "data-testid": "notice" });
  const content = h("div", { class: "purse" });
  page(main, t("title.account"), notice, content);
  const view = { notice, points: pointsCard(signal), notifications: notificationsCard(signal), news: Date.now() };
  load(
    content,
    signal,
    () => look(view),
    () => {
      content.replaceChildren(view.points.element, view.notifications.element);
      follow(
        () => lookAgain(view, signal),
        () => isRecent(view.news),
        signal,
      );
    },
  );
}

/** What the shop has told since the last look. */
async function look({ points, notifications }) {
  const [movements, told] = await Promise.all([points.refresh(), notifications.refresh()]);
  return { told, isNews: movements.length + told.length > 0 };
}

async function lookAgain(view, signal) {
  try {
    const { told, isNews } = await look(view);
    if (signal.aborted) return;
    if (isNews) view.news = Date.now();
    readOut(told);
    view.notice.replaceChildren();
  } catch {
    if (!signal.aborted && !view.notice.hasChildNodes()) view.notice.append(note("warn", t("account.stale")));
  }
}

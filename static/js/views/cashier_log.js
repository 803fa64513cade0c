// The gateway's log: each message, how often it was delivered, and what the shop answered.

import { h } from "../dom.js";
import { exactTime, money, number } from "../format.js";
import { t, tOr } from "../i18n/index.js";

export const log = (messages, currency) =>
  messages.length
    ? h(
        "ol",
        { class: "timeline", "data-testid": "log" },
        messages.map((message) => messageOf(message, currency)),
      )
    : h("p", { class: "faint nothing" }, t("log.none"));

const messageOf = (message, currency) =>
  h(
    "li",
    { class: "entry kind-other", "data-testid": "message", "data-type": message.type },
    h(
      "p",
      { class: "what" },
      tOr(`message.${message.type}`, message.type),
      !message.signed && h("span", { class: "chip bad", "data-testid": "forged" }, t("log.forged")),
    ),
    h(
      "p",
      { class: "faint" },
      h("time", { datetime: message.created_at }, exactTime(message.created_at)),
      Number.isInteger(message.amount) && ` · ${money(message.amount, currency)}`,
      ` · ${message.id}`,
    ),
    h("ul", { class: "answers" }, alike(message.deliveries).map(answer)),
    h("p", { class: "faint" }, expectation(message)),
  );

/** Deliveries with the same answer are one line, in the order in which the answers first came. */
const alike = (deliveries) => [...Map.groupBy(deliveries, ({ status, body }) => `${status} ${body}`).values()];

function answer(same) {
  const [{ status, body }] = same;
  const isFine = status >= 200 && status < 300;
  return h(
    "li",
    { "data-testid": "answer", "data-status": status, "data-count": same.length },
    h("span", { class: "times" }, `${number(same.length)} ×`),
    h("span", { class: `chip ${isFine ? "good" : "bad"}` }, status ? String(status) : t("log.no_answer")),
    body && h("code", {}, body),
  );
}

function expectation({ deliveries, next_attempt_at: next }) {
  if (next) return t("log.next", { time: exactTime(next) });
  return deliveries.length ? null : t("log.not_yet");
}

// What has happened to an order. Entries of a kind that this page does not know are shown as they are.

import { h } from "../dom.js";
import { exactTime, money } from "../format.js";
import { has, t } from "../i18n/index.js";
import { statusChip } from "./status_chip.js";

export const timeline = (entries) =>
  entries.length
    ? h("ol", { class: "timeline", "data-testid": "timeline" }, entries.map(entryOf))
    : h("p", { class: "faint" }, t("timeline.none"));

function entryOf(entry) {
  const { type = "", from, to, actor, created_at: at, kind } = entry;
  return h(
    "li",
    { class: `entry kind-${kind === "event" ? "event" : "other"}`, "data-testid": "entry", "data-type": type },
    h("p", { class: "what" }, nameOf(type), outcomeChip(entry)),
    from !== to &&
      to &&
      h(
        "p",
        { class: "move" },
        from && [statusChip(from), h("span", { "aria-label": t("timeline.to") }, " → ")],
        statusChip(to),
      ),
    h("p", { class: "faint" }, at && h("time", { datetime: at }, exactTime(at)), actor && ` · ${actorName(actor)}`),
    details(entry),
  );
}

/** `OrderPlaced`, `order_placed` and `payment.succeeded` all find their text; any other becomes words. */
function nameOf(type) {
  const key = `event.${type.toLowerCase().replace(/[^a-z]/g, "")}`;
  return has(key) ? t(key) : type.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[._]/g, " ") || t("timeline.unknown");
}

function outcomeChip({ outcome, deliveries }) {
  if (!outcome && !deliveries) return null;
  const times = deliveries > 1 ? t("timeline.deliveries", { count: deliveries }) : null;
  return h("span", { class: "chip over", "data-testid": "outcome" }, [outcome, times].filter(Boolean).join(" · "));
}

function actorName(actor) {
  const [role, ...rest] = String(actor).split(":");
  return [has(`actor.${role}`) ? t(`actor.${role}`) : role, rest.join(":")].filter(Boolean).join(" ");
}

function details({ payload }) {
  const rows = flat(payload ?? {});
  if (!rows.length) return null;
  return h(
    "details",
    {},
    h("summary", {}, t("timeline.details")),
    h(
      "dl",
      { class: "facts" },
      rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, valueText(name, value, payload)))),
    ),
  );
}

/** `{items: [{name: "x"}]}` becomes `[["items.1.name", "x"]]`; what is null says nothing. */
function flat(value, path = []) {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return path.length ? [[path.join("."), value]] : [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) => flat(inner, [...path, isList ? Number(key) + 1 : key]));
}

function valueText(name, value, { currency }) {
  const isMoney = currency && Number.isInteger(value) && /(amount|price)$/.test(name);
  return isMoney ? money(value, currency) : String(value);
}

// What has happened to an order, and what the gateway told about it. Entries of a kind that this page does not know are shown as they are.

import { h } from "../dom.js";
import { exactTime, money } from "../format.js";
import { has, t, tOr } from "../i18n/index.js";
import { statusChip } from "./status_chip.js";

/** `currency` is the order's: amounts in an entry that names no other are in it. */
export const timeline = ({ data, archived }, currency) =>
  h(
    "div",
    {},
    archived && h("p", { class: "faint", "data-testid": "archived" }, t("timeline.archived")),
    data.length
      ? h(
          "ol",
          { class: "timeline", "data-testid": "timeline" },
          data.map((entry) => entryOf(entry, currency)),
        )
      : !archived && h("p", { class: "faint" }, t("timeline.none")),
  );

function entryOf(entry, currency) {
  const { type = "", from, to, created_at: at, kind } = entry;
  return h(
    "li",
    { class: `entry kind-${kind === "event" ? "event" : "other"}`, "data-testid": "entry", "data-type": type },
    h("p", { class: "what" }, nameOf(entry), outcomeChip(entry), entry.late && lateChip()),
    from !== to &&
      to &&
      h(
        "p",
        { class: "move" },
        from && [statusChip(from), h("span", { "aria-label": t("timeline.to") }, " → ")],
        statusChip(to),
      ),
    h("p", { class: "faint" }, at && h("time", { datetime: at }, exactTime(at)), source(entry)),
    details(entry, currency),
  );
}

/** Who did it, or which gateway told it, and of how much. */
function source({ actor, gateway, amount, currency }) {
  const sum = currency && Number.isInteger(amount) && money(amount, currency);
  const texts = [actor && actorName(actor), gateway && tOr(`gateway.${gateway}`, gateway), sum].filter(Boolean);
  return texts.map((text) => ` · ${text}`);
}

/** `OrderPlaced`, `order_placed` and `payment.succeeded` all find their text; any other becomes words. */
function nameOf({ kind, type = "" }) {
  if (kind === "callback" && has(`callback.${type}`)) return t(`callback.${type}`);
  const key = `event.${type.toLowerCase().replace(/[^a-z]/g, "")}`;
  return has(key) ? t(key) : type.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[._]/g, " ") || t("timeline.unknown");
}

const outcomeKinds = { APPLIED: "good", PARKED: "open", UNRESOLVED: "open", REFUSED: "bad" };

function outcomeChip({ outcome, deliveries }) {
  if (!outcome && !deliveries) return null;
  const times = deliveries > 0 && t("timeline.deliveries", { count: deliveries });
  return h(
    "span",
    {
      class: `chip ${outcomeKinds[outcome] ?? "over"}`,
      "data-testid": "outcome",
      "data-outcome": outcome,
      "data-deliveries": deliveries,
    },
    [outcome && tOr(`outcome.${outcome}`, outcome), times].filter(Boolean).join(" · "),
  );
}

const lateChip = () => h("span", { class: "chip open", "data-testid": "late" }, t("timeline.late"));

function actorName(actor) {
  const [role, ...rest] = String(actor).split(":");
  const name = rest.join(":");
  return [tOr(`actor.${role}`, role), tOr(`gateway.${name}`, name)].filter(Boolean).join(" ");
}

/** A callback has no payload; what it names is told instead. */
function details(entry, currency) {
  const {
    kind,
    seq,
    event_id: event,
    payment_id,
    event_time,
    payload = { event_id: event, payment_id, event_time },
  } = entry;
  const rows = flat(payload ?? {});
  if (!rows.length) return null;
  return h(
    "details",
    {},
    h("summary", { "data-testid": `details-${kind}-${seq ?? event}` }, t("timeline.details")),
    h(
      "dl",
      { class: "facts" },
      rows.map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, valueText(name, value, payload.currency ?? currency))),
      ),
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

function valueText(name, value, currency) {
  const isMoney = Number.isInteger(value) && /(amount|price|paid|refunded)$/.test(name);
  return isMoney ? money(value, currency) : String(value);
}

// The hundred answers: a grid of letters, the counts, the layers, the one order and the stock.

import { h } from "../dom.js";
import { number } from "../format.js";
import { t, tOr } from "../i18n/index.js";
import { orderHref } from "../router.js";
import { TIMES } from "./hundred_run.js";
import { note } from "./page.js";

/** A letter and a shape each, so that nobody depends on the colour. */
const LETTERS = { created: "N", replayed: "R", in_progress: "P", refused: "X", busy: "B", silent: "?" };
const LAYERS = ["gate", "idempotency_record", "order_unique", "token"];

export function results(run, isBusy) {
  const answers = run.answers.filter(Boolean);
  return [
    !isBusy && verdict(run, answers),
    h(
      "div",
      { class: "card hundred" },
      grid(run.answers),
      h("div", { class: "stack" }, legend(answers), layers(answers), stock(run)),
    ),
  ];
}

function verdict(run, answers) {
  const own = answers.filter(({ kind }) => kind === "created" || kind === "replayed");
  const isOwn = own.length > 0;
  const ids = [...new Set((isOwn ? own : answers).map(({ order_id: id }) => id).filter(Boolean))];
  const text = !ids.length
    ? t("hundred.none")
    : isOwn
      ? t("hundred.verdict", { count: ids.length, times: TIMES })
      : t("hundred.exists");
  const links = ids.map((id) =>
    h("a", { href: orderHref(id), "data-testid": "hundred-order" }, t("order.heading", { id })),
  );
  return h(
    "div",
    { "data-testid": "hundred-verdict", role: "status" },
    note(isOwn && ids.length === 1 ? "good" : "warn", text, ...links),
  );
}

const grid = (answers) =>
  h("ol", { class: "grid", "aria-label": t("hundred.grid"), "data-testid": "hundred-grid" }, answers.map(cell));

function cell(answer, index) {
  if (!answer) return h("li", { class: "cell pending", "aria-label": t("hundred.pending", { index: index + 1 }) }, "·");
  const { kind, status, layer, code } = answer;
  const label = [`${index + 1}: ${t(`hundred.${kind}`)}`, status, code, layer && layerName(layer)]
    .filter(Boolean)
    .join(", ");
  return h(
    "li",
    { class: `cell ${kind}`, "aria-label": label, title: label, "data-testid": `cell-${kind}` },
    LETTERS[kind],
  );
}

const countBy = (answers, key) => Map.groupBy(answers, (answer) => answer[key]);

function legend(answers) {
  const groups = countBy(answers, "kind");
  const kinds = Object.keys(LETTERS).filter((kind) => groups.has(kind));
  return table(
    "hundred-legend",
    t("hundred.answers"),
    kinds.map((kind) => ({
      id: kind,
      head: [h("span", { class: `cell ${kind}`, "aria-hidden": "true" }, LETTERS[kind]), t(`hundred.${kind}`)],
      count: groups.get(kind).length,
    })),
  );
}

function layers(answers) {
  const groups = countBy(answers, "layer");
  const names = [...new Set([...LAYERS, ...groups.keys()])].filter((name) => name && groups.has(name));
  return table(
    "hundred-layers",
    t("hundred.layers"),
    names.map((name) => ({
      id: name,
      head: [layerName(name)],
      count: groups.get(name).length,
    })),
  );
}

const layerName = (name) => tOr(`layer.${name}`, name);

const table = (testid, caption, rows) =>
  h(
    "table",
    { class: "counts", "data-testid": testid },
    h("caption", {}, caption),
    h(
      "tbody",
      {},
      rows.map(({ id, head, count }) =>
        h("tr", { "data-testid": `${testid}-${id}` }, h("th", { scope: "row" }, head), h("td", {}, number(count))),
      ),
    ),
  );

function stock({ product, before, after, round }) {
  if (after === undefined || after === null) return null;
  return h(
    "p",
    { class: "stock-change", "data-testid": "hundred-stock" },
    `${t("hundred.stock", { name: product.name })} `,
    h("strong", {}, `${number(before)} → ${number(after)}`),
    h("span", { class: "faint" }, ` ${t("hundred.rounds", { count: round, times: number(round * TIMES) })}`),
  );
}

// "Send it 100 times": one creation, one token, a hundred requests at once, and how each was answered.

import * as api from "../api.js";
import * as development from "../development.js";
import { h, redraw } from "../dom.js";
import { money } from "../format.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";
import * as session from "../session.js";
import { tab } from "../storage.js";
import { ask, sample, TIMES } from "./hundred_run.js";
import { results } from "./hundred_results.js";
import { missing } from "./missing.js";
import { ORDER_TYPES } from "./order_types.js";
import { load, note, page } from "./page.js";

export function hundred(main, { signal }) {
  if (!development.enabled()) {
    missing(main);
    return;
  }
  const content = h("div", { class: "stack" });
  page(main, t("title.hundred"), h("p", { class: "lead" }, t("hundred.lead")), content);
  load(
    content,
    signal,
    () => api.products(signal),
    (products) => show(content, products, signal),
  );
}

function show(content, products, signal) {
  const key = `hundred:${session.current().user}`;
  const view = {
    key,
    products,
    signal,
    run: tab.get(key),
    results: h("div", { class: "stack" }),
    problem: h("div", { "aria-live": "assertive" }),
  };
  view.controls = controls(view);
  redraw(content, view.controls, view.problem, view.results);
  draw(view);
}

function controls(view) {
  const body = view.run ? JSON.parse(view.run.body) : null;
  const product = select("hundred-product", view.products.map(productOption), body?.items[0].product_id);
  const type = select(
    "hundred-type",
    ORDER_TYPES.map((value) => ({ value, text: t(`type.${value}`) })),
    body?.order_type,
  );
  return h(
    "form",
    { class: "card controls", onsubmit: (event) => start(event, view, product.value, type.value) },
    h("div", { class: "field" }, h("label", { for: "hundred-product" }, t("hundred.product")), product),
    h("div", { class: "field" }, h("label", { for: "hundred-type" }, t("checkout.order_type")), type),
    h("button", { type: "submit", class: "primary", "data-testid": "send-hundred" }, t("hundred.send")),
    h("button", { type: "button", "data-testid": "ask-again", onclick: () => fire(view) }, t("hundred.again")),
  );
}

const productOption = ({ id, name, price, currency }) => ({ value: id, text: `${name} · ${money(price, currency)}` });

const select = (id, options, chosen) =>
  h(
    "select",
    { id, "data-testid": id },
    options.map(({ value, text }) => h("option", { value, selected: value === chosen }, text)),
  );

async function start(event, view, productId, orderType) {
  event.preventDefault();
  busy(view, true);
  try {
    const [product, { token }] = await Promise.all([api.product(productId), api.issueToken()]);
    const body = JSON.stringify(sample(product, orderType));
    view.run = { token, body, product, round: 0, before: product.stock.quantity };
    await fire(view);
  } catch (error) {
    view.problem.replaceChildren(note("bad", sentence(error)));
    busy(view, false);
  }
}

/** The first time and "ask again" are the same: the same token, the same body. */
async function fire(view) {
  const { run } = view;
  run.answers = Array(TIMES).fill(null);
  run.round += 1;
  delete run.after;
  view.problem.replaceChildren();
  busy(view, true);
  draw(view);
  await ask(run, () => view.signal.aborted || draw(view));
  const product = await api.product(run.product.id).catch(() => null);
  run.after = product?.stock.quantity ?? null;
  tab.set(view.key, run);
  busy(view, false);
  draw(view);
}

function busy(view, on) {
  for (const button of view.controls.querySelectorAll("button")) button.disabled = on;
  view.controls.querySelector("button[type=submit]").setAttribute("aria-busy", String(on));
  view.isBusy = on;
}

function draw(view) {
  view.controls.querySelector("[data-testid=ask-again]").hidden = !view.run;
  redraw(view.results, view.run ? results(view.run, view.isBusy) : null);
}

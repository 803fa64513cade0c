// The checkout: what, where to, how; and one button that may be pressed any number of times.

import * as api from "../api.js";
import * as cart from "../cart.js";
import { h, redraw } from "../dom.js";
import { clockTime } from "../format.js";
import { t } from "../i18n/index.js";
import { fieldErrors } from "../problems.js";
import { shelf } from "../storage.js";
import * as submission from "../submission.js";
import { addressForm } from "./address_form.js";
import { cartLines, cartTotal } from "./cart_lines.js";
import { orderTypes } from "./order_types.js";
import { empty, load, page } from "./page.js";
import { outcome } from "./submission_status.js";

/** Refusals after which prices and stock on this page are out of date. */
const SHELF_CHANGED = ["out_of_stock", "price_changed", "not_on_sale"];

export function checkout(main, { signal }) {
  const content = h("div", {});
  page(main, t("title.checkout"), content);
  load(
    content,
    signal,
    () => api.products(signal),
    (products) => show(content, products, signal),
  );
}

function show(content, products, signal) {
  const form = addressForm({
    values: shelf.get("address"),
    prefix: "ship",
    onInput: (values) => shelf.set("address", values),
  });
  const view = {
    content,
    form,
    products,
    signal,
    summary: h("div", {}),
    status: statusRegion(),
    button: placeButton(),
  };
  view.element = h(
    "form",
    { class: "with-aside", novalidate: true, "data-testid": "checkout", onsubmit: (event) => submit(event, view) },
    h("div", { class: "stack" }, orderTypes(), fieldset(t("checkout.address"), form.element)),
    h(
      "aside",
      { class: "card basket", "aria-label": t("checkout.summary") },
      view.summary,
      view.status,
      view.button,
      tokenLine(),
    ),
  );
  draw(view);
  cart.onChange(() => draw(view), signal);
  submission.onChange(() => follow(view), signal);
  submission.prepare().then(
    () => !signal.aborted && draw(view),
    () => {},
  );
}

const fieldset = (legend, ...content) => h("fieldset", { class: "card" }, h("legend", {}, legend), ...content);

const statusRegion = () => h("div", { class: "status", "aria-live": "polite", tabindex: -1, "data-testid": "status" });

const placeButton = () => h("button", { type: "submit", class: "primary wide", "data-testid": "place-order" });

/** The line for the curious: which token the order will go out with. */
const tokenLine = () => h("p", { class: "faint token-line", "data-testid": "order-token" });

function draw(view) {
  const lines = cart.lines(view.products);
  const { phase, error } = submission.current();
  if (phase === "placed") return;
  if (!lines.length && !submission.unresolved() && phase !== "look_first") {
    redraw(view.content, empty(t("cart.empty"), "#/", t("nav.shop")));
    return;
  }
  if (!view.element.isConnected) view.content.replaceChildren(view.element);
  const trouble = SHELF_CHANGED.includes(error?.code) ? error.extras.product_id : null;
  redraw(
    view.summary,
    h("h2", { tabindex: -1 }, t("cart.title")),
    lines.length
      ? [cartLines(lines, { trouble, locked: submission.isBusy() }), cartTotal(lines)]
      : h("p", { class: "faint" }, t("cart.empty")),
  );
  redraw(view.status, outcome(view.products));
  drawButton(view, lines);
}

function drawButton({ button, element }, lines) {
  const open = Boolean(submission.unresolved()) || submission.isBusy();
  button.disabled = open || !lines.length;
  button.setAttribute("aria-busy", String(submission.isBusy()));
  button.textContent = t(submission.isBusy() ? "checkout.placing" : "checkout.place");
  const token = submission.kept();
  element.querySelector(".token-line").textContent = token
    ? t("checkout.token", { end: token.token.slice(-6), time: clockTime(token.expires_at) })
    : "";
}

/** The submission has moved on: prices and stock are read again when they were what the service refused. */
function follow(view) {
  draw(view);
  const { phase, error } = submission.current();
  if (phase !== "refused") return;
  view.form.show(fieldErrors(error));
  if (SHELF_CHANGED.includes(error.code)) refresh(view);
}

async function refresh(view) {
  view.products = await api.products(view.signal).catch(() => view.products);
  if (!view.signal.aborted) draw(view);
}

function submit(event, view) {
  event.preventDefault();
  if (submission.isBusy() || submission.unresolved()) return;
  const address = view.form.read();
  const lines = cart.lines(view.products);
  if (!address || !lines.length) return;
  // The button is about to be disabled, and a disabled button loses the focus to nowhere.
  view.status.focus();
  submission.place({
    order_type: new FormData(view.element).get("order_type"),
    items: lines.map(({ product, quantity }) => ({ product_id: product.id, quantity })),
    address,
    expected_amount: cart.total(lines),
  });
}

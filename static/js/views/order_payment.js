// How an order is paid: where the payment stands, the way to the gateway, and what was paid back.

import { h } from "../dom.js";
import { dateTime, money } from "../format.js";
import { t, tOr } from "../i18n/index.js";
import * as payment from "../payment.js";
import { sentence } from "../problems.js";
import { TRIES } from "../retry_rules.js";
import { note } from "./page.js";
import { paymentChip, refundChip } from "./status_chip.js";

const OPEN = ["CREATED", "LIVE", "FAILED"];

/** Null when there is nothing to say about payments yet or any more. */
export function paymentCard(view, order, refunds) {
  const mayPay = order.allowed_actions.includes("pay");
  if (!mayPay && !order.payment && !refunds.length) return null;
  return h(
    "section",
    { class: "card", "aria-label": t("pay.title"), "data-testid": "payment" },
    h(
      "div",
      { class: "head-with-action" },
      h("h2", { tabindex: -1 }, t("pay.title")),
      order.payment && paymentChip(order.payment.status),
    ),
    order.payment && facts(order.payment),
    mayPay && payForm(view, order),
    refunds.length > 0 && refundList(refunds),
  );
}

const gatewayName = (name) => tOr(`gateway.${name}`, name);

const facts = ({ id, gateway, close_requested: isClosing }) =>
  h(
    "dl",
    { class: "facts" },
    h("div", {}, h("dt", {}, t("pay.gateway")), h("dd", {}, gatewayName(gateway))),
    h("div", {}, h("dt", {}, t("pay.id")), h("dd", {}, id)),
    isClosing && h("div", {}, h("dt", {}, t("pay.closing"))),
  );

/** What the button does goes on while the rest of the page is drawn again, so its state belongs to the view. */
function payForm(view, order) {
  view.pay = {
    waiting: null,
    ...view.pay,
    button: h("button", { type: "submit", class: "primary wide", "data-testid": "pay" }),
    status: h("div", { class: "status", "aria-live": "polite", tabindex: -1, "data-testid": "pay-status" }),
    text: t(OPEN.includes(order.payment?.status) ? "pay.go_on" : "pay.button", {
      amount: money(order.amount, order.currency),
    }),
  };
  const form = h(
    "form",
    { class: "stack", onsubmit: (event) => submit(event, view, form), "data-testid": "pay-form" },
    h("div", { class: "options", role: "radiogroup", "aria-label": t("pay.choose") }, payment.GATEWAYS.map(option)),
    view.pay.status,
    view.pay.button,
  );
  draw(view);
  return form;
}

const option = (name, index) =>
  h(
    "label",
    { class: "option" },
    h("input", { type: "radio", name: "gateway", value: name, checked: index === 0, "data-testid": `gateway-${name}` }),
    h("span", {}, h("strong", {}, gatewayName(name)), h("small", {}, tOr(`gateway.${name}.about`, ""))),
  );

function draw(view) {
  const { button, status, text, isBusy, waiting, problem } = view.pay;
  button.disabled = Boolean(isBusy);
  button.setAttribute("aria-busy", String(Boolean(isBusy)));
  button.textContent = isBusy ? t("pay.starting") : text;
  const hadFocus = status.contains(document.activeElement);
  status.replaceChildren(...[statusNote(view, { isBusy, waiting, problem })].filter(Boolean));
  if (hadFocus) status.focus();
}

function statusNote(view, { isBusy, waiting, problem }) {
  if (waiting) return waitingNote(waiting);
  if (isBusy) return null;
  const isKept = payment.isUnanswered(view.id) && h("p", {}, t("pay.unanswered"));
  if (problem) return note("bad", problem, isKept);
  return isKept ? note("warn", t("pay.unanswered")) : null;
}

const waitingNote = ({ attempt, error, wake }) =>
  note(
    "warn",
    sentence(error),
    h("p", {}, t("pay.waiting", { attempt: attempt + 1, tries: TRIES })),
    h("button", { type: "button", "data-testid": "pay-now", onclick: wake }, t("submission.try_now")),
  );

function set(view, state) {
  Object.assign(view.pay, state);
  draw(view);
}

async function submit(event, view, form) {
  event.preventDefault();
  if (view.pay.isBusy) return;
  const gateway = new FormData(form).get("gateway");
  // The button is about to be disabled, and a disabled button loses the focus to nowhere.
  view.pay.status.focus();
  set(view, { isBusy: true, waiting: null, problem: null });
  const onWait = (waiting) => set(view, { waiting });
  try {
    const started = await payment.start(view.id, gateway, { signal: view.signal, onWait });
    if (!view.signal.aborted) goTo(view, started);
  } catch (error) {
    if (!view.signal.aborted) refused(view, error);
  }
}

function goTo(view, started) {
  const address = payment.checkoutAddress(started);
  if (OPEN.includes(started.status) && address) {
    location.assign(address);
    return;
  }
  set(view, { isBusy: false, waiting: null });
  if (OPEN.includes(started.status) && started.checkout_url) set(view, { problem: t("pay.elsewhere") });
  else view.reload(note("warn", t("pay.over")));
}

function refused(view, error) {
  set(view, { isBusy: false, waiting: null, problem: sentence(error) });
  // The order has moved on; what it is now shows why.
  if (error.status !== 409 || payment.isUnanswered(view.id)) return;
  view.pay.problem = null;
  view.reload(note(error.code === "already_paid" ? "info" : "bad", sentence(error)));
}

const refundList = (refunds) => [
  h("h3", {}, t("refund.title")),
  h("ul", { class: "refunds", "data-testid": "refunds" }, refunds.map(refundRow)),
];

/** Only people's reasons are shown: those of machines are for the operators. */
const refundRow = ({ amount, currency, status, origin, reason, created_at: at, settled_at: settled }) =>
  h(
    "li",
    { "data-testid": "refund" },
    h("strong", {}, money(amount, currency)),
    refundChip(status),
    h(
      "p",
      { class: "faint" },
      [dateTime(settled ?? at), tOr(`origin.${origin}`, origin), origin === "SHOP" && reason]
        .filter(Boolean)
        .join(" · "),
    ),
  );

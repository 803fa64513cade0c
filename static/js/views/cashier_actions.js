// The buttons of the cashier: what buyers do, and what goes wrong between a gateway and a shop.

import { h } from "../dom.js";
import { money, number } from "../format.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";
import { note } from "./page.js";

/** In which states of the payment each makes sense. */
const GROUPS = {
  buyer: { pay: ["OPEN"], fail: ["OPEN"], close: ["OPEN"] },
  mishap: {
    pay_three_times: ["OPEN"],
    pay_hundred_times: ["OPEN"],
    close_after_paid: ["OPEN"],
    refund_before_paid: ["OPEN"],
    wrong_amount: ["OPEN"],
    forged_signature: ["OPEN", "PAID", "CLOSED"],
  },
  afterwards: { refund: ["PAID"] },
};

/** `{element, draw}`; `draw` follows the payment's state. */
export function actions(state) {
  const view = {
    state,
    acting: null,
    outcome: h("div", { class: "status", "aria-live": "polite", tabindex: -1, "data-testid": "outcome-of-action" }),
  };
  view.buttons = Object.values(GROUPS).flatMap((group) => Object.keys(group).map((name) => button(view, name)));
  const element = h(
    "section",
    { class: "card stack", "aria-label": t("cashier.actions") },
    h("h2", { tabindex: -1 }, t("cashier.actions")),
    view.outcome,
    Object.entries(GROUPS).map(([name, group]) => groupOf(view, name, Object.keys(group))),
  );
  return { element, draw: () => draw(view) };
}

const groupOf = (view, group, names) =>
  h(
    "div",
    { role: "group", "aria-labelledby": `group-${group}` },
    h("h3", { id: `group-${group}` }, t(`cashier.group.${group}`)),
    h(
      "ul",
      { class: "deeds" },
      names.map((name) =>
        h(
          "li",
          {},
          view.buttons.find(({ dataset }) => dataset.testid === `do-${name}`),
          h("p", { class: "faint", id: `about-${name}` }, t(`do.${name}.about`)),
        ),
      ),
    ),
  );

const button = (view, name) =>
  h(
    "button",
    {
      type: "button",
      class: `wide${name === "pay" ? " primary" : ""}`,
      "aria-describedby": `about-${name}`,
      "data-testid": `do-${name}`,
      onclick: () => act(view, name),
    },
    t(`do.${name}`, { amount: money(view.state.payment.amount, view.state.payment.currency) }),
  );

function draw({ buttons, acting, state: { payment } }) {
  for (const each of buttons) {
    const name = each.dataset.testid.replace("do-", "");
    each.disabled = Boolean(acting) || !makesSense(name, payment);
    each.setAttribute("aria-busy", String(acting === name));
  }
}

function makesSense(name, { status, amount, refunded_amount: refunded }) {
  const states = Object.assign({}, ...Object.values(GROUPS))[name];
  return states.includes(status) && (name !== "refund" || refunded < amount);
}

async function act(view, name) {
  if (view.acting) return;
  const before = view.state.payment;
  view.outcome.replaceChildren(h("p", { class: "faint" }, t("cashier.acting")));
  // The button is about to be disabled, and a disabled button loses the focus to nowhere.
  view.outcome.focus();
  view.acting = name;
  draw(view);
  try {
    const after = await view.state.act(name);
    view.outcome.replaceChildren(told(answersSince(before, after)));
  } catch (error) {
    view.outcome.replaceChildren(note("bad", error.status === 409 ? t("cashier.not_now") : sentence(error)));
    view.state.refresh();
  }
  view.acting = null;
  draw(view);
}

const statuses = ({ messages }) =>
  messages.flatMap(({ id, deliveries }) => deliveries.map(({ status }, index) => ({ at: `${id}/${index}`, status })));

/** How often each status was answered to what has just been delivered: `[[200, 3]]`. */
function answersSince(before, after) {
  const old = new Set(statuses(before).map(({ at }) => at));
  const fresh = statuses(after).filter(({ at }) => !old.has(at));
  return [...Map.groupBy(fresh, ({ status }) => status)].map(([status, all]) => [status, all.length]);
}

function told(answers) {
  if (!answers.length) return note("info", t("cashier.nothing_yet"));
  const text = answers.map(([status, count]) => `${number(count)} × ${status || t("log.no_answer")}`).join(", ");
  const isFine = answers.every(([status]) => status >= 200 && status < 300);
  return note(isFine ? "good" : "warn", t("cashier.answered", { answers: text }));
}

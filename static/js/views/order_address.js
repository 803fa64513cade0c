// Where the order goes, and changing it. A half-typed address is kept until it is saved or dropped.

import * as api from "../api.js";
import { h } from "../dom.js";
import { countryName } from "../format.js";
import { t } from "../i18n/index.js";
import { fieldErrors, sentence } from "../problems.js";
import { tab } from "../storage.js";
import { addressForm } from "./address_form.js";
import { note } from "./page.js";

const draftOf = (id) => `address-draft:${id}`;

export function addressCard(view, order) {
  const card = h("section", { class: "card", "aria-label": t("order.address") });
  const mayChange = order.allowed_actions.includes("change_address");
  const draft = tab.get(draftOf(order.id));
  if (mayChange && draft) edit(card, view, order, draft);
  else display(card, view, order, mayChange);
  return card;
}

function display(card, view, order, mayChange) {
  card.replaceChildren(
    h(
      "div",
      { class: "head-with-action" },
      h("h2", { tabindex: -1 }, t("order.address")),
      mayChange &&
        h(
          "button",
          { type: "button", class: "quiet", "data-testid": "change-address", onclick: () => edit(card, view, order) },
          t("address.change"),
        ),
    ),
    lines(order.address),
  );
}

function lines(address) {
  const { recipient, line1, line2, postal_code: code, city, region, country, phone } = address;
  const texts = [recipient, line1, line2, `${code} ${city}`, `${region}, ${countryName(country)}`, phone].filter(
    Boolean,
  );
  return h(
    "address",
    { "data-testid": "address" },
    texts.map((text) => h("span", {}, text)),
  );
}

function edit(card, view, order, draft) {
  const form = addressForm({
    values: draft ?? order.address,
    prefix: "change",
    onInput: (values) => tab.set(draftOf(order.id), values),
  });
  const problem = h("div", { "aria-live": "assertive", "data-testid": "address-problem" });
  const save = h("button", { type: "submit", class: "primary", "data-testid": "save-address" }, t("address.save"));
  const drop = h(
    "button",
    { type: "button", "data-testid": "drop-address", onclick: () => close(card, view, order) },
    t("address.drop"),
  );
  const onsubmit = (event) => {
    event.preventDefault();
    submit({ view, order, form, problem, save });
  };
  card.replaceChildren(
    h("h2", { tabindex: -1 }, t("address.change")),
    draft ? h("div", { class: "now" }, h("p", { class: "faint" }, t("address.now")), lines(order.address)) : "",
    h("form", { novalidate: true, onsubmit }, form.element, problem, h("div", { class: "actions" }, save, drop)),
  );
  if (!draft) form.element.querySelector("input").focus();
}

function close(card, view, order) {
  tab.remove(draftOf(order.id));
  display(card, view, order, true);
  card.querySelector("button").focus();
}

async function submit({ view, order, form, problem, save }) {
  const address = form.read();
  if (!address || save.disabled) return;
  busy(save, true);
  try {
    await api.changeAddress(order.id, order.version, address);
    tab.remove(draftOf(order.id));
    view.reload(note("good", t("address.saved")));
  } catch (error) {
    refused({ view, order, form, problem, address }, error);
  } finally {
    busy(save, false);
  }
}

/** Somebody else was faster: the order is read again, and what was typed stays for a second look. */
function refused({ view, order, form, problem, address }, error) {
  if (error.status === 412 || error.status === 409) {
    tab.set(draftOf(order.id), address);
    view.reload(note("bad", sentence(error)));
    return;
  }
  problem.replaceChildren(note("bad", sentence(error)));
  form.show(fieldErrors(error));
}

function busy(button, on) {
  button.disabled = on;
  button.setAttribute("aria-busy", String(on));
}

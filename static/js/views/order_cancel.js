// Cancelling, after a question. Cancelling twice is the same as once, so a lost answer is simply asked for again.

import * as api from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";
import { note } from "./page.js";

export const cancelButton = (view) =>
  h(
    "button",
    { type: "button", class: "danger", "data-testid": "cancel-order", onclick: () => ask(view) },
    t("cancel.button"),
  );

function ask(view) {
  const problem = h("div", { "aria-live": "assertive" });
  const keep = h(
    "button",
    { type: "button", "data-testid": "cancel-no", onclick: () => dialog.close() },
    t("cancel.no"),
  );
  const yes = h(
    "button",
    { type: "button", class: "danger", "data-testid": "cancel-yes", onclick: () => cancel(view, dialog, yes, problem) },
    t("cancel.yes"),
  );
  const dialog = h(
    "dialog",
    { "aria-labelledby": "cancel-title", "data-testid": "cancel-dialog", onclose: () => dialog.remove() },
    h("h2", { id: "cancel-title" }, t("cancel.title")),
    h("p", {}, t("cancel.text")),
    problem,
    h("div", { class: "actions" }, keep, yes),
  );
  view.signal.addEventListener("abort", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

async function cancel(view, dialog, button, problem) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await api.cancelOrder(view.id);
    dialog.close();
    view.reload(note("good", t("cancel.done")));
  } catch (error) {
    problem.replaceChildren(note("bad", sentence(error)));
    button.disabled = false;
    button.setAttribute("aria-busy", "false");
    // The order may have moved on; what is behind the dialog shows it.
    if (error.status === 409) view.reload();
  }
}

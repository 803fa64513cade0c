// "I have it." Confirming twice is the same as once, so a lost answer is simply asked for again.

import * as api from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";
import { note } from "./page.js";

export function receiptButton(view) {
  const button = h(
    "button",
    { type: "button", class: "primary", "data-testid": "confirm-receipt", onclick: () => confirm(view, button) },
    t("receipt.button"),
  );
  return button;
}

async function confirm(view, button) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await api.confirmReceipt(view.id);
    view.reload(note("good", t("receipt.done")));
  } catch (error) {
    view.notice.replaceChildren(note("bad", sentence(error)));
    button.disabled = false;
    button.setAttribute("aria-busy", "false");
    if (error.status === 409) view.reload();
  }
}

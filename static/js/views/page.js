// What all views share: a heading, loading, failing, notes.

import { h } from "../dom.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";

/** The heading stands at once, so that it can take the focus while the rest is loading. */
export function page(main, title, ...content) {
  main.replaceChildren(h("h1", { tabindex: -1 }, title), ...content.filter(Boolean));
}

/** Loads into `container`. A failure shows its sentence and a button that loads again. */
export async function load(container, signal, fetchIt, show) {
  container.setAttribute("aria-busy", "true");
  if (!container.hasChildNodes()) container.append(h("p", { class: "faint" }, t("page.loading")));
  try {
    const found = await fetchIt();
    if (!signal.aborted) show(found);
  } catch (error) {
    if (!signal.aborted) container.replaceChildren(failure(error, () => load(container, signal, fetchIt, show)));
  }
  container.removeAttribute("aria-busy");
}

export const failure = (error, again) =>
  note(
    "bad",
    sentence(error),
    again && h("button", { type: "button", "data-testid": "retry", onclick: again }, t("page.retry")),
  );

/** `kind` is good · warn · bad · info. A bad one interrupts a screen reader. */
export const note = (kind, text, ...more) =>
  h(
    "div",
    { class: `note ${kind}`, role: kind === "bad" && "alert", "data-testid": `note-${kind}` },
    h("p", {}, text),
    ...more,
  );

export const empty = (text, href, linkText) =>
  h("div", { class: "empty", "data-testid": "empty" }, h("p", {}, text), h("a", { class: "button", href }, linkText));

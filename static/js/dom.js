// Elements from plain calls: no template strings, so no text can become markup.

/**
 * `h("button", { class: "plain", onclick: go, disabled: true }, "Go")`. A function becomes a listener, `true` a bare
 * attribute; `false`, `null` and `undefined` leave the attribute or the child out.
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(...children.flat(Infinity).filter(isShown));
  return element;
}

const isShown = (child) => child !== null && child !== undefined && child !== false;

function setAttribute(element, key, value) {
  if (typeof value === "function") element.addEventListener(key.slice(2), value);
  else if (value === true) element.setAttribute(key, "");
  else if (isShown(value)) element.setAttribute(key, value);
}

/**
 * Replaces the content. What has the same test id stays as it was: the control that had the focus, and details that
 * were open.
 */
export function redraw(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.dataset.testid;
  const open = [...container.querySelectorAll("details[open] > summary")].map((summary) => summary.dataset.testid);
  container.replaceChildren(...children.flat(Infinity).filter(isShown));
  for (const each of open.filter(Boolean)) find(container, each)?.parentElement.setAttribute("open", "");
  if (!focused) return;
  const again = id && find(container, id);
  (again || container.querySelector("h1, h2"))?.focus();
}

const find = (container, id) => container.querySelector(`[data-testid="${CSS.escape(id)}"]:not([disabled])`);

/** Tells a screen reader what has just changed elsewhere on the page. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

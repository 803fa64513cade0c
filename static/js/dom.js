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

/** Replaces the content, and gives the focus back to the control with the same test id when it was inside. */
export function redraw(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.dataset.testid;
  container.replaceChildren(...children.flat(Infinity).filter(isShown));
  if (!focused) return;
  const again = id && container.querySelector(`[data-testid="${CSS.escape(id)}"]:not([disabled])`);
  (again || container.querySelector("h1, h2"))?.focus();
}

/** Tells a screen reader what has just changed elsewhere on the page. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

// A feed as the reader sees it: the newest first, and a button for what is older.

import { h, redraw } from "../dom.js";
import { feed } from "../feed.js";
import { t } from "../i18n/index.js";
import { orderHref } from "../router.js";
import { failure } from "./page.js";

/**
 * `name` is the test id, `content` makes what stands in the link of an item to its order, `none` is said while there
 * are no items. Returns `{element, refresh}`; `refresh` resolves to the new items.
 */
export function feedList({ name, fetchPage, content, none, signal }) {
  const items = feed(fetchPage);
  const body = h("div", {});
  const more = h("div", { class: "more" });

  function draw() {
    redraw(body, items.all.length ? listOf(name, items.all, content) : nothing(name, none));
    redraw(more, items.cursor && moreButton(name, next));
  }

  async function next() {
    more.querySelector("button").disabled = true;
    try {
      const [first] = await items.more();
      draw();
      if (first) body.querySelector(`[data-testid="${CSS.escape(idOf(name, first))}"]`).focus();
    } catch (error) {
      if (!signal.aborted) more.replaceChildren(failure(error, again));
    }
  }

  function again() {
    draw();
    next();
  }

  async function refresh() {
    const fresh = await items.refresh();
    if (fresh.length || !body.hasChildNodes()) draw();
    return fresh;
  }
  return { element: h("div", {}, body, more), refresh };
}

const idOf = (name, { id }) => `${name}-${id}`;

const listOf = (name, all, content) =>
  h(
    "ul",
    { class: `feed ${name}`, "data-testid": name },
    all.map((item) =>
      h("li", {}, h("a", { href: orderHref(item.order_id), "data-testid": idOf(name, item) }, content(item))),
    ),
  );

const nothing = (name, text) => h("p", { class: "faint", "data-testid": `${name}-none` }, text);

const moreButton = (name, next) =>
  h("button", { type: "button", "data-testid": `${name}-more`, onclick: next }, t("orders.more"));

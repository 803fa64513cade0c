// The lines of the cart with their steppers, as catalogue and checkout show them.

import * as cart from "../cart.js";
import { announce, h } from "../dom.js";
import { money } from "../format.js";
import { t } from "../i18n/index.js";

/** `trouble` is the id of the product that the service has just refused. */
export const cartLines = (lines, { trouble, locked } = {}) =>
  h(
    "ul",
    { class: "lines" },
    lines.map((line) => lineOf(line, line.product.id === trouble, locked)),
  );

function lineOf({ product, quantity }, isTrouble, locked) {
  return h(
    "li",
    { class: isTrouble && "trouble", "data-testid": `line-${product.id}` },
    h("span", { class: "name" }, product.name),
    h("span", { class: "amount" }, money(product.price * quantity, product.currency)),
    h("div", { class: "stepper", role: "group", "aria-label": t("cart.quantity_of", { name: product.name }) }, [
      step(product, quantity - 1, "−", t("cart.less"), `less-${product.id}`, locked),
      h("output", { "data-testid": `quantity-${product.id}` }, String(quantity)),
      step(product, quantity + 1, "+", t("cart.more"), `more-${product.id}`, locked || quantity >= most(product)),
    ]),
    h(
      "button",
      {
        type: "button",
        class: "quiet remove",
        disabled: locked,
        "data-testid": `remove-${product.id}`,
        onclick: () => change(product, 0),
      },
      t("cart.remove"),
      h("span", { class: "unseen" }, ` ${product.name}`),
    ),
    isTrouble && h("p", { class: "error", "data-testid": `trouble-${product.id}` }, troubleWith(product)),
  );
}

const troubleWith = ({ on_sale: onSale, stock }) =>
  onSale ? t("cart.not_enough", { count: stock.quantity }) : t("cart.off_sale");

const most = (product) => Math.min(product.stock.quantity, cart.MOST_OF_ONE);

const step = (product, quantity, sign, label, testid, disabled) =>
  h(
    "button",
    { type: "button", "aria-label": label, disabled, "data-testid": testid, onclick: () => change(product, quantity) },
    sign,
  );

function change(product, quantity) {
  cart.setQuantity(product.id, quantity);
  announce(quantity > 0 ? t("cart.now", { name: product.name, quantity }) : t("cart.removed", { name: product.name }));
}

export const cartTotal = (lines) =>
  h(
    "p",
    { class: "total" },
    h("span", {}, t("cart.total")),
    h("strong", { "data-testid": "total" }, money(cart.total(lines), lines[0].product.currency)),
  );

// The catalogue with its stock, and the cart beside it.

import * as api from "../api.js";
import * as cart from "../cart.js";
import { announce, h, redraw } from "../dom.js";
import { money, number } from "../format.js";
import { t } from "../i18n/index.js";
import { cartLines, cartTotal } from "./cart_lines.js";
import { load, page } from "./page.js";

const FEW = 10;

export function catalogue(main, { signal }) {
  const shelf = h("section", { class: "shelf", "aria-label": t("title.catalogue"), "data-testid": "catalogue" });
  const basket = h("aside", { class: "card basket", "aria-label": t("cart.title"), "data-testid": "cart" });
  page(
    main,
    t("title.catalogue"),
    h("p", { class: "lead" }, t("catalogue.lead")),
    h("div", { class: "with-aside" }, shelf, basket),
  );

  load(
    shelf,
    signal,
    () => api.products(signal),
    (products) => {
      const draw = () => {
        redraw(shelf, products.map(card));
        redraw(basket, ...basketContent(products));
      };
      draw();
      cart.onChange(draw, signal);
    },
  );
}

function card(product) {
  const inCart = cart.quantityOf(product.id);
  return h(
    "article",
    { class: "card product", "data-testid": `product-${product.id}` },
    h("div", { class: `picture tone-${Number(product.id) % 6}`, "aria-hidden": "true" }, initials(product.name)),
    h("h2", {}, product.name),
    h("p", { class: "faint sku" }, product.sku),
    h("p", { class: "price" }, money(product.price, product.currency)),
    stock(product),
    h(
      "button",
      {
        type: "button",
        class: "primary",
        disabled: !canAdd(product, inCart),
        "data-testid": `add-${product.id}`,
        onclick: () => add(product, inCart + 1),
      },
      t("catalogue.add"),
      h("span", { class: "unseen" }, ` ${product.name}`),
      inCart > 0 && h("span", { class: "badge", "aria-hidden": "true" }, String(inCart)),
    ),
  );
}

const initials = (name) => [...name].slice(0, 1).join("").toUpperCase();

const canAdd = ({ on_sale: onSale, stock: { quantity } }, inCart) =>
  onSale && inCart < Math.min(quantity, cart.MOST_OF_ONE);

function stock({ on_sale: onSale, stock: { quantity } }) {
  const [kind, text] = !onSale
    ? ["none", t("stock.off_sale")]
    : quantity === 0
      ? ["none", t("stock.none")]
      : quantity <= FEW
        ? ["few", t("stock.few", { count: quantity })]
        : ["plenty", t("stock.plenty", { count: number(quantity) })];
  return h("p", { class: `stock ${kind}`, "data-testid": "stock" }, text);
}

function add(product, quantity) {
  cart.setQuantity(product.id, quantity);
  announce(t("cart.added", { name: product.name, quantity }));
}

function basketContent(products) {
  const lines = cart.lines(products);
  if (!lines.length) return [h("h2", { tabindex: -1 }, t("cart.title")), h("p", { class: "faint" }, t("cart.empty"))];
  return [
    h("h2", { tabindex: -1 }, t("cart.title")),
    cartLines(lines),
    cartTotal(lines),
    h("a", { class: "button primary wide", href: "#/checkout", "data-testid": "to-checkout" }, t("cart.to_checkout")),
  ];
}

// The cart: product id → quantity. It belongs to the browser, so it is there before anybody signs in.

import { publisher } from "./signal.js";
import { shelf } from "./storage.js";

export const MOST_OF_ONE = 99;

const changes = publisher();

export const onChange = changes.subscribe;

const read = () => shelf.get("cart") ?? {};

function write(cart) {
  shelf.set("cart", cart);
  changes.publish();
}

export const quantityOf = (productId) => read()[productId] ?? 0;

export const pieces = () => Object.values(read()).reduce((sum, quantity) => sum + quantity, 0);

/** Zero or less takes the product out. */
export function setQuantity(productId, quantity) {
  const cart = read();
  if (quantity > 0) cart[productId] = Math.min(quantity, MOST_OF_ONE);
  else delete cart[productId];
  write(cart);
}

/** What the cart holds of the products on offer: `[{product, quantity}]` in the order of the catalogue. */
export function lines(products) {
  const cart = read();
  return products.filter(({ id }) => cart[id]).map((product) => ({ product, quantity: cart[product.id] }));
}

export const total = (cartLines) => cartLines.reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);

/** Takes out what was bought. What was added to the cart meanwhile stays. */
export function remove(items) {
  const cart = read();
  for (const { product_id: id, quantity } of items) {
    cart[id] = (cart[id] ?? 0) - quantity;
    if (cart[id] <= 0) delete cart[id];
  }
  write(cart);
}

window.addEventListener("storage", (event) => {
  if (event.key === "cart") changes.publish();
});

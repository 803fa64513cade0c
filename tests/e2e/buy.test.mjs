// Buying something, as most people do.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openShop, someone } from "./support/shop.mjs";
import { buy, fillAddress, orderShown, placeOrder, signIn, toCheckout } from "./support/steps.mjs";

const shop = openShop();

test("from the catalogue to the order and its timeline", async () => {
  const user = someone();
  const page = await shop.visit();

  const id = await buy(page, user, ["1", "2", "2"]);

  assert.match(await page.getByTestId("notice").textContent(), /has been placed/);
  assert.equal(await page.getByTestId("entry").count(), 1);
  assert.equal(await page.getByTestId("entry").first().getAttribute("data-type"), "OrderPlaced");
  assert.match(await page.getByTestId("address").textContent(), /Ada Lovelace/);
  const order = await (await shop.api(user)).order(id);
  assert.deepEqual(
    order.items.map(({ product_id: product, quantity }) => [product, quantity]),
    [
      ["1", 1],
      ["2", 2],
    ],
  );
  assert.equal(await page.getByTestId("cart-count").count(), 0);
});

test("the order is in the list, and the list leads back to it", async () => {
  const page = await shop.visit();
  const id = await buy(page, someone());

  await page.getByTestId("nav-orders").click();
  await page.getByTestId(`order-${id}`).getByRole("link").click();

  assert.equal(await orderShown(page), id);
  await page.goBack();
  await page.getByTestId(`order-${id}`).waitFor();
});

test("the stock shown goes down by what was bought", async () => {
  const page = await shop.visit();
  const stockOf = async () =>
    Number((await page.getByTestId("product-3").getByTestId("stock").textContent()).replace(/\D/g, ""));
  const before = await stockOf();

  await buy(page, someone(), ["3"]);
  await page.getByTestId("nav-catalogue").click();

  await page.getByTestId("product-3").waitFor();
  assert.equal(await stockOf(), before - 1);
});

test("a reload in the middle of the checkout loses nothing", async () => {
  const page = await shop.visit();
  await toCheckout(page, someone(), ["1", "2"]);
  await page.getByTestId("type-GROUP_BUY").check();
  await page.getByTestId("order-token").filter({ hasText: /\S/ }).waitFor();
  const token = await page.getByTestId("order-token").textContent();

  await page.reload();

  await page.getByTestId("order-token").filter({ hasText: token }).waitFor();
  assert.equal(await page.getByTestId("address-city").inputValue(), "Berlin");
  assert.equal(await page.getByTestId("address-country").inputValue(), "DE");
  assert.ok(await page.getByTestId("type-GROUP_BUY").isChecked());
  assert.equal(await page.getByTestId("quantity-2").textContent(), "1");
});

test("an address with gaps is pointed at, and nothing is sent", async () => {
  const user = someone();
  const page = await shop.visit();
  await toCheckout(page, user);
  await page.getByTestId("address-phone").fill("call me");
  await page.getByTestId("address-city").fill("");

  await placeOrder(page);

  assert.match(await page.getByTestId("error-phone").textContent(), /5 to 20 digits/);
  assert.match(await page.getByTestId("error-city").textContent(), /city/);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "address-phone");
  assert.deepEqual(await (await shop.api(user)).orders(), []);
  await fillAddress(page);
  await placeOrder(page);
  await orderShown(page);
});

test("the cart can be changed at the checkout, and emptied", async () => {
  const page = await shop.visit();
  await toCheckout(page, someone(), ["1", "2"]);

  await page.getByTestId("more-1").click();
  await page.getByTestId("remove-2").click();

  assert.equal(await page.getByTestId("quantity-1").textContent(), "2");
  assert.equal(await page.getByTestId("line-2").count(), 0);
  await page.getByTestId("remove-1").click();
  await page.getByTestId("empty").waitFor();
});

test("deep links ask for the sign-in and go on where they lead", async () => {
  const user = someone();
  const id = await buy(await shop.visit(), user);

  const page = await shop.visit(`#/orders/${id}`);
  await signIn(page, user);

  assert.equal(await orderShown(page), id);
});

test("somebody else's order is not there", async () => {
  const id = await buy(await shop.visit(), someone());

  const page = await shop.visit(`#/orders/${id}`);
  await signIn(page, someone("stranger"));

  assert.match(await page.getByTestId("note-bad").textContent(), /not yours/);
});

test("long lists come page by page, and stay when one comes back", async () => {
  const page = await shop.visit("#/orders");
  await signIn(page, someone());
  const orders = Array.from({ length: 25 }, (_, index) => orderOf(String(1000 + index)));
  await page.route("**/api/orders?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Number(query.get("limit"));
    route.fulfill({ json: { data: orders.slice(from, to), next_cursor: to < orders.length ? String(to) : null } });
  });
  await page.reload();
  const rows = page.getByTestId("orders").getByRole("listitem");

  await page.getByTestId("order-1000").waitFor();
  assert.equal(await rows.count(), 10);
  await page.getByTestId("load-more").click();
  await page.getByTestId("order-1019").waitFor();
  await page.getByTestId("load-more").click();
  await page.getByTestId("order-1024").waitFor();

  assert.equal(await rows.count(), 25);
  assert.equal(await page.getByTestId("load-more").count(), 0);
  await page.getByTestId("nav-catalogue").click();
  await page.goBack();
  await page.getByTestId("order-1024").waitFor();
});

const orderOf = (id) => ({
  id,
  order_type: "NORMAL",
  status: "CLOSED",
  allowed_actions: [],
  items: [{ product_id: "1", sku: "A", name: "A kettle", unit_price: 4900, quantity: 1 }],
  amount: 4900,
  currency: "EUR",
  created_at: "2026-01-01T10:00:00Z",
});

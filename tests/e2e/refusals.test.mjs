// The service says no: the page says why and what to do, and keeps cart, address and token.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, between, pass } from "./support/network.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { buy, orderShown, placeOrder, toCheckout } from "./support/steps.mjs";

const shop = openShop();
const said = (page, text) => page.getByTestId("status").filter({ hasText: text }).waitFor();

/** Refused once, then let through: the token and the cart must have survived. */
async function refusedOnce(refusal) {
  const page = await shop.visit();
  const sent = await between(page, [refusal, pass]);
  await toCheckout(page, someone());
  await placeOrder(page);
  return {
    page,
    async goOn() {
      await placeOrder(page);
      await orderShown(page);
      assert.equal(sent[0].key, sent[1].key, "the token was kept");
    },
  };
}

test("out of stock: the line is marked", async () => {
  const { page, goOn } = await refusedOnce(answer(409, "out_of_stock", { product_id: "1" }));

  await said(page, /not enough left/);
  await page.getByTestId("trouble-1").waitFor();
  await goOn();
});

test("the price has changed: the new one is shown before it is agreed to", async () => {
  const { page, goOn } = await refusedOnce(answer(409, "price_changed", { amount: 5000, currency: "EUR" }));

  await said(page, /price has changed/);
  await goOn();
});

test("a field is refused: it is marked where it stands", async () => {
  const errors = [{ field: "address.postal_code", message: "is not a postal code of this country" }];
  const { page, goOn } = await refusedOnce(answer(422, "invalid_fields", { errors }));

  await page.getByTestId("error-postal_code").filter({ hasText: "of this country" }).waitFor();
  assert.equal(await page.getByTestId("address-postal_code").getAttribute("aria-invalid"), "true");
  await goOn();
});

test("an order for the product exists: the page leads to it", async () => {
  const user = someone();
  const page = await shop.visit();
  const first = await buy(page, user, ["4"]);
  await page.getByTestId("nav-catalogue").click();
  await page.getByTestId("add-4").click();
  await page.getByTestId("to-checkout").click();

  await placeOrder(page);
  await page.getByTestId("existing-order").click();

  assert.equal(await orderShown(page), first);
  assert.equal((await (await shop.api(user)).orders()).length, 1);
});

for (const [status, code] of [
  [410, "order_token_expired"],
  [400, "order_token_invalid"],
  [422, "idempotency_key_reused"],
]) {
  test(`${code}: first a look at my orders, then a new token and a second confirmation`, async () => {
    const user = someone();
    const page = await shop.visit();
    await buy(page, user, ["5"]);
    await page.getByTestId("nav-catalogue").click();
    const sent = await between(page, [answer(status, code), pass]);
    await page.getByTestId("add-6").click();
    await page.getByTestId("to-checkout").click();
    await placeOrder(page);

    await page.getByTestId("latest-orders").getByRole("link").waitFor();
    assert.equal(sent.length, 1, "nothing is sent again unasked");
    await placeOrder(page);

    await page.getByTestId("timeline").waitFor();
    assert.notEqual(sent[1].key, sent[0].key);
    assert.equal((await (await shop.api(user)).orders()).length, 2);
  });
}

// The network fails in between: the page asks again with the same token and the same body, and one order comes of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, between, loseAnswer, loseRequest, pass } from "./support/network.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { orderShown, placeOrder, signIn, toCheckout } from "./support/steps.mjs";

const shop = openShop();

async function assertOneOrder(user, id, sent) {
  const orders = await (await shop.api(user)).orders();
  assert.deepEqual(
    orders.map((order) => order.id),
    [id],
  );
  assert.ok(sent.length > 1, "the page has asked again");
  assert.equal(new Set(sent.map(({ key }) => key)).size, 1, "with one token");
  assert.equal(new Set(sent.map(({ body }) => body)).size, 1, "with one body");
}

/** The page asks the buyer only after five tries; a buyer in a hurry presses the button each time. */
async function hurryUntilStalled(page) {
  const hurry = page.getByTestId("try-now");
  const again = page.getByTestId("try-again");
  for (;;) {
    await hurry.or(again).waitFor();
    if (await again.isVisible()) return;
    await hurry.click({ timeout: 1000 }).catch(() => {});
  }
}

test("the answer is lost: the order is there once, and the page says so", async () => {
  const user = someone();
  const page = await shop.visit();
  const sent = await between(page, [loseAnswer, pass]);
  await toCheckout(page, user);

  await placeOrder(page);

  const id = await orderShown(page);
  assert.match(await page.getByTestId("notice").textContent(), /did not order twice/);
  await assertOneOrder(user, id, sent);
});

test("the request is lost: the repeat is the first that arrives", async () => {
  const user = someone();
  const page = await shop.visit();
  const sent = await between(page, [loseRequest, pass]);
  await toCheckout(page, user);

  await placeOrder(page);

  const id = await orderShown(page);
  assert.doesNotMatch(await page.getByTestId("notice").textContent(), /twice/);
  await assertOneOrder(user, id, sent);
});

test("the button cannot be pressed while a request runs, and says that it is busy", async () => {
  const user = someone();
  const page = await shop.visit();
  let letGo;
  const held = new Promise((resolve) => (letGo = resolve));
  await between(page, [async (route) => void (await held, await route.continue())]);
  await toCheckout(page, user);

  await placeOrder(page);
  await page.getByTestId("place-order").and(page.locator("[aria-busy=true]")).waitFor();

  assert.ok(await page.getByTestId("place-order").isDisabled());
  await page.getByTestId("checkout").evaluate((form) => form.requestSubmit());
  letGo();
  await orderShown(page);
  assert.equal((await (await shop.api(user)).orders()).length, 1);
});

test("the page is reloaded before an answer came: it finishes the order by itself", async () => {
  const user = someone();
  const page = await shop.visit();
  const rules = [loseAnswer, loseRequest];
  const sent = await between(page, rules);
  await toCheckout(page, user);
  await placeOrder(page);
  await page.getByTestId("try-now").waitFor();

  rules[1] = pass;
  await page.reload();

  const id = await orderShown(page);
  await assertOneOrder(user, id, sent);
});

test("the page is left before an answer came: the banner tells when the order is placed", async () => {
  const user = someone();
  const page = await shop.visit();
  const rules = [loseRequest];
  const sent = await between(page, rules);
  await toCheckout(page, user);
  await placeOrder(page);
  await page.getByTestId("try-now").waitFor();
  await page.getByTestId("nav-catalogue").click();
  await page.getByTestId("banner-checkout").waitFor();

  rules[0] = pass;

  await page.getByTestId("banner-order").click();
  await assertOneOrder(user, await orderShown(page), sent);
});

test("nothing gets through: the page gives up, keeps the order, and an edited cart does not change it", async () => {
  const user = someone();
  const page = await shop.visit();
  const rules = [loseAnswer, loseRequest];
  const sent = await between(page, rules);
  await toCheckout(page, user, ["1"]);
  await placeOrder(page);
  await hurryUntilStalled(page);
  await page.getByTestId("nav-catalogue").click();
  await page.getByTestId("add-2").click();
  await page.getByTestId("to-checkout").click();

  assert.ok(await page.getByTestId("place-order").isDisabled());
  assert.equal(await page.getByTestId("sent-items").getByRole("listitem").count(), 1);
  rules[1] = pass;
  await page.getByTestId("try-again").click();

  const id = await orderShown(page);
  await assertOneOrder(user, id, sent);
  assert.equal(await page.getByTestId("cart-count").evaluate((badge) => badge.firstChild.data), "1");
});

test("still in progress, busy, too slow: each is asked again", async () => {
  const user = someone();
  const page = await shop.visit();
  const soon = { headers: { "retry-after": "1" } };
  const sent = await between(page, [
    answer(409, "request_in_progress", soon),
    answer(503, "busy", soon),
    answer(504, "timeout"),
    pass,
  ]);
  await toCheckout(page, user);

  await placeOrder(page);
  for (const text of [/still working/, /very busy/, /in time/]) {
    await page.getByTestId("status").filter({ hasText: text }).waitFor();
    await page.getByTestId("try-now").click();
  }

  await assertOneOrder(user, await orderShown(page), sent);
});

test("the sign-in runs out in between: after signing in again the same order is finished", async () => {
  const user = someone();
  const page = await shop.visit();
  const sent = await between(page, [loseAnswer, answer(401, "unauthorized"), pass]);
  await toCheckout(page, user);
  await placeOrder(page);
  await page.getByTestId("note-warn").filter({ hasText: "run out" }).waitFor();

  await signIn(page, user);

  await assertOneOrder(user, await orderShown(page), sent);
});

test("another user who signs in meanwhile has nothing to do with the order", async () => {
  const [user, other] = [someone(), someone("other")];
  const page = await shop.visit();
  const rules = [loseRequest];
  const sent = await between(page, rules);
  await toCheckout(page, user);
  await placeOrder(page);
  await page.getByTestId("try-now").waitFor();

  await page.getByTestId("sign-out").click();
  await signIn(page, other);
  await page.getByTestId("place-order").and(page.locator(":enabled")).waitFor();
  assert.equal(await page.getByTestId("try-now").count(), 0);
  rules[0] = pass;
  await page.getByTestId("sign-out").click();
  await signIn(page, user);

  await assertOneOrder(user, await orderShown(page), sent);
  assert.deepEqual(await (await shop.api(other)).orders(), []);
});

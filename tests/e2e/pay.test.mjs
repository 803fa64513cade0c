// From the order to the gateway and back: paying is started once, whatever the network does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, between, loseAnswer, loseRequest, pass, PAYMENTS } from "./support/network.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { buy, entries, letGateway, signIn, toCashier } from "./support/steps.mjs";

const shop = openShop();
const noticed = (page, text) => page.getByTestId("notice").filter({ hasText: text }).waitFor();
const said = (page, text) => page.getByTestId("pay-status").filter({ hasText: text }).waitFor();
const pay = (page) => page.getByTestId("pay").click();

async function assertOneAttempt(user, id, sent) {
  const events = await (await shop.api(user)).timeline(id);
  assert.equal(events.filter(({ type }) => type === "PaymentStarted").length, 1);
  assert.equal(new Set(sent.map(({ key }) => key)).size, 1, "with one key");
  assert.match(sent[0].key, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
}

test("the order leads to the cashier, and the cashier back to the order", async () => {
  const user = someone();
  const page = await shop.visit();

  const { order, payment } = await toCashier(page, user, ["2"]);

  const { amount } = await (await shop.api(user)).order(order);
  assert.match(await page.getByTestId("due-amount").textContent(), new RegExp((amount / 100).toFixed(2)));
  await page.getByTestId("back-to-order").click();
  await page.getByTestId("pay").filter({ hasText: "Go on" }).click();
  await page.getByTestId("due-amount").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("payment"), payment, "the attempt that is open is the answer");
});

test("what was paid is there on the order's page, also when it comes back from the browser's memory", async () => {
  const page = await shop.visit();
  await toCashier(page, someone());
  await letGateway(page, "pay");

  await page.goBack();

  await page.locator("[data-testid=payment-chip][data-status=SUCCEEDED]").waitFor();
  assert.equal(await page.getByTestId("pay").count(), 0);
  assert.equal(await page.getByTestId("cancel-order").count(), 0);
});

test("no answer, busy, still in progress, the gateway unknown: each is asked again with the same key", async () => {
  const user = someone();
  const page = await shop.visit();
  const soon = { headers: { "retry-after": "1" } };
  const rules = [
    answer(504, "gateway_unknown"),
    answer(503, "busy", soon),
    answer(409, "request_in_progress", soon),
    loseAnswer,
    pass,
  ];
  const sent = await between(page, rules, PAYMENTS);
  const id = await buy(page, user);

  await pay(page);
  for (const text of [/nobody knows yet/, /very busy/, /still working/, /No answer/]) {
    await said(page, text);
    assert.ok(await page.getByTestId("pay").isDisabled());
    await page.getByTestId("pay-now").click();
  }

  await page.getByTestId("due-amount").waitFor();
  assert.equal(sent.length, rules.length);
  await assertOneAttempt(user, id, sent);
});

test("a reload before the answer came: the next press asks about the same payment", async () => {
  const user = someone();
  const page = await shop.visit();
  const rules = [loseAnswer, loseRequest];
  const sent = await between(page, rules, PAYMENTS);
  const id = await buy(page, user);
  await pay(page);
  await page.getByTestId("pay-now").waitFor();

  await page.reload();
  await said(page, /not been answered/);
  rules[1] = pass;
  await pay(page);

  await page.getByTestId("due-amount").waitFor();
  assert.ok(sent.length > 1);
  await assertOneAttempt(user, id, sent);
});

test("the sign-in runs out in between: the key outlives it", async () => {
  const user = someone();
  const page = await shop.visit();
  const sent = await between(page, [loseAnswer, answer(401, "unauthorized"), pass], PAYMENTS);
  const id = await buy(page, user);
  await pay(page);
  await page.getByTestId("note-warn").filter({ hasText: "run out" }).waitFor();

  await signIn(page, user);
  await pay(page);

  await page.getByTestId("due-amount").waitFor();
  await assertOneAttempt(user, id, sent);
});

test("paid in another tab meanwhile: the page says so and shows it", async () => {
  const user = someone();
  const page = await shop.visit();
  const id = await buy(page, user);
  const api = await shop.api(user);
  const { body: payment } = await api.pay(id);
  await api.atGateway(payment.id, "pay");

  await pay(page);

  await noticed(page, /paid already/);
  await page.locator("[data-testid=payment-chip][data-status=SUCCEEDED]").waitFor();
});

test("the time to pay is over: the page says what to do, and a later try has another key", async () => {
  const page = await shop.visit();
  const sent = await between(page, [answer(409, "order_expired"), pass], PAYMENTS);
  await buy(page, someone());

  await pay(page);
  await noticed(page, /place a new order/);
  await pay(page);

  await page.getByTestId("due-amount").waitFor();
  assert.notEqual(sent[0].key, sent[1].key);
});

for (const address of ["https://elsewhere.example/pay", "//elsewhere.example/pay", "javascript:alert(1)"]) {
  test(`nobody is sent to ${address}`, async () => {
    const page = await shop.visit();
    const elsewhere = { status: "LIVE", checkout_url: address };
    await between(page, [(route) => route.fulfill({ status: 201, json: elsewhere })], PAYMENTS);
    const id = await buy(page, someone());

    await pay(page);

    await said(page, /not on this site/);
    assert.match(page.url(), new RegExp(`#/orders/${id}$`));
  });
}

test("an attempt that is over leads back to the order, not to the cashier", async () => {
  const page = await shop.visit();
  const over = { status: "CLOSED", checkout_url: null };
  await between(page, [(route) => route.fulfill({ status: 201, json: over })], PAYMENTS);
  await buy(page, someone());

  await pay(page);

  await noticed(page, /payment is over/);
});

test("what was shipped is received, and a lost answer can be asked for again", async () => {
  const user = someone();
  const page = await shop.visit();
  const { order } = await toCashier(page, user);
  await letGateway(page, "pay");
  const operator = await shop.api("operator", "operator");
  await operator.ship(order, { carrier: "DHL", tracking_no: "JD0146" });
  let isFirst = true;
  await page.route("**/receipt", async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    return loseAnswer(route);
  });

  await page.getByTestId("back-to-order").click();
  assert.match(await page.getByTestId("shipment").textContent(), /DHL JD0146/);
  await page.getByTestId("confirm-receipt").click();
  await noticed(page, /No answer/);
  await page.getByTestId("confirm-receipt").click();

  await noticed(page, /order is finished/);
  assert.equal(await (await entries(page, "OrderFinished")).count(), 1);
  assert.equal((await (await shop.api(user)).order(order)).status, "FINISHED");
  assert.equal(await page.getByTestId("confirm-receipt").count(), 0);
});

test("refunds are listed, whoever made them, and how far they are", async () => {
  const page = await shop.visit();
  const { order } = await toCashier(page, someone());
  await letGateway(page, "pay");
  const at = "2026-01-01T10:00:00Z";
  const refund = { currency: "EUR", created_at: at, settled_at: null };
  const data = [
    { ...refund, amount: 500, reason: "A cup was broken", status: "PROCESSING", origin: "SHOP" },
    { ...refund, amount: 700, reason: "surplus", status: "SUCCEEDED", origin: "AUTOMATIC", settled_at: at },
  ];
  await page.route(`**/api/orders/${order}/refunds`, (route) => route.fulfill({ json: { data } }));

  await page.getByTestId("back-to-order").click();

  await page.getByTestId("refund").nth(1).waitFor();
  const texts = await page.getByTestId("refund").allTextContents();
  assert.match(texts[0], /€5\.00Being refunded.*By the shop · A cup was broken/);
  assert.match(texts[1], /€7\.00Refunded.*Automatic$/);
});

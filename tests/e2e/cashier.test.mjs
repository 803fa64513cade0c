// The sandbox gateway's cashier: whatever it sends, and however often, the order ends as if it had come once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openShop, someone } from "./support/shop.mjs";
import { buy, entries, letGateway, toCashier } from "./support/steps.mjs";

const shop = openShop();

/** A buyer before the cashier, with the doors of the shop at hand. */
async function beforeTheCashier() {
  const user = someone();
  const page = await shop.visit();
  const ids = await toCashier(page, user);
  const api = await shop.api(user);
  return { ...ids, user, page, api, status: async () => (await api.order(ids.order)).status };
}

const outcomeOf = async (page, type) => (await entries(page, type)).first().getByTestId("outcome");

const gatewayIs = (page, status) => page.locator(`[data-testid=gateway-status][data-status=${status}]`).waitFor();

const answers = (page, status) => page.locator(`[data-testid=answer][data-status="${status}"]`);

async function countOf(locator) {
  const counts = await locator.evaluateAll((all) => all.map(({ dataset }) => Number(dataset.count)));
  return counts.reduce((sum, count) => sum + count, 0);
}

test("the message comes three times: paid once, and the timeline counts the repeats", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "pay_three_times");

  await page.locator("[data-testid=outcome][data-outcome=APPLIED][data-deliveries='3']").waitFor();
  assert.equal(await (await entries(page, "OrderPaid")).count(), 1);
  assert.equal(await (await entries(page, "paid")).count(), 1);
  assert.equal(await countOf(answers(page, 200)), 3);
  assert.match(await page.getByTestId("outcome-of-action").textContent(), /3 × 200/);
  assert.equal(await status(), "PAID");
});

test("a hundred copies at once: one OrderPaid", async () => {
  const { page, order, api, status } = await beforeTheCashier();

  await letGateway(page, "pay_hundred_times");

  assert.equal(await (await entries(page, "OrderPaid")).count(), 1);
  assert.ok((await countOf(page.getByTestId("answer"))) >= 100);
  const timeline = await api.timeline(order);
  assert.equal(timeline.filter(({ type }) => type === "OrderPaid").length, 1);
  const callbacks = timeline.filter(({ kind }) => kind === "callback");
  assert.deepEqual(
    callbacks.map(({ outcome }) => outcome),
    ["APPLIED"],
  );
  assert.ok(callbacks[0].deliveries <= (await countOf(page.getByTestId("answer"))), "none came that was not sent");
  assert.equal(await status(), "PAID");
});

test("closed arrives after paid: it stays paid", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "close_after_paid");

  assert.equal(await (await outcomeOf(page, "closed")).getAttribute("data-outcome"), "STALE");
  assert.equal(await (await entries(page, "OrderPaid")).count(), 1);
  assert.equal(await page.locator("[data-testid=entry][data-type=OrderClosed]").count(), 0);
  assert.equal(await status(), "PAID");
  await page.getByTestId("back-to-order").click();
  await page.locator("[data-testid=status-chip][data-status=PAID]").first().waitFor();
});

test("a forged signature changes nothing, and the log shows the 401", async () => {
  const { page, order, api, status } = await beforeTheCashier();
  const before = await api.timeline(order);

  await letGateway(page, "forged_signature");

  await page.getByTestId("forged").waitFor();
  assert.ok((await countOf(answers(page, 401))) >= 1);
  assert.equal(await answers(page, 200).count(), 0);
  assert.deepEqual(await api.timeline(order), before);
  assert.equal(await status(), "PAYING");
  await gatewayIs(page, "OPEN");
});

test("a wrong amount is refused, and the honest payment that follows is booked", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "wrong_amount");

  assert.equal(await (await outcomeOf(page, "paid")).getAttribute("data-outcome"), "REFUSED");
  assert.equal(await status(), "PAYING");
  await letGateway(page, "pay");
  await page.locator("[data-testid=outcome][data-outcome=APPLIED]").waitFor();
  assert.equal(await (await entries(page, "OrderPaid")).count(), 1);
  assert.equal(await status(), "PAID");
});

test("the refund arrives before the payment: it ends refunded", async () => {
  const { page, order, api, status } = await beforeTheCashier();

  await letGateway(page, "refund_before_paid");

  await entries(page, "OrderRefunded");
  assert.equal(await status(), "REFUNDED");
  const refunds = await api.refunds(order);
  assert.deepEqual(
    refunds.map(({ status: of, origin }) => [of, origin]),
    [["SUCCEEDED", "GATEWAY"]],
  );
  await page.getByTestId("back-to-order").click();
  await page.getByTestId("refund").filter({ hasText: "By the payment provider" }).waitFor();
});

test("the gateway pays back what nobody asked for: it ends refunded", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "pay");
  await gatewayIs(page, "PAID");
  await letGateway(page, "refund");

  await entries(page, "OrderRefunded");
  assert.equal(await status(), "REFUNDED");
  assert.ok(await page.getByTestId("do-refund").isDisabled(), "there is nothing left to pay back");
});

test("a failed payment may be tried again", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "fail");

  await entries(page, "failed");
  assert.equal(await status(), "PAYING");
  await gatewayIs(page, "OPEN");
  await letGateway(page, "pay");
  await entries(page, "OrderPaid");
  assert.equal(await status(), "PAID");
});

test("closed is the end: nothing honest is offered any more", async () => {
  const { page, status } = await beforeTheCashier();

  await letGateway(page, "close");

  await entries(page, "OrderClosed");
  await gatewayIs(page, "CLOSED");
  assert.equal(await status(), "CLOSED");
  const offered = page.locator("[data-testid^=do-]:enabled");
  assert.deepEqual(await offered.evaluateAll((all) => all.map(({ dataset }) => dataset.testid)), [
    "do-forged_signature",
  ]);
});

test("what happens elsewhere is seen here without a reload", async () => {
  const { page, payment, api } = await beforeTheCashier();

  await api.atGateway(payment, "pay");

  await gatewayIs(page, "PAID");
  await entries(page, "OrderPaid");
  await page.getByTestId("message").waitFor();
});

test("details that are open stay open when something comes in", async () => {
  const { page, payment, api } = await beforeTheCashier();
  const summary = page.getByTestId("entry").first().locator("summary");
  await summary.click();

  await api.atGateway(payment, "pay");

  await entries(page, "OrderPaid");
  assert.ok(
    await page
      .getByTestId("entry")
      .first()
      .locator("details")
      .evaluate((details) => details.open),
  );
  assert.ok(await summary.evaluate((element) => element === document.activeElement), "the focus stays, too");
});

test("the gateway falls silent for a while: the page says so, and goes on when it is back", async () => {
  const { page, payment, api } = await beforeTheCashier();
  const silence = (route) => route.abort("connectionreset");
  await page.route("**/api/sandbox/**", silence);

  await page.getByTestId("note-warn").filter({ hasText: "does not answer" }).waitFor();
  await page.unroute("**/api/sandbox/**", silence);
  await api.atGateway(payment, "pay");

  await gatewayIs(page, "PAID");
  assert.equal(await page.getByTestId("note-warn").filter({ hasText: "does not answer" }).count(), 0);
});

test("it was paid in another tab a moment ago: the cashier says that it is too late", async () => {
  const { page, payment, api } = await beforeTheCashier();
  await page.route(`**/api/sandbox/payments/${payment}`, (route) => route.abort("connectionreset"));
  await api.atGateway(payment, "pay");

  await letGateway(page, "pay");

  assert.match(await page.getByTestId("outcome-of-action").textContent(), /cannot do that any more/);
});

test("without a sign-in the log is there, and the timeline says how to come by it", async () => {
  const { payment, order } = await beforeTheCashier();

  const page = await shop.visit(`cashier.html?payment=${payment}`);
  await letGateway(page, "pay");

  await page.getByTestId("message").waitFor();
  assert.equal(await page.getByTestId("entry").count(), 0);
  await page.getByTestId("sign-in-first").click();
  await page.getByTestId("user-name").waitFor();
  assert.match(page.url(), new RegExp(`/#/orders/${order}$`));
});

test("a stranger sees the gateway's side only", async () => {
  const { payment } = await beforeTheCashier();
  const page = await shop.visit();
  await buy(page, someone("stranger"));

  await page.goto(`${shop.server.url}/cashier.html?payment=${payment}`);

  await page.getByTestId("note-info").filter({ hasText: "somebody else" }).waitFor();
});

test("a payment that does not exist is explained", async () => {
  for (const query of ["?payment=1", ""]) {
    const page = await shop.visit(`cashier.html${query}`);

    await page.getByTestId("empty").filter({ hasText: "no such payment" }).waitFor();
  }
});

test("with the keyboard alone: the focus goes to what came of it", async () => {
  const { page } = await beforeTheCashier();

  await page.getByTestId("do-pay").focus();
  await page.keyboard.press("Enter");

  await page.getByTestId("outcome-of-action").locator(".note").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "outcome-of-action");
  await page.keyboard.press("Tab");
  const next = await page.evaluate(() => document.activeElement.dataset.testid);
  assert.equal(next, "do-forged_signature", "the next stop is what can still be done");
});

test("the cashier speaks Chinese, too, and the switch keeps what is shown", async () => {
  const { page } = await beforeTheCashier();
  await letGateway(page, "pay");

  await page.getByTestId("language-switch").click();

  await page.getByRole("heading", { level: 1, name: "收银台" }).waitFor();
  await page.getByTestId("message").filter({ hasText: "付款成功" }).waitFor();
  await page.getByTestId("entry").filter({ hasText: "渠道通知：已付款" }).waitFor();
  assert.match(await page.title(), /沙箱/);
});

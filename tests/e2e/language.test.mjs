// English and Simplified Chinese.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { answer, between } from "./support/network.mjs";
import { ROOT } from "./support/server.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { buy, placeOrder, toCheckout } from "./support/steps.mjs";

const shop = openShop();
const scripts = path.join(ROOT, "static");
const heading = (page, text) => page.getByRole("heading", { level: 1, name: text }).waitFor();

test("the switch changes every text at once, and is remembered", async () => {
  const page = await shop.visit();
  await page.getByTestId("product-1").waitFor();

  await page.getByTestId("language-switch").click();

  await heading(page, "商店");
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
  assert.match(await page.title(), /商店/);
  await page.reload();
  await heading(page, "商店");
  await page.getByTestId("language-switch").click();
  await heading(page, "Shop");
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
});

test("a Chinese browser is greeted in Chinese", async () => {
  const page = await shop.visit("#/", { locale: "zh-CN" });

  await heading(page, "商店");
});

test("switching in the middle of the checkout loses nothing that was typed", async () => {
  const page = await shop.visit();
  await toCheckout(page, someone());
  await page.getByTestId("address-line2").fill("3rd floor");

  await page.getByTestId("language-switch").click();

  await heading(page, "结算");
  await page.getByTestId("address-line2").waitFor();
  assert.equal(await page.getByTestId("address-line2").inputValue(), "3rd floor");
  assert.match(await page.getByTestId("address-country").textContent(), /德国/);
});

test("errors are explained in Chinese, too", async () => {
  const page = await shop.visit("#/", { locale: "zh-CN" });
  await between(page, [answer(409, "price_changed")]);
  await toCheckout(page, someone());

  await placeOrder(page);

  await page.getByTestId("status").filter({ hasText: "价格有变动" }).waitFor();
});

test("money and dates are written as the language writes them", async () => {
  const page = await shop.visit("#/", { locale: "zh-CN" });
  await buy(page, someone());

  assert.match(await page.getByTestId("timeline").textContent(), /\d{4}年\d{1,2}月\d{1,2}日/);
  const formatted = await page.evaluate(async () => {
    const { money } = await import("/js/format.js");
    return [money(1234, "EUR"), money(1234, "JPY"), money(1234, "KWD")].map((text) => text.replace(/[^\d.,]/g, ""));
  });
  assert.deepEqual(formatted, ["12.34", "1,234", "1.234"]);
});

test("no text is missing in either language, and every one that is asked for exists", async () => {
  const page = await shop.visit();

  const { en, zh, holes } = await page.evaluate(async () => {
    const [english, chinese] = await Promise.all(
      ["en", "zh"].map(async (name) => (await import(`/js/i18n/${name}.js`)).default),
    );
    const names = (text) => [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const differ = (key) =>
      [...new Set(names(english[key]))].sort().join() !== [...new Set(names(chinese[key] ?? ""))].sort().join();
    return {
      en: Object.keys(english).sort(),
      zh: Object.keys(chinese).sort(),
      holes: Object.keys(english).filter(differ),
    };
  });

  assert.deepEqual(en, zh);
  assert.deepEqual(holes, []);
  assert.deepEqual(
    (await textsAskedFor()).filter((key) => !en.includes(key)),
    [],
  );
});

test("every status, event, outcome and error has a text", async () => {
  const page = await shop.visit();

  const known = await page.evaluate(async () => Object.keys((await import("/js/i18n/en.js")).default));

  assert.deepEqual(
    Object.entries(SAID_BY_THE_SERVICE)
      .flatMap(([prefix, names]) => names.split(" ").map((name) => `${prefix}.${name}`))
      .filter((key) => !known.includes(key)),
    [],
  );
});

/** What the page looks up by the service's own words. */
const SAID_BY_THE_SERVICE = {
  status: "PENDING_PAYMENT PAYING PAID SHIPPED FINISHED CLOSED REFUNDING REFUNDED",
  payment: "CREATED LIVE SUCCEEDED FAILED CLOSED",
  refund: "REQUESTED PROCESSING SUCCEEDED FAILED",
  origin: "SHOP AUTOMATIC GATEWAY",
  outcome: "APPLIED STALE IGNORED PARKED UNRESOLVED REFUSED",
  callback: "paid closed failed refund_succeeded refund_failed ignored",
  event:
    "orderplaced paymentstarted orderpaid ordershipped orderfinished orderclosed refundstarted orderrefunded " +
    "refundrequested refundsucceeded refundfailed addresschanged paymentretired",
  points: "PAID REFUNDED",
  notification: "OrderPlaced OrderPaid OrderShipped OrderClosed RefundRequested RefundSucceeded RefundFailed",
  cashier: "OPEN PAID CLOSED group.buyer group.mishap group.afterwards",
  message: "payment.succeeded payment.closed payment.failed refund.succeeded refund.failed",
  do:
    "pay pay_three_times pay_hundred_times close fail close_after_paid refund_before_paid refund wrong_amount " +
    "forged_signature",
  problem: "already_paid order_expired order_state_conflict gateway_unknown request_in_progress",
};

/** The keys that the scripts name outright: `t("…")`. */
async function textsAskedFor() {
  const names = (await readdir(scripts, { recursive: true })).filter((name) => name.endsWith(".js"));
  const sources = await Promise.all(names.map((name) => readFile(path.join(scripts, name), "utf8")));
  return sources.flatMap((source) => [...source.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, key]) => key));
}

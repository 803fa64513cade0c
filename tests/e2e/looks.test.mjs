// Every view, on a desk, on a telephone, in the dark and in Chinese: labels, names, contrast, no sideways scrolling,
// and a picture of each in target/e2e for somebody to look at.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";

import { inspect } from "./support/inspect.mjs";
import { answer, between, loseRequest, pass, PAYMENTS } from "./support/network.mjs";
import { ROOT } from "./support/server.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { fillAddress, letGateway, orderShown, placeOrder, signIn } from "./support/steps.mjs";

const shop = openShop();
const pictures = path.join(ROOT, "target/e2e");
before(() => mkdir(pictures, { recursive: true }));

const settings = {
  desktop: {},
  mobile: { viewport: { width: 360, height: 740 }, hasTouch: true },
  zh: { locale: "zh-CN" },
  dark: { colorScheme: "dark" },
  "mobile-zh-dark": { viewport: { width: 360, height: 740 }, locale: "zh-CN", colorScheme: "dark" },
};

for (const [name, options] of Object.entries(settings)) {
  test(`every view is in order: ${name}`, async () => {
    const page = await shop.visit("#/", options);
    const look = (view) => check(page, `${name}-${view}`);

    await shopping(page, look);
    await ordering(page, look);
    await paying(page, look);
    await afterwards(page, look);
  });
}

async function check(page, picture) {
  await page.evaluate(() => window.scrollTo(0, 0));
  // Colours that fade in would be measured half-way.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((each) => each instanceof CSSTransition)
        .map((each) => each.finished),
    ),
  );
  await page.screenshot({ path: path.join(pictures, `${picture}.png`), fullPage: true });
  assert.deepEqual(await page.evaluate(inspect), [], picture);
}

async function shopping(page, look) {
  for (const id of ["1", "2", "2"]) await page.getByTestId(`add-${id}`).click();
  await look("shop");
  await page.getByTestId("to-checkout").click();
  await page.getByTestId("user-name").waitFor();
  await look("sign-in");
  await signIn(page, someone("alice"));
  await page.getByTestId("nav-account").click();
  await page.getByTestId("notifications-none").waitFor();
  await look("account-empty");
  await page.getByTestId("nav-checkout").click();
}

async function ordering(page, look) {
  const rules = [answer(409, "out_of_stock", { product_id: "2" }), loseRequest];
  await between(page, rules);
  await placeOrder(page);
  await look("checkout-gaps");
  await fillAddress(page);
  await look("checkout");
  await placeOrder(page);
  await page.getByTestId("trouble-2").waitFor();
  await look("checkout-refused");
  await placeOrder(page);
  await page.getByTestId("try-now").waitFor();
  await look("checkout-waiting");
  rules[1] = (route) => route.continue();
}

async function paying(page, look) {
  await orderShown(page);
  await look("order");
  const rules = [loseRequest];
  await between(page, rules, PAYMENTS);
  await page.getByTestId("pay").click();
  await page.getByTestId("pay-now").waitFor();
  await look("order-pay-waiting");
  rules[0] = pass;
  await page.getByTestId("pay-now").click();
  await page.getByTestId("due-amount").waitFor();
  await look("cashier");
  await letGateway(page, "forged_signature");
  await letGateway(page, "wrong_amount");
  await letGateway(page, "pay_hundred_times");
  await page.locator("[data-testid=entry][data-type=OrderPaid]").waitFor();
  await look("cashier-paid");
  await letGateway(page, "refund");
  await page.locator("[data-testid=entry][data-type=OrderRefunded]").waitFor();
  await page.getByTestId("back-to-order").click();
  await page.getByTestId("refund").waitFor();
  await look("order-refunded");
}

async function afterwards(page, look) {
  await page.getByTestId("nav-catalogue").click();
  await page.getByTestId("add-3").click();
  await page.getByTestId("to-checkout").click();
  await placeOrder(page);
  await orderShown(page);
  await page.getByTestId("change-address").click();
  await look("order-address");
  await page.getByTestId("drop-address").click();
  await page.getByTestId("cancel-order").click();
  await look("order-cancel");
  await page.getByTestId("cancel-yes").click();
  await page.locator("[data-status=CLOSED]").first().waitFor();
  await page.getByTestId("nav-hundred").click();
  await page.getByTestId("send-hundred").click();
  await page.getByTestId("hundred-stock").waitFor();
  await look("hundred");
  await page.getByTestId("nav-orders").click();
  await page.getByTestId("orders").getByRole("listitem").first().waitFor();
  await look("orders");
  await page.getByTestId("nav-account").click();
  await page.getByTestId("change").first().waitFor();
  await look("account");
}

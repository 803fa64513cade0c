// Buying without a mouse.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openShop, someone } from "./support/shop.mjs";
import { ADDRESS, orderShown } from "./support/steps.mjs";

const shop = openShop();
const MOST_STOPS = 60;

const focused = (page) => page.evaluate(() => document.activeElement?.dataset.testid ?? "");

/** Tab after tab until the control has the focus; it must then be visible that it has. */
async function tabTo(page, testid) {
  await page.getByTestId(testid).waitFor();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    if ((await focused(page)) === testid) {
      await assertVisibleFocus(page, testid);
      return;
    }
    await page.keyboard.press("Tab");
  }
  assert.fail(`${testid} cannot be reached with the keyboard`);
}

async function assertVisibleFocus(page, testid) {
  const outline = await page.evaluate(() => {
    const active = document.activeElement;
    const shown = active.type === "radio" ? active.closest("label") : active;
    return getComputedStyle(shown).outlineStyle;
  });
  assert.notEqual(outline, "none", `${testid} shows its focus`);
}

test("a purchase with the keyboard alone", async () => {
  const user = someone();
  const page = await shop.visit();

  await tabTo(page, "add-1");
  await page.keyboard.press("Enter");
  await page.getByTestId("line-1").waitFor();
  assert.equal(await focused(page), "add-1", "the focus stays where it was");
  await tabTo(page, "more-1");
  await page.keyboard.press("Space");
  await page.getByTestId("quantity-1").filter({ hasText: "2" }).waitFor();
  await tabTo(page, "to-checkout");
  await page.keyboard.press("Enter");
  await tabTo(page, "user-name");
  await page.keyboard.type(user);
  await page.keyboard.press("Enter");
  await page.getByTestId("checkout").waitFor();
  await tabTo(page, "type-NORMAL");
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.getByTestId("type-FLASH_SALE").isChecked());
  for (const [name, value] of Object.entries(ADDRESS)) {
    await tabTo(page, `address-${name}`);
    await page.keyboard.type(name === "country" ? "Germany" : value);
  }
  await tabTo(page, "place-order");
  await page.keyboard.press("Enter");

  const id = await orderShown(page);
  const order = await (await shop.api(user)).order(id);
  assert.equal(order.order_type, "FLASH_SALE");
  assert.equal(order.items[0].quantity, 2);
  assert.equal(order.address.country, "DE");
});

test("a dialog takes the focus, Escape closes it, and the focus returns", async () => {
  const user = someone();
  const page = await shop.visit();
  await tabTo(page, "add-2");
  await page.keyboard.press("Enter");
  await tabTo(page, "to-checkout");
  await page.keyboard.press("Enter");
  await tabTo(page, "user-name");
  await page.keyboard.type(user);
  await page.keyboard.press("Enter");
  for (const [name, value] of Object.entries(ADDRESS)) {
    await tabTo(page, `address-${name}`);
    await page.keyboard.type(name === "country" ? "Germany" : value);
  }
  await page.keyboard.press("Enter");
  await orderShown(page);

  await tabTo(page, "cancel-order");
  await page.keyboard.press("Enter");
  await page.getByTestId("cancel-dialog").waitFor();
  assert.equal(await focused(page), "cancel-no", "the harmless button comes first");
  await page.keyboard.press("Escape");

  await page.getByTestId("cancel-dialog").waitFor({ state: "detached" });
  assert.equal(await focused(page), "cancel-order");
});

test("the first stop leads past the header", async () => {
  const page = await shop.visit();
  await page.getByTestId("product-1").waitFor();

  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");

  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});

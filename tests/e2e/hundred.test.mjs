// "Send it 100 times": one order comes of it, and the page shows who caught the rest.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openShop, someone } from "./support/shop.mjs";
import { signIn } from "./support/steps.mjs";

const shop = openShop();
const finished = (page, round) => page.getByTestId("hundred-stock").filter({ hasText: round }).waitFor();
const countOf = async (page, kind) => page.getByTestId(`cell-${kind}`).count();

async function open(user) {
  const page = await shop.visit("#/hundred");
  await signIn(page, user);
  await page.getByTestId("hundred-product").selectOption("6");
  return page;
}

test("a hundred at once make one order and take one piece; a hundred later are all replays", async () => {
  const user = someone();
  const page = await open(user);
  const api = await shop.api(user);
  const before = (await api.product("6")).stock.quantity;

  await page.getByTestId("send-hundred").click();
  await finished(page, /1 round/);

  const [created, replayed, inProgress] = await Promise.all(
    ["created", "replayed", "in_progress"].map((kind) => countOf(page, kind)),
  );
  assert.equal(created, 1);
  assert.equal(created + replayed + inProgress, 100);
  assert.equal(await page.getByTestId("hundred-order").count(), 1);
  assert.equal((await api.orders()).length, 1);
  assert.equal((await api.product("6")).stock.quantity, before - 1);

  await page.getByTestId("ask-again").click();
  await finished(page, /2 rounds/);

  assert.equal(await countOf(page, "replayed"), 100);
  assert.equal((await api.orders()).length, 1);
  assert.equal((await api.product("6")).stock.quantity, before - 1);
});

test("every answer but the original names the layer that gave it", async () => {
  const page = await open(someone());

  await page.getByTestId("send-hundred").click();
  await finished(page, /1 round/);

  const counts = await page.getByTestId("hundred-layers").locator("td").allTextContents();
  assert.equal(
    counts.map(Number).reduce((sum, count) => sum + count, 0),
    99,
  );
});

test("a second token for the same product makes no second order, and the page shows a way out", async () => {
  const user = someone();
  const page = await open(user);
  await page.getByTestId("send-hundred").click();
  await finished(page, /1 round/);
  const order = await page.getByTestId("hundred-order").textContent();

  await page.getByTestId("send-hundred").click();
  await page.getByTestId("hundred-verdict").filter({ hasText: "Nothing was ordered" }).waitFor();

  const [refused, inProgress] = await Promise.all(["refused", "in_progress"].map((kind) => countOf(page, kind)));
  assert.ok(refused > 0);
  assert.equal(refused + inProgress, 100);
  assert.equal((await (await shop.api(user)).orders()).length, 1);
  assert.equal(await page.getByTestId("hundred-order").textContent(), order);
});

test("the result is still there after a reload, and can be asked for again", async () => {
  const page = await open(someone());
  await page.getByTestId("send-hundred").click();
  await finished(page, /1 round/);

  await page.reload();
  await page.getByTestId("ask-again").click();
  await finished(page, /2 rounds/);

  assert.equal(await countOf(page, "replayed"), 100);
});

test("in production there is neither the panel nor the demo sign-in", async () => {
  const page = await shop.visit();
  await page.context().route("**/api/dev", (route) => route.fulfill({ status: 404, json: {} }));
  await page.reload();

  await page.getByTestId("nav-orders").click();

  await page.getByTestId("access-token").waitFor();
  assert.equal(await page.getByTestId("nav-hundred").count(), 0);
  await page.getByTestId("access-token").fill("nonsense");
  await page.getByTestId("use-token").click();
  await page.getByTestId("note-bad").filter({ hasText: "three parts" }).waitFor();
});

test("a closed demo door leads to the field for a token, and a token pasted there signs in", async () => {
  const page = await shop.visit("#/orders");
  await page.route("**/api/dev/sign-in", (route) => route.fulfill({ status: 404, json: {} }));
  const user = someone();
  const { token } = await shop.api(user);

  await page.getByTestId("sign-in-alice").click();
  await page.getByTestId("access-token").fill(`Bearer ${token}\n`);
  await page.getByTestId("use-token").click();

  await page.getByTestId("current-user").filter({ hasText: user }).waitFor();
  await page.getByTestId("empty").waitFor();
});

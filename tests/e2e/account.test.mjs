// My account: points and notifications come by themselves, in the reader's language, and nothing of them is markup.

import assert from "node:assert/strict";
import { test } from "node:test";

import { inspect } from "./support/inspect.mjs";
import { openShop, someone } from "./support/shop.mjs";
import { letGateway, orderShown, signIn, toCashier } from "./support/steps.mjs";

const shop = openShop();
const SOME = /^[1-9]\d* points?$/;
const at = "2026-01-01T10:00:00Z";
const told = (page, text) => page.getByTestId("notifications").getByRole("link").filter({ hasText: text }).waitFor();
const balance = (page, text) => page.getByTestId("balance").filter({ hasText: text }).waitFor();
const texts = (page) => page.getByTestId("notifications").locator(".what").allTextContents();

/** Open before anything happens. A reload would lose the mark that `assertSamePage` looks for. */
async function openAccount(user, options) {
  const page = await shop.visit("#/account", options);
  await signIn(page, user);
  await page.getByTestId("notifications-none").waitFor();
  await page.evaluate(() => (window.isSamePage = true));
  return page;
}

const assertSamePage = async (page) => assert.ok(await page.evaluate(() => window.isSamePage), "without a reload");

/** Bought and paid in another browser; the order. */
async function payElsewhere(user) {
  const page = await shop.visit();
  const { order } = await toCashier(page, user, ["1"]);
  await letGateway(page, "pay");
  return (await shop.api(user)).order(order);
}

const sum = ({ amount }) => (amount / 100).toFixed(2);

/** The doors answer with these notifications, ten a page, and with no points. */
async function answerWith(page, notifications) {
  await page.route("**/api/points?*", (route) => route.fulfill({ json: { balance: 0, data: [], next_cursor: null } }));
  await page.route("**/api/notifications?*", (route) => {
    const before = Number(new URL(route.request().url()).searchParams.get("cursor") ?? Infinity);
    const rest = notifications.filter(({ id }) => Number(id) < before);
    const data = rest.slice(0, 10);
    return route.fulfill({ json: { data, next_cursor: rest.length > 10 ? data.at(-1).id : null } });
  });
}

const notification = (id, type, payload) => ({
  id: String(id),
  order_id: `70${id}`,
  type,
  payload: { currency: "CNY", ...payload },
  created_at: at,
});

test("who has bought nothing has no points, and is told where the news will be", async () => {
  const page = await openAccount(someone());

  await balance(page, /^0 points$/);
  await page.getByTestId("movements-none").filter({ hasText: "earns them when it is paid" }).waitFor();
  assert.equal(await page.getByTestId("notifications-more").count(), 0);
});

test("what is paid at the cashier is told and credited without a reload", async () => {
  const user = someone();
  const page = await openAccount(user);

  const order = await payElsewhere(user);

  await told(page, `Order ${order.id} was paid: CN¥${sum(order)}.`);
  await told(page, `Order ${order.id} was placed`);
  assert.match((await texts(page))[0], /was paid/, "the newest first");
  await balance(page, SOME);
  const { balance: points } = await (await shop.api(user)).points();
  assert.equal(await page.getByTestId("balance").textContent(), `${points} points`);
  assert.equal(await page.getByTestId("change").textContent(), `+${points}`);
  await assertSamePage(page);
});

test("a refund takes points back, and both its beginning and its end are told", async () => {
  const user = someone();
  const page = await openAccount(user);
  const order = await payElsewhere(user);
  await told(page, /was paid/);

  await (await shop.api("olga", "operator")).refund(order.id, { reason: "the pot came without its lid" });

  await told(page, `A refund of CN¥${sum(order)} for order ${order.id} is on its way.`);
  await told(page, `CN¥${sum(order)} for order ${order.id} was refunded.`);
  await balance(page, /^0 points$/);
  const [taken, given] = await page.getByTestId("change").allTextContents();
  assert.equal(taken, given.replace("+", "-"));
  await assertSamePage(page);
});

test("all of it is said in Chinese, too, and the switch changes what is there", async () => {
  const user = someone();
  const page = await openAccount(user, { locale: "zh-CN" });

  const order = await payElsewhere(user);
  await (await shop.api("olga", "operator")).refund(order.id, { reason: "the pot came without its lid" });

  await told(page, `订单 ${order.id} 已付款 ¥${sum(order)}。`);
  await told(page, `订单 ${order.id} 已退款 ¥${sum(order)}。`);
  await balance(page, /^0 积分$/);
  await page.getByTestId("movements").getByText("退款扣回").waitFor();
  await page.getByTestId("language-switch").click();
  await told(page, `Order ${order.id} was paid`);
});

test("a notification and a movement lead to their order", async () => {
  const user = someone();
  const page = await openAccount(user);
  const order = await payElsewhere(user);

  for (const list of ["notifications", "movements"]) {
    await page.getByTestId(list).getByRole("link").first().click();
    assert.equal(await orderShown(page), order.id);
    await page.getByTestId("nav-account").click();
  }
});

test("the list of orders shows the points, and leads to what moved them", async () => {
  const user = someone();
  const page = await openAccount(user);
  await payElsewhere(user);
  await balance(page, SOME);

  await page.getByTestId("nav-orders").click();
  await page.getByTestId("points").getByRole("link", { name: SOME }).click();

  await balance(page, SOME);
});

test("every kind has its words, and an unknown one is named", async () => {
  const page = await openAccount(someone());
  const kinds = [
    ["SomethingNew", {}],
    ["RefundFailed", { amount: 12900 }],
    ["RefundSucceeded", { amount: 12900 }],
    ["RefundRequested", { amount: 12900 }],
    ["OrderClosed", {}],
    ["OrderShipped", { carrier: "SF Express" }],
    ["OrderPaid", { amount: 12900 }],
    ["OrderPlaced", { amount: 12900 }],
  ];

  await answerWith(
    page,
    kinds.map(([type, payload], index) => notification(9 - index, type, payload)),
  );

  await told(page, /SomethingNew/);
  assert.deepEqual(await texts(page), [
    "There is news of order 709: SomethingNew",
    "The refund of CN¥129.00 for order 708 failed; the shop will contact you.",
    "CN¥129.00 for order 707 was refunded.",
    "A refund of CN¥129.00 for order 706 is on its way.",
    "Order 705 was closed.",
    "Order 704 was shipped with SF Express.",
    "Order 703 was paid: CN¥129.00.",
    "Order 702 was placed: CN¥129.00.",
  ]);
  const announced = await page.locator("#announcer").textContent();
  assert.match(announced, /^Order 702 was placed.*SomethingNew$/, "read out in the order in which it happened");
});

test("a text from the shop is a text, whatever it looks like", async () => {
  const page = await openAccount(someone());
  const markup = '<img src="x" data-testid="injected"><b>{order}</b>';

  await answerWith(page, [
    notification(2, "OrderShipped", { carrier: markup }),
    { ...notification(1, markup), order_id: `"><script>document.title = "injected"</script>` },
  ]);

  await told(page, `shipped with ${markup}`);
  await told(page, `: ${markup}`);
  assert.equal(await page.getByTestId("injected").count(), 0);
  const links = page.getByTestId("notifications").getByRole("link");
  const targets = await links.evaluateAll((all) => all.map(({ hash }) => hash));
  assert.ok(targets.every((hash) => hash.startsWith("#/orders/")));
});

test("older ones come page by page, and new ones on top of them", async () => {
  const page = await openAccount(someone());
  const all = Array.from({ length: 25 }, (_, index) => notification(125 - index, "OrderClosed"));
  await answerWith(page, all);
  await told(page, "Order 70125 was");
  const shown = () => page.getByTestId("notifications").getByRole("link").count();
  assert.equal(await shown(), 10);

  await page.getByTestId("notifications-more").click();

  await told(page, "Order 70106 was");
  const focused = () => page.evaluate(() => document.activeElement.dataset.testid);
  assert.equal(await focused(), "notifications-115");
  all.unshift(notification(126, "OrderClosed"));
  await told(page, "Order 70126 was");
  assert.equal(await focused(), "notifications-115", "the focus stays");
  await page.getByTestId("notifications-more").click();
  await told(page, "Order 70101 was");
  assert.equal(await page.getByTestId("notifications-more").count(), 0);
  assert.deepEqual(await texts(page), all.map(({ order_id: id }) => `Order ${id} was closed.`));
});

test("more news at once than a page holds leaves no gap: the list begins anew", async () => {
  const page = await openAccount(someone());
  const all = [notification(1, "OrderClosed")];
  await answerWith(page, all);
  await told(page, "Order 701 was");

  all.unshift(...Array.from({ length: 15 }, (_, index) => notification(16 - index, "OrderClosed")));

  await told(page, "Order 7016 was");
  await page.getByTestId("notifications-more").click();
  await told(page, "Order 701 was");
  assert.equal((await texts(page)).length, 16);
});

test("a look that fails is told, what is there stays, and the page keeps asking", async () => {
  const page = await openAccount(someone());
  await answerWith(page, [notification(1, "OrderClosed")]);
  await told(page, "Order 701 was");

  await page.route("**/api/points?*", (route) => route.abort("internetdisconnected"));

  await page.getByTestId("notice").filter({ hasText: "may be out of date" }).waitFor();
  assert.equal((await texts(page)).length, 1);
  await page.unroute("**/api/points?*");
  await page.getByTestId("note-warn").waitFor({ state: "detached" });
});

for (const locale of ["en-US", "zh-CN"]) {
  test(`it fits on 320 pixels: ${locale}`, async () => {
    const user = someone("a-buyer-with-a-long-name");
    const page = await openAccount(user, { locale, viewport: { width: 320, height: 640 } });
    assert.deepEqual(await page.evaluate(inspect), [], "empty");

    await payElsewhere(user);

    await page.getByTestId("change").waitFor();
    assert.deepEqual(await page.evaluate(inspect), []);
    const isInside = ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth;
    assert.ok(await page.locator("nav").evaluate(isInside), "every entry of the navigation is in sight");
  });
}

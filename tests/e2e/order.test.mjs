// One order: its address, its end, and what its timeline may hold.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openShop, someone } from "./support/shop.mjs";
import { ADDRESS, buy } from "./support/steps.mjs";

const shop = openShop();
const noticed = (page, text) => page.getByTestId("notice").filter({ hasText: text }).waitFor();

test("the address is changed", async () => {
  const user = someone();
  const page = await shop.visit();
  const id = await buy(page, user);

  await page.getByTestId("change-address").click();
  await page.getByTestId("address-line1").fill("Invalidenstraße 43");
  await page.getByTestId("save-address").click();

  await noticed(page, /has been changed/);
  assert.match(await page.getByTestId("address").textContent(), /Invalidenstraße 43/);
  assert.equal((await (await shop.api(user)).order(id)).address.line1, "Invalidenstraße 43");
  assert.equal(await page.getByTestId("entry").count(), 2);
});

test("an address changed elsewhere meanwhile is explained, and what was typed is kept", async () => {
  const user = someone();
  const page = await shop.visit();
  const id = await buy(page, user);
  const api = await shop.api(user);
  await page.getByTestId("change-address").click();
  await page.getByTestId("address-city").fill("Potsdam");
  await api.changeAddress(await api.order(id), { ...ADDRESS, city: "Leipzig" });

  await page.getByTestId("save-address").click();

  await noticed(page, /somewhere else/);
  assert.match(await page.getByTestId("address").textContent(), /Leipzig/);
  assert.equal(await page.getByTestId("address-city").inputValue(), "Potsdam");
  assert.equal((await api.order(id)).address.city, "Leipzig");
  await page.getByTestId("save-address").click();
  await noticed(page, /has been changed/);
  assert.equal((await api.order(id)).address.city, "Potsdam");
});

test("a half-typed address is there after a reload, and can be dropped", async () => {
  const page = await shop.visit();
  await buy(page, someone());
  await page.getByTestId("change-address").click();
  await page.getByTestId("address-city").fill("Pots");

  await page.reload();

  await page.getByTestId("save-address").waitFor();
  assert.equal(await page.getByTestId("address-city").inputValue(), "Pots");
  await page.getByTestId("drop-address").click();
  assert.match(await page.getByTestId("address").textContent(), /Berlin/);
});

test("an order is cancelled after a question", async () => {
  const user = someone();
  const page = await shop.visit();
  const id = await buy(page, user);

  await page.getByTestId("cancel-order").click();
  await page.getByTestId("cancel-no").click();
  assert.equal((await (await shop.api(user)).order(id)).status, "PENDING_PAYMENT");
  await page.getByTestId("cancel-order").click();
  await page.getByTestId("cancel-yes").click();

  await noticed(page, /has been cancelled/);
  assert.equal((await (await shop.api(user)).order(id)).status, "CLOSED");
  assert.equal(await page.getByTestId("cancel-order").count(), 0);
  assert.equal(await page.getByTestId("change-address").count(), 0);
});

test("a lost answer to the cancellation can be asked for again", async () => {
  const user = someone();
  const page = await shop.visit();
  const id = await buy(page, user);
  let isFirst = true;
  await page.route(`**/api/orders/${id}`, async (route) => {
    if (route.request().method() !== "DELETE" || !isFirst) return route.continue();
    isFirst = false;
    await route.fetch();
    return route.abort("connectionreset");
  });

  await page.getByTestId("cancel-order").click();
  await page.getByTestId("cancel-yes").click();
  await page.getByTestId("cancel-dialog").getByTestId("note-bad").waitFor();
  await page.getByTestId("cancel-yes").click();

  await noticed(page, /has been cancelled/);
});

test("a timeline with entries of every kind, known and unknown, is shown", async () => {
  const page = await shop.visit();
  const id = await buy(page, someone());
  const at = "2026-01-01T10:00:00Z";
  const data = [
    {
      kind: "event",
      seq: 1,
      type: "OrderPlaced",
      from: null,
      to: "PENDING_PAYMENT",
      actor: "customer",
      payload: {},
      created_at: at,
    },
    {
      kind: "callback",
      type: "payment.succeeded",
      outcome: "APPLIED",
      deliveries: 3,
      payload: { amount: 4900, currency: "EUR" },
      created_at: at,
    },
    { kind: "surprise", type: "SomethingNew", created_at: at },
    {
      kind: "event",
      seq: 2,
      type: "OrderPaid",
      from: "PENDING_PAYMENT",
      to: "BRAND_NEW_STATUS",
      actor: "a_job",
      payload: null,
      created_at: at,
    },
  ];
  await page.route(`**/api/orders/${id}/timeline`, (route) => route.fulfill({ json: { data } }));

  await page.getByTestId("refresh").click();

  await page.getByTestId("entry").nth(3).waitFor();
  const texts = await page.getByTestId("entry").allTextContents();
  assert.match(texts[1], /Payment succeeded.*applied · delivered 3 times.*€49\.00/);
  assert.match(texts[2], /Something New/);
  assert.match(texts[3], /Awaiting payment.*BRAND_NEW_STATUS.*a_job/);
});

test("a timeline whose older entries were archived says so", async () => {
  const page = await shop.visit();
  const id = await buy(page, someone());
  await page.route(`**/api/orders/${id}/timeline`, (route) => route.fulfill({ json: { data: [], archived: true } }));

  await page.getByTestId("refresh").click();

  await page.getByTestId("archived").waitFor();
  assert.equal(await page.getByTestId("archived").textContent(), "Older entries are in the archive.");
  assert.equal(await page.getByTestId("entry").count(), 0);
});

test("only what the service allows is offered", async () => {
  const page = await shop.visit();
  const id = await buy(page, someone());
  await page.route(`**/api/orders/${id}`, async (route) => {
    const order = await (await route.fetch()).json();
    await route.fulfill({ json: { ...order, status: "PAID", allowed_actions: ["change_address", "time_travel"] } });
  });

  await page.getByTestId("refresh").click();

  await page.locator("[data-status=PAID]").waitFor();
  assert.equal(await page.getByTestId("cancel-order").count(), 0);
  assert.equal(await page.getByTestId("change-address").count(), 1);
});

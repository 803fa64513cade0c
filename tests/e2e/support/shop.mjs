// A shop for one test file: server, browser, and pages that must not complain.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before } from "node:test";

import { launch } from "./browser.mjs";
import { startServer } from "./server.mjs";

/** Registers the hooks. A page that threw, or wrote an error to its console, fails the test that used it. */
export function openShop() {
  const shop = { contexts: [], complaints: [] };
  before(async () => {
    shop.server = await startServer();
    shop.browser = await launch();
  });
  afterEach(async () => {
    await Promise.all(shop.contexts.splice(0).map((context) => context.close()));
    assert.deepEqual(shop.complaints.splice(0), []);
  });
  after(async () => {
    await shop.browser?.close();
    await shop.server?.stop();
  });
  shop.visit = (hash = "#/", options = {}) => visit(shop, hash, options);
  shop.api = (user, role = "customer") => client(shop.server.url, user, role);
  return shop;
}

/** Nobody else in this database has the name. */
export const someone = (name = "buyer") => `${name}-${randomUUID().slice(0, 8)}`;

async function visit(shop, hash, options) {
  const context = await shop.browser.newContext({
    locale: "en-US",
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  shop.contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on("pageerror", (error) => shop.complaints.push(error.message));
  page.on("console", (message) => {
    // The browser reports every answer above 399 by itself; those are part of the tests.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) shop.complaints.push(message.text());
  });
  await page.goto(`${shop.server.url}/${hash}`);
  return page;
}

/** The same doors without the page. */
async function client(url, user, role) {
  const call = async (method, path, { token, body, headers } = {}) => {
    const response = await fetch(url + path, {
      method,
      body: body && JSON.stringify(body),
      headers: {
        ...(body && { "content-type": "application/json" }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  };
  const signedIn = await call("POST", "/api/dev/sign-in", { body: { user_id: user, role } });
  const token = signedIn.body.access_token;
  return {
    token,
    orders: async () => (await call("GET", "/api/orders?limit=100", { token })).body.data,
    order: async (id) => (await call("GET", `/api/orders/${id}`, { token })).body,
    changeAddress: ({ id, version }, address) =>
      call("PUT", `/api/orders/${id}/address`, { token, body: address, headers: { "if-match": `"${version}"` } }),
    timeline: async (id) => (await call("GET", `/api/orders/${id}/timeline`, { token })).body.data,
    refunds: async (id) => (await call("GET", `/api/orders/${id}/refunds`, { token })).body.data,
    points: async () => (await call("GET", "/api/points", { token })).body,
    refund: (id, refund) =>
      call("POST", `/api/orders/${id}/refunds`, { token, body: refund, headers: { "idempotency-key": randomUUID() } }),
    ship: (id, shipment) => call("PUT", `/api/orders/${id}/shipment`, { token, body: shipment }),
    pay: (id) =>
      call("POST", `/api/orders/${id}/payments`, {
        token,
        body: { gateway: "sandbox" },
        headers: { "idempotency-key": randomUUID() },
      }),
    atGateway: (payment, action) => call("POST", `/api/sandbox/payments/${payment}/actions`, { body: { action } }),
    product: async (id) => (await call("GET", `/api/products/${id}`)).body,
  };
}

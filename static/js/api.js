// The doors of the service. Nothing here knows the page.

import * as session from "./session.js";

const PATIENCE_MS = 20_000;

/** The server said no: `code` is stable, `extras` carries what the problem names (order_id, product_id, errors). */
export class Problem extends Error {
  constructor(status, body, headers) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? "";
    this.extras = body;
    this.retryAfter = Number(headers.get("Retry-After")) || null;
    this.layer = headers.get("Idempotency-Layer");
  }
}

/** Nothing came back, so nobody here knows what the server did. */
export class NoAnswer extends Error {}

/** `anonymous`: a door that is not the shop's, so it does not see who is signed in. */
async function call(method, path, { body, headers = {}, signal, anonymous } = {}) {
  const response = await fetch(path, {
    method,
    body,
    headers: { ...(!anonymous && authorization()), ...(body && { "Content-Type": "application/json" }), ...headers },
    signal: AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])]),
    cache: "no-store",
  }).catch((cause) => {
    throw new NoAnswer("no answer", { cause });
  });
  return read(response, anonymous);
}

const authorization = () => {
  const token = session.current()?.access_token;
  return token ? { Authorization: `Bearer ${token}` } : {};
};

/** A body that breaks off is no answer either, whatever the status line said. */
async function read(response, anonymous) {
  const text = await response.text().catch((cause) => {
    throw new NoAnswer("the answer broke off", { cause });
  });
  const body = parse(text);
  if (response.ok) {
    if (text && body === null) throw new NoAnswer("the answer is unreadable");
    return { body, headers: response.headers };
  }
  if (response.status === 401 && !anonymous) session.expire();
  throw new Problem(response.status, body ?? {}, response.headers);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const bodyOf = async (answer) => (await answer).body;
const json = (value) => JSON.stringify(value);

export const products = (signal) => bodyOf(call("GET", "/api/products", { signal })).then((list) => list.data);
export const product = (id) => bodyOf(call("GET", `/api/products/${id}`));

export const issueToken = () => bodyOf(call("POST", "/api/order-tokens"));

/** `text` is the body exactly as it was sent the first time: a repeat must not differ by a byte. */
export async function createOrder(token, text) {
  const { body, headers } = await call("POST", "/api/orders", { body: text, headers: { "Idempotency-Key": token } });
  return {
    order: body,
    replayed: headers.get("Idempotency-Replayed") === "true",
    layer: headers.get("Idempotency-Layer"),
  };
}

function readPage(path, { limit, cursor, signal }) {
  const query = new URLSearchParams({ limit, ...(cursor && { cursor }) });
  return bodyOf(call("GET", `${path}?${query}`, { signal }));
}

export const orders = (which) => readPage("/api/orders", which);

/** The balance, and a page of what moved it. */
export const points = (which) => readPage("/api/points", which);

export const notifications = (which) => readPage("/api/notifications", which);

export const order = (id, signal) => bodyOf(call("GET", `/api/orders/${id}`, { signal }));
export const timeline = (id, signal) =>
  bodyOf(call("GET", `/api/orders/${id}/timeline`, { signal }));

export const changeAddress = (id, version, address) =>
  bodyOf(call("PUT", `/api/orders/${id}/address`, { body: json(address), headers: { "If-Match": `"${version}"` } }));

export const cancelOrder = (id) => call("DELETE", `/api/orders/${id}`);

export const confirmReceipt = (id) => bodyOf(call("PUT", `/api/orders/${id}/receipt`));

/** The attempt to pay: a new one, or the one that is open already. */
export const startPayment = (orderId, key, gateway) =>
  bodyOf(
    call("POST", `/api/orders/${orderId}/payments`, { body: json({ gateway }), headers: { "Idempotency-Key": key } }),
  );

export const refunds = (orderId, signal) =>
  bodyOf(call("GET", `/api/orders/${orderId}/refunds`, { signal })).then((list) => list.data);

const sandbox = (paymentId) => `/api/sandbox/payments/${encodeURIComponent(paymentId)}`;

/** A payment as the sandbox gateway sees it, with its log of messages. */
export const sandboxPayment = (id, signal) => bodyOf(call("GET", sandbox(id), { signal, anonymous: true }));

/** Lets the sandbox gateway do something, and answers after it has tried to deliver the messages of it. */
export const sandboxAction = (id, action) =>
  bodyOf(call("POST", `${sandbox(id)}/actions`, { body: json({ action }), anonymous: true }));

export const devSignIn = (user) =>
  bodyOf(call("POST", "/api/dev/sign-in", { body: json({ user_id: user, role: "customer" }) }));

/** False when the door is closed (production). */
export async function isDevelopment() {
  const answer = await bodyOf(call("GET", "/api/dev"));
  return answer.development === true;
}

// What an answer to "create this order" or "start this payment" means for the next step: the service's retry rules for clients.

import { NoAnswer } from "./api.js";

/** Tries in a row before the page asks the buyer. */
export const TRIES = 5;

const LONGEST_WAIT_MS = 10_000;
const VOID_TOKEN = ["order_token_expired", "order_token_invalid", "idempotency_key_reused"];

/** Nobody knows yet whether it was done: only the same key with the same body may be sent. */
export function isUnknown(error) {
  if (!error) return false;
  if (error instanceof NoAnswer) return true;
  return error.status >= 500 || error.status === 429 || error.code === "request_in_progress";
}

export const needsNewToken = (error) => error.status === 410 || VOID_TOKEN.includes(error.code);

/** Milliseconds until the next try: what the service asked for, else half a second doubling, with jitter. */
export function after(attempt, error) {
  const asked = error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** (attempt - 1);
  return Math.min(asked, LONGEST_WAIT_MS) + Math.random() * 250;
}

/** `over` resolves after that time, or as soon as `wake` is called. */
export function pause(milliseconds) {
  let wake;
  const over = new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { over, wake };
}

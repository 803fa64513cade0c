// Starting a payment so that it is started once, whatever the network does: the key is kept until the service has said
// what became of it, and until then the same key is sent again.

import * as api from "./api.js";
import { after, isUnknown, pause, TRIES } from "./retry_rules.js";
import * as session from "./session.js";
import { tab } from "./storage.js";

/** By name; there is a text for each. */
export const GATEWAYS = ["sandbox"];

const slotOf = (orderId) => `payment-key:${session.current()?.user}:${orderId}`;

/** Whether a payment of this order was asked for and the answer has not come. */
export const isUnanswered = (orderId) => Boolean(tab.get(slotOf(orderId)));

/**
 * The attempt that the service started, or has open already. Throws its refusal; an outcome that is still unknown after
 * the last try is thrown too, and the next call asks about the same attempt. `onWait` is told of each
 * pause: `{attempt, error, wake}`, and null when it is over.
 */
export async function start(orderId, gateway, { signal, onWait }) {
  const slot = slotOf(orderId);
  const held = tab.get(slot) ?? { key: uuid(), gateway };
  tab.set(slot, held);
  for (let attempt = 1; ; attempt += 1) {
    const { payment, error } = await send(orderId, held);
    if (isDecided(error)) tab.remove(slot);
    if (payment) return payment;
    if (isDecided(error) || attempt === TRIES || signal.aborted) throw error;
    await wait({ attempt, error, signal, onWait });
  }
}

async function send(orderId, { key, gateway }) {
  try {
    return { payment: await api.startPayment(orderId, key, gateway) };
  } catch (error) {
    return { error };
  }
}

/** A sign-in that has run out says nothing about what an earlier try did. */
const isDecided = (error) => !isUnknown(error) && error?.status !== 401;

async function wait({ attempt, error, signal, onWait }) {
  const { over, wake } = pause(after(attempt, error));
  signal.addEventListener("abort", wake);
  onWait({ attempt, error, wake });
  await over;
  signal.removeEventListener("abort", wake);
  if (signal.aborted) throw error;
  onWait(null);
}

/** Where the buyer pays, when that is on this site; else null, and nobody is sent there. */
export function checkoutAddress({ checkout_url: address }) {
  if (!address || !URL.canParse(address, location.href)) return null;
  const url = new URL(address, location.href);
  return url.origin === location.origin ? url.href : null;
}

/** Version 4; `crypto.randomUUID` is there on https and localhost only. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// Placing an order so that it happens once, whatever the network does. The order token and the exact body that was sent
// with it are kept until the service has said what became of them; until then the same two are sent again.

import * as api from "./api.js";
import * as cart from "./cart.js";
import { after, isUnknown, needsNewToken, pause, TRIES } from "./retry_rules.js";
import * as session from "./session.js";
import { publisher } from "./signal.js";
import { tab } from "./storage.js";

const changes = publisher();
let state = { phase: "idle" };
let generation = 0;
let wake = () => {};

export const onChange = changes.subscribe;

/**
 * `phase` is idle · sending · waiting (`attempt`, `error`) · stalled (`error`) · refused (`error`) · look_first
 * (`error`, `orders`) · placed (`order`, `replayed`).
 */
export const current = () => state;

/** The order that was sent and not yet answered, or null. */
export function unresolved() {
  const body = kept()?.body;
  return body ? JSON.parse(body) : null;
}

/** `{token, expires_at, body?}` of the user who is signed in, or null. */
export const kept = () => tab.get(keyOf(session.current()?.user));

const keyOf = (user) => `order-token:${user}`;

function set(next) {
  state = next;
  changes.publish(state);
}

/** Asks for an order token unless a usable one is there; called when the checkout opens. */
export async function prepare() {
  if (isUsable(kept())) return;
  const { user } = session.current();
  const fresh = await api.issueToken();
  // Another call may have been faster, and an order may already be under way with its token.
  if (!isUsable(tab.get(keyOf(user)))) tab.set(keyOf(user), fresh);
}

/** A token that went out with an order is never replaced from here: only the service can say that it is void. */
const isUsable = (held) => Boolean(held && (held.body || Date.parse(held.expires_at) > Date.now() + 30_000));

/** Sends the order; when an earlier one is still unanswered, that one is settled instead. */
export async function place(order) {
  if (isBusy()) return;
  const mine = generation;
  set({ phase: "sending", attempt: 1 });
  const error = await prepare().catch((cause) => cause);
  // Somebody else may have signed in meanwhile.
  if (mine !== generation) return;
  if (error) {
    set({ phase: "refused", error });
    return;
  }
  const held = kept();
  if (!held.body) tab.set(keyOf(session.current().user), { ...held, body: JSON.stringify(order) });
  await repeatUntilAnswered();
}

export const isBusy = () => state.phase === "sending" || state.phase === "waiting";

/** The buyer does not want to wait for the next try. */
export function tryNow() {
  if (state.phase === "waiting") wake();
  else if (state.phase === "stalled") repeatUntilAnswered();
}

/** After a reload or a new sign-in: takes up what was left unanswered. */
export function restore() {
  generation += 1;
  if (unresolved()) repeatUntilAnswered();
  else set({ phase: "idle" });
}

/** A navigation: an outcome that the new page does not show has been read, and is forgotten. */
export function leaveFor({ name, values }) {
  const { phase, order } = state;
  if (phase === "placed" && values.id !== order.id) set({ phase: "idle" });
  if ((phase === "refused" || phase === "look_first") && name !== "checkout") set({ phase: "idle" });
}

async function repeatUntilAnswered() {
  generation += 1;
  const mine = generation;
  const held = kept();
  for (let attempt = 1; ; attempt += 1) {
    set({ phase: "sending", attempt });
    const answer = await send(held);
    // A later run, or another user, has taken over: it will be told the same.
    if (mine !== generation) return;
    if (!isUnknown(answer.error)) {
      await conclude(held, answer);
      return;
    }
    if (attempt === TRIES) break;
    set({ phase: "waiting", attempt, error: answer.error });
    const waiting = pause(after(attempt, answer.error));
    wake = waiting.wake;
    await waiting.over;
    if (mine !== generation) return;
  }
  set({ phase: "stalled", error: state.error });
}

async function send({ token, body }) {
  try {
    return await api.createOrder(token, body);
  } catch (error) {
    return { error };
  }
}

async function conclude({ body, ...token }, { order, replayed, error }) {
  const { user } = session.current();
  if (order) {
    tab.remove(keyOf(user));
    set({ phase: "placed", order, replayed });
    cart.remove(JSON.parse(body).items);
  } else if (needsNewToken(error)) {
    tab.remove(keyOf(user));
    await lookFirst(error);
  } else {
    tab.set(keyOf(user), token);
    set({ phase: "refused", error });
  }
}

/** The token is void. Before anything is sent under a new one the buyer sees which orders exist. */
async function lookFirst(error) {
  const mine = generation;
  const latest = await api.orders({ limit: 3 }).catch(() => ({ data: null }));
  await prepare().catch(() => {});
  if (mine === generation) set({ phase: "look_first", error, orders: latest.data });
}

window.addEventListener("online", tryNow);

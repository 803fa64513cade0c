// What the cashier knows, kept up to date: the gateway's side of a payment, and the order's timeline beside it.

import * as api from "../api.js";
import { follow, isRecent } from "../follow.js";
import * as session from "../session.js";
import { publisher } from "../signal.js";

/**
 * `payment`, `entries` (null without a sign-in that may see them), `refusal` (of the timeline), `trouble` (the last
 * look failed). `act` lets the gateway do something and returns what it answers.
 */
export function watch(id, signal) {
  const changes = publisher();
  const state = { payment: null, entries: null, refusal: null, trouble: null, onChange: changes.subscribe };
  // Counts what was done, so that a look that began before it cannot bring the old picture back.
  let turn = 0;
  let news = Date.now();

  const take = (found) => {
    if (JSON.stringify(found) !== JSON.stringify([state.payment, state.entries])) news = Date.now();
    [state.payment, state.entries] = found;
  };

  async function look() {
    const mine = turn;
    const payment = await api.sandboxPayment(id, signal);
    const entries = await story(state, payment.order_id, signal);
    if (mine === turn) take([payment, entries]);
  }

  state.first = () =>
    look().catch((error) => {
      if (error.status !== 404) throw error;
    });

  state.act = async (action) => {
    turn += 1;
    const payment = await api.sandboxAction(id, action).finally(() => (turn += 1));
    take([payment, await story(state, payment.order_id, signal)]);
    if (!signal.aborted) changes.publish();
    return payment;
  };

  state.refresh = async () => {
    try {
      await look();
      state.trouble = null;
    } catch (error) {
      state.trouble = error;
    }
    if (!signal.aborted) changes.publish();
  };

  state.follow = () => follow(state.refresh, () => isOpen(state.payment) || isRecent(news), signal);
  return state;
}

const isOpen = ({ status, messages }) => status === "OPEN" || messages.some((message) => message.next_attempt_at);

/** The timeline, or null: then `refusal` says why, unless nobody is signed in. */
async function story(state, orderId, signal) {
  state.refusal = null;
  if (!session.current()) return null;
  try {
    return await api.timeline(orderId, signal);
  } catch (error) {
    // No answer says nothing new: what was there stays.
    if (!error.status || error.status >= 500) return state.entries;
    state.refusal = error;
    return null;
  }
}

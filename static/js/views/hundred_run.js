// Firing the hundred requests, and naming each answer.

import * as api from "../api.js";
import { clean, isComplete } from "../address.js";
import { shelf } from "../storage.js";

export const TIMES = 100;

const DEMO_ADDRESS = {
  recipient: "Ada Example",
  phone: "+49 30 1234567",
  country: "DE",
  region: "Berlin",
  city: "Berlin",
  line1: "Example Street 1",
  postal_code: "10115",
};

/** One piece, to the buyer's own address if he has given one. */
export function sample(product, orderType) {
  const own = shelf.get("address");
  return {
    order_type: orderType,
    items: [{ product_id: product.id, quantity: 1 }],
    address: isComplete(own) ? clean(own) : DEMO_ADDRESS,
    expected_amount: product.price,
  };
}

/** Fills `run.answers` as they come in. The browser queues what exceeds its connections. */
export function ask(run, onAnswer) {
  return Promise.all(
    run.answers.map(async (_, index) => {
      run.answers[index] = await answer(run);
      onAnswer();
    }),
  );
}

async function answer({ token, body }) {
  try {
    const { order, replayed, layer } = await api.createOrder(token, body);
    return { kind: replayed ? "replayed" : "created", status: 201, layer, order_id: order.id };
  } catch (error) {
    return {
      kind: kindOf(error),
      status: error.status ?? null,
      code: error.code ?? null,
      layer: error.layer ?? null,
      order_id: error.extras?.order_id,
    };
  }
}

function kindOf({ status, code }) {
  if (!status) return "silent";
  if (code === "request_in_progress") return "in_progress";
  return status >= 500 || status === 429 ? "busy" : "refused";
}

// Looking again and again while somebody sees the page: often as long as news is expected, seldom afterwards.

import { pause } from "./retry_rules.js";

const OFTEN_MS = 1000;
const SELDOM_MS = 5000;
/** So long after the last news more is expected: what follows from it is told a little later. */
const LIVELY_MS = 15_000;

export const isRecent = (time) => Date.now() - time < LIVELY_MS;

/** Ends with the signal. Whoever comes back to the page does not wait for the next look. */
export async function follow(look, isLively, signal) {
  let wake = () => {};
  document.addEventListener("visibilitychange", () => wake(), { signal });
  while (!signal.aborted) {
    const waiting = pause(isLively() ? OFTEN_MS : SELDOM_MS);
    wake = waiting.wake;
    await waiting.over;
    if (!signal.aborted && !document.hidden) await look();
  }
}

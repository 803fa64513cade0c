// The smallest publisher: modules that hold state tell their listeners when it has changed.

export function publisher() {
  const listeners = new Set();
  return {
    /** An `AbortSignal` ends the subscription together with the view that made it. */
    subscribe(listener, signal) {
      listeners.add(listener);
      signal?.addEventListener("abort", () => listeners.delete(listener));
    },
    publish(value) {
      for (const listener of [...listeners]) listener(value);
    },
  };
}

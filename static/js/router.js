// Hash routes: deep links and the back button work without help from the server.

const routes = [
  { pattern: /^\/?$/, name: "catalogue" },
  { pattern: /^\/checkout$/, name: "checkout", private: true },
  { pattern: /^\/orders$/, name: "orders", private: true },
  { pattern: /^\/orders\/(?<id>\d+)$/, name: "order", private: true },
  { pattern: /^\/account$/, name: "account", private: true },
  { pattern: /^\/hundred$/, name: "hundred", private: true },
];

export function route() {
  const path = location.hash.slice(1);
  for (const { pattern, ...found } of routes) {
    const match = pattern.exec(path);
    if (match) return { ...found, values: { ...match.groups } };
  }
  return { name: "missing", values: {} };
}

export const orderHref = (id) => `#/orders/${id}`;

/** Goes there without leaving this page in the history: "back" must not lead to a checkout that is over. */
export function replace(hash) {
  location.replace(hash);
}

export function onNavigate(listener) {
  window.addEventListener("hashchange", listener);
}

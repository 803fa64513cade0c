// JSON in the browser's two stores. A browser that refuses to store keeps it until the page is left.

function store(area) {
  const memory = new Map();
  return {
    get(key) {
      try {
        return JSON.parse(area().getItem(key));
      } catch {
        return memory.get(key) ?? null;
      }
    },
    set(key, value) {
      try {
        area().setItem(key, JSON.stringify(value));
      } catch {
        memory.set(key, value);
      }
    },
    remove(key) {
      memory.delete(key);
      try {
        area().removeItem(key);
      } catch {
        // there was nothing stored
      }
    },
  };
}

/** Outlives the tab: cart, address, language. */
export const shelf = store(() => window.localStorage);

/** Outlives a reload, not the tab: who is signed in, order tokens, drafts. */
export const tab = store(() => window.sessionStorage);

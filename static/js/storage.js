// JSON in the browser's two stores. What the browser refuses to store is kept until the page is left.

function store(area) {
  const memory = new Map();
  return {
    get(key) {
      if (memory.has(key)) return memory.get(key);
      try {
        return JSON.parse(area().getItem(key));
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        area().setItem(key, JSON.stringify(value));
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    remove(key) {
      memory.delete(key);
      try {
        area().removeItem(key);
      } catch {
        // nothing can be stored, so nothing is
      }
    },
  };
}

/** Outlives the tab: cart, address, language. */
export const shelf = store(() => window.localStorage);

/** Outlives a reload, not the tab: who is signed in, order tokens, drafts. */
export const tab = store(() => window.sessionStorage);

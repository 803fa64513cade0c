// A list that grows at its head while its end is read page by page. Ids are numbers, the newest the highest.

/** `fetchPage` takes a cursor, or none for the first page, and returns `{data, next_cursor}`. */
export function feed(fetchPage) {
  const state = { all: [], cursor: null };

  /** Reads the first page anew; returns what was not there before. */
  state.refresh = async () => {
    const { data, next_cursor: cursor } = await fetchPage();
    const known = new Set(state.all.map(({ id }) => id));
    const fresh = data.filter(({ id }) => !known.has(id));
    // With nothing in common there may be a gap between the two, so the list begins anew.
    if (fresh.length === data.length) Object.assign(state, { all: data, cursor });
    else state.all = [...fresh, ...state.all].sort((a, b) => Number(b.id) - Number(a.id));
    return fresh;
  };

  /** Reads the next page; returns what it adds. */
  state.more = async () => {
    const { cursor } = state;
    const { data, next_cursor: next } = await fetchPage(cursor);
    // Begun anew meanwhile: this page belongs to the list that was.
    if (cursor !== state.cursor) return [];
    Object.assign(state, { all: [...state.all, ...data], cursor: next });
    return data;
  };
  return state;
}

// A network between page and service that does as it is told.

export const CREATIONS = "**/api/orders";
export const PAYMENTS = "**/api/orders/*/payments";

/**
 * Lets `rules` decide about the POSTs to a door, one rule a request, the last one for all that follow. Returns what was
 * sent: `[{key, body}]`. A rule is one of the functions below.
 */
export async function between(page, rules, door = CREATIONS) {
  const sent = [];
  await page.route(door, async (route) => {
    const request = route.request();
    if (request.method() !== "POST") {
      await route.continue();
      return;
    }
    sent.push({ key: request.headers()["idempotency-key"], body: request.postData() });
    await rules[Math.min(sent.length, rules.length) - 1](route);
  });
  return sent;
}

/** The service does the work; its answer never arrives. */
export async function loseAnswer(route) {
  await route.fetch();
  await route.abort("connectionreset");
}

/** The service never hears of it. */
export const loseRequest = (route) => route.abort("internetdisconnected");

export const pass = (route) => route.continue();

/** An answer in the service's place. */
export const answer =
  (status, code, { headers, ...extras } = {}) =>
  (route) =>
    route.fulfill({
      status,
      headers,
      contentType: "application/problem+json",
      body: JSON.stringify({ type: "about:blank", title: code, status, detail: code, code, ...extras }),
    });

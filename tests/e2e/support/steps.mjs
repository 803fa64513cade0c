// What a buyer does, step by step.

export const ADDRESS = {
  recipient: "Ada Lovelace",
  phone: "+49 30 123456",
  country: "DE",
  region: "Berlin",
  city: "Berlin",
  line1: "Unter den Linden 1",
  postal_code: "10117",
};

export async function signIn(page, user) {
  await page.getByTestId("user-name").fill(user);
  await page.getByTestId("sign-in").click();
  await page.getByTestId("current-user").filter({ hasText: user }).waitFor();
}

export async function fillAddress(page, address = ADDRESS) {
  for (const [name, value] of Object.entries(address)) {
    const field = page.getByTestId(`address-${name}`);
    if (name === "country") await field.selectOption(value);
    else await field.fill(value);
  }
}

/** From the catalogue to a filled-in checkout; the order is not placed yet. */
export async function toCheckout(page, user, products = ["1"]) {
  for (const id of products) await page.getByTestId(`add-${id}`).click();
  await page.getByTestId("to-checkout").click();
  await signIn(page, user);
  await fillAddress(page);
}

export const placeOrder = (page) => page.getByTestId("place-order").click();

/** The id of the order whose page is open, once its timeline is there. */
export async function orderShown(page) {
  await page.getByTestId("timeline").waitFor();
  return /#\/orders\/(\d+)$/.exec(page.url())[1];
}

export async function buy(page, user, products) {
  await toCheckout(page, user, products);
  await placeOrder(page);
  return orderShown(page);
}

/** From the catalogue to the gateway's cashier; the ids of what is to be paid. */
export async function toCashier(page, user, products) {
  const order = await buy(page, user, products);
  await page.getByTestId("pay").click();
  await page.getByTestId("due-amount").waitFor();
  return { order, payment: new URL(page.url()).searchParams.get("payment") };
}

/** Lets the gateway do it, and waits until the page says what was answered. */
export async function letGateway(page, action) {
  await page.getByTestId(`do-${action}`).click();
  await page.getByTestId("outcome-of-action").locator(".note").waitFor();
}

/** The timeline's entries of one type, once there are any. */
export async function entries(page, type) {
  const found = page.locator(`[data-testid=entry][data-type=${type}]`);
  await found.first().waitFor();
  return found;
}

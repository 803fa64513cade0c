// The entrance: draws the shell, and the view that the address names.

import * as development from "./js/development.js";
import { onLanguage, t, tag } from "./js/i18n/index.js";
import { onNavigate, route } from "./js/router.js";
import * as session from "./js/session.js";
import { drawBanner, drawFooter, drawHeader } from "./js/shell.js";
import * as submission from "./js/submission.js";
import { account } from "./js/views/account.js";
import { catalogue } from "./js/views/catalogue.js";
import { checkout } from "./js/views/checkout.js";
import { hundred } from "./js/views/hundred.js";
import { missing } from "./js/views/missing.js";
import { order } from "./js/views/order.js";
import { orders } from "./js/views/orders.js";
import { signIn } from "./js/views/sign_in.js";

const views = { catalogue, checkout, orders, order, account, hundred, missing };
const main = document.getElementById("main");
let leave = new AbortController();

/** Draws the view anew. Whatever the old one still waits for is dropped: its signal is aborted. */
function draw() {
  leave.abort();
  leave = new AbortController();

  const here = route();
  const mustSignIn = here.private && !session.current();
  document.documentElement.lang = tag();
  document.title = `${t(mustSignIn ? "title.sign_in" : `title.${here.name}`)} · Once`;
  drawHeader();
  drawBanner();
  drawFooter();

  const view = mustSignIn ? signIn : views[here.name];
  view(main, { ...here.values, signal: leave.signal });
}

/** After a navigation the reader starts at the heading, as after loading a page. */
function drawAndFocus() {
  draw();
  window.scrollTo(0, 0);
  (main.querySelector("h1") ?? main).focus({ preventScroll: true });
}

onNavigate(() => {
  submission.leaveFor(route());
  drawAndFocus();
});
onLanguage(draw);
session.onChange(() => {
  submission.restore();
  drawAndFocus();
});
submission.onChange(drawBanner);
// "Back" from the gateway's cashier may bring the page as it was left, from the browser's memory.
window.addEventListener("pageshow", ({ persisted }) => persisted && draw());

await development.discover();
submission.restore();
draw();

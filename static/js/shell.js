// What surrounds every view: header, the banner about an unanswered order, footer.

import * as cart from "./cart.js";
import * as development from "./development.js";
import { h, redraw } from "./dom.js";
import { t } from "./i18n/index.js";
import { orderHref, replace, route } from "./router.js";
import * as session from "./session.js";
import * as submission from "./submission.js";
import { languageSwitch } from "./views/language_switch.js";

const header = document.getElementById("header");
const banner = document.getElementById("banner");
const footer = document.getElementById("footer");

cart.onChange(() => drawHeader());

export function drawHeader() {
  redraw(
    header,
    h("a", { class: "skip", href: "#main", onclick: skip }, t("shell.skip")),
    h("header", { class: "bar" }, brand(), navigation(), h("div", { class: "bar-end" }, languageSwitch(), account())),
  );
}

/** The address is the router's, so the skip link moves the focus by hand. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const brand = () =>
  h("a", { class: "brand", href: "#/" }, h("img", { src: "/favicon.svg", alt: "", width: 30, height: 30 }), "Once");

function navigation() {
  const pieces = cart.pieces();
  return h(
    "nav",
    { "aria-label": t("shell.navigation") },
    link("catalogue", "#/", t("nav.shop")),
    link("checkout", "#/checkout", t("nav.checkout"), pieces > 0 && badge(pieces)),
    link("orders", "#/orders", t("nav.orders")),
    link("account", "#/account", t("nav.account")),
    development.enabled() && link("hundred", "#/hundred", t("nav.hundred")),
  );
}

function link(name, href, ...content) {
  const here = route().name === name;
  return h("a", { href, "aria-current": here && "page", "data-testid": `nav-${name}` }, ...content);
}

const badge = (count) =>
  h(
    "span",
    { class: "badge", "data-testid": "cart-count" },
    String(count),
    h("span", { class: "unseen" }, ` ${t("cart.pieces", { count })}`),
  );

function account() {
  const signedIn = session.current();
  if (!signedIn) return null;
  return h(
    "div",
    { class: "account" },
    h("span", { class: "user", "data-testid": "current-user", title: signedIn.user }, signedIn.user),
    h(
      "button",
      { type: "button", class: "quiet", "data-testid": "sign-out", onclick: session.end },
      t("shell.sign_out"),
    ),
  );
}

/** The checkout shows the same in full, so the banner is for every other view. */
export function drawBanner() {
  const { phase, order } = submission.current();
  const here = route();
  if (phase === "placed" && here.name === "checkout") {
    replace(orderHref(order.id));
    return;
  }
  const isShownThere = here.name === "checkout" || (phase === "placed" && here.values.id === order.id);
  const text = !isShownThere && bannerText(phase);
  redraw(
    banner,
    text &&
      h(
        "div",
        { class: `note ${phase === "placed" ? "good" : "warn"} banner` },
        h("p", {}, text),
        bannerLink(phase, order),
      ),
  );
}

function bannerText(phase) {
  if (phase === "placed") return t("banner.placed");
  if (phase === "refused" || phase === "look_first") return t("banner.refused");
  return submission.unresolved() && session.current() ? t("banner.unresolved") : null;
}

const bannerLink = (phase, order) =>
  phase === "placed"
    ? h("a", { href: orderHref(order.id), "data-testid": "banner-order" }, t("banner.to_order"))
    : h("a", { href: "#/checkout", "data-testid": "banner-checkout" }, t("banner.to_checkout"));

export function drawFooter() {
  redraw(footer, h("p", {}, t("shell.promise")));
}

// The entrance of the sandbox gateway's own site: it plays the payment provider, so it has no part in the shop's shell.

import { h, redraw } from "./js/dom.js";
import { onLanguage, t, tag } from "./js/i18n/index.js";
import * as session from "./js/session.js";
import { cashier } from "./js/views/cashier.js";
import { languageSwitch } from "./js/views/language_switch.js";

const main = document.getElementById("main");
const header = document.getElementById("header");
const footer = document.getElementById("footer");
const id = new URLSearchParams(location.search).get("payment") ?? "";
let leave = new AbortController();

function draw() {
  leave.abort();
  leave = new AbortController();
  document.documentElement.lang = tag();
  document.title = `${t("title.cashier")} · ${t("cashier.brand")}`;
  redraw(
    header,
    h("a", { class: "skip", href: "#main" }, t("shell.skip")),
    h(
      "header",
      { class: "bar" },
      h("span", { class: "brand" }, t("cashier.brand")),
      h("span", { class: "chip open" }, t("cashier.pretend")),
      h("div", { class: "bar-end" }, languageSwitch()),
    ),
  );
  redraw(footer, h("p", {}, t("cashier.footer")));
  cashier(main, { id, signal: leave.signal });
}

onLanguage(draw);
session.onChange(draw);
draw();

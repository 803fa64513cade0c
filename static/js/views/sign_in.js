// Who are you? In development a name is enough; elsewhere the shop's own sign-in hands out the token.

import * as api from "../api.js";
import * as development from "../development.js";
import { h } from "../dom.js";
import { t } from "../i18n/index.js";
import { sentence } from "../problems.js";
import * as session from "../session.js";
import { note, page } from "./page.js";

const DEMO_USERS = ["alice", "bob", "carol"];

export function signIn(main) {
  const problem = h("div", { "aria-live": "assertive" });
  const forms = h(
    "div",
    { class: "card narrow" },
    development.enabled() ? demoForm(main, problem) : tokenForm(problem),
  );
  page(main, t("title.sign_in"), session.hasExpired() && note("warn", t("sign_in.expired")), forms, problem);
}

function demoForm(main, problem) {
  const name = h("input", {
    id: "user",
    name: "user",
    required: true,
    maxlength: 64,
    autocomplete: "username",
    "data-testid": "user-name",
  });
  const enter = (user) => enterAs(user, main, problem);
  return [
    h("p", {}, t("sign_in.demo")),
    h(
      "div",
      { class: "choices" },
      DEMO_USERS.map((user) =>
        h(
          "button",
          { type: "button", class: "primary", "data-testid": `sign-in-${user}`, onclick: () => enter(user) },
          user,
        ),
      ),
    ),
    h(
      "form",
      { class: "inline", onsubmit: submitting(() => enter(name.value.trim())) },
      h("div", { class: "field" }, h("label", { for: "user" }, t("sign_in.other")), name),
      h("button", { type: "submit", "data-testid": "sign-in" }, t("sign_in.enter")),
    ),
  ];
}

const submitting = (action) => (event) => {
  event.preventDefault();
  action();
};

async function enterAs(user, main, problem) {
  if (!user) return;
  try {
    const { access_token: token } = await api.devSignIn(user);
    session.begin(token, user);
  } catch (error) {
    if (error.status === 404) main.querySelector(".narrow").replaceChildren(...tokenForm(problem));
    else problem.replaceChildren(note("bad", sentence(error)));
  }
}

function tokenForm(problem) {
  const field = h("textarea", {
    id: "token",
    rows: 4,
    required: true,
    spellcheck: "false",
    autocomplete: "off",
    "data-testid": "access-token",
  });
  const enter = () => {
    const token = field.value.trim().replace(/^Bearer /i, "");
    const user = session.userOf(token);
    if (user) session.begin(token, user);
    else problem.replaceChildren(note("bad", t("sign_in.not_a_token")));
  };
  return [
    h("p", {}, t("sign_in.token_from")),
    h(
      "form",
      { onsubmit: submitting(enter) },
      h("div", { class: "field" }, h("label", { for: "token" }, t("sign_in.token")), field),
      h("button", { type: "submit", class: "primary", "data-testid": "use-token" }, t("sign_in.enter")),
    ),
  ];
}

// The two languages of the page, and which one is on.

import { publisher } from "../signal.js";
import { shelf } from "../storage.js";
import en from "./en.js";
import zh from "./zh.js";

const texts = { en, zh };
const tags = { en: "en", zh: "zh-CN" };
const changes = publisher();
let language = shelf.get("language") ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
if (!texts[language]) language = "en";

export const onLanguage = changes.subscribe;

export const current = () => language;

/** The BCP 47 tag, for `lang` and for Intl. */
export const tag = () => tags[language];

export function choose(next) {
  language = next;
  shelf.set("language", next);
  changes.publish();
}

export const has = (key) => key in texts[language];

/** The text with `{name}` filled in. A text with plural forms takes its form from `values.count`. */
export function t(key, values = {}) {
  const text = texts[language][key] ?? key;
  const form = typeof text === "string" ? text : (text[new Intl.PluralRules(tag()).select(values.count)] ?? text.other);
  return form.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The text if there is one for this key, else `fallback`: the service may know states that this page does not. */
export const tOr = (key, fallback) => (has(key) ? t(key) : fallback);

// The button to the other language.

import { h } from "../dom.js";
import { choose, current } from "../i18n/index.js";

export function languageSwitch() {
  const other =
    current() === "en" ? { code: "zh", name: "中文", lang: "zh-CN" } : { code: "en", name: "English", lang: "en" };
  return h(
    "button",
    {
      type: "button",
      class: "quiet",
      lang: other.lang,
      "data-testid": "language-switch",
      onclick: () => choose(other.code),
    },
    other.name,
  );
}

// An address that leads nowhere.

import { t } from "../i18n/index.js";
import { empty, page } from "./page.js";

export function missing(main) {
  page(main, t("title.missing"), empty(t("missing.text"), "#/", t("nav.shop")));
}

// From the service's stable error codes to a sentence that says what to do next.

import { NoAnswer, Problem } from "./api.js";
import { has, t } from "./i18n/index.js";

export function sentence(error) {
  if (error instanceof NoAnswer) return t("problem.no_answer");
  if (!(error instanceof Problem)) return t("problem.unknown");
  const keys = [`problem.${error.code}`, `problem.status_${error.status}`, error.status >= 500 && "problem.server"];
  const key = keys.find((candidate) => candidate && has(candidate));
  return key ? t(key, error.extras) : t("problem.unknown");
}

/** `errors` of a 422 by the last part of the field's name, so that an address form finds its own. */
export function fieldErrors(error) {
  const found = {};
  for (const { field = "", message = "" } of error.extras?.errors ?? []) {
    found[field.split(/[./]/).at(-1)] = t("field.refused", { message });
  }
  return found;
}

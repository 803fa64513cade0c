// Money, dates and names as the reader's language writes them.

import { tag } from "./i18n/index.js";

/** Minor units in; the currency says how many digits it has (JPY none, KWD three). */
export function money(minorUnits, currency) {
  const format = new Intl.NumberFormat(tag(), { style: "currency", currency });
  const digits = format.resolvedOptions().maximumFractionDigits;
  return format.format(minorUnits / 10 ** digits);
}

export const number = (value) => new Intl.NumberFormat(tag()).format(value);

/** With its sign, whichever it is. */
export const signed = (value) => new Intl.NumberFormat(tag(), { signDisplay: "exceptZero" }).format(value);

export const dateTime = (iso) =>
  new Intl.DateTimeFormat(tag(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));

export const exactTime = (iso) =>
  new Intl.DateTimeFormat(tag(), { dateStyle: "medium", timeStyle: "medium" }).format(new Date(iso));

export const clockTime = (iso) => new Intl.DateTimeFormat(tag(), { timeStyle: "short" }).format(new Date(iso));

export const countryName = (code) => new Intl.DisplayNames(tag(), { type: "region" }).of(code);

/** `[{code, name}]` as a dictionary of the language sorts the names. */
export function namedCountries(codes) {
  const names = new Intl.DisplayNames(tag(), { type: "region" });
  const { compare } = new Intl.Collator(tag());
  return codes.map((code) => ({ code, name: names.of(code) })).sort((a, b) => compare(a.name, b.name));
}

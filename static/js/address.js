// The fields of an address and what they must hold, before the service has the last word.

/** In the order in which the form asks; `autocomplete` lets the browser fill them in. */
export const fields = [
  { name: "recipient", autocomplete: "shipping name", most: 100, wide: true },
  { name: "phone", autocomplete: "shipping tel", most: 20, type: "tel", valid: /^[ +()-]*(\d[ +()-]*){5,20}$/ },
  { name: "country", autocomplete: "shipping country", most: 2 },
  { name: "region", autocomplete: "shipping address-level1", most: 100 },
  { name: "city", autocomplete: "shipping address-level2", most: 100 },
  { name: "line1", autocomplete: "shipping address-line1", most: 200, wide: true },
  { name: "line2", autocomplete: "shipping address-line2", most: 200, wide: true, optional: true },
  { name: "postal_code", autocomplete: "shipping postal-code", most: 16, valid: /^[a-z\d -]+$/i },
];

/** The key of the text that says what is wrong with this value, or null. */
export function fault({ optional, valid, name }, value) {
  if (!value) return optional ? null : `address.missing.${name}`;
  return valid && !valid.test(value) ? `address.wrong.${name}` : null;
}

/** The address as the service takes it: trimmed, without an empty second line. */
export function clean(values) {
  const entries = fields.map(({ name }) => [name, (values?.[name] ?? "").trim()]);
  return Object.fromEntries(entries.filter(([name, value]) => value || name !== "line2"));
}

export const isComplete = (values) => fields.every((field) => !fault(field, clean(values)[field.name] ?? ""));

// The address form of checkout and order page: checked as one goes along, kept at every key stroke.

import { clean, fault, fields } from "../address.js";
import { countries } from "../countries.js";
import { h } from "../dom.js";
import { namedCountries } from "../format.js";
import { t } from "../i18n/index.js";

/** `{element, read, show}`: `read()` gives the address, or null after pointing at what is wrong. */
export function addressForm({ values, onInput, prefix }) {
  const rows = fields.map((field) => row(field, values?.[field.name] ?? "", prefix));
  const raw = () => Object.fromEntries(rows.map(({ field, input }) => [field.name, input.value]));
  for (const { input } of rows) input.addEventListener("input", () => onInput(raw()));
  return {
    element: h(
      "div",
      { class: "address-form" },
      rows.map(({ element }) => element),
    ),
    read() {
      const wrong = rows.filter((each) => each.check());
      wrong[0]?.input.focus();
      return wrong.length ? null : clean(raw());
    },
    /** Errors by field, as the service told them. */
    show(errors) {
      const wrong = rows.filter(({ field }) => errors[field.name]);
      for (const each of wrong) each.say(errors[each.field.name]);
      wrong[0]?.input.focus();
    },
  };
}

function row(field, value, prefix) {
  const id = `${prefix}-${field.name}`;
  const error = h("p", { class: "error", id: `${id}-error`, "data-testid": `error-${field.name}` });
  const input = field.name === "country" ? countrySelect(id, field, value) : textInput(id, field, value);
  const say = (text) => {
    error.textContent = text;
    input.setAttribute("aria-invalid", String(Boolean(text)));
  };
  const check = () => {
    const key = fault(field, input.value.trim());
    say(key ? t(key) : "");
    return key;
  };
  input.addEventListener("change", check);
  input.addEventListener("input", () => input.ariaInvalid === "true" && check());
  const label = h(
    "label",
    { for: id },
    t(`address.${field.name}`),
    field.optional && h("span", { class: "faint" }, ` ${t("address.optional")}`),
  );
  return {
    field,
    input,
    check,
    say,
    element: h("div", { class: `field${field.wide ? " wide" : ""}` }, label, input, error),
  };
}

const textInput = (id, { name, autocomplete, most, optional, type = "text" }, value) =>
  h("input", {
    id,
    name,
    type,
    autocomplete,
    value,
    maxlength: most,
    ...described(id, optional),
    "data-testid": `address-${name}`,
  });

function countrySelect(id, { name, autocomplete }, value) {
  return h(
    "select",
    { id, name, autocomplete, ...described(id), "data-testid": `address-${name}` },
    h("option", { value: "" }, t("address.choose_country")),
    namedCountries(countries).map((country) =>
      h("option", { value: country.code, selected: country.code === value }, country.name),
    ),
  );
}

const described = (id, optional) => ({ "aria-describedby": `${id}-error`, "aria-required": optional ? null : "true" });

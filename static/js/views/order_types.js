// The choice of the order type, remembered.

import { h } from "../dom.js";
import { t } from "../i18n/index.js";
import { shelf } from "../storage.js";

export const ORDER_TYPES = ["NORMAL", "FLASH_SALE", "GROUP_BUY"];

export function orderTypes() {
  const chosen = shelf.get("order-type") ?? ORDER_TYPES[0];
  return h(
    "fieldset",
    { class: "card" },
    h("legend", {}, t("checkout.order_type")),
    h(
      "div",
      { class: "options" },
      ORDER_TYPES.map((type) => option(type, type === chosen)),
    ),
  );
}

const option = (type, checked) =>
  h(
    "label",
    { class: "option" },
    h("input", {
      type: "radio",
      name: "order_type",
      value: type,
      checked,
      "data-testid": `type-${type}`,
      onchange: () => shelf.set("order-type", type),
    }),
    h("span", {}, h("strong", {}, t(`type.${type}`)), h("small", {}, t(`type.${type}.about`))),
  );

// What can be checked of a page without looking at it. `inspect` runs in the browser and returns complaints.

export function inspect() {
  const complaints = [];
  const nameOf = (element) =>
    `${element.tagName.toLowerCase()} ${element.dataset.testid ?? ""} "${element.textContent.trim().slice(0, 30)}"`;
  const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);

  for (const field of all("input, select, textarea")) {
    if (!field.labels?.length && !field.ariaLabel) complaints.push(`no label: ${nameOf(field)}`);
  }
  for (const control of all("button, a, summary")) {
    if (!control.textContent.trim() && !control.ariaLabel) complaints.push(`no name: ${nameOf(control)}`);
  }
  for (const image of all("img")) if (!image.hasAttribute("alt")) complaints.push(`no alt: ${image.src}`);
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) complaints.push(`id twice: ${id}`);
  if (document.querySelectorAll("h1").length !== 1) complaints.push("not exactly one h1");
  if (!document.documentElement.lang) complaints.push("no language");
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > window.innerWidth) complaints.push(`scrolls sideways: ${scrollWidth} > ${window.innerWidth}`);
  for (const control of all("button, .button, nav a")) {
    const { width, height } = control.getBoundingClientRect();
    if (width < 24 || height < 24) complaints.push(`too small to hit: ${nameOf(control)}`);
  }
  return [...complaints, ...tooFaint()];

  /** WCAG AA: 4.5 to 1 for text; what is disabled is exempt. */
  function tooFaint() {
    return all("main *, header *, footer *, #banner *")
      .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
      .filter((element) => !element.closest(":disabled, .unseen, [aria-hidden=true], option"))
      .map((element) => ({ element, ratio: contrast(colour(getComputedStyle(element).color), ground(element)) }))
      .filter(({ ratio }) => ratio < 4.5)
      .map(({ element, ratio }) => `contrast ${ratio.toFixed(2)}: ${nameOf(element)}`);
  }

  function colour(text) {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }

  function ground(element) {
    for (let at = element; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  }

  function contrast(a, b) {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  }

  function luminance([red, green, blue]) {
    const linear = [red, green, blue]
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }
}

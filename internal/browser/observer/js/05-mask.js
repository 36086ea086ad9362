// @ts-check
// Masks: what a session hides from its clients. Text is masked where it is produced, so masked
// content never leaves the page. The constant MASKS precedes the script. If MASKS is null, only
// secret fields are masked.
//
// A selector masks an element with everything below it, in its own tree and in the flat tree.
// `values` masks the content of form fields and editors, but not their names.
//
// This file decides which elements are masked; 06-secrets.js decides which are secret. The describers (20-names,
// 30-describe, 37-row-text, 65-markup, 67-extract) take text and attributes through the reported* functions below.

const MASK = "••••";

/** Attributes that a masked element keeps: they describe the element, not its content. */
const UNMASKED = new Set(["id", "class", "type", "role", "name", "autocomplete", "tabindex", "disabled", "required", "readonly", "hidden", "for", "slot", "form"]);
/** Attributes that repeat the value of a field. */
const VALUE_ATTRIBUTES = new Set(["value", "selected", "aria-valuetext", "aria-valuenow"]);
/** The maximum number of nodes read for the text of a subtree that is partly masked. */
const MASK_NODES = 20_000;

/** @type {(el: El, selector: string) => El | null} */
const closestOf = method(Element, "closest");
/** @type {(el: El) => boolean} */
const isEditableNow = getter(HTMLElement, "isContentEditable");

/** The selectors of masked elements. An invalid selector masks everything, since its meaning is unknown. */
const MASK_SELECTORS = MASKS === null ? [] : validSelectors(MASKS.selectors);

/** @param {string[]} selectors */
function validSelectors(selectors) {
  const nothing = new DocumentFragment();
  for (const selector of selectors) {
    try {
      nothing.querySelector(selector);
    } catch {
      return ["*"];
    }
  }
  return selectors;
}

/** Whether an element is edited as text, however distant its editing host. @param {El} el */
function isEdited(el) {
  try {
    if (isEditableNow(el) === true) return true;
  } catch {
    // an SVG element, which has no such property
  }
  return closestOf(el, "[contenteditable]:not([contenteditable=false i])") !== null;
}

/** Whether an element is masked with all its content. @param {DomNode | null} el */
function isMasked(el) {
  if (MASKS === null || !el || !isElement(el)) return false;
  if (MASKS.values) {
    const parent = flatElement(el);
    if (parent && isEdited(parent)) return true;
  }
  return MASK_SELECTORS.some((selector) => isWithinSelector(el, selector));
}

/**
 * Whether an element or an ancestor matches a selector, in its own trees or in the flat tree.
 * @param {El} el @param {string} selector
 */
function isWithinSelector(el, selector) {
  for (let /** @type {El | null} */ n = el; n; n = hostOf(n)) if (closestOf(n, selector)) return true;
  for (let /** @type {El | null} */ n = el; n; n = flatElement(n)) if (safe.matches(n, selector)) return true;
  return false;
}

/** Whether the text in an element is masked. @param {El | null} el */
function isTextMasked(el) {
  if (!el) return false;
  if (tagOf(el) === "textarea" && isSecret(el)) return true;
  if (MASKS === null) return false;
  return isMasked(el) || (MASKS.values && (tagOf(el) === "textarea" || isEdited(el) || closestOf(el, "textarea,option,[role=textbox],[role=searchbox],[role=combobox]:not(input),[role=spinbutton]") !== null));
}

/** Whether MASKS masks the value of a field. It does not cover secret values; see isSecret. @param {El} el */
function isValueMasked(el) {
  return MASKS !== null && (MASKS.values || isMasked(el));
}

/** Whether the choice of options in a list is masked. @param {El} option */
function isChoiceMasked(option) {
  const list = closestOf(option, "select[autocomplete]");
  if (list && isSecret(list)) return true;
  return MASKS !== null && (MASKS.values || isMasked(option));
}

/**
 * Whether an attribute reveals the value of a secret field.
 * @param {El} el @param {string} name @param {string} value
 */
function holdsSecret(el, name, value) {
  name = name.toLowerCase();
  if (UNMASKED.has(name) || !isSecret(el)) return false;
  if (VALUE_ATTRIBUTES.has(name) || name === "data-value") return true;
  for (const held of [el.value, attr(el, "value")]) {
    if (typeof held === "string" && held !== "" && (value === held || (held.length >= SECRET_WITHIN && value.includes(held)))) return true;
  }
  return false;
}

/**
 * The value of an attribute, masked where needed.
 * @param {El} el @param {string} name @returns {string | null}
 */
function reportedAttribute(el, name) {
  const value = attr(el, name);
  if (value && holdsSecret(el, name, value)) return MASK;
  if (tagOf(el) === "option" && isChoiceMasked(el)) {
    if (name.toLowerCase() === "selected") return null; // the presence of this attribute reveals the choice
    if (value && name.toLowerCase() === "label") return MASK;
  }
  return MASKS === null || !value ? shownAttribute(name, value) : maskAttribute(el, name, value);
}

/**
 * The value of an aria-* attribute, masked where needed.
 * @param {El} el @param {string} name @returns {string | null}
 */
function reportedAria(el, name) {
  const value = aria(el, name);
  if (value && holdsSecret(el, name, value)) return MASK;
  return MASKS === null || !value ? shownAttribute(name, value) : maskAttribute(el, name, value);
}

/**
 * The value of an attribute, with the document's secrets masked.
 * @template {string | null} T @param {string} name @param {T} value @returns {T | string}
 */
function shownAttribute(name, value) {
  return value && secretValues.size && !UNMASKED.has(name.toLowerCase()) ? withoutSecretValues(value) : value;
}

/** @param {El} el @param {string} name @param {string} value */
function maskAttribute(el, name, value) {
  name = name.toLowerCase();
  if (VALUE_ATTRIBUTES.has(name) && isValueMasked(el)) return isCaption(el) && !isMasked(el) ? value : MASK;
  return !UNMASKED.has(name) && isMasked(el) ? MASK : shownAttribute(name, value);
}

/** Whether the value of an element is its caption, as for a button. @param {El} el */
function isCaption(el) {
  const tag = tagOf(el);
  return tag === "button" || tag === "li" || (tag === "input" && /^(button|submit|reset|image)$/.test(el.type));
}

/** The caption of an input that is a button, masked where needed. @param {El} el */
function reportedCaption(el) {
  return el.value && isMasked(el) ? MASK : el.value;
}

/** The text of an element, masked where needed. @param {El} el @returns {string} */
function reportedText(el) {
  return withoutSecretValues(MASKS === null && !holdsSecretText(el) ? safe.textContent(el) : maskedText(el));
}

/** Whether the text in an element includes a secret. @param {El} el */
function holdsSecretText(el) {
  if (tagOf(el) === "textarea") return isSecret(el);
  for (const area of queryWithin(el, "textarea[autocomplete]")) if (isSecret(area)) return true;
  return false;
}

/**
 * The text of an element, masked where needed, with white space folded.
 * @param {El} root @param {number} most how many characters are enough
 */
function reportedWords(root, most) {
  return reportedFolded(root, most).finish();
}

/**
 * Folds the text of an element, masked where needed. Only the beginning of a large element is read.
 * @param {El} root @param {number} most
 */
function reportedFolded(root, most) {
  const out = new TextFolder(most);
  if (isTextMasked(root)) {
    if (hasText(safe.textContent(root))) out.add(MASK);
    return out;
  }
  /** The nodes that are left, and the ends of blocks. @type {(El | Text | null | " ")[]} */
  const stack = [safe.firstChild(root)];
  for (let seen = 0; stack.length && !out.isFull; seen++) {
    const node = stack.pop();
    if (node === " ") out.add(node);
    if (!node || node === " ") continue;
    if (seen >= MASK_NODES) out.cut = true;
    stack.push(safe.nextSibling(node));
    if (isText(node)) out.add(node.data);
    else if (isElement(node) && isTextMasked(node)) out.add(safe.textContent(node) ? MASK : "");
    else if (isElement(node)) {
      if (!PHRASING.has(tagOf(node))) { // starts its own line
        out.add(" ");
        stack.push(" ");
      }
      stack.push(safe.firstChild(node));
    }
  }
  return out;
}

/** The text of an element that contains masked text. @param {El} root */
function maskedText(root) {
  if (isTextMasked(root)) return hasText(safe.textContent(root)) ? MASK : "";
  let out = "";
  const stack = [safe.firstChild(root)];
  for (let seen = 0; stack.length && seen < MASK_NODES; seen++) {
    const node = stack.pop();
    if (!node) continue;
    stack.push(safe.nextSibling(node));
    if (isText(node)) out += node.data;
    else if (!isElement(node)) continue;
    else if (isTextMasked(node)) out += safe.textContent(node) ? MASK : "";
    else stack.push(safe.firstChild(node));
  }
  return out;
}

// @ts-check
// Holders: clickable containers that a person takes for the only control in them, such as the cell
// of a day around its button, or the item of a menu around its link. They are not interactive: a
// click on the control reaches the container as well. The control has what only the container says,
// which is whether the cell is selected.
//
// The functions read the element and what is in it, and keep nothing. Refresh asks them.

/** Containers of more elements are not examined. */
const HOLDER_ELEMENTS = 30;
/** Roles of containers; the others say what the element is, which its control does not. */
const HOLDER_ROLES = new Set(["", "generic", "none", "presentation", "listitem", "cell", "gridcell", "group", "row", "menuitem"]);
/** Those of them whose selection the control shows. */
const CELL_ROLES = new Set(["cell", "gridcell"]);
/** Controls that do all that a click on the container around them does. */
const HELD = "a[href],button,summary,[role=button],[role=link],[role=menuitem],[onclick]";
/** Controls beside which there is another one. */
const BESIDE = HELD + ",input,select,textarea,label,iframe,video[controls],audio[controls],[role],[tabindex],[contenteditable]";
/** What a container says that its control does not say. */
const TELLING = "[aria-expanded],[aria-checked],[aria-pressed],[aria-haspopup],[aria-disabled=true]," +
  "[draggable=true],[aria-label],[aria-labelledby],[title]";

/**
 * Whether an interactive element is only the container of one control that says the same.
 * @param {El} el @param {string} tag @param {string} explicit @param {Hints} hints
 */
function isHolder(el, tag, explicit, hints) {
  if (INTERACTIVE_TAGS.has(tag) || tag === "label" || !HOLDER_ROLES.has(explicit)) return false;
  if (tag.includes("-") && isHostOfField(el, hints)) return true;
  const first = safe.firstElementChild(el);
  if (!first || hints.get(el) & ~(HINT_POINTER | HINT_ITEM) || shadowOf(el) || isEditingHost(el)) return false;
  if (el.getElementsByTagName("*").length > HOLDER_ELEMENTS || safe.matches(el, TELLING)) return false;
  if (isFaceOfCombo(el, hints.model.visibility)) return true;
  if (aria(el, "aria-selected") === "true" && !CELL_ROLES.has(explicit) && tag !== "td") return false;
  const control = firstWithin(el, HELD) || listenerWithin(first);
  if (!control || control.disabled === true || safe.matches(control, "[aria-disabled=true],[draggable=true]")) return false;
  for (const other of queryWithin(el, BESIDE)) {
    if (other !== control && !safe.contains(control, other) && !safe.contains(other, control)) return false;
  }
  if (textIn(el) !== textIn(control) || !safe.checkVisibility(control, VISIBLE)) return false;
  return hasArea(safe.rect(control));
}

/**
 * Whether a custom element, which only a listener makes interactive, draws a field that is the only control in it.
 * @param {El} el @param {Hints} hints
 */
function isHostOfField(el, hints) {
  const root = shadowOf(el);
  if (!root || hints.get(el) & ~HINT_POINTER || hasAttr(el, "tabindex") || firstWithin(el, BESIDE)) return false;
  const [field, ...others] = root.querySelectorAll(BESIDE);
  if (!field || !safe.matches(field, CAPTIONED)) return false;
  return others.every((other) => tagOf(other) === "label" || /^(?:presentation|none)$/.test(attr(other, "role") || ""));
}

/**
 * The first element that a listener makes clickable, among one and its first descendants.
 * @param {El | null} el
 */
function listenerWithin(el) {
  for (; el; el = safe.firstElementChild(el)) if (isClickable(el)) return el;
  return null;
}

/** @param {El} el */
function textIn(el) {
  return clean(safe.textContent(el), MAX_TEXT);
}

/** In how many elements a control stands below its container at most, for isSelectedByHolder. */
const HOLDER_DEPTH = 4;

/**
 * Whether an element is the control of a container that is selected.
 * @param {El} el @param {Records} records
 */
function isSelectedByHolder(el, records) {
  if (!records.holding) return false;
  for (let up = flatElement(el), i = 0; up && i < HOLDER_DEPTH; up = flatElement(up), i++) {
    const rec = records.get(up);
    if (rec && rec.holds) return aria(up, "aria-selected") === "true";
  }
  return false;
}

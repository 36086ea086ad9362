// @ts-check
// Holders: clickable containers that look to a person like the only control in them, such as the
// cell of a day around its button, or a menu item around its link. They are not listed as
// interactive, because a click on the control reaches the container as well. The control takes over
// the one state that only the container has: whether the cell is selected.
//
// The functions read the element and its content, and keep no state. Refresh calls them.

/** The maximum number of elements in a container that is examined. */
const HOLDER_ELEMENTS = 30;
/** Roles of containers. Any other role describes the element in a way that its control does not. */
const HOLDER_ROLES = new Set(["", "generic", "none", "presentation", "listitem", "cell", "gridcell", "group", "row", "menuitem"]);
/** The container roles whose selection the control shows. */
const CELL_ROLES = new Set(["cell", "gridcell"]);
/** Matches controls that can do everything that a click on their container does. */
const HELD = "a[href],button,summary,[role=button],[role=link],[role=menuitem],[onclick]";
/** Matches elements that count as another control in the container. */
const BESIDE = HELD + ",input,select,textarea,label,iframe,video[controls],audio[controls],[role],[tabindex],[contenteditable]";
/** Matches containers with information that their control lacks. */
const STATEFUL = "[aria-expanded],[aria-checked],[aria-pressed],[aria-haspopup],[aria-disabled=true]," +
  "[draggable=true],[aria-label],[aria-labelledby],[title]";

/**
 * Whether an interactive element is only the container of one control with the same text and
 * effect.
 * @param {El} el @param {string} tag @param {string} explicit @param {Hints} hints
 */
function isHolder(el, tag, explicit, hints) {
  if (INTERACTIVE_TAGS.has(tag) || tag === "label" || !HOLDER_ROLES.has(explicit)) return false;
  if (tag.includes("-") && isHostOfField(el, hints)) return true;
  const first = safe.firstElementChild(el);
  if (!first || hints.get(el) & ~(HINT_POINTER | HINT_ITEM) || shadowOf(el) || isEditingHost(el)) return false;
  if (el.getElementsByTagName("*").length > HOLDER_ELEMENTS || safe.matches(el, STATEFUL)) return false;
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
 * Whether a custom element that only a listener makes interactive draws a field, and the field is its only
 * control.
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
 * Returns the first element that a listener makes clickable, among an element and its chain of
 * first descendants.
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

/** The maximum depth of a control below its container, for isSelectedByHolder. */
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

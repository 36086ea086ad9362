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
/** Matches controls and labels. */
const USED = HELD + ",input,select,textarea,label,[tabindex],[contenteditable]";
/** Matches containers with information that their control lacks, apart from an aria-label. */
const STATEFUL_UNLABELLED = "[aria-expanded],[aria-checked],[aria-pressed],[aria-haspopup],[aria-disabled=true]," +
  "[draggable=true],[aria-labelledby],[title]";
/** Matches containers with information that their control lacks. */
const STATEFUL = STATEFUL_UNLABELLED + ",[aria-label]";

/**
 * Whether an interactive element is only the container of one control with the same text and
 * effect.
 * @param {El} el @param {string} tag @param {string} explicit @param {Hints} hints
 */
function isHolder(el, tag, explicit, hints) {
  if (tag === "label") return explicit === "" && isLabelOfShown(el, hints);
  if (tag === "input") return hints.model.labels.hasShadowTrees && isToggle(el, tag) && isDrawnByHost(el);
  if (explicit === "combobox" && tag !== "input") return isFaceOfCombo(el, hints.model.visibility); // the field in it is another combobox
  if (INTERACTIVE_TAGS.has(tag) || !(HOLDER_ROLES.has(explicit) || (explicit === "columnheader" && el.childElementCount === 1))) {
    return explicit === "columnheader" && isPartOfAnother(el, explicit, hints); // it may also have a handle to drag
  }
  if (tag.includes("-") && (isHostOfControl(el, hints) || (hasAttr(el, "for") && isLabelOfShown(el, hints)))) return true;
  if (isAroundSlotted(el, hints)) return true;
  if (isFocusedForItems(el, explicit, hints) || isPartOfAnother(el, explicit, hints) || isRowOfUsedCells(el, tag, explicit, hints)) return true;
  const first = safe.firstElementChild(el);
  if (!first || hints.get(el) & ~(HINT_POINTER | HINT_ITEM) || shadowOf(el) || isEditingHost(el)) return false;
  if (el.getElementsByTagName("*").length > HOLDER_ELEMENTS || (safe.matches(el, STATEFUL) && !isNamedByContent(el))) return false;
  if (isFaceOfCombo(el, hints.model.visibility)) return true;
  if ((explicit === "presentation" || explicit === "none") && isOfToggle(el)) return true;
  if (aria(el, "aria-selected") === "true" && !CELL_ROLES.has(explicit) && tag !== "td") return false;
  const control = firstWithin(el, HELD) || (NO_ROLES.has(explicit) ? listenerWithin(first) : null);
  if (!control || control.disabled === true || safe.matches(control, "[aria-disabled=true],[draggable=true]")) return false;
  for (const other of queryWithin(el, BESIDE)) {
    if (other !== control && !safe.contains(control, other) && !safe.contains(other, control)) return false;
  }
  if (textIn(el) !== textIn(control) || !safe.checkVisibility(control, VISIBLE)) return false;
  return hasArea(safe.rect(control));
}

/** Whether the only information that a container has and its control may lack is a name, and this name is its content. @param {El} el */
function isNamedByContent(el) {
  const label = attr(el, "aria-label");
  return label !== null && label.trim() === textIn(el) && !safe.matches(el, STATEFUL_UNLABELLED);
}

/** Whether an element contains a checkbox or radio button that a person sees, and no words or other controls. @param {El} el */
function isOfToggle(el) {
  const [toggle, ...others] = queryWithin(el, USED);
  return toggle !== undefined && others.length === 0 && isToggle(toggle, tagOf(toggle)) && textIn(el) === "" && safe.checkVisibility(toggle, VISIBLE_OR_TRANSPARENT);
}

/**
 * Whether a label that only a listener or its cursor makes interactive names an element that a person sees, so that a click on it does only what a click on that
 * element does. In a custom element for labels, the host may name the element.
 * @param {El} el @param {Hints} hints
 */
function isLabelOfShown(el, hints) {
  if (hints.get(el) & ~HINT_POINTER || hasAttr(el, "tabindex") || attr(el, "draggable") === "true") return false;
  /** @type {(El | null)[]} */
  const named = [tagOf(el) === "label" ? el.control : null];
  for (let /** @type {El | null} */ n = el, up = 0; n && up < 2; n = hostOf(n), up++) {
    const tree = treeOf(n), id = attr(n, "id"), other = attr(n, "for");
    if (id) named.push(firstInTree(tree, '[aria-labelledby~="' + CSS.escape(id) + '"]'));
    if (other) named.push(elementOf(tree, other));
  }
  return named.some((of) => of !== null && safe.checkVisibility(of, isToggle(of, tagOf(of)) ? VISIBLE_OR_TRANSPARENT : VISIBLE) && hasArea(safe.rect(of)));
}

/**
 * Whether a custom element that only a listener or its cursor makes interactive draws one control, and nothing else that a person
 * uses: a field, or a control that fills it and shows all its words.
 * @param {El} el @param {Hints} hints
 */
function isHostOfControl(el, hints) {
  const root = shadowOf(el);
  if (!root || hints.get(el) & ~(HINT_POINTER | HINT_ITEM) || hasAttr(el, "tabindex") || safe.matches(el, STATEFUL) || firstWithin(el, BESIDE)) return false;
  const used = [...root.querySelectorAll(BESIDE)].filter(isUsed);
  const control = used[0] || listenerWithin(root.firstElementChild);
  if (!control || !used.every((other) => safe.contains(control, other))) return false;
  if (safe.matches(control, CAPTIONED)) return true;
  const box = safe.rect(el), filled = safe.rect(control);
  const fills = filled.width * filled.height >= WRAPPER_FILLED * box.width * box.height;
  const { naming } = hints.model, words = shownWords(el, naming);
  const tag = tagOf(control);
  return fills && (shownWords(control, naming).includes(words) || naming.name(control, tag, roleOf(control, tag, explicitRole(control))).includes(words));
}

/**
 * Whether a part of a shadow tree that only its cursor makes interactive shows one slotted control, and no other words.
 * @param {El} el @param {Hints} hints
 */
function isAroundSlotted(el, hints) {
  if (hints.get(el) !== HINT_POINTER || isClickable(el) || !isShadow(safe.getRootNode(el))) return false;
  /** @type {El[]} */
  const shown = [];
  for (const slot of queryWithin(el, "slot")) shown.push(...(assignedChildren(slot, "slot") || []));
  const [control] = shown;
  if (shown.length !== 1 || !isInteractive(control, tagOf(control), explicitRole(control), 0)) return false;
  const { naming } = hints.model;
  return shownWords(el, naming) === shownWords(control, naming);
}

/** Returns the words in the flat tree of an element. @param {El} el @param {Naming} naming */
function shownWords(el, naming) {
  naming.start(el);
  return clean(naming.content(el, tagOf(el)), MAX_TEXT);
}

/** Whether a person may use a part of a control, unlike its label, its decoration and what is not rendered. @param {El} el */
function isUsed(el) {
  return tagOf(el) !== "label" && !safe.matches(el, "[role=presentation],[role=none],[aria-hidden=true]") && safe.checkVisibility(el);
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

/** Matches cells, and records and items. A container of several is not used by itself. */
const GRID_CELLS = "[role=gridcell],[role=columnheader]", PASSED_ON = GRID_CELLS + ",tr,[role=row],[role=option],[role=treeitem],[role=tab],[role=menuitem]";
/** Content that a person may click although it has no words. */
const PICTURES = new Set(["img", "picture", "video", "canvas"]);
/** The maximum number of examined elements in a container that listens. */
const MAX_SURROUNDED = 200;

/** The maximum number of cells of a row that are examined. */
const MAX_CELLS_OF_ROW = 20;

/** Whether an element contains several cells, records or items, which slots may show. @param {El} el */
function holdsItems(el) {
  if (el.querySelectorAll(PASSED_ON)[1] !== undefined) return true;
  if (!isShadow(safe.getRootNode(el))) return false;
  let items = 0;
  for (const slot of tagOf(el) === "slot" ? [el] : queryWithin(el, "slot")) {
    for (const shown of assignedChildren(slot, "slot") || []) if (safe.matches(shown, PASSED_ON) && ++items > 1) return true;
  }
  return false;
}

/**
 * Whether an element is focusable only so that the keyboard can scroll it or reach its content: a box of records, or a row whose
 * cells are listed.
 * @param {El} el @param {string} explicit @param {Hints} hints
 */
function isFocusedForItems(el, explicit, hints) {
  if (!hasAttr(el, "tabindex") || hints.get(el) & ~HINT_TARGET || isClickable(el) || hasAttr(el, "onclick") || isEditingHost(el)) return false;
  if (explicit !== "row") return NO_ROLES.has(explicit) && (tagOf(el) === "table" || !hasAuthorName(el)) && holdsItems(el);
  if (aria(el, "aria-selected") === "true") return false;
  const cells = queryWithin(el, GRID_CELLS);
  for (let i = 0; i < cells.length && i < MAX_CELLS_OF_ROW; i++) if (isClickable(cells[i]) || hints.get(cells[i]) & HINT_ITEM) return true;
  return false;
}

/**
 * Whether an element is a row without a state whose cells are all listed, so that a click on each cell is also one on the row.
 * @param {El} el @param {string} tag @param {string} explicit @param {Hints} hints
 */
function isRowOfUsedCells(el, tag, explicit, hints) {
  if ((explicit || tag) !== "tr" && explicit !== "row") return false;
  if (!isClickable(el) || safe.matches(el, STATEFUL + ",[aria-selected]")) return false;
  const cells = childrenOf(el);
  return cells.length > 1 && cells.length <= MAX_CELLS_OF_ROW && cells.every((cell) => isClickable(cell) || (hints.get(cell) & HINT_ITEM) !== 0);
}

/**
 * Whether an element with a listener only surrounds what people use: records, or controls and their labels. It passes their
 * clicks on, or stops them.
 * @param {El} el @param {Hints} hints
 */
function isSurrounding(el, hints) {
  const tag = tagOf(el), role = explicitRole(el), custom = tag.includes("-");
  if (!(hasElements(el) || assignedChildren(el, tag)) || !(HOLDER_ROLES.has(role) || role === "list" || role === "rowgroup") || tag === "tr" || tag === "label") return false;
  if (isPointerCursor(getComputedStyle(el).cursor)) return false;
  if (holdsItems(el)) return true;
  let controls = 0, others = false, seen = 0;
  walkFlat(el, AT_ROOT, (inner, tag) => {
    if (others) return false;
    if (tag === "label" || tag === "legend" || tag === "output") return false;
    if (inner !== el && isInteractive(inner, tag, explicitRole(inner), 0)) {
      if (safe.checkVisibility(inner, VISIBLE) || isListed(inner, hints)) controls++;
      return false;
    }
    others = ++seen > MAX_SURROUNDED || PICTURES.has(tag) || (!custom && hasOwnText(inner) && hasWord(ownText(inner)));
    return !others;
  }, null, () => {});
  return controls > 0 && !others;
}

/** Roles that tell a person nothing. */
const NO_ROLES = new Set(["", "generic", "none", "presentation"]);
/** The maximum distance from a part with a listener up to the element that it is a part of. */
const MAX_PART_DEPTH = 4;
/** The maximum width or height of an edge that resizes something, in CSS pixels. */
const MAX_EDGE = 12;

/**
 * Whether an element only draws the name of a clickable element with a role, such as the caption in a column header, or the face of a combobox or a
 * part of a slider or switch.
 * @param {El} el @param {string} explicit @param {Hints} hints
 */
function isPartOfAnother(el, explicit, hints) {
  if (!(NO_ROLES.has(explicit) || explicit === "columnheader")) return false;
  for (let up = flatElement(el), i = 0; up && i < MAX_PART_DEPTH; up = flatElement(up), i++) {
    const around = explicitRole(up) || (tagOf(up) === "th" ? "columnheader" : "");
    if (((around === "slider" || DRAWN_TOGGLES.has(around)) && textIn(el) === "") || (around === "combobox" && fills(el, up))) return true;
    if (NO_ROLES.has(around) || !(NO_ROLES.has(explicit) || explicit === around) || !(isClickable(up) || hints.get(up) & HINT_ITEM)) continue;
    const text = textIn(el);
    return text !== "" && text === textIn(up) && isInMiddle(safe.rect(el), safe.rect(up));
  }
  return false;
}

/** Whether an element has most of the box of another. @param {El} el @param {El} of */
function fills(el, of) {
  const box = safe.rect(of), own = safe.rect(el);
  return own.width * own.height >= WRAPPER_FILLED * box.width * box.height;
}

/** Whether a box contains the center of another. @param {DOMRect} box @param {DOMRect} of */
function isInMiddle(box, of) {
  const x = of.left + of.width / 2, y = of.top + of.height / 2;
  return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
}

/** Whether an empty element only resizes a row or cell with data. An edge in the header of a table does the same for all rows. @param {El} el */
function isEdgeOfRecord(el) {
  const row = hasElements(el) ? null : closestOf(el, "tr,[role=row]");
  if (row === null || firstWithin(row, "th,[role=columnheader]") !== null) return false;
  const { width, height } = safe.rect(el);
  return Math.min(width, height) <= MAX_EDGE && Math.max(width, height) > MAX_EDGE && !isPointerCursor(getComputedStyle(el).cursor);
}

/** @param {El} el @param {Hints} hints */
function isListed(el, hints) {
  const rec = hints.model.records.get(el);
  return rec !== undefined && rec.shown;
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

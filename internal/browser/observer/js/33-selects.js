// @ts-check
// Drawn selects: the boxes that libraries draw in place of a hidden select, with a list of their own options. Such a box has
// no role. Hints lists it as the proxy of the select: a combobox with the label of the select, and with the choice that is
// drawn as its value.
//
// A box is the face of a select if it shows the chosen option, or contains a hidden list of the options, and a person can
// press it. In doubt it is none: a list of links beside a select for small screens, for example, is visible.

/** The maximum distance from a hidden select up to its face. */
const MAX_SELECT_DEPTH = 3;
/** The maximum number of options, and of elements in a face, that are compared. */
const MAX_DRAWN_OPTIONS = 50, MAX_DRAWN_PARTS = 300;
/** The number of options in a hidden list that prove that it belongs to a select. */
const ENOUGH_OPTIONS = 2;
/** Matches what a library with roles uses in place of a select. */
const WITH_ROLES = "[role=combobox],[role=listbox],[aria-haspopup]";

/** Returns the label of an option as a person reads it. @param {El} option */
function drawnLabel(option) {
  return clean(optionLabel(option), MAX_FACE_TEXT);
}

/**
 * Returns the box that is drawn in place of a hidden select, or null: the element beside the select or around it. The element before it
 * comes first. In a row of selects, that element may be the box of the previous select, which is taken then.
 * @param {El} select @param {Hints} hints @param {Set<El>} taken the proxies of other controls
 */
function faceOfSelect(select, hints, taken) {
  const labels = new Set();
  for (let i = 0; i < select.options.length && i < MAX_DRAWN_OPTIONS; i++) labels.add(drawnLabel(select.options[i]));
  labels.delete("");
  if (labels.size === 0) return null;
  for (let /** @type {El | null} */ n = select, up = 0; n && up <= MAX_SELECT_DEPTH; n = flatElement(n), up++) {
    if (up > 0 && NO_FACES.has(tagOf(n))) return null;
    for (const box of up === 0 ? [elementBefore(n), safe.nextElementSibling(n)] : [n, elementBefore(n), safe.nextElementSibling(n)]) {
      if (!box || !drawsSelect(box, select, labels, hints)) continue;
      const face = pressedBox(box, select, hints), owner = hints.selectOf(face) || select;
      if (taken.has(face) || (owner !== select && safe.isConnected(owner))) continue;
      markDrawnOptions(face, select, labels, hints);
      return face;
    }
  }
  return null;
}

/**
 * Makes the drawn options of a select count when they show, because the listener for their clicks may be anywhere.
 * @param {El} face @param {El} select @param {Set<string>} labels @param {Hints} hints
 */
function markDrawnOptions(face, select, labels, hints) {
  for (const el of drawnOptions(face, select, labels)) {
    const item = closestOf(el, "li") || el;
    if (item === face || !safe.contains(face, item) || hints.isInteractiveBut(item, tagOf(item), HINT_PROXY)) continue;
    if (hints.set(item, HINT_PROXY, true)) hints.model.changes.checkNodes.add(item);
  }
}

/** Whether an element is in a link to another address, as in a menu of the page. @param {El} el */
function isInLinkElsewhere(el) {
  const link = closestOf(el, "a[href]"), href = link ? (attr(link, "href") || "").trim() : "";
  return href !== "" && !/^(?:#$|javascript:)/i.test(href);
}

/**
 * Returns the elements in a box that do not show, are in no link to another address, and have the label of an option as their own text.
 * @param {El} box @param {El} select @param {Set<string>} labels
 */
function drawnOptions(box, select, labels) {
  const out = [];
  let left = MAX_DRAWN_PARTS;
  for (const el of queryWithin(box, "*")) {
    if (safe.contains(select, el)) continue; // its own options do not count
    if (--left < 0) break;
    const isLabelled = hasOwnText(el) && labels.has(clean(safe.textContent(el), MAX_FACE_TEXT));
    if (isLabelled && !safe.checkVisibility(el, VISIBLE) && !isInLinkElsewhere(el)) out.push(el);
  }
  return out;
}

/**
 * Returns the box around a face and its select if it serves only that select and a person can press it, or else the face.
 * @param {El} face @param {El} select @param {Hints} hints
 */
function pressedBox(face, select, hints) {
  const around = flatElement(face);
  if (!around || NO_FACES.has(tagOf(around)) || !safe.contains(around, select) || safe.contains(face, select)) return face;
  return hints.isInteractiveBut(around, tagOf(around), HINT_PROXY) && !holdsOtherField(around, select, hints) ? around : face;
}

/**
 * Whether a box is drawn in place of a select.
 * @param {El} box @param {El} select @param {Set<string>} labels of its options @param {Hints} hints
 */
function drawsSelect(box, select, labels, hints) {
  const tag = tagOf(box);
  if (NO_FACES.has(tag) || tag === "label" || (INTERACTIVE_TAGS.has(tag) && tag !== "button") || !isPlainBox(box)) return false;
  const { width, height } = safe.rect(box);
  if (width < MIN_FACE || height < MIN_FACE || !safe.checkVisibility(box, VISIBLE)) return false;
  if (!isPressable(box, hints) || holdsOtherField(box, select, hints)) return false;
  const chosen = select.selectedIndex >= 0 ? drawnLabel(select.options[select.selectedIndex]) : "";
  return (chosen !== "" && textOfFace(box, select) === chosen) || holdsHiddenList(box, select, labels);
}

/** Whether neither an element nor its parts have the roles of a select. @param {El} box */
function isPlainBox(box) {
  const role = attr(box, "role");
  return (role === null || role === "button") && !hasAttr(box, "aria-haspopup") && firstWithin(box, WITH_ROLES) === null;
}

/** Whether a person can press a box or one of its first parts. @param {El} box @param {Hints} hints */
function isPressable(box, hints) {
  if (hints.isInteractiveBut(box, tagOf(box), HINT_PROXY)) return true;
  let left = MAX_FACE_NODES;
  for (const el of queryWithin(box, "*")) {
    if (--left < 0) return false;
    const tag = tagOf(el);
    if (tag !== "input" && tag !== "select" && tag !== "option" && hints.isInteractiveBut(el, tag, HINT_PROXY)) return true;
  }
  return false;
}

/**
 * Whether a box contains a field with a name or a label of its own, unlike the search field of a list.
 * @param {El} box @param {El} select @param {Hints} hints
 */
function holdsOtherField(box, select, hints) {
  return [...queryWithin(box, FACED)].some((el) => el !== select && (tagOf(el) !== "input" || hasAttr(el, "name") || hints.model.labels.of(el).length > 0));
}

/** Whether a box contains a list of options that does not show. @param {El} box @param {El} select @param {Set<string>} labels */
function holdsHiddenList(box, select, labels) {
  return new Set(drawnOptions(box, select, labels).map((el) => safe.textContent(el))).size >= Math.min(ENOUGH_OPTIONS, labels.size);
}

/**
 * Whether a text field that does not show, and has no size or takes no text, only takes the keys for a hidden select around
 * or beside it.
 * @param {El} field
 */
function servesSelect(field) {
  if (tagOf(field) !== "input" || isCombo(field) || attr(field, "name")) return false;
  const { width, height } = safe.rect(field);
  if (width > 1 && height > 1 && !field.readOnly) return false; // a person may see what is typed here
  for (let /** @type {El | null} */ n = field, up = 0; n && up <= MAX_SELECT_DEPTH + 1 && !NO_FACES.has(tagOf(n)); n = flatElement(n), up++) {
    const before = elementBefore(n);
    const select = before && tagOf(before) === "select" ? before : firstWithin(n, "select");
    if (select !== null) return isOutOfSight(select);
  }
  return false;
}

/**
 * Returns the choice that the face of a select shows, masked if the select or its face is.
 * @param {El} face @param {El} select @param {number} most
 */
function drawnChoice(face, select, most) {
  const drawn = textOfFace(face, select);
  const chosen = [...select.selectedOptions].slice(0, MAX_DRAWN_OPTIONS).map(drawnLabel).join(", ");
  return reportedValue(isMasked(face) ? face : select, chosen !== "" && drawn.includes(chosen) ? chosen : drawn, most);
}

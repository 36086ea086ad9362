// @ts-check
// Faces: what a page draws in place of a field that it makes transparent, clips or shrinks. Examples are a combobox
// whose choice is drawn beside its text field, a range below a drawn thumb, or a number below drawn digits.
//
// A person sees the face and uses the field. So the field is listed, and the value of a combobox without its
// own text is the text of its face. The functions read a few elements around one field, and keep no state.
// Visibility and describe use them.

/** The maximum number of ancestors of a field that are examined for a face. */
const MAX_FACE_DEPTH = 5;
/** The maximum number of nodes of a face that are read. */
const MAX_FACE_NODES = 60;
/** The maximum number of elements in the box of one field, including its popup. */
const MAX_FACE_PARTS = 1000;
/** The maximum number of characters of a face that are read as a value. */
const MAX_FACE_TEXT = 200;
/** The minimum width and height of a face, in CSS pixels. */
const MIN_FACE = 6;
/** Tags of boxes that serve more than one field. */
const NO_FACES = new Set(["html", "body", "form", "fieldset", "table", "tbody", "tr", "main", "section", "article", "dialog"]);
/** Matches fields. A box around several fields is not a face. */
const FACED = "input:not([type=hidden]),select,textarea";
/** Matches parts of a face that do not belong to its value. */
const NO_VALUE = "label,legend,button,svg,input,select,textarea,script,style,template,ul,ol,menu,[role=button],[role=listbox],[role=option],[role=menu],[role=tooltip],[role=dialog]," +
  "[aria-live],[role=alert],[role=status],[hidden],[class*=placeholder i]:not([class*=select]),[class*=placeholder i].is-transparent";

/**
 * Whether an element is a field that may have a face.
 * @param {El} el @param {string} tag
 */
function mayHaveFace(el, tag) {
  if (tag !== "input" && tag !== "textarea" && tag !== "select") return false;
  return !isToggle(el, tag) && el.type !== "hidden" && attr(el, "aria-hidden") !== "true" && (attr(el, "tabindex") !== "-1" || isCombo(el) || isDrawnChoice(el, tag));
}

/**
 * Whether the words beside a transparent select, which takes the clicks, equal one of its options, and so show its choice.
 * @param {El} el @param {string} tag
 */
function isDrawnChoice(el, tag) {
  const box = tag === "select" ? safe.parentNode(el) : null;
  if (!box || getComputedStyle(el).opacity !== "0") return false;
  const { width, height } = safe.rect(el);
  if (width < MIN_FACE || height < MIN_FACE) return false;
  let words = "";
  for (let n = safe.firstChild(/** @type {El} */ (box)), seen = 0; n; n = safe.nextSibling(n)) {
    if (++seen > MAX_FACE_NODES || words.length > MAX_FACE_TEXT) return false;
    if (isText(n) || (isElement(n) && n !== el && safe.firstElementChild(n) === null)) words += " " + safe.textContent(n);
  }
  const drawn = clean(words, MAX_FACE_TEXT);
  if (drawn === "") return false;
  const { options } = el;
  for (let i = 0; i < options.length && i < MAX_FACE_PARTS; i++) if (clean(safe.textContent(options[i]), MAX_FACE_TEXT) === drawn) return true;
  return false;
}

/** Matches inputs that are comboboxes. */
const COMBOS = "input[role=combobox],input[aria-haspopup=listbox]";

/** Whether a field is a combobox. @param {El} el */
function isCombo(el) {
  const role = attr(el, "role");
  return role === "combobox" || (role === null && attr(el, "aria-haspopup") === "listbox");
}

/** Whether an element holds several fields, or too much content to be the face of one field. @param {El} n @param {El} field */
function holdsMoreFields(n, field) {
  if (tagOf(n) !== "slot") return n.childElementCount > 1 && holdsAnotherField(n, field);
  const nodes = n.assignedNodes();
  if (nodes.length > MAX_FACE_NODES) return true;
  return nodes.some((node) => isElement(node) && node !== field && (safe.matches(node, FACED) ? isAnotherField(node, field) : holdsAnotherField(node, field)));
}

/** @param {El} box @param {El} field */
function holdsAnotherField(box, field) {
  return elementsIn(box, "*")[MAX_FACE_PARTS] !== undefined || [...queryWithin(box, FACED)].some((other) => isAnotherField(other, field));
}

/**
 * Whether a person sees another field as distinct from this one. It is not distinct if it is out of sight and unused, such as an
 * input that stores the value of a list, or if it is the second thumb of a slider.
 * @param {El} other @param {El} field
 */
function isAnotherField(other, field) {
  if (other === field) return false;
  if (field.type === "range" && other.type === "range" && safe.checkVisibility(field, VISIBLE) === safe.checkVisibility(other, VISIBLE) && overlap(safe.rect(field), safe.rect(other))) return false;
  return isToggle(other, tagOf(other)) || mayHaveFace(other, tagOf(other)) || !isOutOfSight(other);
}

/** Whether two boxes overlap. @param {DOMRect} a @param {DOMRect} b */
function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether an element has no box, so that only its content is drawn. @param {El} n */
function isBoxlessPart(n) {
  return tagOf(n) === "slot" || getComputedStyle(n).display === "contents";
}

/**
 * Returns the element where the search for a face starts. A transparent element counts as part of a field if it contains only the field
 * and the field has no drawn box. An example is the content of a box that shows a label instead until it has the focus.
 * @param {El} field
 */
function outsideOf(field) {
  const parent = flatElement(field);
  for (let n = parent, up = 0; n && up < MAX_FACE_DEPTH; n = flatElement(n), up++) {
    if (isBoxlessPart(n)) {
      if (holdsMoreFields(n, field)) break;
    } else if (safe.checkVisibility(n, VISIBLE)) return n;
    else if (NO_FACES.has(tagOf(n)) || isBoxDrawn(getComputedStyle(field)) || !holdsAlone(n, field)) break;
  }
  return parent;
}

/** Whether the field is all that a box would show, in the flat tree. @param {El} box @param {El} field */
function holdsAlone(box, field) {
  if (isBoxDrawn(getComputedStyle(box))) return false;
  const stack = flatNodes(box, tagOf(box));
  for (let seen = 0; stack.length; seen++) {
    const node = /** @type {El | Text} */ (stack.pop());
    if (seen > MAX_FACE_NODES || stack.length > MAX_FACE_NODES) return false;
    if (node === field) continue;
    if (isText(node)) {
      if (hasWord(node.data)) return false;
      continue;
    }
    const tag = tagOf(node);
    if (tag === "script" || tag === "style" || tag === "template") continue;
    if (!isBoxlessPart(node)) {
      if (!safe.checkVisibility(node, VISIBLE_OR_TRANSPARENT)) continue;
      if (INTERACTIVE_TAGS.has(tag) || tag === "img" || tag === "svg" || tag === "canvas" || isBoxDrawn(getComputedStyle(node))) return false;
    }
    for (const inner of flatNodes(node, tag)) if (stack.push(inner) > MAX_FACE_NODES) return false;
  }
  return true;
}

/**
 * Returns the box that is drawn in place of a field that is not drawn itself, or null.
 * @param {El} field @returns {El | null}
 */
function faceOf(field) {
  if (servesSelect(field)) return null;
  for (let n = outsideOf(field), up = 0; n && up < MAX_FACE_DEPTH; n = flatElement(n), up++) {
    if (NO_FACES.has(tagOf(n)) || holdsMoreFields(n, field)) return null;
    if (isBoxlessPart(n)) continue;
    if (!safe.checkVisibility(n, VISIBLE)) {
      if (up > 0) return null; // the field is transparent together with its surroundings, so nothing is drawn
      continue;
    }
    const rect = safe.rect(n);
    if (rect.width >= MIN_FACE && rect.height >= MIN_FACE && isFaceDrawn(n, field)) return n;
  }
  return null;
}

/**
 * Whether an element is the face of the combobox in it, which is listed.
 * @param {El} el @param {Visibility} visibility
 */
function isFaceOfCombo(el, visibility) {
  const field = firstWithin(el, COMBOS);
  return field !== null && !holdsAnotherField(el, field) && visibility.isVisible(field, "input");
}

/** Whether a box shows anything other than the field in it. @param {El} box @param {El} field */
function isFaceDrawn(box, field) {
  if (isBoxDrawn(getComputedStyle(box)) || hasOwnText(box)) return true;
  let left = MAX_FACE_NODES;
  for (const el of queryWithin(box, "*")) {
    if (--left < 0) return false;
    if (el === field || safe.contains(el, field) || !hasArea(safe.rect(el)) || !safe.checkVisibility(el, VISIBLE)) continue;
    if (tagOf(el) === "label" || hasOwnText(el) || isPainted(el, tagOf(el))) return true;
  }
  return false;
}

/** Whether a computed color draws nothing. @param {string} color */
function isTransparent(color) {
  return color === "transparent" || /^rgba\(.*, 0\)$/.test(color);
}

/**
 * Returns the choice that the face of a combobox shows, if the field has no text of its own; else
 * "".
 * @param {El} field
 */
function drawnValue(field) {
  if (!isCombo(field) || field.value !== "" || isMasked(field) || isSecret(field) || isValueMasked(field)) return "";
  if (safe.checkVisibility(field, VISIBLE) && isBoxDrawn(getComputedStyle(field))) return ""; // the text beside it is not its choice
  for (let n = flatElement(field), up = 0; n && up < MAX_FACE_DEPTH; n = flatElement(n), up++) {
    if (NO_FACES.has(tagOf(n)) || holdsMoreFields(n, field)) return "";
    if (isBoxDrawn(getComputedStyle(n))) return textOfFace(n, field);
  }
  return "";
}

/** Whether a style draws a box: a border, a background or a shadow. @param {CSSStyleDeclaration} style */
function isBoxDrawn(style) {
  return style.borderBottomWidth !== "0px" || style.backgroundImage !== "none" || style.boxShadow !== "none" || !isTransparent(style.backgroundColor);
}

/**
 * Returns the words in a face beside its field, without captions, buttons and lists. Several choices are separated
 * by commas.
 * @param {El} face @param {El} field
 */
function textOfFace(face, field) {
  const described = " " + (attr(field, "aria-describedby") || "") + " " + (attr(field, "aria-labelledby") || "") + " ";
  const out = [];
  /** @type {(El | Text | null)[]} */
  const stack = [safe.firstChild(face)];
  for (let seen = 0; stack.length && seen < MAX_FACE_NODES; seen++) {
    const node = stack.pop();
    if (!node) continue;
    stack.push(safe.nextSibling(node));
    if (isText(node)) {
      if (hasWord(node.data)) out.push(clean(node.data, MAX_FACE_TEXT));
      continue;
    }
    if (!isElement(node) || isMasked(node)) continue;
    if (safe.matches(node, NO_VALUE) && !(/^[uo]l$/.test(tagOf(node)) && safe.contains(node, field))) continue; // a list of choices also contains the field, at its end
    const id = attr(node, "id");
    if (id && described.includes(" " + id + " ")) continue;
    const rect = safe.rect(node);
    if ((rect.width <= 1 && rect.height <= 1) || !safe.checkVisibility(node, VISIBLE)) continue;
    stack.push(safe.firstChild(node));
  }
  return clean(out.join(", "), MAX_FACE_TEXT);
}

/**
 * Returns the words of the only option before the field of a combobox, if it is selected: the choice that the combobox shows. The options to
 * choose from are after the field.
 * @param {El} box @param {El} field
 */
function chosenBefore(box, field) {
  const option = firstWithin(box, "[role=option]"), next = option ? safe.nextElementSibling(option) : null;
  if (!option || next || attr(option, "aria-selected") !== "true" || isMasked(option) || firstWithin(option, SPEAKERS)) return "";
  return field.compareDocumentPosition(option) & Node.DOCUMENT_POSITION_PRECEDING ? clean(reportedWords(option, MAX_FACE_TEXT), MAX_FACE_TEXT) : "";
}

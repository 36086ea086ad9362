// @ts-check
// Faces: what a page draws in the place of a field that it makes transparent, clips or shrinks. The text field of a
// combobox that shows its choice beside it, a range below a drawn thumb, a number below drawn digits.
//
// A person sees the face and uses the field, so the field is listed, and the value of a combobox without text
// of its own is what its face says. The functions read a few elements around one field, and keep nothing.
// Visibility and describe ask them.

/** How many ancestors of a field may be its face. */
const MAX_FACE_DEPTH = 5;
/** How many nodes of a face are read. */
const MAX_FACE_NODES = 60;
/** How many elements are in the box of one field at most, with what it opens. */
const MAX_FACE_PARTS = 1000;
/** How many characters of a face are a value. */
const MAX_FACE_TEXT = 200;
/** A box that is smaller than this, in CSS pixels, is no face. */
const MIN_FACE = 6;
/** Tags of boxes that are drawn for more than one field. */
const NO_FACES = new Set(["html", "body", "form", "fieldset", "table", "tbody", "tr", "main", "section", "article", "dialog"]);
/** Fields; a box around several is the face of none. */
const FACED = "input:not([type=hidden]),select,textarea";
/** Parts of a face that are not its value. */
const NO_VALUE = "label,legend,button,svg,input,select,textarea,script,style,template,ul,ol,menu,[role=button],[role=listbox],[role=option],[role=menu],[role=tooltip],[role=dialog]," +
  "[aria-live],[role=alert],[role=status],[hidden],[class*=placeholder i]:not([class*=select]),[class*=placeholder i].is-transparent";

/**
 * Whether an element is a field that may be listed by its face.
 * @param {El} el @param {string} tag
 */
function mayHaveFace(el, tag) {
  if (tag !== "input" && tag !== "textarea" && tag !== "select") return false;
  return !isToggle(el, tag) && el.type !== "hidden" && attr(el, "aria-hidden") !== "true" && (attr(el, "tabindex") !== "-1" || isCombo(el) || isDrawnChoice(el, tag));
}

/**
 * Whether the words beside a transparent select are one of its options: they are drawn for its choice.
 * @param {El} el @param {string} tag
 */
function isDrawnChoice(el, tag) {
  const box = tag === "select" ? safe.parentNode(el) : null;
  if (!box || getComputedStyle(el).opacity !== "0") return false;
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

/** Whether an element holds several fields, or so much that it is no face of one. @param {El} n @param {El} field */
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
 * Whether a person sees another field in this one. A field that nobody sees or uses is none, such as one that keeps the value of a list;
 * nor is the second thumb of a slider.
 * @param {El} other @param {El} field
 */
function isAnotherField(other, field) {
  if (other === field) return false;
  if (field.type === "range" && other.type === "range" && safe.checkVisibility(field, VISIBLE) === safe.checkVisibility(other, VISIBLE) && overlap(safe.rect(field), safe.rect(other))) return false;
  return isToggle(other, tagOf(other)) || mayHaveFace(other, tagOf(other)) || !isOutOfSight(other);
}

/** Whether two boxes have a part in common. @param {DOMRect} a @param {DOMRect} b */
function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Whether an element has no box, so that nothing of it is drawn, only of what is in it. @param {El} n */
function isBoxlessPart(n) {
  return tagOf(n) === "slot" || getComputedStyle(n).display === "contents";
}

/**
 * Where to begin to look for a face: what is transparent around a field without a box of its own, and holds nothing else, is a part of the
 * field, such as the content of a box that shows a label in its place until it has the focus.
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

/** Whether the field is all that would be drawn in a box, in the flat tree. @param {El} box @param {El} field */
function holdsAlone(box, field) {
  if (isBoxDrawn(getComputedStyle(box))) return false;
  const stack = flatNodes(box, tagOf(box));
  for (let seen = 0; stack.length; seen++) {
    const node = /** @type {El | Text} */ (stack.pop());
    if (seen > MAX_FACE_NODES || stack.length > MAX_FACE_NODES) return false;
    if (node === field) continue;
    if (isText(node)) {
      if (/[\p{L}\p{N}]/u.test(node.data)) return false;
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
 * The box that is drawn in the place of a field which is not drawn itself, or null.
 * @param {El} field @returns {El | null}
 */
function faceOf(field) {
  for (let n = outsideOf(field), up = 0; n && up < MAX_FACE_DEPTH; n = flatElement(n), up++) {
    if (NO_FACES.has(tagOf(n)) || holdsMoreFields(n, field)) return null;
    if (isBoxlessPart(n)) continue;
    if (!safe.checkVisibility(n, VISIBLE)) {
      if (up > 0) return null; // the field is transparent with much around it: nothing is drawn
      continue;
    }
    const rect = safe.rect(n);
    if (rect.width >= MIN_FACE && rect.height >= MIN_FACE && isFaceDrawn(n, field)) return n;
  }
  return null;
}

/**
 * Whether an element is drawn for the combobox in it, which is listed.
 * @param {El} el @param {Visibility} visibility
 */
function isFaceOfCombo(el, visibility) {
  const field = firstWithin(el, COMBOS);
  return field !== null && !holdsAnotherField(el, field) && visibility.isVisible(field, "input");
}

/** Whether something of a box is drawn beside the field in it. @param {El} box @param {El} field */
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
 * What the face of a combobox shows as its choice, when the field has no text of its own; else "".
 * @param {El} field
 */
function drawnValue(field) {
  if (!isCombo(field) || field.value !== "" || isMasked(field) || isSecret(field) || isValueMasked(field)) return "";
  if (safe.checkVisibility(field, VISIBLE) && isBoxDrawn(getComputedStyle(field))) return ""; // what stands beside it is no choice
  for (let n = flatElement(field), up = 0; n && up < MAX_FACE_DEPTH; n = flatElement(n), up++) {
    if (NO_FACES.has(tagOf(n)) || holdsMoreFields(n, field)) return "";
    if (isBoxDrawn(getComputedStyle(n))) return textOfFace(n, field);
  }
  return "";
}

/** Whether a style draws a box: a border, a background, a shadow. @param {CSSStyleDeclaration} style */
function isBoxDrawn(style) {
  return style.borderBottomWidth !== "0px" || style.backgroundImage !== "none" || style.boxShadow !== "none" || !isTransparent(style.backgroundColor);
}

/**
 * The words in a face beside its field, without captions, buttons and lists; several choices are parted by commas.
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
      if (/[\p{L}\p{N}]/u.test(node.data)) out.push(clean(node.data, MAX_FACE_TEXT));
      continue;
    }
    if (!isElement(node) || isMasked(node)) continue;
    if (safe.matches(node, NO_VALUE) && !(/^[uo]l$/.test(tagOf(node)) && safe.contains(node, field))) continue; // a list of choices holds the field behind them
    const id = attr(node, "id");
    if (id && described.includes(" " + id + " ")) continue;
    const rect = safe.rect(node);
    if ((rect.width <= 1 && rect.height <= 1) || !safe.checkVisibility(node, VISIBLE)) continue;
    stack.push(safe.firstChild(node));
  }
  return clean(out.join(", "), MAX_FACE_TEXT);
}

// @ts-check
// Editors: code editors and terminals that draw their lines, and receive keys in a field that draws nothing. Examples are Ace,
// CodeMirror 5, Monaco and xterm.js.
//
// A person sees one editor with a text, so its value is the text of the drawn lines. The functions read the boxes of the lines, and keep no
// state. describe, Captions and ListenerProbe use them.

/** Matches fields that may receive the keys of an editor. */
const KEY_FIELDS = "textarea,[role=textbox][aria-multiline=true]";
/** The maximum distance from such a field up to its editor, and from an editor down to its lines. */
const MAX_EDITOR_DEPTH = 6, MAX_LINES_DEPTH = 12;
/** The minimum width and height of an editor, in CSS pixels. */
const MIN_EDITOR_WIDTH = 60, MIN_EDITOR_HEIGHT = 12;
/** The maximum number of children that are examined, each of which may be a line. */
const MAX_LINES = 200;
/** Matches the fonts of code editors and terminals. */
const CODE_FONT = /mono|consol|courier|menlo|fixed/i;

/** Whether an element shows its text in a font for code. @param {El} el */
function isCode(el) {
  return CODE_FONT.test(getComputedStyle(el).fontFamily);
}

/** Returns the editor whose keys a field receives, or null. @param {El} field @returns {El | null} */
function editorOf(field) {
  if (!safe.matches(field, KEY_FIELDS) || isEditingHost(field) || !isCatcher(field)) return null;
  for (let n = flatElement(field), up = 0; n && up < MAX_EDITOR_DEPTH && !SECTIONS.has(tagOf(n)); n = flatElement(n), up++) {
    const { width, height } = safe.rect(n);
    if (width < MIN_EDITOR_WIDTH || height < MIN_EDITOR_HEIGHT) continue;
    const lines = linesIn(n, field);
    if (lines.length) return isCode(lines[0]) ? n : null;
  }
  return null;
}

/** Whether an element is an editor or a part of one, so that a click on it sets the caret. @param {El} el */
function isPartOfEditor(el) {
  const inside = firstWithin(el, KEY_FIELDS), editor = inside ? editorOf(inside) : null;
  if (editor) {
    const box = safe.rect(el), drawn = safe.rect(editor);
    return drawn.width * drawn.height >= WRAPPER_FILLED * box.width * box.height;
  }
  if (inside || !isCode(el)) return false;
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_EDITOR_DEPTH; n = flatElement(n), up++) {
    const field = firstWithin(n, KEY_FIELDS);
    if (field) return editorOf(field) !== null;
  }
  return false;
}

/** Returns the text of the lines that an editor draws. @param {El} editor @param {El} field */
function drawnLines(editor, field) {
  const lines = [];
  for (const line of linesIn(editor, field)) {
    const [part, ...others] = shownParts(line, field);
    const content = part === undefined || others.length > 0 || isInline(part.el) ? line : part.el; // otherwise the line has its number beside it
    lines.push(safe.textContent(content).replace(/\u00a0/g, " ").replace(/\u200b/g, ""));
  }
  return lines.join("\n").trimEnd();
}

/** Returns the lines in an editor, from top to bottom. @param {El} editor @param {El} field @returns {El[]} */
function linesIn(editor, field) {
  let n = editor;
  for (let down = 0; down < MAX_LINES_DEPTH; down++) {
    const parts = shownParts(n, field);
    if (parts.length === 0 || isInline(parts[0].el)) return n === editor ? [] : [n];
    if (parts.length > 1) return parts.sort((a, b) => a.box.top - b.box.top).map(({ el }) => el);
    n = parts[0].el;
  }
  return [];
}

/**
 * Returns the children with text that an element shows, without the numbers beside its lines. Of the parts of a line, it only returns
 * the first.
 * @param {El} el @param {El} field
 */
function shownParts(el, field) {
  /** @type {{ el: El, box: DOMRect }[]} */
  const shown = [];
  for (let c = safe.firstElementChild(el), seen = 0; c && seen < MAX_LINES; c = safe.nextElementSibling(c), seen++) {
    if (c === field || !hasText(safe.textContent(c))) continue;
    const box = safe.rect(c);
    if (!hasArea(box) || !safe.checkVisibility(c, VISIBLE)) continue;
    shown.push({ el: c, box });
    if (shown.length === 1 && isInline(c)) break;
  }
  return shown.filter((one) => isInline(one.el) || !shown.some((other) => isLeftOf(one.box, other.box)));
}

/** Whether an element is a part of a line. @param {El} el */
function isInline(el) {
  return getComputedStyle(el).display === "inline";
}

/** Whether a box is beside another one, to the left. @param {DOMRect} a @param {DOMRect} b */
function isLeftOf(a, b) {
  return a.right <= b.left + 1 && a.top < b.bottom && b.top < a.bottom;
}

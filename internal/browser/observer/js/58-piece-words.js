// @ts-check
// Functions that describe how an unlisted element differs from its earlier appearance, for Pieces (58-pieces.js). They read
// the document and keep no state.

/** The maximum number of characters of a piece's name, of a value and of an image's file name. */
const MAX_PIECE_NAME = 40, MAX_PIECE_VALUE = 40, MAX_FILE_NAME = 30;
/** Smaller movements and changes of a size, in pixels, and smaller turns, in degrees, are not reported. */
const LEAST_MOVE = 2, LEAST_TURN = 1;
/** Inline properties that move a box, with the directions. @type {[keyof CSSStyleDeclaration & string, number, number][]} */
const PLACING = [["left", 1, 0], ["top", 0, 1], ["right", -1, 0], ["bottom", 0, -1], ["marginLeft", 1, 0], ["marginTop", 0, 1]];
const PIXELS = /^(-?[\d.]+)px$/;
/** Inline properties that are compared as words, with the words. @type {[keyof CSSStyleDeclaration & string, string][]} */
const INLINE_LOOK = [
  ["backgroundImage", "picture"], ["textDecorationLine", "line"], ["fontWeight", "weight"], ["fontSize", "text size"],
  ["filter", "filter"], ["zoom", "zoom"], ["order", "order"], ["boxShadow", "shadow"], ["borderTopColor", "border"], ["clipPath", "shape"],
];
/** Matches two values that set nothing. */
const UNSET = /^(?:initial|none)*$/;
/** Matches colors that depend on their element. */
const OF_ELEMENT = /var\(|env\(|^(?:inherit|initial|unset|revert|revert-layer|currentcolor)$/i;
/** Attributes of pictures that change their shape. */
const SHAPE_ATTRIBUTES = new Set(["d", "points", "x", "y", "cx", "cy", "r", "rx", "ry", "x1", "x2", "y1", "y2", "width", "height", "transform", "viewBox", "stroke-dasharray", "stroke-dashoffset"]);

/** The inline style of a form, whose property a control may shadow. @type {(el: El) => CSSStyleDeclaration} */
const styleOfForm = getter(HTMLElement, "style");

/** Parses old inline styles. It is never inserted. @type {CSSStyleDeclaration | null} */
let oldStyle = null;

/** @param {string} text */
function parsedStyle(text) {
  oldStyle = oldStyle || /** @type {HTMLElement} */ (Document.prototype.createElementNS.call(document, HTML_NAMESPACE, "i")).style;
  oldStyle.cssText = text;
  return oldStyle;
}

/** Returns the element under whose name changes of an element are reported: the picture of its parts. @param {El} el */
function drawingOf(el) {
  const picture = isSVG(el) ? closestOf(el, "svg") : null;
  return picture || el;
}

/** Returns the name of a piece: its text, its label, or what it is. @param {El} el */
function nameOfPiece(el) {
  const tag = tagOf(el);
  if (isPageRoot(el)) return "page";
  const label = clean(reportedAttribute(el, "aria-label") || (tag === "img" && reportedAttribute(el, "alt")) || "", MAX_PIECE_NAME);
  const kind = tag === "img" || tag === "svg" ? "image" : /^(?:canvas|video|audio|meter)$/.test(tag) ? tag : "";
  if (kind) return filled([kind, label]).join(" ");
  return label || noticeText(el, MAX_PIECE_NAME) || clean(attr(el, "id") || (attr(el, "class") || "").split(" ")[0], MAX_PIECE_NAME) || tag;
}

/** Whether the page names a piece, by words that it shows or a label. @param {El} el */
function saysItsName(el) {
  return isPageRoot(el) || /^(?:canvas|video|audio|meter|img)$/.test(tagOf(el)) || hasAttr(el, "aria-label") || noticeText(el, MAX_PIECE_NAME) !== "";
}

/**
 * Describes how an element differs from the old values of its attributes, or returns "" if nothing visible is known.
 * @param {El} el @param {Map<string, string>} old @param {Animation[]} animations
 */
function wordsForAttributes(el, old, animations) {
  const words = new Set();
  for (const [name, was] of old) {
    const now = attr(el, name) || "";
    if (was === now.slice(0, MAX_OLD_VALUE + 1) || (was.length > MAX_OLD_VALUE && name !== "src")) continue;
    for (const word of wordsForAttribute(el, name, was, now, animations)) words.add(word);
  }
  return [...words].join(", ");
}

/**
 * @param {El} el @param {string} name @param {string} was @param {string} now @param {Animation[]} animations
 * @returns {string[]}
 */
function wordsForAttribute(el, name, was, now, animations) {
  const tag = tagOf(el);
  if (isMasked(el) || (MASKS !== null && MASKS.values && name.includes("value"))) return [];
  if (name === "style") return wordsForStyle(el, parsedStyle(was), animations);
  if (tag === "img" && name === "src") return [fileOf(was) === fileOf(now) ? "another picture" : "picture " + fileOf(was) + " → " + fileOf(now)];
  if (tag === "img" && name === "alt") return ["name " + quotedValue(was) + " → " + quotedValue(now)];
  if ((tag === "meter" && name === "value") || (name === "aria-valuenow" && explicitRole(el) === "meter")) return ["value " + was + " → " + now];
  if (name.startsWith("data-") && now.trim() !== "" && isDrawnIn(el, now.trim())) return ["shows " + quotedValue(now)];
  if (!isSVG(el)) return [];
  if (name === "fill" || name === "stroke") {
    const change = CSS.supports("color", was) && CSS.supports("color", now) ? changeOfColor(was, now, flatElement(el)) : "";
    return change ? ["fill " + change] : [];
  }
  return SHAPE_ATTRIBUTES.has(name) ? ["shape"] : [];
}

/** Whether the ::before or ::after of an element shows a text as one of its strings. @param {El} el @param {string} text */
function isDrawnIn(el, text) {
  if (wordsDrawnIn(el) === "") return false;
  return ["::before", "::after"].some((pseudo) => stringsIn(getComputedStyle(el, pseudo).content).some((one) => one.trim() === text));
}

/** @param {string} value */
function quotedValue(value) {
  return JSON.stringify(clean(value, MAX_PIECE_VALUE));
}

/** Returns the file name of an image's address. @param {string} address */
function fileOf(address) {
  if (/^\s*(?:data|blob):/i.test(address)) return "data";
  return clean(address.replace(/[?#].*$/, "").split("/").filter(Boolean).pop() || "none", MAX_FILE_NAME);
}

/**
 * Describes how the inline style of an element differs from an old one.
 * @param {El} el @param {CSSStyleDeclaration} was @param {Animation[]} animations
 */
function wordsForStyle(el, was, animations) {
  const tag = tagOf(el);
  const now = tag === "form" ? styleOfForm(el) : el.style;
  if (now === undefined) return []; // an element of an XML document
  const words = movesOf(el, was, now, animations);
  for (const name of /** @type {const} */ (["backgroundColor", "color", "fill"])) {
    if (was[name] === now[name] || (name === "color" && !hasText(safe.textContent(el)))) continue;
    const [before, after] = [was[name], now[name]].map((color) => (OF_ELEMENT.test(color) ? "" : color));
    const seen = String(getComputedStyle(el)[name]), behind = name === "backgroundColor" ? flatElement(el) : el;
    const change = before === "" ? "→ " + shadeWord(blended(rgbaOf(after || seen), colorBehind(behind))) : changeOfColor(before, after || seen, behind);
    if (change) words.push((name === "backgroundColor" ? "background" : name) + " " + change);
  }
  for (const [name, word] of INLINE_LOOK) if (!UNSET.test(String(was[name]) + String(now[name])) && was[name] !== now[name]) words.push(word);
  if (was.opacity !== now.opacity && Number(was.opacity) > 0 && Number(now.opacity) > 0) words.push("opacity"); // others show or hide it
  for (const name of /** @type {const} */ (["width", "height"])) {
    if (was[name] !== now[name] && isEmptyBox(el)) words.push(name + " " + (was[name] || "auto") + " → " + (now[name] || "auto"));
  }
  return words;
}

/** Whether an element is a box without text. @param {El} el */
function isEmptyBox(el) {
  return !hasText(safe.textContent(el)) && hasArea(safe.rect(el));
}

/**
 * Describes how an inline style moves, turns and scales an element, and what is in view then in the box that clips it.
 * @param {El} el @param {CSSStyleDeclaration} was @param {CSSStyleDeclaration} now @param {Animation[]} animations
 */
function movesOf(el, was, now, animations) {
  /** @type {string[]} */
  const words = [], move = { x: 0, y: 0, unknown: false };
  if (was.transform !== now.transform) words.push(...addTransform(move, was.transform, now.transform));
  const flows = getComputedStyle(el).position === "static";
  for (const [name, x, y] of PLACING) {
    if (was[name] !== now[name] && !(flows && !name.startsWith("margin"))) addMove(move, String(was[name]), String(now[name]), x, y);
  }
  const moved = wordsForMove(move);
  if (moved === "") return words;
  const shown = animations.some((animation) => animates(animation, el, false)) ? "" : textInView(el, clipOf(el), true);
  return [...words, moved, ...filled([shown && "in view: " + shown])];
}

/** @typedef {{x: number, y: number, unknown: boolean}} Move the distance in pixels, if it is known */

/**
 * Adds the difference of two values of a property that places a box.
 * @param {Move} move @param {string} was @param {string} now @param {number} x @param {number} y
 */
function addMove(move, was, now, x, y) {
  const from = PIXELS.exec(was), to = PIXELS.exec(now || "0px");
  if (/^(?:auto)?$/.test(was) && /^(?:auto)?$/.test(now)) return;
  if (!from || !to) move.unknown = true;
  else {
    move.x += x * (Number(to[1]) - Number(from[1]));
    move.y += y * (Number(to[1]) - Number(from[1]));
  }
}

/** Describes a movement, such as "moved 40 px right", or returns "" if it is not visible. @param {Move} move */
function wordsForMove({ x, y, unknown }) {
  const words = [[x, "left", "right"], [y, "up", "down"]].filter(([by]) => Math.abs(Number(by)) >= LEAST_MOVE)
    .map(([by, less, more]) => Math.round(Math.abs(Number(by))) + " px " + (Number(by) < 0 ? less : more));
  return words.length || unknown ? ["moved", ...(unknown ? [] : [words.join(", ")])].join(" ") : "";
}

/**
 * Adds the movement between two transforms, and describes how else they differ.
 * @param {Move} move @param {string} was @param {string} now
 */
function addTransform(move, was, now) {
  const from = matrixOf(was), to = matrixOf(now);
  if (from === null || to === null) {
    move.unknown = /translate/.test(was + now);
    return move.unknown ? [] : ["transform"];
  }
  /** @type {string[]} */
  const words = [];
  const turn = Math.round(((((angleOf(to) - angleOf(from) + 540) % 360) + 360) % 360) - 180);
  if (Math.abs(turn) >= LEAST_TURN) words.push("turned " + turn + "°");
  const [before, after] = [from, to].map((m) => Number(Math.hypot(m.a, m.b).toFixed(2)));
  if (before !== after) words.push("scale " + before + " → " + after);
  move.x += to.e - from.e;
  move.y += to.f - from.f;
  return words;
}

/** Returns a transform as a matrix, or null if it depends on a box. @param {string} transform */
function matrixOf(transform) {
  try {
    return new DOMMatrix(transform);
  } catch {
    return null;
  }
}

/** Returns the angle of a matrix in degrees. @param {DOMMatrix} matrix */
function angleOf({ a, b }) {
  return (Math.atan2(b, a) * 180) / Math.PI;
}

/** The maximum number of children whose place is read, and of characters of the text in view. */
const MAX_STRIP = 40, MAX_STRIP_TEXT = 60;

/** Returns the box that clips an element, or null. @param {El} el */
function clipOf(el) {
  let clip = flatElement(el);
  for (let up = 0; clip && up < MAX_PIECE_ABOVE && !/hidden|clip|auto|scroll/.test(getComputedStyle(clip).overflowX); up++) clip = flatElement(clip);
  return clip && !isPageRoot(clip) ? clip : null;
}

/**
 * Returns the text of the children of an element that are in the box that clips them.
 * @param {El} strip @param {El | null} clip @param {boolean} [partly] returns nothing if all children are in the box
 */
function textInView(strip, clip, partly = false) {
  if (clip === null) return "";
  const box = safe.rect(clip);
  /** @type {string[]} */
  const texts = [];
  let i = 0;
  for (let n = safe.firstElementChild(strip); n && i < MAX_STRIP; n = safe.nextElementSibling(n), i++) {
    const r = safe.rect(n), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) texts.push(noticeText(n, MAX_STRIP_TEXT) || nameOfPiece(n));
  }
  return partly && texts.length === i ? "" : clean(texts.join(", "), MAX_STRIP_TEXT);
}

/** @param {string} line a value of textDecorationLine */
function lineWord(line) {
  return line.includes("line-through") ? "struck out" : "underlined";
}

/** Describes how two computed transforms differ. @param {string} was @param {string} now */
function wordsForTransforms(was, now) {
  const move = { x: 0, y: 0, unknown: false }, words = addTransform(move, was, now);
  return [...words, ...filled([wordsForMove(move)])];
}

/**
 * Describes how a piece differs from its earlier values of PIECE_LOOK, in the final state of its transitions.
 * @param {El} el @param {string[]} was @param {string[]} now @param {Animation[]} animations
 */
function wordsForPiece(el, was, now, animations) {
  /** @type {string[]} */
  const words = [];
  const ended = endsOf(animations, el, now, PIECE_LOOK);
  if (ended === null) return "";
  ended.forEach((value, i) => {
    if (value === was[i]) return;
    if (i >= PIECE_LOOK.length) return void (value !== "" && was[i] !== "" && words.push("icon"));
    const [name, word] = PIECE_LOOK[i];
    if (name === "color" && !hasText(safe.textContent(el))) return;
    if (word === "fill" && !isSVG(el)) return;
    const change = REPORTED_COLORS.has(name) ? changeOfColor(was[i], value, name === "backgroundColor" ? flatElement(el) : el) : null;
    if (name === "textDecorationLine") words.push(value === "none" ? "no longer " + lineWord(was[i]) : lineWord(value));
    else if (name === "transform") words.push(...wordsForTransforms(was[i], value));
    else if (change === null) words.push(word);
    else if (change) words.push(word + " " + change);
  });
  return words.join(", ");
}

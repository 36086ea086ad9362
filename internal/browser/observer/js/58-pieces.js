// @ts-check
// Pieces finds visible changes of elements that Looks (58-looks.js) does not know, because they are not listed or are far
// from the target: a text that is struck out, another image, a piece of a game that moves, a page that turns dark, a tip
// that CSS draws on hover, a video that plays.
//
// The earlier state has two sources. The old values of attributes are in mutation records, which an observer of its own
// collects while the daemon acts, so that changes of inline styles and image addresses are known on the whole page. What
// style sheets draw cannot be read after a change: Pieces reads it for the texts and boxes near the target, after the guard
// is armed and, for those around the pointer, again at the first event of the input. Changes while the pointer approaches
// count as earlier state. All work is bounded, independent of the page size.

/** The maximum number of pieces that are read near the target, and of nodes that are walked for them. */
const MAX_PIECES = 80, MAX_PIECE_WALK = 240;
/** The maximum number of elements per act whose old attributes are kept, and of shadow trees that are observed. */
const MAX_ALTERED = 100, MAX_ALTERED_TREES = 50;
/** The maximum number of old attributes per element. */
const MAX_ALTERED_ATTRIBUTES = 20;
/** Old values of attributes that are longer are not compared, except data URLs of images. */
const MAX_OLD_VALUE = 2000;
/** The maximum number of media elements of each kind, of canvases and of scrolled boxes that are compared. */
const MAX_MEDIA = 8, MAX_CANVASES = 3, MAX_SCROLLED = 8;
/** The number of ancestors of the target that are pieces, and around which pieces are read again when the pointer is there. */
const MAX_PIECE_ABOVE = 3;
/** The maximum number of elements in the target whose ::before and ::after are read. */
const MAX_TIPS = 6;
/** The maximum number of elements far from the target whose new class is compared with a sibling's. */
const MAX_REDRESSED = 8;
/** The maximum number of pieces named for a difference. */
const MAX_PIECE_NAMES = 4;

/** The options of the observer of old values. */
const ALTERED = { subtree: true, attributes: true, attributeOldValue: true };

/**
 * The properties of pieces that style sheets change, in the order of lookOfPiece, with the words for them.
 * @type {[keyof CSSStyleDeclaration & string, string][]}
 */
const PIECE_LOOK = [
  ["backgroundColor", "background"], ["color", "color"], ["textDecorationLine", "line"], ["fontWeight", "weight"], ["opacity", "opacity"],
  ["transform", "transform"], ["fontSize", "text size"], ["fill", "fill"], ["filter", "filter"],
];

/** The property of PIECE_LOOK that differs between siblings because they are in different places. */
const PLACE_IN_LOOK = PIECE_LOOK.findIndex(([name]) => name === "transform");

/**
 * An element before the input: its values of PIECE_LOOK, its name, its text and its parent.
 * @typedef {{look: string[], name: string, text: string, around: DomNode | null}} Piece
 */

class Pieces {
  /** @param {Model} model @param {Looks} looks */
  constructor(model, looks) {
    this.model = model;
    this.looks = looks;
    /** The first old values of the attributes that changed since the input. @type {Map<El, Map<string, string>>} */
    this.old = new Map();
    /** The pieces near the target before the input. @type {Map<El, Piece>} */
    this.known = new Map();
    /** The boxes that have scrolled since the input, and how far the window was scrolled before it. @type {Set<El>} */
    this.scrolled = new Set();
    this.scrollX = this.scrollY = 0;
    this.orders = new Orders();
    /** The words that the ::before and ::after of the target, and of elements around and in it, showed. @type {Map<El, string>} */
    this.tips = new Map();
    /** The states of media elements, and the contents of the first canvases, before the input. @type {Map<El, string>} */
    this.media = new Map();
    /** @type {Map<El, string>} */
    this.canvases = new Map();
    /** The target whose neighbours are yet to be read. @type {El | null} */
    this.due = null;
    /** The target, and the elements that the pointer and the focus were on before it. @type {El | null} */
    this.target = null;
    /** @type {El[]} */
    this.left = [];
    /** The element that the pointer was last moved to. @type {El | null} */
    this.hovered = null;
    /** Whether no button or key has been pressed yet, and whether the pointer is only moved. */
    this.approaching = true;
    this.hovers = false;
    this.observer = new MutationObserver((records) => this.collect(records));
    /** The notices, by the first element of each difference. @type {Map<El | string, Notice>} */
    this.told = new Map();
  }

  /** Starts an act: observes old values. */
  begin() {
    this.clear();
    const { doc, sweep } = this.model;
    let left = MAX_ALTERED_TREES;
    for (const tree of [doc, ...sweep.shadows]) if (left-- > 0) this.observer.observe(tree, ALTERED);
  }

  clear() {
    this.observer.disconnect();
    for (const map of [this.old, this.known, this.scrolled, this.tips, this.media, this.canvases, this.told]) map.clear();
    this.orders.clear();
    this.due = this.target = null;
    this.left = [];
    if (this.hovered && !safe.isConnected(this.hovered)) this.hovered = null;
    this.approaching = true;
    this.hovers = false;
  }

  /** @param {MutationRecord[]} records */
  record(records) {
    if (!this.approaching || this.orders.isSetting) this.orders.record(records);
  }

  /** Prepares for input to an element. The caller calls readDue in a task. @param {El} target */
  prepare(target) {
    if (this.target !== null) return this.beginScrolls(); // the daemon may have scrolled to the target
    this.target = this.due = target;
  }

  /** Prepares for the pointer to be moved to an element. @param {El} target */
  prepareHover(target) {
    this.prepare(target);
    this.readDue();
    this.hovers = true;
    this.beginScrolls();
  }

  beginScrolls() {
    this.scrolled.clear();
    this.scrollX = scrollX;
    this.scrollY = scrollY;
  }

  /** Reads the pieces near the target, unless that is done. */
  readDue() {
    const { due } = this;
    if (due === null) return;
    this.due = null;
    if (!safe.isConnected(due)) return;
    const { doc } = this.model;
    this.recordLeft();
    for (const root of [safe.documentElement(doc), safe.querySelector(doc, "body")]) if (root) this.learn(root);
    for (let n = /** @type {El | null} */ (due), up = 0; n && up <= MAX_PIECE_ABOVE; n = flatElement(n), up++) this.tips.set(n, this.drawnIn(n));
    for (let n = safe.firstElementChild(due), left = MAX_TIPS; n && left > 0 && safe.contains(due, n); n = elementAfter(n, true), left--) this.tips.set(n, this.drawnIn(n));
    for (const el of piecesNear(due)) if (!this.looks.listedAround(el)) this.learn(el);
    for (const el of firstOf(doc, "video", MAX_MEDIA)) this.media.set(el, stateOfMedia(el));
    for (const el of firstOf(doc, "audio", MAX_MEDIA)) this.media.set(el, stateOfMedia(el));
    for (const el of firstOf(doc, "canvas", MAX_CANVASES)) this.canvases.set(el, contentOfCanvas(el));
  }

  /** Returns wordsDrawnIn, without reading styles if no rule draws a ::before or ::after. @param {El} el */
  drawnIn(el) {
    return this.model.naming.generated.drawing ? wordsDrawnIn(el) : "";
  }

  /** Records which elements the pointer and the focus are on. */
  recordLeft() {
    for (let n = this.hovered, up = 0; n && up < MAX_PIECE_ABOVE; n = flatElement(n), up++) if (safe.isConnected(n)) this.left.push(n);
    const focused = safe.activeElement(this.model.doc);
    if (focused) this.left.push(focused);
  }

  /** @param {El} el */
  learn(el) {
    if (this.known.has(el) || !safe.checkVisibility(el, VISIBLE)) return;
    this.known.set(el, { look: lookOfPiece(el), name: nameOfPiece(el), text: isPageRoot(el) ? "" : rawTextIn(el).trim(), around: safe.parentNode(el) });
  }

  /** Records an input event that is about to reach the page. @param {Event} event */
  recordInput(event) {
    if (!INPUT_BEGINS.has(event.type) || !this.approaching) return;
    const at = targetOf(event) || safe.documentElement(this.model.doc);
    if (at === null) return;
    if (this.target === null) this.prepare(at); // a key to the document
    this.readDue();
    this.approaching = false;
    this.beginScrolls();
    this.collect(this.observer.takeRecords());
    this.old.clear();
    const around = aboveBy(at, MAX_PIECE_ABOVE);
    for (const [el, was] of this.tips) if (was === "") this.tips.set(el, this.drawnIn(el)); // the pointer shows it
    for (const [el, piece] of this.known) if (safe.contains(around, el)) piece.look = lookOfPiece(el);
  }

  /** Records that a box scrolls. @param {El} box */
  recordScroll(box) {
    if (!this.approaching && this.scrolled.size < MAX_SCROLLED) this.scrolled.add(box);
  }

  /** Keeps the first old values of changed attributes. @param {MutationRecord[]} records */
  collect(records) {
    for (const { target, attributeName, oldValue } of records) {
      const el = /** @type {El} */ (target);
      let values = this.old.get(el);
      if (!values) {
        if (this.old.size >= MAX_ALTERED) return;
        this.old.set(el, (values = new Map()));
      }
      if (attributeName && values.size < MAX_ALTERED_ATTRIBUTES && !values.has(attributeName)) values.set(attributeName, (oldValue || "").slice(0, MAX_OLD_VALUE + 1));
    }
  }

  /**
   * Returns the differences, each with its elements or their names.
   * @param {Set<El>} added the elements that were added since the input
   * @param {boolean} alone whether nothing else is reported, so that added, removed and scrolled content is
   * @returns {Map<string, Way>}
   */
  different(added, alone) {
    this.collect(this.observer.takeRecords());
    const ways = new Ways();
    for (const [el, was] of this.tips) {
      const now = safe.isConnected(el) ? this.drawnIn(el) : was;
      if (now !== was) ways.add(el, now === "" ? "no longer shows " + JSON.stringify(was) : "shows " + JSON.stringify(now));
    }
    for (const [el, was] of this.media) {
      const heard = safe.isConnected(el) && (tagOf(el) === "audio" || safe.checkVisibility(el, VISIBLE));
      if (heard && stateOfMedia(el) !== was) ways.add(el, stateOfMedia(el));
    }
    for (const [el, was] of this.canvases) {
      const now = was === "" ? "" : contentOfCanvas(el);
      if (now !== "" && now !== was) ways.add(el, "drawn anew");
    }
    if (this.old.size > 0) this.compareAltered(ways);
    const isAlone = alone && (!this.approaching || this.hovers), isUntold = isAlone && ways.all.size === 0;
    if (this.orders.before.size > 0) for (const { text, certain } of this.orders.changed()) if (certain || isUntold) ways.add("order", text, !certain);
    if (isAlone && ways.all.size === 0) this.compareRest(ways, added);
    return ways.all;
  }

  /** Compares the elements whose attributes changed, and what style sheets draw. @param {Ways} ways */
  compareAltered(ways) {
    const animations = this.model.animations.list();
    /** @param {El} el @param {Piece} piece */
    const compare = (el, { look }) => ways.addOf(drawingOf(el), wordsForPiece(el, look, lookOfPiece(el), animations));
    for (const [el, piece] of this.known) if (isPageRoot(el)) compare(el, piece);
    if (ways.all.size > 0) return; // the look of the whole page
    /** @type {Set<El>} */
    const told = new Set();
    for (const [el, values] of this.old) {
      const words = this.isTold(el) ? wordsForAttributes(el, values, animations) : "";
      if (words !== "") told.add(el);
      ways.addOf(drawingOf(el), words);
    }
    for (const [el, piece] of this.known) if (!told.has(el) && this.isTold(el) && !this.hasLost(el) && this.mayDiffer(el)) compare(el, piece);
  }

  /**
   * Compares elements far from the target whose class changed, such as a highlighted row. Their earlier look is read from a sibling that
   * has the earlier class.
   * @param {Ways} ways
   */
  compareClasses(ways) {
    let left = MAX_REDRESSED;
    for (const [el, values] of this.old) {
      const was = values.get("class");
      if (was === undefined || was === attr(el, "class") || this.known.has(el) || !this.isTold(el) || !isVisibleInView(el)) continue;
      const twin = siblingOfClass(el, was);
      if (twin === null || safe.matches(el, ":hover,:focus-within") || safe.matches(twin, ":hover,:focus-within")) continue;
      const look = lookOfPiece(twin), now = lookOfPiece(el);
      look[PLACE_IN_LOOK] = now[PLACE_IN_LOOK];
      ways.add(el, wordsForPiece(el, look, now, this.model.animations.list()), true);
      if (--left === 0) return;
    }
  }

  /** Compares which pieces are there and in view. @param {Ways} ways @param {Set<El>} added */
  compareRest(ways, added) {
    this.compareClasses(ways);
    this.comparePresence(ways, [...added].filter((el) => safe.isConnected(el)));
    for (const box of this.scrolled) {
      const focused = safe.activeElement(this.model.doc);
      if (!isVisibleInView(box) || this.looks.listedAround(box) || (focused && safe.contains(box, focused))) continue;
      const shown = textInView(box, box);
      ways.add("", shown ? "scrolled, in view: " + shown : "a box scrolled", true);
    }
    const moved = wordsForMove({ x: scrollX - this.scrollX, y: scrollY - this.scrollY, unknown: false });
    if (moved) ways.add("page", moved.replace("moved", "scrolled"), true);
  }

  /** Compares which pieces are gone, and which images and boxes are new. What was drawn again is neither. @param {Ways} ways @param {El[]} drawn */
  comparePresence(ways, drawn) {
    const texts = drawn.map((el) => rawTextIn(el)), kept = new Set();
    for (const [el, { name, text, around }] of this.known) {
      const gone = !safe.isConnected(el) || !safe.checkVisibility(el, VISIBLE) || (text !== "" && !hasTextToShow(el));
      if (!gone || this.holdsControl(el)) continue;
      const stays = !safe.isConnected(el) && around !== null && isElement(around) && safe.isConnected(around) && isShown(around) && rawTextIn(around).includes(text);
      const again = text === "" ? drawn.some((one) => drawnWithoutWords(one).some((other) => nameOfPiece(other) === name)) : stays || texts.some((all) => all.includes(text));
      if (again) kept.add(name);
      else ways.add(name, "gone", true);
    }
    for (const el of drawn) {
      if (this.looks.listedAround(el) || this.holdsControl(el)) continue;
      for (const one of drawnWithoutWords(el)) if (!kept.has(nameOfPiece(one))) ways.add(one, "new", true);
    }
  }

  /** Whether an element, or the removed part of the page around it, contains controls. They are reported as elements. @param {El} el */
  holdsControl(el) {
    let top = el;
    for (let n = safe.parentNode(el), up = 0; n && isElement(n) && !safe.isConnected(el) && up < MAX_ANCESTORS; n = safe.parentNode(n), up++) top = n;
    return safe.matches(top, CONTROLS_IN) || firstWithin(top, CONTROLS_IN) !== null;
  }

  /** Whether Pieces reports changes of an element: it is drawn, and Looks compares neither it nor a control around it. @param {El} el */
  isTold(el) {
    if (!safe.isConnected(el) || !safe.checkVisibility(el, VISIBLE)) return false;
    return !this.looks.listedAround(el) || (this.model.records.get(el) !== undefined && !this.looks.known.has(el));
  }

  /** Whether an attribute has changed of an element that contains a piece, or of a sibling of such an element. @param {El} piece */
  mayDiffer(piece) {
    for (const el of this.old.keys()) {
      if (safe.contains(safe.parentNode(el) || el, piece)) return true;
    }
    return false;
  }

  /**
   * Whether the appearance of a piece may come from the pointer or the focus, which have left or entered the field that it
   * names or the box around it.
   * @param {El} piece
   */
  hasLost(piece) {
    const { target, left } = this;
    for (const el of left) {
      if (isPageRoot(el) || (target && safe.contains(el, target))) continue;
      if (safe.contains(isTextField(el) ? aboveBy(el, MAX_PIECE_ABOVE) : el, piece)) return true;
    }
    const focused = safe.activeElement(this.model.doc);
    return focused !== null && isTextField(focused) && safe.contains(aboveBy(focused, MAX_PIECE_ABOVE), piece);
  }
}

/**
 * A difference of elements, or of names of elements that are gone. It is minor if the daemon tells it only when nothing else has changed.
 * @typedef {{what: (El | string)[], minor: boolean}} Way
 */

/** Matches the description of a place or size, which is minor, or its continuation. */
const BY_PLACE = /^(?:moved|scale|width|height|transform|text size|shape|opacity|\d)/;

/** The distinct differences, by their words. */
class Ways {
  constructor() {
    /** @type {Map<string, Way>} */
    this.all = new Map();
  }

  /** Adds a difference of the look of an element. @param {El} el @param {string} words */
  addOf(el, words) {
    this.add(el, words, !saysItsName(el) || tagOf(el) === "label" || words.split(", ").every((word) => BY_PLACE.test(word)));
  }

  /** @param {El | string} what an element, or the name of one that is gone @param {string} words @param {boolean} [minor] */
  add(what, words, minor = false) {
    const alike = this.all.get(words);
    if (words === "" || (alike && alike.what.includes(what))) return;
    if (!alike && this.all.size < MAX_LOOKS) this.all.set(words, { what: [what], minor });
    else if (alike) {
      alike.what.push(what);
      alike.minor = alike.minor && minor;
    }
  }
}

/**
 * Returns a sibling of an element that has the same tag and the given class, or null. It is two places away, because rules for odd and even
 * children would draw the next one differently.
 * @param {El} el @param {string} name the class, "" for none
 */
function siblingOfClass(el, name) {
  const before = elementBefore(el), behind = safe.nextElementSibling(el);
  for (const twin of [before && elementBefore(before), behind && safe.nextElementSibling(behind)]) {
    if (twin && tagOf(twin) === tagOf(el) && (attr(twin, "class") || "") === name) return twin;
  }
  return null;
}

/** Matches controls, by their markup. */
const CONTROLS_IN = "button,a[href],input,select,textarea,[tabindex],[role=button],[role=option],[role=menuitem],[role=tab],[onclick]";
/** The maximum number of elements without words that are reported for an added element. */
const MAX_NEW = 3;

/** Returns the visible images and boxes without words of an added element. @param {El} added @returns {El[]} */
function drawnWithoutWords(added) {
  if (hasText(safe.textContent(added)) || isSVG(added)) return [];
  const images = [...queryWithin(added, "img,svg,canvas,video,iframe")].slice(0, MAX_NEW);
  return (images.length ? images : [added]).filter((el) => !NEVER_DRAWN.has(tagOf(el)) && isVisibleInView(el));
}

/** @param {Document} doc @param {string} tag @param {number} most */
function firstOf(doc, tag, most) {
  const found = safe.elements(doc, tag), out = [];
  for (let i = 0; i < found.length && i < most; i++) out.push(found[i]);
  return out;
}

/** Whether an element is the root of the page or its body. @param {El} el */
function isPageRoot(el) {
  const tag = tagOf(el);
  return tag === "html" || tag === "body";
}

/** @param {El} el @param {number} levels */
function aboveBy(el, levels) {
  let around = el;
  for (let n = flatElement(el); n && !isPageRoot(n) && levels > 0; n = flatElement(n), levels--) around = n;
  return around;
}

/** Returns the elements near a target that draw something themselves: text, a box or a part of a picture. @param {El} target */
function piecesNear(target) {
  /** @type {El[]} */
  const out = [];
  for (const forward of [true, false]) {
    let left = MAX_PIECE_WALK, most = out.length + MAX_PIECES / 2;
    for (let n = elementAfter(target, forward); n && left > 0 && out.length < most; n = elementAfter(n, forward), left--) if (drawsItself(n)) out.push(n);
  }
  return out;
}

/** Returns the next or previous element in tree order, or null. @param {El} el @param {boolean} forward @returns {El | null} */
function elementAfter(el, forward) {
  if (!forward) {
    let before = elementBefore(el);
    for (let inner = before; inner; inner = lastElement(inner)) before = inner;
    if (before !== null) return before;
    const parent = safe.parentNode(el);
    return parent && isElement(parent) ? parent : null;
  }
  const first = safe.firstElementChild(el);
  if (first) return first;
  for (let /** @type {DomNode | null} */ n = el; n && isElement(n); n = safe.parentNode(n)) {
    const next = safe.nextElementSibling(n);
    if (next) return next;
  }
  return null;
}

/** Elements that draw nothing. */
const NEVER_DRAWN = new Set(["script", "style", "template", "link", "meta", "head", "title", "br", "source", "option", "defs", "noscript"]);

/** Whether an element has text of its own, or is an empty box or a part of a picture. @param {El} el */
function drawsItself(el) {
  if (NEVER_DRAWN.has(tagOf(el))) return false;
  if (!hasElements(el)) return true;
  for (let n = safe.firstChild(el), i = 0; n && i < MAX_CHILDREN; n = safe.nextSibling(n), i++) if (isText(n) && hasText(n.data)) return true;
  return false;
}

/** Returns the values of PIECE_LOOK. The fill of an HTML element is never compared. @param {El} el */
function lookOfPiece(el) {
  const style = getComputedStyle(el);
  const look = [
    style.backgroundColor, style.color, style.textDecorationLine, style.fontWeight, style.opacity, style.transform, style.fontSize,
    isSVG(el) ? style.fill : "", style.filter,
  ];
  look.push(safe.firstChild(el) !== null ? "" : hasNoAttributes(el) ? "none" : getComputedStyle(el, "::before").content); // an icon
  return look;
}

/** Returns the words that the visible ::before and ::after of an element show, or "". @param {El} el */
function wordsDrawnIn(el) {
  return clean(drawnWords(el, "::before") + " " + drawnWords(el, "::after"), MAX_LABEL);
}

/** @param {El} el @param {string} pseudo */
function drawnWords(el, pseudo) {
  const style = getComputedStyle(el, pseudo), { content } = style;
  if (isTextMasked(el) || !hasWord(content) || !content.includes('"')) return "";
  if (style.display === "none" || style.visibility !== "visible") return "";
  return parseFloat(style.opacity) > 0 || fadesIn(el, pseudo) ? stringsIn(content).join("") : "";
}

/** Returns the strings in a value of the property content, without the alternative text. @param {string} content */
function stringsIn(content) {
  return [...content.replace(/ \/ (?=")[^]*$/, "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text.replace(/\\(.)/g, "$1"));
}

/** @type {(el: El, options: GetAnimationsOptions) => Animation[]} */
const animationsOf = method(Element, "getAnimations");

/** Whether a transition makes a pseudo-element visible. @param {El} el @param {string} pseudo */
function fadesIn(el, pseudo) {
  return !isPageRoot(el) && animationsOf(el, { subtree: true }).some((animation) => {
    const effect = /** @type {KeyframeEffect} */ (animation.effect);
    if (!animates(animation, el, true) || effect.pseudoElement !== pseudo) return false;
    const frames = effect.getKeyframes();
    return frames.length > 0 && Number(frames[frames.length - 1].opacity) > 0;
  });
}

/** Describes whether a video or audio plays. @param {El} el */
function stateOfMedia(el) {
  const { paused, muted, ended } = /** @type {HTMLMediaElement} */ (/** @type {HTMLElement} */ (el));
  return (paused ? (ended ? "ended" : "paused") : "playing") + (muted ? ", muted" : "");
}

/** The size to which canvases are drawn to be compared. */
const CANVAS_SAMPLE = 24;
/** @type {OffscreenCanvasRenderingContext2D | null} */
let sample = null;

/** Returns the content of a canvas as text, or "" if it cannot be read or is not in view. @param {El} el */
function contentOfCanvas(el) {
  if (!isVisibleInView(el)) return "";
  sample = sample || new OffscreenCanvas(CANVAS_SAMPLE, CANVAS_SAMPLE).getContext("2d", { willReadFrequently: true });
  if (sample === null) return "";
  try {
    sample.clearRect(0, 0, CANVAS_SAMPLE, CANVAS_SAMPLE);
    sample.drawImage(/** @type {HTMLCanvasElement} */ (/** @type {HTMLElement} */ (el)), 0, 0, CANVAS_SAMPLE, CANVAS_SAMPLE);
    return String(sample.getImageData(0, 0, CANVAS_SAMPLE, CANVAS_SAMPLE).data);
  } catch {
    sample = null; // a picture of another origin taints it
    return "";
  }
}

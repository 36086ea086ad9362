// @ts-check
// Elements that count only because of their cursor: a pointing hand, where their parent has none. They are found by the selectors of the rules that give one (15-styles.js), and each is
// confirmed by its computed style.

/** Most elements that are asked for their cursor at a time. */
const MAX_POINTERS = 5000;
/** How many elements are asked when sheets cannot be read, in document order: of those that have a class. */
const MAX_PROBED = 1000;
const PROBED = "[class]:not(a,button,input,select,textarea,label,option,img,br,script,link,style)," + INLINE_POINTER;
/** A wrapper is the same thing as the control in it when the control fills this part of it. */
const SAME_THING = 0.5;

/** What has a look of its own, and never counts for its cursor. */
const NO_POINTERS = new Set(["html", "body", "iframe", "frame", "object", "embed", "area", "map", "option", "optgroup", "slot"]);

/** What makes everything in it a part of it. */
const WIDGETS = "a[href],button,summary,select,label," + ["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem"].map((role) => "[role=" + role + "]").join(",");

class Cursors {
  /** @param {Styles} styles */
  constructor(styles) {
    this.styles = styles;
    /** Those found. @type {Set<El>} */
    this.found = new Set();
    /** Whether the cursors of elements are pointing hands, within one look. @type {Map<El, boolean>} */
    this.hands = new Map();
  }

  begin() {
    this.hands.clear();
  }

  /** The elements of a document or shadow tree that may be such. @param {Tree} tree @returns {El[]} */
  candidates(tree) {
    const said = this.styles.of(tree);
    /** @type {El[]} */
    const out = [];
    if (isShadow(tree) && (said.hosts || said.opaque)) out.push(tree.host, .../** @type {El[]} */ ([...tree.host.children].slice(0, MAX_PARTS)));
    /** @type {[string, number][]} */
    const lists = said.opaque ? [[said.selector, MAX_POINTERS], [PROBED, MAX_PROBED]] : [[said.selector, MAX_POINTERS]];
    for (const [selector, most] of lists) {
      const all = inTree(tree, selector);
      for (let i = 0; i < all.length && i < most; i++) out.push(all[i]);
    }
    return out;
  }

  /** Those of a subtree of a tree, its root included. @param {El} el @returns {El[]} */
  candidatesWithin(el) {
    const said = this.styles.of(treeOf(el));
    const selector = said.opaque ? said.selector + "," + PROBED : said.selector;
    const out = safe.matches(el, selector) ? [el] : [];
    const all = queryWithin(el, selector);
    for (let i = 0; i < all.length && i < RESTYLE_NODES; i++) out.push(all[i]);
    return out;
  }

  /** Whether the element counts for its cursor. Reads styles, and boxes where it wraps something. @param {El} el */
  isPointer(el) {
    const tag = tagOf(el);
    if (NO_POINTERS.has(tag) || INTERACTIVE_TAGS.has(tag)) return false;
    if (!this.isHand(el)) return false;
    const parent = flatElement(el);
    if (!parent || this.isHand(parent)) return false;
    if (tag === "label" && el.control) return false;
    return !isInWidget(parent) && !wrapsOne(el);
  }

  /** Whether an element's cursor is a pointing hand. @param {El} el */
  isHand(el) {
    let hand = this.hands.get(el);
    if (hand === undefined) this.hands.set(el, (hand = isPointerCursor(getComputedStyle(el).cursor)));
    return hand;
  }
}

/** The elements of a tree that a selector matches. @param {Tree} tree @param {string} selector */
function inTree(tree, selector) {
  return isDocument(tree) ? safe.querySelectorAll(tree, selector) : tree.querySelectorAll(selector);
}

/** @type {(el: El, selector: string) => NodeListOf<El>} */
const queryWithin = method(Element, "querySelectorAll");

/** Whether an element is a part of a widget. @param {El} el */
function isInWidget(el) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_UP; up++) {
    const widget = closestOf(n, WIDGETS);
    if (!widget) n = hostOf(n);
    else if (tagOf(widget) === "label" && !widget.control) n = flatElement(widget);
    else return true;
  }
  return false;
}

/** The host of the shadow tree that an element stands in, or null. @param {Node} n @returns {El | null} */
function hostOf(n) {
  const root = safe.getRootNode(n);
  return isShadow(root) ? root.host : null;
}

/** Whether all that is of use in an element is one thing of about its size. @param {El} el */
function wrapsOne(el) {
  if (!safe.firstElementChild(el)) return false;
  /** @type {El | null} */
  let thing = null;
  /** @type {DOMRect[]} */
  const rects = [];
  for (const inner of queryWithin(el, CANDIDATES + ",label")) {
    const rect = safe.rect(inner);
    if (!hasArea(rect)) continue;
    const own = (tagOf(inner) === "label" && inner.control) || inner;
    if (thing && own !== thing && !safe.contains(thing, own)) return false;
    thing = thing || own;
    rects.push(rect);
  }
  if (!thing) return false;
  const box = safe.rect(el), filled = union(rects);
  return filled.width * filled.height >= SAME_THING * box.width * box.height;
}

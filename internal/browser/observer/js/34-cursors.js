// @ts-check
// Elements that are listed only because of their cursor: they have cursor: pointer and their parent
// does not. The selectors of 15-styles.js find candidates, and the computed style confirms each.
//
// Cursors owns the set of elements found. Hints requests candidates from it and keeps the results
// as HINT_POINTER.

/** The maximum number of elements that match the selectors and are checked at a time. */
const MAX_POINTERS = 5000;
/**
 * If sheets cannot be read, these elements are checked instead, in document order, up to
 * MAX_GUESSED.
 */
const MAX_GUESSED = 1000;
const GUESSED = "[class]:not(a,button,input,select,textarea,label,option,img,br,script,link,style)," + INLINE_POINTER;
/**
 * A wrapper with one control in it does not count if the control fills at least this part of the
 * wrapper.
 */
const WRAPPER_FILLED = 0.5;

/** Tags that never count because of their cursor. */
const NO_POINTERS = new Set(["html", "body", "iframe", "frame", "object", "embed", "area", "map", "option", "optgroup", "slot"]);

/** Matches widgets. The elements inside them are their parts and do not count because of their cursor. */
const WIDGETS = "a[href],button,summary,select,label," + ["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem"].map((role) => "[role=" + role + "]").join(",");

class Cursors {
  /** @param {Styles} styles */
  constructor(styles) {
    this.styles = styles;
    /** The elements that count because of their cursor. @type {Set<El>} */
    this.found = new Set();
    /** Whether elements have cursor: pointer, as read since begin. @type {Map<El, boolean>} */
    this.pointers = new Map();
  }

  /** Clears the cached styles. */
  begin() {
    this.pointers.clear();
  }

  /**
   * Returns the elements of a document or shadow tree that may count because of their cursor.
   * @param {Tree} tree @returns {El[]}
   */
  candidates(tree) {
    const read = this.styles.of(tree);
    /** @type {El[]} */
    const out = [];
    if (isShadow(tree) && (read.hosts || read.opaque)) out.push(tree.host, .../** @type {El[]} */ ([...tree.host.children].slice(0, MAX_PARTS)));
    /** @type {[string, number][]} */
    const lists = [[read.selector, MAX_POINTERS]];
    if (read.opaque) lists.push([GUESSED, MAX_GUESSED]);
    for (const [selector, most] of lists) {
      const all = inTree(tree, selector);
      for (let i = 0; i < all.length && i < most; i++) out.push(all[i]);
    }
    return out;
  }

  /**
   * Returns the candidates in a subtree within its tree, including the root.
   * @param {El} el @returns {El[]}
   */
  candidatesWithin(el) {
    const read = this.styles.of(treeOf(el));
    const selector = read.opaque ? read.selector + "," + GUESSED : read.selector;
    const out = safe.matches(el, selector) ? [el] : [];
    const all = queryWithin(el, selector);
    for (let i = 0; i < all.length && i < RESTYLE_NODES; i++) out.push(all[i]);
    return out;
  }

  /**
   * Whether the element counts because of its cursor. It reads styles, and also boxes if the
   * element wraps something.
   * @param {El} el
   */
  isPointer(el) {
    const tag = tagOf(el);
    if (NO_POINTERS.has(tag) || INTERACTIVE_TAGS.has(tag)) return false;
    if (!this.hasPointerCursor(el)) return false;
    const parent = flatElement(el);
    if (!parent || this.hasPointerCursor(parent)) return false;
    if (tag === "label" && el.control) return false;
    return !isInWidget(parent) && !wrapsOneControl(el);
  }

  /** Whether the computed cursor of an element is pointer. @param {El} el */
  hasPointerCursor(el) {
    let pointer = this.pointers.get(el);
    if (pointer === undefined) this.pointers.set(el, (pointer = isPointerCursor(getComputedStyle(el).cursor)));
    return pointer;
  }
}

/** Returns the elements of a tree that match a selector. @param {Tree} tree @param {string} selector */
function inTree(tree, selector) {
  return isDocument(tree) ? safe.querySelectorAll(tree, selector) : tree.querySelectorAll(selector);
}

/** @type {(el: El, selector: string) => NodeListOf<El>} */
const queryWithin = method(Element, "querySelectorAll");

/** Whether an element is a part of a widget. @param {El} el */
function isInWidget(el) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; up++) {
    const widget = closestOf(n, WIDGETS);
    if (!widget) n = hostOf(n);
    else if (tagOf(widget) === "label" && !widget.control) n = flatElement(widget);
    else return true;
  }
  return false;
}

/**
 * Returns the host of the shadow tree that contains an element, or null.
 * @param {Node} n @returns {El | null}
 */
function hostOf(n) {
  const root = safe.getRootNode(n);
  return isShadow(root) ? root.host : null;
}

/** Whether an element is the wrapper of one control of about its size. @param {El} el */
function wrapsOneControl(el) {
  if (!safe.firstElementChild(el)) return false;
  /** @type {El | null} */
  let control = null;
  /** @type {DOMRect[]} */
  const rects = [];
  for (const inner of queryWithin(el, CANDIDATES + ",label")) {
    const rect = safe.rect(inner);
    if (!hasArea(rect)) continue;
    const own = (tagOf(inner) === "label" && inner.control) || inner;
    if (control && own !== control && !safe.contains(control, own)) return false;
    control = control || own;
    rects.push(rect);
  }
  if (!control) return false;
  const box = safe.rect(el), filled = union(rects);
  return filled.width * filled.height >= WRAPPER_FILLED * box.width * box.height;
}

// @ts-check
// Visibility: whether a person can see an element, and its box. An element is not listed if it
//
//   - is not rendered, hidden, transparent or without a size. Two kinds of transparent element are
//     listed: a checkbox, radio or file input, because a box is drawn beside it, and a field with a face
//     (33-faces.js);
//   - is in a frame that is not rendered, hidden or without a size, as far as the frames around it are accessible;
//   - is clipped to nothing, by itself or by a collapsed box around it;
//   - lies left of or above the page, where scrolling cannot reach it, or in a box that is fixed outside of the
//     viewport, such as a drawer before it slides in.
//
// Skip links (links to a fragment of the page) are listed even if they are clipped or off the page,
// because they appear when they have the focus. Elements that are hidden only from assistive
// technology (aria-hidden) are listed, because a person sees and uses them. So are elements without
// pointer events, because the keyboard reaches them.
//
// A visually hidden checkbox, radio or file input, clipped or shrunk to a pixel, is listed with the
// box of its label, where a click reaches it. If it is not rendered at all, its label is listed as
// its proxy; see Hints.proxyLabels.
//
// Visibility caches layout only until the next call of begin. Refresh, Sweep and Layout use it for
// the list, actions and finders for single elements.

/** The maximum number of parts of an element without a box that are read. */
const MAX_PARTS = 64;
/** The maximum number of ancestors that are followed. */
const MAX_ANCESTORS = 256;
/** The maximum number of elements that are examined for being fixed outside of the viewport. */
const MAX_FIXED = 500;
const EMPTY_RECT = new DOMRect();

class Visibility {
  /** @param {Document} doc @param {Labels} labels @param {Styles} styles */
  constructor(doc, labels, styles) {
    this.doc = doc;
    this.labels = labels;
    this.styles = styles;
    /** The scroll position of the document. */
    this.x = this.y = 0;
    /** Whether the element or a flat ancestor is collapsed, by element. @type {Map<El, boolean>} */
    this.collapsed = new Map();
    /**
     * The images of image maps, by the name of the map. Null if not collected yet.
     * @type {Map<string, El> | null}
     */
    this.images = null;
    /** Whether a select itself is drawn, and no other element in its place. @type {Map<El, boolean>} */
    this.lists = new Map();
    /** The boxes that are fixed outside of the viewport, by tree. @type {Map<Tree, El[]>} */
    this.drawers = new Map();
    /** Whether no box of the document is fixed outside of the viewport, or null if that has not been checked since begin. @type {boolean | null} */
    this.drawerless = null;
    /** The size of the viewport, or -1 if it has not been read since begin. */
    this.width = this.height = -1;
    /** Whether the frame of the document is not shown. */
    this.unseen = false;
  }

  /** Clears the cached styles and layout. */
  begin() {
    this.labels.firstOfMany.clear();
    this.collapsed.clear();
    this.drawers.clear();
    this.drawerless = null;
    this.width = -1;
    this.lists.clear();
    this.images = null;
    this.unseen = isUnseenFrame();
  }

  /** @param {El} el @param {string} tag */
  isVisible(el, tag) {
    return this.isVisibleByStyle(el, tag) && this.hasVisibleBox(el, tag, this.rect(el, tag));
  }

  // ---- by the styles ------------------------------------------------------------------------

  /**
   * Whether an element is visible by its styles. It needs no layout.
   * @param {El} el @param {string} tag @returns {boolean}
   */
  isVisibleByStyle(el, tag) {
    if (this.unseen || (tag === "textarea" && el.readOnly && attr(el, "aria-hidden") === "true" && attr(el, "tabindex") === "-1")) return false; // a script's own
    if (safe.checkVisibility(el, VISIBLE)) return (tag !== "input" && tag !== "button") || !this.isDrawnBeside(el) || !isToggle(el, tag);
    if (tag === "area") {
      const image = this.imageOf(el);
      return image !== null && safe.checkVisibility(image, VISIBLE);
    }
    if (isToggle(el, tag)) return safe.checkVisibility(el, VISIBLE_OR_TRANSPARENT) && !this.isDrawnBeside(el);
    if (mayHaveFace(el, tag)) return safe.checkVisibility(el, VISIBLE_OR_TRANSPARENT) && faceOf(el) !== null;
    return this.isContents(el) && this.parts(el).some((part) => isPartVisibleByStyle(part));
  }

  /**
   * Whether the element has display: contents, so that it has no box but its children do.
   * @param {El} el
   */
  isContents(el) {
    return (this.styles.contents || hasAttr(el, "style")) && getComputedStyle(el).display === "contents";
  }

  /**
   * Returns the parts of an element without a box: the texts and the nearest elements with a box in
   * it.
   * @param {El} el
   */
  parts(el) {
    /** @type {(El | Text)[]} */
    const out = [];
    const stack = flatNodes(el, tagOf(el)).reverse();
    for (let seen = 0; stack.length && seen < MAX_PARTS; seen++) {
      const node = /** @type {El | Text} */ (stack.pop());
      if (isText(node)) {
        if (hasText(node.data)) out.push(node);
      } else if (getComputedStyle(node).display === "contents") {
        stack.push(...flatNodes(node, tagOf(node)).slice(0, MAX_PARTS).reverse());
      } else out.push(node);
    }
    return out;
  }

  // ---- by the layout ------------------------------------------------------------------------

  /**
   * Returns the box of an element in the viewport: its own box, or the box of its label, its face
   * or its parts.
   * @param {El} el @param {string} tag @returns {DOMRect}
   */
  rect(el, tag) {
    if (tag === "area") return this.areaRect(el);
    const rect = safe.rect(el);
    if (rect.width > 0 && rect.height > 0) {
      const toggle = isToggle(el, tag);
      if ((!toggle && !mayHaveFace(el, tag)) || !(this.isVisuallyHidden(el, rect) || this.isTucked(el))) return rect;
      const face = toggle ? this.labelOf(el) : faceOf(el);
      return face ? this.rect(face, tagOf(face)) : rect;
    }
    if (mayHaveFace(el, tag) && isCombo(el) && getComputedStyle(el).transform.startsWith("matrix(0,")) { // scaled to nothing
      const face = faceOf(el);
      if (face) return this.rect(face, tagOf(face));
    }
    const editor = tag === "textarea" || hasAttr(el, "role") ? editorOf(el) : null;
    if (editor) return safe.rect(editor);
    if (SHAPES.has(tag)) return strokedRect(el, rect);
    if (tag === "g" && (rect.width > 0 || rect.height > 0)) { // a group of straight lines, such as an edge of a diagram
      const line = firstWithin(el, "path,line,polyline");
      if (line) return strokedRect(line, safe.rect(line));
    }
    if (!BOXLESS_TAGS.has(tag) ? !this.isContents(el) : clips(getComputedStyle(el))) return rect;
    const parts = this.parts(el).map(partRect).filter(hasArea);
    return parts.length ? union(parts) : rect;
  }

  /**
   * Whether the box of an element is visible.
   * @param {El} el @param {string} tag @param {DOMRect} rect the result of rect @returns {boolean}
   */
  hasVisibleBox(el, tag, rect) {
    if (!(rect.width > 0 && rect.height > 0)) return false;
    if (tag === "a" && isSkipLink(el)) return true;
    if (tag === "option" && !this.isListSeen(el)) return false;
    return !this.isOffPage(el, rect) && !this.isClipped(el, tag) && !this.isCollapsed(el);
  }

  /** Whether the list of an option is drawn. If something else is drawn in its place, its options are invisible. @param {El} option */
  isListSeen(option) {
    const list = closestOf(option, "select");
    if (!list) return true;
    let seen = this.lists.get(list);
    if (seen === undefined) this.lists.set(list, (seen = !this.isVisuallyHidden(list, safe.rect(list))));
    return seen;
  }

  /**
   * Whether a control is visually hidden, so that only the keyboard and assistive technology reach
   * it.
   * @param {El} el @param {DOMRect} rect
   */
  isVisuallyHidden(el, rect) {
    return (rect.width <= 1 && rect.height <= 1) || this.isOffPage(el, rect) || this.clipsItself(el);
  }

  /** Returns the first visible label of a control. @param {El} control @returns {El | null} */
  labelOf(control) {
    for (const label of this.labels.of(control)) if (this.isVisible(label, "label")) return label;
    return null;
  }

  /**
   * Whether a toggle is hidden from assistive technology, and its label contains an element with its own role that replaces the
   * toggle.
   * @param {El} toggle
   */
  isDrawnBeside(toggle) {
    if (attr(toggle, "aria-hidden") !== "true") return false;
    return this.labels.of(toggle).some((label) => firstWithin(label, "[role=checkbox],[role=radio],[role=switch]") !== null);
  }

  /** Whether a box lies where scrolling cannot reach it. @param {El} el @param {DOMRect} rect */
  isOffPage(el, rect) {
    return this.isBeforePage(el, rect) || (this.drawerless !== true && !this.isInViewport(rect) && this.isInDrawer(el));
  }

  /** Like the function isInViewport, but reads the size of the viewport once. @param {DOMRect} rect */
  isInViewport({ left, top, right, bottom }) {
    if (this.width < 0) {
      this.width = innerWidth;
      this.height = innerHeight;
    }
    return right > 0 && bottom > 0 && left < this.width && top < this.height;
  }

  /** Whether a box lies left of or above the page. @param {El} el @param {DOMRect} rect */
  isBeforePage(el, rect) {
    const left = rect.right + this.x <= 0 && getComputedStyle(/** @type {El} */ (safe.documentElement(this.doc))).direction !== "rtl";
    if (!left && rect.bottom + this.y > 0) return false;
    for (let n = flatElement(el), up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
      if (typeof n.scrollLeft === "number" && tagOf(n) !== "html" && (n.scrollLeft !== 0 || n.scrollTop !== 0)) return false;
    }
    return true;
  }

  /** Whether an element is in a box that is fixed outside of the viewport. @param {El} el */
  isInDrawer(el) {
    if (this.drawerless === null) this.drawerless = !this.labels.hasShadowTrees && this.drawersOf(this.doc).length === 0;
    if (this.drawerless) return false;
    for (let n = el; ;) {
      const tree = treeOf(n);
      const drawers = this.drawersOf(tree);
      if (drawers.length > 0 && drawers.some((drawer) => safe.contains(drawer, n))) return true;
      if (!isShadow(tree)) return false;
      n = tree.host;
    }
  }

  /** Returns the boxes of a tree that are fixed wholly outside of the viewport. @param {Tree} tree */
  drawersOf(tree) {
    let drawers = this.drawers.get(tree);
    if (drawers === undefined) {
      drawers = [];
      const fixed = inTree(tree, this.styles.of(tree).fixed);
      for (let i = 0; i < fixed.length && i < MAX_FIXED; i++) {
        const rect = safe.rect(fixed[i]);
        // A fixed box inside a transformed element is fixed to that element, which is then its
        // offsetParent.
        if (hasArea(rect) && !isInViewport(rect) && fixed[i].offsetParent === null && getComputedStyle(fixed[i]).position === "fixed") drawers.push(fixed[i]);
      }
      this.drawers.set(tree, drawers);
    }
    return drawers;
  }

  /** @param {El} el @param {string} tag @returns {boolean} */
  isClipped(el, tag) {
    if (!this.clipsItself(el)) return false;
    return isToggle(el, tag) ? this.labelOf(el) === null : !mayHaveFace(el, tag) || faceOf(el) === null;
  }

  /** @param {El} el */
  clipsItself(el) {
    if (!this.styles.clips && !hasAttr(el, "style")) return false;
    const style = getComputedStyle(el);
    return clipsAll(style.clipPath) || (style.clip !== "auto" && /absolute|fixed/.test(style.position) && clipsAll(style.clip));
  }

  /** Whether a collapsed box around the element hides it, and the element has no face. @param {El} el */
  isCollapsed(el) {
    const box = this.collapsedAround(el);
    return box !== null && !(isTuckedAway(el, box) && faceOf(el) !== null);
  }

  /** Returns the collapsed box around the element that hides it, or null. @param {El} el @returns {El | null} */
  collapsedAround(el) {
    if (!this.styles.overflows || !this.isBelowCollapsed(el)) return null;
    for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; up++) {
      const { position } = getComputedStyle(n);
      if (position === "fixed" || isInTopLayer(n)) return null;
      n = (position === "absolute" && n.offsetParent) || flatElement(n);
      if (n && isCollapsedBox(n)) return n;
    }
    return null;
  }

  /** Whether a field is in a box that only serves to hide it. @param {El} el */
  isTucked(el) {
    const box = tagOf(el) === "textarea" || isCombo(el) ? this.collapsedAround(el) : null;
    return box !== null && isTuckedAway(el, box);
  }

  /**
   * Whether any flat ancestor is collapsed. The result is cached for the ancestors.
   * @param {El} el
   */
  isBelowCollapsed(el) {
    const up = [];
    let answer = false;
    for (let n = flatElement(el); n; n = flatElement(n)) {
      const known = this.collapsed.get(n);
      if (known !== undefined) {
        answer = known;
        break;
      }
      up.push(n);
    }
    for (let i = up.length - 1; i >= 0; i--) {
      answer = answer || isCollapsedBox(up[i]);
      this.collapsed.set(up[i], answer);
    }
    return answer;
  }

  // ---- image maps ---------------------------------------------------------------------------

  /** Returns the image of an area, preferably a visible one if there are several. @param {El} area */
  imageOf(area) {
    const map = closestOf(area, "map");
    const name = map && (attr(map, "name") || attr(map, "id"));
    if (!name) return null;
    const root = treeOf(area);
    if (!isDocument(root)) return findImage(root.querySelectorAll("img[usemap]"), name);
    if (!this.images) {
      this.images = new Map();
      for (const image of safe.querySelectorAll(root, "img[usemap]")) {
        const key = (attr(image, "usemap") || "").replace(/^[^#]*#/, "");
        const known = this.images.get(key);
        if (!known || !safe.checkVisibility(known, VISIBLE)) this.images.set(key, image);
      }
    }
    return this.images.get(name) || null;
  }

  /** Returns the bounds of an area within its image. @param {El} area */
  areaRect(area) {
    const image = this.imageOf(area);
    const shape = image && shapeOf(area, safe.rect(image));
    return shape ? shape.bounds : EMPTY_RECT;
  }
}

/** Whether the frame of the document is not shown. A transparent frame counts as shown, because pages lay one over a drawn control. */
function isUnseenFrame() {
  if (window.parent === window) return false;
  if (innerWidth === 0 || innerHeight === 0) return true;
  for (let /** @type {Window} */ w = window, up = 0; w !== w.parent && up < MAX_ANCESTORS; w = w.parent, up++) {
    const host = frameElementOf(w);
    if (!host) return false; // of another origin
    if (!safe.checkVisibility(host, VISIBLE_OR_TRANSPARENT)) return true;
  }
  return false;
}

/** Returns the element that contains a window, or null if the element is of another origin. @param {Window} w */
function frameElementOf(w) {
  try {
    return /** @type {El | null} */ (w.frameElement);
  } catch {
    return null;
  }
}

/**
 * Tags that are listed with the boxes of their children if they have no box themselves, such as a
 * link around a floating image.
 */
const BOXLESS_TAGS = new Set(["a", "button", "div", "span", "summary", "details"]);

/** @param {NodeListOf<El>} images @param {string} name */
function findImage(images, name) {
  let found = null;
  for (const image of images) {
    if ((attr(image, "usemap") || "").replace(/^[^#]*#/, "") !== name) continue;
    if (safe.checkVisibility(image, VISIBLE)) return image;
    found = found || image;
  }
  return found;
}

/** Whether a part is visible by its styles. @param {El | Text} part */
function isPartVisibleByStyle(part) {
  if (isElement(part)) return safe.checkVisibility(part, VISIBLE);
  let n = flatParent(part);
  while (n && isElement(n) && getComputedStyle(n).display === "contents") n = flatParent(n);
  return n !== null && isElement(n) && safe.checkVisibility(n, VISIBLE);
}

/** @param {El | Text} part @returns {DOMRect} */
function partRect(part) {
  if (isElement(part)) return safe.checkVisibility(part, VISIBLE) ? safe.rect(part) : EMPTY_RECT;
  const range = new Range();
  range.selectNodeContents(part);
  return range.getBoundingClientRect();
}

/** Whether a part of a box is in the viewport. @param {DOMRect} r */
function isInViewport(r) {
  return r.right > 0 && r.bottom > 0 && r.left < innerWidth && r.top < innerHeight;
}

/** @param {DOMRect} r */
function hasArea(r) {
  return r.width > 0 && r.height > 0;
}

/** Returns the box of a straight line, which has no area without its stroke. @param {El} shape @param {DOMRect} r @returns {DOMRect} */
function strokedRect(shape, r) {
  if (r.width === 0 && r.height === 0) return r;
  const style = getComputedStyle(shape), stroke = style.stroke === "none" ? 0 : parseFloat(style.strokeWidth) || 0;
  const x = r.width === 0 ? stroke : 0, y = r.height === 0 ? stroke : 0;
  return new DOMRect(r.left - x / 2, r.top - y / 2, r.width + x, r.height + y);
}

/** @param {DOMRect[]} rects at least one */
function union(rects) {
  const left = Math.min(...rects.map((r) => r.left)), top = Math.min(...rects.map((r) => r.top));
  return new DOMRect(left, top, Math.max(...rects.map((r) => r.right)) - left, Math.max(...rects.map((r) => r.bottom)) - top);
}

/** Whether a link leads to a fragment of the same page. @param {El} el */
function isSkipLink(el) {
  const href = attr(el, "href");
  return href !== null && href.length > 1 && href[0] === "#";
}

/** @param {CSSStyleDeclaration} style */
function clips(style) {
  return style.overflowX !== "visible" || style.overflowY !== "visible";
}

/** Whether a value of clip or clip-path clips everything. @param {string} value */
function clipsAll(value) {
  if (!value || value === "none" || value === "auto") return false;
  const inset = /^inset\(([^)]*?)(?: round .*)?\)/.exec(value);
  if (inset) {
    const sides = inset[1].split(" ").map((s) => (s.endsWith("%") ? parseFloat(s) : 0));
    const [top, right = top, bottom = top, left = right] = sides;
    return top + bottom >= 100 || left + right >= 100;
  }
  const rect = /^rect\(([^)]*)\)/.exec(value);
  if (rect) {
    const [top, right, bottom, left] = rect[1].split(/[ ,]+/).map(parseFloat);
    return right - left <= 1 || bottom - top <= 1;
  }
  return /^circle\(0(px|%)?[ )]/.test(value);
}

/** Whether an element has no size and clips its content. @param {El} n */
function isCollapsedBox(n) {
  const width = n.clientWidth, height = n.clientHeight;
  if (!(width === 0 || height === 0 || (width <= 1 && height <= 1)) || isSVG(n)) return false;
  const tag = tagOf(n);
  if (tag === "html" || tag === "body") return false;
  const style = getComputedStyle(n);
  return style.display !== "inline" && style.display !== "contents" && clips(style);
}

/** The maximum width and height of a box that hides the field of an editor or a combobox. */
const MAX_HIDING = 3;

/**
 * Whether a collapsed box exists to hide a combobox, or the text field of an editor that draws its text itself. Other collapsed boxes
 * show their content when they open.
 * @param {El} field @param {El} box
 */
function isTuckedAway(field, box) {
  const tag = tagOf(field);
  return (tag === "textarea" || isCombo(field)) && mayHaveFace(field, tag) && box.offsetWidth <= MAX_HIDING && box.offsetHeight <= MAX_HIDING;
}

/** Whether an element is in the top layer, where nothing clips it. @param {El} n */
function isInTopLayer(n) {
  return (tagOf(n) === "dialog" || hasAttr(n, "popover")) && safe.matches(n, ":modal,:popover-open");
}

/**
 * Returns the shape of an area of an image map: its bounds in the viewport, and points inside it.
 * Null if it has no size. Chromium counts coordinates from the corner of the image's border, not of
 * its content.
 * @param {El} area @param {DOMRect} box
 * @returns {{bounds: DOMRect, points: {x: number, y: number}[]} | null}
 */
function shapeOf(area, box) {
  const c = (attr(area, "coords") || "").split(/[\s,;]+/, 400).map(parseFloat).filter((n) => Math.abs(n) < 1e6);
  const kind = (attr(area, "shape") || "rect").toLowerCase();
  let sides = [0, 0, box.width, box.height];
  let points = null;
  if (kind.startsWith("circ")) {
    if (c.length < 3 || c[2] <= 0) return null;
    sides = [c[0] - c[2], c[1] - c[2], c[0] + c[2], c[1] + c[2]];
  } else if (kind.startsWith("poly")) {
    if (c.length < 6) return null;
    const xs = c.filter((_, i) => i % 2 === 0).slice(0, c.length >> 1), ys = c.filter((_, i) => i % 2 === 1);
    sides = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    points = insidePoints(xs, ys);
  } else if (kind !== "default") {
    if (c.length < 4) return null;
    sides = [Math.min(c[0], c[2]), Math.min(c[1], c[3]), Math.max(c[0], c[2]), Math.max(c[1], c[3])];
  }
  const left = Math.max(0, sides[0]), top = Math.max(0, sides[1]);
  const width = Math.min(box.width, sides[2]) - left, height = Math.min(box.height, sides[3]) - top;
  if (!(width > 0 && height > 0)) return null;
  points = points || [{ x: left + width / 2, y: top + height / 2 }];
  return { bounds: new DOMRect(box.x + left, box.y + top, width, height), points: points.map((p) => ({ x: box.x + p.x, y: box.y + p.y })) };
}

/**
 * Returns points inside a polygon: at some heights, the middle of the widest segment that is
 * inside.
 * @param {number[]} xs @param {number[]} ys
 */
function insidePoints(xs, ys) {
  const top = Math.min(...ys), height = Math.max(...ys) - top;
  const points = [];
  for (const part of [0.5, 0.3, 0.7, 0.15, 0.85]) {
    const y = top + height * part;
    const cuts = [];
    for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
      if (ys[i] > y !== ys[j] > y) cuts.push(xs[i] + ((y - ys[i]) / (ys[j] - ys[i])) * (xs[j] - xs[i]));
    }
    cuts.sort((a, b) => a - b);
    let best = null;
    for (let i = 0; i + 1 < cuts.length; i += 2) {
      const width = cuts[i + 1] - cuts[i];
      if (!best || width > best.width) best = { width, x: (cuts[i] + cuts[i + 1]) / 2 };
    }
    if (best) points.push({ x: best.x, y });
  }
  return points;
}

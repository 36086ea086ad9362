// @ts-check
// Visibility: what a person can see of an element, and where. An element is not listed when it
//
//   - is not rendered, hidden, transparent or has no size (a transparent checkbox, radio or file input counts:
//     a box beside it is drawn in its place);
//   - is clipped to nothing, by itself or by a collapsed box around it;
//   - lies left of or above the page, where scrolling cannot reach it.
//
// Links to a place on the same page are listed even when they are clipped or off the page: skip links are, until
// they have the focus, and the keyboard reaches them. Elements that are hidden from assistive technology alone
// (aria-hidden) are listed, since a person sees and uses them, and so are elements without pointer events, since
// the keyboard reaches them.
//
// A visually hidden checkbox, radio or file input, clipped or shrunk to a pixel, is listed with the box of its
// label, where a click reaches it. When it is not rendered at all, its label stands in for it; see Hints.proxyLabels.

/** How many parts of an element without a box are looked at. */
const MAX_PARTS = 64;
/** How far up a clipped element's containing blocks are followed. */
const MAX_UP = 256;
const NOWHERE = new DOMRect();

class Visibility {
  /** @param {Document} doc @param {Labels} labels @param {Styles} styles */
  constructor(doc, labels, styles) {
    this.doc = doc;
    this.labels = labels;
    this.styles = styles;
    this.x = this.y = 0;
    /** Whether a flat ancestor is collapsed, by element. @type {Map<El, boolean>} */
    this.collapsed = new Map();
    /** The images that show a map, by its name; null: not looked for yet. @type {Map<string, El> | null} */
    this.images = null;
  }

  /** Forgets what was read of the layout. */
  begin() {
    this.labels.ofMany.clear();
    this.collapsed.clear();
    this.images = null;
  }

  /** @param {El} el @param {string} tag */
  isVisible(el, tag) {
    return this.isVisibleByStyle(el, tag) && this.hasVisibleBox(el, tag, this.rect(el, tag));
  }

  // ---- by the styles ------------------------------------------------------------------------

  /** Whether the styles of an element show it; this needs no layout. @param {El} el @param {string} tag @returns {boolean} */
  isVisibleByStyle(el, tag) {
    if (safe.checkVisibility(el, VISIBLE)) return true;
    if (tag === "area") {
      const image = this.imageOf(el);
      return image !== null && safe.checkVisibility(image, VISIBLE);
    }
    if (isToggle(el, tag)) return safe.checkVisibility(el, VISIBLE_OR_TRANSPARENT);
    return this.isContents(el) && this.parts(el).some((part) => isPartStyled(part));
  }

  /** Whether the element has no box, but what is in it may have. @param {El} el */
  isContents(el) {
    return (this.styles.contents || hasAttr(el, "style")) && getComputedStyle(el).display === "contents";
  }

  /** What stands in the place of an element without a box: elements with one, and texts. @param {El} el */
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

  /** Where the element is, relative to the viewport. @param {El} el @param {string} tag @returns {DOMRect} */
  rect(el, tag) {
    if (tag === "area") return this.areaRect(el);
    const rect = safe.rect(el);
    if (rect.width > 0 && rect.height > 0) {
      if (!isToggle(el, tag) || !this.isVisuallyHidden(el, tag, rect)) return rect;
      const label = this.labelOf(el);
      return label ? this.rect(label, "label") : rect;
    }
    if (!OPEN_TAGS.has(tag) ? !this.isContents(el) : clips(getComputedStyle(el))) return rect;
    const parts = this.parts(el).map(partRect).filter(hasArea);
    return parts.length ? union(parts) : rect;
  }

  /** Whether the box of an element can be seen. @param {El} el @param {string} tag @param {DOMRect} rect from rect @returns {boolean} */
  hasVisibleBox(el, tag, rect) {
    if (!(rect.width > 0 && rect.height > 0)) return false;
    if (tag === "a" && isSkipLink(el)) return true;
    return !this.isOffPage(el, rect) && !this.isClipped(el, tag) && !this.isCollapsed(el);
  }

  /** Whether a control is visually hidden: it is there for the keyboard and assistive technology. @param {El} el @param {string} tag @param {DOMRect} rect */
  isVisuallyHidden(el, tag, rect) {
    return (rect.width <= 1 && rect.height <= 1) || this.isOffPage(el, rect) || this.clipsItself(el);
  }

  /** The first label of a control that can be seen. @param {El} control @returns {El | null} */
  labelOf(control) {
    for (const label of this.labels.of(control)) if (this.isVisible(label, "label")) return label;
    return null;
  }

  /** Whether it lies where scrolling cannot reach it. @param {El} el @param {DOMRect} rect */
  isOffPage(el, rect) {
    const left = rect.right + this.x <= 0 && getComputedStyle(/** @type {El} */ (safe.documentElement(this.doc))).direction !== "rtl";
    if (!left && rect.bottom + this.y > 0) return false;
    for (let n = flatElement(el), up = 0; n && up < MAX_UP; n = flatElement(n), up++) {
      if (typeof n.scrollLeft === "number" && tagOf(n) !== "html" && (n.scrollLeft !== 0 || n.scrollTop !== 0)) return false;
    }
    return true;
  }

  /** @param {El} el @param {string} tag @returns {boolean} */
  isClipped(el, tag) {
    return this.clipsItself(el) && !(isToggle(el, tag) && this.labelOf(el) !== null);
  }

  /** @param {El} el */
  clipsItself(el) {
    if (!this.styles.clips && !hasAttr(el, "style")) return false;
    const style = getComputedStyle(el);
    return clipsAll(style.clipPath) || (style.clip !== "auto" && /absolute|fixed/.test(style.position) && clipsAll(style.clip));
  }

  /** Whether a collapsed box around the element hides it. @param {El} el */
  isCollapsed(el) {
    if (!this.styles.overflows || !this.isBelowCollapsed(el)) return false;
    for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_UP; up++) {
      const { position } = getComputedStyle(n);
      if (position === "fixed" || isInTopLayer(n)) return false;
      n = (position === "absolute" && n.offsetParent) || flatElement(n);
      if (n && isCollapsedBox(n)) return true;
    }
    return false;
  }

  /** Whether any ancestor is collapsed; the answer is kept for the siblings. @param {El} el */
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

  /** The visible image that an area is a part of. @param {El} area */
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

  /** The bounds of an area within its image. @param {El} area */
  areaRect(area) {
    const image = this.imageOf(area);
    const shape = image && shapeOf(area, safe.rect(image));
    return shape ? shape.bounds : NOWHERE;
  }
}

/** Tags that are listed by the boxes in them when they have none themselves: a link around a floating image. */
const OPEN_TAGS = new Set(["a", "button", "div", "span", "summary", "details"]);

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

/** @param {El | Text} part */
function isPartStyled(part) {
  if (isElement(part)) return safe.checkVisibility(part, VISIBLE);
  let n = flatParent(part);
  while (n && isElement(n) && getComputedStyle(n).display === "contents") n = flatParent(n);
  return n !== null && isElement(n) && safe.checkVisibility(n, VISIBLE);
}

/** @param {El | Text} part @returns {DOMRect} */
function partRect(part) {
  if (isElement(part)) return safe.checkVisibility(part, VISIBLE) ? safe.rect(part) : NOWHERE;
  const range = new Range();
  range.selectNodeContents(part);
  return range.getBoundingClientRect();
}

/** @param {DOMRect} r */
function hasArea(r) {
  return r.width > 0 && r.height > 0;
}

/** @param {DOMRect[]} rects at least one */
function union(rects) {
  const left = Math.min(...rects.map((r) => r.left)), top = Math.min(...rects.map((r) => r.top));
  return new DOMRect(left, top, Math.max(...rects.map((r) => r.right)) - left, Math.max(...rects.map((r) => r.bottom)) - top);
}

/** A link to a place on the same page. @param {El} el */
function isSkipLink(el) {
  const href = attr(el, "href");
  return href !== null && href.length > 1 && href[0] === "#";
}

/** @param {CSSStyleDeclaration} style */
function clips(style) {
  return style.overflowX !== "visible" || style.overflowY !== "visible";
}

/** Whether a value of clip or clip-path leaves nothing. @param {string} value */
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

/** Whether an element is in the top layer, which nothing clips. @param {El} n */
function isInTopLayer(n) {
  return (tagOf(n) === "dialog" || hasAttr(n, "popover")) && safe.matches(n, ":modal,:popover-open");
}

/**
 * The shape of an area: its bounds in the image, and points that are inside it; null when it has none. Chromium
 * counts from the corner of the image's border, not of its content.
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
 * Points inside a polygon: on some of its rows, the middle of the widest stretch that is inside.
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
    for (let i = 0; i + 1 < cuts.length; i += 2) if (!best || cuts[i + 1] - cuts[i] > best.wide) best = { wide: cuts[i + 1] - cuts[i], x: (cuts[i] + cuts[i + 1]) / 2 };
    if (best) points.push({ x: best.x, y });
  }
  return points;
}

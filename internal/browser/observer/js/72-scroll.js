// @ts-check
// Scroll positions: reading them, and restoring them in another document of the same URL.

/** Limits of what is reported: scrolled boxes, their depth, and their siblings. */
const PLACE_BOXES = 4, PLACE_DEPTH = 64, PLACE_AMONG = 10_000;

const scrollAccess = {
  /** @type {(doc: Document) => El | null} */
  scroller: getter(Document, "scrollingElement"),
  /** @type {(el: El) => El | null} */
  parent: getter(Node, "parentElement"),
  /** @type {(el: El) => El | null} */
  before: getter(Element, "previousElementSibling"),
  /** @type {(el: El, to: ScrollToOptions) => void} */
  scroll: method(Element, "scrollTo"),
};

/** Which child of which child an element is, from the root; null: it cannot be said. @param {El} el */
function pathTo(el) {
  /** @type {number[]} */
  const path = [];
  const root = safe.documentElement(document);
  for (let /** @type {El | null} */ n = el; n !== root; n = scrollAccess.parent(n)) {
    if (!n || path.length === PLACE_DEPTH) return null;
    let i = 0;
    for (let other = scrollAccess.before(n); other; other = scrollAccess.before(other)) {
      if (++i > PLACE_AMONG) return null;
    }
    path.unshift(i);
  }
  return path;
}

/** The element at the end of a path, or null. @param {number[]} path */
function atPath(path) {
  let el = safe.documentElement(document);
  for (let i of path) {
    for (el = el && slow.firstElementChild(el); el && i > 0; i--) el = slow.nextElementSibling(el);
  }
  return el;
}

/** Where the document is scrolled to, and the boxes around its middle. */
function scrollPosition() {
  /** @type {{path: number[], x: number, y: number}[]} */
  const boxes = [];
  const scroller = scrollAccess.scroller(document);
  let el = safe.elementFromPoint(document, innerWidth / 2, innerHeight / 2);
  for (let depth = 0; el && depth < 1000 && boxes.length < PLACE_BOXES; el = scrollAccess.parent(el), depth++) {
    const x = slow.scrollLeft(el), y = slow.scrollTop(el);
    if (el === scroller || (!x && !y)) continue;
    const path = pathTo(el);
    if (path) boxes.push({ path, x, y });
  }
  return { x: scrollX, y: scrollY, boxes };
}

/** @param {number} is @param {number} want */
const isNear = (is, want) => Math.abs(is - want) <= 1;

/** Scrolls as far as there is; whether that is where it was. @param {{x: number, y: number, boxes: {path: number[], x: number, y: number}[]}} to */
function scrollOnce(to) {
  scrollTo({ left: to.x, top: to.y, behavior: "instant" });
  let there = isNear(scrollX, to.x) && isNear(scrollY, to.y);
  for (const { path, x, y } of to.boxes) {
    const el = atPath(path);
    if (el) scrollAccess.scroll(el, { left: x, top: y, behavior: "instant" });
    there = !!el && there && isNear(slow.scrollLeft(el), x) && isNear(slow.scrollTop(el), y);
  }
  return there;
}

/**
 * Goes back to a place: again at every frame, for what is to be scrolled may come later, until it is reached or time is up.
 * @param {{x: number, y: number, boxes: {path: number[], x: number, y: number}[], patience: number}} to
 */
async function restoreScroll(to) {
  const end = performance.now() + to.patience;
  while (!scrollOnce(to)) {
    if (performance.now() >= end) return false;
    await nextFrame();
  }
  return true;
}

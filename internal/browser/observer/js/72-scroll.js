// @ts-check
// Functions that read scroll positions, restore them in another document with the same URL, and scroll an element into view
// for a screenshot. They implement the commands "scrollPosition", "restoreScroll" and "reveal", and keep no state.

/** The limits for reported boxes: their number, their depth, and their siblings. */
const SCROLLED_BOXES = 4, SCROLLED_DEPTH = 64, SCROLLED_SIBLINGS = 10_000;

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

/**
 * Returns the path of child indexes from the root to an element, or null in shadow trees and beyond the limits.
 * @param {El} el
 */
function pathTo(el) {
  /** @type {number[]} */
  const path = [];
  const root = safe.documentElement(document);
  for (let /** @type {El | null} */ n = el; n !== root; n = scrollAccess.parent(n)) {
    if (!n || path.length === SCROLLED_DEPTH) return null;
    let i = 0;
    for (let other = scrollAccess.before(n); other; other = scrollAccess.before(other)) {
      if (++i > SCROLLED_SIBLINGS) return null;
    }
    path.unshift(i);
  }
  return path;
}

/** Returns the element at the end of a path, or null. @param {number[]} path */
function atPath(path) {
  let el = safe.documentElement(document);
  for (let i of path) {
    for (el = el && slow.firstElementChild(el); el && i > 0; i--) el = slow.nextElementSibling(el);
  }
  return el;
}

/**
 * Returns the scroll positions of the document and of the boxes around the middle of the viewport.
 */
function scrollPosition() {
  /** @type {{path: number[], x: number, y: number}[]} */
  const boxes = [];
  const scroller = scrollAccess.scroller(document);
  let el = safe.elementFromPoint(document, innerWidth / 2, innerHeight / 2);
  for (let depth = 0; el && depth < 1000 && boxes.length < SCROLLED_BOXES; el = scrollAccess.parent(el), depth++) {
    const x = slow.scrollLeft(el), y = slow.scrollTop(el);
    if (el === scroller || (!x && !y)) continue;
    const path = pathTo(el);
    if (path) boxes.push({ path, x, y });
  }
  return { x: scrollX, y: scrollY, boxes };
}

/** @param {number} is @param {number} want */
const isNear = (is, want) => Math.abs(is - want) <= 1;

/**
 * Scrolls to the positions as far as possible. Returns whether they are reached.
 * @param {{x: number, y: number, boxes: {path: number[], x: number, y: number}[]}} to
 */
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
 * Restores scroll positions. It retries at every frame, because content may be added later, until they are reached or the
 * time is up.
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

/**
 * Scrolls an element to the middle of every scroll container and frame, or to the start if it is larger than the viewport.
 * It waits until a frame in another process is drawn, which is later than its page. It returns false for a removed element.
 * @param {Agent} agent @param {{ref: number}} request
 */
async function reveal(agent, { ref }) {
  const rec = agent.model.records.connected(ref);
  if (!rec) return false;
  const { width, height } = safe.rect(rec.node);
  /** @type {ScrollIntoViewOptions} */
  const how = { block: height > innerHeight ? "start" : "center", inline: width > innerWidth ? "start" : "center", behavior: "instant" };
  Element.prototype.scrollIntoView.call(rec.node, how);
  if (window !== top) await nextDrawnFrame();
  return true;
}

/** The maximum wait for the drawing of a frame that was scrolled into view, in milliseconds. */
const DRAWN_AT_MOST = 2000;

/**
 * Resolves when this frame is drawn. A frame out of view is not drawn.
 * @returns {Promise<void>}
 */
function nextDrawnFrame() {
  return new Promise((resolve) => {
    const timer = ownTimer(resolve, DRAWN_AT_MOST);
    ownFrame(() => ownFrame(() => {
      clearTimeout(timer);
      resolve();
    }));
  });
}

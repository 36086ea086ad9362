// @ts-check
// Reveals: text that is in the document and not shown, until a class, a style, an attribute or an
// animation shows it while the daemon acts.
//
// Reveals owns the elements that were not shown when the act began, or when they were added, and
// have text in them. Notices (58-notices.js) takes those that are shown at each check. What fades
// in has opacity 0 for its first frame, what fades out is there until its last one, what unfolds has no height at first, and a
// drawer slides in from outside of the viewport: waits says that such an animation is under way, for Rest (61-rest.js) and
// settle (70-commands.js). Everything is bounded: an act waits REVEAL_AT_MOST for all animations together.

/** How many elements with attributes are looked at when an act begins, and how many are kept. */
const MAX_LOOKED_AT = 3000, MAX_UNSHOWN = 300;
/** How long animations that show or hide something are waited for in one act, in milliseconds. */
const REVEAL_AT_MOST = 1000;
/** Elements of the head, and others without text of their own. */
const NEVER_SHOWN = new Set(["meta", "link", "base", "title", "source", "track", "param"]);

class Reveals {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The elements that are not shown. @type {Set<El>} */
    this.unshown = new Set();
    /** Those of them that were shown in this act. @type {Set<El>} */
    this.shown = new Set();
    /** The animations that run, of the check that is under way; null: not read yet. @type {Animation[] | null} */
    this.animations = null;
    /** An animation shows or hides something that matters. */
    this.animated = false;
    /** When that was first so in this act; 0: not yet. */
    this.since = 0;
    /** The time of the document when the act began. */
    this.begun = 0;
    /** The trees that were looked at in this act, how many elements more may be, and how many trees there were. @type {Set<Tree>} */
    this.looked = new Set();
    this.left = this.trees = 0;
  }

  /** An act begins. */
  begin() {
    this.clear();
    this.begun = Number(this.model.doc.timeline.currentTime);
    this.model.visibility.begin();
    this.left = MAX_LOOKED_AT;
    this.lookAtTrees();
  }

  /** Looks at the trees that it has not looked at in this act: scans find shadow trees during it, too. */
  lookAtTrees() {
    this.trees = this.model.sweep.follows;
    for (const tree of [this.model.doc, ...this.model.sweep.shadows]) {
      if (this.left <= 0) return;
      if (this.looked.has(tree)) continue;
      this.looked.add(tree);
      this.left = this.look(queryAll(tree, "*"), this.left, isShadow(tree));
    }
  }

  clear() {
    this.unshown.clear();
    this.shown.clear();
    this.looked.clear();
    this.left = 0;
    this.animations = null;
    this.animated = false;
    this.since = 0;
  }

  /**
   * Notes which of some elements, in document order, are not shown and have text.
   * @param {ArrayLike<El>} elements @param {number} left how many may be looked at
   * @param {boolean} [bare] also those without attributes, which the sheets of shadow trees hide by their tags
   */
  look(elements, left, bare) {
    /** @type {El | null} */
    let around = null;
    for (let i = 0; i < elements.length && left > 0; i++) {
      const el = elements[i];
      if (!bare && hasNoAttributes(el)) continue;
      left--;
      if (around !== null && safe.contains(around, el)) continue;
      if (this.isShown(el) || !this.add(el)) continue;
      around = el;
      if (this.unshown.size >= MAX_UNSHOWN) return 0;
    }
    return left;
  }

  /** Whether an element is drawn, is not folded, and is in no drawer that has not slid in yet. @param {El} el */
  isShown(el) {
    return isShown(el) && (PHRASING.has(tagOf(el)) || !isCollapsedBox(el)) && !this.model.visibility.isInDrawer(el);
  }

  /** Keeps an element that is not shown, if it has text. Reports whether it does. @param {El} el */
  add(el) {
    const tag = tagOf(el);
    if (NO_MESSAGE.has(tag) || NEVER_SHOWN.has(tag) || this.unshown.size >= MAX_UNSHOWN || !saysText(el)) return false;
    this.unshown.add(el);
    return true;
  }

  /** A check begins. Returns the elements that are shown now, and notes what is not shown in them. */
  take() {
    this.animations = null;
    this.animated = false;
    if (this.left > 0 && this.trees !== this.model.sweep.follows) this.lookAtTrees();
    /** @type {El[]} */
    const shown = [];
    for (const el of this.unshown) {
      const connected = safe.isConnected(el);
      if (connected && !this.isShown(el)) continue;
      this.unshown.delete(el);
      if (connected) shown.push(el);
      if (connected && this.shown.size < MAX_UNSHOWN) this.shown.add(el);
    }
    for (const el of shown) this.look(queryWithin(el, "*"), MAX_UNSHOWN);
    return shown;
  }

  /** Notes what is not shown in an element that was added. @param {El} el */
  noteAdded(el) {
    if (!this.isShown(el)) this.add(el);
    else this.look(queryWithin(el, "*"), MAX_UNSHOWN);
  }

  /** A check ends. Waits for what an animation is about to show or to take away, and for drawers that slide in or out. */
  awaitAll() {
    for (const el of this.unshown) {
      if (this.animated) return;
      this.await(el);
    }
    if (!this.animated) this.animated = this.running().some((animation) => slides(animation) || (this.isOfAct(animation) && folds(animation)));
  }

  /** Whether an animation of this act runs, which a script may have begun without a change of the document. */
  isAnimating() {
    this.animations = null;
    return this.running().some((animation) => this.isOfAct(animation));
  }

  /** Whether an animation began in this act. @param {Animation} animation */
  isOfAct({ startTime }) {
    return startTime === null || Number(startTime) >= this.begun;
  }

  /** Waits for an element that is rendered and not shown if an animation shows it. @param {El} el */
  await(el) {
    if (this.animated || !safe.checkVisibility(el, RENDERED)) return;
    this.animated = this.running().some((animation) => isAnimatedWith(animation, el) && changesOpacity(animation));
  }

  /** Waits for an element that is shown if an animation makes it transparent. @param {El} el */
  awaitEnd(el) {
    if (!this.animated) this.animated = this.running().some((animation) => isAnimatedWith(animation, el) && fadesOut(animation));
  }

  /** The animations that run and end. */
  running() {
    if (this.animations === null) {
      this.animations = this.model.animations.list().filter(({ effect, playState }) =>
        playState === "running" && effect !== null && Number(effect.getComputedTiming().endTime) < Infinity);
    }
    return this.animations;
  }

  /** Whether an act goes on because of an animation. */
  waits() {
    if (!this.animated) return false;
    const now = performance.now();
    if (this.since === 0) this.since = now;
    return now - this.since < REVEAL_AT_MOST;
  }
}

/** Whether an element is drawn, or without a box of its own. @param {El} el */
function isShown(el) {
  return safe.checkVisibility(el, VISIBLE) || getComputedStyle(el).display === "contents";
}

/** Whether an animation is one of an element or of what is around it. @param {Animation} animation @param {El} el */
function isAnimatedWith({ effect }, el) {
  const target = /** @type {KeyframeEffect} */ (effect).target;
  if (target === null || target === undefined) return false;
  const around = /** @type {El} */ (target);
  return safe.contains(around, el) || (isShadow(safe.getRootNode(around)) && isWithinNode(el, around));
}

/** How many slots of an element, and how much of what is assigned to them and to slots in that, is looked at. */
const MAX_SLOTS = 8, MAX_SLOTTED = 50;

/** Whether an element has text in it, or shows text of its host. @param {El} el */
function saysText(el) {
  return hasText(safe.textContent(el)) || slottedIn(el).some((node) => hasText(safe.textContent(node)));
}

/** What of the content of its host an element in a shadow tree shows, also what another host around that one slots. @param {El} el */
function slottedIn(el) {
  /** @type {(El | Text)[]} */
  const nodes = [];
  for (let /** @type {El | Text} */ n = el, i = 0; n && i <= MAX_SLOTTED; n = nodes[i++]) {
    if (!isElement(n) || !isShadow(safe.getRootNode(n))) continue;
    const slots = tagOf(n) === "slot" ? [n] : [...queryWithin(n, "slot")].slice(0, MAX_SLOTS);
    for (const slot of slots) if (nodes.length < MAX_SLOTTED) nodes.push(...slot.assignedNodes({ flatten: true }).slice(0, MAX_SLOTTED));
  }
  return nodes;
}

const RENDERED = { opacityProperty: false, visibilityProperty: false, contentVisibilityAuto: false };

/** Whether an animation is one of what shows or hides an element. @param {Animation} animation */
function changesOpacity({ effect }) {
  return /** @type {KeyframeEffect} */ (effect).getKeyframes().some((frame) => frame.opacity !== undefined || frame.visibility !== undefined);
}

/** Properties that move a box. @type {(keyof ComputedKeyframe)[]} */
const SLIDING = ["transform", "translate", "left", "right", "top", "bottom", "marginLeft", "marginRight", "marginTop", "marginBottom", "width", "height"];

/** Whether an animation slides a box with text that floats above the page into the viewport, or out of it. @param {Animation} animation */
function slides({ effect }) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (effect);
  if (!target || pseudoElement || !saysText(/** @type {El} */ (target))) return false;
  const { left, right, top, bottom } = safe.rect(/** @type {El} */ (target));
  if (left > 0 && right < innerWidth && top > 0 && bottom < innerHeight) return false; // a drawer that leaves begins at an edge
  if (!/^(?:fixed|absolute)$/.test(getComputedStyle(target).position)) return false;
  return /** @type {KeyframeEffect} */ (effect).getKeyframes().some((frame) => SLIDING.some((name) => frame[name] !== undefined));
}

/** Whether an animation ends in full transparency. @param {Animation} animation */
function fadesOut({ effect }) {
  const frames = /** @type {KeyframeEffect} */ (effect).getKeyframes();
  return frames.length > 0 && Number(frames[frames.length - 1].opacity) === 0;
}

/** Properties that fold a box. @type {(keyof ComputedKeyframe)[]} */
const FOLDING = ["height", "maxHeight", "blockSize", "gridTemplateRows"];

/** Whether an animation folds or unfolds a box with text, or fades it out. @param {Animation} animation */
function folds(animation) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (animation.effect);
  if (!target || pseudoElement || !saysText(/** @type {El} */ (target))) return false;
  const frames = /** @type {KeyframeEffect} */ (animation.effect).getKeyframes();
  const ends = frames.length > 0 ? [frames[0], frames[frames.length - 1]] : [];
  return fadesOut(animation) || ends.some((frame) => FOLDING.some((name) => /^0(?:px|fr|%)?$/.test(String(frame[name]))));
}

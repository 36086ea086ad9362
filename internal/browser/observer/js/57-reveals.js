// @ts-check
// Reveals finds text in the document that is hidden until a class, a style, an attribute or an animation shows it while the
// daemon acts.
//
// Reveals owns the elements with text that were hidden at the start of the act, or when they were added. At each check,
// Notices (58-notices.js) takes those that are now shown. An element that fades in has opacity 0 in its first frame. An
// element that fades out is visible until its last frame. An element that unfolds has no height at first. A drawer slides
// in from outside the viewport. waits reports whether such an animation is in progress, for Settling (61-settling.js) and settle
// (70-commands.js). All work is bounded: an act waits at most REVEAL_AT_MOST for all animations together.

/**
 * The maximum number of elements with attributes that are checked at the start of an act, and of elements that are kept.
 */
const MAX_LOOKED_AT = 3000, MAX_UNSHOWN = 300;
/** The number of elements, from the target of input upwards, whose next sibling may be a hidden part. */
const MAX_BOXES_BEFORE = 3;
/** The maximum wait per act for animations that show or hide content, in milliseconds. */
const REVEAL_AT_MOST = 1000;
/** Elements of the head, and others without text of their own. */
const NEVER_SHOWN = new Set(["meta", "link", "base", "title", "source", "track", "param"]);

class Reveals {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The hidden elements. @type {Set<El>} */
    this.unshown = new Set();
    /** The elements that became visible in this act. @type {Set<El>} */
    this.shown = new Set();
    /** The running animations at the current check, or null if they are not read yet. @type {Animation[] | null} */
    this.animations = null;
    /** Whether an animation shows or hides relevant content. */
    this.animated = false;
    /** The time at which animated first became true in this act, or 0. */
    this.since = 0;
    /** The time of the document timeline at the start of the act. */
    this.begun = 0;
    /**
     * The trees that were checked in this act, the remaining budget of elements, and the number of trees.
     * @type {Set<Tree>}
     */
    this.looked = new Set();
    this.left = this.trees = 0;
  }

  /** Starts an act. */
  begin() {
    this.clear();
    this.begun = Number(this.model.doc.timeline.currentTime);
    this.model.visibility.begin();
    this.left = MAX_LOOKED_AT;
    this.lookAtTrees();
  }

  /** Checks the trees that are not yet checked in this act. Scans may find shadow trees during the act. */
  lookAtTrees() {
    this.trees = this.model.sweep.follows;
    for (const tree of [this.model.doc, ...this.model.sweep.shadows]) {
      if (this.left <= 0) return;
      if (this.looked.has(tree)) continue;
      this.looked.add(tree);
      this.left = this.look(isShadow(tree) ? queryAll(tree, "*") : this.model.elements, this.left, isShadow(tree));
    }
  }

  /**
   * Records hidden parts without attributes after the target of input or after a box around it. A class of the target often
   * shows such a part, as in a list of questions and answers.
   * @param {El} target
   */
  lookAfter(target) {
    for (let /** @type {El | null} */ n = target, up = 0; n && up < MAX_BOXES_BEFORE; n = flatElement(n), up++) {
      const part = safe.nextElementSibling(n);
      const inner = part && safe.firstElementChild(part);
      if (part && (hasNoAttributes(part) || (inner && hasNoAttributes(inner)))) this.look(inner ? [part, inner] : [part], 2, true);
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
   * Records the hidden elements with text among elements in document order.
   * @param {ArrayLike<El>} elements @param {number} left the maximum number to check
   * @param {boolean} [bare] includes elements without attributes, which style sheets of shadow trees hide by tag
   */
  look(elements, left, bare) {
    /** @type {El | null} */
    let around = null;
    for (let i = 0, n = elements.length; i < n && left > 0; i++) {
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

  /** Whether an element is drawn, not folded, and not in a drawer that has yet to slide in. @param {El} el */
  isShown(el) {
    return isShown(el) && (PHRASING.has(tagOf(el)) || !isCollapsedBox(el)) && !this.model.visibility.isInDrawer(el);
  }

  /** Keeps a hidden element if it has text. Returns whether it has. @param {El} el */
  add(el) {
    const tag = tagOf(el);
    if (NO_MESSAGE.has(tag) || NEVER_SHOWN.has(tag) || this.unshown.size >= MAX_UNSHOWN || !hasTextToShow(el)) return false;
    this.unshown.add(el);
    return true;
  }

  /** Starts a check. Returns the elements that are now shown, and records hidden content in them. */
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

  /** Records hidden content in an added element. @param {El} el */
  watchAdded(el) {
    if (!this.isShown(el)) this.add(el);
    else this.look(queryWithin(el, "*"), MAX_UNSHOWN);
  }

  /**
   * Ends a check. Decides whether to wait for animations that show or hide content, and for drawers that slide in or out.
   */
  awaitAll() {
    for (const el of this.unshown) {
      if (this.animated) return;
      this.await(el);
    }
    if (!this.animated) this.animated = this.running().some((animation) => slides(animation) || (this.isOfAct(animation) && folds(animation)));
  }

  /** Whether an animation of this act runs. A script may have started it without a mutation. */
  isAnimating() {
    this.animations = null;
    return this.running().some((animation) => this.isOfAct(animation));
  }

  /** Whether an animation began in this act. @param {Animation} animation */
  isOfAct({ startTime }) {
    return startTime === null || Number(startTime) >= this.begun;
  }

  /** Waits for a rendered but hidden element if an animation shows it. @param {El} el */
  await(el) {
    if (this.animated || !safe.checkVisibility(el, RENDERED)) return;
    this.animated = this.running().some((animation) => isAnimatedWith(animation, el) && changesOpacity(animation));
  }

  /** Waits for the end of an animation that makes a visible element, or its backdrop, transparent. @param {El} el */
  awaitEnd(el) {
    if (!this.animated) this.animated = this.running().some((animation) => (isAnimatedWith(animation, el) || (this.isOfAct(animation) && isBackdrop(animation, el))) && fadesOut(animation));
  }

  /** Returns the running animations that have an end. */
  running() {
    if (this.animations === null) {
      this.animations = this.model.animations.list().filter(({ effect, playState }) =>
        playState === "running" && effect !== null && Number(effect.getComputedTiming().endTime) < Infinity);
    }
    return this.animations;
  }

  /** Whether the act must wait for an animation. */
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

/** Whether an animation affects an element or one of its ancestors. @param {Animation} animation @param {El} el */
function isAnimatedWith({ effect }, el) {
  const target = /** @type {KeyframeEffect} */ (effect).target;
  if (target === null || target === undefined) return false;
  const around = /** @type {El} */ (target);
  return safe.contains(around, el) || (isShadow(safe.getRootNode(around)) && isWithinNode(el, around));
}

/** Whether the target of an animation fills an element that contains it. @param {Animation} animation @param {El} el */
function isBackdrop({ effect }, el) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (effect);
  if (!target || pseudoElement || !safe.contains(el, /** @type {El} */ (target))) return false;
  const around = safe.rect(el), box = safe.rect(/** @type {El} */ (target));
  return box.width >= around.width && box.height >= around.height;
}

/** The maximum number of slots of an element to check, and of nodes that are assigned to them and to nested slots. */
const MAX_SLOTS = 8, MAX_SLOTTED = 50;

/** Whether an element has text in it, or shows text of its host. @param {El} el */
function hasTextToShow(el) {
  return hasText(safe.textContent(el)) || slottedIn(el).some((node) => hasText(safe.textContent(node)));
}

/**
 * Returns the content of its host that an element in a shadow tree shows, including content that an outer host slots.
 * @param {El} el
 */
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

/** Whether an animation changes properties that show or hide an element. @param {Animation} animation */
function changesOpacity({ effect }) {
  return /** @type {KeyframeEffect} */ (effect).getKeyframes().some((frame) => frame.opacity !== undefined || frame.visibility !== undefined);
}

/** Properties that move a box. @type {(keyof ComputedKeyframe)[]} */
const SLIDING = ["transform", "translate", "left", "right", "top", "bottom", "marginLeft", "marginRight", "marginTop", "marginBottom", "width", "height"];

/** Whether an animation slides a floating box with text into or out of the viewport. @param {Animation} animation */
function slides({ effect }) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (effect);
  if (!target || pseudoElement || !hasTextToShow(/** @type {El} */ (target))) return false;
  const { left, right, top, bottom } = safe.rect(/** @type {El} */ (target));
  if (left > 0 && right < innerWidth && top > 0 && bottom < innerHeight) return false; // a drawer that leaves starts at an edge
  if (!/^(?:fixed|absolute)$/.test(getComputedStyle(target).position)) return false;
  return /** @type {KeyframeEffect} */ (effect).getKeyframes().some((frame) => SLIDING.some((name) => frame[name] !== undefined));
}

/** Whether an element is fully transparent at the end of its animation. @param {Animation} animation */
function fadesOut({ effect }) {
  return Number(lastFrame(/** @type {KeyframeEffect} */ (effect))?.opacity ?? 1) === 0;
}

/**
 * Returns the keyframe at which an animation ends. It is the first one if the last iteration runs backwards, as when a page closes a part
 * by the reversed animation that opened it.
 * @param {KeyframeEffect} effect @returns {ComputedKeyframe | undefined}
 */
function lastFrame(effect) {
  const frames = effect.getKeyframes(), { direction, iterations } = effect.getComputedTiming();
  const isBack = direction === "reverse" || (direction === (Math.ceil(Number(iterations)) % 2 === 0 ? "alternate" : "alternate-reverse"));
  return frames[isBack ? 0 : frames.length - 1];
}

/** Properties that fold a box. @type {(keyof ComputedKeyframe)[]} */
const FOLDING = ["height", "maxHeight", "blockSize", "gridTemplateRows"];

/** Whether an animation folds or unfolds a box with text, or fades it out. @param {Animation} animation */
function folds(animation) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (animation.effect);
  if (!target || pseudoElement || !hasTextToShow(/** @type {El} */ (target))) return false;
  const frames = /** @type {KeyframeEffect} */ (animation.effect).getKeyframes();
  const ends = frames.length > 0 ? [frames[0], frames[frames.length - 1]] : [];
  return fadesOut(animation) || ends.some((frame) => FOLDING.some((name) => /^0(?:px|fr|%)?$/.test(String(frame[name]))));
}

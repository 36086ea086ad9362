// @ts-check
// Animations of the document and of its shadow trees. Each tree lists only its own animations.
//
// Animations records which animations the model has taken into account. Styles that are read during an animation differ
// from those at its end, and no mutation shows that. For the animations of scripts, the document has no event either, so
// Animations listens to the end of each running animation. An animation that holds its final styles counts as a change
// once. Agent calls markRead after each update. Layout calls mayDiffer. Reveals, Looks and Settling list the running animations.

/** The maximum numbers of animations to check and of shadow trees to search for them. */
const ANIMATIONS = 100, ANIMATED_TREES = 200;

class Animations {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The animations that the model has taken into account. @type {WeakSet<Animation>} */
    this.seen = new WeakSet();
    /** Called when an animation ends; Agent sets it. @type {() => void} */
    this.onEnd = () => {};
    this.end = () => this.onEnd();
  }

  /** Returns the animations of the document and its shadow trees that run or hold their final styles. */
  list() {
    const { doc, sweep } = this.model;
    const found = safe.getAnimations(doc).slice(0, ANIMATIONS);
    let left = ANIMATED_TREES;
    for (const root of sweep.shadows) {
      if (found.length >= ANIMATIONS || left-- <= 0) break;
      if (safe.isConnected(root)) found.push(...root.getAnimations().slice(0, ANIMATIONS));
    }
    return found;
  }

  /** Records that the model is up to date with the current animations. */
  markRead() {
    for (const animation of this.list()) {
      if (this.seen.has(animation) || isEndless(animation, this.model.doc)) continue;
      this.seen.add(animation);
      if (animation.playState === "finished" || isOfStyles(animation)) continue;
      animation.addEventListener("finish", this.end);
      animation.addEventListener("cancel", this.end);
    }
  }

  /**
   * Whether an animation runs, or holds final styles that the model has not read.
   * @param {boolean} strict endless animations count, too
   */
  mayDiffer(strict) {
    return this.list().some((animation) => {
      if (animation.playState === "running") return strict || !isEndless(animation, this.model.doc);
      return animation.playState === "finished" && !isOfStyles(animation) && !this.seen.has(animation);
    });
  }
}

/**
 * Whether an animation comes from styles. The document has an event for the end of such animations.
 * @param {Animation} animation
 */
function isOfStyles(animation) {
  return animation instanceof CSSAnimation || animation instanceof CSSTransition;
}

/**
 * Whether an animation never ends, as in a spinner, or follows the scroll position. The regular sweeps find the changes
 * of such animations.
 * @param {Animation} animation @param {Document} doc
 */
function isEndless(animation, doc) {
  return animation.timeline !== doc.timeline || (animation.effect !== null && animation.effect.getComputedTiming().endTime === Infinity);
}

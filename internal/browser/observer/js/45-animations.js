// @ts-check
// Animations: those of the document and of its shadow trees, of which each tree tells only its own.
//
// Animations knows which of them the model was read with. Styles that are read in the middle of one are others at its end,
// which no mutation shows, and of an animation that a script made, no event of the document either: the end of each that
// runs is listened to, and one that holds what it ended with is news once. Agent notes them after each update; Layout asks
// whether something may be different since; Reveals, Looks and Rest ask what runs.

/** How many animations are looked at, and of how many shadow trees. */
const ANIMATIONS = 100, ANIMATED_TREES = 200;

class Animations {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Those that the model was read with. @type {WeakSet<Animation>} */
    this.seen = new WeakSet();
    /** Called when one of them is over; Agent sets it. @type {() => void} */
    this.onEnd = () => {};
    this.end = () => this.onEnd();
  }

  /** Those in the document and in its shadow trees that run, or hold what they ended with. */
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

  /** The model is up to date with what they show now. */
  note() {
    for (const animation of this.list()) {
      if (this.seen.has(animation) || isEndless(animation, this.model.doc)) continue;
      this.seen.add(animation);
      if (animation.playState === "finished" || isOfStyles(animation)) continue;
      animation.addEventListener("finish", this.end);
      animation.addEventListener("cancel", this.end);
    }
  }

  /** Whether one runs, or holds what the model was not read with. @param {boolean} strict those without an end count, too */
  mayDiffer(strict) {
    return this.list().some((animation) => {
      if (animation.playState === "running") return strict || !isEndless(animation, this.model.doc);
      return animation.playState === "finished" && !isOfStyles(animation) && !this.seen.has(animation);
    });
  }
}

/** Whether an animation comes from styles: the document has an event for its end. @param {Animation} animation */
function isOfStyles(animation) {
  return animation instanceof CSSAnimation || animation instanceof CSSTransition;
}

/**
 * Whether an animation has no end, as spinners do, or follows the scroll position. The regular
 * sweeps find what it changes.
 * @param {Animation} animation @param {Document} doc
 */
function isEndless(animation, doc) {
  return animation.timeline !== doc.timeline || (animation.effect !== null && animation.effect.getComputedTiming().endTime === Infinity);
}

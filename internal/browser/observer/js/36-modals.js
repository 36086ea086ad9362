// @ts-check
// Modals: which modal is open, and which elements it obscures. An element is obscured if it lies
// outside of the modal and cannot be reached before the modal is closed.
//
// For a dialog that was opened with showModal, the browser makes everything outside of it inert. A
// dialog that is only marked with aria-modal obscures the elements that cannot be hit. An element
// beside it, such as the list of its combobox, stays usable if a point of it receives clicks.
//
// Layout creates a ModalScope for each measurement. 66-points.js uses this file to find the modal
// that covers an element.

/** The maximum number of elements that are hit tested in one branch, and in total. */
const TRIES_OF_BRANCH = 8;
const TRIES = 200;

const MODALS = 'dialog:modal,[aria-modal="true"]';

/**
 * Returns the open modal, or null. If several are open, returns the last that can be hit, or else
 * the last.
 * @param {Document} doc @param {Set<Shadow>} shadows
 * @returns {El | null}
 */
function openModal(doc, shadows) {
  const open = [...safe.querySelectorAll(doc, MODALS)];
  for (const root of shadows) open.push(...root.querySelectorAll(MODALS));
  if (!open.length) return null;
  const shown = open.filter(isModal);
  const inert = shown.filter((el) => isInTopLayer(el));
  const among = inert.length ? inert : shown;
  for (const el of among.slice(-8).reverse()) if (among.length > 1 && canHit(el, safe.rect(el))) return el;
  return among.length ? among[among.length - 1] : null;
}

/** @param {El} el */
function isModal(el) {
  if (tagOf(el) !== "dialog") {
    const role = explicitRole(el);
    if (role !== "dialog" && role !== "alertdialog") return false;
  }
  return safe.checkVisibility(el, VISIBLE) && hasArea(safe.rect(el));
}

/**
 * Whether a click in the middle of an element's visible part reaches the element.
 * @param {El} el @param {DOMRect} rect
 */
function canHit(el, rect) {
  const left = Math.max(0, rect.left), right = Math.min(innerWidth, rect.right);
  const top = Math.max(0, rect.top), bottom = Math.min(innerHeight, rect.bottom);
  return right > left && bottom > top && obscuredBy(el, (left + right) / 2, (top + bottom) / 2) === "";
}

/** Decides which elements a modal obscures, by hit testing the branches beside it. */
class ModalScope {
  /** @param {El} modal @param {boolean} hasShadowTrees */
  constructor(modal, hasShadowTrees) {
    this.modal = modal;
    this.hasShadowTrees = hasShadowTrees;
    /** Whether the browser makes everything outside of the modal inert. */
    this.inert = isInTopLayer(modal);
    /** The modal and its ancestors; a branch is a child of one of them. @type {Set<Node>} */
    this.ancestors = new Set();
    for (let /** @type {DomNode | null} */ n = modal, up = 0; n && up < MAX_ANCESTORS; n = flatParent(n), up++) this.ancestors.add(n);
    /** The number of tries in each branch. Infinity means that the branch can be reached. @type {Map<Node, number>} */
    this.tries = new Map();
    /** The number of tries left. */
    this.left = TRIES;
  }

  /** Whether the modal obscures an element. @param {El} el */
  obscures(el) {
    if (this.ancestors.has(el)) return el !== this.modal && this.inert;
    return !this.holds(el) && (this.inert || this.tries.get(this.branch(el)) !== Infinity);
  }

  /** Whether an element is in the modal. @param {El} el */
  holds(el) {
    if (safe.contains(this.modal, el)) return true;
    if (!this.hasShadowTrees) return false;
    for (let /** @type {DomNode | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; n = flatParent(n), up++) if (n === this.modal) return true;
    return false;
  }

  /**
   * Returns the branch of an element: its ancestor that is a child of one of the modal's ancestors.
   * @param {El} el
   */
  branch(el) {
    /** @type {DomNode} */
    let n = el;
    for (let up = 0; up < MAX_ANCESTORS; up++) {
      const parent = flatParent(n);
      if (!parent || this.ancestors.has(parent)) break;
      n = parent;
    }
    return n;
  }

  /**
   * Tests whether a record's branch can be hit.
   * @param {Rec} rec @param {number} x @param {number} y the scroll position
   */
  tryBranch(rec, x, y) {
    if (this.left <= 0 || rec.y + rec.h <= y || rec.y >= y + innerHeight || rec.x + rec.w <= x || rec.x >= x + innerWidth) return;
    if (this.ancestors.has(rec.node) || this.holds(rec.node)) return;
    const branch = this.branch(rec.node);
    const tried = this.tries.get(branch) || 0;
    if (tried >= TRIES_OF_BRANCH) return;
    this.left--;
    this.tries.set(branch, canHit(rec.node, new DOMRect(rec.x - x, rec.y - y, rec.w, rec.h)) ? Infinity : tried + 1);
  }
}

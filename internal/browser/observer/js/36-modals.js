// @ts-check
// Modals: what is open, and what it makes useless. An element is obscured when it stands outside of the
// modal and cannot be reached before the modal is closed or answered.
//
// The browser itself makes everything outside of a dialog that was opened with showModal inert. A dialog
// that is only marked with aria-modal obscures what cannot be hit: what lies beside it, such as a list of
// choices that belongs to it, stays usable when a point of it receives clicks.

/** How many elements of a branch, and in all, are tried with a point. */
const TRIES_OF_BRANCH = 8;
const TRIES = 200;

const MODALS = 'dialog:modal,[aria-modal="true"]';

/**
 * The modal that is in force, or null. Among several that is the one that can be hit, else the last.
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

/** Whether a click in the middle of an element's visible part goes to it. @param {El} el @param {DOMRect} rect */
function canHit(el, rect) {
  const left = Math.max(0, rect.left), right = Math.min(innerWidth, rect.right);
  const top = Math.max(0, rect.top), bottom = Math.min(innerHeight, rect.bottom);
  return right > left && bottom > top && obscuredBy(el, (left + right) / 2, (top + bottom) / 2) === "";
}

class ModalScope {
  /** @param {El} modal @param {boolean} trees there are shadow trees */
  constructor(modal, trees) {
    this.modal = modal;
    this.trees = trees;
    this.inert = isInTopLayer(modal);
    /** The modal and what it stands in: what is beside one of these is a branch. @type {Set<Node>} */
    this.ancestors = new Set();
    for (let /** @type {DomNode | null} */ n = modal, up = 0; n && up < MAX_UP; n = flatParent(n), up++) this.ancestors.add(n);
    /** How often each branch was tried; Infinity: it can be reached. @type {Map<Node, number>} */
    this.tries = new Map();
    this.left = TRIES;
  }

  /** Whether the modal makes an element useless. @param {El} el */
  obscures(el) {
    if (this.ancestors.has(el)) return el !== this.modal && this.inert;
    return !this.holds(el) && (this.inert || this.tries.get(this.branch(el)) !== Infinity);
  }

  /** Whether the modal holds an element. @param {El} el */
  holds(el) {
    if (safe.contains(this.modal, el)) return true;
    if (!this.trees) return false;
    for (let /** @type {DomNode | null} */ n = el, up = 0; n && up < MAX_UP; n = flatParent(n), up++) if (n === this.modal) return true;
    return false;
  }

  /** The child of the modal's ancestors that an element stands in. @param {El} el */
  branch(el) {
    /** @type {DomNode} */
    let n = el;
    for (let up = 0; up < MAX_UP; up++) {
      const parent = flatParent(n);
      if (!parent || this.ancestors.has(parent)) break;
      n = parent;
    }
    return n;
  }

  /** Tries whether an element's branch can be reached. @param {Rec} rec @param {number} x @param {number} y the scroll position */
  probe(rec, x, y) {
    if (this.left <= 0 || rec.y + rec.h <= y || rec.y >= y + innerHeight || rec.x + rec.w <= x || rec.x >= x + innerWidth) return;
    if (this.ancestors.has(rec.node) || this.holds(rec.node)) return;
    const branch = this.branch(rec.node);
    const tried = this.tries.get(branch) || 0;
    if (tried >= TRIES_OF_BRANCH) return;
    this.left--;
    this.tries.set(branch, canHit(rec.node, new DOMRect(rec.x - x, rec.y - y, rec.w, rec.h)) ? Infinity : tried + 1);
  }
}

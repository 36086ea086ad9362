// @ts-check
// Identity: decides whether an element is a formerly removed element, rendered again. Frameworks
// replace elements. A ref to a removed element may pass to its successor only if it cannot mean any
// other element.
//
// This file keeps facts about removed elements, in bounded tables that keep no node alive. It also
// owns the clock, which counts batches of mutation records: changes that a script makes in one task
// have the same time. Changes reports arrivals and departures. The daemon calls rematch for the ref
// of a removed element.

/** The maximum number of removed elements that are remembered, in total and per batch. */
const MAX_DEPARTED = 1000;
const MAX_DEPARTED_AT_ONCE = 200;
/** The maximum number of nodes of a removed subtree that are visited. */
const MAX_LEFT = 2000;
/**
 * The maximum number of ancestors that are searched for the text around an element, and the maximum
 * length of that text in characters.
 */
const MAX_CLIMB = 8;
const MAX_AROUND = 300;
/**
 * The maximum number of kinds of removed elements that are distinguished, and the maximum number of
 * elements per batch whose appearance is read.
 */
const MAX_KINDS = 2000;
const MAX_APPEARANCES = 300;

/** Tags and roles of items in lists and tables. */
const ITEM_TAGS = new Set(["li", "tr", "td", "th", "dt", "dd", "article", "option"]);
const ITEM_ROLES = new Set(["listitem", "row", "gridcell", "cell", "option", "treeitem", "article", "tab", "menuitem"]);

class Identity {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The number of the current batch of mutation records. */
    this.clock = 0;
    /**
     * Removed elements by ref: the time of the removal, the text around the element, and its node
     * while that is alive.
     * @type {Map<number, {left: number, around: string, node: WeakRef<El>}>}
     */
    this.departed = new Map();
    /** The time when a node was inserted, if a mutation record showed it. @type {Expando<number>} */
    this.arrivals = new Expando();
    /** The batch to which count and appearances refer. */
    this.batch = 0;
    /** The number of elements of the batch that were remembered, and whose appearance was read. */
    this.count = 0;
    this.appearances = 0;
    /** The last time when an element of a kind was removed; see kindKey. @type {Map<string, number>} */
    this.lastLeft = new Map();
    /** The last time when more elements were removed together than there are tracked kinds. */
    this.lastManyLeft = 0;
    /** The time of the oldest insertion that the model has not described yet; 0 if there is none. */
    this.undescribedSince = 0;
  }

  /** Records that a node and its subtree were inserted into the document. @param {El} node */
  recordInsertion(node) {
    this.arrivals.set(node, this.clock);
    if (!this.undescribedSince) this.undescribedSince = this.clock;
  }

  /** Records that a node and its subtree were removed from the document. @param {El} root */
  recordRemoval(root) {
    if (this.batch !== this.clock) {
      this.batch = this.clock;
      this.count = this.appearances = 0;
    }
    const { model } = this;
    // A node that was inserted earlier and is not yet described may look like a node that is
    // removed now.
    const certain = !this.undescribedSince || this.undescribedSince === this.clock;
    let seen = 0;
    model.walk(root, AT_ROOT, (el, tag) => {
      this.lastLeft.set(this.kindKey(el, tag), this.clock);
      const rec = model.records.get(el);
      if (rec && rec.ref >= 0 && rec.shown && certain && this.count++ < MAX_DEPARTED_AT_ONCE) this.rememberLeft(rec, root);
      return ++seen < MAX_LEFT;
    });
    if (seen >= MAX_LEFT || this.appearances > MAX_APPEARANCES || this.lastLeft.size > MAX_KINDS) this.lastManyLeft = this.clock;
    if (this.lastLeft.size > MAX_KINDS) this.lastLeft.clear();
  }

  /**
   * Returns the kind of an element: its tag, and for an interactive element also its appearance.
   * @param {El} el @param {string} tag
   */
  kindKey(el, tag) {
    return INTERACTIVE_TAGS.has(tag) && ++this.appearances <= MAX_APPEARANCES ? tag + appearanceOf(el) : tag;
  }

  /**
   * Remembers a removed element, unless it may have been hidden before its removal.
   * @param {Rec} rec @param {El} root of the removed subtree
   */
  rememberLeft(rec, root) {
    this.departed.delete(rec.ref);
    for (let /** @type {El | null} */ n = rec.node; n; n = n === root ? null : flatElement(n)) if (this.model.changes.restyled.has(n)) return;
    this.departed.set(rec.ref, { left: this.clock, around: wordsAround(rec.node, root).words, node: new WeakRef(rec.node) });
    if (this.departed.size > MAX_DEPARTED) {
      const [oldest] = this.departed.keys();
      this.departed.delete(oldest);
    }
  }

  /**
   * Decides whether a listed element may be a removed element, rendered again. It may if all of
   * these hold: it was inserted with the removal or later, nothing of its kind was removed since,
   * no other element looks like it, not even a hidden one, and the text around it is the same.
   * @param {{ref: number, successor: number}} who the removed element and its successor
   * @returns {{why: string}} why it may not; empty when it may
   */
  rematch(who) {
    const { model } = this;
    const kept = model.records.byRef.get(who.ref);
    if (kept && safe.isConnected(kept.node)) return { why: "hidden" };
    const gone = this.departed.get(who.ref);
    if (!gone) return { why: "unknown" };
    const node = gone.node.deref();
    if (node && safe.isConnected(node)) return { why: "kept" };
    const rec = model.records.byRef.get(who.successor);
    if (!rec || !safe.isConnected(rec.node)) return { why: "gone" };
    if (rec.since < gone.left || this.insertedAt(rec.node) < gone.left) return { why: "earlier" };
    const { tag } = rec;
    const since = Math.max(this.lastManyLeft, this.lastLeft.get(tag) || 0, this.lastLeft.get(tag + appearanceOf(rec.node)) || 0);
    if (since > gone.left) return { why: "others" };
    if (this.hasDuplicate(rec)) return { why: "duplicate" };
    const now = wordsAround(rec.node, null);
    if (gone.around) return { why: gone.around === now.words ? "" : "words" };
    // The text around the removed element is unknown. Items of lists cannot be distinguished
    // without it.
    return { why: now.around && isItem(now.around) ? "item" : "" };
  }

  /** Whether another element, hidden or not, looks like the given one. @param {Rec} rec */
  hasDuplicate(rec) {
    const { model } = this;
    const appearance = appearanceOf(rec.node);
    for (const root of [model.doc, ...model.sweep.shadows]) {
      const like = inTree(root, CSS.escape(rec.tag));
      for (const el of like) if (el !== rec.node && safe.isConnected(el) && appearanceOf(el) === appearance) return true;
    }
    return false;
  }

  /**
   * Returns the time when a node was inserted into the document, or 0 if no mutation showed it.
   * @param {Node} node @returns {number}
   */
  insertedAt(node) {
    let latest = 0;
    for (let /** @type {Node | null} */ n = node; n; n = safe.parentNode(n) || hostOf(n)) latest = Math.max(latest, this.arrivals.get(n) || 0);
    return latest;
  }
}

/**
 * Returns the text of the nearest ancestor, up to a root, whose text differs from the element's
 * own. Empty if there is none.
 * @param {El} el @param {El | null} root @returns {{words: string, around: El | null}}
 */
function wordsAround(el, root) {
  const own = clean(safe.textContent(el), MAX_AROUND);
  /** @type {El | null} */
  let n = el;
  for (let up = 0; n !== root && up < MAX_CLIMB; up++) {
    n = flatElement(n);
    if (!n) break;
    const words = clean(safe.textContent(n), MAX_AROUND);
    if (words !== own) return { words, around: n };
  }
  return { words: "", around: null };
}

/** Returns the text and attributes that identify an element. @param {El} el */
function appearanceOf(el) {
  const text = clean(safe.textContent(el), MAX_AROUND);
  return [text, ...["name", "aria-label", "title", "placeholder"].map((name) => attr(el, name))].join("\u001f");
}

/** Whether an element is an item of a list, or resembles one of its siblings. @param {El} el */
function isItem(el) {
  if (ITEM_TAGS.has(tagOf(el)) || ITEM_ROLES.has(explicitRole(el))) return true;
  /** @param {El | null} other */
  const like = (other) => other && tagOf(other) === tagOf(el) && attr(other, "class") === attr(el, "class");
  return like(safe.nextElementSibling(el)) || like(previousElement(el));
}

// @ts-check
// Identity: the elements that left the page are remembered, so that a rerendered element can be distinguished from another
// that looks the same. Nothing here keeps a node from being freed.
//
// The clock counts the batches of mutation records: what a script does in one task has one time.

/** How many elements that are gone are remembered, and of how many of one batch. */
const MAX_DEPARTED = 1000;
const MAX_DEPARTED_AT_ONCE = 200;
/** How many nodes of a subtree that left are looked at, and how far up the words around an element are looked for. */
const MAX_LEFT = 2000;
const MAX_CLIMB = 8;
/** How many sorts of elements are distinguished, and how many elements of one batch are looked at for it. */
const MAX_SORTS = 2000;
const MAX_LOOKED = 300;
/** How many of the words around an element are compared, in characters. */
const MAX_AROUND = 300;

/** Tags and roles of the things that lists are made of. */
const ITEM_TAGS = new Set(["li", "tr", "td", "th", "dt", "dd", "article", "option"]);
const ITEM_ROLES = new Set(["listitem", "row", "gridcell", "cell", "option", "treeitem", "article", "tab", "menuitem"]);

class Identity {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.clock = 0;
    /** By ref: when it left, the words around it, and its node as long as that lives. @type {Map<number, {left: number, around: string, node: WeakRef<El>}>} */
    this.departed = new Map();
    /** When a node came, if a mutation showed that. @type {Expando<number>} */
    this.arrivals = new Expando();
    this.batch = 0;
    this.count = 0;
    /** When something of some looks left last, or an element of a tag; anything, when there was too much to look at. @type {Map<string, number>} */
    this.lastLeft = new Map();
    this.lastManyLeft = 0;
    this.looked = 0;
    /** When the first element came that the model has not looked at yet; 0: none has. */
    this.unread = 0;
  }

  /** A node came into the document, with everything in it. @param {El} node */
  noteArrival(node) {
    this.arrivals.set(node, this.clock);
    if (!this.unread) this.unread = this.clock;
  }

  /** A node has left the document, with everything in it. @param {El} root */
  noteDeparture(root) {
    if (this.batch !== this.clock) {
      this.batch = this.clock;
      this.count = this.looked = 0;
    }
    const { model } = this;
    // What came before, and was not looked at, may look like what leaves now.
    const certain = !this.unread || this.unread === this.clock;
    let seen = 0;
    model.walk(root, AT_ROOT, (el, tag) => {
      this.lastLeft.set(this.sortOf(el, tag), this.clock);
      const rec = model.records.get(el);
      if (rec && rec.ref >= 0 && rec.shown && certain && this.count++ < MAX_DEPARTED_AT_ONCE) this.rememberLeft(rec, root);
      return ++seen < MAX_LEFT;
    });
    if (seen >= MAX_LEFT || this.looked > MAX_LOOKED || this.lastLeft.size > MAX_SORTS) this.lastManyLeft = this.clock;
    if (this.lastLeft.size > MAX_SORTS) this.lastLeft.clear();
  }

  /** What an element may be taken for: all of a tag, or of what people use those that look alike. @param {El} el @param {string} tag */
  sortOf(el, tag) {
    return INTERACTIVE_TAGS.has(tag) && ++this.looked <= MAX_LOOKED ? tag + appearanceOf(el) : tag;
  }

  /** @param {Rec} rec @param {El} root */
  rememberLeft(rec, root) {
    this.departed.delete(rec.ref);
    for (let /** @type {El | null} */ n = rec.node; n; n = n === root ? null : flatElement(n)) if (this.model.changes.restyled.has(n)) return; // it may have been hidden
    this.departed.set(rec.ref, { left: this.clock, around: wordsAround(rec.node, root).words, node: new WeakRef(rec.node) });
    if (this.departed.size > MAX_DEPARTED) {
      const [oldest] = this.departed.keys();
      this.departed.delete(oldest);
    }
  }

  /**
   * Whether an element may be what another one, that is gone, was rendered anew as: it came when that had left or
   * later, nothing that could be taken for either came before that or left since, nothing else looks like it, not even
   * something hidden, and the same words stand around it.
   * @param {{ref: number, heir: number}} who
   * @returns {{why: string}} empty when it may
   */
  rematch(who) {
    const { model } = this;
    const kept = model.records.byRef.get(who.ref);
    if (kept && safe.isConnected(kept.node)) return { why: "hidden" };
    const gone = this.departed.get(who.ref);
    if (!gone) return { why: "unknown" };
    const node = gone.node.deref();
    if (node && safe.isConnected(node)) return { why: "kept" };
    const rec = model.records.byRef.get(who.heir);
    if (!rec || !safe.isConnected(rec.node)) return { why: "gone" };
    if (rec.since < gone.left || this.arrivedAt(rec.node) < gone.left) return { why: "earlier" };
    const { tag } = rec;
    const since = Math.max(this.lastManyLeft, this.lastLeft.get(tag) || 0, this.lastLeft.get(tag + appearanceOf(rec.node)) || 0);
    if (since > gone.left) return { why: "others" };
    if (this.hasTwin(rec)) return { why: "twin" };
    const now = wordsAround(rec.node, null);
    if (gone.around) return { why: gone.around === now.words ? "" : "words" };
    // It alone was replaced, and the words around it are not known. In an item of a list they would be needed.
    return { why: now.around && isItem(now.around) ? "item" : "" };
  }

  /** Whether another element looks like one, hidden or not. @param {Rec} rec */
  hasTwin(rec) {
    const { model } = this;
    const looks = appearanceOf(rec.node);
    for (const root of [model.doc, ...model.sweep.shadows]) {
      const like = inTree(root, CSS.escape(rec.tag));
      for (const el of like) if (el !== rec.node && safe.isConnected(el) && appearanceOf(el) === looks) return true;
    }
    return false;
  }

  /** When a node came into the document; 0: with it. @param {Node} node @returns {number} */
  arrivedAt(node) {
    let latest = 0;
    for (let /** @type {Node | null} */ n = node; n; n = safe.parentNode(n) || hostOf(n)) latest = Math.max(latest, this.arrivals.get(n) || 0);
    return latest;
  }
}

/**
 * The words of the nearest ancestor that has more text than an element itself, up to a root; empty when there is none.
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

/** What identifies an element by its text and attributes. @param {El} el */
function appearanceOf(el) {
  const text = clean(safe.textContent(el), MAX_AROUND);
  return [text, ...["name", "aria-label", "title", "placeholder"].map((name) => attr(el, name))].join("\u001f");
}

/** Whether an element is one of several of a kind. @param {El} el */
function isItem(el) {
  if (ITEM_TAGS.has(tagOf(el)) || ITEM_ROLES.has(explicitRole(el))) return true;
  /** @param {El | null} other */
  const like = (other) => other && tagOf(other) === tagOf(el) && attr(other, "class") === attr(el, "class");
  return like(safe.nextElementSibling(el)) || like(previousElement(el));
}

// @ts-check
// Identity: whether an element is the one that was removed before, rendered again. Frameworks
// replace elements; a ref to a removed element may pass to its successor only when no other element
// could be meant.
//
// The file owns what is known of removed elements, in bounded tables that keep no node alive, and
// the clock, which counts batches of mutation records: changes that a script makes in one task have
// one time. Changes reports arrivals and departures; the daemon asks rematch for the ref of a
// removed element.

/** How many removed elements are remembered, in all and of one batch. */
const MAX_DEPARTED = 1000;
const MAX_DEPARTED_AT_ONCE = 200;
/** How many nodes of a removed subtree are visited. */
const MAX_LEFT = 2000;
/**
 * How many ancestors are searched for the text around an element, and how many characters of it are
 * compared.
 */
const MAX_CLIMB = 8;
const MAX_AROUND = 300;
/**
 * How many kinds of removed elements are distinguished, and of how many elements of one batch the
 * appearance is read.
 */
const MAX_KINDS = 2000;
const MAX_APPEARANCES = 300;

/** Tags and roles of the items of lists and tables. */
const ITEM_TAGS = new Set(["li", "tr", "td", "th", "dt", "dd", "article", "option"]);
const ITEM_ROLES = new Set(["listitem", "row", "gridcell", "cell", "option", "treeitem", "article", "tab", "menuitem"]);

class Identity {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The number of the current batch of mutation records. */
    this.clock = 0;
    /**
     * Removed elements by ref: when each was removed, the text around it, and its node as long as
     * that lives.
     * @type {Map<number, {left: number, around: string, node: WeakRef<El>}>}
     */
    this.departed = new Map();
    /** When a node was inserted, if a mutation record showed that. @type {Expando<number>} */
    this.arrivals = new Expando();
    /** The batch that count and appearances belong to. */
    this.batch = 0;
    /** How many elements of the batch were remembered, and of how many the appearance was read. */
    this.count = 0;
    this.appearances = 0;
    /** When an element of a kind was removed last; see kindKey. @type {Map<string, number>} */
    this.lastLeft = new Map();
    /** When more was removed at once than kinds were noted of. */
    this.lastManyLeft = 0;
    /** When the first node was inserted that the model has not described yet; 0: none. */
    this.undescribedSince = 0;
  }

  /** A node was inserted into the document, with its subtree. @param {El} node */
  noteArrival(node) {
    this.arrivals.set(node, this.clock);
    if (!this.undescribedSince) this.undescribedSince = this.clock;
  }

  /** A node was removed from the document, with its subtree. @param {El} root */
  noteDeparture(root) {
    if (this.batch !== this.clock) {
      this.batch = this.clock;
      this.count = this.appearances = 0;
    }
    const { model } = this;
    // A node that was inserted earlier and not described yet may look like one that is removed now.
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
   * The kind of an element: the tag, and for interactive ones the appearance.
   * @param {El} el @param {string} tag
   */
  kindKey(el, tag) {
    return INTERACTIVE_TAGS.has(tag) && ++this.appearances <= MAX_APPEARANCES ? tag + appearanceOf(el) : tag;
  }

  /**
   * Remembers a removed element, unless it may have been hidden first.
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
   * Whether a listed element may be a removed one, rendered again. It may when it was inserted with
   * the removal or later, nothing of its kind was removed since, no other element looks like it,
   * not even a hidden one, and the text around it is the same.
   * @param {{ref: number, heir: number}} who the removed element and its successor
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
    const rec = model.records.byRef.get(who.heir);
    if (!rec || !safe.isConnected(rec.node)) return { why: "gone" };
    if (rec.since < gone.left || this.arrivedAt(rec.node) < gone.left) return { why: "earlier" };
    const { tag } = rec;
    const since = Math.max(this.lastManyLeft, this.lastLeft.get(tag) || 0, this.lastLeft.get(tag + appearanceOf(rec.node)) || 0);
    if (since > gone.left) return { why: "others" };
    if (this.hasTwin(rec)) return { why: "twin" };
    const now = wordsAround(rec.node, null);
    if (gone.around) return { why: gone.around === now.words ? "" : "words" };
    // The text around the removed element is not known. Items of lists cannot be distinguished
    // without it.
    return { why: now.around && isItem(now.around) ? "item" : "" };
  }

  /** Whether another element looks like one, hidden or not. @param {Rec} rec */
  hasTwin(rec) {
    const { model } = this;
    const appearance = appearanceOf(rec.node);
    for (const root of [model.doc, ...model.sweep.shadows]) {
      const like = inTree(root, CSS.escape(rec.tag));
      for (const el of like) if (el !== rec.node && safe.isConnected(el) && appearanceOf(el) === appearance) return true;
    }
    return false;
  }

  /**
   * When a node was inserted into the document; 0 when no mutation showed it.
   * @param {Node} node @returns {number}
   */
  arrivedAt(node) {
    let latest = 0;
    for (let /** @type {Node | null} */ n = node; n; n = safe.parentNode(n) || hostOf(n)) latest = Math.max(latest, this.arrivals.get(n) || 0);
    return latest;
  }
}

/**
 * The text of the nearest ancestor that has more text than an element itself, up to a root; empty
 * when there is none.
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

/** Whether an element is an item of a list, or like one of its siblings. @param {El} el */
function isItem(el) {
  if (ITEM_TAGS.has(tagOf(el)) || ITEM_ROLES.has(explicitRole(el))) return true;
  /** @param {El | null} other */
  const like = (other) => other && tagOf(other) === tagOf(el) && attr(other, "class") === attr(el, "class");
  return like(safe.nextElementSibling(el)) || like(previousElement(el));
}

// @ts-check
// The elements that may say something (SOURCES in 56-noticed.js), found again only when they may be others.
//
// One query takes 0.5 ms for 1,000 elements, and an action makes three checks. Sources owns the list of
// the last query. Mutations say when it may be another one; what fields are invalid no mutation says.

/** Attributes that make an element a source. */
const SOURCE_ATTRIBUTES = new Set(["role", "aria-live", "aria-modal", "aria-invalid", "aria-busy", "popover"]);
/** Fields that a person left invalid. */
const USER_INVALID = ":user-invalid";

class Sources {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The elements of each known tree, in document order. @type {El[]} */
    this.known = [];
    /** They may be others by now. */
    this.stale = true;
    /** How many shadow trees were known. */
    this.trees = 0;
  }

  /**
   * Takes in mutations.
   * @param {MutationRecord[]} records
   * @param {boolean} closely whether added elements are looked into, which is worth while when a check follows soon
   */
  note(records, closely) {
    for (let i = 0; i < records.length && !this.stale; i++) {
      const r = records[i];
      if (r.type === "attributes") this.stale = SOURCE_ATTRIBUTES.has(r.attributeName || "");
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) {
        if (isElement(n) && (!closely || safe.matches(n, SOURCES) || firstWithin(n, SOURCES) !== null)) this.stale = true;
      }
    }
  }

  /** All elements that may say something, in every known tree; each once or twice. */
  *found() {
    const { doc, sweep } = this.model;
    if (this.stale || this.trees !== sweep.follows) this.find();
    for (const el of this.known) if (safe.isConnected(el)) yield el;
    for (const tree of [doc, ...sweep.shadows]) yield* first(inTree(tree, USER_INVALID), MAX_SOURCES);
  }

  find() {
    const { doc, sweep } = this.model;
    this.stale = false;
    this.trees = sweep.follows;
    this.known = [doc, ...sweep.shadows].flatMap((tree) => [...first(inTree(tree, SOURCES), MAX_SOURCES)]);
  }
}

/** The first elements of a list. @param {NodeListOf<El>} all @param {number} most */
function* first(all, most) {
  for (let i = 0; i < all.length && i < most; i++) yield all[i];
}

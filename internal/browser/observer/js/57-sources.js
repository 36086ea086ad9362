// @ts-check
// Sources lists the elements that may cause a notice (SOURCES in 56-notice-texts.js). It repeats the query only if the result
// may have changed.
//
// One query takes 0.5 ms for 1,000 elements, and an action makes three checks. Sources owns the list of
// the last query. Mutations show when the list may have changed. Whether a field is invalid causes no mutation.

/** Attributes that make an element a source. */
const SOURCE_ATTRIBUTES = new Set(["role", "aria-live", "aria-modal", "aria-invalid", "aria-busy", "popover"]);
/** Matches a superset of the sources, by attribute names only, which is faster than SOURCES. isSource checks the values. */
const MAYBE_SOURCES = "[role],[aria-live],output,dialog,[aria-modal],[popover],[aria-invalid],h1,h2,h3,[aria-busy],progress";

/** Whether one of MAYBE_SOURCES is a source. @param {El} el */
function isSource(el) {
  return !hasAttr(el, "role") || safe.matches(el, SOURCES);
}

class Sources {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The elements of each known tree, in document order, or null if a query is due. @type {El[] | null} */
    this.known = null;
    /** The number of followed shadow trees at the last query. */
    this.trees = 0;
  }

  /**
   * Processes mutations.
   * @param {MutationRecord[]} records
   * @param {boolean} closely whether added elements are searched, which pays off when a check follows soon
   */
  process(records, closely) {
    if (this.known !== null && records.some((r) => this.mayMakeSources(r, closely))) this.known = null;
  }

  /** @param {MutationRecord} r @param {boolean} closely */
  mayMakeSources(r, closely) {
    if (r.type === "attributes") return SOURCE_ATTRIBUTES.has(r.attributeName || "");
    const added = /** @type {DomNode[]} */ ([...r.addedNodes]);
    return added.some((n) => isElement(n) && (!closely || safe.matches(n, SOURCES) || firstWithin(n, SOURCES) !== null));
  }

  /** Yields the sources of all known trees, each once or twice. */
  *found() {
    const { doc, sweep } = this.model;
    const trees = [doc, ...sweep.shadows];
    if (this.known === null || this.trees !== sweep.follows) {
      this.trees = sweep.follows;
      this.known = trees.flatMap((tree) => [...inTree(tree, MAYBE_SOURCES)].filter(isSource).slice(0, MAX_SOURCES));
    }
    for (const el of this.known) if (safe.isConnected(el)) yield el;
    for (const tree of trees) yield* [...inTree(tree, ":user-invalid")].slice(0, MAX_SOURCES);
  }
}

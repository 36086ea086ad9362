// @ts-check
// Records: one for every element that counts, linked in a list in document order, and what of them
// the daemon does not have yet (inserts, unboxed, changed, gone).
//
// Records owns the list and the indexes by node, ref and named id. Refresh adds, links and
// drops records; Writer sends what changed and clears it. Expando is the map by node that several
// files use.

/**
 * How many elements of a document are kept. Others are left out, and patches report that with a
 * flag.
 */
const MAX_ELEMENTS = LIMITS.elements;

/**
 * The fields of an element by the numbers F_KIND and so on: kind, parent, tag, role, text, href,
 * name, type, value, placeholder, level, states, child, attributes, whole text, marks, join.
 * @typedef {[number, Rec | null, string, string, string, string, string, string, string, string, string, number, string, string, string, string, number]} Fields
 */

/** @returns {Fields} */
function emptyFields() {
  return [0, null, "", "", "", "", "", "", "", "", "", 0, "", "", "", "", 0];
}

/** The largest join that is kept: what is nested deeper counts as nested that deep. */
const MAX_JOIN = 4095;

/** One element that counts, shown or not. */
class Rec {
  /** @param {El} node */
  constructor(node) {
    this.node = node;
    this.tag = tagOf(node);
    /** The ref, or -1 while the daemon has not given one. */
    this.ref = -1;
    /** Its number among the additions of the patch that waits for its refs; -1 outside. */
    this.addition = -1;
    /** It is in the list. */
    this.shown = false;
    /** The element or an ancestor is inert, or the element no longer counts. */
    this.inert = false;
    /** The daemon has it in its list. */
    this.sent = false;
    /** It is at another place than the daemon has it. */
    this.moved = false;
    /** It is a form control with a state that scripts can set, or a button that is one for a page. */
    this.control = this.tag === "input" || this.tag === "select" || this.tag === "textarea" || isToggle(node, this.tag);
    this.fields = emptyFields();
    /** @type {Rec | null} */
    this.prev = null;
    /** @type {Rec | null} */
    this.next = null;
    /** The number of the last full scan that found it. */
    this.scan = 0;
    /** The fields that changed since they were sent, as bits. */
    this.mask = 0;
    /** The ids of the elements that its name depends on; see Naming.references. */
    this.references = "";
    /**
     * The control state that no mutation shows; see liveState.
     * @type {string | number | boolean}
     */
    this.live = "";
    /** The box in the document, in whole CSS pixels. */
    this.x = this.y = this.w = this.h = -1;
    this.boxSent = false;
    /**
     * A number that grows along the list, for records that the daemon has; see Writer.writeInserts.
     */
    this.order = 0;
    /** A modal obscures it. */
    this.obscured = false;
    /** How much of its content its text covers. */
    this.coverage = COVERS_NONE;
    /** It contains nothing but the control that is listed; see isHolder. */
    this.holds = false;
    /** When it was created, by the clock of Identity. */
    this.since = 0;
    /** Its name and row at earlier marks; see Rows. @type {RecState[] | null} */
    this.states = null;
    /** It left the document before its name and row were noted. */
    this.missed = false;
    /** The mark at which the daemon acted on it last. */
    this.acted = 0;
    /** The record that took over its ref; see Redraws. @type {Rec | null} */
    this.heir = null;
  }
}

/** The record before a listed one, or the head of the list. @param {Rec} rec */
function previousRec(rec) {
  return /** @type {Rec} */ (rec.prev);
}

/**
 * A map by node whose values are kept on the nodes, under a symbol. Each world has its own node
 * objects, so the page does not see the values. It is twice as fast as a WeakMap.
 * @template T
 */
class Expando {
  constructor() {
    this.key = Symbol("domtap");
  }

  /** @param {Node | null} node @returns {T | undefined} */
  get(node) {
    return node === null ? undefined : /** @type {Carrier<T>} */ (node)[this.key];
  }

  /** @param {Node} node @param {T} value */
  set(node, value) {
    /** @type {Carrier<T>} */ (node)[this.key] = value;
  }

  /** @param {Node} node */
  delete(node) {
    /** @type {Carrier<T>} */ (node)[this.key] = undefined;
  }
}

/** The join of a listed record. @param {Rec} rec */
function joinOf(rec) {
  const prev = previousRec(rec).node;
  if (!prev) return 0;
  const a = flatPath(prev), b = flatPath(rec.node);
  let common = 0;
  while (common < a.length && common < b.length && a[a.length - 1 - common] === b[b.length - 1 - common]) common++;
  return common - 1;
}

class Records {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /**
     * All records by node; a node keeps its record, and so its ref, while it is out of the tree.
     * @type {Expando<Rec>}
     */
    this.byNode = new Expando();
    /** The records whose nodes were last seen in the tree. @type {Set<Rec>} */
    this.all = new Set();
    /** Those of them that are form controls. @type {Set<Rec>} */
    this.controls = new Set();
    /** @type {Map<number, Rec>} */
    this.byRef = new Map();
    /** Records by the ids that their names depend on, as by aria-labelledby. @type {Map<string, Set<Rec>>} */
    this.references = new Map();
    /** The head of the list: a record without a node, before the first one. */
    this.head = /** @type {Rec} */ (/** @type {{ [field in keyof Rec]?: unknown }} */ ({ next: null, prev: null, node: null, ref: -1, order: 0 }));
    /** Some record is or was a container that is not listed because of its control; see isHolder. */
    this.holding = false;
    /** The list differs from the one that was sent. */
    this.listDirty = false;
    /** Listed records to send as additions or moves. @type {Set<Rec>} */
    this.inserts = new Set();
    /** Listed records with a box to send. @type {Set<Rec>} */
    this.unboxed = new Set();
    /** Records with fields to send. @type {Set<Rec>} */
    this.changed = new Set();
    /** Records to send as removals. @type {Set<Rec>} */
    this.gone = new Set();
    /** Records whose join is to be computed, because what stands before them changed. @type {Set<Rec>} */
    this.unjoined = new Set();
    /** A scan is under way that computes the joins of what it links. */
    this.joining = false;
  }

  /** @param {Node | null} node */
  get(node) {
    return this.byNode.get(node);
  }

  /**
   * The record of a ref, as long as its node is in the document.
   * @param {number} ref @returns {Rec | null}
   */
  connected(ref) {
    const rec = this.byRef.get(ref);
    return rec && safe.isConnected(rec.node) ? rec : null;
  }

  /** Adds a record whose node is in the document to the indexes. @param {Rec} rec */
  add(rec) {
    if (this.all.has(rec)) return;
    this.all.add(rec);
    rec.heir = null;
    if (rec.control) this.controls.add(rec);
    if (rec.ref >= 0) this.byRef.set(rec.ref, rec);
  }

  /** Takes a record out of the list. @param {Rec} rec */
  unlink(rec) {
    if (!rec.shown) return;
    this.disjoin(rec.next);
    previousRec(rec).next = rec.next;
    if (rec.next) rec.next.prev = rec.prev;
    rec.prev = rec.next = null;
    rec.shown = false;
    this.inserts.delete(rec);
    this.unboxed.delete(rec);
    if (rec.sent) this.gone.add(rec);
  }

  /** Links a record into the list behind another. @param {Rec} rec @param {Rec} prev */
  link(rec, prev) {
    if (rec.shown && rec.prev === prev) return;
    this.listDirty = true;
    if (rec.shown) {
      this.disjoin(rec.next);
      previousRec(rec).next = rec.next;
      if (rec.next) rec.next.prev = rec.prev;
      rec.moved = true;
    } else {
      rec.shown = true;
      if (this.gone.delete(rec)) rec.moved = true;
      if (rec.control) this.model.hints.hiddenToggles.delete(rec);
      if (!rec.boxSent) this.unboxed.add(rec);
    }
    this.inserts.add(rec);
    this.model.rows.unnoted.add(rec);
    rec.prev = prev;
    rec.next = prev.next;
    if (prev.next) prev.next.prev = rec;
    prev.next = rec;
    this.disjoin(rec);
    this.disjoin(rec.next);
  }

  /** What stands before a record is another now. @param {Rec | null} rec */
  disjoin(rec) {
    if (rec && !this.joining && this.model.structural) this.unjoined.add(rec);
  }

  /** Computes the joins of the records before which others stand now. */
  join() {
    for (const rec of this.unjoined) if (rec.shown) this.setJoin(rec, joinOf(rec));
    this.unjoined.clear();
  }

  /**
   * Sets the join of a record: the depth of the closest common flat ancestor with the record before it.
   * @param {Rec} rec @param {number} join
   */
  setJoin(rec, join) {
    const kept = Math.max(0, Math.min(join, MAX_JOIN));
    if (rec.fields[F_JOIN] === kept) return;
    rec.fields[F_JOIN] = kept;
    if (!rec.sent) return;
    rec.mask |= 1 << F_JOIN;
    this.changed.add(rec);
  }

  /**
   * Takes a record whose node left the document out of the list and the indexes.
   * @param {Rec} rec
   */
  drop(rec) {
    this.unlink(rec);
    this.forget(rec);
  }

  /** Takes a record out of the indexes. @param {Rec} rec */
  forget(rec) {
    const { hints, rows } = this.model;
    this.all.delete(rec);
    rows.unnoted.delete(rec);
    if (rec.control) {
      this.controls.delete(rec);
      hints.hiddenToggles.delete(rec);
    }
    if (hints.proxyLabels.has(rec.node) || hints.proxiedControls.has(rec.node)) this.model.changes.proxiesDirty = true;
    if (rec.ref >= 0) this.byRef.delete(rec.ref);
    if (rec.references) this.setReferences(rec, "");
  }

  /**
   * A new record takes over what the daemon knows of one that is gone; see Redraws.
   * @param {Rec} old @param {Rec} now
   */
  inherit(old, now) {
    now.mask |= old.mask;
    for (let i = 0; i < FIELDS; i++) if (i !== F_PARENT && old.fields[i] !== now.fields[i]) now.mask |= 1 << i;
    if (now.mask) this.changed.add(now);
    now.ref = old.ref;
    now.order = old.order;
    now.sent = now.moved = true;
    this.byRef.set(now.ref, now);
    this.gone.delete(old);
    this.model.identity.departed.delete(now.ref);
    this.model.rows.inherit(old, now);
    if (secrets.has(old.node)) noteSecret(now.node);
    old.ref = -1;
    old.sent = old.moved = old.boxSent = false;
    old.mask = 0;
    old.heir = now;
  }

  /**
   * The records that took over others need no move where they stand in the order of those.
   * @param {Set<Rec>} heirs
   */
  keepPlaces(heirs) {
    const seen = new Set();
    for (const heir of heirs) {
      if (seen.has(heir) || !this.inserts.has(heir)) continue;
      let first = heir;
      while (this.inserts.has(previousRec(first))) first = previousRec(first);
      /** @type {Rec[]} */
      const run = [];
      let /** @type {Rec | null} */ rec = first;
      for (; rec && this.inserts.has(rec); rec = rec.next) run.push(rec);
      let low = previousRec(first).order;
      const high = rec ? rec.order : Infinity;
      for (const one of run) {
        seen.add(one);
        if (!heirs.has(one) || one.order <= low || one.order >= high) continue;
        this.inserts.delete(one);
        one.moved = false;
        low = one.order;
      }
    }
    if (!this.inserts.size && !this.gone.size) this.listDirty = false;
  }

  /**
   * Notes which ids the name of a record depends on.
   * @param {Rec} rec @param {string} ids
   */
  setReferences(rec, ids) {
    if (ids === rec.references) return;
    for (const id of rec.references.split(" ")) {
      const recs = this.references.get(id);
      if (recs && recs.delete(rec) && !recs.size) this.references.delete(id);
    }
    for (const id of ids.split(" ", MAX_REFERENCES)) {
      if (!id) continue;
      const recs = this.references.get(id);
      if (recs) recs.add(rec);
      else this.references.set(id, new Set([rec]));
    }
    rec.references = ids;
  }

  /** The box of a record is to be sent. @param {Rec} rec */
  unbox(rec) {
    rec.boxSent = false;
    if (rec.shown) this.unboxed.add(rec);
  }

  /**
   * Whether listed interactive elements share role and name, and are not links to one place: only what stands around
   * them says which one each is. The same as elementcontext.Names.Any in Go.
   */
  haveAlike() {
    /** @type {Map<string, Fields>} */
    const known = new Map();
    for (let rec = this.head.next; rec; rec = rec.next) {
      const { fields } = rec;
      if (fields[F_KIND] !== INTERACTIVE) continue;
      const key = fields[F_ROLE] + "\t" + fields[F_TEXT];
      const other = known.get(key);
      if (other === undefined) known.set(key, fields);
      else if (fields[F_HREF] === "" || fields[F_HREF] !== other[F_HREF]) return true;
    }
    return false;
  }

  /** The last listed record before an element in the flat tree. @param {El} el @returns {Rec} */
  lastListedBefore(el) {
    for (let /** @type {El} */ n = el; ; ) {
      const next = previousFlat(n) || flatElement(n);
      if (!next) return this.head;
      n = next;
      const rec = this.get(n);
      if (rec && rec.shown) return rec;
    }
  }
}

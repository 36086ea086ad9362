// @ts-check
// Records: one for every element that counts, linked in a list in document order, and the changes
// that the daemon does not have yet (inserts, unboxed, changed, gone).
//
// Records owns the list and the indexes by node, ref and named id. Refresh adds, links and drops
// records. Writer sends the changes and clears them. Expando is a map by node that several files
// use.

/**
 * The maximum number of elements of a document that are kept. Others are left out, and a flag in
 * the patches reports that.
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

/** The maximum join. Deeper nesting counts as this deep. */
const MAX_JOIN = 4095;

/** One element that counts, shown or not. */
class Rec {
  /** @param {El} node */
  constructor(node) {
    this.node = node;
    this.tag = tagOf(node);
    /** The ref, or -1 until the daemon assigns one. */
    this.ref = -1;
    /** Its index among the additions of the patch that waits for refs, or -1. */
    this.addition = -1;
    /** Whether it is in the list. */
    this.shown = false;
    /** Whether the element or an ancestor is inert, or the element no longer counts. */
    this.inert = false;
    /** Whether the daemon has it in its list. */
    this.sent = false;
    /** Whether it has moved since it was sent to the daemon. */
    this.moved = false;
    /** Whether it is a form control with a state that scripts can set, or a button that the page uses as one. */
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
     * A number that increases along the list, for records that the daemon has; see
     * Writer.writeInserts.
     */
    this.order = 0;
    /** Whether a modal obscures it. */
    this.obscured = false;
    /** How much of its content its text covers. */
    this.coverage = COVERS_NONE;
    /** Whether it is only the container of a listed control; see isHolder. */
    this.holds = false;
    /** The time of its creation, by the clock of Identity. */
    this.since = 0;
    /** Its name and row at earlier marks; see Rows. @type {RecState[] | null} */
    this.states = null;
    /** Whether it left the document before its name and row were recorded. */
    this.missed = false;
    /** The last mark at which the daemon acted on it. */
    this.acted = 0;
    /** The record that took over its ref; see Redraws. @type {Rec | null} */
    this.successor = null;
  }
}

/** Returns the record before a listed record, or the head of the list. @param {Rec} rec */
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

/** Computes the join of a listed record. @param {Rec} rec */
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
     * All records by node. A node keeps its record, and so its ref, while it is out of the tree.
     * @type {Expando<Rec>}
     */
    this.byNode = new Expando();
    /** The records whose nodes were last seen in the tree. @type {Set<Rec>} */
    this.all = new Set();
    /** The records in all that are form controls. @type {Set<Rec>} */
    this.controls = new Set();
    /** @type {Map<number, Rec>} */
    this.byRef = new Map();
    /** Records by the ids that their names depend on, such as ids in aria-labelledby. @type {Map<string, Set<Rec>>} */
    this.references = new Map();
    /** The head of the list: a record without a node, before the first record. */
    this.head = /** @type {Rec} */ (/** @type {{ [field in keyof Rec]?: unknown }} */ ({ next: null, prev: null, node: null, ref: -1, order: 0 }));
    /** Whether some record is or was a container that is unlisted because of its control; see isHolder. */
    this.holding = false;
    /** Whether the list differs from the last one sent. */
    this.listDirty = false;
    /** Listed records to send as additions or moves. @type {Set<Rec>} */
    this.inserts = new Set();
    /** Listed records with a box to send. @type {Set<Rec>} */
    this.unboxed = new Set();
    /** Records with fields to send. @type {Set<Rec>} */
    this.changed = new Set();
    /** Records to send as removals. @type {Set<Rec>} */
    this.gone = new Set();
    /** Records whose join must be computed, because the record before them changed. @type {Set<Rec>} */
    this.unjoined = new Set();
    /** Whether a scan is in progress that computes the joins of the records that it links. */
    this.joining = false;
  }

  /** @param {Node | null} node */
  get(node) {
    return this.byNode.get(node);
  }

  /**
   * Returns the record of a ref if its node is in the document.
   * @param {number} ref @returns {Rec | null}
   */
  connected(ref) {
    const rec = this.byRef.get(ref);
    return rec && safe.isConnected(rec.node) ? rec : null;
  }

  /** Adds a record to the indexes. Its node must be in the document. @param {Rec} rec */
  add(rec) {
    if (this.all.has(rec)) return;
    this.all.add(rec);
    rec.successor = null;
    if (rec.control) this.controls.add(rec);
    if (rec.ref >= 0) this.byRef.set(rec.ref, rec);
  }

  /** Removes a record from the list. @param {Rec} rec */
  unlink(rec) {
    if (!rec.shown) return;
    if (rec.next && this.model.structural) this.unjoined.add(rec.next); // also during a walk, which may list nothing after it
    previousRec(rec).next = rec.next;
    if (rec.next) rec.next.prev = rec.prev;
    rec.prev = rec.next = null;
    rec.shown = false;
    this.inserts.delete(rec);
    this.unboxed.delete(rec);
    if (rec.sent) this.gone.add(rec);
  }

  /** Links a record into the list after another. @param {Rec} rec @param {Rec} prev */
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
      if (rec.control) this.model.hints.hiddenControls.delete(rec);
      if (!rec.boxSent) this.unboxed.add(rec);
    }
    this.inserts.add(rec);
    this.model.rows.unrecorded.add(rec);
    rec.prev = prev;
    rec.next = prev.next;
    if (prev.next) prev.next.prev = rec;
    prev.next = rec;
    this.disjoin(rec);
    this.disjoin(rec.next);
  }

  /** Records that another record now precedes this one. @param {Rec | null} rec */
  disjoin(rec) {
    if (rec && !this.joining && this.model.structural) this.unjoined.add(rec);
  }

  /** Computes the joins of the records in unjoined. */
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
   * Removes a record from the list and the indexes after its node has left the document.
   * @param {Rec} rec
   */
  drop(rec) {
    this.unlink(rec);
    this.forget(rec);
  }

  /** Removes a record from the indexes. @param {Rec} rec */
  forget(rec) {
    const { hints, rows } = this.model;
    this.all.delete(rec);
    rows.unrecorded.delete(rec);
    if (rec.control) {
      this.controls.delete(rec);
      hints.hiddenControls.delete(rec);
    }
    if (hints.proxyLabels.has(rec.node) || hints.proxiedControls.has(rec.node)) this.model.changes.proxiesDirty = true;
    if (rec.ref >= 0) this.byRef.delete(rec.ref);
    if (rec.references) this.setReferences(rec, "");
  }

  /**
   * Transfers what the daemon knows of a removed record to a new record; see Redraws.
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
    if (secrets.has(old.node)) markSecret(now.node);
    old.ref = -1;
    old.sent = old.moved = old.boxSent = false;
    old.mask = 0;
    old.successor = now;
  }

  /**
   * Cancels the moves of records that took over others, if the order of the list still fits.
   * @param {Set<Rec>} successors
   */
  keepPlaces(successors) {
    const seen = new Set();
    for (const successor of successors) {
      if (seen.has(successor) || !this.inserts.has(successor)) continue;
      let first = successor;
      while (this.inserts.has(previousRec(first))) first = previousRec(first);
      /** @type {Rec[]} */
      const run = [];
      let /** @type {Rec | null} */ rec = first;
      for (; rec && this.inserts.has(rec); rec = rec.next) run.push(rec);
      let low = previousRec(first).order;
      const high = rec ? rec.order : Infinity;
      for (const one of run) {
        seen.add(one);
        if (!successors.has(one) || one.order <= low || one.order >= high) continue;
        this.inserts.delete(one);
        one.moved = false;
        low = one.order;
      }
    }
    if (!this.inserts.size && !this.gone.size) this.listDirty = false;
  }

  /**
   * Sets the ids that the name of a record depends on.
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

  /** Marks the box of a record to be sent. @param {Rec} rec */
  unbox(rec) {
    rec.boxSent = false;
    if (rec.shown) this.unboxed.add(rec);
  }

  /**
   * Whether some listed interactive elements share role and name, and are not links to the same URL, so that only
   * the content around them tells them apart. Equivalent to elementcontext.Names.Any in Go.
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

  /** Returns the last listed record before an element in the flat tree. @param {El} el @returns {Rec} */
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

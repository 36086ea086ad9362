// @ts-check
// The records: one for every element that counts, in a list in document order, and what of it the daemon does not have yet.

/** How many elements of a document are kept; the rest is left out, and patches report that with a flag. */
const MAX_ELEMENTS = LIMITS.elements;

/**
 * The fields of an element by the numbers F_KIND and so on: kind, parent, tag, role, text, href, name, type, value,
 * placeholder, level, states, child, attributes.
 * @typedef {[number, Rec | null, string, string, string, string, string, string, string, string, string, number, string, string]} Fields
 */

/** Fields that say nothing. @returns {Fields} */
function emptyFields() {
  return [0, null, "", "", "", "", "", "", "", "", "", 0, "", ""];
}

/** One element that counts, shown or not. */
class Rec {
  /** @param {El} node */
  constructor(node) {
    this.node = node;
    this.tag = tagOf(node);
    /** The ref, or -1 while the daemon has not given one. */
    this.ref = -1;
    /** Its number among the additions of the patch under way or waiting; -1 outside. */
    this.fresh = -1;
    /** It is in the list. */
    this.shown = false;
    /** It, or what it is in, cannot be used. */
    this.inert = false;
    /** Whether the daemon has it in its list. */
    this.sent = false;
    this.moved = false;
    this.control = this.tag === "input" || this.tag === "select" || this.tag === "textarea";
    this.fields = emptyFields();
    /** @type {Rec | null} */
    this.prev = null;
    /** @type {Rec | null} */
    this.next = null;
    /** The last scan of the whole document that found it. */
    this.scan = 0;
    /** Fields that changed since they were sent, as a bit set. */
    this.mask = 0;
    /** The ids that it takes its name from. */
    this.labelledby = "";
    /** The control state that no mutation shows; see liveState. @type {string | number | boolean} */
    this.live = "";
    this.x = this.y = this.w = this.h = -1;
    this.boxSent = false;
    /** What sorts the records that the daemon has by their place in the list; see Writer.writeInserts. */
    this.order = 0;
    /** A modal makes it useless for now. */
    this.obscured = false;
    /** How much of its content its text includes. */
    this.coverage = COVERS_NONE;
    /** When it was made, by the clock of Identity. */
    this.since = 0;
    /** What it was called, and which row it stood in, at earlier marks; see Rows. @type {Place[] | null} */
    this.places = null;
    /** The mark at which the daemon acted on it last. */
    this.acted = 0;
  }
}

/** The record before a listed one, or the head of the list. @param {Rec} rec */
function previousRec(rec) {
  return /** @type {Rec} */ (rec.prev);
}

/**
 * A map from nodes to what is known of them that is kept on the nodes themselves, under a symbol of its own. The node
 * objects of an isolated world belong to it alone, so the page sees nothing of it; and it is twice as
 * fast as a WeakMap.
 * @template T
 */
class Expando {
  constructor() {
    this.key = Symbol("domtap");
  }

  /** @param {Node | null} node @returns {T | undefined} */
  get(node) {
    return node === null ? undefined : /** @type {any} */ (node)[this.key];
  }

  /** @param {Node} node @param {T} value */
  set(node, value) {
    /** @type {any} */ (node)[this.key] = value;
  }
}

class Records {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** All records by node; a node keeps its record, and so its ref, while it is out of the tree. @type {Expando<Rec>} */
    this.byNode = new Expando();
    /** The records whose nodes were last seen in the tree. @type {Set<Rec>} */
    this.all = new Set();
    /** Those of them that are form controls. @type {Set<Rec>} */
    this.controls = new Set();
    /** @type {Map<number, Rec>} */
    this.byRef = new Map();
    /** Records by the ids that name them (aria-labelledby). @type {Map<string, Set<Rec>>} */
    this.references = new Map();
    /** What stands before the first of the list; it is no element. @type {Rec} */
    this.head = /** @type {any} */ ({ next: null, prev: null, node: null, ref: -1, order: 0 });
    /** The list is not as it was sent. */
    this.listDirty = false;
    /** Listed records that the daemon does not have, or has at another place. @type {Set<Rec>} */
    this.inserts = new Set();
    /** Listed records with a box that was not sent. @type {Set<Rec>} */
    this.unboxed = new Set();
    /** Records with fields to send. @type {Set<Rec>} */
    this.changed = new Set();
    /** Records taken out of the list that the daemon still has. @type {Set<Rec>} */
    this.gone = new Set();
  }

  /** @param {Node | null} node */
  get(node) {
    return this.byNode.get(node);
  }

  /** The record of a ref, as long as its node is in the document. @param {number} ref @returns {Rec | null} */
  connected(ref) {
    const rec = this.byRef.get(ref);
    return rec && safe.isConnected(rec.node) ? rec : null;
  }

  /** Counts a record whose node is in the tree. @param {Rec} rec */
  add(rec) {
    if (this.all.has(rec)) return;
    this.all.add(rec);
    if (rec.control) this.controls.add(rec);
    if (rec.ref >= 0) this.byRef.set(rec.ref, rec);
  }

  /** Takes a record out of the list. @param {Rec} rec */
  unlink(rec) {
    if (!rec.shown) return;
    previousRec(rec).next = rec.next;
    if (rec.next) rec.next.prev = rec.prev;
    rec.prev = rec.next = null;
    rec.shown = false;
    this.inserts.delete(rec);
    this.unboxed.delete(rec);
    if (rec.sent) this.gone.add(rec);
  }

  /** Puts a record right behind another. @param {Rec} rec @param {Rec} prev */
  link(rec, prev) {
    if (rec.shown && rec.prev === prev) return;
    this.listDirty = true;
    if (rec.shown) {
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
    this.model.rows.fresh.add(rec);
    rec.prev = prev;
    rec.next = prev.next;
    if (prev.next) prev.next.prev = rec;
    prev.next = rec;
  }

  /** Forgets a record whose node left the tree. @param {Rec} rec */
  drop(rec) {
    this.unlink(rec);
    this.forget(rec);
  }

  /** @param {Rec} rec */
  forget(rec) {
    const { hints, rows } = this.model;
    this.all.delete(rec);
    rows.fresh.delete(rec);
    if (rec.control) {
      this.controls.delete(rec);
      hints.hiddenToggles.delete(rec);
    }
    if (hints.proxyLabels.has(rec.node) || hints.proxiedControls.has(rec.node)) this.model.changes.proxiesDirty = true;
    if (rec.ref >= 0) this.byRef.delete(rec.ref);
    if (rec.labelledby) this.refer(rec, "");
  }

  /** Notes which ids a record takes its name from. @param {Rec} rec @param {string} ids */
  refer(rec, ids) {
    if (ids === rec.labelledby) return;
    for (const id of rec.labelledby.split(/\s+/)) {
      const recs = this.references.get(id);
      if (recs && recs.delete(rec) && !recs.size) this.references.delete(id);
    }
    for (const id of ids.split(/\s+/, 16)) {
      if (!id) continue;
      const recs = this.references.get(id);
      if (recs) recs.add(rec);
      else this.references.set(id, new Set([rec]));
    }
    rec.labelledby = ids;
  }

  /** The box of a record is not the one that was sent. @param {Rec} rec */
  unbox(rec) {
    rec.boxSent = false;
    if (rec.shown) this.unboxed.add(rec);
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

// @ts-check
// The model: every element that counts, in document order, kept up to date from mutation records.

/** Records or dirty nodes above this are cheaper to walk again than to follow. */
const RESCAN_ABOVE = 2000;
/** The most elements that a document may bring in; more are left out, and the daemon is told that some are. */
const MAX_ELEMENTS = LIMITS.elements;
/** How many nodes below a restyled element are looked at immediately; the rest waits for the next pass. */
const RESTYLE_NODES = 1000;
/** How many elements a glance looks at for new shadow roots; the next one goes on from there. */
const ROOTS_AT_ONCE = 200;
/** How many elements that came are remembered for the next probe; beyond that it looks at all. */
const MAX_NEWCOMERS = 500;
/** How many controls a glance looks at, and a patch, unless all are to be looked at; the next one goes on from there. */
const CONTROLS_AT_ONCE = 500;
/** How many boxes a measured but unchanged document is checked by. */
const SAMPLE = 48;
/** And how many by a glance. */
const SAMPLE_OF_GLANCE = 16;

/** One element that counts, shown or not. */
class Rec {
  /** @param {any} node */
  constructor(node) {
    this.node = node;
    this.tag = tagOf(node);
    /** The ref, or -1 while the daemon has not given one. */
    this.ref = -1;
    /** Its number among the additions of the patch under way or waiting; -1 outside. */
    this.fresh = -1;
    this.shown = false;
    /** It, or what it is in, cannot be used. */
    this.inert = false;
    /** Whether the daemon has it in its list. */
    this.sent = false;
    this.moved = false;
    this.control = this.tag === "input" || this.tag === "select" || this.tag === "textarea";
    /** @type {any[]} */
    this.fields = [0, null, "", "", "", "", "", "", "", "", "", 0, "", ""];
    /** @type {Rec | null} */
    this.prev = null;
    /** @type {Rec | null} */
    this.next = null;
    this.gen = 0;
    /** Fields that changed since they were sent, as a bit set. */
    this.mask = 0;
    this.labelledby = "";
    /** The control state that no mutation shows. */
    /** @type {any} */
    this.live = "";
    this.x = this.y = this.w = this.h = -1;
    this.boxSent = false;
    /** What sorts the records that the daemon has by their place in the list; see Writer.runs. */
    this.order = 0;
    /** A modal makes it useless for now. */
    this.covered = false;
    /** How much of what is in it its text says. */
    this.covers = COVERS_NONE;
    /** When it was made, by the clock of Fates. */
    this.since = 0;
    /** What it was called, and which row it stood in, at earlier marks; see Rows. @type {Place[] | null} */
    this.places = null;
    /** The mark at which the daemon acted on it last. */
    this.acted = 0;
  }
}

/** The record before a listed one, or the head of the list. @param {Rec} rec */
function before(rec) {
  return /** @type {Rec} */ (rec.prev);
}

/**
 * A map from nodes to what is known of them that is kept on the nodes themselves, under a symbol of its own. The node
 * objects of an isolated world belong to it alone, so the page sees nothing of it; and it is twice as
 * fast as a WeakMap.
 */
class Expando {
  constructor() {
    this.key = Symbol("domtap");
  }
  /** @param {any} node @returns {any} */
  get(node) {
    return node === null ? undefined : node[this.key];
  }
  /** @param {any} node @param {any} value */
  set(node, value) {
    node[this.key] = value;
  }
}

class Model {
  /** @param {Document} doc */
  constructor(doc) {
    this.doc = doc;
    this.fates = new Fates(this);
    this.rows = new Rows(this);
    this.structural = false;
    /** @type {string[]} */
    this.attributes = [];
    this.labels = new Labels();
    this.naming = new Naming(this.labels);
    this.styles = new Styles();
    this.sight = new Sight(doc, this.labels, this.styles);
    this.pointers = new Pointers(this.styles);
    /** What makes an element count besides its tag and attributes, as bits HINT_…. */
    this.hints = new Expando();
    /** Labels by the hidden controls that they stand in for, and the other way round. @type {Map<any, any>} */
    this.standIns = new Map();
    /** @type {Map<any, any>} */
    this.stoodFor = new Map();
    this.designed = false;
    /** All that count for their cursor were looked for in this update. */
    this.pointed = false;
    this.focused = null;
    this.gen = 0;
    /** All records by node; a node keeps its record, and so its ref, while it is out of the tree. */
    this.recs = new Expando();
    /** The records whose nodes were last seen in the tree. @type {Set<Rec>} */
    this.all = new Set();
    /** Those of them that are form controls. @type {Set<Rec>} */
    this.controls = new Set();
    /** @type {Map<number, Rec>} */
    this.byRef = new Map();
    /** The list is not as it was sent. */
    this.listDirty = false;
    /** Listed records that the daemon does not have, or has at another place. @type {Set<Rec>} */
    this.inserts = new Set();
    /** Listed records with a box that was not sent. @type {Set<Rec>} */
    this.unboxed = new Set();
    /** @type {Rec} */
    this.head = /** @type {any} */ ({ next: null, prev: null, node: null, ref: -1, order: 0 });
    /** Nodes whose subtree is to be walked. @type {Set<any>} */
    this.added = new Set();
    /** Those of them that came into their place just now: nothing below them is listed. @type {Set<any>} */
    this.arrived = new Set();
    /** Records to describe anew. @type {Set<Rec>} */
    this.dirty = new Set();
    /** Records to look at anew: there, visible, where? That can take a layout. @type {Set<Rec>} */
    this.check = new Set();
    /** Nodes to look at anew, with a record or without. @type {Set<any>} */
    this.looks = new Set();
    /** Nodes whose style changed. @type {Set<any>} */
    this.restyled = new Set();
    /** Records taken out of the list that the daemon still has. @type {Set<Rec>} */
    this.gone = new Set();
    this.rescan = true;
    this.styleDirty = false;
    this.controlsDirty = false;
    /** Something may have changed that says which labels stand in for hidden controls. */
    this.standInsDirty = false;
    this.geometryDirty = true;
    this.labelsDirty = false;
    /** @type {number[]} */
    this.probe = [];
    /** The roots that insideAnother looked at last. @type {any[]} */
    this.batch = [];
    /** @type {Set<any>} */
    this.batchSet = new Set();
    /** Where sampleHolds goes on. @type {Rec | null} */
    this.cursor = null;
    /** Records with fields to send. @type {Set<Rec>} */
    this.changed = new Set();
    /** Records by the ids that name them (aria-labelledby). @type {Map<string, Set<Rec>>} */
    this.references = new Map();
    /** Shadow roots that the observer follows. */
    this.roots = new WeakSet();
    /** The same, to go through. @type {Set<any>} */
    this.rootList = new Set();
    /** Every element outside of shadow trees, live. */
    this.elements = safe.elements(doc, "*");
    this.rootCursor = 0;
    /** Where sweepControls goes on. @type {any} */
    this.controlCursor = null;
    /** Hidden checkboxes, radios and file inputs. @type {Set<Rec>} */
    this.tucked = new Set();
    /** Roots of what came since the last probe; null: the probe is to look at everything. @type {WeakRef<any>[] | null} */
    this.newcomers = null;
    /** How often a look at everything found something. */
    this.found = 0;
    /** @type {(root: any) => void} */
    this.onRoot = () => {};
    /** @type {WeakMap<any, string>} frames by their host element */
    this.children = new WeakMap();
    /** Elements came since the daemon last asked the browser about them. */
    this.grown = true;
    /** Some count that CANDIDATES does not find. */
    this.strange = false;
    /** Elements were left out, because there are too many. */
    this.limited = false;
    this.positioned = false;
    /** A modal was open when the boxes were read last. */
    this.covering = false;
    this.scrollX = this.scrollY = this.viewWidth = this.viewHeight = 0;
  }

  /** Whether a patch would say something. */
  get pending() {
    return this.rescan || this.added.size > 0 || this.dirty.size > 0 || this.check.size > 0 || this.looks.size > 0 || this.gone.size > 0 || this.restyled.size > 0 || this.changed.size > 0 || this.controlsDirty || this.labelsDirty || this.standInsDirty;
  }

  // ---- reading mutation records -------------------------------------------------------------

  /** @param {MutationRecord[]} records */
  note(records) {
    this.geometryDirty = true;
    this.fates.clock++;
    if (this.rescan) {
      this.grown = true;
      this.newcomers = null;
      this.rows.touchAll();
      return;
    }
    if (records.length + this.added.size + this.dirty.size + this.check.size > RESCAN_ABOVE) {
      this.forgetNoted();
      return;
    }
    for (const r of records) {
      if (r.type === "attributes") this.noteAttribute(r.target, r.attributeName || "");
      else if (r.type === "characterData") this.noteText(safe.parentNode(r.target));
      else this.noteChildren(r);
    }
  }

  /**
   * Walks the document at the next update, instead of following what was noted. Nothing is kept of it
   * until then: nobody may ask for days, and nodes that left the page must not stay because of us.
   */
  forgetNoted() {
    this.rescan = this.grown = true;
    this.newcomers = null;
    this.rows.touchAll();
    for (const set of [this.added, this.arrived, this.dirty, this.check, this.looks, this.restyled]) set.clear();
  }

  /** @param {MutationRecord} r */
  noteChildren(r) {
    let text = false, elements = false;
    for (const n of r.removedNodes) {
      if (safe.nodeType(n) === 1) {
        elements = true;
        this.fates.left(n);
        if (this.arrived.delete(n)) { // it came and went without being looked at
          this.added.delete(n);
          continue;
        }
        this.takeOut(n);
        this.noteLabels(n, false);
      } else text = true;
    }
    for (const n of r.addedNodes) {
      if (safe.nodeType(n) === 1) {
        elements = true;
        this.fates.came(n);
        this.added.add(n);
        this.arrived.add(n);
        this.welcome(n);
      } else text = true;
    }
    // Other elements may be seen now, or no longer, for the sake of their neighbours.
    if (elements && this.styles.structural) this.styleDirty = true;
    if (r.removedNodes.length && safe.firstChild(r.target) === null && safe.nodeType(r.target) === 1) this.remember(r.target);
    if (shadowOfTarget(r.target)) this.reslot(r.target);
    this.noteText(r.target);
    if (text && this.structural && safe.nodeType(r.target) === 1) this.added.add(r.target);
  }

  /** An element or shadow root came, with what is in it: a probe is due if any of it may listen. @param {any} root */
  welcome(root) {
    if (safe.nodeType(root) === 1 && safe.matches(root, NO_LISTENERS) && firstWithin(root, MAY_LISTEN) === null) return;
    this.grown = true;
    this.remember(root);
  }

  /** The next probe looks at an element or shadow root, and at what is in it. @param {any} root */
  remember(root) {
    if (this.newcomers === null) return;
    if (this.newcomers.length < MAX_NEWCOMERS) this.newcomers.push(new WeakRef(root));
    else this.newcomers = null;
  }

  /** The labels in a subtree that came or went name controls elsewhere. @param {any} root @param {boolean} came */
  noteLabels(root, came) {
    const labels = [...queryWithin(root, "label")];
    if (tagOf(root) === "label") labels.push(root);
    if (labels.length) this.standInsDirty = true;
    for (const label of labels) {
      if (came) this.labels.note(label);
      else this.labels.forget(label);
      const id = attr(label, "for");
      if (id) this.noteRec(safe.getElementById(this.doc, id));
    }
  }

  /**
   * The names that contain this node's text may have changed: those of its ancestors, of the
   * controls that they label, and of whatever refers to them by id.
   * @param {any} node
   */
  noteText(node) {
    for (let n = node; n; n = flatParent(n)) {
      if (safe.nodeType(n) === 11) n = n.host;
      if (!n || safe.nodeType(n) !== 1) return;
      const rec = this.recs.get(n);
      if (rec) this.dirty.add(rec);
      this.rows.touchNode(n);
      const tag = tagOf(n);
      if (tag === "label") {
        this.noteRec(n.control);
        // The first control inside is the labelled one: another may have been until now.
        for (const c of n.querySelectorAll("input,select,textarea,button,meter,progress,output")) this.noteRec(c);
      }
      if (tag === "legend" || tag === "figcaption" || tag === "caption") this.noteRec(safe.parentNode(n));
      if (this.references.size) {
        const id = attr(n, "id");
        if (id) this.noteReferences(id);
      }
    }
  }

  /** @param {any} el */
  noteRec(el) {
    const rec = el && this.recs.get(el);
    if (rec) this.dirty.add(rec);
    if (el && this.standIns.size) this.noteRec(this.standIns.get(el));
  }

  /** Whatever takes its name from this id. @param {string} id */
  noteReferences(id) {
    const recs = this.references.get(id);
    if (recs) for (const rec of recs) this.dirty.add(rec);
  }

  /** @param {any} el @param {string} name */
  noteAttribute(el, name) {
    if (MASKS !== null) { // anything may say what is masked
      this.added.add(el);
      this.noteText(el);
    }
    if (TOUCHING.test(name)) this.rows.touch(el);
    switch (name) {
      case "class":
      case "style":
        this.restyled.add(el);
        this.styleDirty = true;
        return;
      case "slot":
        if (safe.parentNode(el) && safe.nodeType(safe.parentNode(el)) === 1) this.reslot(safe.parentNode(el));
      // falls through
      case "hidden":
      case "open":
      case "inert":
      case "popover":
      case "aria-hidden":
      case "aria-disabled":
      case "disabled":
        this.restyled.add(el);
        this.styleDirty = true;
        break;
      case "id":
        for (const id of this.references.keys()) this.noteReferences(id);
      // falls through
      case "for":
        if (tagOf(el) === "label") this.labels.note(el);
        this.standInsDirty = true;
        this.labelsDirty = this.labelsDirty || tagOf(el) === "label" || this.labels.used;
        break;
      case "aria-label":
      case "aria-labelledby":
      case "alt":
      case "title":
      case "value":
      case "label":
      case "selected":
        this.noteText(el);
        break;
      default:
        this.styleDirty = true;
    }
    if (RETAG.has(name)) this.added.add(el);
    if (!RETAG.has(name) || this.standIns.size) this.noteRec(el);
  }

  /** The light children of a host stand in other slots now. @param {any} host */
  reslot(host) {
    for (let c = safe.firstElementChild(host); c; c = safe.nextElementSibling(c)) this.takeOut(c);
    this.added.add(host);
  }

  // ---- walking ------------------------------------------------------------------------------

  /**
   * What an element inherits, computed from its ancestors. The walk computes the same on its way.
   * @param {any} el
   */
  inherited(el) {
    const up = [];
    for (let n = flatParent(el); n && safe.nodeType(n) === 1; n = flatParent(n)) up.push(n);
    let ctx = AT_ROOT;
    for (let i = up.length - 1; i >= 0; i--) ctx = this.within(up[i], ctx, this.recs.get(up[i]));
    return ctx;
  }

  /** A modal dialog escapes what makes its ancestors inert. @param {any} el @param {Inherited} ctx */
  isInert(el, ctx) {
    if (has(el, "inert")) return true;
    return ctx.inert && !(tagOf(el) === "dialog" && safe.matches(el, ":modal"));
  }

  /**
   * What the children of an element inherit.
   * @param {any} el @param {Inherited} ctx @param {Rec | undefined} rec
   */
  within(el, ctx, rec) {
    const listed = rec !== undefined && rec.shown;
    if (!listed && bare(el)) return ctx;
    const inert = this.isInert(el, ctx);
    const disabled = ctx.disabled || attr(el, "aria-disabled") === "true";
    const fieldset = ctx.fieldset || (tagOf(el) === "fieldset" && el.disabled === true);
    const parent = listed ? rec : ctx.parent;
    const covered = listed && ctx.covered !== COVERS_ALL ? rec.covers : ctx.covered;
    if (parent === ctx.parent && inert === ctx.inert && disabled === ctx.disabled && fieldset === ctx.fieldset && covered === ctx.covered) return ctx;
    return new Inherited(parent, inert, disabled, fieldset, covered);
  }

  /**
   * Walks the flat subtree of an element in document order and calls visit for each element, which
   * says whether to go below it, and inherit for each that has children. Iterative: nesting is unbounded.
   * @param {any} root @param {Inherited} ctx
   * @param {(el: any, tag: string, ctx: Inherited) => boolean} visit
   * @param {(el: any, ctx: Inherited) => Inherited} [inherit]
   * @param {(root: any) => void} [enter] called for each shadow root, before what is in it
   */
  walk(root, ctx, visit, inherit, enter) {
    const nodes = [root];
    const contexts = [ctx];
    /** @type {(any[] | null)[]} */
    const lists = [null];
    const positions = [0];
    let depth = 0;
    for (;;) {
      const el = nodes[depth];
      if (!el) {
        if (--depth < 0) return;
      } else {
        const tag = tagOf(el);
        if (!SKIPPED.has(tag) && visit(el, tag, contexts[depth])) {
          const root = shadowOf(el);
          if (root) {
            this.onRoot(root);
            if (enter) enter(root);
          }
          const list = root ? null : assignedChildren(el, tag);
          const first = list ? list[0] : root ? root.firstElementChild : safe.firstElementChild(el);
          if (first) {
            contexts[depth + 1] = inherit ? inherit(el, contexts[depth]) : contexts[depth];
            depth++;
            lists[depth] = list;
            positions[depth] = 0;
            nodes[depth] = first;
            continue;
          }
        }
      }
      if (depth === 0) return;
      const list = lists[depth];
      nodes[depth] = list ? list[++positions[depth]] : safe.nextElementSibling(nodes[depth]);
    }
  }

  // ---- keeping the list ---------------------------------------------------------------------

  /**
   * Takes everything below a node that left its place out of the list; what still is in the tree
   * is put back by the scan of where it went.
   * @param {any} root
   */
  takeOut(root) {
    this.walk(root, AT_ROOT, (el) => {
      const rec = this.recs.get(el);
      if (rec) {
        this.unlink(rec);
        this.check.add(rec);
      }
      if (this.pointers.found.size) this.point(el, false);
      return true;
    });
  }

  /** @param {Rec} rec */
  unlink(rec) {
    if (!rec.shown) return;
    before(rec).next = rec.next;
    if (rec.next) rec.next.prev = rec.prev;
    rec.prev = rec.next = null;
    rec.shown = false;
    this.inserts.delete(rec);
    this.unboxed.delete(rec);
    if (rec.sent) this.gone.add(rec);
  }

  /** Puts a record right behind another. @param {Rec} rec @param {Rec} prev */
  place(rec, prev) {
    if (rec.shown && rec.prev === prev) return;
    this.listDirty = true;
    if (rec.shown) {
      before(rec).next = rec.next;
      if (rec.next) rec.next.prev = rec.prev;
      rec.moved = true;
    } else {
      rec.shown = true;
      if (this.gone.delete(rec)) rec.moved = true;
      if (rec.control) this.tucked.delete(rec);
      if (!rec.boxSent) this.unboxed.add(rec);
    }
    this.inserts.add(rec);
    this.rows.fresh.add(rec);
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
    this.all.delete(rec);
    this.rows.fresh.delete(rec);
    if (rec.control) {
      this.controls.delete(rec);
      this.tucked.delete(rec);
    }
    if (this.standIns.has(rec.node) || this.stoodFor.has(rec.node)) this.standInsDirty = true;
    if (rec.ref >= 0) this.byRef.delete(rec.ref);
    const ids = rec.labelledby;
    if (ids) this.refer(rec, "");
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

  /**
   * The last listed record before an element in the flat tree.
   * @param {any} el
   */
  before(el) {
    let n = el;
    for (;;) {
      const previous = this.previous(n);
      if (previous) {
        n = previous;
      } else {
        n = flatParent(n);
        if (!n || safe.nodeType(n) !== 1) return this.head;
      }
      const rec = this.recs.get(n);
      if (rec && rec.shown) return rec;
    }
  }

  /** The deepest last element of the flat sibling before an element. @param {any} el */
  previous(el) {
    let n = this.flatSiblingBefore(el);
    for (let last = n; last; last = this.lastFlatChild(n)) n = last;
    return n;
  }

  /** @param {any} el */
  flatSiblingBefore(el) {
    const slot = slotOf(el);
    if (slot) {
      const list = slot.assignedElements();
      const i = list.indexOf(el);
      return i > 0 ? list[i - 1] : null;
    }
    return plain(el) ? el.previousElementSibling : previousElement(el);
  }

  /** @param {any} el */
  lastFlatChild(el) {
    const tag = tagOf(el);
    if (SKIPPED.has(tag)) return null;
    const root = shadowOf(el);
    if (root) return root.lastElementChild;
    const list = assignedChildren(el, tag);
    if (list) return list[list.length - 1];
    return plain(el) ? el.lastElementChild : lastElement(el);
  }

  /**
   * Looks at one element: makes, shows, hides or describes its record. Returns the record when it
   * is listed now.
   * @param {any} el @param {string} tag @param {Inherited} ctx @param {Rec} prev the listed record before it
   */
  examine(el, tag, ctx, prev) {
    const explicit = has(el, "role") ? explicitRole(el) : "";
    ariaFree = null;
    const kind = kindOf(el, tag, explicit, this.hints.get(el) || 0, this.structural, ctx);
    let rec = this.recs.get(el);
    if (kind < 0 || (ctx.inert && this.isInert(el, ctx))) {
      if (rec) {
        rec.inert = true;
        if (rec.control) this.hideControl(rec);
        this.unlink(rec);
      }
      if (rec && kind < 0) this.forget(rec);
      return null;
    }
    if (!rec) {
      if (this.all.size >= MAX_ELEMENTS) {
        this.limited = true;
        return null;
      }
      rec = new Rec(el);
      rec.since = this.fates.clock;
      this.recs.set(el, rec);
    }
    if (!this.all.has(rec)) {
      this.all.add(rec);
      if (rec.control) this.controls.add(rec);
      if (rec.ref >= 0) this.byRef.set(rec.ref, rec);
    }
    rec.gen = this.gen;
    rec.inert = false;
    this.position();
    const rect = this.sight.rect(el, tag);
    if (!this.sight.isStyled(el, tag) || !this.sight.isPlaced(el, tag, rect)) {
      if (rec.control) this.hideControl(rec);
      this.unlink(rec);
      return null;
    }
    if (rec.control && !rec.shown && isToggle(el, tag)) this.standInsDirty = true;
    this.box(rec, rect);
    this.place(rec, prev);
    this.describe(rec, explicit, kind, ctx);
    return rec;
  }

  /** A control that nobody sees may have a label that stands in for it. @param {Rec} rec */
  hideControl(rec) {
    rec.live = liveState(rec.node, rec.tag);
    if (!isToggle(rec.node, rec.tag)) return;
    this.tucked.add(rec);
    this.standInsDirty = true;
  }

  /**
   * Fills in the fields of a record.
   * @param {any[]} into @param {Rec} rec @param {string} explicit @param {number} kind @param {Inherited} ctx
   */
  fill(into, rec, explicit, kind, ctx) {
    const child = kind === FRAME_HOST ? this.children.get(rec.node) || "" : "";
    describe(into, rec.node, rec.tag, explicit, kind, ctx, this.naming, this.focused, this.attributes, child);
    const control = this.stoodFor.size && !explicit ? this.stoodFor.get(rec.node) : undefined;
    if (control) describeStandIn(into, control, ctx, this.naming, this.focused);
    if (rec.control || control) rec.live = liveState(control || rec.node, control ? "input" : rec.tag);
  }

  /** @param {Rec} rec @param {string} explicit @param {number} kind @param {Inherited} ctx */
  describe(rec, explicit, kind, ctx) {
    probeAria(rec.node);
    this.refer(rec, aria(rec.node, "aria-labelledby") || "");
    if (!rec.sent) {
      this.fill(rec.fields, rec, explicit, kind, ctx);
      rec.covers = coverage(rec.fields, rec.tag, this.naming.fromContent);
      return;
    }
    const now = scratch;
    this.fill(now, rec, explicit, kind, ctx);
    rec.covers = coverage(now, rec.tag, this.naming.fromContent);
    for (let i = 0; i < FIELDS; i++) {
      if (now[i] !== rec.fields[i]) {
        rec.mask |= 1 << i;
        rec.fields[i] = now[i];
      }
    }
    if (rec.mask & (1 << F_TEXT)) this.rows.fresh.add(rec);
    if (rec.mask) this.changed.add(rec);
  }

  /** What is in an element counts now, or no longer, if its text covers more or less than it did. @param {Rec} rec @param {number} was */
  uncover(rec, was) {
    if (rec.covers !== was && this.structural && (safe.firstElementChild(rec.node) || shadowOf(rec.node))) this.added.add(rec.node);
  }

  /** Reads the scroll position, once an update, and only where boxes are read: it takes a layout. */
  position() {
    if (this.positioned) return;
    this.positioned = true;
    this.scrollX = this.sight.x = scrollX;
    this.scrollY = this.sight.y = scrollY;
    this.viewWidth = innerWidth;
    this.viewHeight = innerHeight;
  }

  /** @param {Rec} rec @param {DOMRect} rect */
  box(rec, rect) {
    let { x, y, width, height } = rect;
    if (rec.fields[F_KIND] === FRAME_HOST || rec.tag === "iframe") {
      x += rec.node.clientLeft;
      y += rec.node.clientTop;
      width = rec.node.clientWidth;
      height = rec.node.clientHeight;
    }
    x = Math.round(x + this.scrollX);
    y = Math.round(y + this.scrollY);
    width = Math.max(1, Math.round(width));
    height = Math.max(1, Math.round(height));
    if (x !== rec.x || y !== rec.y || width !== rec.w || height !== rec.h) {
      rec.x = x;
      rec.y = y;
      rec.w = width;
      rec.h = height;
      this.unbox(rec);
    }
  }

  /** The box of a record is not the one that was sent. @param {Rec} rec */
  unbox(rec) {
    rec.boxSent = false;
    if (rec.shown) this.unboxed.add(rec);
  }

  /** Walks everything below an element and brings its records up to date. @param {any} root */
  scan(root) {
    let prev = this.before(root);
    /** @type {Rec | null} */
    let last = null;
    this.walk(
      root,
      this.inherited(root),
      (el, tag, ctx) => {
        last = this.examine(el, tag, ctx, prev);
        if (last) prev = last;
        return true;
      },
      (el, ctx) => this.within(el, ctx, last || undefined),
      (root) => this.enter(root),
    );
  }

  /**
   * Whether the document has only what scanPlain understands: no shadow trees, nothing that disables
   * its descendants, and no interest in the structure.
   */
  isPlain() {
    if (this.structural || this.strange || this.designed || safe.querySelector(this.doc, DISABLING)) return false;
    if (this.pointers.found.size && this.styles.of(this.doc).opaque) return false;
    const { elements } = this;
    for (let i = 0, n = elements.length; i < n; i++) if (shadowOf(elements[i])) return false;
    return true;
  }

  /**
   * What scan does for a whole plain document, at half the cost: the browser itself finds the elements
   * that can count, so that the others are never touched.
   */
  scanPlain() {
    /** @type {Rec} */
    let prev = this.head;
    /** The listed elements that the current one is in, and what they hand down. */
    const recs = [];
    const contexts = [AT_ROOT];
    const selector = this.pointers.found.size ? CANDIDATES + "," + this.styles.of(this.doc).selector : CANDIDATES;
    for (const el of safe.querySelectorAll(this.doc, selector)) {
      while (recs.length && !safe.contains(recs[recs.length - 1].node, el)) {
        recs.pop();
        contexts.pop();
      }
      const ctx = contexts[recs.length];
      const rec = this.examine(el, tagOf(el), ctx, prev);
      if (!rec) continue;
      prev = rec;
      if (!safe.firstElementChild(el)) continue;
      recs.push(rec);
      contexts.push(this.within(el, ctx, rec));
    }
  }

  /** Walks the whole document. */
  scanAll() {
    this.gen++;
    this.limited = false;
    this.labels.reset();
    this.added.clear();
    this.arrived.clear();
    this.dirty.clear();
    this.check.clear();
    this.looks.clear();
    this.restyled.clear();
    for (const _ of this.lookForPointers());
    this.looks.clear();
    const root = safe.documentElement(this.doc);
    if (this.isPlain()) this.scanPlain();
    else if (root) this.scan(root);
    for (const rec of this.all) if (rec.gen !== this.gen) this.drop(rec);
    this.rescan = false;
    this.styleDirty = false;
    this.controlsDirty = false;
    this.labelsDirty = false;
    this.geometryDirty = false;
    this.notePosition();
  }

  // ---- bringing it up to date ---------------------------------------------------------------

  /** Forgets what was read of styles and layout. */
  begin() {
    this.positioned = false;
    this.sight.begin();
    this.pointers.begin();
  }

  /** Looks at what is the document's, not an element's, and what no mutation shows. */
  glance() {
    this.labels.trees = this.rootList.size > 0;
    this.naming.generated.look(this.doc, this.labels.trees);
    this.noteDesign();
    if (lookForVeil(this.doc)) this.styleDirty = true;
    if (!this.rescan) this.sweepRoots();
  }

  /**
   * Applies everything noted.
   * @param {boolean} all also what no mutation shows
   */
  update(all) {
    this.fates.unread = 0;
    this.begin();
    if (this.rescan || all) this.glance();
    this.noteFocus();
    if (this.rescan) {
      this.scanAll();
      this.findStandIns();
      return;
    }
    for (const el of this.arrived) if (safe.isConnected(el)) this.noteLabels(el, true);
    this.arrived.clear();
    const sweep = all && this.styleDirty;
    if (sweep) this.sweep();
    this.pointed = sweep;
    this.noteRestyled();
    if (this.controlsDirty || all) this.sweepControls(all);
    if (this.labelsDirty) {
      this.labelsDirty = false;
      for (const rec of this.controls) this.dirty.add(rec);
    }
    for (let rounds = 0; rounds < 2; rounds++) { // what was described anew may cover more or less
      this.rescanAdded();
      this.refreshDirty();
    }
    if (this.standInsDirty || sweep) this.findStandIns();
  }

  noteFocus() {
    let el = safe.activeElement(this.doc);
    while (el && shadowOf(el) && shadowOf(el).activeElement) el = shadowOf(el).activeElement;
    if (el === this.focused) return;
    for (const n of [this.focused, el]) {
      const rec = n && this.recs.get(n);
      if (rec && !this.rescan) this.dirty.add(rec);
    }
    this.focused = el;
  }

  /** Looks below restyled elements, as far as that is cheap. */
  noteRestyled() {
    for (const el of this.restyled) {
      this.reviewPointers(el);
      let left = RESTYLE_NODES;
      this.walk(el, AT_ROOT, (n) => {
        const rec = this.recs.get(n);
        if (rec) this.check.add(rec);
        return --left > 0;
      });
      this.noteText(el);
    }
    this.restyled.clear();
  }

  rescanAdded() {
    if (!this.added.size) return;
    const roots = [...this.added];
    this.added.clear();
    for (const el of roots) {
      if (!safe.isConnected(el)) continue;
      if (this.insideAnother(el, roots)) continue;
      this.reviewPointers(el);
      this.scan(el);
    }
  }

  /** Whether another root of the batch contains the element. @param {any} el @param {any[]} roots */
  insideAnother(el, roots) {
    if (roots.length < 2) return false;
    if (this.batch !== roots) {
      this.batch = roots;
      this.batchSet = new Set(roots);
    }
    for (let n = flatParent(el); n; n = flatParent(n)) if (this.batchSet.has(n)) return true;
    return false;
  }

  refreshDirty() {
    for (let rounds = 0; (this.dirty.size || this.check.size || this.looks.size) && rounds < 8; rounds++) {
      const { check, dirty, looks } = this;
      this.check = new Set();
      this.dirty = new Set();
      this.looks = new Set();
      for (const node of looks) this.lookAtNode(node);
      for (const rec of check) this.lookAgain(rec);
      for (const rec of dirty) if (!check.has(rec)) this.describeAgain(rec);
    }
  }

  /** Describes a record again, without a look at its style or box. @param {Rec} rec */
  describeAgain(rec) {
    if (!rec.shown || !safe.isConnected(rec.node)) {
      this.lookAgain(rec);
      return;
    }
    const { covers } = rec;
    this.describe(rec, has(rec.node, "role") ? explicitRole(rec.node) : "", rec.fields[F_KIND], this.inherited(rec.node));
    this.uncover(rec, covers);
  }

  /** Looks at one record again. @param {Rec} rec */
  lookAgain(rec) {
    if (!safe.isConnected(rec.node)) {
      this.drop(rec);
      return;
    }
    const was = rec.shown;
    const { covers } = rec;
    const ctx = this.inherited(rec.node);
    const now = this.examine(rec.node, rec.tag, ctx, was ? before(rec) : this.before(rec.node));
    if (was !== (now !== null)) this.reparent(rec);
    this.uncover(rec, covers);
  }

  /** Looks at a node that may have no record. @param {any} node */
  lookAtNode(node) {
    const rec = this.recs.get(node);
    if (rec && this.all.has(rec)) {
      this.lookAgain(rec);
      return;
    }
    if (!safe.isConnected(node)) return;
    const now = this.examine(node, tagOf(node), this.inherited(node), this.before(node));
    if (now) this.reparent(now);
  }

  /** The listed records below one that appeared or vanished have another parent. @param {Rec} rec */
  reparent(rec) {
    if (!safe.firstElementChild(rec.node) && !shadowOf(rec.node)) return;
    this.walk(rec.node, AT_ROOT, (el) => {
      const below = this.recs.get(el);
      if (below && below !== rec && below.shown) this.dirty.add(below);
      return true;
    });
  }

  /** Finds values and checks that scripts set. @param {boolean} all of all controls, or of some, in turn */
  sweepControls(all) {
    this.controlsDirty = false;
    if (all || this.controls.size <= CONTROLS_AT_ONCE) {
      for (const rec of this.controls) this.lookAtControl(rec);
    } else {
      for (let i = 0; i < CONTROLS_AT_ONCE; i++) {
        const next = this.controlCursor && this.controlCursor.next();
        if (next && !next.done) this.lookAtControl(next.value);
        else this.controlCursor = this.controls.values();
      }
    }
    for (const [label, control] of this.stoodFor) {
      const rec = this.recs.get(label);
      if (rec && rec.shown && liveState(control, "input") !== rec.live) this.dirty.add(rec);
    }
  }

  /** What a control holds is a part of the names around it. @param {Rec} rec */
  lookAtControl(rec) {
    if (liveState(rec.node, rec.tag) === rec.live) return;
    this.found++;
    // Boxes that are checked may show something; and where one was set, others were that were not looked at.
    if (typeof rec.live === "boolean" || this.controls.size > CONTROLS_AT_ONCE) this.styleDirty = true;
    this.noteText(rec.node);
  }

  /**
   * Looks at everything at once: what style rules and the layout show or hide, and what left the tree unseen.
   * The boxes that this reads are kept, so that measuring right after it costs nothing.
   */
  sweep() {
    this.styleDirty = this.geometryDirty = false;
    for (const _ of this.lookOverRecords());
    for (const _ of this.lookOverTrees());
    for (const _ of this.styles.readAgain(this.doc));
    for (const _ of this.lookForPointers());
  }

  /** The same, a bit at a time; see Pass. What it finds is noted for an update. */
  *lookOverAll() {
    yield* this.lookOverRecords();
    yield* this.lookForRoots(this.elements);
    yield* this.lookOverTrees();
    yield* this.styles.readAgain(this.doc);
    yield* this.lookForPointers();
  }

  *lookOverRecords() {
    this.position();
    for (const rec of this.all) {
      this.lookOver(rec);
      if (rec.control) this.lookAtControl(rec);
      yield;
    }
    this.notePosition();
  }

  /** Looks for new shadow roots in those that are known. */
  *lookOverTrees() {
    for (const root of this.rootList) {
      if (!safe.isConnected(root)) this.rootList.delete(root);
      else yield* this.lookForRoots(root.querySelectorAll("*"));
    }
  }

  /** Shadow roots attach without a mutation. @param {any} elements of a list that may change meanwhile */
  *lookForRoots(elements) {
    for (let i = 0; i < elements.length; i++) {
      this.noteRoot(elements[i]);
      if (i % 4 === 3) yield;
    }
  }

  /** Looks whether a record is as it was. @param {Rec} rec */
  lookOver(rec) {
    const rect = this.sight.rect(rec.node, rec.tag);
    const visible = this.sight.isStyled(rec.node, rec.tag) && this.sight.isPlaced(rec.node, rec.tag, rect);
    if (visible !== rec.shown || !safe.isConnected(rec.node)) {
      this.found++;
      this.check.add(rec);
    } else if (rec.shown) this.box(rec, rect);
  }

  /** Shadow roots attach without a mutation: looks for new ones, a part of the document at a time. */
  sweepRoots() {
    const { elements } = this;
    const count = Math.min(elements.length, ROOTS_AT_ONCE);
    for (let i = 0; i < count; i++) {
      if (this.rootCursor >= elements.length) this.rootCursor = 0;
      this.noteRoot(elements[this.rootCursor++]);
    }
  }

  /** @param {any} el */
  noteRoot(el) {
    const root = shadowOf(el);
    if (!root || this.roots.has(root)) return;
    this.found++;
    this.reslot(el);
    this.noteText(el);
  }

  // ---- what counts for other reasons --------------------------------------------------------

  /** Sets or clears a hint. Reports whether it was different. @param {any} node @param {number} hint @param {boolean} on */
  hint(node, hint, on) {
    const was = this.hints.get(node) || 0;
    const now = on ? was | hint : was & ~hint;
    if (now !== was) this.hints.set(node, now);
    return now !== was;
  }

  /** Notes whether an element counts for its cursor. @param {any} node @param {boolean} is */
  point(node, is) {
    if (is) this.pointers.found.add(node);
    else if (!this.pointers.found.delete(node)) return;
    if (!this.hint(node, HINT_POINTER, is)) return;
    this.found++;
    this.looks.add(node);
  }

  /** Reads the sheets, and finds all elements that count for their cursor, a bit at a time. */
  *lookForPointers() {
    this.styles.begin();
    const found = new Set();
    for (const root of [this.doc, ...this.rootList]) {
      this.styles.read(root);
      for (const el of this.pointers.candidates(root)) {
        if (this.pointers.isOne(el)) found.add(el);
        yield;
      }
    }
    for (const el of this.pointers.found) if (!found.has(el)) this.point(el, false);
    for (const el of found) this.point(el, true);
  }

  /** Looks below an element for such, and at those known there. @param {any} root */
  reviewPointers(root) {
    const { pointers } = this;
    if (this.pointed || !safe.isConnected(root)) return;
    for (const el of pointers.candidatesWithin(root)) this.point(el, pointers.isOne(el));
    if (pointers.found.size * (1 + this.restyled.size) > MAX_POINTERS) return; // the next pass will
    for (const el of pointers.found) if (safe.contains(root, el) && !pointers.isOne(el)) this.point(el, false);
  }

  /** Reads the sheets of a shadow tree that is walked into. @param {any} root */
  enter(root) {
    // Names in it are looked for in its own labels and styles; the first walk learns here that there is a tree.
    this.labels.trees = this.naming.generated.possible = true;
    this.styles.read(root);
    for (const el of this.pointers.candidates(root)) {
      this.point(el, this.pointers.isOne(el));
      if (el !== root.host) this.looks.delete(el); // it is walked next
    }
  }

  /** Looks whether the document as a whole became editable, which no mutation shows. */
  noteDesign() {
    const on = safe.designMode(this.doc) === "on";
    if (on === this.designed) return;
    this.designed = on;
    const body = safe.querySelector(this.doc, "body");
    if (body && this.hint(body, HINT_EDITED, on)) this.looks.add(body);
  }

  /**
   * Finds the labels that stand in for checkboxes, radios and file inputs that nobody sees: of each control
   * the first label that can be seen.
   */
  findStandIns() {
    this.standInsDirty = false;
    const now = new Map();
    for (const rec of this.tucked) {
      if (rec.shown || rec.inert || !isToggle(rec.node, rec.tag) || !safe.isConnected(rec.node)) continue;
      const label = this.sight.labelOf(rec.node);
      if (label) now.set(rec.node, label);
    }
    const was = this.standIns;
    this.standIns = now;
    this.stoodFor = new Map();
    for (const [control, label] of now) this.stoodFor.set(label, control);
    for (const [control, label] of was) if (!this.stoodFor.has(label) && this.hint(label, HINT_STAND_IN, false)) this.looks.add(label);
    for (const [label, control] of this.stoodFor) {
      if (this.hint(label, HINT_STAND_IN, true) || was.get(control) !== label) this.looks.add(label);
    }
    this.refreshDirty();
  }

  // ---- geometry -----------------------------------------------------------------------------

  /** Reads all boxes, unless nothing can have moved since they were read. */
  measure() {
    this.position();
    if (this.geometryDirty) {
      for (let rec = this.head.next; rec; rec = rec.next) this.box(rec, this.sight.rect(rec.node, rec.tag));
      this.geometryDirty = false;
      this.notePosition();
    }
    this.cover();
  }

  /** Finds out which elements a modal makes useless. */
  cover() {
    const modal = openModal(this.doc, this.rootList);
    const covers = modal && new Cover(modal, this.rootList.size > 0);
    if (covers && !covers.inert) {
      for (let rec = this.head.next; rec; rec = rec.next) covers.probe(rec, this.scrollX, this.scrollY);
    }
    if (!covers && !this.covering) return;
    this.covering = covers !== null;
    for (let rec = this.head.next; rec; rec = rec.next) {
      const covered = covers !== null && covers.has(rec.node);
      if (covered === rec.covered) continue;
      rec.covered = covered;
      this.unbox(rec);
    }
  }

  /** What layoutHolds compares with. */
  notePosition() {
    const el = safe.documentElement(this.doc);
    this.probe = el ? [el.scrollWidth, el.scrollHeight, innerWidth, innerHeight, scrollX, scrollY] : [];
  }

  /**
   * Whether the layout looks as it did: the document's and the window's sizes, running
   * animations, and a sample of elements that goes round. Style rules added by script fire no event.
   */
  layoutHolds() {
    if (this.geometryDirty) return false;
    this.begin();
    return this.stylesHold(true) && this.sampleHolds(SAMPLE) ? true : this.moved();
  }

  /**
   * The same at a glance. When something is known to have moved, styles may have changed all the same; that
   * boxes are not what they were is news only to those who watch boxes.
   * @param {boolean} boxes somebody does
   */
  looksSame(boxes) {
    if (boxes && this.geometryDirty) return false;
    this.begin();
    return this.stylesHold(boxes) && this.sampleHolds(SAMPLE_OF_GLANCE) ? true : this.moved();
  }

  /** Whether no style sheet came, went or changed, and nothing is animated. @param {boolean} strict without end, too */
  stylesHold(strict) {
    if (this.styles.changed(this.doc)) return false;
    for (const a of safe.getAnimations(this.doc)) {
      if (a.playState === "running" && (strict || !isEndless(a, this.doc))) return false;
    }
    return true;
  }

  /** @param {number} size */
  sampleHolds(size) {
    const boxes = !this.geometryDirty;
    if (boxes) {
      this.position();
      const el = safe.documentElement(this.doc);
      const now = el ? [el.scrollWidth, el.scrollHeight, innerWidth, innerHeight, scrollX, scrollY] : [];
      for (let i = 0; i < now.length; i++) if (now[i] !== this.probe[i]) return false;
    }
    let rec = this.cursor && this.cursor.shown ? this.cursor : this.head.next;
    for (let i = 0; rec && i < size; i++, rec = rec.next) {
      if (rec.tag === "iframe") continue;
      if (!this.sight.isStyled(rec.node, rec.tag)) return false;
      if (!boxes) continue;
      const r = this.sight.rect(rec.node, rec.tag);
      if (Math.round(r.x + scrollX) !== rec.x || Math.round(r.y + scrollY) !== rec.y || !(r.width > 0)) return false;
    }
    this.cursor = rec;
    return true;
  }

  /** The layout changed by something that no record shows: styles may have, too. */
  moved() {
    this.geometryDirty = true;
    this.styleDirty = true;
    return false;
  }
}

/**
 * Whether an animation goes on for ever, as spinners do, or goes with the scroll position: what it changes is found in
 * the regular passes.
 * @param {any} animation @param {Document} doc
 */
function isEndless(animation, doc) {
  return animation.timeline !== doc.timeline || (animation.effect !== null && animation.effect.getComputedTiming().endTime === Infinity);
}

/** @type {any[]} */
const scratch = [0, null, "", "", "", "", "", "", "", "", "", 0, "", ""];

/** A superset of what kindOf lets count when structure does not. */
const CANDIDATES = "a,area[href],button,input,select,textarea,details,summary,iframe,frame,[role],[onclick],[tabindex],[contenteditable]";
/** What no listener makes something to act on: it is that already, or is not shown. Nor has it a shadow root. */
const NO_LISTENERS = "a,button,input,select,textarea,details,summary,option,optgroup,datalist,br,hr,wbr,script,style,link,meta,title,base,template,noscript,source,track,param";
const MAY_LISTEN = ":not(" + NO_LISTENERS + ")";
const firstWithin = method(Element, "querySelector");
/** What changes how its descendants are seen. */
const DISABLING = "[inert],[aria-disabled],fieldset:disabled,slot";

/** Tags with nothing to see or use below them. */
const SKIPPED = new Set(["script", "style", "template", "head"]);

/** @param {any} el */
function previousElement(el) {
  let n = safe.previousSibling(el);
  while (n && safe.nodeType(n) !== 1) n = safe.previousSibling(n);
  return n;
}

/** @param {any} el */
function lastElement(el) {
  let n = safe.lastChild(el);
  while (n && safe.nodeType(n) !== 1) n = safe.previousSibling(n);
  return n;
}

/** Attributes that make an element count, or count no more. */
const RETAG = new Set(["inert", "open", "role", "tabindex", "contenteditable", "onclick", "href", "type", "aria-label", "aria-labelledby", "title", "alt"]);

/** Whether children of this node stand in slots. @param {any} node */
function shadowOfTarget(node) {
  return safe.nodeType(node) === 1 && shadowOf(node) !== null;
}

/**
 * What scripts can change about a control without a mutation. Being disabled is an attribute.
 * @param {any} el @param {string} tag
 */
function liveState(el, tag) {
  if (tag === "select") return el.selectedIndex;
  if (tag !== "input") return el.value;
  const type = el.type;
  if (type === "checkbox" || type === "radio") return el.indeterminate ? "m" : el.checked;
  return el.value;
}

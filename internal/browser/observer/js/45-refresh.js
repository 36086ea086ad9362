// @ts-check
// Refresh brings the records up to date: it scans added elements, and examines and describes the elements that may have
// changed.
//
// Refresh owns the full scans, the focused element and the flag that elements were left out. Agent
// calls update before each patch; it consumes what Changes recorded and leaves the differences in
// Records for the Writer.

/**
 * The number of nodes below a restyled element that are checked immediately; the next sweep checks the others.
 */
const RESTYLE_NODES = 1000;

/**
 * Matches a superset of the elements that count (kindOf) when structure is not stored and there are
 * no hints.
 */
const CANDIDATES = "a,area[href],button,input,select,textarea,details,summary,iframe,frame,[role],[onclick],[tabindex],[contenteditable],[draggable=true],select[multiple] option,select[size] option";
/** Matches elements that change what their descendants inherit, or the order of the flat tree. */
const DISABLING = "[inert],[aria-disabled],fieldset:disabled,slot";

/**
 * The fields that the method describe fills and then compares. They are one shared object, so that describing does
 * not allocate.
 */
const scratch = emptyFields();

class Refresh {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The number of the current or last full scan. */
    this.scans = 0;
    /** The focused element. @type {El | null} */
    this.focused = null;
    /** Whether elements were left out because there are too many. */
    this.limited = false;
  }

  /** Learns the secrets of elements that are not yet described. */
  learnSecrets() {
    const { changes, sweep, doc } = this.model;
    if (!changes.rescan) for (const el of changes.arrived) learnSecrets(el);
    else for (const tree of [doc, ...sweep.shadows]) learnSecrets(tree);
    relearnSecrets();
  }

  /**
   * Applies all recorded changes.
   * @param {boolean} all includes changes without a mutation, which reads need
   */
  update(all) {
    const { changes, hints, identity, onHover, records, sweep } = this.model;
    identity.undescribedSince = 0;
    this.model.begin();
    if (changes.rescan || all) sweep.poll();
    this.learnSecrets();
    this.recordFocus();
    if (changes.rescan) {
      this.scanAll();
      this.refreshProxies();
      this.refreshOnHover();
      return;
    }
    for (const el of changes.arrived) if (safe.isConnected(el)) {
      changes.markLabels(el, true);
      changes.markIds(el);
    }
    changes.arrived.clear();
    const everything = all && changes.styleDirty;
    if (everything) sweep.sweepAll();
    hints.cursorsFound = everything;
    this.markRestyled();
    if (changes.controlsDirty || all) sweep.checkControls(all);
    if (changes.labelsDirty) {
      changes.labelsDirty = false;
      for (const rec of records.controls) changes.dirty.add(rec);
    }
    for (let rounds = 0; rounds < 2; rounds++) { // a new description may cover more or less content
      this.scanAdded();
      this.refreshDirty();
    }
    if (changes.proxiesDirty || everything) this.refreshProxies();
    if (changes.structureDue) this.scanStructure(false);
    if (everything || onHover.due) this.refreshOnHover();
  }

  /** Finds content that shows on hover, and examines its triggers. A listed trigger may cover its content. */
  refreshOnHover() {
    this.model.onHover.find();
    this.refreshDirty();
    this.scanAdded();
    this.refreshDirty();
  }

  /**
   * Finds the proxies, and examines the labels that became a proxy or no longer are one. The name of the control may cover
   * more or less of the label's content than the label's own name.
   */
  refreshProxies() {
    this.model.hints.findProxyLabels();
    this.refreshDirty();
    this.scanAdded();
    this.refreshDirty();
  }

  /** Records which element has the focus. */
  recordFocus() {
    const { changes, records } = this.model;
    const el = focusedIn(this.model.doc);
    if (el === this.focused) return;
    for (const n of [this.focused, el]) {
      const rec = n && records.get(n);
      if (rec && !changes.rescan) changes.dirty.add(rec);
    }
    this.focused = el;
  }

  /** Marks the records in restyled elements, up to RESTYLE_NODES nodes for each. */
  markRestyled() {
    const { changes, hints, records, variants } = this.model;
    for (const el of changes.restyled) {
      hints.reviewCursorHints(el);
      let left = RESTYLE_NODES;
      this.model.walk(el, AT_ROOT, (n) => {
        const rec = records.get(n);
        if (rec) changes.check.add(rec);
        return --left > 0;
      });
      changes.markText(el);
      variants.markChanged(safe.parentNode(el));
    }
    changes.restyled.clear();
    variants.refresh();
  }

  // ---- scanning -----------------------------------------------------------------------------

  /** Examines an element and everything in it. @param {El} root */
  scan(root) {
    const { hints, records } = this.model;
    let prev = records.lastListedBefore(root);
    /** @type {Rec | null} */
    let last = null;
    const joiner = new Joiner(records, root);
    this.model.walk(
      root,
      inheritedBy(root, records),
      (el, tag, ctx, depth) => {
        last = this.examine(el, tag, ctx, prev, records.get(el), true);
        if (last) prev = last;
        joiner.visit(depth, last);
        return true;
      },
      (el, ctx) => inheritedBelow(el, ctx, last || undefined),
      (root) => hints.walkShadowRoot(root),
    );
    joiner.end();
  }

  /** Scans the added subtrees, each once. */
  scanAdded() {
    const { changes, hints, listeners } = this.model;
    if (!changes.added.size) return;
    const roots = changes.added;
    changes.added = new Set();
    for (const el of roots) {
      if (!safe.isConnected(el) || isInsideAnother(el, roots)) continue;
      hints.reviewCursorHints(el);
      listeners.classifyAround(el);
      this.scan(el);
    }
  }

  /** Scans the whole document. */
  scanAll() {
    const { changes, hints, labels, layout, naming, records, variants } = this.model;
    this.scans++;
    this.limited = false;
    labels.reset();
    const shadows = hasShadowTrees(this.model.elements);
    if (shadows) naming.generated.inShadows = true; // names are computed before the scan reaches the shadow trees
    changes.clearNodes();
    for (const _ of hints.findCursorHints());
    changes.checkNodes.clear();
    variants.tables = shadows || internals !== null || safe.querySelector(this.model.doc, MARKED_TABLES) !== null;
    const root = safe.documentElement(this.model.doc);
    if (shadows || !this.isPlain()) {
      if (root) this.scan(root);
    } else if (this.model.structural) this.scanStructure(true);
    else this.scanPlain();
    variants.tables = true;
    for (const rec of records.all) if (rec.scan !== this.scans) records.drop(rec);
    changes.rescan = false;
    changes.structureDue = false;
    changes.styleDirty = false;
    changes.controlsDirty = false;
    changes.labelsDirty = false;
    changes.geometryDirty = false;
    layout.keepSizes();
  }

  /**
   * Whether a document is plain outside of shadow trees: candidates returns all elements that may be interactive, and no
   * element disables its descendants.
   */
  isPlain() {
    const { doc, hints, listeners, styles } = this.model;
    if (listeners.needsWalk || hints.designMode || safe.querySelector(doc, DISABLING)) return false;
    return !hints.cursors.found.size || !styles.of(doc).opaque;
  }

  /** Returns the elements of a plain document, outside of shadow trees, that may be interactive without hints. */
  candidates() {
    const { doc, hints, styles } = this.model;
    return safe.querySelectorAll(doc, hints.cursors.found.size ? CANDIDATES + "," + styles.of(doc).selector : CANDIDATES);
  }

  /**
   * Scans a plain document at half the cost. It visits only the elements that can count, which querySelectorAll finds.
   */
  scanPlain() {
    const { records } = this.model;
    let prev = records.head;
    /**
     * The listed ancestors of the current element, and what their children inherit.
     * @type {Rec[]}
     */
    const recs = [];
    const contexts = [AT_ROOT];
    const list = this.candidates();
    for (let i = 0, n = list.length; i < n; i++) {
      const el = list[i];
      while (recs.length && !safe.contains(recs[recs.length - 1].node, el)) {
        recs.pop();
        contexts.pop();
      }
      const ctx = contexts[recs.length];
      const rec = this.examine(el, tagOf(el), ctx, prev, records.get(el), true);
      if (!rec) continue;
      prev = rec;
      if (!safe.firstElementChild(el)) continue;
      recs.push(rec);
      contexts.push(inheritedBelow(el, ctx, rec));
    }
  }

  /**
   * Scans the whole document for structural elements. Unless `all` is set, the records of interactive elements are up to
   * date, and the scan only updates their parents. Describing them again would be most of the work.
   * @param {boolean} all
   */
  scanStructure(all) {
    const { changes, hints, records } = this.model;
    changes.structureDue = false;
    const root = safe.documentElement(this.model.doc);
    if (!root) return;
    let plain = this.isPlain();
    /** Elements that may be interactive; the checks for interactive elements skip all others. @type {Set<El> | null} */
    let candidates = plain ? new Set(this.candidates()) : null;
    /** @type {Rec} */
    let prev = records.head;
    /** @type {Rec | null} */
    let last = null;
    const joiner = new Joiner(records, root);
    this.model.walk(
      root,
      AT_ROOT,
      (el, tag, ctx, depth) => {
        const rec = records.get(el);
        const known = !all && rec !== undefined && rec.shown && rec.fields[F_KIND] === INTERACTIVE;
        if (known) this.setParent(rec, ctx.parent);
        last = known ? rec : this.examine(el, tag, ctx, prev, rec, candidates === null || candidates.has(el));
        if (last) prev = last;
        joiner.visit(depth, last);
        return true;
      },
      (el, ctx) => (plain ? (last ? ctx.below(last) : ctx) : inheritedBelow(el, ctx, last || undefined)),
      (root) => {
        plain = false; // candidates does not search shadow trees and slotted content
        candidates = null;
        hints.walkShadowRoot(root);
      },
    );
    joiner.end();
  }

  /** @param {Rec} rec @param {Rec | null} parent */
  setParent(rec, parent) {
    if (rec.fields[F_PARENT] === parent) return;
    rec.fields[F_PARENT] = parent;
    if (!rec.sent) return;
    rec.mask |= 1 << F_PARENT;
    this.model.records.changed.add(rec);
  }

  // ---- one element --------------------------------------------------------------------------

  /**
   * Examines one element: creates, links, unlinks or describes its record. Returns the record when
   * it is listed.
   * @param {El} el @param {string} tag @param {Inherited} ctx @param {Rec} prev the listed record before it
   * @param {Rec | undefined} known its record
   * @param {boolean} candidate if false, only hints can make it interactive, and it has no role attribute
   * @returns {Rec | null}
   */
  examine(el, tag, ctx, prev, known, candidate) {
    const { hints, layout, records, structural, visibility } = this.model;
    const explicit = candidate && hasAttr(el, "role") ? explicitRole(el) : "";
    const hint = hints.get(el);
    forgetAttributes();
    let kind = candidate || hint ? kindOf(el, tag, explicit, hint, structural, ctx) : kindOfOther(el, tag, explicit, hint, structural, ctx);
    const held = kind === INTERACTIVE && isHolder(el, tag, explicit, hints);
    if (known && known.holds !== held) this.model.changes.markControls(el);
    if (held) kind = kindOfOther(el, tag, explicit, hint, structural, ctx);
    if ((kind < 0 && !held) || (ctx.inert ? isInert(el, ctx) : kind === INTERACTIVE && hasAttr(el, "inert"))) {
      if (known) this.exclude(known, kind);
      return null;
    }
    const role = kind === STRUCTURAL ? lastRole : "";
    const rec = known || this.newRec(el);
    if (!rec) return null;
    records.add(rec);
    rec.scan = this.scans;
    rec.inert = false;
    rec.holds = held;
    if (held) records.holding = true;
    if (kind < 0) { // the record stays, because the control may leave the container
      records.unlink(rec);
      return null;
    }
    layout.readPosition();
    const rect = visibility.isVisibleByStyle(el, tag) ? visibility.rect(el, tag) : null;
    if (rect === null || !visibility.hasVisibleBox(el, tag, rect)) {
      if (rec.control) hints.recordHiddenControl(rec);
      records.unlink(rec);
      return null;
    }
    if (rec.control && !rec.shown && (tag === "select" || isToggle(el, tag))) this.model.changes.proxiesDirty = true;
    layout.setBox(rec, rect);
    records.link(rec, prev);
    this.describe(rec, explicit, kind, ctx, role);
    return rec;
  }

  /**
   * Removes an element from the list because it does not count or is inert.
   * @param {Rec} rec @param {number} kind
   */
  exclude(rec, kind) {
    const { hints, records } = this.model;
    rec.inert = true;
    if (rec.control) hints.recordHiddenControl(rec);
    records.unlink(rec);
    if (kind < 0) records.forget(rec);
  }

  /** Creates the record of an element. Returns null if there are too many records. @param {El} el */
  newRec(el) {
    const { identity, records } = this.model;
    if (records.all.size >= MAX_ELEMENTS) {
      this.limited = true;
      return null;
    }
    const rec = new Rec(el);
    rec.since = identity.clock;
    records.byNode.set(el, rec);
    return rec;
  }

  /**
   * Fills in the fields of a record.
   * @param {Fields} into @param {Rec} rec @param {string} explicit @param {number} kind @param {Inherited} ctx
   * @param {string} role see describe
   */
  fill(into, rec, explicit, kind, ctx, role) {
    const { attributes, frames, hints, naming } = this.model;
    const child = kind === FRAME_HOST ? frames.get(rec.node) || "" : "";
    describe(into, rec.node, rec.tag, explicit, kind, ctx, naming, this.focused, attributes, child, (hints.get(rec.node) & HINT_TARGET) !== 0, role, rec);
    const control = hints.proxiedControls.size ? (explicit ? hints.selectOf(rec.node) : hints.proxiedControls.get(rec.node)) : undefined;
    if (kind === INTERACTIVE && isSelectedByHolder(rec.node, this.model.records)) {
      into[F_STATES] = (into[F_STATES] & ~(3 << S_SELECTED)) | (YES << S_SELECTED);
    }
    if (control) describeProxy(into, rec, control, ctx, naming, this.focused);
    into[F_MARKS] = this.model.onHover.addTo(rec.node, marksOf(into, rec.node, rec.tag, this.model.variants));
    into[F_JOIN] = rec.fields[F_JOIN];
    if (rec.control || control) rec.live = liveState(control || rec.node, control ? tagOf(control) : rec.tag);
  }

  /**
   * Brings the fields of a record up to date.
   * @param {Rec} rec @param {string} explicit @param {number} kind @param {Inherited} ctx
   * @param {string} role the role that was computed just now, or ""
   */
  describe(rec, explicit, kind, ctx, role) {
    const { naming, records, rows } = this.model;
    probeAttributes(rec.node);
    naming.clearReferences();
    const now = rec.sent ? scratch : rec.fields;
    this.fill(now, rec, explicit, kind, ctx, role);
    forgetAttributes();
    records.setReferences(rec, naming.references.length ? naming.references.join(" ") : "");
    rec.coverage = textCoverage(now, rec.node, rec.tag, naming);
    if (!rec.sent) return;
    for (let i = 0; i < FIELDS; i++) {
      if (now[i] !== rec.fields[i]) {
        rec.mask |= 1 << i;
        /** @type {Fields[number][]} */ (rec.fields)[i] = now[i];
      }
    }
    if (rec.mask & (1 << F_TEXT)) rows.unrecorded.add(rec);
    if (rec.mask) records.changed.add(rec);
  }

  // ---- what changed -------------------------------------------------------------------------

  /** Examines and describes the recorded elements, and those that become dirty as a result. */
  refreshDirty() {
    const { changes } = this.model;
    for (let rounds = 0; (changes.dirty.size || changes.check.size || changes.checkNodes.size) && rounds < 8; rounds++) {
      const { check, dirty, checkNodes } = changes;
      changes.check = new Set();
      changes.dirty = new Set();
      changes.checkNodes = new Set();
      for (const node of checkNodes) this.checkNode(node);
      for (const rec of check) this.checkRec(rec);
      for (const rec of dirty) if (!check.has(rec)) this.describeAgain(rec);
    }
  }

  /** Describes a record again, without reading its style or box. @param {Rec} rec */
  describeAgain(rec) {
    if (!rec.shown || !safe.isConnected(rec.node)) {
      this.checkRec(rec);
      return;
    }
    const coverage = covers(rec);
    const explicit = hasAttr(rec.node, "role") ? explicitRole(rec.node) : "";
    if (rec.holds || (rec.fields[F_KIND] === INTERACTIVE && isHolder(rec.node, rec.tag, explicit, this.model.hints))) {
      this.checkRec(rec);
      return;
    }
    this.describe(rec, explicit, rec.fields[F_KIND], inheritedBy(rec.node, this.model.records), "");
    this.checkCoverage(rec, coverage);
  }

  /** Examines the node of a record again. @param {Rec} rec */
  checkRec(rec) {
    const { records } = this.model;
    if (!safe.isConnected(rec.node)) {
      records.drop(rec);
      return;
    }
    const was = rec.shown;
    const coverage = covers(rec);
    const ctx = inheritedBy(rec.node, records);
    const now = this.examine(rec.node, rec.tag, ctx, was ? previousRec(rec) : records.lastListedBefore(rec.node), rec, true);
    if (was !== (now !== null)) this.reparent(rec);
    this.checkCoverage(rec, coverage);
  }

  /** Examines a node that may have no record. @param {El} node */
  checkNode(node) {
    const { records } = this.model;
    const rec = records.get(node);
    if (rec && records.all.has(rec)) {
      this.checkRec(rec);
      return;
    }
    if (!safe.isConnected(node)) return;
    const now = this.examine(node, tagOf(node), inheritedBy(node, records), records.lastListedBefore(node), records.get(node), true);
    if (!now) return;
    this.reparent(now);
    this.checkCoverage(now, COVERS_NONE);
  }

  /**
   * Marks the records below a linked or unlinked record as dirty, because their parent has changed.
   * @param {Rec} rec
   */
  reparent(rec) {
    if (!hasElements(rec.node)) return;
    const { changes, records } = this.model;
    this.model.walk(rec.node, AT_ROOT, (el) => {
      const below = records.get(el);
      if (below && below !== rec && below.shown) changes.dirty.add(below);
      return true;
    });
  }

  /**
   * Schedules a scan of an element's content if its text covers more or less than before.
   * @param {Rec} rec @param {number} was
   */
  checkCoverage(rec, was) {
    if (covers(rec) !== was && this.model.structural && hasElements(rec.node)) this.model.changes.added.add(rec.node);
  }
}

/**
 * Returns how much of an element's content the text of its record covers. A record that is not listed covers none.
 * @param {Rec} rec
 */
function covers(rec) {
  return rec.shown ? rec.coverage : COVERS_NONE;
}

/** Whether one of the other roots contains an element. @param {El} el @param {Set<Node>} roots */
function isInsideAnother(el, roots) {
  if (roots.size < 2) return false;
  for (let n = flatParent(el); n; n = flatParent(n)) if (roots.has(n)) return true;
  return false;
}

/**
 * Returns the focused element, which may be in a shadow tree.
 * @param {Document} doc @returns {El | null}
 */
function focusedIn(doc) {
  let el = safe.activeElement(doc);
  for (let root = el && shadowOf(el); root && root.activeElement; root = shadowOf(el)) el = root.activeElement;
  return el;
}

/**
 * Returns the state of a control that scripts can change without a mutation: its value, selection or checked state.
 * @param {El} el @param {string} tag
 */
function liveState(el, tag) {
  if (tag === "select") return el.selectedIndex;
  if (tag !== "input") return el.value;
  const type = el.type;
  if (type === "checkbox" || type === "radio") return el.indeterminate ? "m" : el.checked;
  return el.value || drawnValue(el);
}

// @ts-check
// Intake of mutation records: notes which elements are to be checked. The checks themselves are made by Refresh, at the next
// update.

/** Records or dirty nodes above this are cheaper to walk again than to follow. */
const RESCAN_ABOVE = 2000;

/** Attributes that make an element count, or count no more. */
const RETAG = new Set(["inert", "open", "role", "tabindex", "contenteditable", "onclick", "href", "type", "aria-label", "aria-labelledby", "title", "alt"]);

class Changes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The whole document is to be walked. */
    this.rescan = true;
    /** Nodes whose subtree is to be walked. @type {Set<El>} */
    this.added = new Set();
    /** Those of them that came into their place just now: nothing below them is listed. @type {Set<El>} */
    this.arrived = new Set();
    /** Records to describe anew. @type {Set<Rec>} */
    this.dirty = new Set();
    /** Records to look at anew: there, visible, where? That can take a layout. @type {Set<Rec>} */
    this.check = new Set();
    /** Nodes to look at anew, with a record or without. @type {Set<El>} */
    this.checkNodes = new Set();
    /** Nodes whose style changed. @type {Set<El>} */
    this.restyled = new Set();
    /** Styles or the layout may have changed without a mutation: a sweep is needed. */
    this.styleDirty = false;
    /** Boxes may have moved. */
    this.geometryDirty = true;
    /** Controls may have another state. */
    this.controlsDirty = false;
    /** Other labels may stand in for hidden controls now. */
    this.proxiesDirty = false;
    /** Labels may name other controls. */
    this.labelsDirty = false;
  }

  /** Whether an update would look at something. */
  get pending() {
    return this.rescan || this.added.size > 0 || this.dirty.size > 0 || this.check.size > 0 || this.checkNodes.size > 0 || this.restyled.size > 0 || this.controlsDirty || this.labelsDirty || this.proxiesDirty;
  }

  /** Forgets which nodes and records were noted. */
  clearNodes() {
    for (const set of [this.added, this.arrived, this.dirty, this.check, this.checkNodes, this.restyled]) set.clear();
  }

  /** The layout changed by something that no record shows: styles may have, too. */
  invalidateLayout() {
    this.geometryDirty = true;
    this.styleDirty = true;
  }

  /** @param {MutationRecord[]} records */
  note(records) {
    const { identity, listeners, rows } = this.model;
    this.geometryDirty = true;
    identity.clock++;
    if (this.rescan) {
      listeners.forgetPending();
      rows.touchAll();
      return;
    }
    if (records.length + this.added.size + this.dirty.size + this.check.size > RESCAN_ABOVE) {
      this.forgetNoted();
      return;
    }
    for (const r of records) {
      if (r.type === "attributes") this.noteAttribute(/** @type {El} */ (r.target), r.attributeName || "");
      else if (r.type === "characterData") this.noteText(safe.parentNode(/** @type {Text} */ (r.target)));
      else this.noteChildren(r);
    }
  }

  /**
   * Walks the document at the next update, instead of following what was noted. Nothing is kept of it
   * until then: nobody may ask for days, and nodes that left the page must not stay because of us.
   */
  forgetNoted() {
    this.rescan = true;
    this.model.listeners.forgetPending();
    this.model.rows.touchAll();
    this.clearNodes();
  }

  /** @param {MutationRecord} r */
  noteChildren(r) {
    const { identity, listeners, styles } = this.model;
    const target = /** @type {DomNode} */ (r.target);
    let text = false, elements = false;
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.removedNodes)) {
      if (isElement(n)) {
        elements = true;
        identity.noteDeparture(n);
        if (this.arrived.delete(n)) { // it came and went without being looked at
          this.added.delete(n);
          continue;
        }
        this.takeOut(n);
        this.noteLabels(n, false);
      } else text = true;
    }
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.addedNodes)) {
      if (isElement(n)) {
        elements = true;
        identity.noteArrival(n);
        this.added.add(n);
        this.arrived.add(n);
        listeners.noteInserted(n);
      } else text = true;
    }
    // Other elements may be seen now, or no longer, for the sake of their neighbours.
    if (elements && styles.structural) this.styleDirty = true;
    if (isElement(target)) {
      if (r.removedNodes.length && safe.firstChild(target) === null) listeners.addPending(target);
      if (shadowOf(target) !== null) this.reslot(target);
    }
    this.noteText(target);
    if (text && this.model.structural && isElement(target)) this.added.add(target);
  }

  /**
   * Takes everything below a node that left its place out of the list; what still is in the tree
   * is put back by the scan of where it went.
   * @param {El} root
   */
  takeOut(root) {
    const { hints, records } = this.model;
    this.model.walk(root, AT_ROOT, (el) => {
      const rec = records.get(el);
      if (rec) {
        records.unlink(rec);
        this.check.add(rec);
      }
      if (hints.cursors.found.size) hints.setCursorHint(el, false);
      return true;
    });
  }

  /** The light children of a host stand in other slots now. @param {El} host */
  reslot(host) {
    for (let c = safe.firstElementChild(host); c; c = safe.nextElementSibling(c)) this.takeOut(c);
    this.added.add(host);
  }

  /** An element stands in another slot of its host now. @param {El} el */
  reslotParent(el) {
    const parent = safe.parentNode(el);
    if (parent && isElement(parent)) this.reslot(parent);
  }

  /** An id changed, or what a label is for. @param {El} el */
  noteLabelling(el) {
    const { labels } = this.model;
    const isLabel = tagOf(el) === "label";
    if (isLabel) labels.note(el);
    this.proxiesDirty = true;
    this.labelsDirty = this.labelsDirty || isLabel || labels.used;
  }

  /** The labels in a subtree that came or went name controls elsewhere. @param {El} root @param {boolean} came */
  noteLabels(root, came) {
    const found = [...queryWithin(root, "label")];
    if (tagOf(root) === "label") found.push(root);
    if (found.length) this.proxiesDirty = true;
    for (const label of found) {
      if (came) this.model.labels.note(label);
      else this.model.labels.forget(label);
      const id = attr(label, "for");
      if (id) this.noteRec(safe.getElementById(this.model.doc, id));
    }
  }

  /**
   * The names that contain this node's text may have changed: those of its ancestors, of the
   * controls that they label, and of whatever refers to them by id.
   * @param {DomNode | null} node
   */
  noteText(node) {
    const { records, rows } = this.model;
    for (let /** @type {DomNode | null} */ n = node; n; n = flatParent(n)) {
      if (isShadow(n)) n = n.host;
      if (!n || !isElement(n)) return;
      const rec = records.get(n);
      if (rec) this.dirty.add(rec);
      rows.touchNode(n);
      const tag = tagOf(n);
      if (tag === "label") {
        this.noteRec(n.control);
        // The first control inside is the labelled one: another may have been until now.
        for (const c of n.querySelectorAll("input,select,textarea,button,meter,progress,output")) this.noteRec(c);
      }
      if (tag === "legend" || tag === "figcaption" || tag === "caption") this.noteRec(safe.parentNode(n));
      if (records.references.size) {
        const id = attr(n, "id");
        if (id) this.noteReferences(id);
      }
    }
  }

  /** An element is to be described anew, if it has a record, and the label that stands in for it. @param {DomNode | null} node */
  noteRec(node) {
    if (!node) return;
    const { hints, records } = this.model;
    const rec = records.get(node);
    if (rec) this.dirty.add(rec);
    if (hints.proxyLabels.size) this.noteRec(hints.proxyLabels.get(/** @type {El} */ (node)) || null);
  }

  /** Whatever takes its name from this id. @param {string} id */
  noteReferences(id) {
    const recs = this.model.records.references.get(id);
    if (recs) for (const rec of recs) this.dirty.add(rec);
  }

  /** @param {El} el @param {string} name */
  noteAttribute(el, name) {
    const { hints, records, rows } = this.model;
    if (MASKS !== null) { // anything may say what is masked
      this.added.add(el);
      this.noteText(el);
    }
    if (TOUCHING.test(name)) rows.touch(el);
    switch (name) {
      case "class":
      case "style":
        this.restyled.add(el);
        this.styleDirty = true;
        return;
      case "slot":
        this.reslotParent(el);
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
        for (const id of records.references.keys()) this.noteReferences(id);
      // falls through
      case "for":
        this.noteLabelling(el);
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
    if (!RETAG.has(name) || hints.proxyLabels.size) this.noteRec(el);
  }
}

// @ts-check
// Intake of mutation records. It only records what an update must check, because it runs in the
// page's own tasks.
//
// Changes owns the sets of nodes and records to check, and the flags that request more: a full scan
// (rescan), a sweep (styleDirty) or a measurement (geometryDirty). Agent.onMutations calls process.
// Events, sweeps and probes add what they find. Refresh.update consumes all of it.

/** Above this many mutation records and recorded nodes, a full scan is cheaper than following them. */
const RESCAN_ABOVE = 2000;

/** Attributes that decide whether an element counts. */
const RETAG = new Set(["inert", "open", "role", "tabindex", "contenteditable", "draggable", "onclick", "href", "type", "aria-label", "aria-labelledby", "title", "alt"]);

class Changes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Whether a full scan of the document is due. */
    this.rescan = true;
    /** Whether the structural elements count from now on and must be scanned. Nothing else has changed. */
    this.structureDue = false;
    /** Nodes whose subtrees are to be scanned. @type {Set<El>} */
    this.added = new Set();
    /**
     * The nodes in added that were inserted since the last update. Nothing in them is listed yet.
     * @type {Set<El>}
     */
    this.arrived = new Set();
    /** Records to describe again. @type {Set<Rec>} */
    this.dirty = new Set();
    /**
     * Records to examine again: whether they are connected and visible, and where their boxes are.
     * This can force a layout.
     * @type {Set<Rec>}
     */
    this.check = new Set();
    /** Nodes to examine, with or without a record. @type {Set<El>} */
    this.checkNodes = new Set();
    /** Nodes whose style changed. @type {Set<El>} */
    this.restyled = new Set();
    /** Whether styles or the layout may have changed elsewhere, so that a sweep is needed. */
    this.styleDirty = false;
    /** Whether boxes may have moved. */
    this.geometryDirty = true;
    /** Whether the state of controls may have changed. */
    this.controlsDirty = false;
    /** Whether the proxies of hidden controls may have changed. */
    this.proxiesDirty = false;
    /** Whether labels may name other controls. */
    this.labelsDirty = false;
  }

  /** Whether an update has anything to do. */
  get pending() {
    return this.rescan || this.structureDue || this.added.size > 0 || this.dirty.size > 0 || this.check.size > 0 || this.checkNodes.size > 0 || this.restyled.size > 0 || this.controlsDirty || this.labelsDirty || this.proxiesDirty;
  }

  /** Clears the nodes and records to check. */
  clearNodes() {
    for (const set of [this.added, this.arrived, this.dirty, this.check, this.checkNodes, this.restyled]) set.clear();
    this.model.variants.due.clear();
  }

  /** Records that the layout changed without a mutation record that explains it, so styles may have changed, too. */
  invalidateLayout() {
    this.geometryDirty = true;
    this.styleDirty = true;
  }

  /** Processes a batch of mutation records. @param {MutationRecord[]} records */
  process(records) {
    const { identity, listeners, rows } = this.model;
    this.geometryDirty = true;
    identity.clock++;
    if (this.rescan) {
      this.model.redraws.forget();
      listeners.forgetPending();
      rows.touchAll();
      return;
    }
    if (records.length + this.added.size + this.dirty.size + this.check.size > RESCAN_ABOVE) {
      this.forgetNoted();
      return;
    }
    this.markNumbered();
    for (const r of records) {
      if (r.type === "attributes") this.processAttribute(/** @type {El} */ (r.target), r.attributeName || "");
      else if (r.type === "characterData") {
        const parent = safe.parentNode(/** @type {Text} */ (r.target));
        this.markText(flatParent(/** @type {Text} */ (r.target)) || parent);
        this.model.redraws.recordText(parent);
      }
      else this.processChildren(r);
    }
  }

  /** Marks the elements with a number in their names to be described again, because the counted elements before them may have changed. */
  markNumbered() {
    const { numbered } = this.model.naming.counters;
    for (const el of numbered) {
      if (safe.isConnected(el)) this.markElement(el);
      else numbered.delete(el);
    }
  }

  /**
   * Discards what was recorded and schedules a full scan for the next update. Nothing is kept until
   * then, because the daemon may not read for days, and removed nodes must be freed.
   */
  forgetNoted() {
    this.rescan = true;
    this.model.redraws.forget();
    this.model.listeners.forgetPending();
    this.model.rows.touchAll();
    this.clearNodes();
  }

  /** @param {MutationRecord} r */
  processChildren(r) {
    const { identity, listeners, styles } = this.model;
    const target = /** @type {DomNode} */ (r.target);
    let text = false, elements = false;
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.removedNodes)) {
      if (isElement(n)) {
        elements = true;
        identity.recordRemoval(n);
        if (this.arrived.delete(n)) { // inserted and removed between two updates
          this.added.delete(n);
          continue;
        }
        this.unlinkSubtree(n);
        this.markLabels(n, false);
        this.markIds(n);
      } else text = true;
    }
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.addedNodes)) {
      if (isElement(n)) {
        elements = true;
        identity.recordInsertion(n);
        this.added.add(n);
        this.arrived.add(n);
        listeners.recordInsertion(n);
      } else text = true;
    }
    // Rules with :has, :empty or sibling selectors may now show or hide other elements.
    if (elements && styles.structural) this.styleDirty = true;
    if (isElement(target)) {
      if (r.removedNodes.length && safe.firstChild(target) === null) listeners.addPending(target);
      if (shadowOf(target) !== null) this.reslot(target);
    }
    this.markText(target);
    if (elements) {
      this.model.variants.markChanged(target);
      if (isElement(target) && tagOf(target) === "details") this.added.add(target); // it may have its first summary now, or none
    }
    this.model.redraws.record(r, elements);
    if (!this.model.structural || !isElement(target) || this.isListedLeaf(target)) return;
    const emptyOrWas = r.previousSibling === null && r.nextSibling === null; // see EMPTY_BOXES
    if (text || emptyOrWas) this.added.add(target);
  }

  /**
   * Unlinks the records of a subtree that was removed or moved. The scan of its new place links
   * them again.
   * @param {El} root
   */
  unlinkSubtree(root) {
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

  /** Handles a host whose children are assigned to other slots now. @param {El} host */
  reslot(host) {
    for (let c = safe.firstElementChild(host); c; c = safe.nextElementSibling(c)) this.unlinkSubtree(c);
    this.added.add(host);
  }

  /** Handles an element that is assigned to another slot of its host now. @param {El} el */
  reslotParent(el) {
    const parent = safe.parentNode(el);
    if (parent && isElement(parent)) this.reslot(parent);
  }

  /** Records that an id, or the `for` of a label, changed. @param {El} el */
  markLabelling(el) {
    const { labels } = this.model;
    const isLabel = tagOf(el) === "label";
    if (isLabel) labels.markChanged(el);
    this.proxiesDirty = true;
    this.labelsDirty = this.labelsDirty || isLabel || labels.used;
  }

  /**
   * Records the labels in a subtree that was added or removed, because they name controls elsewhere.
   * @param {El} root @param {boolean} added
   */
  markLabels(root, added) {
    const found = [...queryWithin(root, "label")];
    if (tagOf(root) === "label") found.push(root);
    if (found.length) this.proxiesDirty = true;
    const { labels } = this.model;
    for (const label of found) {
      if (added) labels.markChanged(label);
      // Several labels with one `for` may belong to copies that each have a control with this id. All of them
      // name the first such control.
      if (labels.isOneOfMany(label)) this.labelsDirty = true;
      if (!added) labels.forget(label);
      const id = attr(label, "for");
      if (id) this.markElement(safe.getElementById(this.model.doc, id));
    }
  }

  /**
   * Whether an element is listed and stays so when its text changes. Such an element is not scanned, because a scan
   * would force a layout in the middle of the page's own work.
   * @param {El} el
   */
  isListedLeaf(el) {
    const rec = this.model.records.get(el);
    if (!rec || !rec.shown || hasElements(el)) return false;
    return rec.fields[F_KIND] === INTERACTIVE || (rec.fields[F_KIND] === STRUCTURAL && hasOwnText(el));
  }

  /**
   * Records the ids in a subtree that was added or removed, because names elsewhere may contain their
   * text.
   * @param {El} root
   */
  markIds(root) {
    if (!this.model.records.references.size) return;
    const own = attr(root, "id");
    if (own) this.markReferences(own);
    for (const el of queryWithin(root, "[id]")) this.markReferences(attr(el, "id") || "");
  }

  /**
   * Marks the names that contain the text of a node, because they may have changed: the names of
   * its ancestors, of the controls that they label, and of the elements that refer to them by id.
   * @param {DomNode | null} node
   */
  markText(node) {
    const { naming, records, rows } = this.model;
    for (let /** @type {DomNode | null} */ n = node; n; n = flatParent(n)) {
      if (isShadow(n)) n = n.host;
      if (!n || !isElement(n)) return;
      const rec = records.get(n);
      if (rec) this.dirty.add(rec);
      rows.touchNode(n);
      naming.captions.markChanged(n, this.dirty);
      const tag = tagOf(n);
      if (tag === "label") {
        this.markElement(n.control);
        if (n.control && records.references.size) this.markReferences(attr(n.control, "id") || "");
        // A label names the first control in it, and that control may have changed.
        for (const c of n.querySelectorAll("input,select,textarea,button,meter,progress,output")) this.markElement(c);
      }
      if (tag === "legend" || tag === "figcaption" || tag === "caption") this.markElement(safe.parentNode(n));
      if (records.references.size) {
        const id = attr(n, "id");
        if (id) this.markReferences(id);
      }
    }
  }

  /**
   * Marks an element and its proxy label to be described again, if they have records.
   * @param {DomNode | null} node
   */
  markElement(node) {
    if (!node) return;
    const { hints, records } = this.model;
    const rec = records.get(node);
    if (rec) this.dirty.add(rec);
    if (hints.proxyLabels.size) this.markElement(hints.proxyLabels.get(/** @type {El} */ (node)) || null);
  }

  /** Marks the elements whose names depend on an id to be described again. @param {string} id */
  markReferences(id) {
    const recs = this.model.records.references.get(id);
    if (recs) for (const rec of recs) this.dirty.add(rec);
  }

  /** Marks the elements that may be the control of a container to be described again; see isHolder. @param {El} el */
  markControls(el) {
    if (el.getElementsByTagName("*").length > HOLDER_ELEMENTS) return;
    for (const inner of queryWithin(el, "*")) this.markElement(inner);
  }

  /** @param {El} el @param {string} name */
  processAttribute(el, name) {
    const { hints, records, rows } = this.model;
    if (MASKS !== null) { // any attribute may decide whether a mask's selector matches
      this.added.add(el);
      this.markText(el);
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
        for (const id of records.references.keys()) this.markReferences(id);
      // falls through
      case "for":
        this.markLabelling(el);
        break;
      case "aria-label":
      case "aria-labelledby":
      case "alt":
      case "title":
      case "value":
      case "label":
      case "selected":
        this.markText(el);
        break;
      case "src": // its file name may be the mark of the element around it
        if (tagOf(el) === "img") this.markText(el);
        this.styleDirty = true;
        break;
      case "aria-selected":
      case "aria-checked":
      case "aria-sort":
        this.markControls(el);
      // falls through
      case "role":
      case "href":
      case "xlink:href":
      case "placeholder":
      case "aria-owns":
      case "aria-controls":
      case "aria-valuenow":
      case "aria-valuetext": // parts of the names around the element
        this.markText(el);
        this.styleDirty = true;
        break;
      default:
        this.styleDirty = true;
    }
    if (RETAG.has(name)) this.added.add(el);
    if (!RETAG.has(name) || hints.proxyLabels.size) this.markElement(el);
  }
}

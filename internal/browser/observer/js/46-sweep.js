// @ts-check
// Sweep finds changes without a mutation or event, such as attached shadow roots, values that scripts set, and styles that
// rules change.
//
// A poll checks a part of the document. A sweep checks all of it, either in one call (sweepAll) or in steps (SlicedSweep).
// Sweep owns the known shadow roots and the positions at which partial checks continue. It records its findings in Changes,
// and Refresh applies them.

/** The number of elements that a poll checks for new shadow roots. The next poll continues after them. */
const ROOTS_AT_ONCE = 200;
/**
 * The number of controls that a poll or patch checks, unless it checks all. The next check continues after them.
 */
const CONTROLS_AT_ONCE = 500;

class Sweep {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /**
     * The shadow roots that the observer follows, including removed ones.
     * @type {WeakSet<Shadow>}
     */
    this.followed = new WeakSet();
    /** The shadow roots that were in the document at the last check. @type {Set<Shadow>} */
    this.shadows = new Set();
    /** The number of shadow roots followed so far. */
    this.follows = 0;
    /** Where pollRoots continues. */
    this.rootCursor = 0;
    /** Where checkControls continues. @type {Iterator<Rec> | null} */
    this.controlCursor = null;
    /**
     * The number of differences found so far. Poller compares the count before and after a sweep.
     */
    this.found = 0;
  }

  /** Follows a shadow root. Returns whether the root is new. @param {Shadow} root */
  follow(root) {
    if (this.followed.has(root)) return false;
    this.followed.add(root);
    this.shadows.add(root);
    this.follows++;
    return true;
  }

  /** Checks the document as a whole, and a part of its elements for shadow roots. */
  poll() {
    const { changes, doc, hints, labels, naming } = this.model;
    labels.hasShadowTrees = this.shadows.size > 0;
    if (naming.generated.check(doc) && !changes.rescan) {
      for (const rec of this.model.records.all) changes.dirty.add(rec);
    }
    hints.checkDesignMode();
    if (checkHiddenPage(doc)) changes.styleDirty = true;
    if (!changes.rescan) this.pollRoots();
  }

  /**
   * Checks everything in one call. It keeps the boxes that it reads, so that a measurement right after it is free.
   */
  sweepAll() {
    const { changes, doc, hints, styles } = this.model;
    changes.styleDirty = changes.geometryDirty = false;
    for (const _ of this.checkRecords());
    for (const _ of this.checkShadows());
    for (const _ of styles.rereadSome(doc));
    for (const _ of hints.findCursorHints());
  }

  /** Checks everything in steps; see SlicedSweep. */
  *sweepSteps() {
    const { doc, elements, hints, styles } = this.model;
    yield* this.checkRecords();
    yield* this.checkRoots(elements);
    yield* this.checkShadows();
    yield* styles.rereadSome(doc);
    yield* hints.findCursorHints();
  }

  // ---- records ------------------------------------------------------------------------------

  *checkRecords() {
    const { layout, records } = this.model;
    layout.readPosition();
    for (const rec of records.all) {
      this.checkShown(rec);
      if (rec.control) this.checkControl(rec);
      yield;
    }
    layout.keepSizes();
  }

  /** Checks whether an element still belongs in the list, and reads its box. @param {Rec} rec */
  checkShown(rec) {
    const { changes, layout, visibility } = this.model;
    const rect = visibility.rect(rec.node, rec.tag);
    const visible = visibility.isVisibleByStyle(rec.node, rec.tag) && visibility.hasVisibleBox(rec.node, rec.tag, rect);
    if (visible !== rec.shown || !safe.isConnected(rec.node)) {
      this.found++;
      changes.check.add(rec);
    } else if (rec.shown) layout.setBox(rec, rect);
  }

  /**
   * Checks the state of controls, which scripts set.
   * @param {boolean} all checks all controls, instead of some in turn
   */
  checkControls(all) {
    const { changes, hints, records } = this.model;
    const { controls } = records;
    changes.controlsDirty = false;
    if (all || controls.size <= CONTROLS_AT_ONCE) {
      for (const rec of controls) this.checkControl(rec);
    } else {
      for (let i = 0; i < CONTROLS_AT_ONCE; i++) {
        const next = this.controlCursor && this.controlCursor.next();
        if (next && !next.done) this.checkControl(next.value);
        else this.controlCursor = controls.values();
      }
    }
    for (const [label, control] of hints.proxiedControls) {
      const rec = records.get(label);
      if (rec && rec.shown && liveState(control, tagOf(control)) !== rec.live) changes.dirty.add(rec);
    }
  }

  /**
   * Checks the state of one control. Its value is also part of surrounding names.
   * @param {Rec} rec
   */
  checkControl(rec) {
    if (liveState(rec.node, rec.tag) === rec.live) return;
    const { changes, records } = this.model;
    this.found++;
    // Style rules can depend on checked states. In a large form, the script may also have set controls that this poll does
    // not check.
    if (typeof rec.live === "boolean" || records.controls.size > CONTROLS_AT_ONCE) changes.styleDirty = true;
    changes.markText(rec.node);
  }

  // ---- shadow roots, which attach without a mutation -----------------------------------------

  /** Checks the known shadow trees for new shadow roots in them. */
  *checkShadows() {
    for (const root of this.shadows) {
      if (!safe.isConnected(root)) this.shadows.delete(root);
      else yield* this.checkRoots(root.querySelectorAll("*"));
    }
  }

  /** @param {ArrayLike<El>} elements a list that may change between steps */
  *checkRoots(elements) {
    for (let i = 0; i < elements.length; i++) {
      this.checkRoot(elements[i]);
      if (i % 4 === 3) yield;
    }
  }

  /** Checks a part of the document for new shadow roots. */
  pollRoots() {
    const { elements } = this.model;
    const count = Math.min(elements.length, ROOTS_AT_ONCE);
    for (let i = 0; i < count; i++) {
      if (this.rootCursor >= elements.length) this.rootCursor = 0;
      this.checkRoot(elements[this.rootCursor++]);
    }
  }

  /** Checks whether an element has a new shadow root. @param {El} el */
  checkRoot(el) {
    const root = shadowOf(el);
    if (!root || this.followed.has(root)) return;
    this.found++;
    this.model.changes.reslot(el);
    this.model.changes.markText(el);
  }
}

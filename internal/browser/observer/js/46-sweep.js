// @ts-check
// What neither mutations nor events show: shadow roots that are attached, values that scripts set, styles that rules
// change. A poll looks at a part of it, a sweep at everything, at once or a bit at a time (SlicedSweep).

/** How many elements a poll looks at for new shadow roots; the next one goes on from there. */
const ROOTS_AT_ONCE = 200;
/** How many controls a poll looks at, and a patch, unless all are to be looked at; the next one goes on from there. */
const CONTROLS_AT_ONCE = 500;

class Sweep {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Shadow roots that the observer follows. @type {WeakSet<Shadow>} */
    this.followed = new WeakSet();
    /** The same, to go through. @type {Set<Shadow>} */
    this.shadows = new Set();
    /** Where pollRoots goes on. */
    this.rootCursor = 0;
    /** Where checkControls goes on. @type {Iterator<Rec> | null} */
    this.controlCursor = null;
    /** How often a look at everything found something. */
    this.found = 0;
  }

  /** Follows a shadow root. Reports whether it is a new one. @param {Shadow} root */
  follow(root) {
    if (this.followed.has(root)) return false;
    this.followed.add(root);
    this.shadows.add(root);
    return true;
  }

  /** Looks at what is the document's, not an element's, and what no mutation shows. */
  poll() {
    const { changes, doc, hints, labels, naming } = this.model;
    labels.hasShadowTrees = this.shadows.size > 0;
    naming.generated.check(doc, labels.hasShadowTrees);
    hints.checkDesignMode();
    if (checkHiddenPage(doc)) changes.styleDirty = true;
    if (!changes.rescan) this.pollRoots();
  }

  /**
   * Looks at everything at once: what style rules and the layout show or hide, and what left the tree unseen.
   * The boxes that this reads are kept, so that measuring right after it costs nothing.
   */
  everything() {
    const { changes, doc, hints, styles } = this.model;
    changes.styleDirty = changes.geometryDirty = false;
    for (const _ of this.checkRecords());
    for (const _ of this.checkShadows());
    for (const _ of styles.rereadSome(doc));
    for (const _ of hints.findCursorHints());
  }

  /** The same, a bit at a time; see SlicedSweep. What it finds is noted for an update. */
  *inSteps() {
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
    layout.takeSample();
  }

  /** Looks whether a record is as it was. @param {Rec} rec */
  checkShown(rec) {
    const { changes, layout, visibility } = this.model;
    const rect = visibility.rect(rec.node, rec.tag);
    const visible = visibility.isVisibleByStyle(rec.node, rec.tag) && visibility.hasVisibleBox(rec.node, rec.tag, rect);
    if (visible !== rec.shown || !safe.isConnected(rec.node)) {
      this.found++;
      changes.check.add(rec);
    } else if (rec.shown) layout.setBox(rec, rect);
  }

  /** Finds values and checks that scripts set. @param {boolean} all of all controls, or of some, in turn */
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
      if (rec && rec.shown && liveState(control, "input") !== rec.live) changes.dirty.add(rec);
    }
  }

  /** What a control holds is a part of the names around it. @param {Rec} rec */
  checkControl(rec) {
    if (liveState(rec.node, rec.tag) === rec.live) return;
    const { changes, records } = this.model;
    this.found++;
    // Boxes that are checked may show something; and where one was set, others were that were not looked at.
    if (typeof rec.live === "boolean" || records.controls.size > CONTROLS_AT_ONCE) changes.styleDirty = true;
    changes.noteText(rec.node);
  }

  // ---- shadow roots, which attach without a mutation -----------------------------------------

  /** Looks for new shadow roots in those that are known. */
  *checkShadows() {
    for (const root of this.shadows) {
      if (!safe.isConnected(root)) this.shadows.delete(root);
      else yield* this.checkRoots(root.querySelectorAll("*"));
    }
  }

  /** @param {ArrayLike<El>} elements of a list that may change meanwhile */
  *checkRoots(elements) {
    for (let i = 0; i < elements.length; i++) {
      this.checkRoot(elements[i]);
      if (i % 4 === 3) yield;
    }
  }

  /** Looks for new ones a part of the document at a time. */
  pollRoots() {
    const { elements } = this.model;
    const count = Math.min(elements.length, ROOTS_AT_ONCE);
    for (let i = 0; i < count; i++) {
      if (this.rootCursor >= elements.length) this.rootCursor = 0;
      this.checkRoot(elements[this.rootCursor++]);
    }
  }

  /** Looks whether an element has a shadow root that is new. @param {El} el */
  checkRoot(el) {
    const root = shadowOf(el);
    if (!root || this.followed.has(root)) return;
    this.found++;
    this.model.changes.reslot(el);
    this.model.changes.noteText(el);
  }
}

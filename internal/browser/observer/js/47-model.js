// @ts-check
// The model of a document: every element that counts, in document order, kept up to date from mutation records. Model
// creates the parts, each of which owns its fields, and holds the data that all parts read.
//
//   Changes        what an update must check        Records  the elements and their list
//   Refresh        applies the changes to Records   Hints    reasons to count besides the markup
//   Sweep          finds what no mutation shows     Layout   boxes, and whether they changed
//   Identity       whether an element came back     Rows     which record an element belongs to
//   ListenerProbe  click listeners, closed roots
//   Internals      roles and states by ElementInternals
//   Redraws        elements that replaced equal ones
//   Animations     running animations, and their ends
//   OnHover        content that shows only while the pointer is over another element
//   Visibility, Labels, Naming and Styles read one element or sheet.
//
// Agent owns the model of its document; freshWalk makes one for comparison in tests.

class Model {
  /** @param {Document} doc */
  constructor(doc) {
    this.doc = doc;
    /** Whether elements that only structure the document, such as headings, count. */
    this.structural = false;
    /** The HTML attributes that are stored. @type {string[]} */
    this.attributes = [];
    /** The ids of frames by their host elements. @type {WeakMap<El, string>} */
    this.frames = new WeakMap();
    /** All elements outside of shadow trees, a live collection. */
    this.elements = safe.elements(doc, "*");
    /**
     * Called for each shadow root that a walk reaches; Agent sets it.
     * @type {(root: Shadow) => void}
     */
    this.onRoot = () => {};
    this.labels = new Labels();
    this.naming = new Naming(this.labels);
    this.styles = new Styles();
    this.visibility = new Visibility(doc, this.labels, this.styles);
    this.identity = new Identity(this);
    this.rows = new Rows(this);
    this.redraws = new Redraws(this);
    this.records = new Records(this);
    this.variants = new Variants(this);
    this.changes = new Changes(this);
    this.hints = new Hints(this);
    this.onHover = new OnHover(this);
    this.layout = new Layout(this);
    this.animations = new Animations(this);
    this.refresh = new Refresh(this);
    this.sweep = new Sweep(this);
    this.listeners = new ListenerProbe(this);
    this.internals = new Internals(this);
  }

  /** Whether an update or a patch has work to do. */
  get pending() {
    return this.changes.pending || this.records.gone.size > 0 || this.records.changed.size > 0;
  }

  /** Clears the caches of styles and layout, so that the next reads are current. */
  begin() {
    this.layout.positioned = false;
    this.visibility.begin();
    this.naming.panes.begin();
    this.hints.cursors.begin();
  }

  /**
   * Walks the flat subtree of an element, and reports shadow roots to onRoot; see walkFlat.
   * @param {El} root @param {Inherited} ctx
   * @param {(el: El, tag: string, ctx: Inherited, depth: number) => boolean} visit
   * @param {(el: El, ctx: Inherited) => Inherited} [inherit]
   * @param {(root: Shadow) => void} [onShadow] called for each shadow root, before its content is visited
   */
  walk(root, ctx, visit, inherit, onShadow) {
    walkFlat(root, ctx, visit, inherit || null, (shadow) => {
      this.onRoot(shadow);
      if (onShadow) onShadow(shadow);
    });
  }
}

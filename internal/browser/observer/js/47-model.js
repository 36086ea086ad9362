// @ts-check
// The model of a document: every element that counts, in document order, kept up to date from mutation records. It holds
// the parts, each of which owns its fields; what happens between them stands here.
//
//   Changes   what is to be looked at anew          Records   the elements and their list
//   Refresh   looks, and brings the list up to date Hints     what makes elements count besides their markup
//   Sweep     what no mutation shows                Layout    boxes, and whether they hold
//   Identity  what became of nodes                  Rows      which record of a list an element shows
//   ListenerProbe   what only the browser knows     Visibility, Labels, Naming, Styles   read one element

class Model {
  /** @param {Document} doc */
  constructor(doc) {
    this.doc = doc;
    /** Elements that only structure the document count, too. */
    this.structural = false;
    /** The attributes that are stored. @type {string[]} */
    this.attributes = [];
    /** Frames by their host element. @type {WeakMap<El, string>} */
    this.frames = new WeakMap();
    /** Every element outside of shadow trees, live. */
    this.elements = safe.elements(doc, "*");
    /** Called for each shadow root that a walk comes to. @type {(root: Shadow) => void} */
    this.onRoot = () => {};
    this.labels = new Labels();
    this.naming = new Naming(this.labels);
    this.styles = new Styles();
    this.visibility = new Visibility(doc, this.labels, this.styles);
    this.identity = new Identity(this);
    this.rows = new Rows(this);
    this.records = new Records(this);
    this.changes = new Changes(this);
    this.hints = new Hints(this);
    this.layout = new Layout(this);
    this.refresh = new Refresh(this);
    this.sweep = new Sweep(this);
    this.listeners = new ListenerProbe(this);
  }

  /** Whether a patch would say something. */
  get pending() {
    return this.changes.pending || this.records.gone.size > 0 || this.records.changed.size > 0;
  }

  /** Forgets what was read of styles and layout. */
  begin() {
    this.layout.positioned = false;
    this.visibility.begin();
    this.hints.cursors.begin();
  }

  /**
   * Walks the flat subtree of an element: see walkFlat.
   * @param {El} root @param {Inherited} ctx
   * @param {(el: El, tag: string, ctx: Inherited) => boolean} visit
   * @param {(el: El, ctx: Inherited) => Inherited} [inherit]
   * @param {(root: Shadow) => void} [enter] called for each shadow root, before what is in it
   */
  walk(root, ctx, visit, inherit, enter) {
    walkFlat(root, ctx, visit, inherit || null, (shadow) => {
      this.onRoot(shadow);
      if (enter) enter(shadow);
    });
  }
}

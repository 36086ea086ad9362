// @ts-check
// Layout: the boxes of the listed elements, the scroll position, and which elements a modal
// obscures.
//
// Layout owns the last known scroll position and viewport, and a sample of sizes that polls use to
// detect whether boxes may have moved. Agent measures for reads with boxes, Refresh sets boxes of
// examined elements, and Poller calls seemsUnchanged. Everything here can force a layout of the
// page, so it is called as rarely as possible.

/**
 * The number of boxes that are compared to detect a changed layout, for a read and for a poll.
 */
const SAMPLE = 48;
const SAMPLE_OF_POLL = 16;

class Layout {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Whether the scroll position was read in this update. */
    this.positioned = false;
    this.scrollX = this.scrollY = this.viewWidth = this.viewHeight = 0;
    /** Whether a modal was open when the boxes were last read. */
    this.obscuring = false;
    /** The result of sizes when all boxes were last read. @type {number[]} */
    this.lastSizes = [];
    /** The record that isSampleUnchanged continues with. @type {Rec | null} */
    this.cursor = null;
  }

  /**
   * Reads the scroll position. It does so once per update, and only where boxes are read, because
   * the read can force a layout.
   */
  readPosition() {
    if (this.positioned) return;
    this.positioned = true;
    const { visibility } = this.model;
    this.scrollX = visibility.x = scrollX;
    this.scrollY = visibility.y = scrollY;
    this.viewWidth = innerWidth;
    this.viewHeight = innerHeight;
  }

  /** Records the box of a record. @param {Rec} rec @param {DOMRect} rect in the viewport */
  setBox(rec, rect) {
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
      this.model.records.unbox(rec);
    }
  }

  /** Reads all boxes, unless nothing can have moved since the last read. */
  measure() {
    const { changes, records, visibility } = this.model;
    this.readPosition();
    if (changes.geometryDirty) {
      for (let rec = records.head.next; rec; rec = rec.next) this.setBox(rec, visibility.rect(rec.node, rec.tag));
      changes.geometryDirty = false;
      this.keepSizes();
    }
    this.findObscured();
  }

  /** Finds out which listed elements a modal obscures. */
  findObscured() {
    const { records } = this.model;
    const { shadows } = this.model.sweep;
    const modal = openModal(this.model.doc, shadows);
    const scope = modal && new ModalScope(modal, shadows.size > 0);
    if (scope && !scope.inert) {
      for (let rec = records.head.next; rec; rec = rec.next) scope.tryBranch(rec, this.scrollX, this.scrollY);
    }
    if (!scope && !this.obscuring) return;
    this.obscuring = scope !== null;
    for (let rec = records.head.next; rec; rec = rec.next) {
      const obscured = scope !== null && scope.obscures(rec.node);
      if (obscured === rec.obscured) continue;
      rec.obscured = obscured;
      records.unbox(rec);
    }
  }

  /** Stores the sizes for isUnchanged. */
  keepSizes() {
    this.lastSizes = this.sizes();
  }

  /** Returns the sizes and scroll positions of the document and the window, and whether the frame is shown. @returns {number[]} */
  sizes() {
    const el = safe.documentElement(this.model.doc);
    return el ? [el.scrollWidth, el.scrollHeight, innerWidth, innerHeight, scrollX, scrollY, Number(this.model.visibility.unseen)] : [];
  }

  /**
   * Whether the layout seems unchanged, for a read. It compares the sizes, the style sheets,
   * running animations and a sample of boxes, another sample each time. The check is needed because
   * scripts add style rules without an event.
   */
  isUnchanged() {
    const { changes } = this.model;
    if (changes.geometryDirty) return false;
    this.model.begin();
    if (this.areStylesUnchanged(true) && this.isSampleUnchanged(SAMPLE)) return true;
    changes.invalidateLayout();
    return false;
  }

  /**
   * Like isUnchanged, for a poll, with a smaller sample. Unless the daemon follows boxes, moved
   * boxes do not count as a change.
   * @param {boolean} boxes whether the daemon follows boxes
   */
  seemsUnchanged(boxes) {
    const { changes } = this.model;
    if (boxes && changes.geometryDirty) return false;
    this.model.begin();
    if (this.areStylesUnchanged(boxes) && this.isSampleUnchanged(SAMPLE_OF_POLL)) return true;
    changes.invalidateLayout();
    return false;
  }

  /**
   * Whether no style sheet changed, no animation runs, and no animation has ended unnoticed.
   * @param {boolean} strict whether animations without an end count, too
   */
  areStylesUnchanged(strict) {
    const { doc } = this.model;
    if (this.model.styles.changed(doc)) return false;
    return !this.model.animations.mayDiffer(strict);
  }

  /** @param {number} size how many elements are compared */
  isSampleUnchanged(size) {
    const { changes, records, visibility } = this.model;
    const boxes = !changes.geometryDirty;
    if (boxes) {
      this.readPosition();
      const now = this.sizes();
      for (let i = 0; i < now.length; i++) if (now[i] !== this.lastSizes[i]) return false;
    }
    /** @type {Rec | null} */
    let rec = this.cursor && this.cursor.shown ? this.cursor : records.head.next;
    for (let i = 0; rec && i < size; i++, rec = rec.next) {
      if (rec.tag === "iframe") continue;
      if (!visibility.isVisibleByStyle(rec.node, rec.tag)) return false;
      if (!boxes) continue;
      const r = visibility.rect(rec.node, rec.tag);
      if (Math.round(r.x + scrollX) !== rec.x || Math.round(r.y + scrollY) !== rec.y || !(r.width > 0)) return false;
    }
    this.cursor = rec;
    return true;
  }
}

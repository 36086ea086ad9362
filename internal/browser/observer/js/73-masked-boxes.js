// @ts-check
// The boxes that screenshots are painted over in, because their content is masked.
//
// MaskedBoxes owns one collection. Package capture asks each visible document for it when it takes a
// screenshot; frames are reported because each has an agent of its own.

/** The limits of boxes, and of nodes that are visited. */
const MASKED_BOXES = 20_000, MASKED_NODES = 400_000;
/** How far content may be drawn outside its box, in CSS pixels: italic letters, outlines. */
const MASKED_MARGIN = 4;
/** Elements that contain or show a value. */
const MASKED_VALUES = "textarea,select,[role=textbox],[role=searchbox],[role=combobox],[role=spinbutton],[role=slider]";
const MASKED_FRAMES = new Set(["iframe", "frame", "object", "embed", "fencedframe", "portal"]);

class MaskedBoxes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {number[][]} */
    this.boxes = [];
    /** @type {{name: string, box: number[]}[]} */
    this.frames = [];
    /** A limit was reached: some boxes are missing. */
    this.more = false;
    this.nodes = 0;
    this.visited = new Set();
  }

  /** Whether an element is masked regardless of its ancestors. @param {El} el */
  isMaskedItself(el) {
    if (MASKS === null || MASK_SELECTORS.some((selector) => safe.matches(el, selector))) return true;
    const tag = tagOf(el);
    if (tag === "input" || tag === "textarea") {
      if (isSecret(el)) return true;
      if (MASKS.values && tag === "input") return !isCaption(el) && el.type !== "checkbox" && el.type !== "radio";
    }
    return MASKS.values && (safe.matches(el, MASKED_VALUES) || isEdited(el));
  }

  /**
   * The part of a box in the viewport, with the margin.
   * @param {DOMRect} r @returns {number[] | null}
   */
  visibleBox(r) {
    const left = Math.max(r.left - MASKED_MARGIN, 0), top = Math.max(r.top - MASKED_MARGIN, 0);
    const width = Math.min(r.right + MASKED_MARGIN, innerWidth) - left, height = Math.min(r.bottom + MASKED_MARGIN, innerHeight) - top;
    return width > 0 && height > 0 && (r.width > 0 || r.height > 0) ? [left, top, width, height] : null;
  }

  /** @param {DOMRect} r */
  add(r) {
    const box = this.visibleBox(r);
    if (!box) return;
    if (this.boxes.length >= MASKED_BOXES) this.more = true;
    else this.boxes.push(box);
  }

  /** Whether one more node may be visited. */
  next() {
    if (++this.nodes > MASKED_NODES) this.more = true;
    return !this.more;
  }

  /** Adds the boxes of an element and of everything in it. @param {El} root */
  addAll(root) {
    /** @type {(El | Text | Shadow)[]} */
    const stack = [root];
    while (stack.length && this.next()) {
      const node = /** @type {El | Text | Shadow} */ (stack.pop());
      if (this.visited.has(node)) continue;
      this.visited.add(node);
      if (isText(node)) {
        const range = new Range();
        range.selectNode(node);
        for (const r of range.getClientRects()) this.add(r);
        continue;
      }
      if (isElement(node)) {
        this.add(safe.rect(node));
        if (tagOf(node) === "slot") stack.push(...node.assignedNodes());
        const shadow = shadowOf(node);
        if (shadow) stack.push(shadow);
      } else if (!isShadow(node)) continue;
      for (let n = safe.firstChild(node); n && this.next(); n = safe.nextSibling(n)) stack.push(n);
    }
  }

  /** Collects the boxes of the document and its shadow trees. */
  collect() {
    /** @type {Tree[]} */
    const trees = [this.model.doc];
    while (trees.length) {
      const tree = /** @type {Tree} */ (trees.pop());
      for (const el of queryAll(tree, "*")) {
        if (!this.next()) return;
        const root = shadowOf(el);
        if (root) trees.push(root);
        if (this.isMaskedItself(el)) this.addAll(el);
        else if (MASKED_FRAMES.has(tagOf(el))) {
          const box = this.visibleBox(safe.rect(el));
          if (box) this.frames.push({ name: this.model.frames.get(el) || "", box });
        }
      }
    }
  }
}

/** The boxes to paint over in a screenshot of the viewport. @param {Agent} agent */
function maskedBoxesOf(agent) {
  const masked = new MaskedBoxes(agent.model);
  if (MASKS === null) masked.more = true; // this script was injected without masks
  else masked.collect();
  const view = globalThis.visualViewport;
  return { boxes: masked.boxes, frames: masked.frames, more: masked.more, width: innerWidth, height: innerHeight, zoom: view ? view.scale : 1 };
}

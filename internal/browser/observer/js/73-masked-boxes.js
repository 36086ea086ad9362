// @ts-check
// The boxes that screenshots are painted over in, because their content is masked.

/** How many boxes there may be, and how many nodes are looked at for them. */
const MASKED_BOXES = 20_000, MASKED_NODES = 400_000;
/** What is drawn around a box still belongs to it, in CSS pixels: letters that lean, outlines. */
const MASKED_MARGIN = 4;
/** What holds what was typed or chosen, or shows it. */
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
    this.more = false;
    this.nodes = 0;
    this.covered = new Set();
  }

  /** @param {El} el whether it is masked by itself, wherever it stands */
  isMaskedItself(el) {
    if (MASKS === null || MASK_SELECTORS.some((selector) => safe.matches(el, selector))) return true;
    const tag = tagOf(el);
    if (tag === "input" || tag === "textarea") {
      if (isSecret(el)) return true;
      if (MASKS.values && tag === "input") return !isCaption(el) && el.type !== "checkbox" && el.type !== "radio";
    }
    return MASKS.values && (safe.matches(el, MASKED_VALUES) || isEdited(el));
  }

  /** @param {DOMRect} r in the viewport @returns {number[] | null} */
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

  /** Whether one more node may be looked at. */
  next() {
    if (++this.nodes > MASKED_NODES) this.more = true;
    return !this.more;
  }

  /** Covers an element with all that is below it. @param {El} root */
  addAll(root) {
    /** @type {(El | Text | Shadow)[]} */
    const stack = [root];
    while (stack.length && this.next()) {
      const node = /** @type {El | Text | Shadow} */ (stack.pop());
      if (this.covered.has(node)) continue;
      this.covered.add(node);
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

/** What is to be painted over in a picture of the viewport. @param {Agent} agent */
function maskedBoxesOf(agent) {
  const masked = new MaskedBoxes(agent.model);
  if (MASKS === null) masked.more = true; // this script was made without masks
  else masked.collect();
  const view = globalThis.visualViewport;
  return { boxes: masked.boxes, frames: masked.frames, more: masked.more, width: innerWidth, height: innerHeight, zoom: view ? view.scale : 1 };
}

// @ts-check
// MaskedBoxes finds the boxes to paint over in screenshots, because their content is masked.
//
// A MaskedBoxes owns one collection. Package capture requests it from each visible document for a screenshot. It includes
// the frames, because each has its own agent.

/** The maximum numbers of boxes, and of visited nodes. */
const MASKED_BOXES = 20_000, MASKED_NODES = 400_000;
/** The maximum distance by which content such as italic letters and outlines exceeds its box, in CSS pixels. */
const MASKED_MARGIN = 4;
/** Elements that contain or show a value. */
const MASKED_VALUES = "textarea,select,[role=textbox],[role=searchbox],[role=combobox],[role=spinbutton],[role=slider]";
/** Elements whose text is not drawn in place. */
const UNDRAWN = new Set(["script", "style", "template", "noscript", "textarea", "title", "option"]);
const MASKED_FRAMES = new Set(["iframe", "frame", "object", "embed", "fencedframe", "portal"]);
const FRAME_HOSTS = [...MASKED_FRAMES].join();

class MaskedBoxes {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {number[][]} */
    this.boxes = [];
    /**
     * The frames. at is the origin of the frame's viewport, or null if the frame is not drawn in its own size.
     * @type {{name: string, box: number[], at: number[] | null}[]}
     */
    this.frames = [];
    /** Whether a secret is readable in a picture, in the viewport or elsewhere. */
    this.readable = false;
    /** Whether a limit was reached, so that boxes are missing. */
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
   * Returns the part of a box in the viewport, with the margin.
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

  /** Adds the boxes of a text, or of an element and of everything in it. @param {El | Text} root */
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
        else if (MASKED_FRAMES.has(tagOf(el))) this.addFrame(el);
      }
    }
  }

  /** @param {El} el */
  addFrame(el) {
    const r = safe.rect(el), box = this.visibleBox(r);
    if (!box) return;
    const style = getComputedStyle(el);
    const plain = Math.abs(r.width - el.offsetWidth) < 1 && Math.abs(r.height - el.offsetHeight) < 1;
    const at = plain ? [r.left + el.clientLeft + parseFloat(style.paddingLeft), r.top + el.clientTop + parseFloat(style.paddingTop)] : null;
    this.frames.push({ name: this.model.frames.get(el) || "", box, at });
  }

  /** Returns the document and its shadow trees. */
  trees() {
    return [this.model.doc, ...this.model.sweep.shadows];
  }

  collectFrames() {
    for (const tree of this.trees()) for (const el of inTree(tree, FRAME_HOSTS)) this.addFrame(el);
  }

  /**
   * Collects the boxes of secret fields with a value, and of the elements that show such a value. It includes fields that
   * show dots, because the page can show their text while the picture is taken.
   */
  collectSecrets() {
    for (const tree of this.trees()) {
      for (const el of inTree(tree, "input,textarea,select,[type=password i]")) {
        if (!isSecret(el) || !(typeof el.value === "string" ? el.value : attr(el, "value"))) continue;
        this.add(safe.rect(el));
        if (!isDotted(el) && safe.checkVisibility(el)) this.readable = true;
      }
    }
    if (secretValues.size) for (const tree of this.trees()) this.addCopies(tree);
  }

  /** Adds the innermost elements of a tree whose text contains a secret. @param {Tree} tree */
  addCopies(tree) {
    const top = isDocument(tree) ? safe.querySelector(tree, "body") : tree;
    if (!top || !this.showsSecret(top)) return;
    /** @type {(El | Shadow)[]} */
    const stack = [top];
    while (stack.length && this.next()) {
      const node = /** @type {El | Shadow} */ (stack.pop());
      let deeper = false;
      for (let c = safe.firstElementChild(/** @type {El} */ (node)); c && this.next(); c = safe.nextElementSibling(c)) {
        if (UNDRAWN.has(tagOf(c)) || !this.showsSecret(c)) continue;
        deeper = true;
        stack.push(c);
      }
      if (!deeper && isElement(node) && this.isDrawnCopy(node)) this.addCopy(node);
      else if (deeper) for (const n of childTexts(node)) if (holdsSecretValue(n.data)) this.addCopy(n);
    }
  }

  /** @param {El | Text} node */
  addCopy(node) {
    this.readable = true;
    this.addAll(node);
  }

  /** Whether an element draws a secret itself. Scripts in it may also contain the secret. @param {El} el */
  isDrawnCopy(el) {
    if (UNDRAWN.has(tagOf(el)) || !safe.checkVisibility(el)) return false;
    let text = "";
    for (const node of textsOf(el)) text += node.data;
    return holdsSecretValue(text);
  }

  /** @param {El | Shadow} root */
  showsSecret(root) {
    return holdsSecretValue(slow.textContent(root));
  }
}

/** Returns the boxes to paint over in a picture of the viewport. @param {Agent} agent */
function maskedBoxesOf(agent) {
  markFormerPasswords(agent.types.takeRecords());
  const masked = new MaskedBoxes(agent.model);
  if (MASKS !== null) masked.collect();
  else masked.collectFrames();
  masked.collectSecrets();
  const view = globalThis.visualViewport;
  return { boxes: masked.boxes, frames: masked.frames, more: masked.more, readable: masked.readable, unmasked: MASKS === null, width: innerWidth, height: innerHeight, zoom: view ? view.scale : 1 };
}

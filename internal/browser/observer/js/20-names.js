// @ts-check
// Accessible names, by the Accessible Name and Description Computation 1.2
// (https://www.w3.org/TR/accname-1.2/); the step that a line implements is named beside it.
//
// Labels finds the labels of controls and owns their index; Generated knows whether CSS may
// generate text; Naming computes one name at a time. The model holds one of each. Refresh asks for
// names when it describes elements, Finder and Extraction when they compare them.

const MAX_NAME = 100;
/**
 * How many characters of folded text are gathered before it is cut, and from how many nodes: bounds
 * the work on huge subtrees.
 */
const MAX_GATHERED = 1000;
const MAX_GATHERED_NODES = 10_000;
/** At most this many labels of one control are used. */
const MAX_LABELS = 32;

const NAME_FROM_CONTENT = new Set([
  "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem",
  "menuitemcheckbox", "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip",
  "treeitem",
]);

/** Inline elements whose text is separated from the text around them. */
const REPLACED = new Set(["img", "svg", "input", "select", "textarea", "button", "video", "audio", "canvas", "object"]);

/** SVG elements that may have a title; "a" is also an HTML element. */
const SVG_TAGS = new Set(["a", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "use", "image"]);

/**
 * The key of a label's entry in the index of its tree. The entry is kept on the label; the page's
 * world does not see it.
 */
const INDEXED = Symbol("label");

/**
 * The labels of controls. `control.labels` walks the whole tree after every change of the document.
 * Labels finds the labels around a control among its ancestors, and the others in an index by their
 * `for` attribute, which is built once for each tree and kept up to date. `label.control` confirms
 * each result, so a stale entry in the index does no harm.
 */
class Labels {
  constructor() {
    /** The document has shadow trees: labels are searched in the tree of the control. */
    this.hasShadowTrees = false;
    /**
     * The labels of controls that very many labels name; cleared with each update.
     * @type {Map<El, El[]>}
     */
    this.firstOfMany = new Map();
    /**
     * Labels by their `for`, for each tree in which a control was looked up.
     * @type {WeakMap<Tree, Map<string, Set<El>>>}
     */
    this.indexes = new WeakMap();
    /** Some tree is indexed. */
    this.used = false;
  }

  reset() {
    this.indexes = new WeakMap();
    this.used = false;
  }

  /** @param {El} control @returns {El[]} at most MAX_LABELS, in document order */
  of(control) {
    const out = [];
    for (let label = closestOf(control, "label"); label; label = labelAround(label)) {
      if (label.control === control && out.length < MAX_LABELS) out.push(label);
    }
    const id = attr(control, "id");
    if (!id) return out.length > 1 ? out.reverse() : out;
    const root = this.hasShadowTrees ? treeOf(control) : document;
    const elsewhere = this.index(root).get(id);
    if (!elsewhere) return out.length > 1 ? out.reverse() : out;
    if (elsewhere.size > MAX_LABELS) {
      let many = this.firstOfMany.get(control);
      if (!many) this.firstOfMany.set(control, (many = firstLabels(root, control)));
      return many;
    }
    for (const label of elsewhere) if (label.control === control && !out.includes(label)) out.push(label);
    if (out.length > 1) out.sort(byDocumentOrder);
    return out.slice(0, MAX_LABELS);
  }

  /** @param {Tree} root */
  index(root) {
    let index = this.indexes.get(root);
    if (!index) {
      this.used = true;
      this.indexes.set(root, (index = new Map()));
      const labels = inTree(root, "label[for]");
      for (const label of labels) indexLabel(index, label);
    }
    return index;
  }

  /** A label was added, or names another control now. @param {El} label */
  note(label) {
    this.forget(label);
    const index = safe.isConnected(label) && this.indexes.get(treeOf(label));
    if (index) indexLabel(index, label);
  }

  /** A label was removed. @param {El} label */
  forget(label) {
    const entry = label[INDEXED];
    if (!entry) return;
    label[INDEXED] = undefined;
    const labels = entry.index.get(entry.id);
    if (labels && labels.delete(label) && !labels.size) entry.index.delete(entry.id);
  }
}

/** @param {Map<string, Set<El>>} index @param {El} label */
function indexLabel(index, label) {
  const id = attr(label, "for");
  if (!id) return;
  const labels = index.get(id);
  if (labels) labels.add(label);
  else index.set(id, new Set([label]));
  label[INDEXED] = { index, id };
}

/**
 * The label around a label; only scripts nest labels, the HTML parser does not.
 * @param {El} label
 */
function labelAround(label) {
  const parent = safe.parentNode(label);
  return parent && isElement(parent) ? closestOf(parent, "label") : null;
}

/**
 * The first MAX_LABELS labels of a control that more labels name.
 * @param {Tree} root @param {El} control
 */
function firstLabels(root, control) {
  const out = [];
  for (const label of inTree(root, "label")) {
    if (label.control === control && out.push(label) >= MAX_LABELS) break;
  }
  return out;
}

/** @param {El} a @param {El} b */
function byDocumentOrder(a, b) {
  return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

/** How many rules are searched for generated content; a longer sheet counts as having some. */
const MAX_RULES = 20000;

/**
 * Whether the styles of a document may generate content. Only then Naming reads it, which takes two
 * computed styles an element.
 */
class Generated {
  constructor() {
    /** The number of sheets when they were searched last. */
    this.sheets = -1;
    this.possible = false;
  }
  /** @param {Document} doc @param {boolean} hasShadowTrees shadow trees have styles of their own */
  check(doc, hasShadowTrees) {
    const sheets = safe.styleSheets(doc).length + safe.adoptedStyleSheets(doc).length + (hasShadowTrees ? 1e6 : 0);
    if (sheets === this.sheets) return;
    this.sheets = sheets;
    this.possible = hasShadowTrees || [...safe.styleSheets(doc), ...safe.adoptedStyleSheets(doc)].some(mayGenerate);
  }
}

/**
 * Whether a sheet has rules for ::before or ::after, or cannot be read.
 * @param {CSSStyleSheet} sheet
 */
function mayGenerate(sheet) {
  let left = MAX_RULES;
  /** @param {CSSRuleList} rules @returns {boolean} */
  const some = (rules) => {
    for (const each of rules) {
      const rule = /** @type {AnyRule} */ (each);
      if (--left < 0) return true;
      if (rule.selectorText && /:before|:after/.test(rule.selectorText)) return true;
      if (rule.cssRules && rule.cssRules.length && some(rule.cssRules)) return true;
    }
    return false;
  };
  try {
    return some(sheet.cssRules);
  } catch {
    return true; // of another origin, so the rules cannot be read
  }
}

/**
 * The text that a style generates before or after an element, or its alternative text. Glyphs of
 * icon fonts (private use characters) are left out.
 * @param {El} el @param {string} pseudo
 */
function generatedText(el, pseudo) {
  const content = getComputedStyle(el, pseudo).content;
  if (content === "none" || content === "normal" || !content.includes('"')) return "";
  const slash = content.lastIndexOf('" / ');
  const spoken = slash >= 0 ? content.slice(slash + 4) : content;
  let text = "";
  for (const [, quoted] of spoken.matchAll(/"((?:[^"\\]|\\.)*)"/g)) text += quoted.replace(/\\(.)/g, "$1");
  return text.replace(/[\ue000-\uf8ff]/g, "");
}

/**
 * Computes names, one at a time. visited and length are the state of the name that is being
 * computed.
 */
class Naming {
  /** @param {Labels} labels */
  constructor(labels) {
    this.labels = labels;
    this.generated = new Generated();
    /** The elements that are part of this name already: none counts twice. */
    this.visited = new Set();
    /** How many characters were gathered. */
    this.length = 0;
    /** The last name or text was taken from the content of the element. */
    this.fromContent = false;
  }

  /** @param {El} el @param {string} pseudo */
  generatedAt(el, pseudo) {
    return this.generated.possible ? generatedText(el, pseudo) : "";
  }

  /**
   * The accessible name of an element.
   * @param {El} el @param {string} tag @param {string} role
   */
  name(el, tag, role) {
    this.length = 0;
    this.fromContent = false;
    const by = aria(el, "aria-labelledby");
    if (by) {
      this.visited.clear();
      const text = this.labelledby(el, by); // 2B
      if (text) return text;
    }
    const label = reportedAria(el, "aria-label"); // 2D
    if (label && label.trim()) return clean(label, MAX_NAME);
    const own = this.native(el, tag); // 2E
    if (own) return own;
    if (NAME_FROM_CONTENT.has(role) || tag === "summary" || (tag === "a" && role === "generic")) {
      this.visited.clear();
      this.length = 0;
      const text = clean(this.content(el, tag), MAX_NAME); // 2F
      this.fromContent = text !== "";
      if (text) return text;
    }
    return this.tooltip(el); // 2I
  }

  /** @param {El} el @param {string} ids */
  labelledby(el, ids) {
    const root = treeOf(el);
    let text = "";
    for (const id of ids.trim().split(/\s+/, 16)) {
      const target = isDocument(root) ? safe.getElementById(root, id) : root.getElementById(id);
      if (target) text += this.partOfName(target, true) + " ";
    }
    return clean(text, MAX_NAME);
  }

  /**
   * The text of one element within another's name.
   * @param {El} el @param {boolean} referenced by an id or a label
   */
  partOfName(el, referenced) {
    if (this.visited.has(el) || this.length > MAX_GATHERED) return "";
    this.visited.add(el);
    const tag = tagOf(el);
    if (isMasked(el)) return MASK;
    const label = reportedAria(el, "aria-label");
    const value = referenced ? "" : this.embedded(el, tag); // 2C
    if (value) return value;
    if (label && label.trim()) return label;
    const own = this.native(el, tag);
    if (own) return own;
    return this.content(el, tag) || this.tooltip(el);
  }

  /** The value of a control within the label of another (2C). @param {El} el @param {string} tag */
  embedded(el, tag) {
    if (MASKS !== null && isValueMasked(el)) return "";
    if (tag === "input") {
      const type = el.type;
      if (type === "checkbox" || type === "radio" || type === "button" || type === "submit" || type === "reset") return "";
      if (type === "hidden" || type === "file" || type === "image" || isSecret(el)) return "";
      return el.value;
    }
    if (tag === "select") return isSecret(el) ? "" : selectedText(el);
    if (tag === "textarea") return isSecret(el) ? "" : el.value;
    const role = explicitRole(el);
    if (role === "textbox") return isSecret(el) ? "" : reportedWords(el, MAX_GATHERED);
    if (role === "slider" || role === "spinbutton" || role === "scrollbar") {
      return aria(el, "aria-valuetext") || aria(el, "aria-valuenow") || "";
    }
    return "";
  }

  /**
   * The name by HTML: from labels, captions and attributes (2E).
   * @param {El} el @param {string} tag
   */
  native(el, tag) {
    switch (tag) {
      case "input":
        return this.inputName(el);
      case "select":
      case "textarea":
      case "output":
      case "meter":
      case "progress":
      case "button":
        return this.fromLabels(el) || (tag === "textarea" ? this.titleOrPlaceholder(el) : "");
      case "img":
      case "area":
        return clean(reportedAttribute(el, "alt") || "", MAX_NAME);
      case "fieldset":
        return this.fromChild(el, "legend");
      case "table":
        return this.fromChild(el, "caption");
      case "figure":
        return this.fromChild(el, "figcaption");
      case "svg":
        return this.fromChild(el, "title");
      case "iframe":
        return clean(reportedAttribute(el, "title") || "", MAX_NAME);
    }
    return SVG_TAGS.has(tag) && isSVG(el) ? clean(this.svgTitle(el), MAX_NAME) : "";
  }

  /** @param {El} el */
  inputName(el) {
    switch (el.type) {
      case "button":
        return this.fromLabels(el) || clean(reportedCaption(el), MAX_NAME);
      case "submit":
        return this.fromLabels(el) || clean(hasAttr(el, "value") ? reportedCaption(el) : "Submit", MAX_NAME);
      case "reset":
        return this.fromLabels(el) || clean(hasAttr(el, "value") ? reportedCaption(el) : "Reset", MAX_NAME);
      case "image":
        return this.fromLabels(el) || clean(reportedAttribute(el, "alt") || reportedAttribute(el, "title") || "Submit", MAX_NAME);
      case "checkbox":
      case "radio":
      case "range":
      case "color":
      case "file":
        return this.fromLabels(el);
    }
    return this.fromLabels(el) || this.titleOrPlaceholder(el);
  }

  /** A field's title or, failing that, its placeholder. @param {El} el */
  titleOrPlaceholder(el) {
    return clean(reportedAttribute(el, "title") || reportedAttribute(el, "placeholder") || reportedAria(el, "aria-placeholder") || "", MAX_NAME);
  }

  /** @param {El} el */
  fromLabels(el) {
    const labels = this.labels.of(el);
    if (!labels.length) return "";
    this.visited.clear();
    this.visited.add(el);
    this.length = 0;
    let text = "";
    for (const label of labels) {
      const plain = MASKS === null && isPlainLabel(label, el);
      text += (plain ? folded(label.textContent, MAX_GATHERED) : this.partOfName(label, true)) + " ";
    }
    return clean(text, MAX_NAME);
  }

  /** @param {El} el @param {string} tag */
  fromChild(el, tag) {
    for (let c = safe.firstElementChild(el); c; c = safe.nextElementSibling(c)) {
      if (tagOf(c) === tag) {
        this.visited.clear();
        this.length = 0;
        return clean(this.content(c, tag), MAX_NAME);
      }
    }
    return "";
  }

  /** @param {El} el */
  tooltip(el) {
    return clean(reportedAttribute(el, "title") || reportedAria(el, "aria-placeholder") || "", MAX_NAME);
  }

  /**
   * The name from content (2F): the visible texts of the flat tree, with spaces around blocks.
   * Iterative, so that nesting cannot exhaust the stack.
   * @param {El} el @param {string} tag
   */
  content(el, tag) {
    if ((MASKS !== null || tag === "textarea") && isTextMasked(el)) return reportedText(el);
    if (!safe.firstElementChild(el) && !shadowOf(el) && tag !== "slot") {
      const text = safe.textContent(el);
      if (text.length <= MAX_GATHERED) {
        this.length += text.length;
        return this.generatedAt(el, "::before") + text + this.generatedAt(el, "::after");
      }
    }
    return this.gather(el, tag);
  }

  /**
   * The folded content of an element with child elements or much text.
   * @param {El} el @param {string} tag
   */
  gather(el, tag) {
    const out = new TextFolder(MAX_GATHERED - this.length);
    out.add(this.generatedAt(el, "::before"));
    /** @type {{nodes: FlatNodes, after: string}[]} */
    const stack = [{ nodes: new FlatNodes(el, tag), after: this.generatedAt(el, "::after") }];
    for (let seen = 0; stack.length && !out.isFull; seen++) {
      const top = stack[stack.length - 1];
      const node = top.nodes.take();
      if (node === null) {
        out.add(top.after);
        stack.pop();
        continue;
      }
      if (seen >= MAX_GATHERED_NODES) out.cut = true;
      if (isText(node)) {
        out.add(node.data);
        continue;
      }
      const step = this.descend(node);
      if (step === null) continue;
      if (typeof step === "string") out.add(step);
      else {
        out.add(step.before);
        stack.push(step);
      }
    }
    const words = out.finish();
    this.length += words.length;
    return words;
  }

  /**
   * What an element adds to the content around it: null for nothing, a text, or its nodes.
   * @param {El} node
   * @returns {null | string | {nodes: FlatNodes, before: string, after: string}}
   */
  descend(node) {
    if (this.visited.has(node)) return null;
    this.visited.add(node);
    const tag = tagOf(node);
    if (tag === "script" || tag === "style" || tag === "template" || tag === "noscript") return null;
    if (tag === "br") return " ";
    if (aria(node, "aria-hidden") === "true") return null;
    const style = getComputedStyle(node);
    const display = style.display;
    if (display === "none" || (style.visibility !== "visible" && VISIBLE.visibilityProperty)) return null;
    const flows = (display === "inline" || display === "contents") && !REPLACED.has(tag);
    const space = flows ? "" : " ";
    if (MASKS !== null && tag !== "textarea" && isTextMasked(node)) return space + MASK + space;
    const label = reportedAria(node, "aria-label");
    const text = this.embedded(node, tag) || (label && label.trim()) || this.nativeWithin(node, tag);
    if (text) return space + text + space;
    const nodes = new FlatNodes(node, tag);
    const before = this.generatedAt(node, "::before");
    const after = this.generatedAt(node, "::after");
    if (nodes.next === null && !before && !after) return clean(reportedAttribute(node, "title") || "", MAX_NAME);
    return { nodes, before: space + before, after: after + space };
  }

  /**
   * The native names that matter inside a name: images and buttons.
   * @param {El} node @param {string} tag
   */
  nativeWithin(node, tag) {
    if (tag === "img" || tag === "area") return attr(node, "alt") || "";
    if (tag === "svg" || (SVG_TAGS.has(tag) && isSVG(node))) return this.svgTitle(node);
    if (tag === "input") {
      const type = node.type;
      if (type === "button" || type === "submit" || type === "reset") return node.value;
      if (type === "image") return attr(node, "alt") || "";
    }
    return "";
  }

  /** @param {El} svg */
  svgTitle(svg) {
    for (let c = safe.firstElementChild(svg); c; c = safe.nextElementSibling(c)) {
      if (tagOf(c) === "title") return reportedWords(c, MAX_GATHERED);
    }
    return "";
  }
}

/**
 * Whether a label has only text, and perhaps the control itself, as most labels do: its text needs
 * no walk.
 * @param {El} label @param {El} el
 */
function isPlainLabel(label, el) {
  const count = label.childElementCount;
  if (count > 1 || label.attributes.length > 1 || shadowOf(label)) return false;
  return count === 0 || (label.firstElementChild === el && el.localName === "input" && !hasAttr(label, "title") && !hasAttr(label, "aria-label"));
}

/** Iterates over the elements and texts among the flat children of an element. */
class FlatNodes {
  /** @param {El} el @param {string} tag */
  constructor(el, tag) {
    const assigned = tag === "slot" ? el.assignedNodes() : [];
    this.list = assigned.length ? assigned : null;
    this.i = 0;
    /** @type {El | Text | null} */
    this.next = null;
    if (this.list) this.next = this.list[0];
    else if (tag !== "select" && tag !== "textarea" && tag !== "iframe") this.next = contentNode(safe.firstChild(shadowOf(el) || el));
  }

  /** The next node, or null. */
  take() {
    const node = this.next;
    if (this.list) this.next = this.list[++this.i] || null;
    else if (node !== null) this.next = contentNode(safe.nextSibling(node));
    return node;
  }
}

/**
 * The first of a node and its siblings that is an element or a text.
 * @param {El | Text | null} node @returns {El | Text | null}
 */
function contentNode(node) {
  while (node && !isElement(node) && safe.nodeType(node) !== 3) node = safe.nextSibling(node);
  return node;
}

/**
 * The elements and texts among the flat children of an element, at most MAX_GATHERED of its own.
 * @param {El} el @param {string} tag @returns {(El | Text)[]}
 */
function flatNodes(el, tag) {
  if (tag === "slot") {
    const assigned = el.assignedNodes();
    if (assigned.length) return assigned;
  }
  if (tag === "select" || tag === "textarea" || tag === "iframe") return [];
  /** @type {(El | Text)[]} */
  const nodes = [];
  for (let n = safe.firstChild(shadowOf(el) || el); n; n = safe.nextSibling(n)) {
    if (isElement(n) || isText(n)) {
      nodes.push(n);
      if (nodes.length >= MAX_GATHERED) break;
    }
  }
  return nodes;
}

/**
 * The labels of the selected options of a select.
 * @param {El} el @param {number} [most] how many characters are enough
 */
function selectedText(el, most = MAX_GATHERED) {
  const chosen = el.selectedOptions;
  let text = "";
  for (let i = 0; i < chosen.length && text.length <= most; i++) {
    text += (i ? ", " : "") + (isMasked(chosen[i]) ? MASK : chosen[i].label || chosen[i].text);
  }
  return text && isValueMasked(el) ? MASK : text;
}

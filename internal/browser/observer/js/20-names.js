// @ts-check
// Accessible names, by the Accessible Name and Description Computation 1.2
// (https://www.w3.org/TR/accname-1.2/). Comments such as 2B name the step that a line implements.
//
// Labels finds the labels of controls and owns their index. Generated knows whether CSS may
// generate text. Naming computes one name at a time. The model holds one of each. Refresh requests
// names when it describes elements, Finder and Extraction when they compare elements.

/** The number of characters of a name that are reported as the text of an element; see F_WHOLE. */
const MAX_NAME = 100;
/** The maximum number of characters of a name or text. */
const MAX_TEXT = 10_000;
/**
 * The maximum numbers of characters of folded text and of nodes that are gathered from blocks. It
 * bounds the work on huge subtrees. Beyond it, only the text of the element itself and of inline
 * content is added; the blocks are listed separately.
 */
const MAX_GATHERED = 1000;
const MAX_GATHERED_NODES = 10_000;
/** The maximum number of labels used for one control. */
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
 * The key of a label's entry in the index of its tree. The entry is kept on the label, invisible to
 * the page's world.
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
    /** Whether the document has shadow trees. If so, labels are searched in the tree of the control. */
    this.hasShadowTrees = false;
    /**
     * The labels of controls with very many labels; cleared with each update.
     * @type {Map<El, El[]>}
     */
    this.firstOfMany = new Map();
    /**
     * Labels by their `for`, for each tree in which a control was looked up.
     * @type {WeakMap<Tree, Map<string, Set<El>>>}
     */
    this.indexes = new WeakMap();
    /** Whether some tree is indexed. */
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

  /** Records a label that was added, or that names another control now. @param {El} label */
  markChanged(label) {
    this.forget(label);
    const index = safe.isConnected(label) && this.indexes.get(treeOf(label));
    if (index) indexLabel(index, label);
  }

  /** Whether other labels have the same `for`. @param {El} label */
  isOneOfMany(label) {
    const entry = label[INDEXED];
    const labels = entry && entry.index.get(entry.id);
    return !!labels && labels.size > 1;
  }

  /** Records that a label was removed. @param {El} label */
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
 * Returns the label around a label. Only scripts can nest labels; the HTML parser does not.
 * @param {El} label
 */
function labelAround(label) {
  const parent = safe.parentNode(label);
  return parent && isElement(parent) ? closestOf(parent, "label") : null;
}

/**
 * Returns the first MAX_LABELS labels of a control that has more.
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

/** The maximum number of rules searched for generated content. A longer sheet counts as having some. */
const MAX_RULES = 20000;
/** The maximum number of selectors. Matching more takes longer than reading the computed styles. */
const MAX_GENERATING = 100;

/**
 * Finds the elements in which the styles of a document may generate text. Naming reads computed styles only for
 * these, because it takes two reads per element.
 */
class Generated {
  constructor() {
    /** The numbers of sheets and of their rules at the last search. The rules are counted because scripts insert rules into sheets. */
    this.sheets = -1;
    this.rules = -1;
    /** The sheets that could not be loaded at the last search. @type {Set<string>} */
    this.failed = failedSheets;
    /** Matches the elements in which text may be generated. Empty if there are none, null if any element may be one. @type {string | null} */
    this.selector = "";
    /** Whether a rule may draw a ::before or ::after, with or without text. */
    this.draws = true;
    /**
     * Whether there are shadow trees. The styles of shadow trees are not searched. They apply to the content of the tree, to its host
     * and to slotted nodes.
     */
    this.inShadows = false;
  }

  /** Whether text may be generated in any element. */
  get possible() {
    return this.selector !== "" || this.inShadows;
  }

  /** Whether an element may have a ::before or ::after. */
  get drawing() {
    return this.draws || this.inShadows;
  }

  /** Whether text may be generated in an element. @param {El} el */
  mayBeIn(el) {
    const { selector } = this;
    if (selector === null || (selector !== "" && safe.matches(el, selector))) return true;
    return this.inShadows && (isShadow(safe.getRootNode(el)) || shadowOf(el) !== null || slotOf(el) !== null);
  }

  /**
   * Searches the sheets if they have changed. Reports whether generated content may have changed.
   * @param {Document} doc
   */
  check(doc) {
    const all = [...safe.styleSheets(doc), ...safe.adoptedStyleSheets(doc)];
    const rules = all.reduce((sum, sheet) => sum + rulesIn(sheet), 0);
    if (all.length === this.sheets && rules === this.rules && this.failed === failedSheets) return false;
    const was = this.selector, others = all.length !== this.sheets;
    this.failed = failedSheets;
    this.sheets = all.length;
    this.rules = rules;
    this.draws = false;
    this.selector = generatingSelector(doc, all, () => (this.draws = true));
    return this.selector !== was || (others && this.selector !== "");
  }
}

/** Returns the number of top-level rules of a sheet, or 0 if the sheet cannot be read. @param {CSSStyleSheet} sheet */
function rulesIn(sheet) {
  try {
    const rules = rulesOf(sheet);
    return rules === null ? 0 : rules.length;
  } catch {
    return 0; // a sheet of another origin
  }
}

/**
 * Returns a selector for all elements in which the sheets of a document may generate text; see
 * Generated.
 * @param {Document} doc @param {CSSStyleSheet[]} sheets @param {() => void} onDraws called if a rule may draw a ::before or ::after
 */
function generatingSelector(doc, sheets, onDraws) {
  /** @type {Set<string>} */
  const selectors = new Set();
  /** @param {CSSStyleDeclaration} style @param {string | undefined} selector */
  const generates = ({ content }, selector) => {
    if (content === "") return false;
    onDraws();
    return generatesText(content) && (!selector || selector.search(PSEUDOS) >= 0);
  };
  for (const sheet of sheets) {
    if (addSelectors(selectors, sheet, generates) && selectors.size <= MAX_GENERATING) continue;
    onDraws(); // the other rules are not searched
    return null;
  }
  if (selectors.size === 0) return "";
  const all = ":is(" + [...selectors].join(",") + ")";
  try {
    const root = safe.documentElement(doc);
    if (root) safe.matches(root, all);
    return all;
  } catch {
    return null;
  }
}

/**
 * Adds the selectors of the wanted rules of a sheet. Returns false if some are missing: a sheet may be
 * unreadable, and the selector of a nested rule depends on the rules around it.
 * @param {Set<string>} to @param {CSSStyleSheet} sheet
 * @param {(style: CSSStyleDeclaration, selector: string | undefined) => boolean} wanted
 */
function addSelectors(to, sheet, wanted) {
  let left = MAX_RULES;
  /** @param {CSSRuleList} rules @param {boolean} nested @returns {boolean} */
  const addAll = (rules, nested) => {
    for (const each of rules) {
      const rule = /** @type {AnyRule} */ (each);
      const selector = rule.selectorText;
      if (--left < 0) return false;
      if (rule.style && wanted(rule.style, selector)) {
        if (!selector || nested) return false; // a keyframe, or nested
        to.add(selector.replace(PSEUDOS, ":is(*)"));
      }
      const inner = innerRules(rule);
      if (inner && !addAll(inner, nested || Boolean(selector))) return false;
    }
    return true;
  };
  try {
    const rules = rulesOf(sheet);
    return rules === null || addAll(rules, false);
  } catch {
    return false; // a sheet of another origin, whose rules cannot be read
  }
}

const PSEUDOS = /(?<!\\)::?(?:before|after)(?![-\w])/g; // in class names of utilities, a colon is escaped

/**
 * Whether a content value may be text. Glyphs of icon fonts do not count; see generatedText.
 * @param {string} content
 */
function generatesText(content) {
  return content !== "" && content !== "none" && content !== "normal" && !/^"[\ue000-\uf8ff]*"$/.test(content);
}

/**
 * Returns the text that a style generates before or after an element, or its alternative text.
 * @param {El} el @param {string} pseudo @param {Naming} naming
 */
function generatedText(el, pseudo, naming) {
  const style = getComputedStyle(el, pseudo), content = style.content;
  if (content === "none" || content === "normal" || isOnlyForLayout(el, style)) return "";
  if (COUNTER.test(content)) {
    naming.counters.markNumbered(naming.root);
    return naming.counters.textOf(el, pseudo, content);
  }
  if (!content.includes('"')) return "";
  const slash = /[")] \/ (?=")/.exec(content);
  const spoken = slash ? content.slice(slash.index + 4) : content;
  let text = "";
  for (const [, quoted] of spoken.replace(FUNCTIONS, "").matchAll(/"((?:[^"\\]|\\.)*)"/g)) text += quoted.replace(/\\(.)/g, "$1");
  return text;
}

/**
 * Whether a visible element generates a text that is not shown. Pages use this to reserve the width of bold text.
 * @param {El} el @param {CSSStyleDeclaration} generated
 */
function isOnlyForLayout(el, { display, visibility }) {
  return display === "none" || (visibility !== "visible" && getComputedStyle(el).visibility === "visible");
}

/** Whether an element's aria-owns refers to its popup, which is not part of its name. @param {El} el */
function opensWhatItOwns(el) {
  const popup = attr(el, "aria-haspopup");
  return popup !== null ? popup !== "false" : attr(el, "role") === "combobox";
}

/** Matches a content value that consists of strings and counters. */
const COUNTER = /^(?=[^]*\bcounters?\()(?:(?:"(?:[^"\\]|\\.)*"|counters?\((?:"(?:[^"\\]|\\.)*"|[^"()])*\)) ?)+$/;
/** Matches images and counters in a content value: the quoted words in them are not shown. */
const FUNCTIONS = /[-\w]*(?:url|image-set|image|gradient|counters?)\((?:"(?:[^"\\]|\\.)*"|\([^)]*\)|[^"()])*\)/g;

/** The maximum number of ids of other elements that are kept for one name. */
const MAX_REFERENCES = 64;

/** The way in which an element is referenced: by an id in an aria-* attribute, or by HTML, as a label is. */
const BY_ID = true, BY_HOST = false;

/**
 * Computes names, one at a time. visited, length and the fields after them are the state of the
 * current computation.
 */
class Naming {
  /** @param {Labels} labels */
  constructor(labels) {
    this.labels = labels;
    this.generated = new Generated();
    this.counters = new Counters(this.generated);
    this.captions = new Captions(labels);
    this.panes = new Panes();
    /** The elements that are already part of this name. None counts twice. */
    this.visited = new Set();
    /** The number of characters gathered so far. */
    this.length = 0;
    /** Whether the last name or text was taken from the content of the element. */
    this.fromContent = false;
    /** Whether a container's label replaced its content in the last name. */
    this.isPartial = false;
    /** The element that is being named. @type {El | null} */
    this.root = null;
    /** Whether an aria-labelledby is being followed. Within it, no other aria-labelledby is followed (2B). */
    this.following = false;
    /** Whether the referenced element is hidden, so that hidden content in it counts (2A). */
    this.showsHidden = false;
    /** Whether MAX_GATHERED characters were gathered, so that further blocks are left out. */
    this.onlyInline = false;
    /**
     * The ids of other elements that the names computed since the last clearReferences depend on. A
     * change of such an element or its content changes the name; see Records.setReferences.
     * @type {string[]}
     */
    this.references = [];
  }

  clearReferences() {
    if (this.references.length) this.references = [];
  }

  /** Forgets the state of the last name. @param {El} el the element to name */
  start(el) {
    if (this.visited.size > 0) this.visited.clear(); // clearing an empty set allocates
    this.length = 0;
    this.fromContent = this.isPartial = false;
    this.root = el;
    this.following = this.showsHidden = this.onlyInline = false;
  }

  /** @param {El} el @param {string} pseudo */
  generatedAt(el, pseudo) {
    return this.generated.mayBeIn(el) ? generatedText(el, pseudo, this) : "";
  }

  /**
   * Returns the accessible name of an element.
   * @param {El} el @param {string} tag @param {string} role
   */
  name(el, tag, role) {
    this.start(el);
    const by = aria(el, "aria-labelledby");
    if (by && role === "combobox" && isNamedByValue(el, by)) {
      const label = captionOfReplaced(el, tag, role, this.labels);
      if (label) return label;
    }
    if (by) {
      const text = clean(this.labelledby(el, by), MAX_TEXT); // 2B
      if (text) return text;
      this.start(el);
    }
    const label = reportedAria(el, "aria-label"); // 2D
    if (label && label.trim()) return clean(label, MAX_TEXT);
    const own = this.native(el, tag); // 2E
    if (own) return own;
    if (NAME_FROM_CONTENT.has(role) || (tag === "a" && role === "generic")) {
      this.start(el);
      const text = withoutCross(el, clean(this.content(el, tag), MAX_TEXT)); // 2F
      this.fromContent = text !== "";
      if (text) return text;
    }
    return this.tooltip(el); // 2I
  }

  /** Returns the accessible name of a field, or else its caption. @param {El} el @param {string} tag @param {string} role */
  nameOrCaption(el, tag, role) {
    return this.name(el, tag, role) || this.captions.of(el, tag, role, null);
  }

  /** Returns the text of an element that has no accessible name. @param {El} el @param {string} tag */
  text(el, tag) {
    this.start(el);
    this.fromContent = true;
    return withoutCross(el, clean(this.content(el, tag), MAX_TEXT));
  }

  /**
   * Returns the elements that an attribute refers to by their ids.
   * @param {El} el @param {string} ids @returns {El[]}
   */
  elementsOf(el, ids) {
    const root = treeOf(el);
    /** @type {El[]} */
    const found = [];
    for (const id of ids.trim().split(/\s+/, 16)) {
      if (this.references.length < MAX_REFERENCES) this.references.push(id);
      const target = elementOf(root, id);
      if (target) found.push(target);
    }
    return found;
  }

  /** Returns the text of the elements in aria-labelledby (2B). @param {El} el @param {string} ids */
  labelledby(el, ids) {
    let text = "";
    for (const target of this.elementsOf(el, ids)) {
      if (target !== el && safe.contains(target, el)) continue; // the content of an element does not name a part of that element
      text += this.referenced(target, BY_ID) + " ";
    }
    return text.trim();
  }

  /**
   * Returns the text of an element that an id or HTML refers to. If the element is hidden, all of
   * its content counts; otherwise only visible content does (2A).
   * @param {El} el @param {boolean} by BY_ID or BY_HOST @returns {string}
   */
  referenced(el, by) {
    if (this.visited.has(el) || this.length > MAX_GATHERED) return "";
    const { following, showsHidden } = this;
    this.visited.add(el);
    this.following = following || by === BY_ID;
    this.showsHidden = isHiddenFromAll(el);
    const text = this.partOfName(el);
    this.following = following;
    this.showsHidden = showsHidden;
    return text;
  }

  /** Returns the text that one element contributes to the name of another. @param {El} el @returns {string} */
  partOfName(el) {
    const tag = tagOf(el);
    if (isMasked(el)) return MASK;
    const by = this.following ? null : attr(el, "aria-labelledby"); // 2B
    const elsewhere = by ? this.labelledby(el, by) : "";
    if (elsewhere) return elsewhere;
    const value = el === this.root ? null : this.embedded(el, tag); // 2C
    if (value !== null) return value;
    const label = reportedAttribute(el, "aria-label"); // 2D
    if (label && label.trim()) return label;
    const own = this.native(el, tag); // 2E
    if (own) return own;
    return this.content(el, tag).trim() || this.tooltip(el); // 2F, 2I
  }

  /**
   * Returns the value of a control within the name of another element (2C), or null if the element
   * is not a control with a value.
   * @param {El} el @param {string} tag @returns {string | null}
   */
  embedded(el, tag) {
    if (tag === "input" || tag === "select" || tag === "textarea") {
      if ((MASKS !== null && isValueMasked(el)) || isSecret(el)) return null;
      return nativeValue(el, tag) || null;
    }
    const role = hasAttr(el, "role") ? explicitRole(el) : "";
    if (!EMBEDDED_ROLES.has(role)) return null;
    if ((MASKS !== null && isValueMasked(el)) || isSecret(el)) return "";
    switch (role) {
      case "textbox":
      case "searchbox":
        return withoutCross(el, reportedWords(el, MAX_GATHERED));
      case "slider":
      case "spinbutton":
      case "scrollbar":
        return reportedAttribute(el, "aria-valuetext") || reportedAttribute(el, "aria-valuenow") || "";
    }
    return this.chosen(el, role);
  }

  /**
   * Returns the chosen options of a list that is not a select. Null for a menu or combobox without a
   * choice, whose content is its value.
   * @param {El} el @param {string} role
   */
  chosen(el, role) {
    const lists = [el];
    if (role === "combobox") {
      const field = safe.firstElementChild(el) ? firstWithin(el, "input,[role=textbox],[role=searchbox]") : null;
      const value = field ? this.embedded(field, tagOf(field)) : null;
      if (value) return value;
      for (const name of ["aria-owns", "aria-controls"]) {
        const ids = attr(el, name);
        if (ids) lists.push(...this.elementsOf(el, ids));
      }
    }
    let text = "";
    let found = false;
    for (const list of lists) {
      const options = queryWithin(list, CHOSEN);
      for (let i = 0; i < options.length && i < MAX_LABELS; i++) {
        found = true;
        text += (text ? ", " : "") + this.optionText(options[i]);
      }
      if (found) return text;
    }
    return role === "listbox" ? "" : null;
  }

  /** Returns the text of a chosen option. Several controls may share an option. @param {El} option */
  optionText(option) {
    if (isTextMasked(option)) return MASK;
    const label = reportedAttribute(option, "aria-label");
    return label && label.trim() ? label.trim() : this.content(option, tagOf(option)).trim();
  }

  /**
   * Returns the name by HTML: from labels, captions and attributes (2E).
   * @param {El} el @param {string} tag @returns {string}
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
        return clean(reportedAttribute(el, "alt") || "", MAX_TEXT);
      case "option":
      case "optgroup":
        return clean(reportedAttribute(el, "label") || "", MAX_TEXT);
      case "fieldset":
        return this.fromChild(el, "legend");
      case "details":
        return summaryOf(el) ? "" : "Details";
      case "table":
        return this.fromChild(el, "caption");
      case "figure":
        return this.fromChild(el, "figcaption");
      case "svg":
        return this.fromChild(el, "title");
      case "iframe":
        return clean(reportedAttribute(el, "title") || "", MAX_TEXT);
    }
    if (tag.includes("-")) return this.fromLabels(el); // a custom element may be associated with a form
    return SVG_TAGS.has(tag) && isSVG(el) ? clean(this.svgTitle(el, tag), MAX_TEXT) : "";
  }

  /** @param {El} el */
  inputName(el) {
    switch (el.type) {
      case "button":
        return this.fromLabels(el) || clean(reportedCaption(el), MAX_TEXT);
      case "submit":
        return this.fromLabels(el) || clean(hasAttr(el, "value") ? reportedCaption(el) : "Submit", MAX_TEXT);
      case "reset":
        return this.fromLabels(el) || clean(hasAttr(el, "value") ? reportedCaption(el) : "Reset", MAX_TEXT);
      case "image":
        return this.fromLabels(el) || clean(reportedAttribute(el, "alt") || reportedAttribute(el, "title") || "Submit", MAX_TEXT);
      case "checkbox":
      case "radio":
      case "range":
      case "color":
      case "file":
        return this.fromLabels(el);
    }
    return this.fromLabels(el) || this.titleOrPlaceholder(el);
  }

  /** Returns a field's title or, failing that, its placeholder. @param {El} el */
  titleOrPlaceholder(el) {
    return clean(reportedAttribute(el, "title") || reportedAttribute(el, "placeholder") || reportedAttribute(el, "aria-placeholder") || "", MAX_TEXT);
  }

  /** @param {El} el */
  fromLabels(el) {
    const labels = this.labels.of(el);
    if (!labels.length) return "";
    this.visited.add(el);
    let text = "";
    for (const label of labels) {
      const plain = MASKS === null && !this.generated.possible && isPlainLabel(label, el);
      text += (plain ? folded(label.textContent, MAX_TEXT) : this.referenced(label, BY_HOST)) + " ";
    }
    return clean(text, MAX_TEXT);
  }

  /** @param {El} el @param {string} tag @returns {string} */
  fromChild(el, tag) {
    for (let c = safe.firstElementChild(el); c; c = safe.nextElementSibling(c)) {
      if (tagOf(c) === tag) return clean(this.referenced(c, BY_HOST), MAX_TEXT);
    }
    return "";
  }

  /** @param {El} el */
  tooltip(el) {
    if (el === attributeFree) return "";
    return clean(reportedAttribute(el, "title") || reportedAttribute(el, "aria-placeholder") || "", MAX_TEXT);
  }

  /**
   * Returns the name from content (2F): the visible texts of the flat tree, with spaces around
   * blocks. It is iterative, so that nesting cannot exhaust the stack.
   * @param {El} el @param {string} tag
   */
  content(el, tag) {
    if ((MASKS !== null || tag === "textarea") && isTextMasked(el)) return reportedText(el);
    if (!hasElements(el) && tag !== "slot" && !hasAttr(el, "aria-owns")) {
      const text = safe.textContent(el);
      if (text.length <= MAX_TEXT) {
        this.length += text.length;
        return this.generatedAt(el, "::before") + text + this.generatedAt(el, "::after");
      }
    }
    return this.gather(el, tag);
  }

  /**
   * Gathers the folded content of an element with child elements or much text.
   * @param {El} el @param {string} tag
   */
  gather(el, tag) {
    if (el === this.root) this.visited.add(el);
    const out = new TextFolder(MAX_TEXT - this.length);
    out.add(this.generatedAt(el, "::before"));
    /** @type {Level[]} */
    const stack = [{ nodes: this.nodesOf(el, tag), before: "", after: this.generatedAt(el, "::after"), title: "", words: 0, muted: false }];
    let words = 0; // the number of pieces with more than white space
    for (let seen = 0; stack.length && !out.isFull; seen++) {
      const top = stack[stack.length - 1];
      const node = top.nodes.take();
      if (top.nodes.ownedSoFar > 0) out.add(" "); // owned elements are elsewhere in the document
      if (node === null) {
        if (top.title !== "" && words === top.words) { // 2I
          out.add(top.title);
          words++;
        }
        out.add(top.after);
        stack.pop();
        continue;
      }
      if (seen >= MAX_GATHERED_NODES) out.cut = true;
      if (isText(node)) {
        if (top.muted) continue;
        out.add(node.data);
        if (hasText(node.data)) words++;
        continue;
      }
      this.onlyInline = out.text.length > MAX_GATHERED;
      const step = words > 0 && isMessageInLabel(node, this.root) ? null : this.descend(node);
      if (step === null) continue;
      if (typeof step === "string") {
        out.add(step);
        words++;
      } else {
        out.add(step.before);
        step.words = words;
        if (hasText(step.before)) words++;
        stack.push(step);
      }
    }
    const text = out.finish();
    this.length += text.length;
    return text;
  }

  /** Returns the content of an element and the elements that it owns, except for its popup. @param {El} el @param {string} tag */
  nodesOf(el, tag) {
    const ids = opensWhatItOwns(el) ? null : attr(el, "aria-owns");
    return new FlatNodes(el, tag, ids ? this.elementsOf(el, ids) : null);
  }

  /**
   * Returns the contribution of an element to the content around it: null for nothing, a text, or
   * its nodes.
   * @param {El} node
   * @returns {null | string | Level}
   */
  descend(node) {
    if (this.visited.has(node)) return null;
    this.visited.add(node);
    const tag = tagOf(node);
    if (tag === "script" || tag === "style" || tag === "template" || tag === "noscript") return null;
    if (tag === "br") return " ";
    const bare = hasNoAttributes(node);
    if (!bare && !this.showsHidden && attr(node, "aria-hidden") === "true") return null;
    const style = getComputedStyle(node);
    const display = style.display;
    if (!this.showsHidden && display === "none") return null;
    if (isPopupInLabel(node, style)) return null;
    const space = flowsInText(tag, display) ? "" : " ";
    if (space && this.onlyInline) return space;
    if (!this.showsHidden && style.visibility !== "visible" && VISIBLE.visibilityProperty) {
      if (!hasElements(node)) return null;
      // A descendant may be visible again.
      return { nodes: new FlatNodes(node, tag, null), before: space, after: space, title: "", words: 0, muted: true };
    }
    if (MASKS !== null && tag !== "textarea" && isTextMasked(node)) return space + MASK + space;
    if (isDrawnChoice(node, tag)) return space; // the words beside it show its value
    const text = this.alternative(node, tag, bare);
    if (text) return space + text + space;
    if (text === "") return space;
    const before = this.generatedAt(node, "::before");
    const after = this.generatedAt(node, "::after");
    const title = bare ? "" : reportedAttribute(node, "title") || "";
    return { nodes: bare ? new FlatNodes(node, tag, null) : this.nodesOf(node, tag), before: space + before, after: after + space, title: hasText(title) ? title : "", words: 0, muted: false };
  }

  /**
   * Returns the text that replaces the content of an element (2B to 2E), or null for none.
   * @param {El} node @param {string} tag @param {boolean} bare it has no attributes
   */
  alternative(node, tag, bare) {
    if (!bare && !this.following) {
      const by = attr(node, "aria-labelledby");
      const elsewhere = by ? this.labelledby(node, by) : "";
      if (elsewhere) return this.inPlaceOf(node, tag, elsewhere);
    }
    if (node !== this.root) {
      const value = this.embedded(node, tag);
      if (value !== null) return value;
    }
    const label = bare ? null : reportedAttribute(node, "aria-label");
    if (label && label.trim()) return this.inPlaceOf(node, tag, label);
    return this.nativeWithin(node, tag) || null;
  }

  /** Records that a label replaces the content of an element, and returns the label. @param {El} node @param {string} tag @param {string} label */
  inPlaceOf(node, tag, label) {
    if (hasElements(node) && !isAtomic(tag, roleOf(node, tag, explicitRole(node)))) this.isPartial = true;
    return label;
  }

  /**
   * Returns the native names that matter inside a name: images and buttons.
   * @param {El} node @param {string} tag
   */
  nativeWithin(node, tag) {
    if (tag === "img" || tag === "area") return attr(node, "alt") || "";
    if (tag === "svg" || (SVG_TAGS.has(tag) && isSVG(node))) return this.svgTitle(node, tag);
    if (tag === "input") {
      const type = node.type;
      if (type === "button" || type === "submit" || type === "reset") return node.value;
      if (type === "image") return attr(node, "alt") || "";
    }
    return "";
  }

  /**
   * Returns the title of an SVG element, or of the symbol or shape that a <use> draws.
   * @param {El} el @param {string} tag
   */
  svgTitle(el, tag) {
    const own = titleWithin(el);
    if (own || tag !== "use") return own;
    const href = attr(el, "href") || attr(el, "xlink:href") || "";
    if (href[0] !== "#") return "";
    const [drawn] = this.elementsOf(el, href.slice(1));
    return drawn && isSVG(drawn) ? titleWithin(drawn) : "";
  }
}

/** Matches what a person chooses from, as in the list of suggestions or the calendar of a field. */
const CHOICES = "button,li,td,[role=option],[role=listbox],[role=grid],[role=dialog]";

/**
 * Whether an element is the popup of a field within the label around the field. Its words are no part of the label.
 * @param {El} el @param {CSSStyleDeclaration} style
 */
function isPopupInLabel(el, { position }) {
  if (position !== "absolute" && position !== "fixed") return false;
  return closestOf(el, "label") !== null && (safe.matches(el, CHOICES) || firstWithin(el, CHOICES) !== null);
}

/** Matches messages that appear. */
const APPEARING = "[role=alert],[role=status],[aria-live=polite],[aria-live=assertive]";
/** Classes of messages about a field. Classes of labels beside an invalid field, such as has-error and label--error, do not match. */
const MESSAGE_CLASS = /(?:^|\s)(?!(?:has|is|with)-)(?:[a-z]+[-_]+)*?(?<!--)(?:err(?:or)?s?|invalid|feedback|validation)(?:[-_]+(?:text|message|msg|hint))?(?=\s|$)/i;

/**
 * Whether an element is a message in the label around a field, such as an error. Its words are no part of the label.
 * @param {El} el @param {El | null} field
 */
function isMessageInLabel(el, field) {
  if (field === null || el === field || hasNoAttributes(el) || closestOf(el, "label") === null || !CAPTIONED_TAGS.has(tagOf(field))) return false;
  const id = attr(el, "id");
  const described = id ? " " + (attr(field, "aria-describedby") || "") + " " + (attr(field, "aria-errormessage") || "") + " " : "";
  return described.includes(" " + id + " ") || safe.matches(el, APPEARING) || MESSAGE_CLASS.test(attr(el, "class") || "");
}

/** Tags of fields that labels name. */
const CAPTIONED_TAGS = new Set(["input", "select", "textarea"]);

/** The roles of controls with a value that are not native controls. The roles from combobox to menu have options. */
const EMBEDDED_ROLES = new Set(["textbox", "searchbox", "slider", "spinbutton", "scrollbar", "combobox", "listbox", "menu"]);
/** Matches the chosen options in a listbox, combobox or menu. */
const CHOSEN = "[role=option][aria-selected=true],[role=option][aria-checked=true],[role=menuitem][aria-selected=true]," +
  "[role=menuitemradio][aria-checked=true],[role=menuitemcheckbox][aria-checked=true],option:checked";
/** Inputs without a value to read in a label: they show their state or their caption. */
const VALUELESS = new Set(["checkbox", "radio", "button", "submit", "reset", "hidden", "file", "image"]);

/** Returns the value of a native control as a part of a name. @param {El} el @param {string} tag */
function nativeValue(el, tag) {
  if (tag === "select") return selectedText(el);
  return tag === "input" && VALUELESS.has(el.type) ? "" : el.value;
}

/** Returns the first title among the children of an SVG element. @param {El} el */
function titleWithin(el) {
  for (let c = safe.firstElementChild(el); c; c = safe.nextElementSibling(c)) {
    if (tagOf(c) === "title") return reportedWords(c, MAX_GATHERED);
  }
  return "";
}

/** Signs that stand for removing the item beside them. */
const CROSSES = new Set(["×", "✕", "✖", "✗", "✘", "⨯"]);
/** Matches parts of an element that may be a button with such a sign. */
const CROSS_BUTTONS = "button,[role=button],[role=presentation],[role=none],[title],[aria-label]";
/** The maximum number of parts of an element in which the sign is searched. */
const MAX_CROSS_PARTS = 30;

/** Whether a text begins or ends with such a sign, and has other characters. @param {string} text */
function hasCross(text) {
  return text.length > 1 && (CROSSES.has(text[0]) || CROSSES.has(text[text.length - 1]));
}

/**
 * Returns the text of an element without the sign of its remove button, such as the cross of a chip.
 * @param {El} el @param {string} text
 */
function withoutCross(el, text) {
  if (!hasCross(text) || isEditingHost(el) || isLarge(el)) return text;
  let left = MAX_CROSS_PARTS;
  for (const part of queryWithin(el, "*")) {
    if (--left < 0) break;
    if (!CROSSES.has(safe.textContent(part).trim()) || !(safe.matches(part, CROSS_BUTTONS) || isClickable(part))) continue;
    return text.slice(CROSSES.has(text[0]) ? 1 : 0, CROSSES.has(text[text.length - 1]) ? -1 : undefined).trim();
  }
  return text;
}

/**
 * Whether all elements that a combobox refers to by id are inside it. They then show its value and
 * do not name it.
 * @param {El} el @param {string} ids
 */
function isNamedByValue(el, ids) {
  const root = treeOf(el);
  const named = ids.trim().split(/\s+/, 16).map((id) => elementOf(root, id));
  return named.every((target) => target !== null && safe.contains(el, target));
}

/** Whether an element is hidden, either visually or from assistive technology. @param {El} el */
function isHiddenFromAll(el) {
  return !safe.checkVisibility(el, VISIBLE_OR_TRANSPARENT) || closestOf(el, "[aria-hidden=true]") !== null;
}

/**
 * Elements of text. Other elements count as blocks if they are not displayed, because their style then does not show
 * whether they are inline.
 */
const PHRASING = new Set([
  "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "q", "s",
  "samp", "slot", "small", "span", "strong", "sub", "sup", "time", "tspan", "u", "var", "wbr",
]);

/**
 * Whether the text of an element joins the text around it without a space.
 * @param {string} tag @param {string} display
 */
function flowsInText(tag, display) {
  if (display === "none") return PHRASING.has(tag);
  return (display === "inline" || display === "contents") && !REPLACED.has(tag);
}

/** Elements of text whose padding usually draws a box, as in a badge or a chip. */
const CHIPS = new Set(["span", "b", "i", "small", "strong", "em", "label", "font", "data"]);

/**
 * Whether an element of text looks separate from its neighbors although no white space in the markup separates them: it is its own box, or
 * has space around it.
 * @param {El} el @param {string} tag
 */
function isApart(el, tag) {
  const { display, cssFloat, whiteSpace, marginLeft, marginRight, paddingLeft, paddingRight } = getComputedStyle(el);
  if (cssFloat !== "none" || /^(?:pre|break)/.test(whiteSpace)) return false;
  if (display !== "inline") return display !== "contents";
  return CHIPS.has(tag) && [marginLeft, marginRight, paddingLeft, paddingRight].some((space) => parseFloat(space) >= 2);
}

/**
 * Whether a label has only text, and possibly the control itself, as most labels do. Its text needs
 * no walk.
 * @param {El} label @param {El} el
 */
function isPlainLabel(label, el) {
  const count = label.childElementCount;
  if (count > 1 || label.attributes.length > 1 || shadowOf(label)) return false;
  if (label.attributes.length === 1 && !hasAttr(label, "for") && !hasAttr(label, "class") && !hasAttr(label, "id")) return false;
  return count === 0 || (label.firstElementChild === el && el.localName === "input");
}

/** Iterates over the elements and texts among the flat children of an element. */
class FlatNodes {
  /** @param {El} el @param {string} tag @param {El[] | null} owned the elements that aria-owns adds after its children */
  constructor(el, tag, owned) {
    const assigned = tag === "slot" ? el.assignedNodes() : [];
    this.list = assigned.length ? assigned : null;
    this.i = 0;
    /** @type {El | Text | null} */
    this.next = null;
    if (this.list) this.next = this.list[0];
    else if (tag !== "select" && tag !== "textarea" && tag !== "iframe") this.next = contentNode(safe.firstChild(shadowOf(el) || el));
    this.owned = owned;
    this.ownedSoFar = 0;
  }

  /** Returns the next node, or null. */
  take() {
    const node = this.next;
    if (node === null && this.owned !== null) return this.owned[this.ownedSoFar++] || null;
    if (this.list) this.next = this.list[++this.i] || null;
    else if (node !== null) this.next = contentNode(safe.nextSibling(node));
    return node;
  }
}

/**
 * Returns the first element or text among a node and its following siblings.
 * @param {El | Text | null} node @returns {El | Text | null}
 */
function contentNode(node) {
  while (node && !isElement(node) && safe.nodeType(node) !== 3) node = safe.nextSibling(node);
  return node;
}

/**
 * Returns the elements and texts among the flat children of an element, at most MAX_GATHERED of its
 * own.
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
 * Returns the labels of the selected options of a select.
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

// @ts-check
// Finds the node that is the row of an element, and reads the content of rows.
//
// RowReader owns the numbers of fields and a cache of the values that it read from nodes since the
// last call of forget. Rows calls forget before each series of reads, because the cache is valid
// only while nothing changes.

/** The maximum number of ancestors that are searched for a row. */
const MAX_ROW_UP = 12;
/**
 * The limits of a row, in nodes and in characters of markup. A larger ancestor is a section of the
 * page.
 */
const MAX_ROW_NODES = 200;
const MAX_ROW_MARKUP = 20000;
const ROW_TAGS = new Set(["tr", "li", "article", "option"]);
const ROW_ROLES = new Set(["row", "listitem", "option", "treeitem", "article"]);
const GROUP_TAGS = new Set(["fieldset", "form"]);
/** Containers of rows, and landmarks. They end the search for a row. */
const NO_ROW_TAGS = new Set(["html", "body", "main", "table", "tbody", "thead", "tfoot", "ul", "ol", "menu", "dialog", "select", "datalist"]);
const NO_ROW_ROLES = new Set(["main", "list", "table", "grid", "treegrid", "rowgroup", "listbox", "tree", "feed", "dialog", "alertdialog", "application", "navigation", "menu", "menubar", "tablist", "toolbar"]);
/** Classes that mark an element as a record, even if it is the only one. */
const ROW_CLASS = /(^|[\s_-])(item|row|card|entry|record|tile)([\s_-]|$)/i;

/**
 * The number of siblings on each side that are compared to find out whether an element is one of
 * several (MAX_ALIKE), and to find the title of a row (MAX_SIBLINGS).
 */
const MAX_ALIKE = 3;
const MAX_SIBLINGS = 12;

/** Matches markup of fields, whose current values are not in the markup. */
const HAS_FIELDS = /<(input|select|textarea)/;

/** @type {(el: El, tag: string) => HTMLCollectionOf<El>} */
const elementsIn = method(Element, "getElementsByTagName");
/** @type {(el: El) => string} */
const markupOfNode = getter(Element, "outerHTML");

/** Finds and reads rows. It caches its results until forget is called. */
class RowReader {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The numbers of fields, by field. @type {Expando<number>} */
    this.controls = new Expando();
    this.lastControl = 0;
    /**
     * The results of step, isAlike, length and state since forget was called.
     * @type {Map<El, {what: number, above: El | null}>}
     */
    this.steps = new Map();
    /** @type {Map<El, boolean>} */
    this.alike = new Map();
    /** @type {Map<El, number>} */
    this.lengths = new Map();
    /** @type {Map<El, RowState | null>} */
    this.states = new Map();
  }

  /** Clears the cache, because something may have changed. */
  forget() {
    this.steps = new Map();
    this.alike = new Map();
    this.lengths = new Map();
    this.states = new Map();
  }

  // ---- finding ------------------------------------------------------------------------------

  /** Returns the node of an element's row, or the first node if the row is a group. @param {El} el */
  find(el) {
    const tag = tagOf(el);
    const role = hasAttr(el, "role") ? explicitRole(el) : "";
    if (isRowItself(tag, role)) return this.state(el) ? el : null;
    if (!role && !TAG_ROLES[tag] && !INTERACTIVE_TAGS.has(tag) && safe.firstElementChild(el) && this.isAlike(el)) return this.state(el) ? el : null;
    /** The innermost of the similar elements around it that only an attribute identifies as a record. @type {El | null} */
    let keyed = null;
    for (let n = flatElement(el), up = 1; n && up < MAX_ROW_UP; up++) {
      const step = this.step(n);
      switch (step.what) {
        case ROW:
          return this.state(n) ? n : null;
        case NO_ROW:
          return keyed;
        case GROUP:
          return groupOf(n)[0];
        case MAY_BE_ROW:
          if (this.holdsMore(n, el)) return this.state(n) ? n : null;
          if (!keyed && hasKey(n) && this.state(n)) keyed = n;
      }
      n = step.above;
    }
    return keyed;
  }

  /** Returns the relation of an ancestor to the rows in it, and its parent. The result is cached, because many elements need it. @param {El} n */
  step(n) {
    let step = this.steps.get(n);
    if (step === undefined) this.steps.set(n, (step = { what: this.whatIs(n), above: flatElement(n) }));
    return step;
  }

  /** Returns the relation of an ancestor to the rows of the elements in it: ROW, NO_ROW and so on. @param {El} n */
  whatIs(n) {
    const tag = tagOf(n);
    const role = hasAttr(n, "role") ? explicitRole(n) : "";
    if (isRowItself(tag, role)) return ROW;
    if (tag === "td" || tag === "th") return PART_OF_ROW;
    if (NO_ROW_TAGS.has(tag) || NO_ROW_ROLES.has(role) || isLarge(n)) return NO_ROW;
    if (DESCRIBED.has(tag)) return GROUP;
    return GROUP_TAGS.has(tag) || this.isAlike(n) ? MAY_BE_ROW : PART_OF_ROW;
  }

  /** Whether a node resembles its siblings. @param {El} n */
  isAlike(n) {
    let alike = this.alike.get(n);
    if (alike === undefined) this.alike.set(n, (alike = isOneOfSeveral(n)));
    return alike;
  }

  /** Whether a node has content besides an element in it. @param {El} n @param {El} el */
  holdsMore(n, el) {
    return this.length(n) > this.length(el) || parts(n, "img[alt],img[src],input,select,textarea").some((f) => f !== el && !safe.contains(el, f));
  }

  /** Returns the length of the text in a node. @param {El} n */
  length(n) {
    let length = this.lengths.get(n);
    if (length === undefined) {
      const root = shadowOf(n);
      length = (safe.textContent(n) + (root ? slow.textContent(root) : "")).trim().length;
      this.lengths.set(n, length);
    }
    return length;
  }

  // ---- reading -------------------------------------------------------------------------------

  /**
   * Returns the current state of a row, or null if it is too large to be a row.
   * @param {El} node @returns {RowState | null}
   */
  state(node) {
    let state = this.states.get(node);
    if (state === undefined) this.states.set(node, (state = this.readState(node)));
    return state;
  }

  /** @param {El} node @returns {RowState | null} */
  readState(node) {
    const group = groupOf(node);
    let markup = "";
    /** @type {RowPart[]} */
    const values = [];
    for (const member of group) {
      if (isLarge(member)) return null;
      markup += markupOfNode(member);
      if (markup.length > MAX_ROW_MARKUP) return null;
    }
    if (MASKS === null && !this.model.sweep.shadows.size && !markup.includes("contenteditable")) {
      if (HAS_FIELDS.test(markup)) for (const member of group) for (const f of queryWithin(member, "input,select,textarea")) values.push(...this.fieldParts(f));
      return { mark: 0, markup, values, parts: null, unsure: false };
    }
    const gather = new RowGather(this, node);
    for (const member of group) gather.walk(member);
    return { mark: 0, markup: "", values, parts: gather.parts, unsure: false };
  }

  /** Returns the values of the fields in a node as one text, because they are not in the markup. @param {El} node */
  valuesIn(node) {
    let out = "";
    for (const f of queryWithin(node, "input,select,textarea")) for (const part of this.fieldParts(f)) out += "\u001f" + part.text;
    return out;
  }

  /** Returns the value of a field as a part, or no part if the value is secret. @param {El} el @returns {RowPart[]} */
  fieldParts(el) {
    const tag = tagOf(el);
    if (tag === "select") return this.valuePart(el, "v", selectedText(el));
    if (isSecret(el)) return [];
    if (tag === "textarea") return this.valuePart(el, "v", el.value);
    switch (el.type) {
      case "checkbox":
      case "radio":
      case "file":
      case "range":
        return [];
      case "hidden":
        return /id$|key$/i.test(attr(el, "name") || "") ? this.valuePart(el, "name=" + attr(el, "name"), el.value) : [];
      case "button":
      case "submit":
      case "reset":
        return [{ kind: "w", text: clean(el.value, MAX_ROW_TEXT), control: 0, caption: true, hidden: isMasked(el) }];
    }
    return this.valuePart(el, "v", el.value);
  }

  /** @param {El} el @param {string} kind @param {string} value @returns {RowPart[]} */
  valuePart(el, kind, value) {
    return [{ kind, text: clean(value, MAX_ROW_TEXT), control: this.fieldNumber(el), caption: false, hidden: true }];
  }

  /** @param {El} field */
  fieldNumber(field) {
    let number = this.controls.get(field);
    if (!number) this.controls.set(field, (number = ++this.lastControl));
    return number;
  }
}

/** The relation of an ancestor to an element's row; see RowReader.step. */
const ROW = 1, NO_ROW = 2, GROUP = 3, MAY_BE_ROW = 4, PART_OF_ROW = 5;

/** Whether an element is a row by its tag or role. @param {string} tag @param {string} role */
function isRowItself(tag, role) {
  return ROW_TAGS.has(tag) || ROW_ROLES.has(role);
}

/** Whether an attribute of an element identifies its record. @param {El} n */
function hasKey(n) {
  return !hasNoAttributes(n) && attributeNames(n).some((name) => KEY_ATTRIBUTE.test(name) && !GENERATED_KEY.test(attr(n, name) || ""));
}

/** Whether a node is too large to be a row. @param {El} n */
function isLarge(n) {
  return elementsIn(n, "*")[MAX_ROW_NODES] !== undefined; // reading its length would count all elements
}

const DESCRIBED = new Set(["dt", "dd"]);

/**
 * Returns the nodes of a row: one node, or the terms and descriptions of a group in a description
 * list.
 * @param {El} node
 */
function groupOf(node) {
  if (!DESCRIBED.has(tagOf(node))) return [node];
  const group = [node];
  for (let n = node; ; ) {
    const before = elementBefore(n);
    if (!before || !DESCRIBED.has(tagOf(before)) || (tagOf(n) === "dt" && tagOf(before) === "dd") || group.length > MAX_ROW_PARTS) break;
    group.unshift((n = before));
  }
  for (let n = node; ; ) {
    const after = safe.nextElementSibling(n);
    if (!after || !DESCRIBED.has(tagOf(after)) || (tagOf(n) === "dd" && tagOf(after) === "dt") || group.length > MAX_ROW_PARTS) break;
    group.push((n = after));
  }
  return group;
}

/** Whether an element is in the row of a node. @param {El} el @param {El} node */
function isInRow(el, node) {
  return groupOf(node).some((member) => isWithinNode(el, member));
}

/** Whether a node has the class of a record, or resembles a sibling. @param {El} n */
function isOneOfSeveral(n) {
  const cls = hasNoAttributes(n) ? "" : attr(n, "class") || "";
  if (ROW_CLASS.test(cls)) return true;
  for (let s = safe.nextElementSibling(n), i = 0; s && i < MAX_ALIKE; s = safe.nextElementSibling(s), i++) if (areAlike(n, s, cls)) return true;
  for (let s = elementBefore(n), i = 0; s && i < MAX_ALIKE; s = elementBefore(s), i++) if (areAlike(n, s, cls)) return true;
  return false;
}

/**
 * Whether two siblings have the same tag, and share a class or have the same child tags.
 * @param {El} a @param {El} b @param {string} cls the class of the first
 */
function areAlike(a, b, cls) {
  if (tagOf(a) !== tagOf(b)) return false;
  const other = attr(b, "class") || "";
  if (cls === other && cls !== "") return true;
  if (!cls.trim() && !other.trim()) return childTags(a) === childTags(b) && childTags(a) !== "";
  const names = new Set(cls.split(/\s+/).slice(0, 20));
  return other.split(/\s+/, 20).some((name) => name !== "" && names.has(name));
}

/** Returns the tags of the first five children. @param {El} el */
function childTags(el) {
  let out = "";
  const root = shadowOf(el);
  for (let c = root ? root.firstElementChild : safe.firstElementChild(el), i = 0; c && i < 5; c = safe.nextElementSibling(c), i++) out += tagOf(c) + " ";
  return out;
}

// @ts-check
// Finding the node that is the row of an element, and reading the row's current content.

/** How far up a row is looked for. */
const MAX_ROW_UP = 12;
/** A larger ancestor is a part of the page, and no row: by its nodes, and by its markup in characters. */
const MAX_ROW_NODES = 200;
const MAX_ROW_MARKUP = 20000;
const ROW_TAGS = new Set(["tr", "li", "article", "option"]);
const ROW_ROLES = new Set(["row", "listitem", "option", "treeitem", "article"]);
const GROUP_TAGS = new Set(["fieldset", "form"]);
/** What holds rows, or the page: the search for a row ends there. */
const NO_ROW_TAGS = new Set(["html", "body", "main", "table", "tbody", "thead", "tfoot", "ul", "ol", "menu", "dialog", "select", "datalist"]);
const NO_ROW_ROLES = new Set(["main", "list", "table", "grid", "treegrid", "rowgroup", "listbox", "tree", "feed", "dialog", "alertdialog", "application", "navigation", "menu", "menubar", "tablist", "toolbar"]);
/** Classes that say that an element is a record, also when it is the only one. */
const ROW_CLASS = /(^|[\s_-])(item|row|card|entry|record|tile)([\s_-]|$)/i;

/** How many siblings on each side tell whether a row is one of several, and what they have in common. */
const MAX_ALIKE = 3;
const MAX_SIBLINGS = 12;

/** What holds something that markup does not show. */
const HAS_FIELDS = /<(input|select|textarea)/;

/** @type {(el: El, tag: string) => HTMLCollectionOf<El>} */
const elementsIn = method(Element, "getElementsByTagName");
/** @type {(el: El) => string} */
const markupOfNode = getter(Element, "outerHTML");

/** Finds and reads rows. It caches what it found until forget is called. */
class RowReader {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The numbers of fields. @type {Expando<number>} */
    this.controls = new Expando();
    this.lastControl = 0;
    /** What is known of nodes while nothing changes: see forget. @type {Map<El, boolean>} */
    this.alike = new Map();
    /** @type {Map<El, number>} */
    this.lengths = new Map();
    /** @type {Map<El, boolean>} */
    this.large = new Map();
    /** @type {Map<El, RowState | null>} */
    this.states = new Map();
  }

  /** Forgets what is known of nodes while nothing changes. */
  forget() {
    this.alike = new Map();
    this.lengths = new Map();
    this.large = new Map();
    this.states = new Map();
  }

  // ---- finding ------------------------------------------------------------------------------

  /** The node of the row of an element: of a group, its first one. @param {El} el */
  find(el) {
    for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ROW_UP; n = flatElement(n), up++) {
      const tag = tagOf(n);
      const role = hasAttr(n, "role") ? explicitRole(n) : "";
      if (ROW_TAGS.has(tag) || ROW_ROLES.has(role)) return this.state(n) ? n : null;
      if (n === el) {
        if (role || TAG_ROLES[tag] || INTERACTIVE_TAGS.has(tag) || !safe.firstElementChild(n) || !this.isAlike(n)) continue;
        return this.state(n) ? n : null;
      }
      if (tag === "td" || tag === "th") continue;
      if (NO_ROW_TAGS.has(tag) || NO_ROW_ROLES.has(role)) return null;
      if (this.isLarge(n)) return null;
      if (DESCRIBED.has(tag)) return groupOf(n)[0];
      const may = GROUP_TAGS.has(tag) || this.isAlike(n);
      if (may && this.holdsMore(n, el)) return this.state(n) ? n : null;
    }
    return null;
  }

  /** Whether a node is one of several of a kind. @param {El} n */
  isAlike(n) {
    let alike = this.alike.get(n);
    if (alike === undefined) this.alike.set(n, (alike = isOneOfSeveral(n)));
    return alike;
  }

  /** Whether a node is a part of the page, rather than a row. @param {El} n */
  isLarge(n) {
    let large = this.large.get(n);
    if (large === undefined) this.large.set(n, (large = elementsIn(n, "*").length > MAX_ROW_NODES));
    return large;
  }

  /** Whether a node has more content than an element in it. @param {El} n @param {El} el */
  holdsMore(n, el) {
    return this.length(n) > this.length(el) || parts(n, "img[alt],img[src],input,select,textarea").some((f) => f !== el && !safe.contains(el, f));
  }

  /** How much text is in a node. @param {El} n */
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

  /** The current state of a row; null when it is too large to be a row. @param {El} node @returns {RowState | null} */
  state(node) {
    let said = this.states.get(node);
    if (said === undefined) this.states.set(node, (said = this.stateNow(node)));
    return said;
  }

  /** @param {El} node @returns {RowState | null} */
  stateNow(node) {
    const group = groupOf(node);
    let markup = "";
    /** @type {RowPart[]} */
    const values = [];
    for (const member of group) {
      if (this.isLarge(member)) return null;
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

  /** What a field holds: nothing of what is secret. @param {El} el @returns {RowPart[]} */
  fieldParts(el) {
    const tag = tagOf(el);
    /** @param {string} kind @param {string} text @param {boolean} caption */
    const say = (kind, text, caption) => [{ kind, text: clean(text, MAX_ROW_TEXT), control: caption ? 0 : this.fieldNumber(el), caption, hidden: !caption || isMasked(el) }];
    if (tag === "select") return say("v", selectedText(el), false);
    if (tag === "textarea") return isSecret(el) ? [] : say("v", el.value, false);
    const { type } = el;
    if (type === "checkbox" || type === "radio" || type === "file" || type === "range" || isSecret(el)) return [];
    if (type === "hidden") return /id$|key$/i.test(attr(el, "name") || "") ? say("name=" + attr(el, "name"), el.value, false) : [];
    return say(type === "button" || type === "submit" || type === "reset" ? "w" : "v", el.value, type === "button" || type === "submit" || type === "reset");
  }

  /** @param {El} field */
  fieldNumber(field) {
    let number = this.controls.get(field);
    if (!number) this.controls.set(field, (number = ++this.lastControl));
    return number;
  }
}

const DESCRIBED = new Set(["dt", "dd"]);

/** The nodes of a row: of a description list a term or several and what describes them, else one. @param {El} node */
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

/** Whether an element stands in a node of a row, or in the group that the node begins. @param {El} el @param {El} node */
function isInRow(el, node) {
  return groupOf(node).some((member) => isWithinNode(el, member));
}

/** Whether a node is one of several of a kind. @param {El} n */
function isOneOfSeveral(n) {
  const cls = hasNoAttributes(n) ? "" : attr(n, "class") || "";
  if (ROW_CLASS.test(cls)) return true;
  for (let s = safe.nextElementSibling(n), i = 0; s && i < MAX_ALIKE; s = safe.nextElementSibling(s), i++) if (areAlike(n, s, cls)) return true;
  for (let s = elementBefore(n), i = 0; s && i < MAX_ALIKE; s = elementBefore(s), i++) if (areAlike(n, s, cls)) return true;
  return false;
}

/** Whether two neighbours are of one make. @param {El} a @param {El} b @param {string} cls the class of the first */
function areAlike(a, b, cls) {
  if (tagOf(a) !== tagOf(b)) return false;
  const other = attr(b, "class") || "";
  if (cls === other && cls !== "") return true;
  if (!cls.trim() && !other.trim()) return childTags(a) === childTags(b) && childTags(a) !== "";
  const names = new Set(cls.split(/\s+/).slice(0, 20));
  return other.split(/\s+/, 20).some((name) => name !== "" && names.has(name));
}

/** The tags of the first children. @param {El} el */
function childTags(el) {
  let out = "";
  const root = shadowOf(el);
  for (let c = root ? root.firstElementChild : safe.firstElementChild(el), i = 0; c && i < 5; c = safe.nextElementSibling(c), i++) out += tagOf(c) + " ";
  return out;
}

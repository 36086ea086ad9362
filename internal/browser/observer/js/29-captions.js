// @ts-check
// Captions: the words that a page draws beside or above a field as its label, without saying so in its markup.
//
// They name a field that has no accessible name. A caption is told from the order of the document and the boxes of its
// tables, not from the layout: nothing is measured. It is the text before the field in its line, block, cell or row, or
// that of the column; no caption is taken rather than a wrong one. describe and Finder ask.

/** How many ancestors of a field may be its wrapper alone. */
const MAX_FIELD_BOXES = 6;
/** How many siblings before a field are looked at, and how many cells of a row. */
const MAX_BEFORE = 24;
/** How many characters a caption has at most; one that is longer is prose. */
const MAX_CAPTION = 200;
/** How many fields are described again when something changes around their captions. */
const MAX_CAPTIONED = 64;

/** What a person fills in or chooses from. */
const CAPTIONED = "input:not([type=hidden],[type=submit],[type=button],[type=reset],[type=image]),select,textarea," +
  "[contenteditable=''],[contenteditable=true],[role=textbox],[role=searchbox],[role=combobox],[role=spinbutton],[role=slider],[role=listbox],[role=switch],[role=checkbox],[role=radio]";
/** What is checked, whatever draws it. */
const DRAWN_TOGGLES = new Set(["checkbox", "radio", "switch"]);
/** Parts of a page that are no wrapper of one field. */
const SECTIONS = new Set(["html", "body", "form", "fieldset", "table", "tbody", "thead", "main", "section", "article", "aside", "header", "footer", "nav", "dialog"]);
/** What stands before a field and says nothing about it. */
const SILENT = "script,style,template,svg,img,link,meta,[role=alert],[role=status],[aria-live],[role=tooltip]";
/** Controls that have words of their own, which caption no field. */
const SPEAKING = "a[href],button,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=treeitem],[role=option],[onclick]";
/** Parts of an element that make its words theirs. */
const SPEAKERS = "button,[role=button],[role=treeitem],[role=option]";
/** Controls in what would be the wrapper of a field: it is a part of the page then. */
const BUTTONS = "button,input[type=submit],input[type=button],[role=button]";

/** Whether an element is a field that a caption may name. @param {El} el @param {string} tag @param {string} role */
function mayHaveCaption(el, tag, role) {
  if (tag === "select" || tag === "textarea") return true;
  if (tag === "input") return !/^(?:hidden|submit|button|reset|image)$/.test(el.type);
  return role === "textbox" || role === "searchbox" || role === "combobox" || role === "spinbutton" || role === "slider" || role === "listbox" || DRAWN_TOGGLES.has(role);
}

/**
 * Finds the captions of fields, and knows which fields to describe again when something changes around them.
 */
class Captions {
  /** @param {Labels} labels */
  constructor(labels) {
    this.labels = labels;
    /** The records of nameless fields by the element that holds their caption. @type {Expando<Set<Rec>>} */
    this.around = new Expando();
    /** Some field was looked at. */
    this.used = false;
  }

  /**
   * The words beside or above a field; "" for those that have none, and for other elements.
   * @param {El} field @param {string} tag @param {string} role
   * @param {Rec | null} rec its record, which is described again when they change
   */
  of(field, tag, role, rec) {
    if (!mayHaveCaption(field, tag, role)) return "";
    if (DRAWN_TOGGLES.has(role) || (tag === "input" && (field.type === "checkbox" || field.type === "radio"))) {
      if (rec) this.watch(safe.parentNode(field), rec);
      return captionOfToggle(field);
    }
    const replaced = captionOfReplaced(field, tag, role, this.labels);
    if (replaced) return replaced;
    if (tag !== "input" && tag !== "select" && tag !== "textarea" && hasAttr(field, "aria-labelledby")) return ""; // its label is elsewhere, or gone
    const outer = flatElement(field);
    if (attr(field, "role") !== "combobox" && outer && closestOf(outer, "[role=combobox]")) return ""; // that has the caption
    if (outer && isEdited(outer)) return ""; // the words around it are a text that is edited
    let n = boxOf(field, tag);
    for (let up = 0; n && up < MAX_FIELD_BOXES; up++) {
      const parent = flatElement(n);
      if (!parent) return "";
      if (rec) this.watch(parent, rec);
      if (tagOf(n) === "td") return cellCaption(n, parent, this.labels);
      const name = up === 0 && isDrawnChoice(field, tag) ? null : captionBefore(n, parent, up > 0, this.labels);
      if (name !== null) return name;
      if (SECTIONS.has(tagOf(parent)) || !isWrapper(parent)) return columnCaption(n, parent);
      n = parent;
    }
    return "";
  }

  /** Describes a field again when a text in an element changes. @param {DomNode | null} around @param {Rec} rec */
  watch(around, rec) {
    if (!around) return;
    this.used = true;
    const recs = this.around.get(around) || new Set();
    if (recs.size >= MAX_CAPTIONED) for (const one of recs) if (!safe.isConnected(one.node)) recs.delete(one);
    if (recs.size < MAX_CAPTIONED) recs.add(rec);
    this.around.set(around, recs);
  }

  /** Adds the fields to describe again after a text in an element has changed. @param {El} el @param {Set<Rec>} dirty */
  note(el, dirty) {
    if (!this.used) return;
    const recs = this.around.get(el);
    if (recs) for (const rec of recs) dirty.add(rec);
  }
}

/** Native fields that pages draw anew. */
const REPLACEABLE = "select,input[type=text],input:not([type])";

/**
 * The label of the native field that a page has hidden and draws a combobox for, beside it or around it: "" when there is none, or it has no label.
 * @param {El} el @param {string} tag @param {string} role @param {Labels} labels
 */
function captionOfReplaced(el, tag, role, labels) {
  if (role !== "combobox" || tag === "input" || tag === "select" || tag === "textarea") return "";
  const within = firstWithin(el, "select");
  if (within && isOutOfSight(within)) return asCaption(labels.of(within).map((label) => reportedWords(label, MAX_CAPTION + 1)).join(" "));
  let n = el;
  for (let up = 0; up < 3; up++) {
    const before = elementBefore(n);
    if (before) {
      const native = safe.matches(before, REPLACEABLE) && isOutOfSight(before);
      const words = native ? labels.of(before).map((label) => reportedWords(label, MAX_CAPTION + 1)).join(" ") : "";
      return hasText(words) ? asCaption(words) : "";
    }
    const parent = flatElement(n);
    if (!parent || SECTIONS.has(tagOf(parent)) || queryWithin(parent, CAPTIONED).length > 2) return "";
    n = parent;
  }
  return "";
}

/** Whether a field is kept from people, who use another one for it. @param {El} field */
function isOutOfSight(field) {
  if (!safe.checkVisibility(field, VISIBLE)) return true;
  if (attr(field, "tabindex") !== "-1" && attr(field, "aria-hidden") !== "true") return false;
  return [field, flatElement(field)].some((el) => {
    if (el === null) return false;
    const { width, height } = safe.rect(el);
    return width <= 1 || height <= 1 || getComputedStyle(el).clip !== "auto";
  });
}

/**
 * The box that is drawn for a field: itself, or the one around it whose border it shares with what stands in it, such
 * as the choices of a combobox or a currency.
 * @param {El} field @param {string} tag
 */
function boxOf(field, tag) {
  if (tag === "select" || (tag === "input" && /^(?:range|file|color)$/.test(field.type)) || isBoxDrawn(getComputedStyle(field))) return field;
  for (let n = flatElement(field), up = 0; n && up < MAX_FIELD_BOXES; n = flatElement(n), up++) {
    if (SECTIONS.has(tagOf(n)) || isLarge(n) || queryWithin(n, CAPTIONED).length > 1) return field;
    if (isBoxDrawn(getComputedStyle(n))) return n;
  }
  return field;
}

/** Whether an element holds one field, and no button with words. @param {El} el */
function isWrapper(el) {
  if (isLarge(el)) return false;
  const fields = queryWithin(el, CAPTIONED);
  if (fields.length > 1 && [...fields].filter((field) => !isOutOfSight(field)).length > 1) return false;
  for (const button of queryWithin(el, BUTTONS)) if (hasText(safe.textContent(button)) || tagOf(button) === "input") return false;
  return true;
}

/**
 * The words before an element in its parent, which are its caption: null when there are none, "" when they are another's.
 * @param {El} n @param {El} parent @param {boolean} wrapped it is a wrapper of the field @param {Labels} labels
 * @returns {string | null}
 */
function captionBefore(n, parent, wrapped, labels) {
  const run = new Run();
  let node = safe.previousSibling(n);
  for (let seen = 0; node && seen < MAX_BEFORE && !run.ended; seen++, node = safe.previousSibling(node)) run.add(node, parent, true);
  if (!hasText(run.words)) return run.barred ? "" : null;
  if (run.isOpen && beginsWithField(parent)) return ""; // each text may be behind its field
  if (isTextMasked(parent) || sharesCaption(n, labels) || (wrapped && isRepeated(n))) return "";
  if (wrapped && /^(?:html|body|main)$/.test(tagOf(parent)) && !/[:?*]\s*$/.test(run.words)) return "";
  return asCaption(run.words);
}

/** Whether an element is one of several items, so that the words before it are those of another one. @param {El} el */
function isRepeated(el) {
  const tag = tagOf(el), before = elementBefore(el);
  return tag === "li" || attr(el, "role") === "listitem" || (tag.includes("-") && before !== null && tagOf(before) === tag);
}

/** Gathers the words on one side of a field: those of its line, or else those of the nearest block. */
class Run {
  constructor() {
    this.words = "";
    this.breaks = 0;
    this.ended = false;
    /** It ends at something whose words are its own. */
    this.barred = false;
    /** Nothing but a field divides the line. */
    this.isOpen = false;
  }

  /** Takes the next node. @param {DomNode} node @param {El} parent @param {boolean} backward the run is gathered from its end */
  add(node, parent, backward) {
    if (isText(node)) this.words = backward ? node.data + this.words : this.words + node.data;
    if (!isElement(node)) return;
    const tag = tagOf(node);
    if (tag === "br" || tag === "hr") {
      this.ended = hasText(this.words) || tag === "hr" || ++this.breaks > 1 || !backward;
      return;
    }
    const field = holdsField(node);
    if (field && attr(node, "aria-hidden") === "true") return; // a native field behind what is drawn for it
    if (!field && (safe.matches(node, SILENT) || !hasText(safe.textContent(node)))) return;
    if (!safe.checkVisibility(node, VISIBLE_OR_TRANSPARENT)) return;
    const inline = PHRASING.has(tag);
    this.ended = field || !inline || !mayCaption(node, tag, parent);
    if (field) this.isOpen = inline || REPLACED.has(tag);
    else if (!mayCaption(node, tag, parent)) this.barred = !hasText(this.words);
    else if (inline || !hasText(this.words)) {
      const words = reportedWords(node, MAX_CAPTION + 1);
      this.words = backward ? words + this.words : this.words + words;
    }
  }
}

/** Whether the words of an element may be the caption of a field beside it. @param {El} el @param {string} tag @param {El} parent */
function mayCaption(el, tag, parent) {
  if (safe.matches(el, SPEAKING) || firstWithin(el, SPEAKERS) || isChip(el)) return false;
  if (tag === "label") return el.control === null;
  if (/^h[12]$/.test(tag)) return false;
  if (/^h[3-6]$/.test(tag) || tag === "legend" || attr(el, "role") === "heading" || firstWithin(el, "h1,h2,h3,h4,h5,h6")) return isWrapper(parent);
  return true;
}

/** Whether the words of an element begin or end with the sign that removes it: it is something that was chosen. @param {El} el */
function isChip(el) {
  const words = safe.textContent(el).trim();
  return words.length <= MAX_CAPTION && hasCross(words);
}

/** Whether an element holds a field, or is one. @param {El} el */
function holdsField(el) {
  return safe.matches(el, CAPTIONED) || firstWithin(el, CAPTIONED) !== null;
}

/** Whether the first that an element shows is a field, not a text. @param {El} el */
function beginsWithField(el) {
  /** @type {(DomNode | null)[]} */
  const stack = [safe.firstChild(el)];
  for (let seen = 0; stack.length && seen < MAX_BEFORE; seen++) {
    const node = stack.pop();
    if (!node) continue;
    if (isText(node) && hasText(node.data)) return false;
    stack.push(safe.nextSibling(node));
    if (!isElement(node) || safe.matches(node, SILENT)) continue;
    if (safe.matches(node, CAPTIONED)) return true;
    stack.push(safe.firstChild(node));
  }
  return false;
}

/** Whether the next field has no name of its own, so that the words before the first may name either. @param {El} n @param {Labels} labels */
function sharesCaption(n, labels) {
  for (let node = safe.nextSibling(n), seen = 0; node && seen < MAX_BEFORE; node = safe.nextSibling(node), seen++) {
    if (isText(node) && hasText(node.data)) return false;
    if (!isElement(node) || safe.matches(node, SILENT)) continue;
    if (holdsField(node)) {
      const next = safe.matches(node, CAPTIONED) ? node : /** @type {El} */ (firstWithin(node, CAPTIONED));
      const named = ["aria-label", "aria-labelledby", "placeholder", "title"].some((name) => hasAttr(next, name));
      return !isToggle(next, tagOf(next)) && !named && (node === next || beginsWithField(node)) && !labels.of(next).length;
    }
    if (hasText(safe.textContent(node))) return false;
  }
  return false;
}

/** The caption of a cell: that of its column, or the one text before it in the row. @param {El} cell @param {El} row @param {Labels} labels */
function cellCaption(cell, row, labels) {
  const above = columnCaption(cell, row);
  const before = elementBefore(cell);
  if (above || !before || holdsField(before) || !hasText(safe.textContent(before)) || sharesCaption(cell, labels)) return above;
  const first = elementBefore(before);
  if ((first && !holdsField(first) && hasText(safe.textContent(first))) || !mayCaption(before, tagOf(before), row)) return "";
  return asCaption(reportedWords(before, MAX_CAPTION + 1));
}

/**
 * The caption of the column that an element stands in: the header of its table, or what stands above it in a row of
 * captions above a row of fields.
 * @param {El} n @param {El} row
 */
function columnCaption(n, row) {
  const cells = childrenOf(row), at = cells.indexOf(n);
  let above = elementBefore(row);
  if (tagOf(row) === "tr") {
    const table = closestOf(row, "table");
    const head = table ? elementsIn(table, "tr")[0] : null; // which the browser keeps
    if (head && head !== row && childrenOf(head).every((cell) => tagOf(cell) === "th")) above = head;
  }
  if (at < 0 || !above || cells.length < 2) return "";
  const captions = childrenOf(above);
  const isHead = captions.every((cell) => tagOf(cell) === "th");
  if (captions.length !== cells.length || holdsField(above) || !(isHead || cells.every(holdsField))) return "";
  return mayCaption(captions[at], tagOf(captions[at]), above) ? asCaption(reportedWords(captions[at], MAX_CAPTION + 1)) : "";
}

/** The first child elements of an element. @param {El} el */
function childrenOf(el) {
  const out = [];
  for (let c = safe.firstElementChild(el); c && out.length <= MAX_BEFORE; c = safe.nextElementSibling(c)) out.push(c);
  return out;
}

/**
 * The words behind a checkbox or radio button. Where the last one of the group has none behind it, each has its words
 * before it; the only one of its row, in a box of its own, has those of the box before.
 * @param {El} toggle
 */
function captionOfToggle(toggle) {
  let n = toggle, parent = flatElement(n);
  for (let up = 0; parent && up < MAX_FIELD_BOXES && !/^(?:td|th|li|body|form)$/.test(tagOf(parent)) && isWrapper(parent) && !hasText(safe.textContent(parent)); up++) {
    n = parent;
    parent = flatElement(n);
  }
  if (!parent || isTextMasked(parent)) return "";
  const words = wordsBehind(n, parent), last = lastToggle(parent);
  if (words && (!last || last === n || wordsBehind(last, parent))) return asCaption(words);
  const run = new Run(), blocks = n !== toggle && !words && !SECTIONS.has(tagOf(parent)) && isWrapper(parent); // the setting before its switch
  for (let node = safe.previousSibling(n), seen = 0; node && seen < MAX_BEFORE && !run.ended; node = safe.previousSibling(node), seen++) {
    if (!blocks && isElement(node) && !PHRASING.has(tagOf(node))) break;
    run.add(node, parent, true);
  }
  return hasText(run.words) ? asCaption(run.words) : "";
}

/** The last checkbox or radio button among the last children of an element. @param {El} parent */
function lastToggle(parent) {
  for (let node = safe.lastChild(parent), seen = 0; node && seen < MAX_BEFORE; node = safe.previousSibling(node), seen++) {
    if (isElement(node) && tagOf(node) === "input" && (node.type === "checkbox" || node.type === "radio")) return node;
  }
  return null;
}

/** The words of the line behind an element. @param {El} n @param {El} parent */
function wordsBehind(n, parent) {
  const run = new Run();
  for (let node = safe.nextSibling(n), seen = 0; node && seen < MAX_BEFORE && !run.ended; node = safe.nextSibling(node), seen++) run.add(node, parent, false);
  return clean(run.words, MAX_CAPTION + 1);
}

/** A text as a caption, or "" for one that is none: a number, a sign, prose, the beginning of more. @param {string} words */
function asCaption(words) {
  const text = clean(words, MAX_CAPTION + 1);
  if (text.length > MAX_CAPTION || text.endsWith("…") || !/[\p{L}=?]/u.test(text)) return "";
  return text.length > 80 && text.endsWith(".") ? "" : text;
}

// @ts-check
// Captions: the words that a page draws beside or above a field as its label, but does not mark up as a label.
//
// They name a field that has no accessible name. A caption is derived from document order and the boxes of tables, not
// from measured positions. It is the text before the field in its line, block, cell or row, or the header of its
// column. In doubt, no caption is returned. describe and Finder use captions.

/** The maximum number of ancestors that may be wrappers of a single field. */
const MAX_FIELD_BOXES = 6;
/** The maximum number of examined siblings before a field, or of examined cells in a row. */
const MAX_BEFORE = 24;
/** The maximum length of a caption in characters. A longer text is prose. */
const MAX_CAPTION = 200;
/** The maximum number of fields that are described again after a change around their captions. */
const MAX_CAPTIONED = 64;

/** Selects the controls that a person fills in or chooses from. */
const CAPTIONED = "input:not([type=hidden],[type=submit],[type=button],[type=reset],[type=image]),select,textarea," +
  "[contenteditable=''],[contenteditable=true],[role=textbox],[role=searchbox],[role=combobox],[role=spinbutton],[role=slider],[role=listbox],[role=switch],[role=checkbox],[role=radio]";
/** Roles of controls that are checked, however they are drawn. */
const DRAWN_TOGGLES = new Set(["checkbox", "radio", "switch"]);
/** Parts of a page that never wrap a single field. */
const SECTIONS = new Set(["html", "body", "form", "fieldset", "table", "tbody", "thead", "main", "section", "article", "aside", "header", "footer", "nav", "dialog"]);
/** Matches elements before a field that do not caption it. */
const SILENT = "script,style,template,svg,img,link,meta,[role=alert],[role=status],[aria-live],[role=tooltip]";
/** Matches controls with their own words. These words caption no field. */
const SPEAKING = "a[href],button,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=treeitem],[role=option],[onclick]";
/** Matches parts that keep their words: these words do not belong to the element around the part. */
const SPEAKERS = "button,[role=button],[role=treeitem],[role=option]";
/** Buttons. An element that contains one with words is a part of the page, not the wrapper of a field. */
const BUTTONS = "button,input[type=submit],input[type=button],[role=button]";

/** Matches the toolbars between the label of an editor and its text. */
const TOOLBARS = "[role=toolbar],[class*=toolbar i],trix-toolbar";
/** The maximum number of elements before an editor, such as its toolbar, that are searched for the field that the editor replaces. */
const MAX_BEFORE_EDITOR = 3;
const DIALOGS = "dialog,[role=dialog],[role=alertdialog]", TITLES = "h1,h2,h3,h4,[role=heading]";

/** Whether an element is a field that a caption may name. @param {El} el @param {string} tag @param {string} role */
function mayHaveCaption(el, tag, role) {
  if (tag === "select" || tag === "textarea") return true;
  if (tag === "input") return !/^(?:hidden|submit|button|reset|image)$/.test(el.type);
  return role === "textbox" || role === "searchbox" || role === "combobox" || role === "spinbutton" || role === "slider" || role === "listbox" || DRAWN_TOGGLES.has(role);
}

/**
 * Finds the captions of fields, and tracks which fields to describe again after a change around their
 * captions.
 */
class Captions {
  /** @param {Labels} labels */
  constructor(labels) {
    this.labels = labels;
    /** The records of nameless fields by the element that holds their caption. @type {Expando<Set<Rec>>} */
    this.around = new Expando();
    /** Whether some field was examined. */
    this.used = false;
  }

  /**
   * Returns the words beside or above a field, or "" if it has none or the element is not a field.
   * @param {El} field @param {string} tag @param {string} role
   * @param {Rec | null} rec the field's record, which is described again when the words change
   */
  of(field, tag, role, rec) {
    if (!mayHaveCaption(field, tag, role)) return "";
    if (DRAWN_TOGGLES.has(role) || (tag === "input" && (field.type === "checkbox" || field.type === "radio"))) {
      if (rec) this.watch(safe.parentNode(field), rec);
      return captionOfToggle(field);
    }
    return captionOfReplaced(field, tag, role, this.labels) || this.beside(field, tag, rec, false) || this.ofDialog(field, rec);
  }

  /**
   * Returns the label beside or above an input or textarea that only its placeholder names, or "". Other words there, such as a heading, do not
   * replace the placeholder.
   * @param {El} field @param {string} tag @param {string} name of the field @param {Rec} rec the field's record
   */
  insteadOfPlaceholder(field, tag, name, rec) {
    const placeholder = attr(field, "placeholder");
    if (!placeholder || clean(placeholder, MAX_TEXT) !== name || hasAttr(field, "aria-label") || hasAttr(field, "aria-labelledby")) return "";
    return this.labels.of(field).length || !this.mayFollowLabel(field, rec) ? "" : this.beside(field, tag, rec, true);
  }

  /**
   * Whether the nearest words before a field may be a label. This check is cheaper than to gather these words.
   * @param {El} field @param {Rec} rec the field's record
   */
  mayFollowLabel(field, rec) {
    for (let n = field, up = 0; up < MAX_FIELD_BOXES; up++) {
      const parent = flatElement(n);
      if (!parent) return false;
      this.watch(parent, rec);
      if (tagOf(n) === "td") return true;
      let words = "";
      for (let node = safe.previousSibling(n), seen = 0; node && seen < MAX_BEFORE; node = safe.previousSibling(node), seen++) {
        if (isElement(node)) {
          if (isLarge(node)) return false;
          if (tagOf(node) === "label") return !node.control;
          if (firstWithin(node, "label") !== null) return true;
        }
        if (isElement(node) || isText(node)) words = safe.textContent(node) + words;
        if (hasLetter(words)) return /[:：]/.test(words);
      }
      if (SECTIONS.has(tagOf(parent))) return false;
      n = parent;
    }
    return false;
  }

  /**
   * Returns the words beside or above a field, or "".
   * @param {El} field @param {string} tag @param {Rec | null} rec @param {boolean} onlyLabels whether other words do not count
   */
  beside(field, tag, rec, onlyLabels) {
    if (tag !== "input" && tag !== "select" && tag !== "textarea" && hasAttr(field, "aria-labelledby")) return ""; // its label is elsewhere, or missing
    const outer = flatElement(field);
    if (attr(field, "role") !== "combobox" && outer && closestOf(outer, "[role=combobox]")) return ""; // the combobox has the caption
    if (outer && isEdited(outer)) return ""; // the words around it belong to an edited text
    let n = boxOf(field, tag);
    for (let up = 0; n && up < MAX_FIELD_BOXES; up++) {
      const parent = flatElement(n);
      if (!parent) return "";
      if (rec) this.watch(parent, rec);
      if (tagOf(n) === "td") return asLabel(cellCaption(n, parent, this.labels), onlyLabels);
      const run = up === 0 && isDrawnChoice(field, tag) ? null : captionBefore(n, parent, up > 0, this.labels);
      if (run) return onlyLabels && fieldAfter(n, hasLetter) ? "" : asLabel(run.caption, onlyLabels && !run.isLabel); // a label of several fields does not tell them apart
      if (SECTIONS.has(tagOf(parent)) || !isWrapper(parent)) return asLabel(columnCaption(n, parent), onlyLabels);
      n = parent;
    }
    return "";
  }

  /**
   * Returns the title of the dialog around a field if it is the only field of the dialog, or "".
   * @param {El} field @param {Rec | null} rec
   */
  ofDialog(field, rec) {
    const dialog = closestOf(field, DIALOGS);
    if (!dialog || isLarge(dialog) || hasOtherField(dialog, field)) return "";
    if (rec) for (let n = flatElement(field); n && n !== dialog; n = flatElement(n)) this.watch(n, rec); // another field may be added there
    const id = attr(dialog, "aria-labelledby");
    const title = id ? elementOf(treeOf(dialog), id.trim()) : firstWithin(dialog, TITLES);
    if (title === null || holdsField(title)) return asCaption(attr(dialog, "aria-label") || "");
    if (rec) this.watch(title, rec);
    return asCaption(reportedWords(title, MAX_CAPTION + 1));
  }

  /** Describes a field again whenever a text in an element changes. @param {DomNode | null} around @param {Rec} rec */
  watch(around, rec) {
    if (!around) return;
    this.used = true;
    const recs = this.around.get(around) || new Set();
    if (recs.size >= MAX_CAPTIONED) for (const one of recs) if (!safe.isConnected(one.node)) recs.delete(one);
    if (recs.size < MAX_CAPTIONED) recs.add(rec);
    this.around.set(around, recs);
  }

  /** Adds the fields to describe again after a text in an element has changed. @param {El} el @param {Set<Rec>} dirty */
  markChanged(el, dirty) {
    if (!this.used) return;
    const recs = this.around.get(el);
    if (recs) for (const rec of recs) dirty.add(rec);
  }
}

/** Whether a dialog shows another field than one. @param {El} dialog @param {El} field */
function hasOtherField(dialog, field) {
  for (const other of queryWithin(dialog, CAPTIONED)) if (other !== field && !isOutOfSight(other)) return true;
  return false;
}

/** Native fields that pages replace with their own controls. */
const REPLACEABLE = "select,textarea,input[type=text],input[type=hidden],input:not([type])";

/**
 * Returns the label of the hidden native field that a combobox or an editor replaces, which is beside or inside it. Empty if there is no such
 * field, or it has no label.
 * @param {El} el @param {string} tag @param {string} role @param {Labels} labels
 */
function captionOfReplaced(el, tag, role, labels) {
  const editor = tag === "textarea" ? editorOf(el) : null;
  if (editor) return labelOfHidden(elementBefore(editor), labels);
  if (isEditingHost(el)) return labelOfEdited(el, labels);
  if (role !== "combobox" || tag === "input" || tag === "select" || tag === "textarea") return "";
  const within = firstWithin(el, "select");
  if (within && isOutOfSight(within)) return asCaption(labels.of(within).map((label) => reportedWords(label, MAX_CAPTION + 1)).join(" "));
  let n = el;
  for (let up = 0; up < 3; up++) {
    const before = elementBefore(n);
    if (before) {
      return labelOfHidden(before, labels);
    }
    const parent = flatElement(n);
    if (!parent || SECTIONS.has(tagOf(parent)) || queryWithin(parent, CAPTIONED).length > 2) return "";
    n = parent;
  }
  return "";
}

/**
 * Returns the label of the hidden field that keeps the text of an editor, or "". The field is beside the editor or beside a box around it.
 * @param {El} editor @param {Labels} labels
 */
function labelOfEdited(editor, labels) {
  let n = editor;
  for (let up = 0; up < MAX_FIELD_BOXES; up++) {
    const after = safe.nextElementSibling(n);
    let label = after ? labelOfHidden(after, labels) : "";
    let before = elementBefore(n);
    for (let seen = 0; before && !label && seen < MAX_BEFORE_EDITOR; seen++, before = elementBefore(before)) {
      label = labelOfHidden(before, labels);
      if (!safe.matches(before, TOOLBARS)) break;
    }
    const parent = flatElement(n);
    if (label || !parent || SECTIONS.has(tagOf(parent)) || queryWithin(parent, EDITORS).length > 1) return label;
    n = parent;
  }
  return "";
}

/** Returns the label of a native field, or "" if there is none or a person sees the field. @param {El | null} field @param {Labels} labels */
function labelOfHidden(field, labels) {
  if (field === null || !safe.matches(field, REPLACEABLE) || !isOutOfSight(field)) return "";
  const id = attr(field, "id"), named = attr(field, "type") === "hidden" ? [...((id && labels.index(treeOf(field)).get(id)) || [])] : labels.of(field);
  const words = named.map((label) => reportedWords(label, MAX_CAPTION + 1)).join(" ");
  return hasText(words) ? asCaption(words) : "";
}

/** Whether a field is hidden from people, who use another control in its place. @param {El} field */
function isOutOfSight(field) {
  if (!safe.checkVisibility(field, VISIBLE)) return true;
  if (attr(field, "tabindex") !== "-1" && attr(field, "aria-hidden") !== "true") return false;
  const { width, height } = safe.rect(field), box = flatElement(field);
  if (width <= 1 || height <= 1 || getComputedStyle(field).clip !== "auto") return true;
  return box !== null && (isCollapsedBox(box) || getComputedStyle(box).clip !== "auto");
}

/**
 * Returns the box that is drawn for a field: the field itself, or the bordered box around it that also contains, for
 * example, the choices of a combobox or a currency sign.
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

/** Whether an element holds a single field, and no button with words. @param {El} el */
function isWrapper(el) {
  if (isLarge(el)) return false;
  if (holdsSeveralFields(queryWithin(el, CAPTIONED))) return false;
  for (const button of queryWithin(el, BUTTONS)) if (hasText(safe.textContent(button)) || tagOf(button) === "input") return false;
  return true;
}

/**
 * Whether a person sees several fields. A field and what is in it, such as the input of a combobox, are one.
 * @param {ArrayLike<El> & Iterable<El>} fields
 */
function holdsSeveralFields(fields) {
  if (fields.length < 2) return false;
  let /** @type {El | null} */ last = null;
  for (const field of fields) {
    if (isOutOfSight(field) || (last && safe.contains(last, field))) continue;
    if (last) return true;
    last = field;
  }
  return false;
}

/**
 * Returns the words before an element in its parent if they are its caption, and whether they are in a label. Null if there are no words;
 * the caption is "" if they do not belong to it.
 * @param {El} n @param {El} parent @param {boolean} wrapped whether the element is a wrapper of the field @param {Labels} labels
 * @returns {{caption: string, isLabel: boolean} | null}
 */
function captionBefore(n, parent, wrapped, labels) {
  const run = new Run(n);
  let node = safe.previousSibling(n);
  for (let seen = 0; node && seen < MAX_BEFORE && !run.ended; seen++, node = safe.previousSibling(node)) run.add(node, parent, true);
  const none = { caption: "", isLabel: false };
  if (!hasText(run.words)) return run.barred ? none : null;
  if (run.isOpen && beginsWithField(parent)) return none; // each text may follow its field
  if (isTextMasked(parent) || sharesCaption(n, labels) || (wrapped && isRepeated(n))) return none;
  if (wrapped && /^(?:html|body|main)$/.test(tagOf(parent)) && !/[:?*]\s*$/.test(run.words)) return none;
  return { caption: asCaption(run.words), isLabel: run.isLabel };
}

/** Whether an element is an item among several, so that the words before it belong to another item. @param {El} el */
function isRepeated(el) {
  const tag = tagOf(el), before = elementBefore(el);
  return tag === "li" || attr(el, "role") === "listitem" || (tag.includes("-") && before !== null && tagOf(before) === tag);
}

/** Gathers the words on one side of a field: the words of its line, or else of the nearest block. */
class Run {
  /** @param {El} of the field, or a box around it */
  constructor(of) {
    this.of = of;
    this.words = "";
    this.breaks = 0;
    this.ended = false;
    /** Whether the run ends at an element that keeps its words to itself. */
    this.barred = false;
    /** Whether the run ends at a field in the same line. */
    this.isOpen = false;
    /** Whether some of the words are in a label. */
    this.isLabel = false;
  }

  /** Adds the next node. @param {DomNode} node @param {El} parent @param {boolean} backward the run is gathered from its end */
  add(node, parent, backward) {
    if (isText(node)) this.words = backward ? node.data + this.words : this.words + node.data;
    if (!isElement(node)) return;
    const tag = tagOf(node);
    if (tag === "br" || tag === "hr") {
      this.ended = hasText(this.words) || tag === "hr" || ++this.breaks > 1 || !backward;
      return;
    }
    const field = holdsField(node);
    if (field && attr(node, "aria-hidden") === "true") return; // a hidden native field, which has a drawn replacement
    if (!field && firstWithin(node, "[tabindex]") && isCatcher(this.of)) return; // what is drawn in place of the field
    if (!field && (safe.matches(node, SILENT) || !hasText(safe.textContent(node)))) return;
    if (!safe.checkVisibility(node, VISIBLE_OR_TRANSPARENT)) return;
    if (safe.matches(node, TOOLBARS) && (safe.matches(this.of, EDITORS) || firstWithin(this.of, EDITORS))) return;
    const inline = PHRASING.has(tag), captions = !field && mayCaption(node, tag, parent, this.of);
    this.ended = !inline || !captions;
    if (field) this.isOpen = inline || REPLACED.has(tag);
    else if (!captions) this.barred = !hasText(this.words);
    else if (inline || !hasText(this.words)) {
      const gap = getComputedStyle(node).display.startsWith("inline") ? "" : " "; // a flex item is beside the others
      const words = gap + reportedWords(node, MAX_CAPTION + 1) + gap;
      this.words = backward ? words + this.words : this.words + words;
      this.isLabel ||= tag === "label" || firstWithin(node, "label") !== null;
    }
  }
}

/**
 * Whether the words of an element may be the caption of a field beside it.
 * @param {El} el @param {string} tag @param {El} parent @param {El} n the field, or a box around it
 */
function mayCaption(el, tag, parent, n) {
  if (safe.matches(el, SPEAKING) || queryWithin(el, "tr,li").length > 1 || firstWithin(el, SPEAKERS) || isChip(el) || isLabelOfAnother(el, n)) return false;
  if (tag === "label") return el.control === null;
  if (/^h[12]$/.test(tag)) return false;
  if (/^h[3-6]$/.test(tag) || tag === "legend" || attr(el, "role") === "heading" || firstWithin(el, "h1,h2,h3,h4,h5,h6")) return isWrapper(parent);
  return true;
}

/**
 * Whether an element, which may be a custom element, has a for attribute that names neither a field nor a box around or in it.
 * @param {El} el @param {El} n the field, or a box around it
 */
function isLabelOfAnother(el, n) {
  const id = attr(el, "for"), owner = id ? elementOf(treeOf(el), id) : null;
  return owner !== null && !safe.contains(owner, n) && !safe.contains(n, owner);
}

/** Whether the words of an element begin or end with a remove sign, as for a chosen item. @param {El} el */
function isChip(el) {
  const words = safe.textContent(el).trim();
  return words.length <= MAX_CAPTION && hasCross(words);
}

/** Whether an element holds a field, or is or draws one. @param {El} el */
function holdsField(el) {
  return firstField(el) !== null;
}

/** Returns the element if it is a field, or else the first field in it or in its shadow tree, or null. @param {El} el */
function firstField(el) {
  if (safe.matches(el, CAPTIONED)) return el;
  const inner = firstWithin(el, CAPTIONED), root = inner === null ? shadowOf(el) : null;
  return root === null ? inner : root.querySelector(CAPTIONED);
}

/** Whether an element shows a field before any text. @param {El} el */
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

/**
 * Whether the next field has no name of its own, so that the words before this element may name either field.
 * @param {El} n @param {Labels} labels
 */
function sharesCaption(n, labels) {
  const next = fieldAfter(n, hasText);
  if (next === null) return false;
  const named = ["aria-label", "aria-labelledby", "placeholder", "title"].some((name) => hasAttr(next, name));
  return !isToggle(next, tagOf(next)) && !named && !labels.of(next).length;
}

/**
 * Returns the field that directly follows an element, or null.
 * @param {El} n @param {(text: string) => boolean} separates whether a text between them counts, and is no mere sign
 */
function fieldAfter(n, separates) {
  for (let node = safe.nextSibling(n), seen = 0; node && seen < MAX_BEFORE; node = safe.nextSibling(node), seen++) {
    if (isText(node) && separates(node.data)) return null;
    if (!isElement(node) || safe.matches(node, SILENT)) continue;
    const next = firstField(node);
    if (next !== null) return node === next || beginsWithField(node) ? next : null;
    if (separates(safe.textContent(node))) return null;
  }
  return null;
}

/**
 * Returns the caption of a cell: the caption of its column, or the only text before it in the row.
 * @param {El} cell @param {El} row @param {Labels} labels
 */
function cellCaption(cell, row, labels) {
  const above = columnCaption(cell, row);
  const before = elementBefore(cell);
  if (above || !before || holdsField(before) || !hasText(safe.textContent(before)) || sharesCaption(cell, labels)) return above;
  const first = elementBefore(before);
  if ((first && !holdsField(first) && hasText(safe.textContent(first))) || !mayCaption(before, tagOf(before), row, cell)) return "";
  return asCaption(reportedWords(before, MAX_CAPTION + 1));
}

/**
 * Returns the caption of an element's column: the header of its table, or the text above it if a row of captions is
 * above a row of fields.
 * @param {El} n @param {El} row
 */
function columnCaption(n, row) {
  const cells = childrenOf(row), at = cells.indexOf(n);
  let above = elementBefore(row);
  if (tagOf(row) === "tr") {
    const table = closestOf(row, "table");
    const head = table ? elementsIn(table, "tr")[0] : null; // the browser caches this list
    if (head && head !== row && childrenOf(head).every((cell) => tagOf(cell) === "th")) above = head;
  }
  if (at < 0 || !above || cells.length < 2) return "";
  const captions = childrenOf(above);
  const isHead = captions.every((cell) => tagOf(cell) === "th");
  if (captions.length !== cells.length || holdsField(above) || !(isHead || cells.every(holdsField))) return "";
  return mayCaption(captions[at], tagOf(captions[at]), above, n) ? asCaption(reportedWords(captions[at], MAX_CAPTION + 1)) : "";
}

/**
 * Returns the words after a checkbox or radio button. If no words follow the last toggle of the group, each toggle is
 * named by the words before it. A toggle that is alone in its row, in its own box, is named by the box before it.
 * @param {El} toggle
 */
function captionOfToggle(toggle) {
  let n = toggle, parent = flatElement(n);
  for (let up = 0; parent && up < MAX_FIELD_BOXES && !/^(?:td|th|li|body|form)$/.test(tagOf(parent)) && isWrapper(parent) && !hasText(safe.textContent(parent)); up++) {
    n = parent;
    parent = flatElement(n);
  }
  if (!parent || isTextMasked(parent)) return "";
  const words = textAfter(n, parent), last = lastToggle(parent);
  if (words && (!last || last === n || textAfter(last, parent))) return asCaption(words);
  const run = new Run(n), blocks = n !== toggle && !words && !SECTIONS.has(tagOf(parent)) && isWrapper(parent); // the name of a setting before its switch
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

/** Returns the words of the line after an element. @param {El} n @param {El} parent */
function textAfter(n, parent) {
  const run = new Run(n);
  for (let node = safe.nextSibling(n), seen = 0; node && seen < MAX_BEFORE && !run.ended; node = safe.nextSibling(node), seen++) run.add(node, parent, false);
  return clean(run.words, MAX_CAPTION + 1);
}

/** Returns a caption, or "" if only labels count and it does not end as one. @param {string} caption @param {boolean} onlyLabels */
function asLabel(caption, onlyLabels) {
  return onlyLabels && !/[:：]\s*\*?$/.test(caption) ? "" : caption;
}

/** Returns a text as a caption, or "" if it is a number, a sign, prose or truncated. @param {string} words */
function asCaption(words) {
  const text = clean(words, MAX_CAPTION + 1);
  if (text.length > MAX_CAPTION || text.endsWith("…") || !(hasLetter(text) || /[=?]/.test(text))) return "";
  return text.length > 80 && text.endsWith(".") ? "" : text;
}

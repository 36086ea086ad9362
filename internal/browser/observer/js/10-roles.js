// @ts-check
// Roles (HTML-AAM 1.0, WAI-ARIA 1.2), and whether an element is interactive.
//
// Roles depend only on the tag, the attributes and the ancestors. isInteractive also takes hints:
// bits for reasons that other files detect (43-hints.js). Refresh calls these functions for each
// element that may be listed. Names and rows call them for the elements around it.

const INTERACTIVE_TAGS = new Set(["a", "button", "input", "select", "textarea", "details", "summary"]);

const INTERACTIVE_ROLES = new Set([
  "button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "listbox", "slider",
  "spinbutton", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem",
]);

/** Roles of containers that move tabindex=0 from themselves to one of their items and back. They stay interactive while an item has it. */
const ROVING_ROLES = new Set(["tree", "treegrid"]);

const LANDMARK_ROLES = new Set([
  "banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search",
  "dialog", "alertdialog", "alert", "status",
]);

/** Every role that a role attribute may name. Other values are ignored, as ARIA requires. */
const KNOWN_ROLES = new Set(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
    "combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
    "generic grid gridcell group heading image img insertion link list listbox listitem log main marquee math " +
    "menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph " +
    "presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox " +
    "separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist " +
    "tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem").split(" "),
);

/** The roles of inputs by their type. @type {Record<string, string>} */
const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", color: "button", file: "button",
  checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox",
  date: "date", "datetime-local": "datetime", month: "date", week: "date", time: "time",
};

/** The roles of elements by their tag. @type {Record<string, string>} */
const TAG_ROLES = {
  button: "button", textarea: "textbox", details: "group",
  h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  nav: "navigation", main: "main", article: "article", dialog: "dialog",
  ul: "list", ol: "list", menu: "list", table: "table", tr: "row", td: "cell",
  th: "columnheader", p: "paragraph", fieldset: "group", figure: "figure", hr: "separator",
  progress: "progressbar", meter: "meter", output: "status", search: "search", address: "group",
  blockquote: "blockquote", code: "code", time: "time", svg: "image", math: "math", optgroup: "group",
  iframe: "iframe", frame: "iframe", datalist: "listbox", dfn: "term", em: "emphasis", strong: "strong",
  sub: "subscript", sup: "superscript", ins: "insertion", del: "deletion", s: "deletion", mark: "mark",
  dt: "term", dd: "definition", hgroup: "group", caption: "caption",
  tbody: "rowgroup", thead: "rowgroup", tfoot: "rowgroup", legend: "legend", label: "label",
};

/** SVG shapes. */
const SHAPES = new Set(["rect", "circle", "ellipse", "line", "path", "polygon", "polyline"]);

/** Returns the explicit role: the first token that ARIA defines. @param {El} el */
function explicitRole(el) {
  const value = attr(el, "role");
  if (!value) return "";
  for (const token of value.toLowerCase().split(/\s+/, 8)) {
    if (KNOWN_ROLES.has(token)) return token === "image" ? "img" : token;
  }
  return "";
}

const SECTIONING = new Set(["article", "aside", "nav", "section"]);
const SECTIONING_OR_MAIN = new Set([...SECTIONING, "main"]);

/** Whether an ancestor has one of these tags. @param {El} el @param {Set<string>} tags */
function isWithinTags(el, tags) {
  for (let p = flatParent(el); p && isElement(p); p = flatParent(p)) if (tags.has(tagOf(p))) return true;
  return false;
}

/** Returns the role of a header cell, from its scope or else from the cells beside it. @param {El} el */
function headerRole(el) {
  const scope = (attr(el, "scope") || "").toLowerCase();
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  const beside = [el.nextElementSibling, el.previousElementSibling].map((cell) => (cell ? tagOf(cell) : ""));
  return beside.includes("td") && !beside.includes("th") ? "rowheader" : "columnheader";
}

/** Whether an attribute of an element has more than white space. @param {El} el @param {string} name */
function hasTextAttribute(el, name) {
  const value = attr(el, name);
  return value !== null && value.trim() !== "";
}

/** Whether an attribute set by the author names an element. @param {El} el */
function hasAuthorName(el) {
  return hasTextAttribute(el, "aria-label") || hasTextAttribute(el, "title") || isNamedById(el);
}

/** Whether aria-labelledby refers to an existing element. @param {El} el */
function isNamedById(el) {
  const ids = attr(el, "aria-labelledby");
  if (!ids) return false;
  const root = treeOf(el);
  return ids.trim().split(/\s+/, 16).some((id) => elementOf(root, id) !== null);
}

/** Roles that an element can have only inside an element with another role. @type {Record<string, Set<string>>} */
const REQUIRED_CONTEXTS = {
  option: new Set(["listbox", "combobox"]),
  treeitem: new Set(["tree"]),
  listitem: new Set(["list", "directory"]),
};
/** Roles that may occur between an element and its context. */
const TRANSPARENT_ROLES = new Set(["generic", "none", "presentation", "group"]);

/** Whether an element with a role is in the context that the role requires. @param {El} el @param {string} role */
function isInContext(el, role) {
  const contexts = REQUIRED_CONTEXTS[role];
  if (contexts === undefined) return true;
  for (let p = flatElement(el); p; p = flatElement(p)) {
    const tag = tagOf(p);
    const around = explicitRole(p) || nativeRole(p, tag);
    if (contexts.has(around) || around === role) return true;
    if (!TRANSPARENT_ROLES.has(around)) break;
  }
  return isOwned(el, contexts);
}

/**
 * Whether an element with one of the given roles owns this element by aria-owns.
 * @param {El} el @param {Set<string>} roles
 */
function isOwned(el, roles) {
  for (let /** @type {El | null} */ n = el, i = 0; n && i < 4; n = flatElement(n), i++) {
    const id = attr(n, "id");
    const owner = id ? firstInTree(treeOf(n), '[aria-owns~="' + CSS.escape(id) + '"]') : null;
    if (owner && roles.has(explicitRole(owner) || nativeRole(owner, tagOf(owner)))) return true;
  }
  return false;
}

/** @param {Tree} tree @param {string} selector @returns {El | null} */
function firstInTree(tree, selector) {
  return isDocument(tree) ? safe.querySelector(tree, selector) : tree.querySelector(selector);
}

/** Whether a summary belongs to the details element around it. @param {El} el */
function isSummaryOfDetails(el) {
  const parent = safe.parentNode(el);
  if (!parent || !isElement(parent) || tagOf(parent) !== "details") return false;
  for (let n = elementBefore(el); n; n = elementBefore(n)) if (tagOf(n) === "summary") return false;
  return true;
}

/**
 * Returns the summary of a details element, or null. Without a summary, the browser draws one with the word "Details", which is
 * not in the document.
 * @param {El} details
 */
function summaryOf(details) {
  for (let n = safe.firstElementChild(details); n; n = safe.nextElementSibling(n)) if (tagOf(n) === "summary") return n;
  return null;
}

/** Whether an element without a role attribute is an item of a list. @param {El} el */
function isItemOfList(el) {
  let parent = flatElement(el);
  while (parent && tagOf(parent) === "slot") parent = flatElement(parent);
  if (!parent) return false;
  const tag = tagOf(parent);
  const around = explicitRole(parent) || (tag === "ul" || tag === "ol" || tag === "menu" ? "list" : "");
  return around === "list" || around === "directory";
}

/** The maximum number of options that are listed for a select that shows its options. Beyond it, none is listed. */
const MAX_SHOWN_OPTIONS = 30;

/** Whether an option belongs to a select that shows its options as a list. @param {El} el */
function isOptionShown(el) {
  const select = closestOf(el, "select");
  return select !== null && (select.multiple || select.size > 1) && select.options.length <= MAX_SHOWN_OPTIONS;
}

/** Whether an option belongs to a select, datalist or listbox. @param {El} el */
function isOptionOfList(el) {
  return closestOf(el, "select,datalist,[role=listbox]") !== null;
}

/** The WAI-ARIA attributes that any element may have. An element with one of them is never presentational. */
const GLOBAL_ARIA = new Set([
  "aria-atomic", "aria-busy", "aria-controls", "aria-current", "aria-describedby", "aria-description", "aria-details",
  "aria-flowto", "aria-keyshortcuts", "aria-label", "aria-labelledby", "aria-live", "aria-owns", "aria-relevant",
  "aria-roledescription",
]);

/** Whether an element has a global aria-* attribute. @param {El} el */
function hasGlobalAria(el) {
  return el.getAttributeNames !== undefined && el.getAttributeNames().some((name) => GLOBAL_ARIA.has(name) && attr(el, name) !== "");
}

/** Returns the role that the element has without a role attribute. @param {El} el @param {string} tag */
function nativeRole(el, tag) {
  switch (tag) {
    case "a":
    case "area":
      return hasAttr(el, "href") || hasAttr(el, "xlink:href") ? "link" : "generic";
    case "input": {
      const role = INPUT_ROLES[el.type];
      if (role && role !== "searchbox") return role;
      if (hasAttr(el, "list") || attr(el, "aria-haspopup") === "listbox") return "combobox";
      return role || "textbox";
    }
    case "select":
      return el.multiple || el.size > 1 ? "listbox" : "combobox";
    case "img": {
      const alt = attr(el, "alt");
      return alt === "" && !hasAuthorName(el) ? "none" : "img";
    }
    case "header":
      return isWithinTags(el, SECTIONING_OR_MAIN) ? "generic" : "banner";
    case "footer":
      return isWithinTags(el, SECTIONING_OR_MAIN) ? "generic" : "contentinfo";
    case "aside":
      return hasAuthorName(el) || !isWithinTags(el, SECTIONING) ? "complementary" : "generic";
    case "th":
      return headerRole(el);
    case "summary":
      return isSummaryOfDetails(el) ? "button" : "generic";
    case "li":
      return isItemOfList(el) ? "listitem" : "generic";
    case "option":
      return isOptionOfList(el) ? "option" : "generic";
    case "section":
      return hasAuthorName(el) ? "region" : "generic";
    case "form":
      return hasAuthorName(el) ? "form" : "generic";
    case "svg":
      return "img";
    case "g":
      return hasAuthorName(el) ? "group" : "generic";
    case "use":
      return "graphics-object";
  }
  if (!TAG_ROLES[tag] && !hasNoAttributes(el) && isEditingHost(el)) return "textbox";
  return TAG_ROLES[tag] || (SHAPES.has(tag) ? "graphics-symbol" : "generic");
}

/**
 * Whether the element takes part in sequential focus, so that role=none cannot hide it.
 * @param {El} el @param {string} tag
 */
function isFocusable(el, tag) {
  if (hasAttr(el, "tabindex")) return true;
  switch (tag) {
    case "a":
    case "area":
      return hasAttr(el, "href") || hasAttr(el, "xlink:href");
    case "button":
    case "input":
    case "select":
    case "textarea":
    case "summary":
    case "iframe":
      return true;
  }
  return isEditingHost(el);
}

/** Returns the computed role. @param {El} el @param {string} tag @param {string} explicit */
function roleOf(el, tag, explicit) {
  if (explicit && explicit !== "none" && explicit !== "presentation") {
    if (explicit === "region" || explicit === "form" ? hasAuthorName(el) : isInContext(el, explicit)) return explicit;
    return nativeRole(el, tag);
  }
  if (explicit && !isFocusable(el, tag) && !hasGlobalAria(el)) return "none";
  return nativeRole(el, tag);
}

/** Whether the element itself makes its content editable, and no ancestor does. @param {El} el */
function isEditingHost(el) {
  const value = attr(el, "contenteditable");
  if (value === null) return false;
  const v = value.toLowerCase();
  if (v !== "" && v !== "true" && v !== "plaintext-only") return false;
  const parent = safe.parentNode(el);
  return !parent || /** @type {El} */ (parent).isContentEditable !== true;
}

/**
 * Hints, as bits; see Hints. HINT_POINTER: the element has cursor: pointer. HINT_PROXY: it is the
 * label of a hidden control. HINT_EDITED: the whole document is editable. HINT_TARGET: a caller named
 * it as a target; this hint alone does not make an element interactive. HINT_ITEM: a container around
 * it listens on its behalf; see itemsOf. HINT_HOVER: controls show while the pointer is over it; see
 * OnHover.
 */
const HINT_POINTER = 1, HINT_PROXY = 2, HINT_EDITED = 4, HINT_TARGET = 8, HINT_ITEM = 16, HINT_HOVER = 32;

/**
 * Whether a person can act on the element. This function checks every reason; hints carries the
 * reasons that tag and attributes do not show.
 * @param {El} el @param {string} tag @param {string} explicit @param {number} hints
 */
function isInteractive(el, tag, explicit, hints) {
  if (tag === "summary" ? isSummaryOfDetails(el) : tag === "details" ? summaryOf(el) === null : INTERACTIVE_TAGS.has(tag)) {
    return !(tag === "input" && el.type === "hidden");
  }
  if (tag === "area") return hasAttr(el, "href");
  if (tag === "option") return isOptionShown(el);
  if (hints & ~HINT_TARGET) return true;
  if (explicit && INTERACTIVE_ROLES.has(explicit)) return true;
  if (hasAttr(el, "onclick") || isClickable(el) || attr(el, "draggable") === "true") return true;
  const tabindex = attr(el, "tabindex");
  if (tabindex !== null && (parseInt(tabindex, 10) >= 0 || ROVING_ROLES.has(explicit))) return true;
  return isEditingHost(el);
}

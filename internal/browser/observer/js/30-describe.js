// @ts-check
// Describes one element: computes its fields as sent to the daemon, and whether it belongs to the
// stored DOM (kindOf).
//
// The functions read the element and what it inherits. They keep no state except for VISIBLE, which
// records whether the page as a whole is hidden. Refresh calls them; 50-writer.js writes the
// fields.

const MAX_VALUE = 50;
const MAX_FIELD = 2048;

/** The fields of an element in the order of dom.Field in Go; see 50-writer.js. */
const FIELDS = 17;
const F_KIND = 0, F_PARENT = 1, F_TAG = 2, F_ROLE = 3, F_TEXT = 4, F_HREF = 5, F_NAME = 6, F_TYPE = 7,
  F_VALUE = 8, F_PLACEHOLDER = 9, F_LEVEL = 10, F_STATES = 11, F_CHILD = 12, F_ATTRIBUTES = 13,
  F_WHOLE = 14, F_MARKS = 15, F_JOIN = 16;

const INTERACTIVE = 0, STRUCTURAL = 1, FRAME_HOST = 2;

const ABSENT = 0, NO = 1, YES = 2, MIXED = 3;

/** Bit offsets of the states in F_STATES, two bits each, as in dom.States. */
const S_CHECKED = 0, S_DISABLED = 2, S_EXPANDED = 4, S_SELECTED = 6, S_PRESSED = 8, S_REQUIRED = 10,
  S_READONLY = 12, S_FOCUSED = 14, S_INVALID = 16;

/**
 * How much of an element's content its text covers. Covered content is not listed as separate
 * elements. If the text was cut (COVERS_LINE), inline content counts as covered, but blocks such as
 * list items and paragraphs are listed.
 */
const COVERS_NONE = 0, COVERS_LINE = 1, COVERS_ALL = 2;

/** Roles of containers. A name that the author gave to a container does not cover its content. */
const CONTAINER_ROLES = new Set([
  "listbox", "grid", "treegrid", "tree", "tablist", "tabpanel", "menu", "menubar", "radiogroup", "group", "toolbar", "list",
  "table", "feed", "log", "figure", "article", "document", "application", "dialog", "alertdialog", "alert", "status",
]);

/** Roles of records. A clickable record is often named by only one of its cells. */
const RECORD_ROLES = new Set(["row", "listitem"]);

/**
 * Roles of elements that a person sees as one unit, however they are drawn, or whose content is their
 * value.
 */
const ATOMIC_ROLES = new Set([
  "button", "checkbox", "radio", "switch", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "slider", "spinbutton", "scrollbar",
  "textbox", "searchbox", "combobox", "img", "graphics-symbol", "math", "progressbar", "meter", "separator",
]);

/** Whether the label of an element covers all its content. @param {string} tag @param {string} role */
function isAtomic(tag, role) {
  return ATOMIC_ROLES.has(role) || (INTERACTIVE_TAGS.has(tag) && tag !== "a");
}

/**
 * Roles of the boxes that structure a page. They are listed whether or not they have their own text.
 * A box without text has only the name that the author gave it, if any. Its content is listed
 * separately, so that each text is listed once.
 */
const BOX_ROLES = new Set([
  "table", "grid", "treegrid", "row", "cell", "gridcell", "columnheader", "rowheader", "list", "listitem", "group",
  "figure", "article", "feed", "form", "radiogroup", "toolbar", "tablist", "tabpanel", "menu", "menubar", "tree",
]);

/** @param {string} role @param {string} tag */
function isBoxRole(role, tag) {
  return BOX_ROLES.has(role) || tag === "form";
}

/** Whether an element is listed for its role or behavior, not for its text. @param {El} el @param {string} tag @param {string} role */
function isBox(el, tag, role) {
  return isBoxRole(role, tag) || isRowGroup(el, role) || isHovered(el);
}

/**
 * Whether an element is a group of rows to which the author gave a role or name. The HTML parser puts
 * a plain tbody into every table.
 * @param {El} el @param {string} role
 */
function isRowGroup(el, role) {
  return role === "rowgroup" && (hasAttr(el, "role") || hasAttr(el, "aria-label") || hasAttr(el, "aria-labelledby") || hasAttr(el, "title"));
}

/** Tags that are listed if they are empty and have a size. */
const EMPTY_BOXES = new Set(["div", "span", "hr", "object", "embed"]);

/**
 * Whether an element shows something without text: a drawing surface, a shape, or an empty box that
 * its style draws.
 * @param {El} el @param {string} tag
 */
function isPainted(el, tag) {
  if (tag === "canvas" || tag === "video" || SHAPES.has(tag)) return true;
  return EMPTY_BOXES.has(tag) && safe.firstChild(el) === null && shadowOf(el) === null;
}

/** The maximum width of an SVG image that counts as an icon, in its own units. */
const MAX_ICON = 48;

/**
 * Whether an SVG image without a name is a drawing, such as a chart, whose shapes and texts are
 * listed. An icon is listed as one image.
 * @param {El} svg
 */
function isDrawing(svg) {
  if (aria(svg, "aria-hidden") === "true") return false;
  const width = parseFloat(attr(svg, "width") || (attr(svg, "viewBox") || "").split(/[\s,]+/, 3)[2] || "");
  return !(width <= MAX_ICON);
}

/**
 * Returns how much of the content of a listed element its text covers.
 * @param {Fields} fields @param {El} el @param {string} tag @param {Naming} naming the Naming that computed the text
 */
function textCoverage(fields, el, tag, { fromContent, isPartial }) {
  const role = fields[F_ROLE], text = fields[F_TEXT];
  if (tag === "svg" && role === "img" && !text && fields[F_KIND] === STRUCTURAL) return isDrawing(el) ? COVERS_NONE : COVERS_ALL;
  if (fields[F_KIND] === FRAME_HOST || LANDMARK_ROLES.has(role) || tag === "details") return COVERS_NONE;
  if (!text && fields[F_KIND] === STRUCTURAL && role !== "img") return COVERS_NONE;
  if (holdsChips(fields, el, tag, fromContent)) return COVERS_NONE;
  if (!fromContent) {
    if (CONTAINER_ROLES.has(role) || RECORD_ROLES.has(role) || (fields[F_KIND] === STRUCTURAL && isBox(el, tag, role))) return COVERS_NONE;
    return isAtomic(tag, role) ? COVERS_ALL : COVERS_LINE;
  }
  return isPartial || (text.length >= MAX_NAME && text.endsWith("…")) ? COVERS_LINE : COVERS_ALL;
}

/** Matches the buttons that may remove a chip. */
const CHIP_BUTTONS = "button,[role=button],[role=presentation]";
/**
 * The maximum number of such buttons that are compared, and the maximum length of their names in
 * characters.
 */
const MAX_CHIP_BUTTONS = 20, MAX_CHIP_WORDS = 40;

/**
 * Whether several buttons in an element have the same name, such as the buttons that remove chips. Only the words beside these
 * buttons distinguish them.
 * @param {Fields} fields @param {El} el @param {string} tag @param {boolean} fromContent whether the text was taken from the content
 */
function holdsChips(fields, el, tag, fromContent) {
  if (tag !== "label" && (fields[F_KIND] !== INTERACTIVE || INTERACTIVE_TAGS.has(tag) || !(fromContent || fields[F_ROLE] === "combobox"))) return false;
  if (!hasElements(el) || !firstWithin(el, CHIP_BUTTONS) || isLarge(el)) return false;
  const names = new Set();
  let left = MAX_CHIP_BUTTONS;
  for (const button of queryWithin(el, CHIP_BUTTONS)) {
    if (--left < 0) break;
    const name = attr(button, "aria-label") || safe.textContent(button).trim();
    if (name === "" || name.length > MAX_CHIP_WORDS) continue;
    if (names.has(name)) return true;
    names.add(name);
  }
  return false;
}

/**
 * Whether the text of an ancestor covers the text of an element.
 * @param {El} el @param {Inherited} ctx
 */
function isCovered(el, ctx) {
  if (ctx.coverage !== COVERS_LINE) return ctx.coverage === COVERS_ALL;
  const { display } = getComputedStyle(el);
  return display === "inline" || display === "contents";
}

/**
 * The state that an element inherits from its flat ancestors. Elements share an object as long as
 * nothing in it differs.
 */
class Inherited {
  /**
   * @param {Rec | null} parent @param {boolean} inert @param {boolean} disabled
   * @param {boolean} fieldset @param {number} coverage
   */
  constructor(parent, inert, disabled, fieldset, coverage) {
    /** The nearest listed ancestor. */
    this.parent = parent;
    this.inert = inert;
    /** Whether an ancestor has aria-disabled. */
    this.disabled = disabled;
    /** Whether an ancestor is a disabled fieldset, which disables most, but not all, of its controls. */
    this.fieldset = fieldset;
    /**
     * How much of the content an ancestor's text covers: COVERS_NONE, COVERS_LINE or COVERS_ALL.
     */
    this.coverage = coverage;
  }

  /** Returns what the children of a listed element inherit if nothing disables them. @param {Rec} rec */
  below(rec) {
    return new Inherited(rec, this.inert, this.disabled, this.fieldset, this.coverage === COVERS_ALL ? COVERS_ALL : rec.coverage);
  }
}

const AT_ROOT = new Inherited(null, false, false, false, COVERS_NONE);

const TEXT_SKIP = new Set(["script", "style", "noscript", "template", "head", "title", "option", "select", "textarea", "svg"]);

/**
 * Whether an element has a child text with more than white space. For a shadow host, the shadow tree must also have a slot or text at
 * its top level.
 * @param {El} el
 */
function hasOwnText(el) {
  if (!hasTextAmong(safe.firstChild(el))) return false;
  const root = shadowOf(el);
  return root === null || hasTextAmong(safe.firstChild(root));
}

/** Whether a node or a following sibling is a text with more than white space, or a slot that shows one. @param {El | Text | null} n */
function hasTextAmong(n) {
  while (n) {
    if (n.nodeType === 3) {
      if (hasText(/** @type {Text} */ (n).data)) return true;
      n = /** @type {El | Text | null} */ (n.nextSibling);
    } else {
      if (/** @type {El} */ (n).localName === "slot" && isElement(n) && tagOf(n) === "slot" && hasSlottedText(n)) return true;
      n = safe.nextSibling(n);
    }
  }
  return false;
}

/** Whether a slot shows a text that is not inside an element. @param {El} slot */
function hasSlottedText(slot) {
  const nodes = slot.assignedNodes({ flatten: true });
  for (let i = 0; i < nodes.length && i < MAX_GATHERED; i++) {
    const node = nodes[i];
    if (isText(node) && hasText(node.data)) return true;
  }
  return false;
}

/**
 * Returns the texts among the child nodes of an element, such as the message of an alert. Child
 * elements are listed separately.
 * @param {El} el
 */
function ownText(el) {
  const out = new TextFolder(MAX_TEXT);
  let seen = 0;
  for (let n = safe.firstChild(el); n && !out.isFull; n = safe.nextSibling(n)) {
    if (++seen > MAX_GATHERED_NODES) out.cut = true;
    else if (isText(n)) out.add(n.data + " ");
  }
  return out.finish();
}

/**
 * Returns the kind of an element, or -1 if it is not part of the stored DOM.
 * @param {El} el @param {string} tag @param {string} explicit @param {number} hints @param {boolean} structural @param {Inherited} ctx
 */
function kindOf(el, tag, explicit, hints, structural, ctx) {
  if (!hints && !INTERACTIVE_TAGS.has(tag) && tag !== "option" && hasNoAttributes(el) && !isClickable(el)) {
    if (!structural) return -1;
  } else if (isInteractive(el, tag, explicit, hints)) return INTERACTIVE;
  return kindOfOther(el, tag, explicit, hints, structural, ctx);
}

/** The role that kindOfOther computed last, or "" if it needed none. It saves the next describe from computing the role again. */
let lastRole = "";

/**
 * Returns the kind of an element that is not interactive, or -1.
 * @param {El} el @param {string} tag @param {string} explicit @param {number} hints @param {boolean} structural @param {Inherited} ctx
 */
function kindOfOther(el, tag, explicit, hints, structural, ctx) {
  lastRole = "";
  if (tag === "iframe" || tag === "frame") return FRAME_HOST;
  if (hints & HINT_TARGET) return STRUCTURAL;
  if (!structural) return -1;
  const role = (lastRole = roleOf(el, tag, explicit));
  if (role === "heading" || LANDMARK_ROLES.has(role)) return STRUCTURAL;
  if (role === "img") return STRUCTURAL;
  if (ctx.coverage === COVERS_ALL || TEXT_SKIP.has(tag)) return -1;
  const counts = isBox(el, tag, role) || isPainted(el, tag) || hasOwnText(el);
  return counts && !isCovered(el, ctx) ? STRUCTURAL : -1;
}

/**
 * Whether an element is an input that pages often hide behind their own box.
 * @param {El} el @param {string} tag
 */
function isToggle(el, tag) {
  if (tag === "button") return DRAWN_TOGGLES.has(attr(el, "role") || "");
  if (tag !== "input") return false;
  const { type } = el;
  return type === "checkbox" || type === "radio" || type === "file";
}

/** The arguments of checkVisibility; checkHiddenPage changes them. */
const VISIBLE = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false };
const VISIBLE_OR_TRANSPARENT = { opacityProperty: false, visibilityProperty: true };

/**
 * Checks whether the style of the root or body hides the whole page. Anti-flicker scripts do so
 * until a third-party script has loaded, which may take seconds or fail. A hidden page is described
 * as if it were visible. Reports whether the page was hidden or shown since the last check.
 * @param {Document} doc
 */
function checkHiddenPage(doc) {
  const root = safe.documentElement(doc);
  const body = safe.querySelector(doc, "body");
  let opacity = true;
  let visibility = true;
  for (const el of [root, body]) {
    if (!el) continue;
    const style = getComputedStyle(el);
    if (style.opacity === "0") opacity = false;
    if (style.visibility !== "visible") visibility = false;
  }
  if (opacity === VISIBLE.opacityProperty && visibility === VISIBLE.visibilityProperty) return false;
  VISIBLE.opacityProperty = opacity;
  VISIBLE.visibilityProperty = VISIBLE_OR_TRANSPARENT.visibilityProperty = visibility;
  return true;
}

/** Returns the state for the value of an aria-* attribute. @param {string | null} value @returns {number} */
function ariaState(value) {
  switch (value) {
    case "true":
      return YES;
    case "false":
      return NO;
    case "mixed":
      return MIXED;
  }
  return ABSENT;
}

const EDITABLE_ROLES = new Set(["textbox", "searchbox", "combobox", "spinbutton", "listbox", "date", "datetime", "time"]);
const CHECKABLE_ROLES = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
const SELECTABLE_ROLES = new Set(["option", "tab", "treeitem", "gridcell", "row"]);

/** Items that are chosen by a checkbox or radio inside them. */
const CHOSEN_ITEMS = "[role=treeitem],[role=option],[role=row],[role=listitem],[role=menuitem]";

/**
 * Returns the state of the item around a checkbox or radio that has no state of its own, as in some trees.
 * @param {El} el @param {string} role
 */
function chosenAround(el, role) {
  const item = role === "checkbox" || role === "radio" ? closestOf(el, CHOSEN_ITEMS) : null;
  return item && (aria(item, "aria-checked") || aria(item, "aria-selected"));
}

/**
 * Returns the states as one number, two bits each: ABSENT, NO, YES or MIXED.
 * @param {El} el @param {string} tag @param {string} role @param {Inherited} ctx @param {El | null} focused
 */
function statesOf(el, tag, role, ctx, focused) {
  let bits = el === focused ? YES << S_FOCUSED : NO << S_FOCUSED;
  const native = tag === "input" || tag === "select" || tag === "textarea";
  if (tag === "input" && (el.type === "checkbox" || el.type === "radio")) {
    bits |= (el.indeterminate ? MIXED : el.checked ? YES : NO) << S_CHECKED;
  } else if (CHECKABLE_ROLES.has(role)) {
    bits |= (ariaState(aria(el, "aria-checked") || chosenAround(el, role)) || NO) << S_CHECKED;
  }
  if (native || tag === "button" || tag === "option") {
    bits |= (el.disabled || (ctx.fieldset && safe.matches(el, ":disabled")) || ariaDisabled(el, ctx) ? YES : NO) << S_DISABLED;
  } else if (ariaDisabled(el, ctx) || (tag.includes("-") && safe.matches(el, ":disabled"))) bits |= YES << S_DISABLED;
  else if ((aria(el, "aria-disabled") !== null)) bits |= NO << S_DISABLED;
  bits |= expandedOf(el, tag) << S_EXPANDED;
  // The choice of a select is its value, so options have no selected state.
  if (tag !== "option" && SELECTABLE_ROLES.has(role)) bits |= ariaState(aria(el, "aria-selected")) << S_SELECTED;
  if (role === "button") bits |= ariaState(aria(el, "aria-pressed")) << S_PRESSED;
  if (native || EDITABLE_ROLES.has(role)) {
    const required = (native && el.required) || aria(el, "aria-required") === "true";
    bits |= (required ? YES : NO) << S_REQUIRED;
    bits |= invalidOf(el, native && (required || hasConstraints(el, tag))) << S_INVALID;
    if (tag !== "select" && EDITABLE_ROLES.has(role)) {
      const readonly = (native && el.readOnly) || aria(el, "aria-readonly") === "true";
      bits |= (readonly ? YES : NO) << S_READONLY;
    }
  }
  return bits;
}

/** @param {El} el @param {Inherited} ctx */
function ariaDisabled(el, ctx) {
  return ctx.disabled || aria(el, "aria-disabled") === "true";
}

/** @param {El} el @param {string} tag */
function expandedOf(el, tag) {
  const stated = aria(el, "aria-expanded");
  if (stated === "true") return YES;
  if (stated === "false") return NO;
  if (tag === "details") return el.open ? YES : NO;
  if (tag === "summary") {
    const details = /** @type {El | null} */ (safe.parentNode(el));
    if (details && tagOf(details) === "details") return details.open ? YES : NO;
  }
  return ABSENT;
}

const FREE_TYPES = new Set(["text", "search", "tel", "password", "checkbox", "radio", "range", "color", "file", "hidden"]);

/**
 * Whether a control that is not required has other constraints to validate.
 * @param {El} el @param {string} tag
 */
function hasConstraints(el, tag) {
  if (tag === "select") return false;
  if (hasAttr(el, "minlength") || hasAttr(el, "pattern")) return true;
  return tag === "input" && !FREE_TYPES.has(el.type);
}

/** @param {El} el @param {boolean} native whether the browser validates the control */
function invalidOf(el, native) {
  const stated = aria(el, "aria-invalid");
  if (stated !== null) return stated === "false" || stated === "" ? NO : YES;
  return native && safe.matches(el, ":user-invalid") ? YES : NO;
}

/**
 * Returns the live value.
 * @param {El} el @param {string} tag @param {string} role
 * @param {number} [most] how many characters of it are enough
 */
function valueOf(el, tag, role, most = MAX_VALUE) {
  switch (tag) {
    case "input":
      return inputValue(el, most) || clean(drawnValue(el), most);
    case "select":
      return reportedValue(el, selectedText(el, 2 * most), most);
    case "textarea": {
      const editor = editorOf(el);
      return reportedValue(el, editor && !isMasked(editor) ? drawnLines(editor, el) : el.value, most);
    }
    case "progress":
    case "meter":
      return isMasked(el) ? MASK : String(el.value);
    case "button":
      if (role !== "combobox" || hasAttr(el, "data-placeholder")) return "";
      break;
    case "li":
    case "a":
      return "";
  }
  if (role === "slider" || role === "spinbutton" || role === "progressbar" || role === "scrollbar" || role === "separator" || role === "meter") {
    return clean(reportedAria(el, "aria-valuetext") || reportedAria(el, "aria-valuenow") || "", most);
  }
  const inner = role === "combobox" && tag !== "button" && hasElements(el) ? firstWithin(el, "input,textarea") : null;
  if (inner) return reportedValue(inner, inner.value || textOfFace(el, inner) || chosenBefore(el, inner), most); // the box around a field, as in ARIA 1.1
  if (role === "combobox" && hasElements(el) && firstWithin(el, "[role=option]")) {
    return reportedValue(el, [...queryWithin(el, CHOSEN)].map((option) => reportedWords(option, most)).join(", "), most); // its options are in it
  }
  if (role === "textbox" || role === "searchbox" || role === "combobox" || isEditingHost(el) || (tag === "body" && el.isContentEditable === true)) {
    const editor = editorOf(el);
    if (editor && !isMasked(editor)) return reportedValue(el, drawnLines(editor, el), most);
    return placeholderIn(el) ? "" : reportedValue(el, withoutCross(el, reportedWords(el, 2 * most)).replace(role === "combobox" ? DRAWN_ARROW : "", ""), most);
  }
  return "";
}

/** Matches the arrow that a combobox draws beside its value. */
const DRAWN_ARROW = /\s*[▼▾⌄🞃]$/u;

/** Matches a placeholder that an editor draws among its lines. */
const DRAWN_PLACEHOLDERS = "[contenteditable=false][data-slate-placeholder],[contenteditable=false][class*=placeholder i]";

/** Returns the placeholder that an empty editor draws, or "" if the editor is not empty. @param {El} el */
function placeholderIn(el) {
  const drawn = hasElements(el) ? firstWithin(el, DRAWN_PLACEHOLDERS) : null;
  if (!drawn || isMasked(el)) return "";
  const words = reportedWords(drawn, MAX_NAME);
  return words !== "" && clean(safe.textContent(el), MAX_NAME) === words ? words : "";
}

/**
 * Returns the beginning of a value as stored in F_VALUE. After a cut value come U+001F and the number of remaining
 * characters.
 * @param {string} value at most MAX_VALUE characters plus "…" @param {() => string} whole returns up to MAX_TEXT characters
 */
function withLeft(value, whole) {
  if (!value.endsWith("…")) return value;
  let left = -MAX_VALUE;
  for (const _ of whole()) left++;
  return left > 0 ? value + "\u001f" + left : value;
}

/** @param {El} el @param {number} [most] how many characters are enough */
function inputValue(el, most = MAX_VALUE) {
  switch (el.type) {
    case "checkbox":
    case "radio":
    case "button":
    case "submit":
    case "reset":
    case "image":
    case "hidden":
      return "";
    case "file": {
      let names = "";
      for (let i = 0; i < el.files.length && i < 4; i++) names += (i ? ", " : "") + el.files[i].name;
      return reportedValue(el, names, most);
    }
  }
  return reportedValue(el, el.value, most);
}

/** Returns a value, cut, or the mask in its place. @param {El} el @param {string} value @param {number} most */
function reportedValue(el, value, most) {
  if (!value) return "";
  return isSecret(el) || isValueMasked(el) ? MASK : clean(value, most);
}

/** Returns the absolute URL of a link, without user and password. @param {El} el @param {string} tag */
function hrefOf(el, tag) {
  if ((tag !== "a" && tag !== "area") || isMasked(el)) return "";
  const { href } = el;
  return clean(withoutUser(typeof href === "string" ? href : absoluteHref(href.baseVal)), MAX_FIELD);
}

/** Returns the absolute URL of an SVG link. @param {string} href */
function absoluteHref(href) {
  try {
    return new URL(href, document.baseURI).href;
  } catch {
    return href;
  }
}

/**
 * Returns a URL without user and password, which relative links inherit from the URL of their page.
 * @param {string} href
 */
function withoutUser(href) {
  if (typeof href !== "string" || !href.includes("@") || !/^[a-z0-9+.-]+:\/\/[^/?#]*@/i.test(href)) return href;
  try {
    const url = new URL(href);
    url.username = url.password = "";
    return url.href;
  } catch {
    return href;
  }
}

/** @param {El} el @param {string} tag @param {string} role */
function levelOf(el, tag, role) {
  if (role !== "heading" && role !== "treeitem") return "";
  const level = parseInt(aria(el, "aria-level") || "", 10);
  if (level > 0 && level < 1000) return String(level);
  if (tag.length === 2 && tag[0] === "h") return tag[1];
  return role === "heading" ? "2" : "";
}

/**
 * Returns the requested HTML attributes as name=value pairs, separated by U+001F.
 * @param {El} el @param {string[]} names
 */
function attributesOf(el, names) {
  let out = "";
  for (const name of names) {
    const value = reportedAttribute(el, name);
    if (value === null) continue;
    out += (out ? "\u001f" : "") + name + "=" + clean(value, MAX_FIELD);
  }
  return out;
}

/** Tags with a value or placeholder. For other tags, reading them is skipped. */
const FIELD_TAGS = new Set(["input", "select", "textarea", "progress", "meter"]);

/**
 * Fills `into` with the element's fields.
 * @param {Fields} into
 * @param {El} el @param {string} tag @param {string} explicit @param {number} kind
 * @param {Inherited} ctx @param {Naming} naming @param {El | null} focused @param {string[]} attributes
 * @param {string} child @param {boolean} targeted whether a caller named the element as a target
 * @param {string} known the element's role if it was just computed, else ""
 * @param {Rec} rec its record
 */
function describe(into, el, tag, explicit, kind, ctx, naming, focused, attributes, child, targeted, known, rec) {
  const role = known || roleOf(el, tag, explicit);
  const field = FIELD_TAGS.has(tag);
  into[F_KIND] = kind;
  into[F_PARENT] = ctx.parent;
  into[F_TAG] = clean(tag, 64);
  into[F_ROLE] = role;
  setText(into, shownName(el, tag, role, kind, naming, targeted, rec));
  into[F_HREF] = hrefOf(el, tag);
  into[F_NAME] = field || tag === "button" || tag === "a" ? clean(attr(el, "name") || "", MAX_FIELD) : "";
  into[F_TYPE] = tag === "input" || tag === "button" ? el.type : "";
  const named = tag === "button" && naming.fromContent; // the content of the button is its name, and not its value
  const valued = (field || explicit || kind === INTERACTIVE) && !named;
  const editor = valued && (role === "textbox" || tag === "textarea") ? editorOf(el) : null;
  if (editor) naming.captions.watch(editor, rec); // its lines are the value
  into[F_VALUE] = valued ? withLeft(valueOf(el, tag, role), () => valueOf(el, tag, role, MAX_TEXT)) : "";
  into[F_PLACEHOLDER] = field ? clean(reportedAttribute(el, "placeholder") || "", MAX_NAME) : "";
  into[F_LEVEL] = levelOf(el, tag, role);
  into[F_STATES] = kind === INTERACTIVE ? statesOf(el, tag, role, ctx, focused) : 0;
  into[F_CHILD] = child;
  into[F_ATTRIBUTES] = attributes.length ? attributesOf(el, attributes) : "";
}

/**
 * Sets the text of an element: its beginning, and the whole text if that is longer.
 * @param {Fields} into @param {string} text
 */
function setText(into, text) {
  const short = text.length <= MAX_NAME ? text : clean(text, MAX_NAME);
  into[F_TEXT] = short;
  into[F_WHOLE] = short === text ? "" : text;
}

/**
 * Returns the name of an element, its text, or the caption of a field that has neither.
 * @param {El} el @param {string} tag @param {string} role @param {number} kind @param {Naming} naming
 * @param {boolean} targeted see nameOrText
 * @param {Rec} rec its record
 */
function shownName(el, tag, role, kind, naming, targeted, rec) {
  const name = nameOrText(el, tag, role, kind, naming, targeted);
  if (!name && kind === STRUCTURAL && role === "row") return naming.panes.nameOf(el, naming.captions, rec);
  if (name && kind === INTERACTIVE && (tag === "input" || tag === "textarea")) return naming.captions.insteadOfPlaceholder(el, tag, name, rec) || name;
  const isSign = DRAWN_TOGGLES.has(role) && !hasWord(name); // the drawn check mark
  return (name && !isSign) || kind !== INTERACTIVE ? name : naming.captions.of(el, tag, role, rec) || name;
}

/** Roles of elements that are read, not used. If such an element is clickable, a person knows it by its content. */
const TEXT_ROLES = new Set(["generic", "listitem", "article", "figure", "term", "definition", "paragraph", "note", "blockquote", "none", "presentation"]);

/**
 * Returns the accessible name, or the text of elements that have no name by ARIA; at most MAX_TEXT
 * characters.
 * @param {El} el @param {string} tag @param {string} role @param {number} kind @param {Naming} naming
 * @param {boolean} targeted whether a caller named the element as a target, so that its content is its text
 */
function nameOrText(el, tag, role, kind, naming, targeted) {
  const box = kind === STRUCTURAL && !targeted && isBox(el, tag, role) && !hasOwnText(el);
  const name = naming.name(el, tag, box ? "" : role);
  if (name || box || kind === FRAME_HOST) return name;
  if (kind === INTERACTIVE) {
    if (role === "textbox" && !FIELD_TAGS.has(tag)) return editorPlaceholder(el, naming);
    // Elements that only a listener or tabindex makes clickable have no name from content in ARIA,
    // but a person reads their content.
    if (!TEXT_ROLES.has(role) && role !== TAG_ROLES[tag] && !(role === "group" && isPlainGroup(el))) return "";
    if (tag === "input" || tag === "select" || tag === "textarea" || tag === "details") return "";
  } else if (role === "img" || (tag === "details" && !el.open)) return "";
  else if (LANDMARK_ROLES.has(role) || tag === "details") return isTextMasked(el) ? reportedText(el) : clean(ownText(el), MAX_TEXT);
  return naming.text(el, tag);
}

/** Controls that a person can use inside a group. */
const USED_IN_GROUPS = "a[href],button,input,select,textarea,[tabindex],[role=button],[contenteditable]";

/** Whether a clickable group contains no usable controls, like the nodes of a diagram. @param {El} el */
function isPlainGroup(el) {
  return !isLarge(el) && firstWithin(el, USED_IN_GROUPS) === null;
}

/**
 * Returns the placeholder of an empty editor as its name. Pages keep it in an attribute of the editor or of its first
 * line.
 * @param {El} el @param {Naming} naming
 */
function editorPlaceholder(el, naming) {
  const line = safe.firstElementChild(el);
  for (const part of line ? [el, line] : [el]) {
    const kept = reportedAttribute(part, "data-placeholder");
    if (kept && hasText(kept)) return clean(kept, MAX_NAME);
    const drawn = hasText(safe.textContent(part)) ? "" : naming.generatedAt(part, "::before") + naming.generatedAt(part, "::after");
    if (hasText(drawn)) return clean(drawn, MAX_NAME);
  }
  return placeholderIn(el);
}

/**
 * Describes a proxy as the hidden control that it represents, with the control's role, name and state.
 * @param {Fields} into @param {Rec} rec of the proxy
 * @param {El} control @param {Inherited} ctx @param {Naming} naming @param {El | null} focused
 */
function describeProxy(into, rec, control, ctx, naming, focused) {
  const tag = tagOf(control), isSelect = tag === "select";
  const role = isSelect ? "combobox" : roleOf(control, tag, explicitRole(control));
  into[F_ROLE] = role;
  const name = proxyName(rec.node, rec, control, naming);
  if (name || isSelect) setText(into, name);
  into[F_NAME] = clean(attr(control, "name") || "", MAX_FIELD);
  into[F_TYPE] = control.type;
  into[F_VALUE] = isSelect ? drawnChoice(rec.node, control, MAX_VALUE) : tag === "button" ? "" : withLeft(inputValue(control), () => inputValue(control, MAX_TEXT));
  into[F_STATES] = statesOf(control, tag, role, ctx, focused);
  if (isSelect) into[F_STATES] |= expandedOf(rec.node, rec.tag) << S_EXPANDED;
}

/**
 * Returns the name of the hidden control that a proxy represents, or the caption of a drawn select.
 * @param {El} proxy @param {Rec | null} rec of the proxy @param {El} control @param {Naming} naming
 */
function proxyName(proxy, rec, control, naming) {
  const tag = tagOf(control);
  if (tag !== "select") return naming.name(control, tag, roleOf(control, tag, explicitRole(control)));
  return naming.name(control, tag, "combobox") || naming.captions.of(proxy, tagOf(proxy), "combobox", rec);
}

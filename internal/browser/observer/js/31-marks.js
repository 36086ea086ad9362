// @ts-check
// Marks: what a person sees of an element beyond its name and states. A mark names the icon of an
// element without a name, by the word that its author used for the icon, or a state that only
// classes express. Marks are guesses, and never a part of a name.
//
// marksOf reads the element and its content, and keeps no state. Refresh calls it.

/** The maximum number of marks of an element, and the maximum length of each in characters. */
const MAX_MARKS = 4, MAX_MARK = 24;
/** The maximum and minimum length of a mark that is made of a description or of other words, in characters. */
const MAX_WORDS = 40, MIN_WORDS = 3;
/** The maximum number of characters that are read from a text beside the name. */
const MAX_BESIDE = 200;
/** The maximum number of descendants that are examined for an icon. */
const MAX_ICON_NODES = 12;

/** Classes of icon fonts and sprites, followed by the name of the icon. */
const ICON_CLASS = /^(?:[a-z]{1,8}-icon|fa[srlbd]?|bi|glyphicon|icons?|ic|ico|mdi|ti|ri|lucide|feather|octicon|codicon|las?|pi|ion|tabler-icon|bx[sl]?|uil|anticon|el-icon|pficon|icofont|i|sprite|svg)(?:--|__|[-_:])([a-z].*)$/i;
const ICON_AFTER = /^([a-z][a-z-]*?)(?:--|__|[-_])ico(?:n)?$/i;
/** Classes of elements that look like an icon. The match is the action of the element. */
const ACTION_CLASS = /(?:^|[-_])((?:close|delete|remove|edit|trash|search|menu|hamburger|settings|next|prev|previous|play|pause|share|like|favorite|reply|star|more|add|plus|minus|download|upload|copy|refresh|expand|collapse|back|dismiss|clear|undo|redo|print|bold|italic|underline|strike|indent|outdent|blockquote|resize|increment|decrement|increase|decrease|up|(?<!drop-)down)(?:-(?:month|year|week|day|page|slide))?)(?:[-_](?:button|btn|handle|icon))?$/;
/** Classes of elements that a person drags. The match is the word for the element. */
const HANDLE_CLASS = /(?:^|[-_])(handle|thumb|knob|gripper|splitter)$/;
/** Words in classes of empty boxes that only describe a box. */
const NO_WORD = /^(?:box|cell|tile|square|block|dot|swatch|item|row|col.*|grid|card|div|span|el|elem.*|node|piece|field|panel|handle|thumb|track|target|clickable|active|selected|hidden|visible|disabled|container|wrapper|content|inner|outer|ripple.*|overlay|backdrop|mask|shadow|.*-(?:wrapper|container|inner|overlay|root|button|btn))$/;
/** The default color of buttons. */
const BUTTON_COLOR = "rgb(239, 239, 239)";
/** The names of colors in CSS. @type {Record<string, string>} */
const COLORS = {
  "0,0,0": "black", "255,255,255": "white", "255,0,0": "red", "0,128,0": "green", "0,255,0": "lime", "0,0,255": "blue", "255,255,0": "yellow",
  "0,255,255": "cyan", "255,0,255": "magenta", "128,128,128": "gray", "128,0,0": "maroon", "128,128,0": "olive", "128,0,128": "purple",
  "0,128,128": "teal", "0,0,128": "navy", "192,192,192": "silver", "255,165,0": "orange", "255,192,203": "pink", "165,42,42": "brown",
  "255,215,0": "gold", "238,130,238": "violet", "75,0,130": "indigo", "255,127,80": "coral", "250,128,114": "salmon", "64,224,208": "turquoise",
  "220,20,60": "crimson", "211,211,211": "lightgray", "135,206,235": "skyblue", "70,130,180": "steelblue", "255,99,71": "tomato",
};
/** The text of an icon that its font draws in place of the word. */
const LIGATURE = /^\s*([a-z][a-z0-9]*(?:_[a-z0-9]+)*)\s*$/;
/** Words in icon classes that describe the look of the icon. */
const NO_ICON = /^(?:x?[sml]|x[sl]s?|md|lg|xl|sm|\d+x?|\d*xl|fw|spin|pulse|solid|regular|light|thin|brands|duotone|inverse|stack.*|rotate.*|flip.*|border|pull.*|li|ul|icons?|wrapper|container|only|buttons?|btn|small|large|medium|size.*|left|right|start|end|white|black|primary|secondary|base|img|image|svg|inline|text|link|item|before|after|root|box|wrap|bg|color|font.*|colou?red)$/;

/** Classes that express a state: as the whole class, as is-active or as a modifier. STATE_AFTER has the states that also count after other words. */
const STATE_CLASS = /^(?:is-|has-been-|.*--|.*__)?(active|selected|open|opened|closed|disabled|current|checked|expanded|collapsed|completed|done|highlighted|starred|favorited|liked|loading|error|invalid|unread|editing)$/;
const STATE_AFTER = /[-_](active|selected|disabled|current|checked|expanded)$/;
const OTHER_STATE = /^is-([a-z]{3,16})$/;
/** Modifiers that describe look or layout, or that change with the pointer. */
const NO_STATE = /^(?:hover(?:ed|ing)?|focus.*|animat.*|visible|mounted|ready|init.*|loaded|hydrated|interactive|clickable|link|button|primary|secondary|small|large|medium|normal|fullwidth|rounded|full|half|mobile|desktop|tablet|light|dark|info|success|danger|warning|white|black|bold|uppercase|relative|block|inline|fluid|fixed|sticky|touch|touched|dirty|pristine|valid|dragging|transition.*|horizontal|vertical|centered|left|right)$/;
/** A quick test of all classes together. */
const MAY_BE_STATE = /active|select|open|clos|disabled|current|check|expand|collaps|complet|done|highlight|starred|favorited|liked|loading|error|invalid|unread|editing|(?:^|\s)is-/;
/** Attributes that express a state if they are empty or "true", and attributes whose value is a state. */
const STATE_FLAGS = ["data-selected", "data-checked", "data-active", "data-disabled"], STATE_VALUES = ["data-state", "data-status"];
/** Matches the elements that may express a state by an attribute. */
const STATED = ["aria-current", ...STATE_FLAGS, ...STATE_VALUES].map((name) => "[" + name + "]").join(",");
/** The states that count as such a value. */
const STATE_VALUE = /^(?:active|selected|checked|on|open|current|complete|completed|done|loading|error|invalid)$/;
/** Words that negate the state after them, and the prefix of a library whose buttons are all "active". */
const DENIED = /(?:^|[-_])(?:not?|un|non|if|when|on|can|to|set|toggle|hide|show|js|btn|with|auto|default|mantine)[-_][a-z]+$/;

/** Structural roles whose classes describe the state of their content. */
const MARKED_BOXES = new Set(["listitem", "row", "cell", "gridcell", "columnheader", "article", "heading"]);
/** Matches the controls that sort a table. */
const SORTING = "button,a,[role=button],[tabindex]";
/** The maximum distance from a control up to the header that it sorts by. */
const MAX_HEADER = 4;

/**
 * Returns the marks of a described element, separated by spaces.
 * @param {Fields} fields @param {El} el @param {string} tag @param {Variants} variants
 */
function marksOf(fields, el, tag, variants) {
  const interactive = fields[F_KIND] === INTERACTIVE;
  if (!interactive && !MARKED_BOXES.has(fields[F_ROLE])) return "";
  if (MASKS !== null && isMasked(el)) return "";
  /** @type {string[]} */
  const marks = [];
  if (interactive && fields[F_TEXT] === "" && !FIELD_TAGS.has(tag)) {
    const icon = iconOf(el, tag) || lookOf(el, tag);
    if (icon) marks.push(icon);
  } else if (fields[F_TEXT] !== "") {
    const more = wordsBeside(fields, el, tag);
    if (more) marks.push(more);
  }
  const before = marks.length;
  if (fields[F_ROLE] === "radio") addPosition(marks, el);
  const isInTable = variants.tables && (internals !== null || closestOf(el, MARKED_TABLES) !== null);
  const order = isInTable ? orderOf(el) : "";
  if (order) addMark(marks, order);
  addStates(marks, el, fields[F_STATES]);
  if (!interactive) return marks.join(" ");
  const columns = isInTable ? columnsOf(el) : "";
  if (columns) addMark(marks, columns);
  const parent = parentOfOnly(el), above = parent && parentOfOnly(parent);
  if (parent) addStates(marks, parent, fields[F_STATES]);
  if (above) addStates(marks, above, fields[F_STATES]);
  if (marks.length === before) {
    const link = tag === "a";
    addVariant(marks, variants.of(el, tag, link) || (parent && variants.of(parent, tagOf(parent), link)) || (above && variants.of(above, tagOf(above), link)), fields);
  }
  return marks.join(" ");
}

/** @param {string[]} marks @param {string | null} variant @param {Fields} fields */
function addVariant(marks, variant, fields) {
  if (variant && !isKnown(variant, fields[F_STATES])) addMark(marks, variant);
}

/** Matches the ancestors from which orderOf and columnsOf derive marks. */
const MARKED_TABLES = "[aria-sort],[role=row]";
/** Matches rows, and cells. */
const MARKED_ROWS = "[role=row]", MARKED_CELLS = "[role=cell],[role=gridcell],[role=columnheader]";
/**
 * The maximum number of cells that describe where an element is, and the maximum length of their
 * texts in characters.
 */
const MAX_COLUMNS = 20, MAX_COLUMN = 12;

/**
 * Returns the words of the cells that an element is drawn below, if it is in their row but in no cell, such as an event in a week of a
 * calendar. Empty if there are none.
 * @param {El} el
 */
function columnsOf(el) {
  const row = closestOf(el, MARKED_ROWS);
  if (row === null || row === el) return "";
  const cell = closestOf(el, MARKED_CELLS);
  if (cell !== null && safe.contains(row, cell)) return "";
  const cells = queryWithin(row, MARKED_CELLS), { left, right, top } = safe.rect(el);
  /** @type {string[]} */
  const words = [];
  for (let i = 0; i < cells.length && i < MAX_COLUMNS; i++) {
    const box = safe.rect(cells[i]), center = box.left + box.width / 2;
    if (box.bottom <= top + 1 && left < center && center < right) words.push(reportedWords(cells[i], MAX_COLUMN).toLowerCase().replace(/[^a-z0-9]+/g, "-"));
  }
  if (cells.length < 2 || !words.length || words.some((word) => !/[a-z0-9]/.test(word))) return "";
  return "in-" + words[0] + (words.length > 1 ? "-to-" + words[words.length - 1] : "");
}

/**
 * Adds the position of a radio in its group if the page states it, for example the position of a star in a rating.
 * @param {string[]} marks @param {El} el
 */
function addPosition(marks, el) {
  const at = attr(el, "aria-posinset"), size = attr(el, "aria-setsize");
  if (at && size && /^\d{1,3}$/.test(at) && /^\d{1,3}$/.test(size)) addMark(marks, "at-" + at + "-of-" + size);
}

/** Returns the parent of an element that is its only content, or null. @param {El} el @returns {El | null} */
function parentOfOnly(el) {
  const parent = safe.parentNode(el);
  if (!parent || !isElement(parent) || safe.firstElementChild(parent) !== el) return null;
  return safe.nextElementSibling(el) === null && !hasOwnText(parent) ? parent : null;
}

/**
 * Adds the states that the classes and data attributes of an element express, but its own states do
 * not.
 * @param {string[]} marks @param {El} el @param {number} states
 */
function addStates(marks, el, states) {
  if (hasNoAttributes(el)) return;
  if (!(el === ariaFree && el === dataFree) && (internals !== null || safe.matches(el, STATED))) addAttributeStates(marks, el, states);
  const classes = attr(el, "class");
  if (!classes || !MAY_BE_STATE.test(classes)) return;
  for (const token of classes.trim().split(/\s+/, 40)) {
    const state = stateOf(token);
    if (state && !isKnown(state, states)) addMark(marks, state);
  }
}

/** Adds the states that attributes express. @param {string[]} marks @param {El} el @param {number} states */
function addAttributeStates(marks, el, states) {
  const current = attr(el, "aria-current");
  if (current && current !== "false") addMark(marks, "current");
  for (const name of STATE_FLAGS) {
    const said = attr(el, name), state = name.slice("data-".length);
    if ((said === "" || said === "true") && !isKnown(state, states)) addMark(marks, state);
  }
  for (const name of attr(el, "role") === "tabpanel" ? [] : STATE_VALUES) { // a panel that is shown is always active
    const state = attr(el, name);
    if (state && STATE_VALUE.test(state) && !isKnown(state, states)) addMark(marks, state);
  }
}

/** Returns the sort order of a column, for its header or the first control in the header; "" for none. @param {El} el */
function orderOf(el) {
  if (internals === null && closestOf(el, "[aria-sort]") === null) return "";
  for (let /** @type {DomNode | null} */ n = el, up = 0; n && isElement(n) && up < MAX_HEADER; n = safe.parentNode(n), up++) {
    const sort = hasNoAttributes(n) ? null : attr(n, "aria-sort");
    if (sort === null) continue;
    const is = (sort === "ascending" || sort === "descending") && (n === el || firstWithin(n, SORTING) === el);
    return is ? "sorted-" + sort : "";
  }
  return "";
}

/** Returns the state that a class expresses, or "". @param {string} token */
function stateOf(token) {
  token = token.replace(/^[-_]+|[-_]+$/g, "");
  if (token.length > 60 || /[:[\]/!]/.test(token) || DENIED.test(token)) return "";
  const found = STATE_CLASS.exec(token) || STATE_AFTER.exec(token);
  if (found) return found[1];
  const other = OTHER_STATE.exec(token);
  return other && !NO_STATE.test(other[1]) ? other[1] : "";
}

/** Whether the states of an element already include the state of a class. @param {string} state @param {number} states */
function isKnown(state, states) {
  /** @param {number} offset */
  const at = (offset) => (states >> offset) & 3;
  switch (state) {
    case "disabled":
      return at(S_DISABLED) === YES;
    case "active":
    case "selected":
    case "current":
    case "on":
      return at(S_SELECTED) === YES || at(S_CHECKED) === YES || at(S_PRESSED) === YES;
    case "checked":
      return at(S_CHECKED) !== ABSENT;
    case "open":
    case "opened":
    case "closed":
    case "expanded":
    case "collapsed":
      return at(S_EXPANDED) !== ABSENT;
    case "invalid":
    case "error":
      return at(S_INVALID) === YES;
  }
  return false;
}

/** @param {string[]} marks @param {string} mark */
function addMark(marks, mark) {
  if (marks.length < MAX_MARKS && !marks.includes(mark)) marks.push(mark);
}

/** Returns the word for the icon of an element, or "". @param {El} el @param {string} tag */
function iconOf(el, tag) {
  const own = tipWord(el) || iconWord(el, tag);
  if (own) return own;
  const root = shadowOf(el);
  const inner = root ? root.querySelectorAll("*") : queryWithin(el, "*");
  for (let i = 0; i < inner.length && i < MAX_ICON_NODES; i++) {
    const word = iconWord(inner[i], tagOf(inner[i]));
    if (word) return word;
  }
  const said = dataActionOf(el);
  if (said) return said;
  for (const part of inner.length > 0 ? [el, inner[0]] : [el]) {
    const drawn = drawnFile(part);
    if (drawn) return drawn;
  }
  if (getComputedStyle(el).cursor.endsWith("-resize")) return "resize";
  return actionWord(el) || (inner.length > 0 ? actionWord(inner[0]) : "") || handleWord(el) || classWord(el);
}

/** Returns the word in the name of the file that a style draws, or "". @param {El} el */
function drawnFile(el) {
  for (const pseudo of [null, "::before", "::after"]) {
    const style = getComputedStyle(el, pseudo);
    if (pseudo && (style.content === "none" || style.content === "normal")) continue;
    for (const image of [style.content, style.backgroundImage, style.maskImage]) {
      const url = /url\("([^"]*)"\)/.exec(image);
      const word = url ? fileWord(url[1]) : "";
      if (word) return word;
    }
  }
  return "";
}

/** Attributes in which scripts store the tooltip of an element. */
const TIPS = ["data-tooltip", "data-tip", "data-title", "data-original-title", "data-bs-original-title", "data-tippy-content"];

/** Returns the text of a tooltip that a script draws, without its keyboard shortcut, or "". @param {El} el */
function tipWord(el) {
  if (el === dataFree || hasNoAttributes(el)) return "";
  for (const name of TIPS) {
    const words = /^\s*[a-z][^([{]*/i.exec(reportedAttribute(el, name) || "");
    const mark = words ? asMark(words[0]) : "";
    if (mark) return mark;
  }
  return "";
}

/** Returns the action named in an attribute for the page's own scripts, if it is plain words, or "". @param {El} el */
function dataActionOf(el) {
  if (el === dataFree) return "";
  for (const name of ["data-action", "data-command", "data-direction"]) {
    const said = attr(el, name);
    if (said && /^[a-z]{2,}(?:[-_]?[a-z]+){0,2}$/i.test(said)) return asMark(said);
  }
  return "";
}

/** Returns the action named in a class of an element, or "". @param {El} el */
function actionWord(el) {
  for (const token of (attr(el, "class") || "").split(/\s+/, 40)) {
    const action = ACTION_CLASS.exec(token);
    if (action) return action[1];
  }
  return "";
}

/** Returns the word for what a person drags, from the class of an element, or "". @param {El} el */
function handleWord(el) {
  for (const token of (attr(el, "class") || "").split(/\s+/, 40)) {
    const handle = HANDLE_CLASS.exec(token);
    if (handle) return handle[1];
  }
  return "";
}

/** Returns the only class of an empty box, if it is a word, or "". @param {El} el */
function classWord(el) {
  const own = (attr(el, "class") || "").trim();
  return /^[a-z]{3,}(?:-[a-z]{2,}){0,2}$/.test(own) && safe.firstElementChild(el) === null && !NO_WORD.test(own) && !MAY_BE_STATE.test(own) ? asMark(own) : "";
}

/** Returns the look of a shape or an empty box, as form and color, the size of a canvas, or "". @param {El} el @param {string} tag */
function lookOf(el, tag) {
  if (tag === "canvas") {
    const { width, height } = safe.rect(el);
    return "canvas-" + Math.round(width) + "x" + Math.round(height);
  }
  const style = getComputedStyle(el);
  if (SHAPES.has(tag)) {
    const color = colorWord(style.fill) || colorWord(style.stroke);
    return (color ? color + "-" : "") + tag;
  }
  return safe.firstElementChild(el) === null ? colorWord(style.backgroundColor) : "";
}

/** A computed color in the usual notation: red, green, blue and, unless it is opaque, the opacity. */
const RGBA = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;

/** Returns the CSS name of a color, or its hex digits; "" for none. @param {string} color */
function colorWord(color) {
  const rgb = color === BUTTON_COLOR ? null : rgbOf(color);
  return rgb ? COLORS[rgb.join(",")] || "rgb-" + rgb.map((n) => n.toString(16).padStart(2, "0")).join("") : "";
}

/**
 * Returns the red, green and blue of a computed color, from 0 to 255. Null if the color is transparent or in another notation.
 * @param {string} color
 */
function rgbOf(color) {
  const parts = RGBA.exec(color);
  return parts && parts[4] !== "0" ? parts.slice(1, 4).map(Number) : null;
}

/** Matches the elements that may have words beside their name. */
const SAID_BESIDE = "[aria-label],[aria-describedby],[aria-description],[title]";

/**
 * Returns what else a person reads of a named element: the description of a control, or its visible text if that
 * differs from the name. The text of an element with a value is the value, and adds nothing.
 * @param {Fields} fields @param {El} el @param {string} tag
 */
function wordsBeside(fields, el, tag) {
  const name = fields[F_TEXT];
  if (hasNoAttributes(el) || FIELD_TAGS.has(tag)) return "";
  if (el === ariaFree ? !hasAttr(el, "title") : internals === null && !safe.matches(el, SAID_BESIDE)) return "";
  const label = attr(el, "aria-label");
  const isList = CONTAINER_ROLES.has(fields[F_ROLE]) || (fields[F_ROLE] === "combobox" && firstWithin(el, "option,[role=option]") !== null);
  const listed = isList || fields[F_VALUE] !== ""; // the words of its content are elsewhere
  const shown = label && label.trim() && !listed ? otherWords(reportedWords(el, MAX_BESIDE), name) : "";
  if (shown || tag === "a") return shown;
  const described = attr(el, "aria-describedby");
  const other = described ? elementOf(treeOf(el), described.trim().split(/\s+/, 1)[0]) : null;
  // Instructions that are not rendered, such as "press Space to drag", are for screen readers, and the same on each item.
  const text = reportedAttribute(el, "aria-description") || (other && safe.checkVisibility(other) && reportedWords(other, MAX_BESIDE)) || reportedAttribute(el, "title") || "";
  return otherWords(text, name);
}

/** Returns the words of a text as one mark, or "" if the name already has at least half of them. @param {string} text @param {string} name */
function otherWords(text, name) {
  if (text === "") return "";
  /** @param {string} s */
  const wordsOf = (s) => s.slice(0, MAX_BESIDE).toLowerCase().match(/[a-z0-9]+/g) || [];
  const words = wordsOf(text), known = new Set(wordsOf(name));
  if (words.filter((word) => !known.has(word)).length * 2 <= words.length) return "";
  let mark = "";
  for (const word of words) {
    if (mark.length + word.length >= MAX_WORDS) break;
    mark += (mark ? "-" : "") + word;
  }
  if (mark.length < MIN_WORDS) return "";
  return /^[a-z]/.test(mark) ? mark : "is-" + mark;
}

/** Returns the word for an element that may be an icon, or "". @param {El} el @param {string} tag */
function iconWord(el, tag) {
  if (hasNoAttributes(el)) return "";
  if (tag === "use") return asMark((attr(el, "href") || attr(el, "xlink:href") || "").split("#")[1] || "");
  for (const name of ["data-icon", "data-lucide", "data-feather", "icon"]) {
    const word = asMark((attr(el, name) || "").split(":").pop() || "");
    if (word) return word;
  }
  if (tag.endsWith("-icon")) {
    const word = asMark(attr(el, "name") || "");
    if (word) return word;
  }
  const test = /^(.+)Icon$/.exec(attr(el, "data-testid") || "");
  if (test) return asMark(test[1]);
  if (tag === "img" || tag === "image") return fileWord(attr(el, "src") || attr(el, "href") || attr(el, "xlink:href") || "");
  const ligature = LIGATURE.exec(attr(el, "aria-hidden") === "true" && !hasElements(el) ? safe.textContent(el) : "");
  if (ligature) return asMark(ligature[1]);
  const classes = (attr(el, "class") || "").split(/\s+/, 40);
  for (const form of [ICON_CLASS, ICON_AFTER]) {
    for (const token of classes) {
      const found = form.exec(token);
      const word = found ? asMark(found[1]) : "";
      if (word && !(form === ICON_AFTER && word.length < 3)) return word; // otherwise the prefix of a library
    }
  }
  return "";
}

/** Returns the word in the file name of a picture, or "". @param {string} src */
function fileWord(src) {
  if (!src || /^(?:data|blob|javascript):/i.test(src)) return "";
  const name = src.slice(0, 2000).split(/[?#]/)[0].split("/").pop() || "";
  return asMark(name.split(".")[0]);
}

/** Returns a name as one word of lowercase letters, digits and hyphens, or "" if it is not a word. @param {string} name */
function asMark(name) {
  let word = name.slice(0, 80).replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  word = word.replace(/^(?:icons?|ico?|svg|img|symbol|sprite)-/, "").replace(/-(?:icons?|ico|svg|img|\d+(?:px|x\d+)?|(?=[a-z]*\d)[0-9a-f]{6,})$/, "");
  if (word.length > MAX_MARK) word = word.slice(0, MAX_MARK + 1).replace(/-[^-]*$/, "").slice(0, MAX_MARK);
  if (!/^[a-z][a-z0-9-]*$/.test(word) || NO_ICON.test(word)) return "";
  const plain = word.replace(/-(?:button|btn)$/, "");
  if (plain !== word) {
    if (plain.length < 3) return ""; // the prefix of a library
    word = plain;
  }
  const digits = word.replace(/[^0-9]/g, "").length;
  return word.length < 2 || digits * 3 > word.length || !/[aeiouyx]/.test(word) ? "" : word;
}

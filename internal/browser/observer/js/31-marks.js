// @ts-check
// Marks: what a person sees of an element and its name and states do not say. The icon of an element
// without a name, by the word that its author gave the icon; and states that only classes tell.
// Marks are guesses, and never a part of a name.
//
// marksOf reads the element and what is in it, and keeps nothing. Refresh calls it.

/** How many marks an element has at most, and how many characters each. */
const MAX_MARKS = 4, MAX_MARK = 24;
/** How many descendants of an element may be its icon. */
const MAX_ICON_NODES = 12;

/** Classes of icon fonts and sprites, with the name of the icon behind. */
const ICON_CLASS = /^(?:fa[srlbd]?|bi|glyphicon|icons?|ic|ico|mdi|ti|ri|lucide|feather|octicon|codicon|las?|pi|ion|tabler-icon|bx[sl]?|uil|anticon|el-icon|pficon|icofont|i|sprite|svg)(?:--|__|[-_:])([a-z].*)$/i;
const ICON_AFTER = /^([a-z][a-z-]*?)(?:--|__|[-_])ico(?:n)?$/i;
/** Classes of elements that look like an icon: what the element does. */
const ACTION_CLASS = /(?:^|[-_])(close|delete|remove|edit|trash|search|menu|hamburger|settings|next|prev|previous|play|pause|share|like|favorite|more|add|download|upload|copy|refresh|expand|collapse|back|dismiss|clear)$/;
/** Words of icon classes that say how the icon looks. */
const NO_ICON = /^(?:x?[sml]|x[sl]s?|md|lg|xl|sm|\d+x?|\d*xl|fw|spin|pulse|solid|regular|light|thin|brands|duotone|inverse|stack.*|rotate.*|flip.*|border|pull.*|li|ul|icons?|wrapper|container|only|buttons?|btn|small|large|medium|size.*|left|right|start|end|white|black|primary|secondary|base|img|image|svg|inline|text|link|item|before|after|root|box|wrap|bg|color|font.*|colou?red)$/;

/** Classes that say a state, alone, as is-active or as a modifier; and some also behind other words. */
const STATE_CLASS = /^(?:is-|has-been-|.*--|.*__)?(active|selected|open|opened|closed|disabled|current|checked|expanded|collapsed|completed|done|highlighted|starred|favorited|liked|loading|error|invalid|unread|editing)$/;
const STATE_AFTER = /[-_](active|selected|disabled|current|checked|expanded)$/;
const OTHER_STATE = /^is-([a-z]{3,16})$/;
/** Modifiers that say how something looks or is laid out, or that change with the pointer. */
const NO_STATE = /^(?:hover(?:ed|ing)?|focus.*|animat.*|visible|mounted|ready|init.*|loaded|hydrated|interactive|clickable|link|button|primary|secondary|small|large|medium|normal|fullwidth|rounded|full|half|mobile|desktop|tablet|light|dark|info|success|danger|warning|white|black|bold|uppercase|relative|block|inline|fluid|fixed|sticky|touch|touched|dirty|pristine|valid|dragging|transition.*|horizontal|vertical|centered|left|right)$/;
/** A quick look at all classes. */
const MAY_BE_STATE = /active|select|open|clos|disabled|current|check|expand|collaps|complet|done|highlight|starred|favorited|liked|loading|error|invalid|unread|editing|(?:^|\s)is-/;
/** Words that deny the state behind them. */
const DENIED = /(?:^|[-_])(?:not?|un|non|if|when|on|can|to|set|toggle|hide|show|js|btn|with|auto|default)[-_][a-z]+$/;

/** Structural roles whose classes say something about what they hold. */
const MARKED_BOXES = new Set(["listitem", "row", "cell", "gridcell", "article"]);

/**
 * The marks of a described element, separated by spaces.
 * @param {Fields} fields @param {El} el @param {string} tag
 */
function marksOf(fields, el, tag) {
  const interactive = fields[F_KIND] === INTERACTIVE;
  if (!interactive && !MARKED_BOXES.has(fields[F_ROLE])) return "";
  if (MASKS !== null && isMasked(el)) return "";
  /** @type {string[]} */
  const marks = [];
  if (interactive && fields[F_TEXT] === "" && !FIELD_TAGS.has(tag)) {
    const icon = iconOf(el, tag);
    if (icon) marks.push(icon);
  }
  addStates(marks, el, fields[F_STATES]);
  if (interactive) {
    for (let n = el, up = 0; up < 2; up++) {
      const parent = safe.parentNode(n);
      if (!parent || !isElement(parent) || hasNoAttributes(parent) || !isOnlyChild(n, parent)) break;
      addStates(marks, parent, fields[F_STATES]);
      n = parent;
    }
  }
  return marks.join(" ");
}

/** Whether an element is all of its parent. @param {El} el @param {El} parent */
function isOnlyChild(el, parent) {
  return safe.firstElementChild(parent) === el && safe.nextElementSibling(el) === null && !hasOwnText(parent);
}

/**
 * Adds the states that the classes of an element say and its own states do not.
 * @param {string[]} marks @param {El} el @param {number} states
 */
function addStates(marks, el, states) {
  if (hasNoAttributes(el)) return;
  const current = attr(el, "aria-current");
  if (current && current !== "false") addMark(marks, "current");
  const classes = attr(el, "class");
  if (!classes || !MAY_BE_STATE.test(classes)) return;
  for (const token of classes.trim().split(/\s+/, 40)) {
    const state = stateOf(token);
    if (state && !isKnown(state, states)) addMark(marks, state);
  }
}

/** The state that a class says, or "". @param {string} token */
function stateOf(token) {
  if (token.length > 60 || /[:[\]/!]/.test(token) || DENIED.test(token)) return "";
  const found = STATE_CLASS.exec(token) || STATE_AFTER.exec(token);
  if (found) return found[1];
  const other = OTHER_STATE.exec(token);
  return other && !NO_STATE.test(other[1]) ? other[1] : "";
}

/** Whether the states of an element say what a class says. @param {string} state @param {number} states */
function isKnown(state, states) {
  /** @param {number} offset */
  const at = (offset) => (states >> offset) & 3;
  switch (state) {
    case "disabled":
      return at(S_DISABLED) === YES;
    case "active":
    case "selected":
    case "current":
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

/** The word for the icon of an element, or "". @param {El} el @param {string} tag */
function iconOf(el, tag) {
  const own = iconWord(el, tag);
  if (own) return own;
  const root = shadowOf(el);
  const inner = root ? root.querySelectorAll("*") : queryWithin(el, "*");
  for (let i = 0; i < inner.length && i < MAX_ICON_NODES; i++) {
    const word = iconWord(inner[i], tagOf(inner[i]));
    if (word) return word;
  }
  const drawn = /url\("([^"]*)"\)/.exec(getComputedStyle(el).backgroundImage);
  if (drawn) return fileWord(drawn[1]);
  for (const token of (attr(el, "class") || "").split(/\s+/, 40)) {
    const action = ACTION_CLASS.exec(token);
    if (action) return action[1];
  }
  return "";
}

/** The word for an element that may be an icon, or "". @param {El} el @param {string} tag */
function iconWord(el, tag) {
  if (hasNoAttributes(el)) return "";
  if (tag === "use") return asMark((attr(el, "href") || attr(el, "xlink:href") || "").split("#")[1] || "");
  for (const name of ["data-icon", "data-lucide", "data-feather", "icon"]) {
    const word = asMark((attr(el, name) || "").split(":").pop() || "");
    if (word) return word;
  }
  const test = /^(.+)Icon$/.exec(attr(el, "data-testid") || "");
  if (test) return asMark(test[1]);
  if (tag === "img" || tag === "image") return fileWord(attr(el, "src") || attr(el, "href") || attr(el, "xlink:href") || "");
  for (const token of (attr(el, "class") || "").split(/\s+/, 40)) {
    const found = ICON_CLASS.exec(token) || ICON_AFTER.exec(token);
    const word = found ? asMark(found[1]) : "";
    if (word) return word;
  }
  return "";
}

/** The word in the file name of a picture, or "". @param {string} src */
function fileWord(src) {
  if (!src || /^(?:data|blob|javascript):/i.test(src)) return "";
  const name = src.slice(0, 2000).split(/[?#]/)[0].split("/").pop() || "";
  return asMark(name.split(".")[0]);
}

/** A name as one word of small letters, digits and hyphens; "" if it is not a word. @param {string} name */
function asMark(name) {
  let word = name.slice(0, 80).replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  word = word.replace(/^(?:icons?|ico?|svg|img|symbol|sprite)-/, "").replace(/-(?:icons?|ico|svg|img|\d+(?:px|x\d+)?|(?=[a-z]*\d)[0-9a-f]{6,})$/, "");
  if (word.length > MAX_MARK) word = word.slice(0, MAX_MARK + 1).replace(/-[^-]*$/, "").slice(0, MAX_MARK);
  if (!/^[a-z][a-z0-9-]*$/.test(word) || NO_ICON.test(word)) return "";
  const digits = word.replace(/[^0-9]/g, "").length;
  return word.length < 2 || digits * 3 > word.length || !/[aeiouyx]/.test(word) ? "" : word;
}

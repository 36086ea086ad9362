// @ts-check
// Variants: differences between an element and its siblings that only classes and inline styles show, such as the chip that is
// "on" among chips or the day that is blue among days. Pages draw states in this way without any attribute for them.
//
// Siblings show which classes are states: a class that the chosen chip has and that an otherwise equal chip lacks. A class that
// all have, or that marks another kind of control, is not a state. Variants compares only attributes and measures nothing.
// marksOf uses it, and Refresh describes the other elements of a group again when one of them changes.

/** The maximum numbers of compared children of an element, of different kinds among them, and of additional words of one kind. */
const MAX_BESIDE_IT = 128, MAX_VARIANTS = 12, MAX_EXTRA = 3;
/** The maximum number of characters of classes and styles that are compared. Longer ones express no state. */
const MAX_WRITTEN = 2000;
/** Classes that describe layout or position, in addition to NO_STATE and NO_WORD. */
const NO_VARIANT = /^(?:first|last|odd|even|left|right|top|middle|center|start|end|next|prev|previous|new|old|flex|grow|shrink|truncate|italic|underline|capitalize|lowercase|border|ring|outline|group|peer|static|absolute|isolate|contents|table|filter|blur|invert|resize|main|sub|alt|wide|narrow|tall|thin|big|tiny|fade|show|shown|in|out|anim|hover|collapse|ng|css|js|jsx|sc|ripple|wave|btn|chip|tag|badge|icon|tab|pill|day|link|text|label|title|name|image|img|pic|photo|thumb|has-[a-z-]+|with-[a-z-]+|no-[a-z-]+)$/;
/**
 * Words that always count as a state when they distinguish an element. No other words count for links and their wrappers, and among fewer
 * than three elements.
 */
const VARIANT_STATES =
  "on|off|sel|cur|act|active|selected|current|chosen|picked|pressed|toggled|marked|checked|crossed|done|completed|taken|booked|reserved|sold|occupied|unavailable|locked|muted|pinned|flagged|today|correct|incorrect|wrong|matched|solved|found|won|lost|lit|filled|open|closed|disabled|liked|starred|unread|error|invalid|playing|paused|online|offline";
const VARIANT_STATE = new RegExp("^(?:" + VARIANT_STATES + ")$"), HAS_VARIANT_STATE = new RegExp("(?:^|[\\s_-])(?:" + VARIANT_STATES + ")(?:[\\s_-]|$)|(?:^|\\s)bg-");
/** The class of a utility framework that sets the color of the background. */
const TINT = /^bg-[a-z]{3,12}(?:-\d{2,3})?$/;
/** The maximum number of cached results of isStateClass. */
const MAX_CLASSES = 5000;
/** The declarations of a style that draw a state. */
const DRAWN_STATE = /(?:^|;)\s*(background(?:-color)?|color)\s*:\s*([^;]{1,40})/g;

/**
 * The children of an element, compared by the attributes that style them. kinds has the words of each kind; it is empty if all children with
 * the same tag are styled alike. usual is the kind of more than half of the children, if any. known caches the words of
 * elements by their attributes.
 * @typedef {{clock: number, kinds: Map<string, {tag: string, words: Set<string>, count: number}>, usual: string, signature: string,
 *   known: Map<string, string>}} Alike
 */

class Variants {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Expando<Alike>} */
    this.groups = new Expando();
    /** The elements whose children may have changed their kinds, with the former signature of the group. @type {Map<El, string>} */
    this.due = new Map();
    /** Whether an element may match MARKED_TABLES. A full scan checks this once, not for each element. */
    this.tables = true;
    /** The results of isStateClass, by class attribute. @type {Map<string, boolean>} */
    this.stateClasses = new Map();
  }

  /**
   * Returns the word that distinguishes an element from its siblings, or "".
   * @param {El} el @param {string} tag @param {boolean} link whether the element is a link or the wrapper of one
   */
  of(el, tag, link) {
    if (hasNoAttributes(el) || FIELD_TAGS.has(tag) || !this.mayVary(el, link)) return "";
    const parent = safe.parentNode(el);
    if (!parent || !isElement(parent)) return "";
    const group = this.groupOf(parent);
    if (group.kinds.size < 2) return ""; // nothing to differ from
    const written = writtenAs(el, tag);
    if (written === "") return "";
    const key = link ? written + "\nlink" : written;
    const known = group.known.get(key);
    if (known !== undefined) return known;
    const word = this.wordIn(group, el, tag, link);
    if (group.known.size < MAX_BESIDE_IT) group.known.set(key, word);
    return word;
  }

  /** Whether the classes or the style of an element can distinguish it at all. @param {El} el @param {boolean} link */
  mayVary(el, link) {
    const classes = attr(el, "class"), style = attr(el, "style");
    if (style !== null && style.includes("background")) return true;
    return classes !== null && classes !== "" && (!link || this.isStateClass(classes));
  }

  /** Whether a class attribute may contain a word that counts for links. @param {string} classes */
  isStateClass(classes) {
    if (classes.length > MAX_WRITTEN) return false;
    let may = this.stateClasses.get(classes);
    if (may === undefined) {
      may = HAS_VARIANT_STATE.test(classes);
      if (this.stateClasses.size < MAX_CLASSES) this.stateClasses.set(classes, may);
    }
    return may;
  }

  /** @param {Alike} group @param {El} el @param {string} tag @param {boolean} link */
  wordIn(group, el, tag, link) {
    const own = drawnAs(el, tag), mine = group.kinds.get(own);
    if (own === tag || !mine || group.kinds.size > MAX_VARIANTS) return "";
    let more = MAX_EXTRA + 1, word = "", others = 0, beside = mine.count;
    for (const [key, kind] of group.kinds) {
      if (key === own || kind.tag !== tag) continue;
      others++;
      beside += kind.count;
      const extra = missingIn(kind.words, mine.words);
      if (extra.length === 0 || extra.length >= more || extra.length !== mine.words.size - kind.words.size) continue;
      more = extra.length;
      word = firstWord(extra, kind.words);
    }
    if (word) return VARIANT_STATE.test(word) || (!link && beside > 2) ? word : "";
    const usual = others === 1 && group.usual !== own ? group.kinds.get(group.usual) : undefined;
    return usual ? colorOf(el, missingIn(usual.words, mine.words)) : "";
  }

  /** @param {El} parent */
  groupOf(parent) {
    const { clock } = this.model.identity;
    let group = this.groups.get(parent);
    if (!group || group.clock !== clock) {
      group = alikeIn(parent, clock);
      this.groups.set(parent, group);
    }
    return group;
  }

  /** Records that the children of an element, or the style of one of them, changed. @param {DomNode | null} parent */
  markChanged(parent) {
    const group = parent && isElement(parent) && this.groups.get(parent);
    if (group && !this.due.has(parent)) this.due.set(parent, group.signature);
  }

  /** Marks the elements of each group whose kinds have changed, so that they are described again. */
  refresh() {
    const { changes, records } = this.model;
    for (const [parent, before] of this.due) {
      if (this.groupOf(parent).signature === before) continue;
      let left = MAX_BESIDE_IT;
      for (let c = safe.firstElementChild(parent); c && left > 0; c = safe.nextElementSibling(c), left--) {
        for (let /** @type {El | null} */ n = c, down = 0; n && down <= 2; n = safe.firstElementChild(n), down++) {
          const rec = records.get(n);
          if (rec) changes.dirty.add(rec);
        }
      }
    }
    this.due.clear();
  }
}

/** @param {El} parent @param {number} clock @returns {Alike} */
function alikeIn(parent, clock) {
  /** @type {Alike["kinds"]} */
  const kinds = new Map();
  if (!differAmong(parent)) return { clock, kinds, usual: "", known: new Map(), signature: "" };
  let seen = 0, usual = "";
  /** The kinds by the attributes, as written. @type {Map<string, {tag: string, words: Set<string>, count: number} | null>} */
  const byWritten = new Map();
  for (let c = safe.firstElementChild(parent); c && seen < MAX_BESIDE_IT; c = safe.nextElementSibling(c), seen++) {
    const tag = tagOf(c), written = writtenAs(c, tag);
    let kind = written === "" ? undefined : byWritten.get(written);
    if (kind === undefined) {
      const key = drawnAs(c, tag);
      kind = kinds.get(key) || null;
      if (!kind && kinds.size <= MAX_VARIANTS) kinds.set(key, (kind = { tag, words: new Set(key.split(" ").slice(1)), count: 0 }));
      byWritten.set(written, kind);
    }
    if (kind) kind.count++;
  }
  for (const [key, kind] of kinds) if (kind.count * 2 > seen) usual = key;
  return { clock, kinds, usual, known: new Map(), signature: [...kinds.keys()].sort().join("\n") + "\n\n" + usual };
}

/** Whether two children of an element with the same tag are styled by different attributes. @param {El} parent */
function differAmong(parent) {
  const first = safe.firstElementChild(parent);
  if (first === null || safe.nextElementSibling(first) === null) return false;
  /** The first child with each tag. @type {Map<string, El>} */
  const firsts = new Map();
  let left = MAX_BESIDE_IT, last = first, classes = attr(first, "class"), style = attr(first, "style");
  firsts.set(first.localName, first);
  for (let c = safe.nextElementSibling(first); c && left > 0; c = safe.nextElementSibling(c), left--) {
    if (c.localName !== last.localName) {
      const before = firsts.get(c.localName);
      last = before || c;
      if (!before) firsts.set(c.localName, c);
      classes = attr(last, "class");
      style = attr(last, "style");
      if (!before) continue;
    }
    if (attr(c, "class") !== classes || attr(c, "style") !== style) return true;
  }
  return false;
}

/** Returns the styling attributes of an element unchanged, or "" if it has none or they are too long. @param {El} el @param {string} tag */
function writtenAs(el, tag) {
  const classes = attr(el, "class") || "", style = attr(el, "style") || "";
  return (classes === "" && style === "") || classes.length + style.length > MAX_WRITTEN ? "" : tag + "\n" + classes + "\n" + style;
}

/** Returns the tag of an element, its classes, and the drawn part of its style. @param {El} el @param {string} tag */
function drawnAs(el, tag) {
  if (hasNoAttributes(el)) return tag;
  const classes = attr(el, "class"), style = attr(el, "style");
  const words = classes && classes.length < 1000 ? new Set(classes.trim().split(/\s+/)) : new Set();
  words.delete("");
  if (style && style.length < 1000) {
    for (const [, name, value] of style.matchAll(DRAWN_STATE)) words.add(name + ":" + value.trim().replace(/\s+/g, ""));
  }
  return words.size ? tag + " " + [...words].sort().join(" ") : tag;
}

/** Returns the words that others do not have. @param {Set<string>} others @param {Set<string>} words */
function missingIn(others, words) {
  return [...words].filter((word) => !others.has(word));
}

/** Returns the first state word among the classes, or "". @param {string[]} classes @param {Set<string>} base what the others have, too */
function firstWord(classes, base) {
  for (const one of classes) {
    const word = variantWord(one, base);
    if (word) return word;
  }
  return "";
}

/**
 * Returns the word in a class that may be a variant: the whole class, or the part after the name of the block.
 * @param {string} token @param {Set<string>} base
 */
function variantWord(token, base) {
  if (token.length > 60 || /[:[\]/!]/.test(token) || DENIED.test(token)) return "";
  const modifier = /(?:--|__|_)([a-z]{2,20})(?:_[\w-]{4,}|-\d+(?:-\d+)*)?$/.exec(token.replace(/^_/, "x_"));
  const block = /^(.+)[-_]([a-z]{2,20})$/.exec(token);
  const word = /^[a-z]{2,20}$/.test(token) ? token : modifier ? modifier[1] : block && base.has(block[1]) ? block[2] : "";
  return NO_STATE.test(word) || NO_WORD.test(word) && !MAY_BE_STATE.test(word) || NO_VARIANT.test(word) ? "" : word;
}

/**
 * Returns the color that distinguishes an element from its siblings, from its classes or its style; "" for none.
 * @param {El} el @param {string[]} words
 */
function colorOf(el, words) {
  for (const word of words) {
    if (TINT.test(word)) return word;
    if (!word.startsWith("background")) continue;
    const value = el.style.backgroundColor;
    const color = /^[a-z]{3,20}$/.test(value) ? value : hueOf(value);
    if (color && color !== "transparent" && color !== "inherit") return color + "-background";
  }
  return "";
}

/**
 * Returns the plain word for a color in rgb() notation, or "" for none. It names the hue, because people distinguish hues, not shades.
 * @param {string} color
 */
function hueOf(color) {
  const rgb = rgbOf(color);
  if (!rgb) return "";
  const most = Math.max(...rgb);
  if (most - Math.min(...rgb) < 25) return most < 60 ? "black" : most > 230 ? "white" : "gray";
  return hueWord(rgb);
}

/** Returns the plain word for the hue of a color that is not gray. @param {number[]} rgb */
function hueWord([r, g, b]) {
  const most = Math.max(r, g, b), range = most - Math.min(r, g, b);
  const at = most === r ? ((g - b) / range + 6) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
  return ["red", "orange", "yellow", "green", "green", "cyan", "cyan", "blue", "blue", "purple", "magenta", "red"][Math.floor(at * 2 + 0.5) % 12];
}

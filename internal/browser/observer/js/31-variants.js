// @ts-check
// Variants: what classes and inline styles alone tell one element from those beside it: the chip that is "on" among chips, the day
// that is blue among days. Pages draw states so, and say them in no attribute.
//
// The elements beside it say what is a state: the class that the chosen chip has and another chip has not, where all else is the
// same. A class that all have, or that stands for another kind of control, says nothing. Variants compares the attributes alone,
// nothing is measured; marksOf asks, and Refresh has the others of a group described again when one of them changes.

/** How many children of an element are compared, how many different kinds of them there may be, and how many words one has more. */
const MAX_BESIDE_IT = 128, MAX_VARIANTS = 12, MAX_EXTRA = 3;
/** How many characters of classes and styles are compared; who writes more draws no state with them. */
const MAX_WRITTEN = 2000;
/** Classes that say how something is laid out or which place it has, besides NO_STATE and NO_WORD. */
const NO_VARIANT = /^(?:first|last|odd|even|left|right|top|middle|center|start|end|next|prev|previous|new|old|flex|grow|shrink|truncate|italic|underline|capitalize|lowercase|border|ring|outline|group|peer|static|absolute|isolate|contents|table|filter|blur|invert|resize|main|sub|alt|wide|narrow|tall|thin|big|tiny|fade|show|shown|in|out|anim|hover|collapse|ng|css|js|jsx|sc|ripple|wave|btn|chip|tag|badge|icon|tab|pill|day|link|text|label|title|name|image|img|pic|photo|thumb|has-[a-z-]+|with-[a-z-]+|no-[a-z-]+)$/;
/** Words that say a state wherever they tell one element from another: of links, and of fewer than three elements, no others count. */
const VARIANT_STATE = /^(?:on|off|sel|cur|act|active|selected|current|chosen|picked|pressed|toggled|marked|checked|crossed|done|completed|taken|booked|reserved|sold|occupied|unavailable|locked|muted|pinned|flagged|today|correct|incorrect|wrong|matched|solved|found|won|lost|lit|filled|open|closed|disabled|liked|starred|unread|error|invalid|playing|paused|online|offline)$/;
/** The declarations of a style that are drawn as a state. */
const DRAWN_STATE = /(?:^|;)\s*(background(?:-color)?|color)\s*:\s*([^;]{1,40})/g;

/**
 * The children of an element by what their attributes say of how they are drawn: kinds has the words of each kind, usual the one
 * that more than half of them have, if any. known has the words of those that were asked for, by what is written in their attributes.
 * @typedef {{clock: number, kinds: Map<string, {tag: string, words: Set<string>, count: number}>, usual: string, signature: string,
 *   known: Map<string, string>}} Alike
 */

class Variants {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Expando<Alike>} */
    this.groups = new Expando();
    /** The elements whose children may be of other kinds now, with what their group was. @type {Map<El, string>} */
    this.due = new Map();
  }

  /** The word for what tells an element from those beside it, or "". @param {El} el @param {string} tag */
  of(el, tag) {
    const parent = safe.parentNode(el);
    if (!parent || !isElement(parent) || hasNoAttributes(el) || FIELD_TAGS.has(tag)) return "";
    const written = writtenAs(el, tag);
    if (written === "") return "";
    const group = this.groupOf(parent);
    const known = group.known.get(written);
    if (known !== undefined) return known;
    const word = this.wordIn(group, el, tag);
    if (group.known.size < MAX_BESIDE_IT) group.known.set(written, word);
    return word;
  }

  /** @param {Alike} group @param {El} el @param {string} tag */
  wordIn(group, el, tag) {
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
    if (word) return VARIANT_STATE.test(word) || (tag !== "a" && beside > 2) ? word : "";
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

  /** The children of an element, or how one of them is drawn, changed. @param {DomNode | null} parent */
  note(parent) {
    const group = parent && isElement(parent) && this.groups.get(parent);
    if (group && !this.due.has(parent)) this.due.set(parent, group.signature);
  }

  /** Has those described again whose group has other kinds now. */
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
  let seen = 0, usual = "";
  for (let c = safe.firstElementChild(parent); c && seen < MAX_BESIDE_IT; c = safe.nextElementSibling(c)) {
    seen++;
    const tag = tagOf(c), key = drawnAs(c, tag), kind = kinds.get(key);
    if (kind) kind.count++;
    else if (kinds.size <= MAX_VARIANTS) kinds.set(key, { tag, words: new Set(key.split(" ").slice(1)), count: 1 });
  }
  for (const [key, kind] of kinds) if (kind.count * 2 > seen) usual = key;
  return { clock, kinds, usual, known: new Map(), signature: [...kinds.keys()].sort().join("\n") + "\n\n" + usual };
}

/** What the attributes of an element say of how it is drawn, as they are; "" for nothing. @param {El} el @param {string} tag */
function writtenAs(el, tag) {
  const classes = attr(el, "class") || "", style = attr(el, "style") || "";
  return (classes === "" && style === "") || classes.length + style.length > MAX_WRITTEN ? "" : tag + "\n" + classes + "\n" + style;
}

/** The tag of an element, its classes, and the drawn part of its style. @param {El} el @param {string} tag */
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

/** The words that others have not. @param {Set<string>} others @param {Set<string>} words */
function missingIn(others, words) {
  return [...words].filter((word) => !others.has(word));
}

/** The first of the classes that is the word of a state, or "". @param {string[]} classes @param {Set<string>} base what the others have, too */
function firstWord(classes, base) {
  for (const one of classes) {
    const word = variantWord(one, base);
    if (word) return word;
  }
  return "";
}

/** The word of a class that tells a variant: a word alone, or behind the name of the block. @param {string} token @param {Set<string>} base */
function variantWord(token, base) {
  if (token.length > 60 || /[:[\]/!]/.test(token) || DENIED.test(token)) return "";
  const modifier = /(?:--|__|_)([a-z]{2,20})(?:_[\w-]{4,}|-\d+(?:-\d+)*)?$/.exec(token.replace(/^_/, "x_"));
  const block = /^(.+)[-_]([a-z]{2,20})$/.exec(token);
  const word = /^[a-z]{2,20}$/.test(token) ? token : modifier ? modifier[1] : block && base.has(block[1]) ? block[2] : "";
  return NO_STATE.test(word) || NO_WORD.test(word) && !MAY_BE_STATE.test(word) || NO_VARIANT.test(word) ? "" : word;
}

/** The color that tells an element from those beside it, as its classes or its style say it; "" for none. @param {El} el @param {string[]} words */
function colorOf(el, words) {
  for (const word of words) {
    if (/^bg-[a-z]{3,12}(?:-\d{2,3})?$/.test(word)) return word;
    if (!word.startsWith("background")) continue;
    const value = el.style.backgroundColor;
    const color = /^[a-z]{3,20}$/.test(value) ? value : hueOf(value);
    if (color && color !== "transparent" && color !== "inherit") return color + "-background";
  }
  return "";
}

/** The plain word for a color, as rgb() writes it: people tell hues, not shades; "" for none. @param {string} color */
function hueOf(color) {
  const rgb = rgbOf(color);
  if (!rgb) return "";
  const most = Math.max(...rgb);
  if (most - Math.min(...rgb) < 25) return most < 60 ? "black" : most > 230 ? "white" : "gray";
  return hueWord(rgb);
}

/** The plain word for the hue of a color that is not gray. @param {number[]} rgb */
function hueWord([r, g, b]) {
  const most = Math.max(r, g, b), range = most - Math.min(r, g, b);
  const at = most === r ? ((g - b) / range + 6) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
  return ["red", "orange", "yellow", "green", "green", "cyan", "cyan", "blue", "blue", "purple", "magenta", "red"][Math.floor(at * 2 + 0.5) % 12];
}

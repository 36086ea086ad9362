// @ts-check
// CSS counters: the numbers that a page draws before or behind an element, such as "3." before a step, by CSS Lists 3.
//
// The computed style of a pseudo-element has the name of a counter, not its value. So Counters follows, in document order, the
// elements that the rules of counters and of generated text match, and keeps what each counter is at these texts. That is done
// once in a task, and only when such a text is read. A document with too many of them, or with shadow trees, has no numbers.

/** How many elements are followed. */
const MAX_COUNTED = 3000;
/** How many names are described again when something changes. */
const MAX_NUMBERED = 500;
/** A string, or a counter, in a value of content. */
const CONTENT_PARTS = /"((?:[^"\\]|\\.)*)"|\bcounter\(([-\w]+)(?:, ([-\w]+))?\)|\bcounters\(([-\w]+), "((?:[^"\\]|\\.)*)"(?:, ([-\w]+))?\)/g;
/** @type {[number, string][]} */
const ROMAN = [[1000, "m"], [900, "cm"], [500, "d"], [400, "cd"], [100, "c"], [90, "xc"], [50, "l"], [40, "xl"], [10, "x"], [9, "ix"], [5, "v"], [4, "iv"], [1, "i"]];

/** One counter: its value, and the element in which it counts. @typedef {{name: string, value: number, within: Node | null}} Counter */

class Counters {
  /** @param {Generated} generated */
  constructor(generated) {
    this.generated = generated;
    /** What the counters are at each text; null: not read in this task. @type {Map<El, Record<string, Counter[]>> | null} */
    this.at = null;
    /** The elements whose names have numbers in them. @type {Set<El>} */
    this.numbered = new Set();
    /** Matches the elements that count, for the rules that there were then. */
    this.selector = "";
    this.rules = -1;
  }

  /**
   * The text of a value of content with counters in it; "" when one of them is not known.
   * @param {El} el @param {string} pseudo @param {string} content
   */
  textOf(el, pseudo, content) {
    if (this.at === null) {
      this.at = this.follow();
      queueMicrotask(() => (this.at = null));
    }
    const known = this.at.get(el);
    const counters = known && known[pseudo];
    if (!counters) return "";
    let text = "";
    for (const [, quoted, one, style, all, between, styleOfAll] of content.matchAll(CONTENT_PARTS)) {
      if (quoted !== undefined) {
        text += quoted.replace(/\\(.)/g, "$1");
        continue;
      }
      const values = counters.filter((counter) => counter.name === (one || all)).map((counter) => counter.value);
      if (values.length === 0) values.push(0);
      const words = (one ? values.slice(-1) : values).map((value) => counterText(value, (one ? style : styleOfAll) || "decimal"));
      if (words.includes("")) return "";
      text += words.join(between === undefined ? "" : between.replace(/\\(.)/g, "$1"));
    }
    return text;
  }

  /** Follows the counters through the document. @returns {Map<El, Record<string, Counter[]>>} */
  follow() {
    const at = new Map();
    const selector = this.generated.inShadows ? null : this.matching(document);
    if (!selector) return at;
    const elements = safe.querySelectorAll(document, selector);
    if (elements.length > MAX_COUNTED) return at;
    /** @type {Counter[]} */
    let counters = [];
    for (const el of elements) {
      if (!safe.checkVisibility(el)) continue; // what is not displayed does not count
      counters = counters.filter((counter) => counter.within === null || safe.contains(counter.within, el));
      const around = safe.parentNode(el);
      count(counters, getComputedStyle(el), around);
      /** @type {Record<string, Counter[]>} */
      const own = {};
      for (const pseudo of ["::before", "::after"]) {
        const style = getComputedStyle(el, pseudo);
        if (style.content === "none" || style.content === "normal") continue;
        if (pseudo === "::after" && hasElements(el)) { // it comes behind what is in the element, which is followed later
          if (doesCount(style)) return new Map();
          continue;
        }
        count(counters, style, el);
        if (/\bcounters?\(/.test(style.content)) own[pseudo] = counters.map((counter) => ({ ...counter }));
      }
      at.set(el, own);
    }
    return at;
  }

  /** The elements of a document that count or may have text generated; null: any may. @param {Document} doc */
  matching(doc) {
    const { generated } = this;
    if (generated.selector === null) return null;
    if (this.rules === generated.rules) return this.selector + "," + generated.selector;
    /** @type {Set<string>} */
    const selectors = new Set(['[style*="counter-"]']);
    for (const sheet of [...safe.styleSheets(doc), ...safe.adoptedStyleSheets(doc)]) {
      if (!addSelectors(selectors, sheet, setsCounters)) return null;
    }
    this.rules = generated.rules;
    this.selector = [...selectors].join(",");
    return this.selector + "," + generated.selector;
  }

  /** A name that is being computed has a number in it. @param {El | null} el */
  note(el) {
    if (el && this.numbered.size < MAX_NUMBERED) this.numbered.add(el);
  }
}

/**
 * Does what a style says with counters.
 * @param {Counter[]} counters those that are in scope, the innermost of a name last @param {CSSStyleDeclaration} style
 * @param {Node | null} within the parent of the element or pseudo-element
 */
function count(counters, style, within) {
  for (const [name, value] of countersOf(style.counterReset, 0)) {
    const sibling = counters.findIndex((counter) => counter.name === name && counter.within === within);
    if (sibling >= 0) counters.splice(sibling, 1);
    counters.push({ name, value, within });
  }
  for (const [name, by] of countersOf(style.counterIncrement, 1)) counterNamed(counters, name, within).value += by;
  for (const [name, value] of countersOf(style.counterSet, 0)) counterNamed(counters, name, within).value = value;
}

/** Whether a rule says something about counters. @param {CSSStyleDeclaration} style */
function setsCounters(style) {
  return style.counterReset !== "" || style.counterIncrement !== "" || style.counterSet !== "";
}

/** Whether a computed style changes a counter. @param {CSSStyleDeclaration} style */
function doesCount({ counterReset, counterIncrement, counterSet }) {
  return [counterReset, counterIncrement, counterSet].some((value) => countersOf(value, 0).length > 0);
}

/** The innermost counter of a name, a new one if there is none. @param {Counter[]} counters @param {string} name @param {Node | null} within */
function counterNamed(counters, name, within) {
  const last = counters.findLast((counter) => counter.name === name);
  if (last) return last;
  const fresh = { name, value: 0, within };
  counters.push(fresh);
  return fresh;
}

/** The names and numbers in the value of a property. @param {string} value @param {number} otherwise @returns {[string, number][]} */
function countersOf(value, otherwise) {
  if (!value || value === "none") return [];
  return [...value.matchAll(/([-\w]*[a-zA-Z_][-\w]*)(?: (-?\d+))?/g)].map(([, name, number]) => [name, number === undefined ? otherwise : Number(number)]);
}

/** A value in a counter style; "" in one that is not known. @param {number} value @param {string} style */
function counterText(value, style) {
  switch (style) {
    case "decimal":
      return String(value);
    case "decimal-leading-zero":
      return (value < 0 ? "-" : "") + String(Math.abs(value)).padStart(2, "0");
    case "lower-alpha":
    case "lower-latin":
      return value > 0 ? lettersFor(value) : String(value);
    case "upper-alpha":
    case "upper-latin":
      return value > 0 ? lettersFor(value).toUpperCase() : String(value);
    case "lower-roman":
      return romanFor(value);
    case "upper-roman":
      return romanFor(value).toUpperCase();
  }
  return "";
}

/** a to z, aa to zz, and so on. @param {number} value */
function lettersFor(value) {
  let letters = "";
  for (let n = value; n > 0; n = Math.floor((n - 1) / 26)) letters = String.fromCharCode(97 + ((n - 1) % 26)) + letters;
  return letters;
}

/** @param {number} value */
function romanFor(value) {
  if (value < 1 || value > 3999) return String(value);
  let letters = "";
  for (const [unit, letter] of ROMAN) {
    for (; value >= unit; value -= unit) letters += letter;
  }
  return letters;
}

// @ts-check
// CSS counters (CSS Lists 3): the numbers that a page draws before or after an element, such as "3." before a step.
//
// The computed style of a pseudo-element has the name of a counter, not its value. So Counters follows, in document order, the
// elements that the rules for counters and generated text match, and keeps the counters at each generated text. It does so
// once in a task, and only if such a text is read. If a document has too many such elements, or has shadow trees, its numbers
// are not reported.

/** The maximum number of elements that are followed. */
const MAX_COUNTED = 3000;
/** The maximum number of names that are described again after a change. */
const MAX_NUMBERED = 500;
/** Matches a string or a counter in a value of content. */
const CONTENT_PARTS = /"((?:[^"\\]|\\.)*)"|\bcounter\(([-\w]+)(?:, ([-\w]+))?\)|\bcounters\(([-\w]+), "((?:[^"\\]|\\.)*)"(?:, ([-\w]+))?\)/g;
/** @type {[number, string][]} */
const ROMAN = [[1000, "m"], [900, "cm"], [500, "d"], [400, "cd"], [100, "c"], [90, "xc"], [50, "l"], [40, "xl"], [10, "x"], [9, "ix"], [5, "v"], [4, "iv"], [1, "i"]];

/** One counter: its value, and the element in which it counts. @typedef {{name: string, value: number, within: Node | null}} Counter */

class Counters {
  /** @param {Generated} generated */
  constructor(generated) {
    this.generated = generated;
    /** The counters at each generated text. Null if not read in this task. @type {Map<El, Record<string, Counter[]>> | null} */
    this.at = null;
    /** The elements whose names contain numbers. @type {Set<El>} */
    this.numbered = new Set();
    /** Matches the elements that count, for the number of rules in this.rules. */
    this.selector = "";
    this.rules = -1;
  }

  /**
   * Returns the text of a content value that has counters in it, or "" if one of them is unknown.
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
      if (!safe.checkVisibility(el)) continue; // an element that is not displayed does not count
      counters = counters.filter((counter) => counter.within === null || safe.contains(counter.within, el));
      const around = safe.parentNode(el);
      count(counters, getComputedStyle(el), around);
      /** @type {Record<string, Counter[]>} */
      const own = {};
      for (const pseudo of ["::before", "::after"]) {
        const style = getComputedStyle(el, pseudo);
        if (style.content === "none" || style.content === "normal") continue;
        if (pseudo === "::after" && hasElements(el)) { // ::after comes after the children, which are followed later
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

  /** Returns a selector for the elements that count or may have generated text. Null if any element may. @param {Document} doc */
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

  /** Records that the name in computation contains a number. @param {El | null} el */
  markNumbered(el) {
    if (el && this.numbered.size < MAX_NUMBERED) this.numbered.add(el);
  }
}

/**
 * Applies the counter properties of a style.
 * @param {Counter[]} counters the counters in scope, the innermost of a name last @param {CSSStyleDeclaration} style
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

/** Whether a rule sets a counter property. @param {CSSStyleDeclaration} style */
function setsCounters(style) {
  return style.counterReset !== "" || style.counterIncrement !== "" || style.counterSet !== "";
}

/** Whether a computed style changes a counter. @param {CSSStyleDeclaration} style */
function doesCount({ counterReset, counterIncrement, counterSet }) {
  return [counterReset, counterIncrement, counterSet].some((value) => countersOf(value, 0).length > 0);
}

/**
 * Returns the innermost counter with a name, adding one if there is none.
 * @param {Counter[]} counters @param {string} name @param {Node | null} within
 */
function counterNamed(counters, name, within) {
  const last = counters.findLast((counter) => counter.name === name);
  if (last) return last;
  const fresh = { name, value: 0, within };
  counters.push(fresh);
  return fresh;
}

/** Returns the names and numbers in the value of a property. @param {string} value @param {number} otherwise @returns {[string, number][]} */
function countersOf(value, otherwise) {
  if (!value || value === "none") return [];
  return [...value.matchAll(/([-\w]*[a-zA-Z_][-\w]*)(?: (-?\d+))?/g)].map(([, name, number]) => [name, number === undefined ? otherwise : Number(number)]);
}

/** Formats a value in a counter style. Empty if the style is unknown. @param {number} value @param {string} style */
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

/** Formats a value as a to z, aa to zz, and so on. @param {number} value */
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

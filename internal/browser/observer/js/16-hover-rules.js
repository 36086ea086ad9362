// @ts-check
// Rules that show elements while the pointer is over another one: "li:hover > ul { display: block }".
//
// A HoverSelector is a parsed selector with :hover in it. It finds the element that the pointer
// must be over for another element to match. HoverRules holds the hover rules of one tree, and the
// rules that hide elements, because a hiding rule may be stronger. 15-styles.js records which rules
// of a sheet have :hover; the rest is read only in documents with such rules. OnHover uses
// HoverRules.

/** The ways in which a rule can hide or show an element, as bits. */
const BY_DISPLAY = 1, BY_VISIBILITY = 2, BY_OPACITY = 4;
/** The rule lets an element receive clicks. */
const BY_POINTER = 8;

const HOVER = /(?<!\\):hover(?![\w-])/, EACH_HOVER = /(?<!\\):hover(?![\w-])/g;
const EACH_NOT_HOVER = /(?<!\\):not\(:hover\)/g;
/** A selector that every element matches and that may be appended to another selector. */
const ANY = ":not(:not(*))";
/**
 * Matches selectors that are not examined: selectors of pseudo-elements, which cannot be acted on; selectors that depend on
 * other trees; and selectors that depend on a hovered descendant.
 */
const NO_HOVER_SUBJECT = /::|:host-context|:has\([^)]*:hover/;
/** The maximum numbers of showing and of hiding rules that are examined in a tree. */
const MAX_HOVER_RULES = 300, MAX_HIDING_RULES = 3000;
/** The maximum number of preceding siblings that are examined. */
const MAX_SIBLINGS_BEFORE = 256;

/** @param {string} selector */
function withoutHover(selector) {
  return selector.replace(EACH_HOVER, ANY);
}

/** Whether an element matches a selector. An invalid selector matches none. @param {El} el @param {string} selector */
function matchesSelector(el, selector) {
  try {
    return safe.matches(el, selector);
  } catch {
    return false;
  }
}

/**
 * Splits a selector at a character, where it occurs outside of brackets and strings.
 * @param {string} text @param {string} at
 */
function splitSelector(text, at) {
  const out = [];
  let depth = 0, start = 0, quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\\") i++;
    else if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "(" || c === "[") depth++;
    else if (c === ")" || c === "]") depth--;
    else if (depth === 0 && c === at) {
      out.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  out.push(text.slice(start).trim());
  return out.filter(Boolean);
}

/** A compound of a selector, such as "li.open". */
class Compound {
  /** @param {string} own @param {string} joined the combinator before it @param {string} upTo the selector up to its end, without :hover */
  constructor(own, joined, upTo) {
    this.own = own;
    this.joined = joined;
    this.upTo = upTo;
    this.hovers = HOVER.test(own);
    this.inner = this.hovers ? innerHover(own) : null;
  }
}

/**
 * Returns the argument of :is(), :where() or :host() in a compound that has :hover in it, or null if there
 * is none.
 * @param {string} compound
 * @returns {{argument: string, selectors: HoverSelector[]} | null}
 */
function innerHover(compound) {
  for (const start of compound.matchAll(/(?<!\\):(is|where|host)\(/g)) {
    const from = start.index + start[0].length;
    let depth = 1, end = from;
    for (; end < compound.length && depth > 0; end++) depth += compound[end] === "(" ? 1 : compound[end] === ")" ? -1 : 0;
    const argument = compound.slice(from, end - 1);
    if (!HOVER.test(argument)) continue;
    const selectors = splitSelector(argument, ",").filter((one) => HOVER.test(one)).map((one) => new HoverSelector(one));
    return { argument, selectors };
  }
  return null;
}

/** A selector with :hover. */
class HoverSelector {
  /** @param {string} text a single selector, as CSSOM writes it */
  constructor(text) {
    this.bare = withoutHover(text);
    /** @type {Compound[]} */
    this.parts = [];
    let joined = "", upTo = "";
    for (const word of splitSelector(text, " ")) {
      upTo += (upTo ? " " : "") + withoutHover(word);
      if (/^[>+~]$/.test(word)) joined = word;
      else {
        this.parts.push(new Compound(word, joined, upTo));
        joined = " ";
      }
    }
    /** The last compound with :hover. */
    this.at = this.parts.findLastIndex((part) => part.hovers);
  }

  /**
   * Returns the element that the pointer must be over for an element to match: an ancestor, a sibling or the element
   * itself. Null if the element does not match.
   * @param {El} el
   */
  triggerOf(el) {
    return this.at < 0 ? null : this.triggerAt(this.parts.length - 1, el);
  }

  /** @param {number} i the compound to match @param {El} el @returns {El | null} */
  triggerAt(i, el) {
    const part = this.parts[i];
    if (i === this.at) return this.hoveredAt(part, el);
    if (!matchesSelector(el, part.own)) return null;
    const above = this.parts[i - 1];
    if (part.joined === "+" || part.joined === "~") {
      for (let n = elementBefore(el), back = 0; n && back < MAX_SIBLINGS_BEFORE; n = elementBefore(n), back++) {
        const trigger = this.triggerAt(i - 1, n);
        if (trigger || part.joined === "+") return trigger;
      }
      return null;
    }
    for (let n = parentWithin(el, above), up = 0; n && up < MAX_ANCESTORS; n = parentWithin(n, above), up++) {
      const trigger = this.triggerAt(i - 1, n);
      if (trigger || part.joined === ">") return trigger;
    }
    return null;
  }

  /** @param {Compound} part @param {El} el @returns {El | null} */
  hoveredAt({ own, upTo, inner }, el) {
    if (own.startsWith(":host")) return this.at === 0 && shadowOf(el) && matchesSelector(el, inner ? withoutHover(inner.argument) : ANY) ? el : null;
    if (!matchesSelector(el, upTo)) return null;
    if (inner === null) return HOVER.test(outerText(own)) ? el : null;
    for (const selector of inner.selectors) {
      const trigger = selector.triggerOf(el);
      if (trigger) return trigger;
    }
    return null;
  }
}

/** Returns a compound without the arguments of its functions. @param {string} compound */
function outerText(compound) {
  for (let was = ""; was !== compound; ) {
    was = compound;
    compound = compound.replace(/\([^()]*\)/g, "");
  }
  return compound;
}

/**
 * Returns the parent of an element in its tree. For the top of a shadow tree, returns the host if the
 * compound above is :host.
 * @param {El} el @param {Compound} above @returns {El | null}
 */
function parentWithin(el, above) {
  const parent = safe.parentNode(el);
  if (!parent || isElement(parent)) return parent;
  return isShadow(parent) && above.own.startsWith(":host") ? parent.host : null;
}

/** Returns the bits of the properties by which a style hides an element. @param {CSSStyleDeclaration} style */
function hidingBits({ display, visibility, opacity }) {
  return (display === "none" ? BY_DISPLAY : 0) | (visibility === "hidden" || visibility === "collapse" ? BY_VISIBILITY : 0) | (parseFloat(opacity) === 0 ? BY_OPACITY : 0);
}

/** Returns the bits of the properties by which a style shows an element. @param {CSSStyleDeclaration} style */
function showingBits({ display, visibility, opacity, pointerEvents }) {
  let bits = visibility === "visible" ? BY_VISIBILITY : 0;
  if (/^[a-z -]+$/.test(display) && !/^(?:none|contents|inherit|initial|unset|revert.*)$/.test(display)) bits |= BY_DISPLAY;
  if (parseFloat(opacity) > 0) bits |= BY_OPACITY;
  if (pointerEvents === "auto" || pointerEvents === "all") bits |= BY_POINTER;
  return bits;
}

/** The property of each bit. @type {[number, string][]} */
const HIDING_PROPERTIES = [[BY_DISPLAY, "display"], [BY_VISIBILITY, "visibility"], [BY_OPACITY, "opacity"], [BY_POINTER, "pointer-events"]];

/** Returns the bits of the properties that a style sets as !important. @param {CSSStyleDeclaration} style @param {number} bits */
function importantBits(style, bits) {
  let out = 0;
  for (const [bit, name] of HIDING_PROPERTIES) if (bits & bit && style.getPropertyPriority(name) === "important") out |= bit;
  return out;
}

/**
 * Returns the specificity of a selector as one number.
 * @param {string} selector
 */
function specificityOf(selector) {
  let text = selector.replace(/\\./g, "x").replace(/"[^"]*"|'[^']*'/g, "").replace(/\[[^\]]*\]/g, ".a");
  for (let was = ""; was !== text; ) {
    was = text;
    text = text.replace(/:([\w-]+)\(([^()]*)\)/g, (_, name, argument) => {
      const inner = Math.max(0, ...argument.split(",").map(countedSpecificity));
      if (name === "where") return "{0}";
      return "{" + (/^(?:is|not|has)$/.test(name) ? inner : /^(?:host|nth-.*)$/.test(name) ? 1000 + (name === "host" ? inner : 0) : 1000) + "}";
    });
  }
  return countedSpecificity(text);
}

/** Returns the specificity of a selector without functions. @param {string} text */
function countedSpecificity(text) {
  let total = 0;
  const rest = text.replace(/\{(\d+)\}/g, (_, n) => {
    total += Number(n);
    return "";
  });
  /** @param {RegExp} of */
  const count = (of) => (rest.match(of) || []).length;
  return total + 1e6 * count(/#/g) + 1000 * (count(/\./g) + count(/(?<!:):(?!:)/g)) + count(/::/g) + count(/(?:^|[\s>+~])[a-z]/gi);
}

/** One selector of a rule that hides elements, or that shows them while the pointer is over another element. */
class StateRule {
  /**
   * @param {string} selector as written in the sheet @param {number} bits what it sets @param {number} important
   * @param {string[]} media its conditions @param {string} layer @param {number} order among all rules
   */
  constructor(selector, bits, important, media, layer, order) {
    this.selector = selector;
    this.bits = bits;
    this.important = important;
    this.media = media;
    this.layer = layer;
    this.order = order;
    /** @type {HoverSelector | null} */
    this.hover = null;
    /** Whether it hides elements unless the pointer is over another element, and does not itself show them. */
    this.unless = false;
    this.specificity = -1;
  }
}

/** The condition of rules that may or may not apply. */
const UNKNOWN = "?";

/**
 * Returns the condition of the rules inside a rule, or "" if there is none.
 * @param {AnyRule} rule
 */
function conditionOf(rule) {
  if (rule.media) return rule.media.mediaText;
  if (rule.type === 12) return CSS.supports(String(rule.conditionText)) ? "" : "not all";
  if (rule.selectorText !== undefined || isLayer(rule)) return "";
  return UNKNOWN; // a container, a scope or a starting style
}

/** Whether a rule is a layer block. @param {AnyRule} rule */
function isLayer(rule) {
  return rule.type === 0 && typeof rule.name === "string" && rule.conditionText === undefined && rule.containerName === undefined;
}

/** The rules of a tree that hide elements, or that show them while the pointer is over another element. */
class HoverRules {
  constructor() {
    /** @type {StateRule[]} */
    this.shows = [];
    /** @type {StateRule[]} */
    this.hides = [];
    /** The layers, in the order of their first rules. @type {string[]} */
    this.layers = [];
    this.order = 0;
    /** Matches the elements that may be shown. Empty if there are none. */
    this.query = "";
  }

  /** Reads the sheets of a tree. @param {{sheet: CSSStyleSheet, facts: SheetFacts}[]} sheets */
  read(sheets) {
    for (const { sheet, facts } of sheets) {
      try {
        const rules = rulesOf(sheet);
        const media = sheet.media ? sheet.media.mediaText : "";
        if (rules) this.readList(rules, facts, media ? [media] : []);
      } catch {
        // a sheet of another origin
      }
    }
    this.query = this.shows.map((rule) => rule.hover && rule.hover.bare).join(",");
  }

  /** @param {CSSRuleList} list @param {SheetFacts} facts @param {string[]} media */
  readList(list, facts, media) {
    const stack = [{ rules: list, i: 0, scope: "", media, layer: "" }];
    let left = MAX_SHEET_RULES;
    while (stack.length && --left > 0) {
      const top = stack[stack.length - 1];
      if (top.i >= top.rules.length) {
        stack.pop();
        continue;
      }
      const rule = /** @type {AnyRule} */ (top.rules[top.i++]);
      if (rule.style) this.addRule(rule, rule.style, facts, top);
      if (rule.nameList) for (const name of rule.nameList) this.layerOf(name);
      const inner = innerRules(rule);
      if (!inner) continue;
      const condition = conditionOf(rule);
      const layer = isLayer(rule) ? this.layerOf((top.layer ? top.layer + "." : "") + rule.name) : top.layer;
      stack.push({ rules: inner, i: 0, scope: selectorOf(rule, top.scope) || "", media: condition ? [...top.media, condition] : top.media, layer });
    }
  }

  /** @param {string} name */
  layerOf(name) {
    if (!this.layers.includes(name)) this.layers.push(name);
    return name;
  }

  /**
   * @param {AnyRule} rule @param {CSSStyleDeclaration} style @param {SheetFacts} facts
   * @param {{scope: string, media: string[], layer: string}} where
   */
  addRule(rule, style, facts, { scope, media, layer }) {
    const order = ++this.order;
    const hides = hidingBits(style), hovers = facts.hovers.has(rule);
    const shows = hovers ? showingBits(style) : 0;
    if (!hides && !shows) return;
    for (const one of splitSelector(selectorOf(rule, scope) || "", ",")) {
      const hiding = new StateRule(one, hides, importantBits(style, hides), media, layer, order);
      if (!hovers || !HOVER.test(one)) this.addHiding(hiding);
      else if (NO_HOVER_SUBJECT.test(one)) continue;
      else if (one.match(EACH_NOT_HOVER)) this.addShowing(hiding, one.replace(EACH_NOT_HOVER, ":hover"), true);
      else {
        this.addShowing(new StateRule(one, shows, importantBits(style, shows), media, layer, order), one, false);
        this.addHiding(hiding); // without the pointer, it may hide what the pointer shows
      }
    }
  }

  /** @param {StateRule} rule */
  addHiding(rule) {
    if (rule.bits && this.hides.length < MAX_HIDING_RULES) this.hides.push(rule);
  }

  /**
   * Adds a rule that shows elements.
   * @param {StateRule} rule @param {string} selector has :hover on the element to hover, even if the rule has :not(:hover) there
   * @param {boolean} unless see StateRule
   */
  addShowing(rule, selector, unless) {
    if (!rule.bits || this.shows.length >= MAX_HOVER_RULES) return;
    const hover = new HoverSelector(selector);
    if (!CSS.supports("selector(" + hover.bare + ")")) return;
    rule.hover = hover;
    rule.unless = unless;
    this.shows.push(rule);
  }

  /**
   * Whether a hiding rule overrides a showing rule for one property.
   * @param {StateRule} hiding @param {StateRule} showing @param {number} bit
   */
  beats(hiding, showing, bit) {
    if (showing.unless) return true; // such a rule shows nothing by itself
    const important = (hiding.important & bit) !== 0;
    if (important !== ((showing.important & bit) !== 0)) return important;
    if (hiding.layer !== showing.layer) return this.rank(hiding.layer) > this.rank(showing.layer) !== important;
    for (const rule of [hiding, showing]) if (rule.specificity < 0) rule.specificity = specificityOf(rule.selector);
    return hiding.specificity !== showing.specificity ? hiding.specificity > showing.specificity : hiding.order > showing.order;
  }

  /** @param {string} layer */
  rank(layer) {
    return layer ? this.layers.indexOf(layer) : Infinity;
  }
}

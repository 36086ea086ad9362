// @ts-check
// Style sheets: which selectors set cursor: pointer, and whether any rule clips, sets display:
// contents or shows elements depending on their neighbors. Reading the rules once is far cheaper
// than reading the computed style of every element.
//
// Styles keeps what was read from each sheet and each tree. Hints reads the sheets before a full
// scan and during sweeps. Visibility, Cursors and Refresh use the results. Layout compares the
// sheets at each poll (changed).

/** A sheet with more rules than this counts as unreadable. */
const MAX_SHEET_RULES = 20000;
/** The maximum number of selectors. Matching more takes longer than reading computed styles. */
const MAX_SELECTORS = 250;
/** The number of rules that one sweep rereads, because scripts can edit rules without any event. */
const RULES_AGAIN = 200;
/** The maximum length of a nested selector. A longer one is not followed. */
const MAX_SELECTOR = 2000;

/** The facts of one sheet. */
class SheetFacts {
  constructor() {
    /**
     * Selectors of the rules that set cursor: pointer, whatever their conditions.
     * @type {Set<string>}
     */
    this.selectors = new Set();
    /** Whether some rule clips, by overflow (overflows) or by clip and clip-path (clips). */
    this.overflows = false;
    this.clips = false;
    /** Whether some rule sets display: contents. */
    this.contents = false;
    /** Whether some rule shows or hides an element depending on its siblings or children. */
    this.structural = false;
    /** Selectors of the rules that fix a box to the viewport. @type {Set<string>} */
    this.fixing = new Set();
    /** The rules with :hover in their selectors that show or hide elements; see HoverRules. @type {Set<CSSRule>} */
    this.hovers = new Set();
    /** Whether the sheet is wholly or partly unreadable, so that it may contain anything. */
    this.opaque = false;
    /** Whether the sheet could not be loaded, so that it has no rules. */
    this.missing = false;
    /** The number of its rules, the first and the last, for isSameSheet. */
    this.length = -1;
    /** @type {CSSRule | null} */
    this.first = null;
    /** @type {CSSRule | null} */
    this.last = null;
  }

  markUnreadable() {
    this.opaque = this.overflows = this.clips = this.contents = this.structural = true;
  }

  /**
   * @param {CSSStyleDeclaration} style @param {AnyRule} rule
   * @param {string} scope the selector of the rule around it
   */
  addStyle(style, rule, scope) {
    const { cursor } = style;
    if (cursor && isPointerCursor(cursor)) {
      const selector = selectorOf(rule, scope);
      if (selector === null) this.markUnreadable();
      else if (selector) this.selectors.add(selector);
    }
    if (style.position === "fixed") {
      const selector = selectorOf(rule, scope);
      if (selector) this.fixing.add(selector);
    }
    if (!this.overflows) this.overflows = style.overflowX !== "" && style.overflowX !== "visible";
    if (!this.clips) this.clips = style.clip !== "" || style.clipPath !== "";
    if (!this.contents) this.contents = style.display === "contents";
    if (!this.structural) this.structural = affectsVisibility(style) && STRUCTURAL_SELECTOR.test(selectorOf(rule, scope) || "");
    if ((showingBits(style) | hidingBits(style)) !== 0 && ((rule.selectorText || "").includes(":hover") || scope.includes(":hover"))) this.hovers.add(rule);
  }
}

const STRUCTURAL_SELECTOR = /:has\(|:empty|-child|-of-type|[+~]/;

/**
 * Whether a style sets a property that shows or hides elements.
 * @param {CSSStyleDeclaration} style
 */
function affectsVisibility(style) {
  for (const name of VISIBILITY_PROPERTIES) if (style[name] !== "") return true;
  return false;
}

/** @type {(keyof CSSStyleDeclaration)[]} */
const VISIBILITY_PROPERTIES = ["display", "visibility", "opacity", "height", "width", "maxHeight", "maxWidth", "clipPath", "clip", "position", "contentVisibility"];

/** @param {string} cursor */
function isPointerCursor(cursor) {
  return cursor === "pointer" || cursor.endsWith(", pointer");
}

/**
 * The selector of a rule, with "&" replaced by the selector of the rule around it. Null if the
 * result is too long.
 * @param {AnyRule} rule @param {string} scope
 */
function selectorOf(rule, scope) {
  const own = rule.selectorText;
  if (!own) return scope;
  const full = scope && own.includes("&") ? own.replaceAll("&", ":is(" + scope + ")") : own;
  return full.length > MAX_SELECTOR ? null : full;
}

/**
 * The rules inside a rule: a condition, a layer, a nesting rule or an import.
 * @param {AnyRule} rule @returns {CSSRuleList | null}
 */
function innerRules(rule) {
  if (rule.styleSheet !== undefined) return rule.styleSheet ? rulesOf(rule.styleSheet) : null;
  return rule.cssRules && rule.cssRules.length ? rule.cssRules : null;
}

/** The URLs of the document's sheets that could not be loaded, as reported by the daemon (ADR 48). @type {Set<string>} */
let failedSheets = new Set();

/** @param {string[] | undefined} urls if undefined, nothing changes */
function setFailedSheets(urls) {
  if (urls) failedSheets = new Set(urls);
}

/** Whether a sheet could not be loaded, so that it has no rules. @param {CSSStyleSheet} sheet */
function isMissing({ href }) {
  return href !== null && failedSheets.has(href);
}

/**
 * Returns the rules of a sheet, or null if it was not loaded. It throws for a sheet of another origin, whose
 * rules may not be read.
 * @param {CSSStyleSheet} sheet
 */
function rulesOf(sheet) {
  return isMissing(sheet) ? null : sheet.cssRules;
}

/** Reads a whole sheet. @param {CSSStyleSheet} sheet */
function readSheet(sheet) {
  const facts = new SheetFacts();
  for (const _ of readRules(sheet, facts));
  return facts;
}

/**
 * Reads a sheet, one rule at a time. It is iterative because rules nest.
 * @param {CSSStyleSheet} sheet @param {SheetFacts} facts
 */
function* readRules(sheet, facts) {
  try {
    const cssRules = rulesOf(sheet);
    if (cssRules === null) {
      facts.missing = true;
      return;
    }
    facts.length = cssRules.length;
    facts.first = cssRules[0];
    facts.last = cssRules[cssRules.length - 1];
    const stack = [{ rules: cssRules, i: 0, scope: "" }];
    let left = MAX_SHEET_RULES;
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top.i >= top.rules.length) {
        stack.pop();
        continue;
      }
      if (--left < 0) throw new Error("too many rules");
      const rule = /** @type {AnyRule} */ (top.rules[top.i++]);
      if (rule.style) facts.addStyle(rule.style, rule, top.scope);
      const inner = innerRules(rule);
      if (inner) stack.push({ rules: inner, i: 0, scope: selectorOf(rule, top.scope) || "" });
      yield;
    }
  } catch {
    facts.markUnreadable(); // of another origin, or too large
  }
}

/**
 * Whether a sheet still has the rules that were read. It compares their number, the first and the
 * last.
 * @param {CSSStyleSheet} sheet @param {SheetFacts} facts
 */
function isSameSheet(sheet, facts) {
  if (facts.missing) return isMissing(sheet);
  if (facts.length < 0) return true;
  try {
    const { cssRules } = sheet;
    const { length } = cssRules;
    return length === facts.length && (length === 0 || (cssRules[0] === facts.first && cssRules[length - 1] === facts.last));
  } catch {
    return true;
  }
}

/** The facts of all sheets of a document and its shadow trees, and their union. */
class Styles {
  constructor() {
    /** @type {WeakMap<CSSStyleSheet, SheetFacts>} */
    this.sheets = new WeakMap();
    /** @type {WeakMap<Tree, {selector: string, opaque: boolean, hosts: boolean, fixed: string}>} */
    this.roots = new WeakMap();
    /** The last results of hoverRulesOf. @type {WeakMap<Tree, {facts: SheetFacts[], rules: HoverRules}>} */
    this.hovering = new WeakMap();
    /** The position where rereadSome continues. @type {Generator<undefined, void> | null} */
    this.rereading = null;
    this.overflows = this.clips = this.contents = this.opaque = this.structural = false;
  }

  /** Clears the union; the facts of each sheet stay. */
  begin() {
    this.overflows = this.clips = this.contents = this.opaque = this.structural = false;
  }

  /** @param {Tree} root @returns {CSSStyleSheet[]} */
  sheetsOf(root) {
    if (isDocument(root)) return [...safe.styleSheets(root), ...safe.adoptedStyleSheets(root)];
    return [...root.styleSheets, ...root.adoptedStyleSheets];
  }

  /**
   * Reads the new or changed sheets of a document or a shadow root. An element with its own cursor: pointer
   * matches the returned selector, unless opaque is set: then any element may have it. An element that is fixed
   * to the viewport matches the returned fixed, as far as the sheets can be read.
   * @param {Tree} root
   */
  read(root) {
    const selectors = new Set();
    /** @type {Set<string>} */
    const fixing = new Set();
    let opaque = false;
    for (const sheet of this.sheetsOf(root)) {
      let facts = this.sheets.get(sheet);
      if (!facts || !isSameSheet(sheet, facts)) this.sheets.set(sheet, (facts = readSheet(sheet)));
      for (const selector of facts.selectors) selectors.add(selector);
      for (const selector of facts.fixing) fixing.add(selector);
      opaque = opaque || facts.opaque;
      this.overflows = this.overflows || facts.overflows;
      this.clips = this.clips || facts.clips;
      this.contents = this.contents || facts.contents;
      this.structural = this.structural || facts.structural;
    }
    if (selectors.size > MAX_SELECTORS) {
      selectors.clear();
      opaque = true;
    }
    const all = [...selectors].join(",");
    const result = { selector: all ? INLINE_POINTER + ",:is(" + all + ")" : INLINE_POINTER, opaque, hosts: /:host|::slotted/.test(all), fixed: fixedSelector(fixing) };
    this.roots.set(root, result);
    this.opaque = this.opaque || opaque;
    return result;
  }

  /**
   * Rereads RULES_AGAIN rules of a document; the next call continues after them.
   * @param {Document} doc
   */
  *rereadSome(doc) {
    for (let n = 0; n < RULES_AGAIN; n++) {
      this.rereading = this.rereading || this.rereadAll(doc);
      if (this.rereading.next().done) {
        this.rereading = null;
        return;
      }
      yield;
    }
  }

  /** @param {Document} doc */
  *rereadAll(doc) {
    for (const sheet of this.sheetsOf(doc)) {
      const facts = new SheetFacts();
      yield* readRules(sheet, facts);
      this.sheets.set(sheet, facts);
    }
  }

  /** Returns the last result of read for a root, reading its sheets if there is none. @param {Tree} root */
  of(root) {
    return this.roots.get(root) || this.read(root);
  }

  /**
   * Returns the rules of a tree that may show elements while the pointer is over other elements, or
   * null if there are none.
   * @param {Tree} root
   */
  hoverRulesOf(root) {
    const sheets = [];
    let some = false;
    for (const sheet of this.sheetsOf(root)) {
      const facts = sheet.disabled ? undefined : this.sheets.get(sheet);
      if (!facts) continue;
      sheets.push({ sheet, facts });
      some = some || facts.hovers.size > 0;
    }
    if (!some) return null;
    const known = this.hovering.get(root);
    if (known && known.facts.length === sheets.length && sheets.every(({ facts }, i) => facts === known.facts[i])) return known.rules;
    const rules = new HoverRules();
    rules.read(sheets);
    this.hovering.set(root, { facts: sheets.map(({ facts }) => facts), rules });
    return rules;
  }

  /**
   * Whether rules were added or removed since a document's sheets were read.
   * @param {Document} doc
   */
  changed(doc) {
    for (const sheet of this.sheetsOf(doc)) {
      const facts = this.sheets.get(sheet);
      if (!facts || !isSameSheet(sheet, facts)) return true;
    }
    return false;
  }
}

/** Returns a selector that matches all elements fixed to the viewport, and possibly others. @param {Set<string>} fixing */
function fixedSelector(fixing) {
  const all = [...fixing].slice(0, MAX_SELECTORS).join(",");
  return all ? INLINE_FIXED + ",:is(" + all + ")" : INLINE_FIXED;
}

const INLINE_FIXED = '[style*="fixed" i]';
const INLINE_POINTER = '[style*="cursor" i]';

// @ts-check
// Controls that show only while the pointer is over another element: the items of a menu that CSS opens, and the buttons of a
// row or card. They are not listed, because they are invisible. Their names form a hint (~on-hover-edit-delete) on the
// element to hover: the trigger if it is interactive, or else the first control in it. A trigger without a control is listed
// only for its hint (HINT_HOVER), if the hint contains a name.
//
// OnHover owns these hints and the listed triggers. It evaluates the rules of the page
// (16-hover-rules.js), and adds a hint only if hovering a visible trigger removes everything that hides
// a control. Refresh calls it after each full scan or sweep. Finder uses it to find what to hover first
// for a target that is not visible. In documents without such rules, it only checks their sheets.

/** The maximum number of elements per tree that rules may show and that are examined, and of elements in each of them. */
const MAX_REVEALED = 1000, MAX_IN_REVEALED = 200;
/** The maximum number of elements in a trigger that are searched for a control. */
const MAX_IN_TRIGGER = 300;
/** The maximum number of listed triggers that are not interactive. */
const MAX_TRIGGERS = 300;
/** The maximum length of a hint that package observer accepts, and of a name that is read for it, in characters. */
const MAX_HOVER_HINT = 48, MAX_HOVER_NAME = 60;
/** Elements that the pointer is nearly always over. */
const NO_TRIGGERS = new Set(["html", "body"]);

/**
 * Whether an element is shown, or would be while the pointer is over one of its triggers. triggers has the properties
 * that each trigger changes, as bits. If deep is set, a second trigger is needed after the first.
 * @typedef {{triggers: Map<El, number>, deep: boolean}} Revealing
 */
/** The states of visible elements, and of elements that no trigger shows. @type {Revealing} */
const SHOWN = { triggers: new Map(), deep: false }, NOT_SHOWN = { triggers: new Map(), deep: false };

class OnHover {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Whether a sweep has ended, so that other elements may show on hover. */
    this.due = false;
    /** The hints, by the element to hover. @type {Map<El, string>} */
    this.hints = new Map();
    /** The triggers that are listed for their hint alone. @type {Set<El>} */
    this.listed = new Set();
    /** The rules of each tree. @type {Map<Tree, HoverRules | null>} */
    this.rules = new Map();
    /** The states computed since begin. @type {Map<El, Revealing>} */
    this.states = new Map();
    /** Whether media queries match. @type {Map<string, boolean>} */
    this.media = new Map();
    /** Selectors of the rules that are stronger than a rule, by the bit of the property. @type {Map<StateRule, string[]>} */
    this.stronger = new Map();
    /** Selectors of the elements that rules hide by visibility. @type {Map<HoverRules, string>} */
    this.hiding = new Map();
  }

  /** Clears the cached styles and rules. */
  begin() {
    for (const map of [this.rules, this.states, this.media, this.stronger, this.hiding]) map.clear();
  }

  /** Returns the marks of an element with its hover hint before them. @param {El} el @param {string} marks */
  addTo(el, marks) {
    const hint = this.hints.size ? this.hints.get(el) : undefined;
    if (hint === undefined) return marks;
    return [hint, ...marks.split(" ").filter(Boolean)].slice(0, MAX_MARKS).join(" ");
  }

  // ---- finding all ----------------------------------------------------------------------------

  /** Finds the elements that show on hover, and records the elements whose hints changed. */
  find() {
    this.due = false;
    this.begin();
    const { doc, sweep, visibility } = this.model;
    /** @type {Map<El, HoverNames>} */
    const owners = new Map();
    if (!visibility.unseen) {
      for (const tree of [doc, ...sweep.shadows]) {
        for (const rec of this.hiddenIn(tree)) this.addName(rec, owners);
      }
    }
    if (owners.size || this.hints.size) this.keep(owners);
    this.begin();
  }

  /** Yields the hidden controls of a tree that rules may show. @param {Tree} tree */
  *hiddenIn(tree) {
    const rules = this.rulesOf(tree);
    if (rules === null || !rules.query || (isShadow(tree) && !safe.isConnected(tree))) return;
    /** @type {Set<El>} */
    const seen = new Set();
    const all = inTree(tree, rules.query);
    for (let i = 0; i < all.length && i < MAX_REVEALED; i++) {
      const root = all[i];
      if (seen.has(root) || safe.checkVisibility(root, VISIBLE) || !this.stateOf(root).triggers.size) continue;
      const inside = queryWithin(root, "*");
      for (let k = -1; k < inside.length && k < MAX_IN_REVEALED; k++) {
        const el = k < 0 ? root : inside[k];
        const rec = seen.has(el) ? undefined : this.model.records.get(el);
        seen.add(el);
        if (rec && this.isHiddenControl(rec)) yield rec;
      }
    }
  }

  /** Whether a record belongs to a control that is not listed. @param {Rec} rec */
  isHiddenControl(rec) {
    if (rec.shown || rec.inert || rec.holds || !this.model.records.all.has(rec)) return false;
    return this.model.hints.isInteractiveBut(rec.node, rec.tag, 0);
  }

  /** Adds a control to the hint of the element to hover for it. @param {Rec} rec @param {Map<El, HoverNames>} owners */
  addName(rec, owners) {
    const state = this.stateOf(rec.node);
    const trigger = state.deep ? null : this.triggerIn(state, rec.node);
    const owner = trigger && this.ownerOf(trigger);
    if (!owner) return;
    let names = owners.get(owner);
    if (!names) owners.set(owner, (names = new HoverNames()));
    names.add(rec);
  }

  /** Replaces the hints by the new ones. @param {Map<El, HoverNames>} owners */
  keep(owners) {
    const { changes, hints, records } = this.model;
    const was = this.hints, listed = new Set();
    this.hints = new Map();
    for (const [owner, names] of owners) {
      if (this.isListedAnyway(owner)) this.hints.set(owner, names.hint());
      else if (names.words.length && listed.size < MAX_TRIGGERS) {
        listed.add(owner);
        this.hints.set(owner, names.hint());
        const rec = records.get(owner);
        if (hints.set(owner, HINT_HOVER, true) || !rec || !rec.shown) changes.checkNodes.add(owner);
      }
    }
    for (const el of this.listed) if (!listed.has(el) && hints.set(el, HINT_HOVER, false)) changes.checkNodes.add(el);
    this.listed = listed;
    for (const el of new Set([...was.keys(), ...this.hints.keys()])) {
      const rec = was.get(el) === this.hints.get(el) ? undefined : records.get(el);
      if (rec && rec.shown) changes.dirty.add(rec);
    }
  }

  /** Whether an element is listed as interactive even without being a trigger. @param {El} el */
  isListedAnyway(el) {
    const rec = this.model.records.get(el);
    if (!rec || !rec.shown || rec.fields[F_KIND] !== INTERACTIVE) return false;
    const { hints } = this.model;
    return !(hints.get(el) & HINT_HOVER) || hints.isInteractiveBut(el, rec.tag, HINT_HOVER);
  }

  /**
   * Returns the element to hover for a trigger: the trigger if it is a listed control, or else a listed
   * control in it, or else the trigger.
   * @param {El} trigger @returns {El}
   */
  ownerOf(trigger) {
    if (this.isListedAnyway(trigger)) return trigger;
    for (const root of [trigger, shadowOf(trigger)]) {
      const inside = root ? queryAll(root, "*") : [];
      for (let i = 0; i < inside.length && i < MAX_IN_TRIGGER; i++) {
        const rec = this.model.records.get(inside[i]);
        if (rec && rec.w > 1 && rec.h > 1 && this.isListedAnyway(inside[i])) return inside[i];
      }
    }
    return trigger;
  }

  // ---- one element ----------------------------------------------------------------------------

  /**
   * Returns the listed element to hover first so that an invisible element shows, or null if there is none. Call begin
   * first.
   * @param {El} el
   */
  toHoverFor(el) {
    const trigger = this.triggerIn(this.stateOf(el), el);
    return trigger && this.ownerOf(trigger);
  }

  /** Returns the first trigger that shows an element so that it receives clicks. @param {Revealing} state @param {El} el @returns {El | null} */
  triggerIn(state, el) {
    const untouchable = state.triggers.size > 0 && getComputedStyle(el).pointerEvents === "none";
    for (const [trigger, bits] of state.triggers) if (!untouchable || bits & BY_POINTER) return trigger;
    return null;
  }

  /** @param {El} el @returns {Revealing} */
  stateOf(el) {
    /** @type {El[]} */
    const below = [];
    /** @type {Revealing | undefined} */
    let state;
    for (let /** @type {El | null} */ n = el; n && !state && below.length < MAX_ANCESTORS; n = flatElement(n)) {
      state = this.states.get(n) || (safe.checkVisibility(n, VISIBLE) ? SHOWN : undefined);
      if (!state) below.push(n);
    }
    state = state || NOT_SHOWN;
    for (const n of below.reverse()) {
      if (state !== NOT_SHOWN) state = this.stateBelow(n, state);
      this.states.set(n, state);
    }
    return state;
  }

  /** Returns the state of an element that is not visible. @param {El} el @param {Revealing} above the state of its parent @returns {Revealing} */
  stateBelow(el, above) {
    const reasons = this.reasonsOf(el);
    const own = this.showingOf(el, reasons);
    if (!reasons) return above === SHOWN ? NOT_SHOWN : { deep: above.deep, triggers: merged(above.triggers, own) };
    /** @type {Map<El, number>} */
    const triggers = new Map();
    /** @type {Revealing | null} */
    let deeper = null;
    for (const [trigger, bits] of own) {
      if ((bits & reasons) !== reasons || trigger === el || NO_TRIGGERS.has(tagOf(trigger))) continue;
      if (!isWithinNode(el, trigger) && ((own.get(el) || 0) & reasons) !== reasons) continue; // it would be hidden again as soon as the pointer leaves the trigger
      if (above === SHOWN ? this.model.visibility.isVisible(trigger, tagOf(trigger)) : above.triggers.has(trigger)) {
        triggers.set(trigger, bits | (above.triggers.get(trigger) || 0));
      } else if (!deeper && isWithinNode(el, trigger)) deeper = this.states.get(trigger) || null;
    }
    if (triggers.size) return { triggers, deep: above.deep };
    return deeper && deeper.triggers.size ? { triggers: deeper.triggers, deep: true } : NOT_SHOWN;
  }

  /** Returns the properties by which an invisible element is hidden itself, not through its ancestors. @param {El} el */
  reasonsOf(el) {
    const reasons = hidingBits(getComputedStyle(el));
    const parent = reasons & BY_VISIBILITY ? flatElement(el) : null;
    if (!parent || getComputedStyle(parent).visibility === "visible" || this.hasHidingRule(el)) return reasons;
    return reasons & ~BY_VISIBILITY; // inherited
  }

  /** Whether an element is hidden by visibility through its own style, or through a rule that applies without hovering. @param {El} el */
  hasHidingRule(el) {
    if (hasAttr(el, "style") && hidingBits(el.style) & BY_VISIBILITY) return true;
    const rules = this.rulesOf(treeOf(el));
    if (rules === null) return false;
    const hiding = this.hidingIn(rules);
    return (hiding !== "" && matchesSelector(el, hiding)) || rules.shows.some((rule) => rule.unless && rule.bits & BY_VISIBILITY && matchesSelector(el, rule.selector));
  }

  /** Returns a selector of the elements that rules hide by visibility. @param {HoverRules} rules */
  hidingIn(rules) {
    let selector = this.hiding.get(rules);
    if (selector === undefined) {
      selector = listOf(rules.hides.filter((rule) => rule.bits & BY_VISIBILITY && this.applies(rule, true) && !HOVER.test(rule.selector)));
      this.hiding.set(rules, selector);
    }
    return selector;
  }

  /**
   * Returns the properties that rules change on an element while the pointer is over another
   * element, as bits, by that other element.
   * @param {El} el @param {number} reasons the properties that hide it, as bits
   */
  showingOf(el, reasons) {
    /** @type {Map<El, number>} */
    const out = new Map();
    const rules = this.rulesOf(treeOf(el));
    if (rules === null || !rules.query || !matchesSelector(el, rules.query)) return out;
    for (const rule of rules.shows) { // a rule with an unknown condition may hide, but does not count as showing
      const wanted = rule.bits & (reasons | BY_POINTER);
      if (!wanted || !rule.hover || !matchesSelector(el, rule.hover.bare) || !this.applies(rule, false)) continue;
      const trigger = rule.hover.triggerOf(el);
      const bits = trigger ? this.unbeaten(el, rules, rule, wanted) : 0;
      if (trigger && bits) out.set(trigger, (out.get(trigger) || 0) | bits);
    }
    return out;
  }

  /**
   * Returns the bits of a rule that no stronger rule overrides.
   * @param {El} el @param {HoverRules} rules @param {StateRule} rule @param {number} wanted
   */
  unbeaten(el, rules, rule, wanted) {
    const inline = hasAttr(el, "style") ? hidingBits(el.style) : 0;
    const important = importantBits(el.style, inline);
    let bits = wanted;
    for (const [bit] of HIDING_PROPERTIES) {
      if (!(bits & bit)) continue;
      const stronger = this.strongerThan(rules, rule, bit);
      const byStyle = inline & bit && (important & bit || rule.unless || !(rule.important & bit));
      if (byStyle || (stronger && matchesSelector(el, stronger))) bits &= ~bit;
    }
    return bits;
  }

  /** Returns a selector of the rules that override a rule by hiding. @param {HoverRules} rules @param {StateRule} rule @param {number} bit */
  strongerThan(rules, rule, bit) {
    let known = this.stronger.get(rule);
    if (!known) this.stronger.set(rule, (known = []));
    if (known[bit] === undefined) {
      known[bit] = listOf(rules.hides.filter((hiding) => hiding.bits & bit && this.applies(hiding, true) && rules.beats(hiding, rule, bit)));
    }
    return known[bit];
  }

  /** Whether the conditions of a rule hold. @param {StateRule} rule @param {boolean} unknown the result for an unknown condition */
  applies(rule, unknown) {
    return rule.media.every((query) => {
      if (query === UNKNOWN) return unknown;
      let matches = this.media.get(query);
      if (matches === undefined) this.media.set(query, (matches = matchMedia(query).matches));
      return matches;
    });
  }

  /** @param {Tree} tree */
  rulesOf(tree) {
    let rules = this.rules.get(tree);
    if (rules === undefined) this.rules.set(tree, (rules = this.model.styles.hoverRulesOf(tree)));
    return rules;
  }
}

/** Returns a selector that matches if any of the rules does, regardless of hovering. Empty if there are no rules. @param {StateRule[]} rules */
function listOf(rules) {
  return rules.length ? ":is(" + rules.map(({ selector }) => withoutHover(selector)).join(",") + ")" : "";
}

/** Adds the bits of the second map to the triggers of the first. @param {Map<El, number>} triggers @param {Map<El, number>} more */
function merged(triggers, more) {
  if (!more.size) return triggers;
  const out = new Map();
  for (const [trigger, bits] of triggers) out.set(trigger, bits | (more.get(trigger) || 0));
  return out;
}

/** The names of the controls that show together. */
class HoverNames {
  constructor() {
    /** @type {string[]} */
    this.words = [];
    this.size = 0;
    /** The number of controls that the words do not name. */
    this.more = 0;
  }

  /** @param {Rec} rec */
  add(rec) {
    const word = this.more ? "" : hoverName(rec.node, rec.tag);
    if (word && this.words.includes(word)) return;
    if (!word || this.size + word.length + 1 > MAX_HOVER_HINT - "on-hover-and-99".length) this.more++;
    else {
      this.words.push(word);
      this.size += word.length + 1;
    }
  }

  hint() {
    const more = Math.min(this.more, 99);
    return ["on-hover", ...this.words, ...(more ? [this.words.length ? "and-" + more : String(more)] : [])].join("-");
  }
}

/** Returns the name of a control that is not visible. @param {El} el @param {string} tag */
function hoverText(el, tag) {
  const image = firstWithin(el, "img[alt]");
  return clean(reportedAttribute(el, "aria-label") || reportedWords(el, MAX_HOVER_NAME) || (isCaption(el) && tag === "input" && reportedCaption(el)) ||
    reportedAttribute(el, "title") || (image && reportedAttribute(image, "alt")) || reportedAttribute(el, "placeholder") || "", MAX_HOVER_NAME);
}

/**
 * Returns the name of an invisible control as one word of lowercase letters, digits and hyphens. If the name has no such letters, uses its
 * title or icon.
 * @param {El} el @param {string} tag
 */
function hoverName(el, tag) {
  return hoverWord(hoverText(el, tag)) || hoverWord(reportedAttribute(el, "title") || "") || hoverWord(iconOf(el, tag));
}

/** Returns a name as one word of lowercase letters, digits and hyphens, or "" if it has other letters. @param {string} name */
function hoverWord(name) {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const word = /[^\x00-\x7f…]/.test(plain) ? "" : (plain.match(/[a-z0-9]+/g) || []).join("-");
  return word.length > MAX_MARK ? word.slice(0, MAX_MARK + 1).replace(/-[^-]*$/, "").slice(0, MAX_MARK) : word;
}

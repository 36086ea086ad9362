// @ts-check
// Controls that show only while the pointer is over something else: the items of a menu that CSS
// opens, and the buttons of a row or card. They are not listed, because nobody sees them. Their names
// are a hint (~on-hover-edit-delete) of the element to hover: of the trigger if that is interactive,
// else of the first control in it. A trigger without any is listed for its hint alone (HINT_HOVER), if that has a name in it.
//
// OnHover owns these hints and the triggers that are listed. It says what the rules of the page say
// (16-hover-rules.js), and only where the pointer over a visible trigger takes away everything that
// hides a control. Refresh asks it after each full scan or sweep; Finder asks what to hover first for a
// target that is not visible. Documents without such rules pay one look at their sheets.

/** How many elements that rules may show are examined in a tree, and how many elements in one of them. */
const MAX_REVEALED = 1000, MAX_IN_REVEALED = 200;
/** How many elements of a trigger are searched for a control. */
const MAX_IN_TRIGGER = 300;
/** How many triggers are listed that are not interactive. */
const MAX_TRIGGERS = 300;
/** How long a hint is, as package observer takes it, and how many characters of a name are read for it. */
const MAX_HOVER_HINT = 48, MAX_HOVER_NAME = 60;
/** Elements over which the pointer is nearly always. */
const NO_TRIGGERS = new Set(["html", "body"]);

/**
 * Whether an element is shown, or would be while the pointer is over one of its triggers: by trigger, what the pointer
 * there does to it, as bits. A deep one needs a second trigger after that.
 * @typedef {{triggers: Map<El, number>, deep: boolean}} Revealing
 */
/** The states of other elements. @type {Revealing} */
const SHOWN = { triggers: new Map(), deep: false }, NOT_SHOWN = { triggers: new Map(), deep: false };

class OnHover {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** A sweep ended: what shows on hover may be other elements. */
    this.due = false;
    /** The hints by the elements to hover. @type {Map<El, string>} */
    this.hints = new Map();
    /** The triggers that are listed for their hint alone. @type {Set<El>} */
    this.listed = new Set();
    /** The rules of each tree. @type {Map<Tree, HoverRules | null>} */
    this.rules = new Map();
    /** The states that are known since begin. @type {Map<El, Revealing>} */
    this.states = new Map();
    /** Whether media queries match. @type {Map<string, boolean>} */
    this.media = new Map();
    /** What rules that are stronger than one match, by the bit of the property. @type {Map<StateRule, string[]>} */
    this.stronger = new Map();
    /** What the rules match that hide by visibility. @type {Map<HoverRules, string>} */
    this.hiding = new Map();
  }

  /** Clears what was cached of styles and rules. */
  begin() {
    for (const map of [this.rules, this.states, this.media, this.stronger, this.hiding]) map.clear();
  }

  /** The hint of an element and its other hints. @param {El} el @param {string} marks */
  addTo(el, marks) {
    const hint = this.hints.size ? this.hints.get(el) : undefined;
    if (hint === undefined) return marks;
    return [hint, ...marks.split(" ").filter(Boolean)].slice(0, MAX_MARKS).join(" ");
  }

  // ---- finding all ----------------------------------------------------------------------------

  /** Finds what shows on hover, and notes the elements whose hints changed. */
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

  /** The hidden controls of a tree that rules may show. @param {Tree} tree */
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

  /** Whether a record is that of a control which is not listed. @param {Rec} rec */
  isHiddenControl(rec) {
    if (rec.shown || rec.inert || rec.holds || !this.model.records.all.has(rec)) return false;
    return this.model.hints.isInteractiveBut(rec.node, rec.tag, 0);
  }

  /** Adds a control to the hint of what is to be hovered for it. @param {Rec} rec @param {Map<El, HoverNames>} owners */
  addName(rec, owners) {
    const state = this.stateOf(rec.node);
    const trigger = state.deep ? null : this.triggerIn(state, rec.node);
    const owner = trigger && this.ownerOf(trigger);
    if (!owner) return;
    let names = owners.get(owner);
    if (!names) owners.set(owner, (names = new HoverNames()));
    names.add(rec);
  }

  /** Takes the hints of now. @param {Map<El, HoverNames>} owners */
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

  /** Whether an element counts without being a trigger. @param {El} el */
  isListedAnyway(el) {
    const rec = this.model.records.get(el);
    if (!rec || !rec.shown || rec.fields[F_KIND] !== INTERACTIVE) return false;
    const { hints } = this.model;
    return !(hints.get(el) & HINT_HOVER) || hints.isInteractiveBut(el, rec.tag, HINT_HOVER);
  }

  /**
   * The element to hover for a trigger: a listed control that is the trigger or in it, else the trigger.
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
   * The listed element to hover first so that an element that is not visible shows; null: there is none. Call begin before.
   * @param {El} el
   */
  toHoverFor(el) {
    const trigger = this.triggerIn(this.stateOf(el), el);
    return trigger && this.ownerOf(trigger);
  }

  /** The first trigger with which an element takes clicks. @param {Revealing} state @param {El} el @returns {El | null} */
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

  /** The state of an element that is not visible. @param {El} el @param {Revealing} above that of its parent @returns {Revealing} */
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
      if (!isWithinNode(el, trigger) && ((own.get(el) || 0) & reasons) !== reasons) continue; // hidden again as soon as the pointer leaves
      if (above === SHOWN ? this.model.visibility.isVisible(trigger, tagOf(trigger)) : above.triggers.has(trigger)) {
        triggers.set(trigger, bits | (above.triggers.get(trigger) || 0));
      } else if (!deeper && isWithinNode(el, trigger)) deeper = this.states.get(trigger) || null;
    }
    if (triggers.size) return { triggers, deep: above.deep };
    return deeper && deeper.triggers.size ? { triggers: deeper.triggers, deep: true } : NOT_SHOWN;
  }

  /** What hides an element that is not visible by itself, not by its ancestors. @param {El} el */
  reasonsOf(el) {
    const reasons = hidingBits(getComputedStyle(el));
    const parent = reasons & BY_VISIBILITY ? flatElement(el) : null;
    if (!parent || getComputedStyle(parent).visibility === "visible" || this.hasHidingRule(el)) return reasons;
    return reasons & ~BY_VISIBILITY; // inherited
  }

  /** Whether its style, or a rule that is not about the pointer, hides an element by visibility. @param {El} el */
  hasHidingRule(el) {
    if (hasAttr(el, "style") && hidingBits(el.style) & BY_VISIBILITY) return true;
    const rules = this.rulesOf(treeOf(el));
    if (rules === null) return false;
    const hiding = this.hidingIn(rules);
    return (hiding !== "" && matchesSelector(el, hiding)) || rules.shows.some((rule) => rule.unless && rule.bits & BY_VISIBILITY && matchesSelector(el, rule.selector));
  }

  /** What the rules match that hide by visibility. @param {HoverRules} rules */
  hidingIn(rules) {
    let selector = this.hiding.get(rules);
    if (selector === undefined) {
      selector = listOf(rules.hides.filter((rule) => rule.bits & BY_VISIBILITY && this.applies(rule, true) && !HOVER.test(rule.selector)));
      this.hiding.set(rules, selector);
    }
    return selector;
  }

  /**
   * What rules do to an element while the pointer is over another one, as bits, by that other one.
   * @param {El} el @param {number} reasons what hides it
   */
  showingOf(el, reasons) {
    /** @type {Map<El, number>} */
    const out = new Map();
    const rules = this.rulesOf(treeOf(el));
    if (rules === null || !rules.query || !matchesSelector(el, rules.query)) return out;
    for (const rule of rules.shows) { // with an unknown condition, rules may hide, but are not said to show
      const wanted = rule.bits & (reasons | BY_POINTER);
      if (!wanted || !rule.hover || !matchesSelector(el, rule.hover.bare) || !this.applies(rule, false)) continue;
      const trigger = rule.hover.triggerOf(el);
      const bits = trigger ? this.unbeaten(el, rules, rule, wanted) : 0;
      if (trigger && bits) out.set(trigger, (out.get(trigger) || 0) | bits);
    }
    return out;
  }

  /**
   * The bits of a rule that no stronger one takes back.
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

  /** What the rules match that hide in spite of a rule. @param {HoverRules} rules @param {StateRule} rule @param {number} bit */
  strongerThan(rules, rule, bit) {
    let known = this.stronger.get(rule);
    if (!known) this.stronger.set(rule, (known = []));
    if (known[bit] === undefined) {
      known[bit] = listOf(rules.hides.filter((hiding) => hiding.bits & bit && this.applies(hiding, true) && rules.beats(hiding, rule, bit)));
    }
    return known[bit];
  }

  /** Whether the conditions of a rule hold. @param {StateRule} rule @param {boolean} unknown what an unknown one counts as */
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

/** What any of some rules matches, whatever is hovered; "": there are none. @param {StateRule[]} rules */
function listOf(rules) {
  return rules.length ? ":is(" + rules.map(({ selector }) => withoutHover(selector)).join(",") + ")" : "";
}

/** The bits of both by trigger, for the triggers of the first. @param {Map<El, number>} triggers @param {Map<El, number>} more */
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
    /** How many controls the words do not name. */
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

/** The name of a control that is not visible. @param {El} el @param {string} tag */
function hoverText(el, tag) {
  const image = firstWithin(el, "img[alt]");
  return clean(reportedAttribute(el, "aria-label") || reportedWords(el, MAX_HOVER_NAME) || (isCaption(el) && tag === "input" && reportedCaption(el)) ||
    reportedAttribute(el, "title") || (image && reportedAttribute(image, "alt")) || reportedAttribute(el, "placeholder") || "", MAX_HOVER_NAME);
}

/** The same, or its title or icon when that has no letters, as one word of small letters, digits and hyphens. @param {El} el @param {string} tag */
function hoverName(el, tag) {
  return hoverWord(hoverText(el, tag)) || hoverWord(reportedAttribute(el, "title") || "") || hoverWord(iconOf(el, tag));
}

/** A name as one word of small letters, digits and hyphens; "": it has other letters. @param {string} name */
function hoverWord(name) {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const word = /[^\x00-\x7f…]/.test(plain) ? "" : (plain.match(/[a-z0-9]+/g) || []).join("-");
  return word.length > MAX_MARK ? word.slice(0, MAX_MARK + 1).replace(/-[^-]*$/, "").slice(0, MAX_MARK) : word;
}

// @ts-check
// Looks finds changes in the appearance of listed elements that an action causes by a class, a style or an attribute alone:
// a seat that turns green, a cell that turns black.
//
// Old styles cannot be read after a change. Looks therefore reads the appearance of the target and its neighbours before
// the input. At each check for notices (58-notices.js), it reads the mutated ones again. The effects of hover, focus and
// pressed buttons do not count: the styles of the elements concerned are read again at each event of the input, until the
// page mutates them. Changes while the pointer approaches count as earlier state. Transitions count with their final
// values. All work is bounded, independent of the page size.

/** The number of listed elements before and after the target that are read. */
const LOOKED_BESIDE = 24;
/** The maximum number of known elements per act, and of mutated elements. */
const MAX_LOOKED = 200;
/**
 * The number of ancestors of a mutated element among which a listed element is searched, and the maximum number of listed
 * elements within a mutated one that are compared.
 */
const MAX_ABOVE = 4, MAX_INSIDE = 12;
/** The maximum number of distinct differences that are reported, and of elements that are named for each. */
const MAX_LOOKS = 4, MAX_LOOKING_ALIKE = 8;
/** Smaller differences between lengths do not count. */
const SAME_SIZE = 2;
/** The input events before which the styles of their targets are read again. */
const INPUT_BEGINS = new Set(["pointerdown", "keydown"]), INPUT_GOES_ON = new Set(["mousedown", "pointerup", "mouseup", "click"]);
/** The input events that directly follow another one, so that styles are read again only if state or focus has changed. */
const INPUT_REPEATS = new Set(["mousedown", "mouseup"]);

/**
 * The properties that are compared, in the order of propertiesOf, with the words for them.
 * @type {[keyof CSSStyleDeclaration & string, string][]}
 */
const LOOK = [
  ["backgroundColor", "background"], ["backgroundImage", "background"], ["color", "color"], ["boxShadow", "shadow"], ["opacity", "opacity"],
  ["borderTopWidth", "border"], ["borderTopColor", "border"], ["borderBottomWidth", "border"], ["borderBottomColor", "border"], ["outlineStyle", "outline"],
  ["textDecorationLine", "line"], ["fontWeight", "weight"], ["transform", "transform"], ["filter", "filter"], ["fill", "fill"],
  ["stroke", "fill"], ["content", "icon"], ["maskImage", "icon"], ["width", "size"], ["height", "size"],
];
/** The properties whose colors are reported. */
const REPORTED_COLORS = new Set(["backgroundColor", "color", "fill"]);
/** The color of a border without width is not drawn. @type {Record<string, string>} */
const DRAWN_WITH = { borderTopColor: "borderTopWidth", borderBottomColor: "borderBottomWidth" };

/**
 * The appearance of an element. own contains its values of LOOK. inner is its first child element, and innerProps contains
 * the values of the child. drawn describes its ::before and ::after. on records whether the pointer and the focus are on
 * it.
 * @typedef {{own: string[], inner: El | null, innerProps: string[], drawn: string, on: string}} Look
 */

class Looks {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /**
     * The appearance of elements before the input, and before the page first mutated them, with their listed fields. state
     * records whether the element was hovered, focused and pressed at the last event, and focused the focused element of the page.
     * @type {Map<El, {first: Look, last: Look, state: string, focused: El | null, fields: string}>}
     */
    this.known = new Map();
    /** The target of the input, until its neighbours are read. @type {El | null} */
    this.due = null;
    /** The elements that were mutated since the input. @type {Set<El>} */
    this.mutated = new Set();
    /** The elements that were mutated while the pointer approached, or null once it has arrived. @type {Set<El> | null} */
    this.approach = null;
    /** The notices, by the first element of each distinct difference. @type {Map<El, Notice>} */
    this.told = new Map();
  }

  clear() {
    this.known.clear();
    this.due = null;
    this.mutated.clear();
    this.approach = null;
    this.told.clear();
  }

  /**
   * Prepares for input to an element. The caller calls readDue before the first event of the input. Until this event, changes of
   * the page count as earlier state.
   * @param {El} target
   */
  begin(target) {
    this.readDue(); // of an earlier target in this act
    this.due = target;
    this.approach = new Set();
  }

  /** Reads the appearance of the target and of its listed neighbours, unless that is done. */
  readDue() {
    const target = this.due;
    this.due = null;
    const at = target && (this.listedAround(target) || this.model.records.get(target));
    if (!at || !at.shown || !safe.isConnected(at.node)) return;
    this.learn(at);
    for (let rec = at.next, left = LOOKED_BESIDE; rec && left > 0; rec = rec.next, left--) this.learn(rec);
    for (let rec = at.prev, left = LOOKED_BESIDE; rec && rec.node && left > 0; rec = rec.prev, left--) this.learn(rec);
  }

  /** @param {Rec} rec */
  learn(rec) {
    const { node, fields } = rec;
    if (fields[F_KIND] !== INTERACTIVE || this.known.has(node) || this.known.size >= MAX_LOOKED || holdsOne(node, this.mutated)) return;
    const look = this.at(node);
    this.known.set(node, { first: look, last: look, state: "", focused: null, fields: reportedFields(rec, this.model.variants) });
  }

  /** Returns the present appearance of an element. @param {El} el */
  at(el) {
    return lookAt(el, this.model.naming.generated.drawing);
  }

  /** @param {MutationRecord[]} records */
  record(records) {
    if (this.known.size === 0 && this.due === null) return;
    const mutated = this.approach || this.mutated;
    for (const r of records) {
      if (mutated.size >= MAX_LOOKED) return;
      if (r.type === "attributes") mutated.add(/** @type {El} */ (r.target));
    }
  }

  /** Records an input event that is about to reach the page. All earlier mutations are already recorded. @param {Event} event */
  recordInput(event) {
    if (INPUT_BEGINS.has(event.type)) this.endApproach();
    else if (!INPUT_GOES_ON.has(event.type)) return;
    const focused = focusedNow();
    for (const target of event.composedPath().slice(0, 2 * MAX_ABOVE)) {
      const el = /** @type {El} */ (target), known = this.known.get(el);
      if (!known) continue;
      const state = whatIsOn(el) + (safe.matches(el, ":active") ? "pressed" : "");
      if (INPUT_REPEATS.has(event.type) && state === known.state && focused === known.focused) continue;
      Object.assign(known, { state, focused });
      if (!holdsOne(el, this.mutated)) known.last = this.at(el);
    }
  }

  /** Ends the approach of the pointer. Changes during the approach, or before a key, are not effects of the input. */
  endApproach() {
    const { approach } = this;
    if (approach === null) return;
    this.approach = null;
    for (const [el, known] of this.known) {
      if (holdsOne(el, this.mutated)) continue;
      const left = known.last.on !== "" && known.last.on !== whatIsOn(el);
      if (left || holdsOne(el, approach)) known.first = known.last = this.at(el);
    }
  }

  /** Returns the nearest listed interactive element that is or contains an element. @param {El} el */
  listedAround(el) {
    for (let /** @type {El | null} */ n = el, up = 0; n && up <= MAX_ABOVE; n = flatElement(n), up++) {
      const rec = this.model.records.get(n);
      if (rec && rec.shown && rec.fields[F_KIND] === INTERACTIVE) return rec;
    }
    return null;
  }

  /** Returns the known elements that the mutations may have changed. */
  subjects() {
    /** @type {Set<El>} */
    const found = new Set();
    for (const el of [...this.mutated, ...(this.approach || [])]) {
      if (!safe.isConnected(el)) continue;
      const rec = this.listedAround(el);
      if (rec) found.add(rec.node);
      if (rec && rec.node !== el) continue;
      let left = MAX_INSIDE;
      for (const other of this.known.keys()) {
        if (left === 0) break;
        if (other === el || !safe.contains(el, other)) continue;
        left--;
        found.add(other);
      }
    }
    return found;
  }

  /**
   * Returns the distinct differences, each with its elements. It leaves out elements whose name, value, states or hints
   * also differ.
   * @returns {Map<string, Rec[]>}
   */
  different() {
    /** @type {Map<string, Rec[]>} */
    const ways = new Map();
    if (this.known.size === 0 || this.mutated.size + (this.approach ? this.approach.size : 0) === 0) return ways;
    const animations = this.model.animations.list();
    /** @type {Map<El, string>} */
    const found = new Map();
    for (const el of this.subjects()) {
      const known = this.known.get(el);
      const words = known ? differenceOfLooks(el, known.first, known.last, this.at(el), animations) : "";
      if (words !== "") found.set(el, words);
    }
    if (found.size > 0 && this.model.pending) this.model.refresh.update(false);
    for (const [el, words] of found) {
      const known = this.known.get(el), rec = this.model.records.get(el);
      if (!known || !rec || !rec.shown || rec.ref < 0 || reportedFields(rec, this.model.variants) !== known.fields) continue;
      const alike = ways.get(words);
      if (alike) alike.push(rec);
      else if (ways.size < MAX_LOOKS) ways.set(words, [rec]);
    }
    return ways;
  }
}

/** Whether an element is or contains one of the nodes. @param {El} el @param {Set<El>} nodes */
function holdsOne(el, nodes) {
  for (const node of nodes) if (safe.contains(el, node)) return true;
  return false;
}

/**
 * Returns the listed fields of an element, except the focus and the class that describes its look.
 * @param {Rec} rec @param {Variants} variants
 */
function reportedFields({ node, tag, fields }, variants) {
  let marks = fields[F_MARKS];
  if (marks !== "") {
    const variant = variants.of(node, tag, tag === "a");
    marks = marks.split(" ").filter((mark) => mark !== variant).join(" ");
  }
  return [fields[F_TEXT], fields[F_VALUE], marks, fields[F_STATES] & ~(3 << S_FOCUSED)].join("\n");
}

/** Returns the names of the elements with the same difference, for the text of a notice. @param {Set<string>} names */
function namesOf(names) {
  const more = names.size - MAX_PIECE_NAMES;
  return [...names].slice(0, MAX_PIECE_NAMES).join(", ") + (more > 0 ? " and " + more + " more" : "");
}

/** Returns the refs of the other elements with the same difference, for the detail of a notice. @param {Rec[]} others */
function refsOf(others) {
  const refs = others.slice(0, MAX_LOOKING_ALIKE).map((rec) => rec.ref).join(", ");
  return others.length > MAX_LOOKING_ALIKE ? refs + " and " + (others.length - MAX_LOOKING_ALIKE) + " more" : refs;
}

/** @param {El} el @param {boolean} drawing whether an element may have a ::before or ::after @returns {Look} */
function lookAt(el, drawing) {
  const inner = safe.firstElementChild(el);
  return {
    own: propertiesOf(el, true), inner, innerProps: inner ? propertiesOf(inner, false) : [],
    drawn: drawing ? drawnIn(el, "::before") + drawnIn(el, "::after") : "", on: whatIsOn(el),
  };
}

/** Matches the width and the color of a border that is the same on all sides. */
const EQUAL_BORDERS = /^(\S+) \S+ (.+)$/;

/**
 * Returns the values of LOOK. Values that wordFor never compares are empty, because reading one takes up to 2 µs before
 * every press.
 * @param {El} el @param {boolean} own see wordFor
 */
function propertiesOf(el, own) {
  const style = getComputedStyle(el), drawing = isSVG(el);
  const [, width, color] = EQUAL_BORDERS.exec(style.border) || [];
  return [
    style.backgroundColor, style.backgroundImage, style.color, style.boxShadow, style.opacity,
    width || style.borderTopWidth, color || style.borderTopColor, width || style.borderBottomWidth, color || style.borderBottomColor,
    style.outlineStyle, style.textDecorationLine, style.fontWeight, style.transform, style.filter, drawing ? style.fill : "", drawing ? style.stroke : "",
    style.content, style.maskImage, own ? style.width : "", own ? style.height : "",
  ];
}

/** Whether the pointer and the focus are on an element. @param {El} el */
function whatIsOn(el) {
  return (safe.matches(el, ":hover") ? "pointer " : "") + (safe.matches(el, ":focus-within") ? "focus" : "");
}

/** Returns the appearance of a pseudo-element, or "" if it does not exist. @param {El} el @param {string} pseudo */
function drawnIn(el, pseudo) {
  const style = getComputedStyle(el, pseudo), { content } = style;
  if (content === "none" || content === "normal") return "";
  return [content, style.color, style.backgroundColor, style.backgroundImage, style.borderTopWidth, style.opacity, style.transform, style.display].join(" ") + "\n";
}

/**
 * Returns a description of how an element now differs from its appearance before the input and before its first mutation,
 * or "" if the page changed nothing. A pressed button regains its earlier appearance.
 * @param {El} el @param {Look} first @param {Look} last @param {Look} now @param {Animation[]} animations
 */
function differenceOfLooks(el, first, last, now, animations) {
  if (now.on !== last.on) return "";
  const words = new Set(wordsFor(el, true, [first.own, last.own, now.own], animations));
  const { inner } = now;
  if (inner && inner === last.inner && inner === first.inner) {
    for (const word of wordsFor(inner, false, [first.innerProps, last.innerProps, now.innerProps], animations)) words.add(word);
  }
  if (now.drawn !== last.drawn && now.drawn !== first.drawn && !animations.some((one) => animates(one, el, true))) words.add("icon");
  return [...words].join(", ");
}

/**
 * Returns a description of the properties that differ.
 * @param {El} el @param {boolean} own whether it is the listed element itself @param {string[][]} looks first, last and now
 * @param {Animation[]} animations
 */
function wordsFor(el, own, [first, last, now], animations) {
  /** @type {string[]} */
  const words = [];
  const ended = endsOf(animations, el, now, LOOK);
  if (ended === null) return words;
  ended.forEach((value, i) => {
    const word = value === first[i] || value === last[i] ? "" : wordFor(i, last, ended, el, own);
    if (word) words.push(word);
  });
  return words;
}

/**
 * Returns a description of a property that differs, or "" if the difference is invisible.
 * @param {number} i @param {string[]} was @param {string[]} now @param {El} el @param {boolean} own
 */
function wordFor(i, was, now, el, own) {
  const [name, word] = LOOK[i];
  const width = LOOK.findIndex(([other]) => other === DRAWN_WITH[name]);
  if (width >= 0 && now[width] === "0px") return "";
  if (name === "color" && !hasText(safe.textContent(el))) return "";
  if (word === "fill" && !isSVG(el)) return "";
  if (word === "outline" && /^(?:auto none|none auto)$/.test(was[i] + " " + now[i])) return ""; // the browser's ring around the focus
  if (word === "size" && !(own && Math.abs(parseFloat(was[i]) - parseFloat(now[i])) >= SAME_SIZE)) return "";
  if (!REPORTED_COLORS.has(name)) return word;
  const change = changeOfColor(was[i], now[i], name === "backgroundColor" ? flatElement(el) : el);
  return change && word + " " + change;
}

/**
 * Returns the values of an element after its transitions, or null while another animation affects it.
 * @param {Animation[]} animations @param {El} el @param {string[]} values @param {[keyof CSSStyleDeclaration & string, string][]} properties those of the values
 */
function endsOf(animations, el, values, properties) {
  const ended = values.slice();
  for (const animation of animations) {
    if (!animates(animation, el, false)) continue;
    const frames = /** @type {KeyframeEffect} */ (animation.effect).getKeyframes();
    if (!(animation instanceof CSSTransition) || frames.length === 0) return null;
    properties.forEach(([name], i) => {
      const end = frames[frames.length - 1][name];
      if (end !== undefined && end !== null) ended[i] = String(end);
    });
  }
  return ended;
}

/**
 * Whether a running animation affects an element, or its ::before or ::after.
 * @param {Animation} animation @param {El} el @param {boolean} pseudo
 */
function animates({ effect, playState }, el, pseudo) {
  const { target, pseudoElement } = /** @type {KeyframeEffect} */ (effect || {});
  return target === el && playState === "running" && (pseudoElement !== null) === pseudo;
}

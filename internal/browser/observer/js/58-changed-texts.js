// @ts-check
// ChangedTexts finds texts in the flow of the page that change while the daemon acts: a counter, a total, a new paragraph.
//
// It processes mutations, and keeps the texts that changed since the last check and the texts that were removed since
// begin. A check returns the blocks whose text differs. A redraw alone is no change: a text does not count if an equal text
// was removed from an element of the same tag. The texts of controls, live regions, dialogs and headings are reported
// elsewhere (Notices, elements).

/**
 * The maximum number of changed blocks that are reported per act, and the maximum if the additional blocks are informative.
 */
const MAX_TEXTS = 3, MAX_TELLING = 5;
/** The number of points from which a text is informative, judging by the markup of its page. */
const TELLS = 3;
/** Matches classes and ids that pages use for elements with an answer. */
const ANSWERS = /(?:^|[-_\s])(?:err(?:or)?s?|fail(?:ed|ure)?|success|msg|messages?|results?|outcome|total|sum|summary|status|notice|alert|warning|count|counter|balance|output|score|answer|feedback|hint|info|confirmation|receipt|code|key|token|secret)(?:$|[-_\s])/i;
/** Tags of emphasized text, and of computed values. */
const EMPHASIS = new Set(["output", "strong", "b", "em", "mark", "code", "kbd", "samp", "pre", "big"]);
/** Elements that usually have similar siblings, and the number of similar siblings that make any element one of many. */
const ITEMS = new Set(["li", "td", "tr", "option", "dt", "dd"]), MANY_ALIKE = 3;
/** The maximum number of reported characters. Of a longer block, only the changed part is reported. */
const MAX_BLOCK_TEXT = 100;
/** The maximum number of characters of a raw text that is compared. */
const MAX_RAW_TEXT = 2000;
/** The maximum number of changes that are examined, and of texts in each added element. */
const MAX_TOUCHED_TEXTS = 200;
/** The maximum number of nodes that are walked per act for the texts of removed and added elements. */
const MAX_TEXT_WALK = 2000;
/** The number of ancestors in which the block of a text is searched. */
const MAX_PHRASES = 8;
/** Tags of elements that are listed or that name listed elements, even before they are examined. */
const LISTED_TAGS = new Set(["button", "input", "label", "option", "select", "summary", "textarea"]);

class ChangedTexts {
  /** @param {Reveals} reveals receives the elements that are still hidden */
  constructor(reveals) {
    this.reveals = reveals;
    /** The nodes that changed or were added since the last check. @type {Set<DomNode>} */
    this.changed = new Set();
    /**
     * The number of times that each text was removed since begin, by the tag of its element and the text.
     * @type {Map<string, number>}
     */
    this.removed = new Map();
    /** The blocks that were reported since begin. @type {Map<El, Notice>} */
    this.reported = new Map();
    /** The points of each notice; see pointsOf. @type {Map<Notice, number>} */
    this.points = new Map();
    this.walks = 0;
    /** The number of reported blocks, and the number of blocks beyond the limit. */
    this.made = this.more = 0;
    /** The notice that states the number of further blocks. @type {Notice | null} */
    this.last = null;
  }

  /** Clears all records, before and after an act. */
  begin() {
    this.changed.clear();
    this.removed.clear();
    this.reported.clear();
    this.points.clear();
    this.walks = this.made = this.more = 0;
    this.last = null;
  }

  /** @param {MutationRecord} r */
  record(r) {
    const target = /** @type {DomNode} */ (r.target);
    if (r.type === "childList") {
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.removedNodes)) this.remove(n, target);
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) this.add(n);
    } else if (r.attributeName === "open" && tagOf(/** @type {El} */ (target)) === "details" && hasAttr(/** @type {El} */ (target), "open")) {
      for (let n = safe.firstChild(target); n && this.changed.size < MAX_TOUCHED_TEXTS; n = safe.nextSibling(n)) if (!isElement(n) || tagOf(n) !== "summary") this.add(n);
    } else if (r.type === "characterData" || (r.attributeName === "hidden" && isElement(target) && !hasAttr(target, "hidden"))) {
      this.add(target);
    }
  }

  /** @param {DomNode} node */
  add(node) {
    if (this.changed.size < MAX_TOUCHED_TEXTS) this.changed.add(node);
  }

  /** @param {DomNode} node @param {DomNode} parent the node from which it was removed */
  remove(node, parent) {
    for (const text of this.textsIn(node)) {
      const key = keyOf(text, text === node ? parent : safe.parentNode(text));
      if (key !== "") this.removed.set(key, (this.removed.get(key) || 0) + 1);
    }
  }

  /** Returns the non-empty text nodes in a node, or the node itself. @param {DomNode} node @returns {Text[]} */
  textsIn(node) {
    /** @type {Text[]} */
    const out = [];
    for (let /** @type {DomNode | null} */ n = node; n && this.walks < MAX_TEXT_WALK; this.walks++) {
      if (isText(n) && hasText(n.data)) out.push(n);
      n = following(n, node);
    }
    return out;
  }

  /** Whether a text replaces an equal removed text. Each removed text counts only once. @param {Text} text */
  isRedrawn(text) {
    const key = keyOf(text, safe.parentNode(text));
    const times = this.removed.get(key) || 0;
    if (times > 0) this.removed.set(key, times - 1);
    return times > 0;
  }

  /** Whether the text of an element is read. Hidden elements are kept, because they may be shown later. @param {El} el */
  isShown(el) {
    if (isRead(el)) return true;
    if (!isShown(el)) this.reveals.add(el);
    return false;
  }

  /**
   * Returns the reported block with the fewest points, if it has fewer than a new block, which may then replace it.
   * @param {number} points
   */
  leastBelow(points) {
    /** @type {El | null} */
    let least = null;
    for (const [block, notice] of this.reported) {
      const own = this.points.get(notice) || 0;
      if (own >= points) continue;
      points = own;
      least = block;
    }
    return least;
  }

  /**
   * Returns the blocks whose text differs from the last check, with their texts.
   * @param {(el: El) => boolean} isElsewhere whether the text of an element is reported elsewhere
   * @param {(el: El) => boolean} isMessage whether an element is a live region that is reported as such
   * @returns {Map<El, string>}
   */
  take(isElsewhere, isMessage) {
    const out = new Map();
    for (const node of this.changed) {
      if (!safe.isConnected(node)) continue;
      for (const text of this.textsIn(node)) {
        const owner = flatElement(text);
        if (!owner) continue;
        const inner = blockOf(owner), around = rowIn(node, inner), run = around === inner ? runAround(text, inner) : null;
        const block = (run && /** @type {El | undefined} */ (run.find(isShownPhrase))) || around;
        if ((this.isRedrawn(text) && !this.reported.has(block)) || out.has(block)) continue;
        if (isReportedElsewhere(owner, isElsewhere, isMessage) || !this.isShown(block) || !this.isShown(owner)) continue;
        /** @param {El} el */
        const skip = (el) => isListedTag(el) || isElsewhere(el);
        const said = run && !isTextMasked(around) ? textOfNodes(run, MAX_BLOCK_TEXT + 1, skip) : noticeText(block, MAX_BLOCK_TEXT + 1, skip);
        out.set(block, said.length <= MAX_BLOCK_TEXT ? said : noticeText(owner, MAX_BLOCK_TEXT));
      }
    }
    this.changed.clear();
    return out;
  }
}

/**
 * Returns how informative a changed text is likely to be. A text that the page marks as an answer or emphasizes, or that
 * changes in place, has more points than one of many rows that were added together.
 * @param {El} block @param {Set<El>} added the elements that came with the change
 */
function pointsOf(block, added) {
  let points = 0, stays = true, many = false;
  for (let /** @type {El | null} */ n = block, up = 0; n && up < MAX_PHRASES; n = flatElement(n), up++) {
    if (up < 2 && ANSWERS.test((attr(n, "class") || "").slice(0, 200) + " " + (attr(n, "id") || "").slice(0, 100))) points = TELLS;
    if (added.has(n)) stays = false;
    many = many || isOneOfMany(n);
  }
  if (EMPHASIS.has(tagOf(block)) || firstWithin(block, "strong,b,mark,code,kbd,output")) points++;
  return points + (stays ? 2 : 0) - (many ? 2 : 0);
}

/** Whether an element has similar siblings. @param {El} el */
function isOneOfMany(el) {
  const tag = tagOf(el);
  if (ITEMS.has(tag)) return true;
  const kind = attr(el, "class");
  if (!kind) return false;
  let alike = 1;
  for (let n = safe.nextElementSibling(el); n && alike < MANY_ALIKE && attr(n, "class") === kind; n = safe.nextElementSibling(n)) alike++;
  for (let n = elementBefore(el); n && alike < MANY_ALIKE && attr(n, "class") === kind; n = elementBefore(n)) alike++;
  return alike >= MANY_ALIKE;
}

/**
 * Returns the key of a text among the removed texts, or "" if the text is blank.
 * @param {Text} text @param {DomNode | null} parent
 */
function keyOf(text, parent) {
  const words = clean(text.data, MAX_BLOCK_TEXT);
  return words === "" ? "" : (parent && isElement(parent) ? tagOf(parent) : "") + " " + words;
}

/**
 * Returns the next node in tree order below a root, or null.
 * @param {DomNode} node @param {DomNode} root @returns {DomNode | null}
 */
function following(node, root) {
  if (isElement(node) && !NO_MESSAGE.has(tagOf(node))) {
    const child = safe.firstChild(node);
    if (child) return child;
  }
  for (let /** @type {DomNode | null} */ n = node; n && n !== root; n = safe.parentNode(n)) {
    const next = safe.nextSibling(n);
    if (next) return next;
  }
  return null;
}

/** Returns the beginning of the raw text in a node, for comparisons. @param {DomNode} root */
function rawTextIn(root) {
  let out = "", left = MAX_NOTICE_NODES;
  for (let /** @type {DomNode | null} */ n = root; n && left > 0 && out.length < MAX_RAW_TEXT; n = following(n, root), left--) if (isText(n)) out += n.data;
  return out.slice(0, MAX_RAW_TEXT);
}

/** Returns the element whose text is read as a unit: the nearest element that is not inline. @param {El} el */
function blockOf(el) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_PHRASES; n = flatElement(n), up++) {
    if (!PHRASING.has(tagOf(n))) return n;
  }
  return el;
}

/**
 * Tags of large parts of a page. An element with MANY_BLOCKS blocks among its first MAX_CHILDREN children is also a large
 * part.
 */
const PARTS = new Set(["body", "main", "form"]), MANY_BLOCKS = 4, MAX_CHILDREN = 40;

/**
 * Returns the inline run around a text that is directly in a large part of the page, or null if the part is small and read
 * as a unit.
 * @param {Text} text @param {El} part @returns {(El | Text)[] | null}
 */
function runAround(text, part) {
  /** @type {El | Text} */
  let top = text;
  for (let up = 0, n = flatElement(text); n && n !== part && up < MAX_PHRASES; n = flatElement(n), up++) top = n;
  if (flatElement(top) !== part || !isLargePart(part)) return null;
  /** @type {(El | Text)[]} */
  const run = [top];
  for (let n = neighbourOf(top, false); n && !endsRun(n) && run.length < MAX_CHILDREN; n = neighbourOf(n, false)) run.unshift(n);
  for (let n = neighbourOf(top, true); n && !endsRun(n) && run.length < 2 * MAX_CHILDREN; n = neighbourOf(n, true)) run.push(n);
  return run;
}

/**
 * Returns the element or text next to a node, or null.
 * @param {El | Text} node @param {boolean} behind @returns {El | Text | null}
 */
function neighbourOf(node, behind) {
  let n = behind ? safe.nextSibling(node) : safe.previousSibling(node);
  while (n && !isElement(n) && !isText(n)) n = behind ? safe.nextSibling(n) : safe.previousSibling(n);
  return n;
}

/** Whether a node is a drawn inline element. @param {El | Text} node */
function isShownPhrase(node) {
  return isElement(node) && PHRASING.has(tagOf(node)) && isShown(node);
}

/** Whether an inline run ends at a node. @param {El | Text} node */
function endsRun(node) {
  if (isText(node)) return false;
  const tag = tagOf(node);
  return tag === "br" || (!PHRASING.has(tag) && !NO_MESSAGE.has(tag) && !/^(?:inline|contents|none)/.test(getComputedStyle(node).display));
}

/** Whether an element is a large part of the page. @param {El} el */
function isLargePart(el) {
  if (PARTS.has(tagOf(el))) return true;
  let blocks = 0, seen = 0;
  for (let n = safe.firstElementChild(el); n && seen < MAX_CHILDREN && blocks < MANY_BLOCKS; n = safe.nextElementSibling(n), seen++) {
    if (endsRun(n) && tagOf(n) !== "br") blocks++;
  }
  return blocks >= MANY_BLOCKS;
}

/**
 * Returns the row or list item around a block, if it was added with a node. It is read as a unit.
 * @param {DomNode} node @param {El} block
 */
function rowIn(node, block) {
  for (let /** @type {El | null} */ n = block, up = 0; n && up < MAX_PHRASES && safe.contains(node, n); n = flatElement(n), up++) {
    if (tagOf(n) === "tr" || tagOf(n) === "li") return n;
  }
  return block;
}

/** Whether an element is listed or names a listed element, by its tag. @param {El} el */
function isListedTag(el) {
  const tag = tagOf(el);
  return LISTED_TAGS.has(tag) || (tag === "a" && hasAttr(el, "href"));
}

/**
 * Whether the text of an element is reported elsewhere, or is not readable text.
 * @param {El} el @param {(el: El) => boolean} isElsewhere @param {(el: El) => boolean} isMessage
 */
function isReportedElsewhere(el, isElsewhere, isMessage) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    if (NO_MESSAGE.has(tagOf(n)) || isListedTag(n) || isMessage(n) || isMainHeading(n) || isElsewhere(n)) return true;
  }
  return false;
}

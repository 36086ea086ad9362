// @ts-check
// Texts in the flow of the page that change while the daemon acts: a counter, a total, a paragraph that is new.
//
// ChangedTexts takes in mutations, and keeps the texts that changed since the last check and those that were
// removed since begin. A check returns which blocks say something else. A page that draws itself anew says
// nothing new by that: a text counts only if none was removed that reads the same, in an element of the same
// tag. What controls, live regions, dialogs and headings say is reported elsewhere (Notices, elements).

/** How many changed blocks are reported in one act, and how many if those beyond tell something. */
const MAX_TEXTS = 3, MAX_TELLING = 5;
/** From how many points on a text tells something by what its page says of it. */
const TELLS = 3;
/** What pages call the elements that hold an answer, in their classes and ids. */
const ANSWERS = /(?:^|[-_\s])(?:err(?:or)?s?|fail(?:ed|ure)?|success|msg|messages?|results?|outcome|total|sum|summary|status|notice|alert|warning|count|counter|balance|output|score|answer|feedback|hint|info|confirmation|receipt|code|key|token|secret)(?:$|[-_\s])/i;
/** Tags of what is said with emphasis, and of computed values. */
const EMPHASIS = new Set(["output", "strong", "b", "em", "mark", "code", "kbd", "samp", "pre", "big"]);
/** Containers whose children are alike by their nature, and how many children like an element make it one of many. */
const ITEMS = new Set(["li", "td", "tr", "option", "dt", "dd"]), MANY_ALIKE = 3;
/** How many characters of a text are reported; a longer block is reported by the part of it that changed. */
const MAX_BLOCK_TEXT = 100;
/** How many changes, and how many texts in each added element, are looked at. */
const MAX_TOUCHED_TEXTS = 200;
/** How many nodes are walked for the texts of all removed and added elements of one act. */
const MAX_TEXT_WALK = 2000;
/** How far up a block is searched. */
const MAX_PHRASES = 8;
/** What is listed, or names what is, whether or not it was examined yet. */
const LISTED_TAGS = new Set(["button", "input", "label", "option", "select", "summary", "textarea"]);

class ChangedTexts {
  /** @param {Reveals} reveals gets what is not shown yet */
  constructor(reveals) {
    this.reveals = reveals;
    /** What changed or was added since the last check. @type {Set<DomNode>} */
    this.changed = new Set();
    /** How often each text was removed since begin, by the tag of its element and the words. @type {Map<string, number>} */
    this.removed = new Map();
    /** The blocks that were reported since begin. @type {Map<El, Notice>} */
    this.reported = new Map();
    /** How much each of them tells. @type {Map<Notice, number>} */
    this.points = new Map();
    this.walks = 0;
    /** How many blocks were reported, and how many were too many. */
    this.made = this.more = 0;
    /** The notice that says how many more there are. @type {Notice | null} */
    this.last = null;
  }

  /** Forgets what was before an act, or after it. */
  begin() {
    this.changed.clear();
    this.removed.clear();
    this.reported.clear();
    this.points.clear();
    this.walks = this.made = this.more = 0;
    this.last = null;
  }

  /** @param {MutationRecord} r */
  note(r) {
    const target = /** @type {DomNode} */ (r.target);
    if (r.type === "childList") {
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.removedNodes)) this.remove(n, target);
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) this.add(n);
    } else if (r.type === "characterData" || (r.attributeName === "hidden" && isElement(target) && !hasAttr(target, "hidden"))) {
      this.add(target);
    }
  }

  /** @param {DomNode} node */
  add(node) {
    if (this.changed.size < MAX_TOUCHED_TEXTS) this.changed.add(node);
  }

  /** @param {DomNode} node @param {DomNode} parent what it was removed from */
  remove(node, parent) {
    for (const text of this.textsIn(node)) {
      const key = keyOf(text, text === node ? parent : safe.parentNode(text));
      if (key !== "") this.removed.set(key, (this.removed.get(key) || 0) + 1);
    }
  }

  /** The text nodes in a node, itself included, that are not empty. @param {DomNode} node @returns {Text[]} */
  textsIn(node) {
    /** @type {Text[]} */
    const out = [];
    for (let /** @type {DomNode | null} */ n = node; n && this.walks < MAX_TEXT_WALK; this.walks++) {
      if (isText(n) && hasText(n.data)) out.push(n);
      n = following(n, node);
    }
    return out;
  }

  /** Whether a text replaces an equal one, which is used up by that. @param {Text} text */
  isRedrawn(text) {
    const key = keyOf(text, safe.parentNode(text));
    const times = this.removed.get(key) || 0;
    if (times > 0) this.removed.set(key, times - 1);
    return times > 0;
  }

  /** Whether the text of an element is read. What is not shown yet may be shown later. @param {El} el */
  isShown(el) {
    if (isRead(el)) return true;
    if (!isShown(el)) this.reveals.add(el);
    return false;
  }

  /** The reported block that tells least, if it tells less than one that is new: its notice may say the new one. @param {number} points */
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
   * The blocks that say something else than at the last check, with what they say.
   * @param {(el: El) => boolean} isElsewhere whether what an element says is reported elsewhere
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
        if (isSaidElsewhere(owner, isElsewhere, isMessage) || !this.isShown(block) || !this.isShown(owner)) continue;
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
 * How much a changed text is likely to tell: what the page calls an answer or emphasizes, and what changes where it was, tells more
 * than one of many rows that came together.
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

/** Whether an element stands among others like it. @param {El} el */
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

/** The key of a text among the removed ones; empty: it says nothing. @param {Text} text @param {DomNode | null} parent */
function keyOf(text, parent) {
  const words = clean(text.data, MAX_BLOCK_TEXT);
  return words === "" ? "" : (parent && isElement(parent) ? tagOf(parent) : "") + " " + words;
}

/** The node that follows in a tree, below a root; null: none. @param {DomNode} node @param {DomNode} root @returns {DomNode | null} */
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

/** The element whose text is read as one: the nearest that does not run in the text around it. @param {El} el */
function blockOf(el) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_PHRASES; n = flatElement(n), up++) {
    if (!PHRASING.has(tagOf(n))) return n;
  }
  return el;
}

/** Tags of large parts of a page, and how many blocks in an element make it one, of so many children. */
const PARTS = new Set(["body", "main", "form"]), MANY_BLOCKS = 4, MAX_CHILDREN = 40;

/**
 * What stands around a text in a large part of the page, without a block between: the line that it is in. Null: the part is small, and read
 * as one.
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

/** The element or text beside a node; null: there is none. @param {El | Text} node @param {boolean} behind @returns {El | Text | null} */
function neighbourOf(node, behind) {
  let n = behind ? safe.nextSibling(node) : safe.previousSibling(node);
  while (n && !isElement(n) && !isText(n)) n = behind ? safe.nextSibling(n) : safe.previousSibling(n);
  return n;
}

/** Whether a node is an element of text that is drawn. @param {El | Text} node */
function isShownPhrase(node) {
  return isElement(node) && PHRASING.has(tagOf(node)) && isShown(node);
}

/** Whether a line ends at a node. @param {El | Text} node */
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

/** The row or list item around a block, if it came with a node: it is read as one. @param {DomNode} node @param {El} block */
function rowIn(node, block) {
  for (let /** @type {El | null} */ n = block, up = 0; n && up < MAX_PHRASES && safe.contains(node, n); n = flatElement(n), up++) {
    if (tagOf(n) === "tr" || tagOf(n) === "li") return n;
  }
  return block;
}

/** Whether an element is listed, or names one that is, by its tag. @param {El} el */
function isListedTag(el) {
  const tag = tagOf(el);
  return LISTED_TAGS.has(tag) || (tag === "a" && hasAttr(el, "href"));
}

/** Whether what an element says is reported elsewhere, or is no text. @param {El} el @param {(el: El) => boolean} isElsewhere @param {(el: El) => boolean} isMessage */
function isSaidElsewhere(el, isElsewhere, isMessage) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    if (NO_MESSAGE.has(tagOf(n)) || isListedTag(n) || isMessage(n) || isMainHeading(n) || isElsewhere(n)) return true;
  }
  return false;
}

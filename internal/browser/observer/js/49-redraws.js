// @ts-check
// Redraws lets elements that the page replaced by equal ones keep their refs. Pages render a whole list again when one item
// changes: the nodes are new, but a reader sees no difference.
//
// A redraw consists of the nodes that one batch of mutation records removes from a node and inserts into it. An element of
// a redraw keeps its ref only if its successor is certain:
//
//   - Both have the same surroundings. For elements of an item (a row, a list item, a card: see
//     Rows), that is the item: its markup and the values of its fields are the same, no other old,
//     new or remaining item has this markup, and more than half of the items remain. For other
//     elements, it is all replaced text outside of items, and the text near the redraw.
//   - The headings, the title and the URL of the page are the same.
//   - All identifying fields of the two elements are equal. Only values, states and hints may differ.
//   - The old element was removed before the new one was inserted, in the same batch of records, and nothing was rendered
//     in between.
//   - The row of the new element shows the same record as the row that the daemon read.
//
// The daemon then treats the new element as the old one. The new element gets the ref, the names and rows that Rows recorded,
// and the place in the list, so that a redraw without changes sends nothing. An old node that returns later gets a new ref.
//
// Redraws owns the redraws since the last patch, and the nodes in them. Changes records them, and
// Agent calls settle before each patch.

/**
 * The maximum number of nodes of a redraw that are read, and the maximum depth to which they are
 * read.
 */
const MAX_REDRAWN = 10_000;
const MAX_REDRAW_DEPTH = 100;
/**
 * The maximum number of inserted and removed nodes that are kept for the next patch, and the maximum number of
 * changed texts.
 */
const MAX_REDRAW_ROOTS = 4000;
const MAX_CHANGED_TEXTS = 200;
/** The maximum number of node pairs that are compared to find equal elements. */
const MAX_PAIRS_COMPARED = 50_000;

const HEADING_TAGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"]);
const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,caption,[role=heading]";
/** Parts of a row or group whose meaning depends on the parts beside them. */
const PART_TAGS = new Set(["td", "th", "dt", "dd"]);

/** The fields that must be equal in an element and its successor. */
const IDENTIFYING = [F_KIND, F_TAG, F_ROLE, F_TEXT, F_HREF, F_NAME, F_TYPE, F_PLACEHOLDER, F_LEVEL, F_CHILD, F_ATTRIBUTES, F_WHOLE];

/** @type {(a: Node, b: Node) => boolean} */
const isEqual = method(Node, "isEqualNode");

/** The nodes that were removed from a node and inserted into it. */
class Redraw {
  /** @param {El | Shadow} parent @param {number} clock of Identity */
  constructor(parent, clock) {
    this.parent = parent;
    this.clock = clock;
    /** The removed elements, each with the number of its mutation record. @type {Map<El, number>} */
    this.removed = new Map();
    /** @type {Map<El, number>} */
    this.added = new Map();
    /** The removed and the inserted text directly in the node. */
    this.oldText = "";
    this.newText = "";
    /** The node that followed each removed element. @type {Map<El, Node | null>} */
    this.behind = new Map();
    /** Whether the node was rendered several times, so that no nodes are kept. */
    this.mixed = false;
    /** If mixed: whether there were headings among the nodes. */
    this.titled = false;
  }

  /** @param {MutationRecord} r @param {number} at */
  record(r, at) {
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.removedNodes)) {
      if (isText(n)) this.oldText += n.data;
      else if (isElement(n)) this.recordRemoved(n, r.nextSibling, at);
    }
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.addedNodes)) {
      if (isText(n)) this.newText += n.data;
      else if (isElement(n) && this.mixed) this.titled = this.titled || hasHeading(n);
      else if (isElement(n)) this.added.set(n, at);
    }
  }

  /** @param {El} el @param {Node | null} behind @param {number} at */
  recordRemoved(el, behind, at) {
    if (this.mixed) this.titled = this.titled || hasHeading(el);
    else if (this.added.has(el)) this.mix();
    else if (!this.removed.has(el)) {
      this.removed.set(el, at);
      this.behind.set(el, behind);
    }
  }

  /** Frees the nodes, because the node was rendered several times. */
  mix() {
    if (this.mixed) return;
    this.mixed = true;
    this.titled = [...this.removed.keys(), ...this.added.keys()].some(hasHeading);
    this.removed.clear();
    this.added.clear();
    this.behind.clear();
  }

  /** The removed elements that have not returned. */
  get old() {
    return [...this.removed.keys()].filter((el) => !safe.isConnected(el));
  }

  /** The new elements. */
  get now() {
    return [...this.added.keys()].filter((el) => !this.removed.has(el) && safe.parentNode(el) === this.parent);
  }

  /** Returns the former position of a removed element. @param {El} el @returns {Title} */
  placeOf(el) {
    const behind = this.behind.get(el);
    if (behind === null) return { at: this.parent, last: true };
    return { at: behind && safe.isConnected(behind) ? behind : this.parent, last: false };
  }

  /** The other children. @param {El[]} now */
  others(now) {
    const fresh = new Set(now);
    /** @type {El[]} */
    const out = [];
    const first = isShadow(this.parent) ? this.parent.firstElementChild : safe.firstElementChild(this.parent);
    for (let n = first; n; n = safe.nextElementSibling(n)) if (!fresh.has(n)) out.push(n);
    return out;
  }
}

/** The content that a redraw removed or inserted: items, other elements, headings and text. */
class Drawing {
  /** @param {RowReader} reader @param {El[]} roots @param {El[]} like elements that may be like the roots @param {string} text */
  constructor(reader, roots, like, text) {
    this.reader = reader;
    /** Items by path and markup. Null marks items that occur twice. @type {Map<string, Map<string, El | null>>} */
    this.items = new Map();
    /** Other elements by path and markup. @type {Map<string, El | null>} */
    this.singles = new Map();
    this.headings = "";
    /** The roots that have headings. @type {El[]} */
    this.titled = [];
    this.words = text.trim();
    this.left = MAX_REDRAWN;
    this.like = like;
    this.readAll(roots, like, "", 0);
  }

  /** Whether all content was read. */
  get complete() {
    return this.left > 0;
  }

  /** @param {El[]} list @param {El[]} like @param {string} path @param {number} depth */
  readAll(list, like, path, depth) {
    list.forEach((el, i) => {
      const { headings } = this;
      if (--this.left <= 0 || depth > MAX_REDRAW_DEPTH) this.left = 0;
      else this.read(el, isItemOf(el, list, i, like), path, depth);
      if (depth === 0 && headings !== this.headings) this.titled.push(el);
    });
  }

  /** @param {El} el @param {boolean} item @param {string} path @param {number} depth */
  read(el, item, path, depth) {
    const tag = tagOf(el);
    if (item) {
      this.left -= elementsIn(el, "*").length;
      let list = this.items.get(path);
      if (!list) this.items.set(path, (list = new Map()));
      this.put(list, markupOfNode(el) + this.reader.valuesIn(el), el);
      return;
    }
    const role = hasAttr(el, "role") ? explicitRole(el) : "";
    if (SKIPPED.has(tag) || LIVE_TAGS.has(tag) || LIVE_ROLES.has(role) || hasAttr(el, "aria-live") || isDialog(el)) return;
    if (HEADING_TAGS.has(tag) || role === "heading") this.headings += clean(slow.textContent(el), MAX_AROUND) + "\u001f";
    if (!safe.firstElementChild(el) || (INTERACTIVE_TAGS.has(tag) && tag !== "details")) {
      this.left -= elementsIn(el, "*").length;
      this.addWords(slow.textContent(el));
      this.put(this.singles, path + "\u001e" + markupOfNode(el), el);
      return;
    }
    this.put(this.singles, path + "\u001e" + tag + attributeNames(el).map((name) => " " + name + "=" + attr(el, name)).join(""), el);
    /** @type {El[]} */
    const children = [];
    for (let n = safe.firstChild(el); n; n = /** @type {El | Text | null} */ (safe.nextSibling(n))) {
      if (isText(n)) this.addWords(n.data);
      else if (isElement(n)) children.push(n);
    }
    this.readAll(children, [], path + ">" + tag, depth + 1);
  }

  /** @param {string} text */
  addWords(text) {
    const words = text.trim();
    if (words) this.words += "\u001f" + words;
  }

  /** @param {Map<string, El | null>} map @param {string} key @param {El} el */
  put(map, key, el) {
    map.set(key, map.has(key) ? null : el);
  }
}

/**
 * Whether an element is one of several items with distinct content.
 * @param {El} el @param {El[]} list it and its siblings @param {number} i @param {El[]} like others that it may resemble
 */
function isItemOf(el, list, i, like) {
  const tag = tagOf(el);
  if (INTERACTIVE_TAGS.has(tag) || PART_TAGS.has(tag)) return false;
  if (ROW_TAGS.has(tag) || (hasAttr(el, "role") && ROW_ROLES.has(explicitRole(el)))) return true;
  const cls = hasNoAttributes(el) ? "" : attr(el, "class") || "";
  if (ROW_CLASS.test(cls)) return true;
  const near = [...list.slice(Math.max(0, i - MAX_ALIKE), i), ...list.slice(i + 1, i + 1 + MAX_ALIKE), ...like.slice(0, MAX_ALIKE)];
  return near.some((other) => areAlike(el, other, cls));
}

class Redraws {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Map<El | Shadow, Redraw>} */
    this.redraws = new Map();
    /** The redraws, by the elements that they inserted. @type {Map<El, Redraw>} */
    this.inserted = new Map();
    /** Nodes whose text changed. @type {Set<DomNode>} */
    this.texts = new Set();
    /** The number of recorded records, and the number of nodes in the redraws. */
    this.count = 0;
    this.nodes = 0;
    /** Whether changes were missed, so that no successor is certain until the next patch. */
    this.incomplete = false;
  }

  /** Records that changes are missed until the next patch. */
  forget() {
    this.clear();
    this.incomplete = true;
  }

  clear() {
    this.redraws.clear();
    this.inserted.clear();
    this.texts.clear();
    this.count = this.nodes = 0;
    this.incomplete = false;
  }

  /** Records that a text in a node changed. @param {DomNode | null} node */
  recordText(node) {
    if (!node || this.incomplete) return;
    this.texts.add(node);
    if (this.texts.size > MAX_CHANGED_TEXTS) this.forget();
  }

  /** Records inserted and removed children. @param {MutationRecord} r @param {boolean} elements whether there are elements among them */
  record(r, elements) {
    if (this.incomplete) return;
    const target = /** @type {DomNode} */ (r.target);
    if (!elements) return this.recordText(target);
    const { clock } = this.model.identity;
    // The page still renders into an inserted element.
    for (let /** @type {DomNode | null} */ n = this.redraws.size ? target : null; n; n = /** @type {DomNode | null} */ (safe.parentNode(n))) {
      const around = this.inserted.get(/** @type {El} */ (n));
      if (around && (around.clock !== clock || r.removedNodes.length)) this.mix(around);
    }
    if (!isElement(target) && !isShadow(target)) return;
    this.nodes += r.addedNodes.length + r.removedNodes.length;
    if (this.nodes > MAX_REDRAW_ROOTS) return this.forget();
    let redraw = this.redraws.get(target);
    if (!redraw) this.redraws.set(target, (redraw = new Redraw(target, clock)));
    if (redraw.clock !== clock) this.mix(redraw);
    redraw.record(r, this.count++);
    if (redraw.mixed) return;
    for (const n of /** @type {NodeListOf<El | Text>} */ (r.addedNodes)) if (isElement(n)) this.inserted.set(n, redraw);
  }

  /** @param {Redraw} redraw */
  mix(redraw) {
    for (const n of redraw.added.keys()) this.inserted.delete(n);
    redraw.mix();
  }

  // ---- before a patch -----------------------------------------------------------------------

  /** Passes the refs of replaced elements to their successors. @param {boolean} elsewhere the URL or the title changed */
  settle(elsewhere) {
    const { records, rows } = this.model;
    if (this.redraws.size && !elsewhere && !this.incomplete && records.gone.size) {
      rows.reader.forget();
      /** @type {Map<Rec, Rec>} */
      const pairs = new Map();
      this.matchAll(pairs);
      this.pass(pairs);
      rows.reader.forget();
    }
    this.clear();
  }

  /** @param {Map<Rec, Rec>} pairs */
  matchAll(pairs) {
    const { rows } = this.model;
    const drawn = [];
    /** @type {Title[]} */
    const retitled = [...this.texts].filter(isInHeading).map(titleAt);
    for (const redraw of this.redraws.values()) {
      if (redraw.mixed && redraw.titled) retitled.push(titleAt(redraw.parent));
      if (redraw.mixed || !safe.isConnected(redraw.parent)) continue;
      const { old, now } = redraw;
      if (!old.length && !now.length) continue;
      const others = redraw.others(now);
      const was = new Drawing(rows.reader, old, [...now.slice(0, 1), ...others.slice(0, 2)], redraw.oldText);
      const is = new Drawing(rows.reader, now, [...old.slice(0, 1), ...others.slice(0, 2)], redraw.newText);
      if (!was.complete || !is.complete) retitled.push(titleAt(redraw.parent));
      else if (was.headings !== is.headings) retitled.push(...is.titled.map(titleAt), ...was.titled.map((el) => redraw.placeOf(el)));
      else if (old.length && now.length) drawn.push({ redraw, others, was, is });
    }
    for (const { redraw, others, was, is } of drawn) {
      if (retitled.some((title) => isTitleOf(title, redraw.parent))) continue;
      new Match(this.model, redraw, others, pairs).match(was, is, this.isTextKept(redraw));
    }
  }

  /** Whether the text around the inserted elements of a redraw is unchanged. @param {Redraw} redraw */
  isTextKept(redraw) {
    for (const text of this.texts) {
      let /** @type {DomNode | null} */ n = text;
      while (n && n !== redraw.parent && this.inserted.get(/** @type {El} */ (n)) !== redraw && !redraw.removed.has(/** @type {El} */ (n))) n = /** @type {DomNode | null} */ (safe.parentNode(n));
      if (n && (n === redraw.parent || redraw.removed.has(/** @type {El} */ (n)))) return false;
    }
    return true;
  }

  /** Passes the identity of each old record to its new record. @param {Map<Rec, Rec>} pairs */
  pass(pairs) {
    if (!pairs.size) return;
    const { records } = this.model;
    for (const [old, now] of pairs) {
      const parent = old.fields[F_PARENT];
      const successor = parent && (pairs.get(parent) || parent);
      if (successor !== now.fields[F_PARENT]) now.mask |= 1 << F_PARENT;
      records.inherit(old, now);
    }
    records.keepPlaces(new Set(pairs.values()));
  }
}

/** Whether an element is a heading or contains one. @param {El} el */
function hasHeading(el) {
  return safe.matches(el, HEADINGS) || firstWithin(el, HEADINGS) !== null;
}

/** @param {El} el */
function isDialog(el) {
  return tagOf(el) === "dialog" || (!hasNoAttributes(el) && (/^(alert)?dialog$/.test(attr(el, "role") || "") || attr(el, "aria-modal") === "true"));
}

/** Whether a node is in a heading. @param {DomNode} node */
function isInHeading(node) {
  for (let /** @type {DomNode | null} */ n = node, up = 0; n && up < MAX_CLIMB; n = flatParent(n), up++) {
    if (isElement(n) && safe.matches(n, HEADINGS)) return true;
  }
  return false;
}

/** @type {(a: Node, b: Node) => number} */
const position = method(Node, "compareDocumentPosition");

/**
 * A heading that changed, identified by a node. The node is in or was the heading, or the heading was before the node or
 * was its last child.
 * @typedef {{at: Node, last: boolean}} Title
 */

/** @param {Node} at @returns {Title} */
function titleAt(at) {
  return { at, last: false };
}

/**
 * Whether a heading may describe a node. A heading after the node does not, and neither does the heading of a dialog that
 * does not contain the node.
 * @param {Title} title @param {El | Shadow} node
 */
function isTitleOf(title, node) {
  const where = position(node, title.at);
  if (where & Node.DOCUMENT_POSITION_DISCONNECTED) return true; // in another tree, or gone
  if (where & Node.DOCUMENT_POSITION_FOLLOWING && !(where & Node.DOCUMENT_POSITION_CONTAINED_BY)) return false;
  if (title.last && isInside(node, title.at)) return false;
  for (let n = outward(title.at); n; n = outward(n)) if (isElement(n) && isDialog(n)) return isInside(node, n);
  return true;
}

/** @param {Node} node @param {Node} outer */
function isInside(node, outer) {
  for (let /** @type {Node | null} */ n = node; n; n = outward(n)) if (n === outer) return true;
  return false;
}

/** Returns the parent in the flat tree, or the host of a shadow tree. @param {Node} n @returns {DomNode | null} */
function outward(n) {
  return isShadow(n) ? n.host : flatParent(/** @type {DomNode} */ (n));
}

/** Match pairs the old and new elements of a redraw. */
class Match {
  /** @param {Model} model @param {Redraw} redraw @param {El[]} others that remained @param {Map<Rec, Rec>} pairs to add to */
  constructor(model, redraw, others, pairs) {
    this.model = model;
    this.redraw = redraw;
    this.others = others;
    this.pairs = pairs;
    this.compared = 0;
  }

  /** @param {Drawing} was @param {Drawing} is @param {boolean} textKept */
  match(was, is, textKept) {
    const same = textKept && was.words === is.words;
    for (const [path, old] of was.items) {
      const now = is.items.get(path);
      const pairs = now ? this.both(old, now) : [];
      if (!now || 2 * pairs.length <= Math.min(old.size, now.size)) continue;
      for (const [a, b] of pairs) this.pairTrees(a, b, (rec) => same || this.isToldBy(b, rec));
    }
    if (!same) return;
    for (const [a, b] of this.both(was.singles, is.singles)) {
      if (isEqual(a, b)) this.pairTrees(a, b, () => true);
      else this.pair(a, b);
    }
  }

  /**
   * Whether an item has more text than an element in it, and so identifies the element.
   * @param {El} item @param {Rec} rec
   */
  isToldBy(item, rec) {
    const { reader } = this.model.rows;
    return rec.node === item ? reader.length(item) > 0 : reader.holdsMore(item, rec.node);
  }

  /**
   * Returns the pairs of elements that occur exactly once on each side.
   * @param {Map<string, El | null>} was @param {Map<string, El | null>} is
   */
  both(was, is) {
    /** @type {[El, El][]} */
    const out = [];
    for (const [key, a] of was) {
      const b = is.get(key);
      if (a && b && this.isOnly(a, b)) out.push([a, b]);
    }
    return out;
  }

  /**
   * Whether an element was removed before its successor was inserted, and no other element looks like it.
   * @param {El} a @param {El} b
   */
  isOnly(a, b) {
    const { removed, added } = this.redraw;
    const left = removed.get(rootIn(a, removed)), came = added.get(rootIn(b, added));
    if (left === undefined || came === undefined || left > came || this.hidesTree(b)) return false;
    if (!added.has(b)) return true;
    this.compared += this.others.length;
    return this.compared <= MAX_PAIRS_COMPARED && !this.others.some((other) => isEqual(other, b));
  }

  /** Whether an element contains a shadow tree, which its markup does not show. @param {El} el */
  hidesTree(el) {
    if (!this.model.sweep.shadows.size) return false;
    if (shadowOf(el)) return true;
    for (const n of elementsIn(el, "*")) if (shadowOf(n)) return true;
    return false;
  }

  /** Pairs the elements of two equal trees. @param {El} a @param {El} b @param {(rec: Rec) => boolean} may */
  pairTrees(a, b, may) {
    this.pair(a, b, may);
    const from = elementsIn(a, "*"), to = elementsIn(b, "*");
    if (from.length !== to.length) return;
    for (let i = 0; i < from.length; i++) this.pair(from[i], to[i], may);
  }

  /** @param {El} a @param {El} b @param {(rec: Rec) => boolean} [may] */
  pair(a, b, may) {
    const { records, rows } = this.model;
    const old = records.get(a), now = records.get(b);
    if (!old || !now || old.ref < 0 || now.ref >= 0 || now.sent || !now.shown || !records.gone.has(old)) return;
    const is = now.fields, was = old.fields;
    if (is[F_KIND] === FRAME_HOST || IDENTIFYING.some((i) => was[i] !== is[i])) return;
    if ((!may || may(now)) && rows.mayInherit(old, now)) this.pairs.set(old, now);
  }
}

/** Returns the key of a map that equals or contains an element. @param {El} el @param {Map<El, number>} roots */
function rootIn(el, roots) {
  for (let /** @type {DomNode | null} */ n = el; n; n = /** @type {DomNode | null} */ (safe.parentNode(n))) if (roots.has(/** @type {El} */ (n))) return /** @type {El} */ (n);
  return el;
}

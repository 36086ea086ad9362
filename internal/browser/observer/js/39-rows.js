// @ts-check
// Rows: which record of a list an element belongs to. "Delete" in Alice's row is another button when the page shows
// Carol in that row, though it is the same node with the same name: lists that reuse their nodes do that.
//
// At every read the daemon gives a mark, a number that grows. Each element keeps what it was called and which row it
// stood in at the marks at which that changed, and each row what it said. So an action that was decided on at a mark
// can be checked right at the press, with nothing sent before. What rows say stays in the page: only a refusal tells a
// few words of it, and never values or what is masked.
//
// A row is the nearest ancestor that is an item of a list, a table or a tree, a group of a description list, an
// article, a fieldset, a form, or one of several alike that says more than the element itself.

/** How far up a row is looked for. */
const MAX_ROW_UP = 12;
/** A larger ancestor is a part of the page, and no row: by its nodes, and by its markup in characters. */
const MAX_ROW_NODES = 200;
const MAX_ROW_MARKUP = 20000;
/** What is kept of a row: so many texts, of so many characters each. */
const MAX_ROW_PARTS = 80;
const MAX_ROW_TEXT = 160;
/** How many earlier states of a row, or of an element, are kept. */
const MAX_STATES = 6;
/** How many siblings on each side tell whether a row is one of several, and what they have in common. */
const MAX_ALIKE = 3;
const MAX_SIBLINGS = 12;
/** How many elements that came are noted with the read itself; the rest follows a bit at a time. */
const NOTED_AT_ONCE = 200;
/** How many rows are remembered as touched; beyond that all are looked at. */
const MAX_TOUCHED = 5000;

const ROW_TAGS = new Set(["tr", "li", "article", "option"]);
const ROW_ROLES = new Set(["row", "listitem", "option", "treeitem", "article"]);
const GROUP_TAGS = new Set(["fieldset", "form"]);
/** What holds rows, or the page: the search for a row ends there. */
const NO_ROW_TAGS = new Set(["html", "body", "main", "table", "tbody", "thead", "tfoot", "ul", "ol", "menu", "dialog", "select", "datalist"]);
const NO_ROW_ROLES = new Set(["main", "list", "table", "grid", "treegrid", "rowgroup", "listbox", "tree", "feed", "dialog", "alertdialog", "application", "navigation", "menu", "menubar", "tablist", "toolbar"]);
/** Classes that say that an element is a record, also when it is the only one. */
const ROW_CLASS = /(^|[\s_-])(item|row|card|entry|record|tile)([\s_-]|$)/i;
/** What changes by its nature. */
const LIVE_TAGS = new Set(["script", "style", "noscript", "template", "time", "progress", "meter", "output", "svg", "canvas", "video", "audio"]);
const LIVE_ROLES = new Set(["alert", "status", "log", "timer", "progressbar", "marquee", "tooltip", "meter"]);
const CAPTION_TAGS = new Set(["button", "summary"]);
/** Attributes that tell records apart, and those of a row that say where it stands or how it is. */
const KEY_NAME = /^(id|itemid|key|data-(.*[-_])?(id|key|uid|uuid|guid|pk|slug|sku|name|email|user|record|item))$/;
const MADE_UP = /^(:r|«|radix|headlessui|react|mui|ember|ext-|yui|j_id|__)/i;
/** An attribute whose change is looked at. */
const TOUCHING = /^(href|src|alt|title|value|aria-label|id|itemid|key|data-.*)$/;

/** Words of states and times: a row that says others is the same row. */
const STATE_WORDS = new Set((
  "new unread read pending done active inactive open opened closed paid unpaid due overdue sent delivered seen draft online offline away busy typing saved saving " +
  "loading failed error ok success successful running queued waiting completed complete incomplete finished started stopped paused playing enabled disabled " +
  "published unpublished approved rejected cancelled canceled shipped processing processed in progress stock out of available unavailable sold pinned starred " +
  "muted selected checked edited modified updated live on off yes no low high medium normal todo doing blocked archived " +
  "now just ago yesterday today tomorrow last next a an s sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days w week weeks " +
  "month months y year years am pm monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun").split(" "));
const MONTHS = new Set("jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december".split(" "));

/** What holds something that markup does not show. */
const HAS_FIELDS = /<(input|select|textarea)/;

/** @type {(el: El) => string[]} */
const attributeNames = method(Element, "getAttributeNames");

/** @type {(el: El, tag: string) => HTMLCollectionOf<El>} */
const elementsIn = method(Element, "getElementsByTagName");
/** @type {(el: El) => string} */
const markupOfNode = getter(Element, "outerHTML");

/**
 * One thing that a row says: of kind "w" a text, "v" what a field holds, "h" where a link goes, else the name of an
 * attribute. Control is the number of the field, or of the editor, that it stands in; hidden keeps it from messages.
 * @typedef {{kind: string, text: string, control: number, caption: boolean, hidden: boolean}} RowPart

 *
 * What a row said, noted as the markup that the browser writes, which is much cheaper than a walk, with what its fields
 * hold; most of it is never read. Parts are made when it is, or where the markup does not say everything. Unsure: it
 * changed after the read and before it was noted.
 * @typedef {{mark: number, markup: string, values: RowPart[], parts: RowPart[] | null, unsure: boolean}} RowState
 */

/** A row, with what it said at earlier marks, the newest last. */
class Row {
  /** @param {El} node */
  constructor(node) {
    this.node = new WeakRef(node);
    /** @type {RowState[]} */
    this.states = [];
    /** The newest mark at which the daemon acted on something in it. */
    this.acted = 0;
  }
}

/** What an element was called, and which row it stood in. @typedef {{mark: number, name: string, row: Row | null}} Place */

class Rows {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The newest mark. */
    this.mark = 0;
    /** The rows of the nodes that they begin with. @type {Expando<Row>} */
    this.known = new Expando();
    /** The numbers of fields. @type {Expando<number>} */
    this.controls = new Expando();
    this.lastControl = 0;
    /** Rows in which something changed since the newest mark. @type {Set<Row>} */
    this.touched = new Set();
    this.manyTouched = false;
    /** Records that came, moved or were renamed since. @type {Set<Rec>} */
    this.fresh = new Set();
    /** Not all of them were noted yet, and what changed meanwhile; everything may have. */
    this.pending = false;
    this.stirred = new WeakSet();
    this.allStirred = false;
    /** What is known of nodes while nothing changes: see forgetMemo. @type {Map<El, boolean>} */
    this.alike = new Map();
    /** @type {Map<El, number>} */
    this.lengths = new Map();
    /** @type {Map<El, boolean>} */
    this.large = new Map();
    /** @type {Map<El, RowState | null>} */
    this.said = new Map();
  }

  /** Forgets what is known of nodes while nothing changes. */
  forgetMemo() {
    this.alike = new Map();
    this.lengths = new Map();
    this.large = new Map();
    this.said = new Map();
  }

  // ---- noting -------------------------------------------------------------------------------

  /** Something below or at a node changed. @param {DomNode} node */
  touch(node) {
    for (let /** @type {DomNode | null} */ n = node; n; n = flatParent(n)) this.touchNode(n);
  }

  /** Something below or at a node changed, and the nodes above it are touched, too. @param {DomNode} n */
  touchNode(n) {
    const row = this.known.get(n);
    if (row) this.touchRow(row);
    if (this.pending) this.stirred.add(n);
  }

  /** @param {Row} row */
  touchRow(row) {
    if (this.manyTouched) return;
    this.touched.add(row);
    if (this.touched.size > MAX_TOUCHED) this.touchAll();
  }

  touchAll() {
    this.manyTouched = true;
    this.touched.clear();
    if (this.pending) this.allStirred = true;
  }

  /** Notes how everything is, as it was read at a mark, or begins to: see noteMore. @param {number} mark */
  note(mark) {
    this.mark = Math.max(mark, this.mark);
    this.forgetMemo();
    if (this.manyTouched) {
      for (let rec = this.model.records.head.next; rec; rec = rec.next) {
        const row = rec.places && rec.places[rec.places.length - 1].row;
        if (row) this.touched.add(row);
      }
    }
    for (const row of this.touched) this.noteRow(row);
    this.touched.clear();
    this.manyTouched = false;
    let left = NOTED_AT_ONCE;
    this.noteFresh(() => left-- > 0);
  }

  /** Notes more, for so many milliseconds. @param {number} slice */
  noteMore(slice) {
    const end = performance.now() + slice;
    this.forgetMemo();
    this.noteFresh(() => performance.now() < end);
  }

  /** @param {() => boolean} goOn */
  noteFresh(goOn) {
    for (const rec of this.fresh) {
      if (!goOn()) break;
      this.noteOne(rec);
    }
    this.forgetMemo();
    const was = this.pending;
    this.pending = this.fresh.size > 0;
    if (this.pending || !was) return;
    this.stirred = new WeakSet();
    this.allStirred = false;
  }

  /** @param {Rec} rec */
  noteOne(rec) {
    this.fresh.delete(rec);
    if (rec.shown && rec.fields[F_KIND] === INTERACTIVE) this.noteRec(rec);
  }

  /** @param {Row} row */
  noteRow(row) {
    const node = row.node.deref();
    if (!node) return;
    const now = this.state(node);
    const last = row.states[row.states.length - 1];
    if (!now) return;
    const unsure = !last && this.pending && (this.allStirred || this.stirred.has(node));
    if (last && !last.unsure && saysTheSame(last, now)) return;
    push(row.states, { ...now, mark: this.mark, unsure });
  }

  /** @param {Rec} rec */
  noteRec(rec) {
    const node = this.find(rec.node);
    let row = null;
    if (node) {
      row = this.known.get(node);
      if (!row) {
        row = new Row(node);
        for (const member of groupOf(node)) this.known.set(member, row);
        this.noteRow(row);
      }
    }
    const name = rec.fields[F_TEXT];
    if (!rec.places) rec.places = [];
    const last = rec.places[rec.places.length - 1];
    if (last && last.name === name && last.row === row) return;
    push(rec.places, { mark: this.mark, name, row });
  }

  /** What a person, or the daemon for one, enters into a field makes no other record of its row. @param {El} target of the event */
  entered(target) {
    const field = editedField(target);
    const control = this.controls.get(field);
    if (!control) return;
    for (let /** @type {DomNode | null} */ n = field; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) this.enteredInto(row, control);
    }
  }

  /** @param {Row} row @param {number} control */
  enteredInto(row, control) {
    const node = row.node.deref();
    if (!node) return;
    const now = this.state(node);
    if (!now) return;
    const entered = partsOf(now).filter((p) => p.control === control);
    row.states = row.states.map((was) => {
      const parts = partsOf(was);
      const i = parts.findIndex((p) => p.control === control);
      const kept = parts.filter((p) => p.control !== control);
      const at = i < 0 ? kept.length : i;
      return { mark: was.mark, unsure: was.unsure, markup: "", values: [], parts: [...kept.slice(0, at), ...entered, ...kept.slice(at)] };
    });
    this.touchRow(row);
  }

  /** The daemon acted on an element: what becomes of it and its row in the same turn is its own doing. @param {El | null} el */
  actedOn(el) {
    const rec = el && this.model.records.get(el);
    if (rec) rec.acted = this.mark;
    for (let /** @type {DomNode | null} */ n = el; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) row.acted = this.mark;
    }
  }

  /** The same of a field that it gave a value. @param {El} field */
  gave(field) {
    this.entered(field);
    this.actedOn(field);
  }

  // ---- checking -----------------------------------------------------------------------------

  /**
   * Whether an element is still what an action was decided on: null, or what is different.
   * @param {Rec} rec @param {Known | undefined} known
   * @returns {null | {error: string, was: string, now: string}}
   */
  check(rec, known) {
    if (!known) return null;
    this.forgetMemo();
    if (this.fresh.has(rec)) this.noteOne(rec);
    const own = rec.acted >= known.began && known.began > 0;
    const was = at(rec.places || [], own ? 0 : known.told);
    if (!was || !was.row || was.row.node.deref() !== rec.node) { // a row is called what stands in it
      const name = nameNow(this.model, rec);
      const beside = () => this.namesBeside(rec);
      if (!sameName(known.name, name, beside)) return { error: "renamed", was: known.name, now: name };
      if (was && !own && !sameName(was.name, name, beside, true)) return { error: "renamed", was: was.name, now: name };
    }
    if (was && was.row) return this.checkRow(rec, was.row, known);
    return known.doubtful ? { error: "beside", was: "", now: "" } : null;
  }

  /** @param {Rec} rec @param {Row} row @param {Known} known */
  checkRow(rec, row, known) {
    const told = at(row.states, row.acted >= known.began && known.began > 0 ? 0 : known.told);
    const last = row.node.deref();
    const node = last && safe.isConnected(last) && isInRow(rec.node, last) ? last : this.find(rec.node);
    if (!told || !node) return null;
    const now = this.state(node);
    if (told.unsure) return { error: "reused", was: "", now: "" };
    const own = this.controls.get(rec.node) || 0;
    const other = !now || saysTheSame(told, now) ? null : otherRecord(told, now, own, () => this.siblings(node, known.told));
    return other && { error: "reused", ...other };
  }

  /**
   * Keeps what an element is now; the function that it returns says what is different then, as check does.
   * @param {Rec} rec
   */
  keep(rec) {
    this.forgetMemo();
    const name = nameNow(this.model, rec);
    const node = this.find(rec.node);
    const told = node ? this.state(node) : null;
    return () => {
      this.forgetMemo();
      const now = nameNow(this.model, rec);
      if (node !== rec.node && !sameName(name, now, () => this.namesBeside(rec))) return { error: "renamed", was: name, now };
      if (!told || !node) return null;
      const is = this.state(node);
      const other = !is || saysTheSame(told, is) ? null : otherRecord(told, is, this.controls.get(rec.node) || 0, () => this.siblings(node, 0));
      return other && { error: "reused", ...other };
    };
  }

  /** What the elements beside one are called. @param {Rec} rec */
  namesBeside(rec) {
    const names = [];
    for (let r = rec.prev, n = 0; r && r.node && n < MAX_ALIKE; r = r.prev, n++) if (r.tag === rec.tag) names.push(r.fields[F_TEXT]);
    for (let r = rec.next, n = 0; r && n < MAX_ALIKE; r = r.next, n++) if (r.tag === rec.tag) names.push(r.fields[F_TEXT]);
    return names;
  }

  /** What the rows beside one said at a mark, and what they say now. @param {El} node @param {number} mark */
  siblings(node, mark) {
    const out = { told: /** @type {RowState[]} */ ([]), now: /** @type {RowState[]} */ ([]) };
    const group = groupOf(node);
    /** @param {El} first @param {(n: El) => El | null} step */
    const gather = (first, step) => {
      for (let n = step(first), i = 0; n && i < MAX_SIBLINGS; n = step(n), i++) {
        if (DESCRIBED.has(tagOf(n)) ? groupOf(n)[0] !== n : tagOf(n) !== tagOf(first)) continue;
        const now = this.state(n);
        if (!now) continue;
        const row = this.known.get(n);
        out.now.push(now);
        out.told.push((row && at(row.states, mark)) || now);
      }
    };
    for (let /** @type {El | null} */ n = node, up = 0; n && up < 3 && !out.now.length; n = flatElement(n), up++) { // a card may stand in a box of its own
      gather(n === node ? group[group.length - 1] : n, safe.nextElementSibling);
      gather(n, elementBefore);
    }
    return out;
  }

  // ---- finding ------------------------------------------------------------------------------

  /** The node of the row of an element: of a group, its first one. @param {El} el */
  find(el) {
    for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ROW_UP; n = flatElement(n), up++) {
      const tag = tagOf(n);
      const role = has(n, "role") ? explicitRole(n) : "";
      if (ROW_TAGS.has(tag) || ROW_ROLES.has(role)) return this.state(n) ? n : null;
      if (n === el) {
        if (role || TAG_ROLES[tag] || INTERACTIVE_TAGS.has(tag) || !safe.firstElementChild(n) || !this.isAlike(n)) continue;
        return this.state(n) ? n : null;
      }
      if (tag === "td" || tag === "th") continue;
      if (NO_ROW_TAGS.has(tag) || NO_ROW_ROLES.has(role)) return null;
      if (this.isLarge(n)) return null;
      if (DESCRIBED.has(tag)) return groupOf(n)[0];
      const may = GROUP_TAGS.has(tag) || this.isAlike(n);
      if (may && this.saysMore(n, el)) return this.state(n) ? n : null;
    }
    return null;
  }

  /** Whether a node is one of several of a kind. @param {El} n */
  isAlike(n) {
    let alike = this.alike.get(n);
    if (alike === undefined) this.alike.set(n, (alike = isOneOfSeveral(n)));
    return alike;
  }

  /** Whether a node is a part of the page, rather than a row. @param {El} n */
  isLarge(n) {
    let large = this.large.get(n);
    if (large === undefined) this.large.set(n, (large = elementsIn(n, "*").length > MAX_ROW_NODES));
    return large;
  }

  /** Whether a node says more than an element in it. @param {El} n @param {El} el */
  saysMore(n, el) {
    return this.length(n) > this.length(el) || parts(n, "img[alt],img[src],input,select,textarea").some((f) => f !== el && !safe.contains(el, f));
  }

  /** How much text is in a node. @param {El} n */
  length(n) {
    let length = this.lengths.get(n);
    if (length === undefined) {
      const root = shadowOf(n);
      length = (safe.textContent(n) + (root ? slow.textContent(root) : "")).trim().length;
      this.lengths.set(n, length);
    }
    return length;
  }

  // ---- what a row says ----------------------------------------------------------------------

  /** What a row says now; null when it is too large to be a row. @param {El} node @returns {RowState | null} */
  state(node) {
    let said = this.said.get(node);
    if (said === undefined) this.said.set(node, (said = this.stateNow(node)));
    return said;
  }

  /** @param {El} node @returns {RowState | null} */
  stateNow(node) {
    const group = groupOf(node);
    let markup = "";
    /** @type {RowPart[]} */
    const values = [];
    for (const member of group) {
      if (this.isLarge(member)) return null;
      markup += markupOfNode(member);
      if (markup.length > MAX_ROW_MARKUP) return null;
    }
    if (MASKS === null && !this.model.sweep.shadows.size && !markup.includes("contenteditable")) {
      if (HAS_FIELDS.test(markup)) for (const member of group) for (const f of queryWithin(member, "input,select,textarea")) values.push(...this.held(f));
      return { mark: 0, markup, values, parts: null, unsure: false };
    }
    const gather = new RowGather(this, node);
    for (const member of group) gather.walk(member);
    return { mark: 0, markup: "", values, parts: gather.parts, unsure: false };
  }

  /** What a field holds: nothing of what is secret. @param {El} el @returns {RowPart[]} */
  held(el) {
    const tag = tagOf(el);
    /** @param {string} kind @param {string} text @param {boolean} caption */
    const say = (kind, text, caption) => [{ kind, text: clean(text, MAX_ROW_TEXT), control: caption ? 0 : this.number(el), caption, hidden: !caption || isMasked(el) }];
    if (tag === "select") return say("v", selectedText(el), false);
    if (tag === "textarea") return isSecret(el) ? [] : say("v", el.value, false);
    const { type } = el;
    if (type === "checkbox" || type === "radio" || type === "file" || type === "range" || isSecret(el)) return [];
    if (type === "hidden") return /id$|key$/i.test(attr(el, "name") || "") ? say("name=" + attr(el, "name"), el.value, false) : [];
    return say(type === "button" || type === "submit" || type === "reset" ? "w" : "v", el.value, type === "button" || type === "submit" || type === "reset");
  }

  /** @param {El} field */
  number(field) {
    let number = this.controls.get(field);
    if (!number) this.controls.set(field, (number = ++this.lastControl));
    return number;
  }
}

/**
 * What an action was decided on: the mark at which its caller read, that at which its turn began, and the name. Doubtful
 * says that what stands beside the element says something else now.
 * @typedef {{name: string, told: number, began: number, doubtful: boolean}} Known
 */

/** Gathers what a row says. */
class RowGather {
  /** @param {Rows} rows @param {El} root */
  constructor(rows, root) {
    this.rows = rows;
    this.root = root;
    this.left = MAX_ROW_NODES;
    /** @type {RowPart[]} */
    this.parts = [];
  }

  /** @param {El} root */
  walk(root) {
    /** @type {[El | Text, number, boolean][]} */
    const stack = [[root, 0, false]];
    while (stack.length && --this.left >= 0) {
      const [node, control, caption] = /** @type {[El | Text, number, boolean]} */ (stack.pop());
      if (isText(node)) {
        if (/\S/.test(node.data)) this.say("w", node.data, control, caption, MASKS !== null && isTextMasked(/** @type {El | null} */ (safe.parentNode(node))));
        continue;
      }
      if (!isElement(node) || !this.visit(node, node === root)) continue;
      const tag = tagOf(node);
      const editor = control || (isEditingHost(node) ? this.rows.number(node) : 0);
      const below = caption || CAPTION_TAGS.has(tag) || (has(node, "role") && explicitRole(node) === "button");
      const nodes = flatNodes(node, tag);
      for (let i = Math.min(nodes.length, MAX_ROW_NODES) - 1; i >= 0; i--) stack.push([nodes[i], editor, below]);
    }
  }

  /** Takes what an element says of itself; whether what is in it counts. @param {El} el @param {boolean} first */
  visit(el, first) {
    const tag = tagOf(el);
    const role = has(el, "role") ? explicitRole(el) : "";
    if (isLeftOut(tag, role, first, !bare(el) && has(el, "aria-live"))) return false;
    if (!bare(el)) {
      const masked = isMasked(el);
      for (const name of attributeNames(el).slice(0, MAX_ROW_PARTS)) this.parts.push(...attributeParts(tag, name, attr(el, name) || "", (other) => attr(el, other), masked));
    }
    if (tag !== "select" && tag !== "textarea" && tag !== "input") return true;
    this.parts.push(...this.rows.held(el));
    return false;
  }

  /** @param {string} kind @param {string | null} text @param {number} control @param {boolean} caption @param {boolean} hidden */
  say(kind, text, control, caption, hidden) {
    if (!text || this.parts.length >= MAX_ROW_PARTS) return;
    this.parts.push({ kind, text: clean(text, MAX_ROW_TEXT), control, caption, hidden });
  }
}

/** Whether what an element of a row says is not the row's: it changes by itself, or is a row of its own. @param {string} tag @param {string} role @param {boolean} first @param {boolean} live */
function isLeftOut(tag, role, first, live) {
  return LIVE_TAGS.has(tag) || (!first && (ROW_TAGS.has(tag) || ROW_ROLES.has(role) || LIVE_ROLES.has(role) || live));
}

/**
 * What an attribute says.
 * @param {string} tag @param {string} name @param {string} value @param {(name: string) => string | null} other attributes @param {boolean} masked
 * @returns {RowPart[]}
 */
function attributeParts(tag, name, value, other, masked) {
  if (!value) return [];
  let kind = "";
  if (name === "aria-label" || name === "alt") kind = "w";
  else if (name === "href" && tag === "a") kind = "h";
  else if (name === "src" && tag === "img" && !other("alt") && !other("data-src") && other("loading") !== "lazy") kind = "src";
  else if (KEY_NAME.test(name) && !MADE_UP.test(value)) kind = name;
  return kind ? [{ kind, text: clean(value, MAX_ROW_TEXT), control: 0, caption: false, hidden: kind !== "w" || masked }] : [];
}

/** What a row said. @param {RowState} state @returns {RowPart[]} */
function partsOf(state) {
  if (state.parts === null) {
    state.parts = partsOfMarkup(state.markup);
    state.parts.push(...state.values);
    state.markup = "";
  }
  return state.parts;
}

const TOKENS = /<(\/?)([^\s<>\/]+)((?:\s[^\s=>]+(?:="[^"]*")?)*)\s*\/?>|<!--[^]*?-->|[^<]+|</g;
const ATTRIBUTE = /\s([^\s=>]+)(?:="([^"]*)")?/g;
const VOID_TAGS = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const RAW_TAGS = new Set(["script", "style", "noscript", "iframe", "xmp", "noembed", "noframes", "plaintext", "template"]);

/** Reads what the browser wrote: attributes are quoted, and what stands in texts is escaped. @param {string} markup */
function partsOfMarkup(markup) {
  /** @type {RowPart[]} */
  const parts = [];
  /** What is open, and whether it is left out, or a caption. @type {{tag: string, out: boolean, caption: boolean}[]} */
  const open = [];
  TOKENS.lastIndex = 0;
  for (let m; (m = TOKENS.exec(markup)) && parts.length < MAX_ROW_PARTS; ) {
    const top = open[open.length - 1];
    if (m[2] === undefined) {
      if (m[0][0] !== "<" && !(top && top.out) && /\S/.test(m[0])) {
        parts.push({ kind: "w", text: clean(unescaped(m[0]), MAX_ROW_TEXT), control: 0, caption: top !== undefined && top.caption, hidden: false });
      }
      continue;
    }
    const tag = m[2].toLowerCase();
    if (m[1]) {
      const i = open.findLastIndex((o) => o.tag === tag);
      if (i >= 0) open.length = i;
      continue;
    }
    const attributes = new Map();
    for (const [, name, value] of m[3].matchAll(ATTRIBUTE)) attributes.set(name.toLowerCase(), unescaped(value || ""));
    const role = (attributes.get("role") || "").toLowerCase().trim();
    const out = (top !== undefined && top.out) || isLeftOut(tag, role, open.length === 0, attributes.has("aria-live"));
    if (!out) for (const [name, value] of attributes) parts.push(...attributeParts(tag, name, value, (other) => attributes.get(other) || null, false));
    if (VOID_TAGS.has(tag)) continue;
    if (RAW_TAGS.has(tag)) {
      const end = markup.indexOf("</" + tag, TOKENS.lastIndex);
      if (end < 0) break;
      TOKENS.lastIndex = end;
    }
    open.push({ tag, out: out || tag === "select" || tag === "textarea", caption: (top !== undefined && top.caption) || CAPTION_TAGS.has(tag) || role === "button" });
  }
  return parts;
}

/** @type {Record<string, string>} */
const ESCAPES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " };

/** @param {string} text */
function unescaped(text) {
  return text.includes("&") ? text.replace(/&(amp|lt|gt|quot|nbsp);/g, (_, name) => ESCAPES[name]) : text;
}

/** Whether two states are one to the letter, or in all that counts. @param {RowState} a @param {RowState} b */
function saysTheSame(a, b) {
  if (a.markup !== "" && a.markup === b.markup) return signOf(a.values) === signOf(b.values);
  return signOf(partsOf(a)) === signOf(partsOf(b));
}

/** @param {RowPart[]} parts */
function signOf(parts) {
  let sign = "";
  for (const p of parts) sign += p.kind + "\u001e" + p.text + "\u001f";
  return sign;
}

/** Adds a state; the oldest is forgotten. @template {{mark: number}} T @param {T[]} states @param {T} state */
function push(states, state) {
  if (states.length && states[states.length - 1].mark === state.mark) states.pop();
  states.push(state);
  if (states.length > MAX_STATES) states.shift();
}

/** The state at a mark, or the oldest that is known; the newest for 0. @template {{mark: number}} T @param {T[]} states @param {number} mark @returns {T | null} */
function at(states, mark) {
  if (!mark) return states[states.length - 1] || null;
  let found = states[0] || null;
  for (const s of states) if (s.mark <= mark) found = s;
  return found;
}

const DESCRIBED = new Set(["dt", "dd"]);

/** The nodes of a row: of a description list a term or several and what describes them, else one. @param {El} node */
function groupOf(node) {
  if (!DESCRIBED.has(tagOf(node))) return [node];
  const group = [node];
  for (let n = node; ; ) {
    const before = elementBefore(n);
    if (!before || !DESCRIBED.has(tagOf(before)) || (tagOf(n) === "dt" && tagOf(before) === "dd") || group.length > MAX_ROW_PARTS) break;
    group.unshift((n = before));
  }
  for (let n = node; ; ) {
    const after = safe.nextElementSibling(n);
    if (!after || !DESCRIBED.has(tagOf(after)) || (tagOf(n) === "dd" && tagOf(after) === "dt") || group.length > MAX_ROW_PARTS) break;
    group.push((n = after));
  }
  return group;
}

/** Whether an element stands in a node of a row, or in the group that the node begins. @param {El} el @param {El} node */
function isInRow(el, node) {
  return groupOf(node).some((member) => reaches(el, member));
}

/** Whether a node is one of several of a kind. @param {El} n */
function isOneOfSeveral(n) {
  const cls = bare(n) ? "" : attr(n, "class") || "";
  if (ROW_CLASS.test(cls)) return true;
  for (let s = safe.nextElementSibling(n), i = 0; s && i < MAX_ALIKE; s = safe.nextElementSibling(s), i++) if (areAlike(n, s, cls)) return true;
  for (let s = elementBefore(n), i = 0; s && i < MAX_ALIKE; s = elementBefore(s), i++) if (areAlike(n, s, cls)) return true;
  return false;
}

/** Whether two neighbours are of one make. @param {El} a @param {El} b @param {string} cls the class of the first */
function areAlike(a, b, cls) {
  if (tagOf(a) !== tagOf(b)) return false;
  const other = attr(b, "class") || "";
  if (cls === other && cls !== "") return true;
  if (!cls.trim() && !other.trim()) return make(a) === make(b) && make(a) !== "";
  const names = new Set(cls.split(/\s+/).slice(0, 20));
  return other.split(/\s+/, 20).some((name) => name !== "" && names.has(name));
}

/** The tags of the first children. @param {El} el */
function make(el) {
  let out = "";
  const root = shadowOf(el);
  for (let c = root ? root.firstElementChild : safe.firstElementChild(el), i = 0; c && i < 5; c = safe.nextElementSibling(c), i++) out += tagOf(c) + " ";
  return out;
}

/** The field, or the editor, that an event of entering is about. @param {El} target */
function editedField(target) {
  for (let /** @type {El | null} */ n = target; n; n = flatElement(n)) if (isEditingHost(n)) return n;
  return target;
}

/** What an element is called now. @param {Model} model @param {Rec} rec @returns {string} */
function nameNow(model, rec) {
  const { node, tag } = rec;
  probeAria(node);
  const explicit = has(node, "role") ? explicitRole(node) : "";
  const name = nameOrText(node, tag, roleOf(node, tag, explicit), rec.fields[F_KIND], model.naming);
  const control = explicit ? undefined : model.hints.proxiedControls.get(node);
  if (!control) return name;
  return model.naming.name(control, "input", roleOf(control, "input", explicitRole(control))) || name;
}

/** The words of a text that do not count or tell the time, one space between; empty for nothing but states and times. @param {string} text */
function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{M}][\p{L}\p{M}\p{N}'’_@.-]*|\p{N}[\p{L}\p{N}_-]*/gu) || [];
  const kept = [];
  let numbers = 0;
  for (let word of words) {
    if (/^\p{N}/u.test(word) && !(word.length >= 6 && /\p{L}/u.test(word))) {
      numbers++;
      word = word.replace(/[\p{N}_-]+/gu, "");
    }
    word = word.replace(/[.'’_-]+$/u, "");
    if (word) kept.push(word);
  }
  /** @param {string} word */
  const idle = (word) => STATE_WORDS.has(word) || (numbers > 0 && MONTHS.has(word));
  return kept.every(idle) ? "" : kept.join(" ");
}

/** The numbers of a text that may tell things apart: no times. @param {string} text */
function numbersIn(text) {
  if (/\d{1,2}:\d\d|\b\d+ ?(s|sec|min|m|h|hr|d|days?|hours?|minutes?|seconds?|w|weeks?|months?|years?)\b/i.test(text)) return "";
  return (text.match(/\p{N}+/gu) || []).join(" ");
}

/**
 * Whether two names are one, but for what counts. Where the names beside it have the same words, the numbers tell.
 * @param {string} was @param {string} now @param {() => string[]} beside @param {boolean} [loose] only the numbers are looked at
 */
function sameName(was, now, beside, loose) {
  if (was === now) return true;
  const words = lettersOf(was);
  if (words !== lettersOf(now)) return loose === true;
  if (words === "") return loose === true && was === "";
  if (numbersIn(was) === numbersIn(now)) return true;
  return !beside().some((name) => lettersOf(name) === words && numbersIn(name) !== numbersIn(was));
}

/** @param {string} text */
function lettersOf(text) {
  return text.replace(/[^\p{L}\p{M}]+/gu, "");
}

/**
 * What is different when a row shows another record; null for the same one, though its numbers, times and states may be
 * others, and something may have been added.
 * @param {RowState} told @param {RowState} now @param {number} own the field that is acted on
 * @param {() => {told: RowState[], now: RowState[]}} siblings
 * @returns {null | {was: string, now: string}}
 */
function otherRecord(told, now, own, siblings) {
  const was = new RowWords(told, own), is = new RowWords(now, own);
  const lost = minus(was.words, is.words), came = minus(is.words, was.words);
  const said = { was: sayParts(lost), now: sayParts(came) };
  if (otherKeys(was.keys, is.keys)) return said;
  if (!lost.length && !came.length) return otherNumbers(was, is, siblings) ? { was: was.numbered.text, now: is.numbered.text } : null;
  if (!lost.length) return null;
  const beside = siblings();
  const title = titleOf(was, beside.told.map((s) => new RowWords(s, 0)));
  const kept = title !== null && is.words.some((p) => continues(p.words, title.words));
  if (!came.length) return kept || was.words.length > lost.length ? null : said;
  // One alone has nothing to tell its title from a caption by: most of it must be as it was.
  const texts = was.words.filter((p) => !p.caption).length;
  if (!beside.told.length) return kept && lost.length * 2 <= texts - lost.length ? null : said;
  const twice = kept && beside.now.some((s) => new RowWords(s, 0).words.some((p) => p.words === title.words));
  return kept && !twice ? null : said;
}

/** What a row says, sorted by what it tells. */
class RowWords {
  /** @param {RowState} state @param {number} own */
  constructor(state, own) {
    /** @type {(RowPart & {words: string})[]} */
    this.words = [];
    /** @type {Map<string, string[]>} */
    this.keys = new Map();
    /** The first part with a number that may tell rows apart. */
    this.numbered = { text: "", numbers: "" };
    for (const p of partsOf(state)) {
      if (own && p.control === own) continue;
      if (p.kind !== "w" && p.kind !== "v") {
        const list = this.keys.get(p.kind);
        if (list) list.push(p.text);
        else this.keys.set(p.kind, [p.text]);
        continue;
      }
      const words = wordsOf(p.text);
      if (words) this.words.push({ ...p, words });
      /** @type {string} */
      const numbers = this.numbered.numbers ? "" : numbersIn(p.text);
      if (numbers) this.numbered = { text: p.hidden ? "" : p.text, numbers };
    }
  }
  get all() {
    return this.words.map((p) => p.words).join("\u001f");
  }
}

/** What one list of parts has and another has not; a text that was continued or cut is the same. @param {(RowPart & {words: string})[]} a @param {(RowPart & {words: string})[]} b */
function minus(a, b) {
  const left = b.slice();
  return a.filter((p) => {
    const i = left.findIndex((q) => q.words === p.words);
    if (i >= 0) left.splice(i, 1);
    return i < 0 && !b.some((q) => continues(q.words, p.words));
  });
}

/** Whether of two texts one holds the other. @param {string} a @param {string} b */
function continues(a, b) {
  return (" " + a + " ").includes(" " + b + " ") || (" " + b + " ").includes(" " + a + " ");
}

/** Whether attributes that both have tell two records. @param {Map<string, string[]>} was @param {Map<string, string[]>} now */
function otherKeys(was, now) {
  for (const [kind, texts] of was) {
    const others = now.get(kind);
    if (others && texts.some((t) => !others.includes(t)) && others.some((t) => !texts.includes(t))) return true;
  }
  return false;
}

/** Whether a row that its neighbours' words do not tell from them has another number. @param {RowWords} was @param {RowWords} now @param {() => {told: RowState[]}} siblings */
function otherNumbers(was, now, siblings) {
  if (was.numbered.numbers === now.numbered.numbers || !was.numbered.numbers || !now.numbered.numbers) return false;
  return siblings().told.some((s) => {
    const one = new RowWords(s, 0);
    return one.all === was.all && one.numbered.numbers !== was.numbered.numbers;
  });
}

/** What a row is known by: the first thing that it alone says, but for captions. @param {RowWords} row @param {RowWords[]} others */
function titleOf(row, others) {
  const common = new Set(others.flatMap((o) => o.words.map((p) => p.words)));
  return row.words.find((p) => !p.caption && !common.has(p.words)) || null;
}

/** Parts as a message says them. @param {RowPart[]} parts */
function sayParts(parts) {
  return clean(parts.filter((p) => !p.hidden).slice(0, 3).map((p) => p.text).join(", "), 60);
}

// @ts-check
// Rows: which record of a list an element belongs to. "Delete" in Alice's row is another button when the page shows
// Carol in that row, though it is the same node with the same name: lists that reuse their nodes do that.
//
// Every read of the daemon has a mark, a number that grows. Each element keeps its name and row at the marks at which
// they changed, and each row keeps its content. So an action that was decided on at a mark can be checked at the press
// itself, with nothing sent before. The content of rows stays in the page: only a refusal quotes a few words of it,
// never values of fields or masked text.
//
// A row is the nearest ancestor that is an item of a list, a table or a tree, a group of a description list, an
// article, a fieldset, a form, or one of several similar elements that has more content than the element itself.

/** How many earlier states of a row, or of an element, are kept. */
const MAX_STATES = 6;
/** How many elements that came are noted with the read itself; the rest follows a bit at a time. */
const NOTED_AT_ONCE = 200;
/** How many rows are remembered as touched; beyond that all are looked at. */
const MAX_TOUCHED = 5000;

/** An attribute whose change is looked at. */
const TOUCHING = /^(href|src|alt|title|value|aria-label|id|itemid|key|data-.*)$/;


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
    this.reader = new RowReader(this.model);
    /** The newest mark. */
    this.mark = 0;
    /** The rows of the nodes that they begin with. @type {Expando<Row>} */
    this.known = new Expando();
    /** Rows in which something changed since the newest mark. @type {Set<Row>} */
    this.touched = new Set();
    this.manyTouched = false;
    /** Records that came, moved or were renamed since. @type {Set<Rec>} */
    this.fresh = new Set();
    /** Not all of them were noted yet, and what changed meanwhile; everything may have. */
    this.pending = false;
    this.changedMeanwhile = new WeakSet();
    this.allChangedMeanwhile = false;
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
    if (this.pending) this.changedMeanwhile.add(n);
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
    if (this.pending) this.allChangedMeanwhile = true;
  }

  /** Notes how everything is, as it was read at a mark, or begins to: see noteMore. @param {number} mark */
  note(mark) {
    this.mark = Math.max(mark, this.mark);
    this.reader.forget();
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
    this.reader.forget();
    this.noteFresh(() => performance.now() < end);
  }

  /** @param {() => boolean} goOn */
  noteFresh(goOn) {
    for (const rec of this.fresh) {
      if (!goOn()) break;
      this.noteOne(rec);
    }
    this.reader.forget();
    const was = this.pending;
    this.pending = this.fresh.size > 0;
    if (this.pending || !was) return;
    this.changedMeanwhile = new WeakSet();
    this.allChangedMeanwhile = false;
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
    const now = this.reader.state(node);
    const last = row.states[row.states.length - 1];
    if (!now) return;
    const unsure = !last && this.pending && (this.allChangedMeanwhile || this.changedMeanwhile.has(node));
    if (last && !last.unsure && isSameState(last, now)) return;
    pushState(row.states, { ...now, mark: this.mark, unsure });
  }

  /** @param {Rec} rec */
  noteRec(rec) {
    const node = this.reader.find(rec.node);
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
    pushState(rec.places, { mark: this.mark, name, row });
  }

  /** Text that is entered into a field does not make its row another record: earlier states get the new value. @param {El} target of the event */
  noteEntered(target) {
    const field = editedField(target);
    const control = this.reader.controls.get(field);
    if (!control) return;
    for (let /** @type {DomNode | null} */ n = field; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) this.noteEnteredInto(row, control);
    }
  }

  /** @param {Row} row @param {number} control */
  noteEnteredInto(row, control) {
    const node = row.node.deref();
    if (!node) return;
    const now = this.reader.state(node);
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

  /** The daemon acted on an element: changes of the element and its row in the same turn are expected. @param {El | null} el */
  noteActed(el) {
    const rec = el && this.model.records.get(el);
    if (rec) rec.acted = this.mark;
    for (let /** @type {DomNode | null} */ n = el; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) row.acted = this.mark;
    }
  }

  /** The daemon gave a field a value. @param {El} field */
  noteGiven(field) {
    this.noteEntered(field);
    this.noteActed(field);
  }

  // ---- checking -----------------------------------------------------------------------------

  /**
   * Whether an element is still what an action was decided on: null, or what is different.
   * @param {Rec} rec @param {Known | undefined} known
   * @returns {null | {error: string, was: string, now: string}}
   */
  check(rec, known) {
    if (!known) return null;
    this.reader.forget();
    if (this.fresh.has(rec)) this.noteOne(rec);
    const own = rec.acted >= known.began && known.began > 0;
    const was = stateAt(rec.places || [], own ? 0 : known.told);
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
    const told = stateAt(row.states, row.acted >= known.began && known.began > 0 ? 0 : known.told);
    const last = row.node.deref();
    const node = last && safe.isConnected(last) && isInRow(rec.node, last) ? last : this.reader.find(rec.node);
    if (!told || !node) return null;
    const now = this.reader.state(node);
    if (told.unsure) return { error: "reused", was: "", now: "" };
    const own = this.reader.controls.get(rec.node) || 0;
    const other = !now || isSameState(told, now) ? null : recordDifference(told, now, own, () => this.siblings(node, known.told));
    return other && { error: "reused", ...other };
  }

  /**
   * Keeps what an element is now; the function that it returns says what is different then, as check does.
   * @param {Rec} rec
   */
  capture(rec) {
    this.reader.forget();
    const name = nameNow(this.model, rec);
    const node = this.reader.find(rec.node);
    const told = node ? this.reader.state(node) : null;
    return () => {
      this.reader.forget();
      const now = nameNow(this.model, rec);
      if (node !== rec.node && !sameName(name, now, () => this.namesBeside(rec))) return { error: "renamed", was: name, now };
      if (!told || !node) return null;
      const is = this.reader.state(node);
      const other = !is || isSameState(told, is) ? null : recordDifference(told, is, this.reader.controls.get(rec.node) || 0, () => this.siblings(node, 0));
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

  /** The states of the rows beside one, at a mark and now. @param {El} node @param {number} mark */
  siblings(node, mark) {
    const out = { told: /** @type {RowState[]} */ ([]), now: /** @type {RowState[]} */ ([]) };
    const group = groupOf(node);
    /** @param {El} first @param {(n: El) => El | null} step */
    const gather = (first, step) => {
      for (let n = step(first), i = 0; n && i < MAX_SIBLINGS; n = step(n), i++) {
        if (DESCRIBED.has(tagOf(n)) ? groupOf(n)[0] !== n : tagOf(n) !== tagOf(first)) continue;
        const now = this.reader.state(n);
        if (!now) continue;
        const row = this.known.get(n);
        out.now.push(now);
        out.told.push((row && stateAt(row.states, mark)) || now);
      }
    };
    for (let /** @type {El | null} */ n = node, up = 0; n && up < 3 && !out.now.length; n = flatElement(n), up++) { // a card may stand in a box of its own
      gather(n === node ? group[group.length - 1] : n, safe.nextElementSibling);
      gather(n, elementBefore);
    }
    return out;
  }
}

/**
 * What an action was decided on: the mark at which its caller read, that at which its turn began, and the name. Doubtful
 * means that the elements beside it have changed since.
 * @typedef {{name: string, told: number, began: number, doubtful: boolean}} Known
 */

/** Adds a state; the oldest is forgotten. @template {{mark: number}} T @param {T[]} states @param {T} state */
function pushState(states, state) {
  if (states.length && states[states.length - 1].mark === state.mark) states.pop();
  states.push(state);
  if (states.length > MAX_STATES) states.shift();
}

/** The state at a mark, or the oldest that is known; the newest for 0. @template {{mark: number}} T @param {T[]} states @param {number} mark @returns {T | null} */
function stateAt(states, mark) {
  if (!mark) return states[states.length - 1] || null;
  let found = states[0] || null;
  for (const s of states) if (s.mark <= mark) found = s;
  return found;
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
  const explicit = hasAttr(node, "role") ? explicitRole(node) : "";
  const name = nameOrText(node, tag, roleOf(node, tag, explicit), rec.fields[F_KIND], model.naming);
  const control = explicit ? undefined : model.hints.proxiedControls.get(node);
  if (!control) return name;
  return model.naming.name(control, "input", roleOf(control, "input", explicitRole(control))) || name;
}


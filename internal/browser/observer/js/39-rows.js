// @ts-check
// Rows: the record of a list to which an element belongs. "Delete" in Alice's row becomes another
// button when the page shows Carol in that row, although it is the same node with the same name.
// This happens in lists that reuse their nodes.
//
// Every read of the daemon has a mark, which is an increasing number. Each element keeps its name
// and row, and each row its content, at the marks at which they changed. So an action that was
// decided on at a mark is checked at the press itself, without an additional request. The content
// of rows stays in the page: only an error message quotes a few words of it, never values of fields
// or masked text.
//
// A row is the nearest ancestor that is an item of a list, table or tree, a group of a description
// list, or an article. It may also be a fieldset, a form, or one of several similar elements, if it
// has more content than the element itself.
//
// Rows owns the states. Changes touches the rows that changed, Agent.read records the states at a
// mark, and the actions call check.

/** The maximum number of stored states of a row or an element. */
const MAX_STATES = 6;
/**
 * The number of new elements that are recorded during the read itself. The rest follows in slices. After the first read, all
 * elements follow in slices, so that the read does not wait for them. The first slice is posted before the answer is sent, so
 * it mostly runs before the client acts on the answer.
 */
const RECORDED_AT_ONCE = 200;
/** The number of elements that are recorded between two checks of the time. */
const RECORDED_BETWEEN = 8;
/** The maximum number of rows that are remembered as touched. Beyond it, all rows count as touched. */
const MAX_TOUCHED = 5000;

/** The attributes whose change touches a row. */
const TOUCHING = /^(href|src|alt|title|value|aria-label|id|itemid|key|data-.*)$/;

/** A row, with its content at earlier marks, the newest last. */
class Row {
  /** @param {El} node */
  constructor(node) {
    this.node = new WeakRef(node);
    /** @type {RowState[]} */
    this.states = [];
    /** The newest mark at which the daemon acted on an element in the row. */
    this.acted = 0;
  }
}

/**
 * The name and row of an element at a mark.
 * @typedef {{mark: number, name: string, row: Row | null}} RecState
 */

class Rows {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.reader = new RowReader(this.model);
    /** The newest mark. */
    this.mark = 0;
    /** The rows by their nodes. @type {Expando<Row>} */
    this.known = new Expando();
    /** Rows in which something changed since the newest mark. @type {Set<Row>} */
    this.touched = new Set();
    this.manyTouched = false;
    /** Records that were inserted, moved or renamed, and are not recorded yet. @type {Set<Rec>} */
    this.unrecorded = new Set();
    /** Whether some records of the last read are still to be recorded. changedMeanwhile has the nodes that have changed since. */
    this.pending = false;
    this.changedMeanwhile = new WeakSet();
    this.allChangedMeanwhile = false;
  }

  // ---- recording ----------------------------------------------------------------------------

  /** Touches the rows around a node that changed, or whose content changed. @param {DomNode} node */
  touch(node) {
    for (let /** @type {DomNode | null} */ n = node; n; n = flatParent(n)) this.touchNode(n);
  }

  /** Touches the row of one node. The caller must also touch the ancestors. @param {DomNode} n */
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

  /**
   * Records the states of all rows and elements that changed, as read at a mark. recordMore continues.
   * @param {number} mark
   */
  record(mark) {
    let left = this.mark === 0 ? 0 : RECORDED_AT_ONCE;
    this.mark = Math.max(mark, this.mark);
    this.reader.forget();
    if (this.manyTouched) {
      for (let rec = this.model.records.head.next; rec; rec = rec.next) {
        const row = rec.states && rec.states[rec.states.length - 1].row;
        if (row) this.touched.add(row);
      }
    }
    for (const row of this.touched) this.recordRow(row);
    this.touched.clear();
    this.manyTouched = false;
    this.recordElements(() => left-- > 0);
  }

  /** Continues to record elements, for a slice of time. @param {number} slice in milliseconds */
  recordMore(slice) {
    const end = performance.now() + slice;
    let count = 0;
    this.reader.forget();
    this.recordElements(() => ++count % RECORDED_BETWEEN !== 0 || performance.now() < end);
  }

  /** @param {() => boolean} goOn */
  recordElements(goOn) {
    for (const rec of this.unrecorded) {
      if (!goOn()) break;
      this.recordIfShown(rec);
    }
    this.reader.forget();
    const was = this.pending;
    this.pending = this.unrecorded.size > 0;
    if (this.pending || !was) return;
    this.changedMeanwhile = new WeakSet();
    this.allChangedMeanwhile = false;
  }

  /** @param {Rec} rec */
  recordIfShown(rec) {
    this.unrecorded.delete(rec);
    rec.missed = !safe.isConnected(rec.node); // the content around it is no longer the content that was read
    if (!rec.missed && rec.shown && rec.fields[F_KIND] === INTERACTIVE) this.recordElement(rec);
  }

  /** @param {Row} row */
  recordRow(row) {
    const node = row.node.deref();
    if (!node) return;
    const now = this.reader.state(node);
    const last = row.states[row.states.length - 1];
    if (!now) return;
    const unsure = !last && this.pending && (this.allChangedMeanwhile || this.changedMeanwhile.has(node));
    if (last && !last.unsure && isSameState(last, now)) return;
    pushState(row.states, { ...now, mark: this.mark, unsure });
    if (unsure) this.touchRow(row); // the next read shows what it holds
  }

  /** @param {Rec} rec */
  recordElement(rec) {
    const node = this.reader.find(rec.node);
    let row = null;
    if (node) {
      row = this.known.get(node);
      if (!row) {
        row = new Row(node);
        for (const member of groupOf(node)) this.known.set(member, row);
        this.recordRow(row);
      }
    }
    const name = rec.fields[F_TEXT];
    if (!rec.states) rec.states = [];
    const last = rec.states[rec.states.length - 1];
    if (last && last.name === name && last.row === row) return;
    pushState(rec.states, { mark: this.mark, name, row });
  }

  /**
   * Records that text was entered into a field. That does not make its row another record, so earlier
   * states receive the new value.
   * @param {El} target of the event
   */
  recordEntry(target) {
    const field = editedField(target);
    const control = this.reader.controls.get(field);
    if (!control) return;
    for (let /** @type {DomNode | null} */ n = field; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) this.recordEntryInto(row, control);
    }
  }

  /** @param {Row} row @param {number} control */
  recordEntryInto(row, control) {
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

  /**
   * Records that the daemon acted on an element. Changes of its name and row are then expected until
   * the next turn.
   * @param {El | null} el
   */
  expectChange(el) {
    let rec = el && this.model.records.get(el);
    while (rec && rec.successor) rec = rec.successor;
    if (rec) {
      rec.acted = this.mark;
      el = rec.node;
    }
    for (let /** @type {DomNode | null} */ n = el; n; n = flatParent(n)) {
      const row = this.known.get(n);
      if (row) row.acted = this.mark;
    }
  }

  /** Records that the daemon set the value of a field. @param {El} field */
  recordSetValue(field) {
    this.recordEntry(field);
    this.expectChange(field);
  }

  // ---- redraws ------------------------------------------------------------------------------

  /**
   * Whether an element that replaced an equal one belongs to the same record, as of the daemon's
   * last read.
   * @param {Rec} old @param {Rec} now
   */
  mayInherit(old, now) {
    if (old.missed) return false;
    const was = stateAt(old.states || [], 0);
    const before = was && was.row && stateAt(was.row.states, 0);
    if (!was) return !this.pending; // the row of the element was not recorded in time and may have changed
    if (!was.row || !before) return true;
    const node = this.rowAfter(was.row, now);
    const after = node && this.reader.state(node);
    return after !== null && !before.unsure && this.rowDifference(now, /** @type {El} */ (node), before, after, 0) === null;
  }

  /**
   * Returns the node that a row has after a redraw: the former node if it remained, else the row of the new element.
   * @param {Row} row @param {Rec} now
   */
  rowAfter(row, now) {
    const last = row.node.deref();
    return last && safe.isConnected(last) && isInRow(now.node, last) ? last : this.reader.find(now.node);
  }

  /**
   * Gives an element the names and rows of the equal element that it replaced.
   * @param {Rec} old @param {Rec} now
   */
  inherit(old, now) {
    now.states = old.states;
    now.acted = old.acted;
    old.states = null;
    const was = stateAt(now.states || [], 0);
    const row = was && was.row;
    const node = row && this.rowAfter(row, now);
    const last = row && row.node.deref();
    if (!row || !node || node === last) return;
    if (last) for (const member of groupOf(last)) this.known.delete(member);
    row.node = new WeakRef(node);
    for (const member of groupOf(node)) this.known.set(member, row);
    this.touchRow(row);
  }

  // ---- checking -----------------------------------------------------------------------------

  /**
   * Returns how an element has changed since an action was decided on, or null if it is still the
   * same.
   * @param {Rec} rec @param {Known | undefined} known
   * @returns {null | {error: string, was: string, now: string}}
   */
  check(rec, known) {
    if (!known) return null;
    this.reader.forget();
    if (this.unrecorded.has(rec)) this.recordIfShown(rec);
    const own = rec.acted >= known.start && known.start > 0;
    const was = stateAt(rec.states || [], own ? 0 : known.seen);
    if (!was || !was.row || was.row.node.deref() !== rec.node) { // if the element is its own row, checkRow compares its name
      const name = nameNow(this.model, rec);
      if (this.isRenamed(rec, known.name, name)) return { error: "renamed", was: known.name, now: name };
      if (was && !own && !sameName(was.name, name, () => this.neighborNames(rec), true)) return { error: "renamed", was: was.name, now: name };
    }
    if (was && was.row) return this.checkRow(rec, was.row, known);
    return known.doubtful ? { error: "beside", was: "", now: "" } : null;
  }

  /** @param {Rec} rec @param {Row} row @param {Known} known */
  checkRow(rec, row, known) {
    const before = stateAt(row.states, row.acted >= known.start && known.start > 0 ? 0 : known.seen);
    const last = row.node.deref();
    const node = last && safe.isConnected(last) && isInRow(rec.node, last) ? last : this.reader.find(rec.node);
    if (!before || !node) return null;
    const now = this.reader.state(node);
    if (before.unsure) return { error: "unsure", was: "", now: "" };
    const difference = now && this.rowDifference(rec, node, before, now, known.seen);
    return difference && { error: "reused", ...difference };
  }

  /**
   * @param {Rec} rec @param {El} node of its row @param {RowState} before @param {RowState} now
   * @param {number} mark the mark of before
   */
  rowDifference(rec, node, before, now, mark) {
    if (isSameState(before, now)) return null;
    return recordDifference(before, now, this.reader.controls.get(rec.node) || 0, () => this.siblings(node, mark));
  }

  /**
   * Records the name and row of an element. The returned function compares them with the current
   * ones, as check does.
   * @param {Rec} rec
   */
  capture(rec) {
    this.reader.forget();
    const name = nameNow(this.model, rec);
    const node = this.reader.find(rec.node);
    const before = node ? this.reader.state(node) : null;
    return () => {
      this.reader.forget();
      const now = nameNow(this.model, rec);
      if (node !== rec.node && this.isRenamed(rec, name, now)) return { error: "renamed", was: name, now };
      if (!before || !node) return null;
      const after = this.reader.state(node);
      const difference = after && this.rowDifference(rec, node, before, after, 0);
      return difference && { error: "reused", ...difference };
    };
  }

  /**
   * Whether an element has another name, and the change is not just a tip that is shown under the pointer.
   * @param {Rec} rec @param {string} was @param {string} now
   */
  isRenamed(rec, was, now) {
    return !sameName(was, now, () => this.neighborNames(rec)) && !isTip(rec.node, was, now, this.model.naming);
  }

  /** Returns the names of the listed neighbors that have the same tag. @param {Rec} rec */
  neighborNames(rec) {
    const names = [];
    for (let r = rec.prev, n = 0; r && r.node && n < MAX_ALIKE; r = r.prev, n++) if (r.tag === rec.tag) names.push(r.fields[F_TEXT]);
    for (let r = rec.next, n = 0; r && n < MAX_ALIKE; r = r.next, n++) if (r.tag === rec.tag) names.push(r.fields[F_TEXT]);
    return names;
  }

  /** Returns the states of the neighboring rows, at a mark and now. @param {El} node @param {number} mark */
  siblings(node, mark) {
    const out = { before: /** @type {RowState[]} */ ([]), after: /** @type {RowState[]} */ ([]) };
    const group = groupOf(node);
    /** @param {El} first @param {(n: El) => El | null} step */
    const gather = (first, step) => {
      for (let n = step(first), i = 0; n && i < MAX_SIBLINGS; n = step(n), i++) {
        if (DESCRIBED.has(tagOf(n)) ? groupOf(n)[0] !== n : tagOf(n) !== tagOf(first)) continue;
        const now = this.reader.state(n);
        if (!now) continue;
        const row = this.known.get(n);
        out.after.push(now);
        out.before.push((row && stateAt(row.states, mark)) || now);
      }
    };
    for (let /** @type {El | null} */ n = node, up = 0; n && up < 3 && !out.after.length; n = flatElement(n), up++) { // a row without siblings may have a wrapper with siblings
      gather(n === node ? group[group.length - 1] : n, safe.nextElementSibling);
      gather(n, elementBefore);
    }
    return out;
  }
}

/**
 * The basis of an action's decision: the name, the mark of the read that the caller saw, and the
 * mark at which the caller's turn started. Doubtful means that the elements beside it have changed
 * since.
 * @typedef {{name: string, seen: number, start: number, doubtful: boolean}} Known
 */

/**
 * Adds a state and drops the oldest beyond MAX_STATES.
 * @template {{mark: number}} T @param {T[]} states @param {T} state
 */
function pushState(states, state) {
  if (states.length && states[states.length - 1].mark === state.mark) states.pop();
  states.push(state);
  if (states.length > MAX_STATES) states.shift();
}

/**
 * Returns the state at a mark, or the oldest state. For mark 0, returns the newest.
 * @template {{mark: number}} T @param {T[]} states @param {number} mark @returns {T | null}
 */
function stateAt(states, mark) {
  if (!mark) return states[states.length - 1] || null;
  let found = states[0] || null;
  for (const s of states) if (s.mark <= mark) found = s;
  return found;
}

/** Returns the field or editing host of an input event. @param {El} target */
function editedField(target) {
  for (let /** @type {El | null} */ n = target; n; n = flatElement(n)) if (isEditingHost(n)) return n;
  return target;
}

/**
 * Whether an element has another name only because the pointer is over it: it had no name, or it draws a tip beside its former name.
 * @param {El} node @param {string} was @param {string} now @param {Naming} naming
 */
function isTip(node, was, now, naming) {
  if (!safe.matches(node, ":hover")) return false;
  if (was === "") return true;
  const tips = [naming.generatedAt(node, "::before"), naming.generatedAt(node, "::after")].map((tip) => clean(tip, MAX_NAME));
  return tips.some((tip) => tip !== "" && (now === was + tip || now === was + " " + tip || now === tip + was || now === tip + " " + was));
}

/** Returns the current name of an element, as stored in F_TEXT. @param {Model} model @param {Rec} rec @returns {string} */
function nameNow(model, rec) {
  const { node, tag } = rec;
  probeAttributes(node);
  const explicit = hasAttr(node, "role") ? explicitRole(node) : "";
  const name = shownName(node, tag, roleOf(node, tag, explicit), rec.fields[F_KIND], model.naming, (model.hints.get(node) & HINT_TARGET) !== 0, rec);
  forgetAttributes();
  const control = explicit ? model.hints.selectOf(node) : model.hints.proxiedControls.get(node);
  const shown = control && proxyName(node, rec, control, model.naming);
  return clean(shown || (control && tagOf(control) === "select" ? "" : name), MAX_NAME);
}


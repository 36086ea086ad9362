// @ts-check
// Writer creates patches from the differences in Records, and the headers of all messages. It owns the sequence numbers,
// the additions that wait for their refs, and the URL, title and scroll position that were last sent. Agent calls it.
// internal/browser/observer/decode.go reads and validates the result.
//
// A patch is one string in columns. The first line is the header. The columns of the operations follow, one line each, and
// then the columns of the boxes. Lines are separated by line feeds and values by tabs; no value contains either, because
// clean has replaced them.
//
//   header   document, sequence, flags, time in ms, scroll x, scroll y, viewport width, height,
//            url, title; in patches also the ms that the agent used since the last one. A patch whose
//            other values are unchanged has four: sequence, flags, time and the ms of the agent
//   flags    f full; c structure included for contexts (full patches only); m measured; l too many elements, some left out;
//            u a patch is unacknowledged, p probe first (ignore the rest of the message);
//            s matches of selectors, one line of JSON for each, instead of the columns
//            o notices, one line of JSON for each, instead of the columns
//   ops      one character each: + add, * restore, > move, ~ change, - remove
//   refs     of every op but +
//   afters   of + * >: the preceding element; empty for the previous insert, ^ for the start,
//            n5 for the sixth +, else a ref
//   masks    of + * ~: the fields that follow, as bits; fields absent from + and * are empty
//   fields   one line each in the order of F_KIND…: the values of those fields
//   places   of the boxes: their elements, as in afters; empty for the next + or the first
//   x y w h  of the boxes: document coordinates, whole CSS pixels
//   covered  of the boxes: 1 where a modal obscures the element, else empty
//
// Empty lines at the end are left out.

class Writer {
  /** @param {Model} model @param {string} id */
  constructor(model, id) {
    this.model = model;
    this.id = id;
    this.sequence = 0;
    /** The time in milliseconds that the agent has used since the last patch. */
    this.took = 0;
    /** The additions of the last patch, until they get their refs. @type {Rec[]} */
    this.waiting = [];
    /** Whether the next patch contains the whole document. */
    this.full = true;
    /** Whether the patch has structure because contexts were requested. Structural elements then get the last refs. */
    this.contexts = false;
    /** The values that were last sent; see isHeaderNews and scrollState. */
    this.url = "";
    this.title = "";
    this.scroll = "";
  }

  /** Returns the header of a message, with the current URL and title. @param {string} flags */
  header(flags) {
    const url = clean(location.href, MAX_FIELD);
    const title = clean(safe.title(this.model.doc), 300);
    const m = this.model;
    return [this.id, this.sequence, flags, pageTime(), Math.round(m.layout.scrollX), Math.round(m.layout.scrollY), m.layout.viewWidth, m.layout.viewHeight, url, title].join("\t");
  }

  /** Whether the URL or the title changed since the last patch. */
  isHeaderNews() {
    return this.url !== clean(location.href, MAX_FIELD) || this.title !== clean(safe.title(this.model.doc), 300);
  }

  /**
   * Sets the refs of the additions of a patch, given as runs: first, length, first, length.
   * @param {number} sequence @param {number[]} runs
   */
  acknowledge(sequence, runs) {
    if (sequence !== this.sequence || !this.waiting.length) return;
    let k = 0;
    for (let i = 0; i + 1 < runs.length; i += 2) {
      for (let j = 0; j < runs[i + 1] && k < this.waiting.length; j++, k++) {
        const rec = this.waiting[k];
        rec.ref = runs[i] + j;
        rec.addition = -1;
        if (this.model.records.all.has(rec)) this.model.records.byRef.set(rec.ref, rec);
      }
    }
    this.waiting = [];
  }

  /** Starts again when the daemon has no data of this document. */
  restart() {
    this.full = true;
    this.contexts = false;
    this.waiting = [];
    for (const rec of this.model.records.all) {
      rec.sent = rec.moved = rec.boxSent = false;
      rec.addition = -1;
      rec.mask = 0;
    }
    for (const set of [this.model.records.gone, this.model.records.changed]) set.clear();
  }

  /** Returns the name of a record in patches: its ref, or its number among the additions. @param {Rec | null} rec */
  token(rec) {
    if (!rec || rec === this.model.records.head) return "^";
    return rec.ref >= 0 ? String(rec.ref) : "n" + rec.addition;
  }

  /**
   * Writes the changes since the last patch: removals, then inserts in list order, then changes.
   * @param {boolean} measured with the boxes
   */
  patch(measured) {
    const model = this.model;
    this.sequence++;
    const columns = new Columns();
    if (!this.full) for (const rec of model.records.gone) columns.remove(rec);
    // The daemon drops the box of a removed element, so the box is sent again when the element
    // returns.
    for (const rec of model.records.gone) {
      rec.sent = rec.moved = rec.boxSent = false;
      rec.mask = 0;
    }
    if (this.full) this.writeAll(columns);
    else this.writeInserts(columns);
    for (const rec of model.records.changed) {
      if (rec.shown && rec.mask) columns.change(rec, this.token(parentOf(rec)));
      rec.mask = 0;
    }
    const boxes = measured ? new Boxes() : null;
    if (boxes) {
      for (const rec of model.records.unboxed) boxes.add(rec, this.token(rec));
      model.records.unboxed.clear();
      this.scroll = scrollState();
    }
    for (const set of [model.records.gone, model.records.inserts, model.records.changed]) set.clear();
    model.records.listDirty = false;
    const header = this.patchHeader(measured);
    if (this.contexts) this.waiting = [...this.waiting.filter((rec) => !isStructural(rec)), ...this.waiting.filter(isStructural)];
    this.full = this.contexts = false;
    return withoutEmptyLines(header + "\n" + columns.text() + (boxes ? boxes.text() : ""));
  }

  /** Returns the header of a patch, in the short form if that suffices. @param {boolean} measured */
  patchHeader(measured) {
    const took = this.took.toFixed(2);
    this.took = 0;
    const { url, title } = this;
    const { limited } = this.model.refresh;
    this.url = clean(location.href, MAX_FIELD);
    this.title = clean(safe.title(this.model.doc), 300);
    if (this.full || measured || url !== this.url || title !== this.title || limited) {
      const full = this.full ? (this.contexts ? "fc" : "f") : "";
      return this.header(full + (measured ? "m" : "") + (limited ? "l" : "")) + "\t" + took;
    }
    return [this.sequence, "", pageTime(), took].join("\t");
  }

  /** Writes the whole list. @param {Columns} columns */
  writeAll(columns) {
    const { model } = this;
    for (let rec = model.records.head.next; rec; rec = rec.next) {
      this.insert(columns, rec, rec.prev === model.records.head);
      model.records.unboxed.add(rec);
    }
    this.numberAll();
  }

  /**
   * Writes the records that were added or moved, in the order of the list. Consecutive ones form a run. Each run is preceded
   * by a record that the daemon has, and the `order` of these records sorts the runs without a walk through the list.
   * @param {Columns} columns
   */
  writeInserts(columns) {
    const { inserts } = this.model.records;
    const starts = [];
    for (const rec of inserts) if (!inserts.has(previousRec(rec))) starts.push(rec);
    if (starts.length > 1) starts.sort((a, b) => previousRec(a).order - previousRec(b).order);
    let precise = true;
    for (const start of starts) {
      /** @type {Rec[]} */
      const run = [];
      for (let rec = /** @type {Rec | null} */ (start); rec && inserts.has(rec); rec = rec.next) run.push(rec);
      for (const rec of run) this.insert(columns, rec, rec === start);
      precise = orderRun(run) && precise;
    }
    if (!precise) this.numberAll();
  }

  /** Writes one insert. @param {Columns} columns @param {Rec} rec @param {boolean} first of its run */
  insert(columns, rec, first) {
    const after = first ? this.token(rec.prev) : "";
    if (rec.sent) {
      columns.insert(">", rec, after);
      rec.moved = false;
      return;
    }
    const op = rec.ref >= 0 ? "*" : "+";
    if (op === "+") {
      rec.addition = this.waiting.length;
      this.waiting.push(rec);
    }
    columns.insert(op, rec, after);
    const parent = parentOf(rec);
    columns.addAll(rec, parent ? this.token(parent) : "");
    rec.sent = true;
    rec.moved = false;
    rec.mask = 0;
  }

  /** Numbers all records in list order. */
  numberAll() {
    let order = 0;
    for (let rec = this.model.records.head.next; rec; rec = rec.next) rec.order = ++order;
  }
}

/**
 * Numbers the records of a run between those around it. Returns false if the fractions become too small.
 * @param {Rec[]} run
 */
function orderRun(run) {
  const low = previousRec(run[0]).order;
  const next = run[run.length - 1].next;
  const step = next ? (next.order - low) / (run.length + 1) : 1;
  for (let i = 0; i < run.length; i++) run[i].order = low + step * (i + 1);
  return step > 1e-6;
}

/**
 * Returns a message without the empty lines at its end. A regular expression would visit every line.
 * @param {string} message
 */
function withoutEmptyLines(message) {
  let end = message.length;
  while (end > 1 && message[end - 1] === "\n" && message[end - 2] === "\n") end--;
  return message.slice(0, end);
}

/** Returns the time of the page's clock in milliseconds. */
function pageTime() {
  return (performance.timeOrigin + performance.now()).toFixed(1);
}

/** Returns the scroll position and the viewport size, for comparison. */
function scrollState() {
  return Math.round(scrollX) + " " + Math.round(scrollY) + " " + innerWidth + " " + innerHeight;
}

/** @param {Rec} rec */
function isStructural(rec) {
  return rec.fields[F_KIND] === STRUCTURAL;
}

/** @param {Rec} rec @returns {Rec | null} */
function parentOf(rec) {
  const parent = rec.fields[F_PARENT];
  return parent && parent.shown ? parent : null;
}

/** Collects the columns of the operations. */
class Columns {
  constructor() {
    this.ops = "";
    /** @type {number[]} */
    this.refs = [];
    /** @type {string[]} */
    this.afters = [];
    /** @type {number[]} */
    this.masks = [];
    /** @type {Fields[number][][]} */
    this.values = Array.from({ length: FIELDS }, () => []);
  }
  /** @param {Rec} rec */
  remove(rec) {
    this.ops += "-";
    this.refs.push(rec.ref);
  }
  /** @param {string} op @param {Rec} rec @param {string} after */
  insert(op, rec, after) {
    this.ops += op;
    if (op !== "+") this.refs.push(rec.ref);
    this.afters.push(after);
  }
  /** @param {Rec} rec @param {string} parent */
  change(rec, parent) {
    this.ops += "~";
    this.refs.push(rec.ref);
    this.masks.push(rec.mask);
    this.addFields(rec, parent, rec.mask);
  }
  /** Adds the fields that are not empty. @param {Rec} rec @param {string} parent */
  addAll(rec, parent) {
    const { values } = this;
    const { fields } = rec;
    let mask = 0;
    for (let i = 0; i < FIELDS; i++) {
      const value = i === F_PARENT ? parent : fields[i];
      if (value === "" || value === 0) continue;
      mask |= 1 << i;
      values[i].push(value);
    }
    this.masks.push(mask);
  }
  /** @param {Rec} rec @param {string} parent @param {number} mask */
  addFields(rec, parent, mask) {
    const { values } = this;
    for (let i = 0; i < FIELDS; i++) {
      if (mask & (1 << i)) values[i].push(i === F_PARENT ? parent : rec.fields[i]);
    }
  }
  text() {
    let out = this.ops + "\n" + this.refs.join("\t") + "\n" + this.afters.join("\t") + "\n" + this.masks.join("\t") + "\n";
    for (const column of this.values) out += column.join("\t") + "\n";
    return out;
  }
}

/** Collects the columns of the boxes. */
class Boxes {
  constructor() {
    /** @type {string[]} */
    this.tokens = [];
    /** x, y, width, height and obscured. @type {(number|string)[][]} */
    this.sides = [[], [], [], [], []];
    this.nextAddition = 0;
  }
  /** @param {Rec} rec @param {string} token */
  add(rec, token) {
    if (rec.ref < 0 && rec.addition === this.nextAddition) {
      token = "";
      this.nextAddition++;
    }
    this.tokens.push(token);
    this.sides[0].push(rec.x);
    this.sides[1].push(rec.y);
    this.sides[2].push(rec.w);
    this.sides[3].push(rec.h);
    this.sides[4].push(rec.obscured ? 1 : "");
    rec.boxSent = true;
  }
  text() {
    return this.tokens.join("\t") + "\n" + this.sides.map((side) => side.join("\t")).join("\n");
  }
}

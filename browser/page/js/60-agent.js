// The agent: what the daemon calls, and what watches the page for it.

class Agent {
  /** @param {Document} doc @param {(message: string) => void} push */
  constructor(doc, push) {
    this.model = new Model(doc);
    const random = crypto.getRandomValues ? crypto.getRandomValues(new Uint32Array(2)) : [Math.random() * 2 ** 32, 0];
    this.id = random[0].toString(36) + random[1].toString(36);
    this.writer = new Writer(this.model, this.id);
    this.unseen = new Unseen(this.model);
    this.chosen = new Chosen(this.model, this.writer);
    this.push = push;
    this.guard = new Guard();
    /** The elements that hold frames, by frame. @type {Map<string, any>} */
    this.hosts = new Map();
    /** What was scrolled how far before the wheel turned. @type {any} */
    this.wheel = null;
    this.following = false;
    this.pushing = false;
    this.geometry = false;
    /** A patch, pushed or read, that the daemon has not acknowledged. */
    this.inflight = false;
    this.scheduled = false;
    this.timer = 0;
    this.observer = new MutationObserver((records) => this.mutated(records));
    this.flush = this.flush.bind(this);
    this.model.onRoot = (root) => this.follow(root);
    this.heard = this.heard.bind(this);
    this.quiet = 0;
    this.beats = 0;
    /** The pass under way. @type {Pass | null} */
    this.pass = null;
    /** When the next may begin, and when the last one ended. */
    this.rested = 0;
    this.passed = 0;
    /** Boxes, or the scroll position, are to be sent with the next patch. */
    this.boxes = false;
    this.goOn = this.goOn.bind(this);
  }

  // ---- watching the page --------------------------------------------------------------------

  start() {
    if (!this.following) {
      this.following = true;
      this.observer.observe(this.model.doc, OBSERVED);
    }
    // document.open() drops listeners; adding one twice does nothing.
    for (const type of HEARD) addEventListener(type, this.heard, LISTEN);
  }

  /** @param {any} root a shadow root */
  follow(root) {
    if (this.model.roots.has(root)) return;
    this.model.roots.add(root);
    this.model.rootList.add(root);
    this.observer.observe(root, OBSERVED);
    for (const type of HEARD) root.addEventListener(type, this.heard, LISTEN);
    root.addEventListener("slotchange", this.heard, LISTEN);
  }

  /** @param {MutationRecord[]} records */
  mutated(records) {
    this.quiet = performance.now();
    this.model.note(records);
    this.writer.took += performance.now() - this.quiet;
    this.chosen.stir();
    this.schedule();
  }

  /** @param {Event} event */
  heard(event) {
    const model = this.model;
    this.chosen.stir();
    model.geometryDirty = true;
    switch (event.type) {
      case "slotchange": {
        const root = safe.getRootNode(event.target);
        if (root.host) model.reslot(root.host);
        break;
      }
      case "scroll":
        if (!this.geometry) return;
        this.boxes = true;
        break;
      case "input":
      case "change":
      case "reset":
      case "click":
      case "keyup":
        model.controlsDirty = true;
        if (event.type === "input" || event.type === "change") model.noteText(event.composedPath()[0]);
        break;
      default:
        model.styleDirty = true;
    }
    this.schedule();
  }

  // ---- pushing ------------------------------------------------------------------------------

  /**
   * Flushes in a task of its own, so that everything that one task of the page does is one patch; of the
   * priority that runs before the next frame is drawn, which can take long on a large page.
   */
  schedule() {
    if (!this.pushing || this.inflight || this.scheduled) return;
    this.scheduled = true;
    scheduler.postTask(this.flush, FLUSH);
  }

  flush() {
    this.scheduled = false;
    if (!this.pushing || this.inflight || this.writer.waiting.length) return;
    const message = this.take(false, false);
    if (message === null || this.chosen.overdue()) this.tellChosen();
    if (message === null) return;
    this.inflight = true;
    this.push(message);
  }

  tellChosen() {
    const message = this.chosen.news();
    if (message !== null) this.push(message);
  }

  /**
   * The next patch, or null when nothing changed.
   * @param {boolean} all also what no mutation shows @param {boolean} geometry with all boxes as they are now
   */
  take(all, geometry) {
    const start = performance.now();
    const message = this.find(all, geometry);
    this.writer.took += performance.now() - start;
    return message;
  }

  /** @param {boolean} all @param {boolean} geometry */
  find(all, geometry) {
    const model = this.model;
    const records = this.observer.takeRecords();
    if (records.length) model.note(records);
    if (all) {
      this.abandon();
      if (!model.layoutHolds()) model.styleDirty = true;
    }
    model.update(all);
    if (geometry) model.measure();
    const boxes = geometry || this.boxes || (this.geometry && model.unboxed.size > 0);
    if (boxes) model.position();
    this.boxes = false;
    const idle = !model.changed.size && !model.gone.size && !this.writer.full && !this.news(boxes);
    if (idle) return null;
    return this.writer.patch(boxes);
  }

  /** Whether the list, the boxes or the header changed. @param {boolean} geometry */
  news(geometry) {
    if (this.writer.renamed()) return true;
    if (geometry && scrollState() !== this.writer.scroll) return true;
    return this.model.listDirty || (geometry && this.model.unboxed.size > 0);
  }

  /** While pushing, four times a second: whether there is anything that no event shows. */
  beat() {
    if (!this.pushing) return;
    this.start();
    this.chosen.stir();
    if (!this.pass && performance.now() >= this.rested) this.look();
    if (this.chosen.due) this.schedule();
    // Listeners come without a mutation: a probe now and then, and soon after elements came.
    this.beats++;
    if (this.beats % 8 === 0 || (this.model.grown && this.beats % 2 === 0)) this.push(this.writer.header("p"));
    this.timer = setTimeout(() => this.beat(), BEAT);
  }

  /** Glances at the document, and begins a pass when it may have changed unseen. */
  look() {
    const { model } = this;
    const start = performance.now();
    if (!model.rescan) {
      model.glance();
      model.sweepControls();
      if (model.styleDirty || !model.layoutHolds() || start - this.passed >= PASS_EVERY) {
        this.pass = new Pass(model);
        scheduler.postTask(this.goOn, SLICES);
      }
    }
    this.rested = start + REST * (performance.now() - start);
    if (model.pending || this.writer.renamed()) this.schedule();
  }

  /** Ends a pass before its end: what it did not look at is to be looked at. */
  abandon() {
    if (this.pass) this.model.styleDirty = this.model.geometryDirty = true;
    this.pass = null;
  }

  /** Works on the pass for a slice. */
  goOn() {
    const { model, pass } = this;
    if (!pass) return; // a read has looked at everything meanwhile
    if (!this.pushing || model.rescan) {
      this.abandon();
      return;
    }
    const before = pass.took;
    const over = pass.slice();
    this.writer.took += pass.took - before;
    if (!over) {
      scheduler.postTask(this.goOn, SLICES);
      if (model.pending) this.schedule();
      return;
    }
    this.pass = null;
    this.passed = performance.now();
    this.rested = this.passed + REST * pass.took;
    model.standInsDirty = true;
    if (this.geometry) {
      model.cover();
      this.boxes = true;
    }
    this.schedule();
  }

  // ---- what the daemon calls ----------------------------------------------------------------

  /** @param {any[]} digits of a sequence and of refs, as Ack.Digits in ack.go writes them; or none */
  acknowledge(digits) {
    const [sequence, ...refs] = numbersOf(digits);
    if (sequence !== this.writer.sequence) return;
    this.writer.acknowledge(sequence, refs);
    this.inflight = false;
    if (this.model.pending || this.boxes || this.chosen.due) this.schedule();
  }

  /**
   * @param {{structural: boolean, attributes: string[], geometry: boolean, full: boolean, probed: boolean}} request
   * @param {any[]} digits of an acknowledgement
   */
  read(request, digits) {
    this.start();
    this.acknowledge(digits);
    if (request.full) {
      this.writer.restart();
      this.inflight = false;
    }
    if (this.inflight || this.writer.waiting.length) return this.writer.header("u");
    this.want(request);
    const records = this.observer.takeRecords();
    if (records.length) this.model.note(records);
    if (this.model.grown && !request.probed) return this.writer.header("p");
    const message = this.take(true, request.geometry);
    if (message !== null) {
      // What is pushed overtakes this answer, so nothing is until the answer is acknowledged.
      this.inflight = true;
      return message;
    }
    return this.writer.header(request.geometry ? "m" : "");
  }

  /** Extends what is stored. @param {{structural: boolean, attributes: string[]}} request */
  want(request) {
    const model = this.model;
    if (request.structural && !model.structural) {
      model.structural = true;
      model.rescan = true;
    }
    for (const name of request.attributes || []) {
      if (model.attributes.includes(name) || model.attributes.length >= 64) continue;
      model.attributes.push(name);
      model.rescan = true;
    }
  }

  /** @param {{push: boolean, geometry: boolean}} how */
  observe(how) {
    this.geometry = how.geometry;
    if (how.push === this.pushing) return;
    this.pushing = how.push;
    clearTimeout(this.timer);
    if (!this.pushing) return;
    this.start();
    this.timer = setTimeout(() => this.beat(), BEAT);
    this.schedule();
  }

  /**
   * What somebody waits for, while the page pushes.
   * @param {{structural: boolean, attributes: string[], selectors: {css: string, shown: boolean}[]}} what
   */
  heed(what) {
    this.want(what);
    this.chosen.want(what.selectors);
    if (this.model.pending || this.chosen.due) this.schedule();
  }

  /**
   * Everything from scratch, without the model: for tests, as the model's oracle. One line per
   * element: its ref and its fields, the parent as a ref.
   */
  fresh() {
    const model = new Model(this.model.doc);
    model.structural = this.model.structural;
    model.attributes = this.model.attributes;
    model.children = this.model.children;
    model.strange = this.model.strange;
    model.update(true);
    const lines = [];
    const known = (rec) => {
      const own = rec && this.model.recs.get(rec.node);
      return own ? own.ref : "^";
    };
    for (let rec = model.head.next; rec; rec = rec.next) {
      const fields = rec.fields.slice();
      fields[F_PARENT] = fields[F_PARENT] ? known(fields[F_PARENT]) : "^";
      lines.push(known(rec) + "\t" + fields.join("\t"));
    }
    return lines.join("\n");
  }
}

/** Numbers from their digits: seven bits each, the lowest first, and 128 when there is more. @param {any[]} digits */
function numbersOf(digits) {
  if (typeof digits[0] === "object") return digits[0];
  const out = [];
  let n = 0, unit = 1;
  for (const digit of digits) {
    n += (digit % 128) * unit;
    unit *= 128;
    if (digit >= 128) continue;
    out.push(n);
    n = 0;
    unit = 1;
  }
  return out;
}

const OBSERVED = { subtree: true, childList: true, attributes: true, characterData: true };
const LISTEN = { capture: true, passive: true };
const FLUSH = /** @type {const} */ ({ priority: "user-blocking" });
const SLICES = /** @type {const} */ ({ priority: "user-visible" });
/** Milliseconds after which a page that seems not to change is passed over all the same. */
const PASS_EVERY = 2000;
/** Milliseconds between looks while somebody watches. */
const BEAT = 250;
const HEARD = [
  "input", "change", "reset", "click", "keyup", "toggle", "scroll", "resize", "focusin", "focusout", "load",
  "transitionend", "animationend", "fullscreenchange", "pageshow", "hashchange", "popstate",
  // What is shown can follow the pointer (:hover) without a mutation and without another layout.
  "pointerover",
];

// @ts-check
// Agent is the entry point to a document's model. It serves the daemon's reads, and pushes patches while the page is
// followed.
//
// Agent creates the parts (model, writer, guard, poller, selectors) and owns the mutation observer, the event listeners and
// the flow control, which tracks acknowledged patches and the time of the next push. 70-commands.js creates one agent per
// document and calls it.

/**
 * Selects when a first read adds the structure that distinguishes elements; see Contexts in observer.go.
 * @typedef {"" | "alike" | "always"} Contexts
 */

class Agent {
  /** @param {Document} doc @param {(message: string) => void} send */
  constructor(doc, send) {
    this.model = new Model(doc);
    const random = crypto.getRandomValues ? crypto.getRandomValues(new Uint32Array(2)) : [Math.random() * 2 ** 32, 0];
    this.id = random[0].toString(36) + random[1].toString(36);
    this.writer = new Writer(this.model, this.id);
    this.selectors = new SelectorWatch(this.model, this.writer);
    this.send = send;
    this.guard = new Guard(this);
    this.notices = new Notices(this);
    this.timers = new Timers();
    this.settling = new Settling(this);
    /** The host elements of frames, by frame id. @type {Map<string, El>} */
    this.hosts = new Map();
    /** The scroll positions before the wheel event. @type {WheelState | null} */
    this.wheel = null;
    /** The record of a file drag. @type {FileDrag | null} */
    this.fileDrag = null;
    /** The entry of a text that may become a tag. @type {Tagging | null} */
    this.tagging = null;
    /**
     * The last pressed element, and its position at the press.
     * @type {ReturnType<typeof pagePositionOf> | null}
     */
    this.pressedPosition = null;
    /** Whether the mutation observer is connected. */
    this.following = false;
    /** Whether the daemon follows the page, so that patches are pushed, and whether they include boxes. */
    this.pushing = false;
    this.geometry = false;
    /**
     * The newest patch that the daemon has acknowledged, and the patch whose acknowledgement blocks further patches.
     */
    this.acked = 0;
    this.awaitedAck = 0;
    /** Whether a flush is scheduled as a task, and its animation frame request, or 0. */
    this.scheduled = false;
    this.frameRequest = 0;
    /**
     * The timeline's time when the page last changed with a frame requested, or received a frame event; see onFrame.
     */
    this.changedIn = null;
    this.poller = new Poller(this);
    this.observer = new MutationObserver((records) => this.onMutations(records));
    /** Records which fields have been password fields, from the start of the document. */
    this.types = new MutationObserver(markFormerPasswords);
    this.types.observe(doc, TYPES);
    this.flush = this.flush.bind(this);
    this.onFrame = this.onFrame.bind(this);
    this.model.animations.onEnd = () => this.handleAnimationEnd();
    this.model.onRoot = (root) => this.follow(root);
    this.onEvent = this.onEvent.bind(this);
    this.lastMutation = 0;
    /** The document element when the event listeners were added. @type {El | null} */
    this.root = null;
    /** Whether the next patch includes boxes and the scroll position. */
    this.boxes = false;
    this.recordMore = this.recordMore.bind(this);
    /** Whether recordMore is posted. */
    this.recording = false;
  }

  // ---- observing the page -------------------------------------------------------------------

  /** Starts to observe the document, unless it is already observed. */
  start() {
    if (!this.following) {
      this.following = true;
      this.observer.observe(this.model.doc, OBSERVED);
    }
    // document.open() removes the listeners and replaces the document element.
    const root = safe.documentElement(this.model.doc);
    if (root === this.root && root !== null) return;
    this.root = root;
    for (const type of EVENTS) addEventListener(type, this.onEvent, LISTEN);
  }

  /** Starts to observe a shadow tree. @param {Shadow} root */
  follow(root) {
    if (!this.model.sweep.follow(root)) return;
    this.model.listeners.addPending(root);
    this.observer.observe(root, OBSERVED);
    this.types.observe(root, TYPES);
    for (const type of EVENTS) root.addEventListener(type, this.onEvent, LISTEN);
    root.addEventListener("slotchange", this.onEvent, LISTEN);
  }

  /** @param {MutationRecord[]} records */
  onMutations(records) {
    this.lastMutation = performance.now();
    this.poller.recordActivity();
    if (this.frameRequest) this.changedIn = this.model.doc.timeline.currentTime;
    this.processRecords(records);
    this.timers.recordChange();
    this.writer.took += performance.now() - this.lastMutation;
    this.selectors.invalidate();
    if (this.guard.press) this.guard.press.recordPageChange();
    this.schedule();
  }

  /** Processes the mutations that are not yet delivered. */
  takeRecords() {
    markFormerPasswords(this.types.takeRecords());
    const records = this.observer.takeRecords();
    if (records.length) this.processRecords(records);
  }

  /** @param {MutationRecord[]} records */
  processRecords(records) {
    relearnSecrets();
    this.model.changes.process(records);
    this.notices.process(records);
    this.settling.record(records);
  }

  /** @param {Event} event */
  onEvent(event) {
    const model = this.model;
    if (FRAME_EVENTS.has(event.type)) this.changedIn = model.doc.timeline.currentTime;
    const at = targetOf(event);
    if (event.type === "invalid") return at ? this.notices.recordInvalid(at) : undefined;
    this.selectors.invalidate();
    this.poller.recordActivity();
    model.changes.geometryDirty = true;
    switch (event.type) {
      case "slotchange": {
        const host = hostOf(/** @type {El} */ (event.target));
        if (host) model.changes.reslot(host);
        break;
      }
      case "pointerover":
        if (event.isTrusted) this.notices.pieces.hovered = at;
        model.changes.styleDirty = true;
        break;
      case "scroll":
        if (event.isTrusted && at) this.notices.pieces.recordScroll(at);
        if (!this.geometry) return;
        this.boxes = true;
        break;
      case "input":
      case "change":
      case "reset":
      case "click":
      case "keyup":
        model.changes.controlsDirty = true;
        if (model.records.controls.size > CONTROLS_AT_ONCE) model.changes.styleDirty = true; // a sweep checks the rest
        if (at && (event.type === "input" || event.type === "change")) {
          learnSecretInput(at);
          if (event.isTrusted) {
            model.rows.recordEntry(at);
            this.settling.recordValue();
          }
          model.changes.markText(at);
        }
        break;
      default:
        model.changes.styleDirty = true;
    }
    this.schedule();
  }

  /**
   * Handles the end of a script's animation, for which the document has no event. The styles may differ from those that
   * were read.
   */
  handleAnimationEnd() {
    this.changedIn = this.model.doc.timeline.currentTime;
    this.poller.recordActivity();
    this.model.changes.styleDirty = this.model.changes.geometryDirty = true;
    this.schedule();
  }

  // ---- pushing ------------------------------------------------------------------------------

  /**
   * Flushes in a separate task, so that all changes of one page task form one patch. The browser may render a frame first,
   * which is slow on a large page, so a frame that starts earlier also flushes.
   */
  schedule() {
    if (!this.pushing || this.scheduled || this.isBlocked()) return;
    this.scheduled = true;
    scheduler.postTask(this.flush, FLUSH);
    this.frameRequest = ownFrame(this.onFrame);
  }

  /** Whether pushes are currently blocked. */
  isBlocked() {
    return this.acked < this.awaitedAck || this.writer.sequence - this.acked >= WINDOW || this.writer.waiting.length > 0;
  }

  /**
   * Flushes at the start of a frame, unless callbacks of this frame have already changed the page, because further
   * callbacks may follow. The change that called schedule does not count: if a callback makes it, the frame that schedule
   * requests is the next one. Times alone do not suffice, because Chromium may start a frame late, with a time before that
   * change.
   */
  onFrame() {
    this.frameRequest = 0;
    if (this.changedIn !== this.model.doc.timeline.currentTime) this.push();
  }

  /** Flushes in a task. */
  flush() {
    this.scheduled = false;
    if (this.frameRequest) cancelAnimationFrame(this.frameRequest);
    this.frameRequest = 0;
    this.push();
  }

  push() {
    if (!this.pushing || this.isBlocked()) return;
    const message = this.take(false, false);
    if (message === null || this.selectors.overdue()) this.sendSelected();
    if (message !== null) this.send(message);
  }

  sendSelected() {
    const message = this.selectors.takeNews();
    if (message !== null) this.send(message);
  }

  /**
   * Updates the model and returns the next patch, or null without changes.
   * @param {boolean} all includes changes without a mutation @param {boolean} geometry measures all boxes
   * @param {Contexts} [contexts] see scanWith
   */
  take(all, geometry, contexts = "") {
    const start = performance.now();
    const message = this.updateAndWrite(all, geometry, contexts);
    this.writer.took += performance.now() - start;
    return message;
  }

  /** @param {boolean} all @param {boolean} geometry @param {Contexts} contexts */
  updateAndWrite(all, geometry, contexts) {
    const model = this.model;
    this.takeRecords();
    if (all) {
      this.poller.abandonSweep();
      if (!model.layout.isUnchanged()) model.changes.styleDirty = true;
    }
    this.scanWith(contexts, all);
    model.records.join();
    model.redraws.settle(this.writer.isHeaderNews());
    if (geometry) model.layout.measure();
    const boxes = geometry || this.boxes || (this.geometry && model.records.unboxed.size > 0);
    if (boxes) model.layout.readPosition();
    this.boxes = false;
    const idle = !model.records.changed.size && !model.records.gone.size && !this.writer.full && !this.hasNews(boxes);
    if (idle) return null;
    return this.writer.patch(boxes);
  }

  /** Whether the list, the boxes or the header changed. @param {boolean} geometry */
  hasNews(geometry) {
    if (this.writer.isHeaderNews()) return true;
    if (geometry && scrollState() !== this.writer.scroll) return true;
    return this.model.records.listDirty || (geometry && this.model.records.unboxed.size > 0);
  }

  // ---- commands of the daemon ---------------------------------------------------------------

  /**
   * Applies an acknowledgement.
   * @param {Digit[]} digits of a sequence and of refs, as Ack.Digits in ack.go writes them, or empty
   */
  acknowledge(digits) {
    this.applyAck(numbersOf(digits));
  }

  /** @param {number[]} numbers a sequence and refs, or empty */
  applyAck([sequence, ...refs]) {
    if (!(sequence > this.acked && sequence <= this.writer.sequence)) return;
    this.acked = sequence;
    this.writer.acknowledge(sequence, refs);
    if (this.model.pending || this.boxes || this.selectors.due) this.schedule();
  }

  /**
   * Returns the next patch, or only a header. The header has the flag u or p (50-writer.js) if the daemon must acknowledge
   * or probe first. Otherwise the document is unchanged.
   * @param {{structural: boolean, contexts?: Contexts, attributes: string[], geometry: boolean, full: boolean, probed: boolean, failedSheets?: string[]}} request
   * @param {Digit[]} digits of the mark of the read, and of an acknowledgement
   */
  read(request, digits) {
    const [mark, ...ack] = numbersOf(digits);
    setFailedSheets(request.failedSheets);
    this.start();
    this.applyAck(ack);
    if (request.full) {
      this.writer.restart();
      this.acked = this.awaitedAck = this.writer.sequence;
    }
    if (this.acked < this.writer.sequence) {
      // Pushes stop until the daemon has acknowledged the patches in flight, so that the next read succeeds.
      this.awaitedAck = this.writer.sequence;
      return this.writer.header("u");
    }
    this.extendStored(request);
    this.takeRecords();
    if (this.model.listeners.due && !request.probed) return this.writer.header("p");
    if (request.structural) this.writer.contexts = false; // structure was requested, so refs are in document order
    const message = this.take(true, request.geometry, this.writer.sequence === 0 ? request.contexts : "");
    if (mark > 0) this.recordRows(mark);
    this.notices.check();
    if (message !== null) {
      // Pushed messages can overtake this answer, so pushes stop until the answer is acknowledged.
      this.awaitedAck = this.writer.sequence;
      return message;
    }
    return this.writer.header(request.geometry ? "m" : "");
  }

  /**
   * Scans a document before its first read, which then only has to apply later changes.
   * @param {{contexts: Contexts, failedSheets?: string[]}} request
   */
  prepare(request) {
    const { model, writer } = this;
    setFailedSheets(request.failedSheets);
    if (model.refresh.scans > 0 || writer.sequence > 0 || model.elements.length > MAX_PREPARED) return;
    const start = performance.now();
    this.start();
    this.takeRecords();
    this.scanWith(request.contexts, true);
    writer.took += performance.now() - start;
  }

  /**
   * Updates the model. The scan for a first patch includes structure where elements share role and name, because their
   * surroundings distinguish them. The daemon would otherwise request the structure as soon as it has the elements.
   * @param {Contexts} contexts "" unless this is for the first patch @param {boolean} all see Refresh.update
   */
  scanWith(contexts, all) {
    const { model } = this;
    if (contexts === "always" && model.changes.rescan) this.addStructure(); // one scan is faster than two
    model.refresh.update(all);
    model.animations.markRead();
    if (!contexts || model.structural || (contexts === "alike" && !model.records.haveAlike())) return;
    this.addStructure();
    model.refresh.scanStructure(false);
  }

  /** Makes the model include structure, for contexts. */
  addStructure() {
    if (this.model.structural) return;
    this.model.structural = true;
    this.writer.contexts = this.writer.full;
  }

  /** Records the content of rows as the daemon reads them. @param {number} mark */
  recordRows(mark) {
    const start = performance.now();
    this.model.rows.record(mark);
    this.writer.took += performance.now() - start;
    if (!this.recording) this.continueRecording();
  }

  /** Posts recordMore while rows are pending. At this priority, queued reads of other frames run first. */
  continueRecording() {
    this.recording = this.model.rows.pending;
    if (this.recording) scheduler.postTask(this.recordMore, SLICES);
  }

  /** Continues to record rows, in a task. */
  recordMore() {
    const start = performance.now();
    this.model.rows.recordMore(SLICE);
    this.writer.took += performance.now() - start;
    this.continueRecording();
  }

  /**
   * Returns how an element differs from its state when the action was decided; see Rows.check.
   * @param {Rec} rec @param {Known | undefined} known
   */
  differenceOf(rec, known) {
    const records = this.observer.takeRecords();
    if (records.length) this.onMutations(records);
    return this.model.rows.check(rec, known);
  }

  /**
   * Extends the stored DOM by structural elements or attributes.
   * @param {{structural: boolean, attributes: string[]}} request
   */
  extendStored(request) {
    const model = this.model;
    if (request.structural && !model.structural) {
      model.structural = true;
      if (model.sweep.shadows.size > 0) model.changes.rescan = true; // only a scan reads the styles of shadow trees
      else model.changes.structureDue = true;
    }
    for (const name of request.attributes || []) {
      if (model.attributes.includes(name) || model.attributes.length >= 64) continue;
      model.attributes.push(name);
      model.changes.rescan = true;
    }
  }

  /**
   * Starts or stops pushing patches and notices. A document is fresh if it is newer than the daemon's request.
   * @param {{push: boolean, geometry: boolean, notices?: boolean, fresh?: boolean}} how
   */
  observe(how) {
    this.geometry = how.geometry;
    this.notices.setFollowed(how.notices === true, how.fresh === true);
    if (how.push === this.pushing) return;
    this.pushing = how.push;
    this.poller.stop();
    if (!this.pushing) return;
    this.start();
    this.poller.start();
    this.schedule();
  }

  /**
   * Sets the conditions that callers wait for while patches are pushed.
   * @param {{structural: boolean, attributes: string[], selectors: {css: string, shown: boolean}[]}} what
   */
  setInterests(what) {
    this.extendStored(what);
    this.selectors.setSelectors(what.selectors);
    if (this.model.pending || this.selectors.due) this.schedule();
  }
}

/**
 * Decodes numbers from their digits: seven bits each, the lowest first, plus 128 if another digit follows.
 * @param {Digit[]} digits
 */
function numbersOf(digits) {
  const out = [];
  let n = 0, unit = 1;
  for (const digit of digits) {
    if (typeof digit === "object") { // several plain numbers
      for (const number of digit) out.push(number);
      continue;
    }
    n += (digit % 128) * unit;
    unit *= 128;
    if (digit >= 128) continue;
    out.push(n);
    n = 0;
    unit = 1;
  }
  return out;
}

/** Documents with more elements are not scanned before a read, because that would block the page for a long time. */
const MAX_PREPARED = 20_000;
const TYPES = { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true };
const OBSERVED = { subtree: true, childList: true, attributes: true, characterData: true };
const LISTEN = { capture: true, passive: true };
const FLUSH = /** @type {const} */ ({ priority: "user-blocking" });
const SLICES = /** @type {const} */ ({ priority: "user-visible" });
/**
 * The maximum number of unacknowledged patches. The daemon acknowledges several of them together (observer.Window).
 */
const WINDOW = 16;
const EVENTS = [
  "input", "change", "reset", "click", "keyup", "toggle", "scroll", "resize", "focusin", "focusout", "load",
  "transitionend", "animationend", "fullscreenchange", "pageshow", "hashchange", "popstate", "invalid",
  // :hover rules show and hide elements without a mutation.
  "pointerover",
];
/** Events that are dispatched in a frame before its callbacks. A frame that their listeners request is the same frame. */
const FRAME_EVENTS = new Set(["scroll", "resize", "transitionend", "animationend", "fullscreenchange"]);

// @ts-check
// Notices reports what a person would notice on the page: alerts and status messages, dialogs that open and close, fields
// that become invalid, headings and busy indicators. While the daemon acts, it also reports changed texts
// (58-changed-texts.js) and changed appearances (58-looks.js). The daemon enables notices while it acts, navigates or
// waits, independent of its clients' views.
//
// Notices owns the text of each source (56-notice-texts.js) at the last check. A check compares the texts and sends the news in
// one message: the header of a patch with the flag o, then one line of JSON for each Notice. Checks run with each read, and
// in the frame after a change, so that content that shows for a single frame is noticed. All work is bounded, because a
// page may produce news endlessly.

/** The maximum number of notices between two calls of begin. Later notices are dropped. */
const MAX_NOTICES = 24;
/** The maximum number of notices per live region. Later texts replace the last notice. */
const MAX_REGION_NOTICES = 3;
/** The maximum number of headings that are noticed. */
const MAX_HEADINGS = 3;
/** The maximum number of changed nodes that are kept until the next check. */
const MAX_CHANGED = 200;
/** The maximum time in milliseconds for which the parser of a new document runs without being observed. */
const PARSER_AT_MOST = 500;
/** The minimum time in milliseconds between checks until a document is loaded. */
const LOADING_EVERY = 200;
/** Waits up to this many milliseconds use frames, because the page would produce most of these frames anyway. */
const FRAMES_AT_MOST = 50;
/** Checks at frames use at most about 1/CHECK_SHARE of the time. */
const CHECK_SHARE = 20;
const READ_DUE = /** @type {const} */ ({ priority: "user-blocking" });

/**
 * The state of a source at the last check: its texts, and its notice since begin.
 * @typedef {{kind: string, texts: string[], notice: Notice | null, count: number}} SourceState
 */

class Notices {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.model = agent.model;
    /** Whether the daemon acts, and whether a client follows the notices. */
    this.acting = this.followed = false;
    /** Whether the document is newer than the start of the act, so that there is no earlier state. */
    this.fresh = false;
    /** The same until the daemon has acted, because all texts of the document are new. */
    this.arriving = false;
    /** The elements that may cause a notice. */
    this.candidates = new Sources(this.model);
    /** The live regions that are parts of the page, until they are empty. @type {WeakSet<El>} */
    this.parts = new WeakSet();
    /** The sources that had text at the last check. @type {Map<El, SourceState>} */
    this.sources = new Map();
    /** The texts of the headings, and the title, at the last check. @type {Set<string>} */
    this.headings = new Set();
    this.title = "";
    /** The nodes that changed since the last check. @type {Set<DomNode>} */
    this.touched = new Set();
    /** The changed nodes whose text or children changed, not only their attributes. @type {Set<DomNode>} */
    this.rewritten = new Set();
    /** The elements that were added since begin, and since the last check. @type {Set<El>} */
    this.added = new Set();
    /** @type {Set<El>} */
    this.arrived = new Set();
    /**
     * The elements that got their first text since begin, the elements that lost text, and the elements that were removed.
     * @type {Set<DomNode>}
     */
    this.filled = new Set();
    /** @type {Set<DomNode>} */
    this.emptied = new Set();
    /** @type {Set<DomNode>} */
    this.taken = new Set();
    /** The texts of boxes out of the flow at begin. @type {Map<El, string>} */
    this.floats = new Map();
    /** The visible toasts, with their texts. @type {Map<El, {text: string, notice: Notice | null}>} */
    this.toasts = new Map();
    /** Boxes that may be toasts once they are in view. @type {Set<El>} */
    this.coming = new Set();
    /** The hidden elements, and the animations to wait for. */
    this.reveals = new Reveals(agent.model);
    /** The texts in the flow that change while the daemon acts. */
    this.texts = new ChangedTexts(this.reveals);
    /** The appearance of the target and its neighbours. */
    this.looks = new Looks(agent.model);
    /** The appearance of what is not listed. */
    this.pieces = new Pieces(agent.model, this.looks);
    this.isElsewhere = this.isElsewhere.bind(this);
    this.isMessage = this.isMessage.bind(this);
    /** Fields whose validation failed since the last check. @type {Set<El>} */
    this.refused = new Set();
    /** Notices to send. @type {Set<Notice>} */
    this.unsent = new Set();
    /** Notices whose elements have no ref yet. @type {Map<Notice, El>} */
    this.unnamed = new Map();
    /** The number of the last notice, and the counts of notices and of headings since begin. */
    this.lastId = 0;
    this.made = 0;
    this.madeHeadings = 0;
    /** Whether changes since begin exceed what is kept, so that it is unknown what is new and what is gone. */
    this.missed = false;
    /** The timer that ends the wait for the parser of a new document, or 0. */
    this.parsing = 0;
    this.observe = this.observe.bind(this);
    /** The requests for the frame or timer of the next check, and the earliest time of that check. */
    this.frame = this.timer = 0;
    this.notBefore = 0;
    this.onFrame = this.onFrame.bind(this);
    this.onTimer = this.onTimer.bind(this);
    this.readDue = this.readDue.bind(this);
  }

  /** Whether notices are enabled. */
  get on() {
    return this.acting || this.followed;
  }

  /** Records that the daemon starts or stops acting. @param {{on: boolean, fresh: boolean}} how */
  setActing(how) {
    const was = this.on;
    this.acting = how.on;
    this.turn(was, how.fresh);
  }

  /** Sets whether a client follows the notices. @param {boolean} on @param {boolean} fresh */
  setFollowed(on, fresh) {
    if (on === this.followed) return;
    const was = this.on;
    this.followed = on;
    this.turn(was, fresh);
  }

  /** @param {boolean} was @param {boolean} fresh */
  turn(was, fresh) {
    if (!this.on) {
      this.reset();
      return;
    }
    this.made = this.madeHeadings = 0;
    this.missed = false;
    this.notBefore = 0;
    clearTimeout(this.timer);
    this.timer = 0;
    if (fresh && this.awaitParser()) return;
    this.agent.start();
    this.agent.takeRecords();
    this.texts.begin();
    this.looks.clear();
    this.reveals.clear();
    this.pieces.clear();
    if (this.acting && !fresh) {
      this.reveals.begin();
      this.pieces.begin();
    }
    this.arriving = fresh;
    if (was) {
      this.check(); // earlier news does not belong to the new action
      for (const state of this.sources.values()) {
        state.notice = null;
        state.count = 0;
      }
      for (const set of [this.added, this.coming, this.filled, this.emptied, this.taken]) set.clear();
      for (const [box, { text }] of this.toasts) this.floats.set(box, text);
      this.toasts.clear();
      return;
    }
    this.fresh = fresh;
    if (fresh) {
      this.notBefore = performance.now() + LOADING_EVERY; // the daemon requests a check after loading
      return this.schedule();
    }
    this.floats = floatingBoxes(this.model.doc);
    this.compare(false);
  }

  /**
   * Delays observation while the parser of a new document runs, and returns whether it does. Observation, with a check in
   * each frame, would slow the parser by a tenth. The result is compared when the parser is done, or after PARSER_AT_MOST.
   */
  awaitParser() {
    if (this.parsing) return true;
    if (this.agent.following || this.model.doc.readyState !== "loading") return false;
    this.fresh = this.arriving = true;
    this.parsing = ownTimer(this.observe, PARSER_AT_MOST);
    addEventListener("readystatechange", this.observe, LISTEN);
    return true;
  }

  /** Starts to observe the document that the parser has built. */
  observe() {
    this.endParsing();
    this.agent.start();
    this.schedule();
  }

  endParsing() {
    clearTimeout(this.parsing);
    removeEventListener("readystatechange", this.observe, LISTEN);
    this.parsing = 0;
  }

  reset() {
    if (this.parsing) this.endParsing();
    const sets = [this.sources, this.headings, this.touched, this.rewritten, this.added, this.arrived, this.filled, this.emptied, this.taken, this.floats, this.toasts, this.coming, this.refused, this.unsent, this.unnamed];
    for (const set of sets) set.clear();
    this.texts.begin();
    this.looks.clear();
    this.pieces.clear();
    this.reveals.clear();
    if (this.frame) cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = this.timer = 0;
    this.title = "";
  }

  // ---- what happens on the page --------------------------------------------------------------

  /** @param {MutationRecord[]} records */
  process(records) {
    this.candidates.process(records, this.on && !this.fresh);
    if (!this.on || this.parsing) return;
    this.looks.record(records);
    this.pieces.record(records);
    for (const r of records) {
      this.missed = this.missed || this.touched.size >= MAX_CHANGED || this.added.size >= MAX_CHANGED;
      if (this.touched.size >= MAX_CHANGED) break;
      this.touched.add(/** @type {DomNode} */ (r.target));
      if (r.type !== "attributes" && writes(r)) this.rewritten.add(/** @type {DomNode} */ (r.target));
      if (this.fresh) continue; // a new document has no earlier state to compare with
      if (r.type === "childList") this.recordText(r);
      if (this.acting && !this.arriving) this.texts.record(r);
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) {
        if (this.arrived.size < MAX_CHANGED && isElement(n) && !this.taken.has(n)) this.arrived.add(n);
      }
    }
    this.schedule();
  }

  /**
   * Records removed elements, which may be inserted again, and elements that get their first text.
   * @param {MutationRecord} r
   */
  recordText(r) {
    const target = /** @type {DomNode} */ (r.target);
    for (const n of /** @type {NodeListOf<DomNode>} */ (r.removedNodes)) {
      if (isElement(n) && this.taken.size < MAX_CHANGED && !this.arrived.has(n) && !this.added.has(n)) this.taken.add(n);
    }
    if (this.filled.size >= MAX_CHANGED || this.emptied.size >= MAX_CHANGED) return; // what is filled now may have been emptied unnoticed
    if (holdsWords(r.removedNodes)) this.emptied.add(target);
    else if (!this.emptied.has(target) && holdsWords(r.addedNodes)) this.filled.add(target);
  }

  /** Records that the validation of a field failed. @param {El} field */
  recordInvalid(field) {
    if (!this.on || this.refused.size >= MAX_CHANGED) return;
    this.refused.add(field);
    this.schedule();
  }

  schedule() {
    if (this.frame || this.timer) return;
    const wait = this.notBefore === 0 ? 0 : this.notBefore - performance.now();
    if (wait > FRAMES_AT_MOST) this.timer = ownTimer(this.onTimer, wait);
    else this.frame = ownFrame(this.onFrame);
  }

  onTimer() {
    this.timer = 0;
    this.schedule();
  }

  onFrame() {
    this.frame = 0;
    const start = performance.now();
    if (start < this.notBefore) return this.schedule();
    this.check();
    const now = performance.now();
    const loading = this.arriving && this.model.doc.readyState !== "complete";
    this.notBefore = now + Math.max(CHECK_SHARE * (now - start), loading ? LOADING_EVERY : 0);
    this.agent.writer.took += now - start;
  }

  // ---- checks --------------------------------------------------------------------------------

  /** Compares the page with the last check, and sends the news. */
  check() {
    if (!this.on) return;
    if (this.parsing) this.observe();
    this.compare(true);
    this.compareLooks();
    this.name();
    this.flush();
    if (this.reveals.waits()) this.schedule();
  }

  /** Whether the act must wait for an animation that shows or hides noticeable content. */
  isRevealing() {
    if (!this.acting) return false;
    if (this.touched.size > 0 || (!this.reveals.animated && this.reveals.isAnimating())) this.check();
    return this.reveals.waits();
  }

  /** @param {boolean} report */
  compare(report) {
    const { model } = this;
    this.model.visibility.begin();
    for (const el of this.reveals.take()) {
      this.texts.add(el);
      for (const node of slottedIn(el)) this.texts.add(node);
    }
    /** @type {Map<El, SourceState>} */
    const now = new Map();
    /** @type {El[]} */
    const headings = [];
    for (const el of this.candidates.found()) {
      const kind = kindOfSource(el);
      if (kind === "heading") headings.push(el);
      else if (kind !== "") this.read(el, kind, now);
    }
    for (const field of this.refused) if (!now.has(field) && safe.isConnected(field)) this.read(field, "invalid", now);
    const before = this.sources;
    this.sources = now;
    if (report) this.reportAll(before, now);
    this.compareHeadings(headings, report);
    if (report && !this.fresh) {
      this.compareToasts();
      this.compareTexts();
      if (this.acting) this.reveals.awaitAll();
    }
    this.touched.clear();
    this.rewritten.clear();
    this.arrived.clear();
    this.refused.clear();
    if (model.doc.readyState !== "loading") this.fresh = false;
  }

  /** Records the current text of a source, if any. @param {El} el @param {string} kind @param {Map<El, SourceState>} now */
  read(el, kind, now) {
    if (LIVE_KINDS.has(kind) && this.isPart(el, kind)) return;
    const was = this.sources.get(el);
    const texts = this.textsOf(el, kind);
    if (this.acting && kind === "dialog" && texts.length > 0) this.reveals.awaitEnd(el);
    else if (this.acting && kind !== "invalid" && texts.length === 0) this.reveals.await(el);
    if (texts.length) now.set(el, { kind, texts, notice: was && was.kind === kind ? was.notice : null, count: was ? was.count : 0 });
  }

  /** Whether a live region is a part of the page. It stays one until it is empty. @param {El} el @param {string} kind */
  isPart(el, kind) {
    if (kind === "alert" || !hasText(safe.textContent(el))) this.parts.delete(el); // frameworks leave comments and white space in an empty region
    else if (!this.parts.has(el) && isPartOfPage(el, kind)) this.parts.add(el);
    return this.parts.has(el);
  }

  /** Returns the texts of a source, or none while it is hidden. @param {El} el @param {string} kind @returns {string[]} */
  textsOf(el, kind) {
    const { naming } = this.model;
    switch (kind) {
      case "dialog": {
        if (!isDialogOpen(el)) return [];
        const text = noticeText(el, MAX_NOTICE);
        const name = dialogName(naming, el) || clean(text, MAX_LABEL);
        return name ? [name, text.startsWith(name) ? text.slice(name.length).trim() : text] : [];
      }
      case "invalid": {
        const name = clean(naming.nameOrCaption(el, tagOf(el), explicitRole(el)), MAX_LABEL), message = invalidMessage(el);
        return [filled([name, message]).join(": ") || "a field"];
      }
      case "busy":
        return safe.checkVisibility(el, VISIBLE) ? [busyText(naming, el), busyShare(el)] : [];
    }
    return regionTexts(el);
  }

  /** @param {Map<El, SourceState>} before @param {Map<El, SourceState>} now */
  reportAll(before, now) {
    // A redraw of the whole application alone is not news.
    const known = new Set();
    for (const [el, state] of before) if (!now.has(el)) known.add(state.kind + state.texts.join("\n"));
    const drawn = new Set();
    for (const [el, state] of now) {
      const was = before.get(el);
      const signature = state.kind + state.texts.join("\n");
      if (!was) drawn.add(signature);
      if (!was && ((state.kind !== "alert" && known.has(signature)) || (state.kind === "log" && this.fresh))) continue;
      this.report(el, state, was && was.kind === state.kind ? was : null);
    }
    for (const [el, was] of before) {
      if (now.has(el)) continue;
      if (drawn.has(was.kind + was.texts.join("\n"))) continue;
      if (was.kind === "busy" && safe.isConnected(el) && isFullBar(el)) this.make("status", busyText(this.model.naming, el) + ": complete", "", el, false);
      if (was.kind === "dialog") this.make("dialog", was.texts[0], "", null, true);
      else if (was.notice && was.kind !== "invalid") this.change(was.notice, { gone: true });
    }
  }

  /** Reports a source with new text. @param {El} el @param {SourceState} state @param {SourceState | null} was */
  report(el, state, was) {
    const { kind, texts } = state;
    if (kind === "dialog" || kind === "busy") {
      const same = was !== null && (kind === "dialog" || was.texts[1] === texts[1]);
      if (!same && state.notice) this.change(state.notice, { detail: texts[1] });
      else if (!same) state.notice = this.make(kind, texts[0], texts[1] || "", el, false);
      return;
    }
    const fresh = was ? texts.filter((text) => !was.texts.includes(text)) : texts;
    const again = kind === "invalid" ? this.refused.has(el) : kind === "alert" && this.isRewritten(el);
    if (!fresh.length && !again) return;
    // If texts were added, only these are reported; an alert is reported as a whole.
    const grew = was !== null && was.texts.every((text) => texts.includes(text));
    const alone = kind === "log" || (kind === "status" && grew && was.texts.length > 0 && attr(el, "aria-atomic") !== "true");
    const text = clean((alone && fresh.length ? fresh : texts).join(" "), MAX_NOTICE);
    const last = state.notice;
    if (last && (state.count >= MAX_REGION_NOTICES || text.startsWith(last.text) || kind === "invalid")) {
      this.change(last, { text: this.redacted(text), gone: false });
      return;
    }
    state.count++;
    state.notice = this.make(kind, text, "", el, false);
  }

  /**
   * Whether the text of an element was rewritten since the last check. Changes of a style or class do not count.
   * @param {El} el
   */
  isRewritten(el) {
    for (const node of this.rewritten) if (safe.contains(el, node)) return true;
    return false;
  }

  /** @param {El[]} headings @param {boolean} report */
  compareHeadings(headings, report) {
    const texts = new Set();
    /** @type {{el: El, text: string, level: number}[]} */
    const found = [];
    for (const el of headings) {
      if (!safe.checkVisibility(el, VISIBLE)) continue;
      const text = noticeText(el, MAX_NOTICE);
      if (text === "" || texts.has(text)) continue;
      texts.add(text);
      if (!this.headings.has(text) && !this.isToldAround(el, text)) found.push({ el, text, level: Number(levelOf(el, tagOf(el), "heading")) });
    }
    this.headings = texts;
    const title = clean(safe.title(this.model.doc), MAX_NOTICE), retitled = title !== this.title;
    this.title = title;
    if (!report) return;
    found.sort((a, b) => a.level - b.level);
    for (const { el, text } of found) if (this.madeHeadings++ < MAX_HEADINGS) this.make("heading", text, "", el, false);
    if (retitled && title !== "" && !texts.has(title)) this.make("heading", title, "", null, false);
  }

  /** Whether a heading is in an open dialog, or in a live region that reports it. @param {El} el @param {string} text */
  isToldAround(el, text) {
    for (const [other, { kind, notice }] of this.sources) {
      if (kind !== "dialog" && !(notice && !notice.gone && notice.text.includes(text))) continue;
      if (safe.contains(other, el)) return true;
    }
    return false;
  }

  // ---- toasts --------------------------------------------------------------------------------

  /** Compares the boxes out of the flow that changed. */
  compareToasts() {
    for (const [box, toast] of this.toasts) {
      if (isVisibleInView(box) && toastText(box) !== "") continue;
      this.toasts.delete(box);
      this.floats.delete(box);
      if (toast.notice) this.change(toast.notice, { gone: true });
    }
    /** @type {Map<El, boolean>} */
    const boxes = new Map();
    for (const el of this.arrived) {
      if (this.added.size < MAX_CHANGED) this.added.add(el);
      if (this.acting) this.reveals.watchAdded(el);
      const box = boxes.size < MAX_NOTICES ? floatingBox(el, true) : null;
      if (box) boxes.set(box, true);
    }
    for (const node of this.touched) {
      const el = isElement(node) ? node : isText(node) ? flatElement(node) : null;
      const box = el && boxes.size < MAX_NOTICES ? floatingBox(el, false) : null;
      if (box && !boxes.has(box)) boxes.set(box, box === node);
    }
    const coming = new Set(this.coming);
    this.coming.clear();
    for (const box of coming) boxes.set(box, true);
    for (const [box, own] of boxes) this.compareToast(box, own, coming.has(box));
  }

  /**
   * @param {El} box @param {boolean} own whether the box itself changed, not only its content
   * @param {boolean} coming whether it was out of view at the last check
   */
  compareToast(box, own, coming) {
    const known = this.toasts.get(box);
    const isNew = this.isAdded(box);
    const deep = !known && !isNew && !isNearTop(box);
    if (deep && !own && getComputedStyle(box).position !== "fixed") return;
    if (this.acting && !known && !isNew && !coming && !this.isWritten(box) && !this.holdsOnlyNews(box)) return; // it was shown before, possibly in another place
    if (!isToastLike(box, deep ? DEEP_TOAST_SHARE : TOAST_SHARE)) return;
    if (!isVisibleInView(box)) {
      if (this.coming.size < MAX_NOTICES) this.coming.add(box);
      this.reveals.await(box);
      return;
    }
    const text = toastText(box), before = known ? known.text : isNew ? "" : this.floats.get(box) || "";
    if (text === "" || text === before) return;
    if (!known && before !== "") return; // a part of the page with a new text
    if (known && known.notice && text.startsWith(known.text)) {
      this.change(known.notice, { text: this.redacted(text) });
      known.text = text;
      return;
    }
    this.toasts.set(box, { text, notice: this.make("toast", text, "", box, false) });
  }

  /** Whether a box that had no words has some now, because the data of a text in it changed. @param {El} box */
  isWritten(box) {
    if (this.floats.get(box) !== "") return false;
    for (const n of this.rewritten) if (isText(n) && safe.contains(box, n)) return true;
    return false;
  }

  /** Whether a box was added since begin. @param {El} box */
  isAdded(box) {
    for (const el of this.added) if (safe.contains(el, box)) return true;
    return false;
  }

  /**
   * Whether all text of a box was added, written or shown since begin. Earlier text is not a message, even if it was moved.
   * @param {El} box
   */
  holdsOnlyNews(box) {
    const { shown, unshown } = this.reveals;
    for (const el of [...shown, ...unshown]) if (safe.contains(el, box)) return true;
    return this.filled.has(box) || noticeText(box, MAX_NOTICE, (el) => this.added.has(el) || this.filled.has(el) || shown.has(el)) === "";
  }

  // ---- texts ---------------------------------------------------------------------------------

  /** Reports the blocks whose text has changed. A block that changes again keeps its one notice. */
  compareTexts() {
    const { texts } = this;
    for (const [block, text] of texts.take(this.isElsewhere, this.isMessage)) {
      const known = texts.reported.get(block);
      if (known) this.change(known, { text: this.redacted(text) });
      else if (text !== "") this.reportText(block, text);
    }
    for (const [block, notice] of texts.reported) {
      const gone = !safe.isConnected(block) || !isShown(block) || !hasTextToShow(block);
      if (notice.gone !== gone) this.change(notice, { gone });
    }
  }

  /**
   * Reports the text of a block, or only counts the block if others are more informative.
   * @param {El} block @param {string} text
   */
  reportText(block, text) {
    const { texts } = this;
    const points = pointsOf(block, this.added);
    if (texts.made < MAX_TEXTS || (points >= TELLS && texts.made < MAX_TELLING)) {
      const notice = this.make("text", text, texts.more ? texts.more + " more" : "", null, false);
      if (!notice) return;
      if (texts.more && texts.last) this.change(texts.last, { detail: "" });
      texts.made++;
      texts.last = notice;
      texts.reported.set(block, notice);
      texts.points.set(notice, points);
      return;
    }
    const less = texts.leastBelow(points), notice = less && texts.reported.get(less);
    if (less && notice) {
      texts.reported.delete(less);
      texts.reported.set(block, notice);
      texts.points.set(notice, points);
      this.change(notice, { text: this.redacted(text), gone: false });
    }
    if (texts.last) this.change(texts.last, { detail: ++texts.more + " more" });
  }

  /** Whether another notice, or the listed element itself, reports the content of an element. @param {El} el */
  isElsewhere(el) {
    const rec = this.model.records.get(el), source = this.sources.get(el);
    return (rec !== undefined && rec.shown && rec.fields[F_KIND] === INTERACTIVE && rec.coverage === COVERS_ALL) ||
      (source !== undefined && source.notice !== null) || this.toasts.has(el);
  }

  /** Whether an element is a live region that is reported as a message. @param {El} el */
  isMessage(el) {
    return isLiveRegion(el) && !this.parts.has(el);
  }

  // ---- looks ---------------------------------------------------------------------------------

  /** Prepares for input to an element. @param {El} el */
  beginInput(el) {
    if (!this.acting || this.fresh) return;
    this.reveals.lookAfter(el);
    this.looks.begin(el);
    this.pieces.prepare(el);
    scheduler.postTask(this.readDue, READ_DUE);
  }

  /**
   * Reads the appearance of the elements near the target of the input. It usually runs in a task while the daemon sends the
   * input, and at the latest at the first event of the input.
   */
  readDue() {
    this.looks.readDue();
    this.pieces.readDue();
  }

  /** Prepares for the pointer to be moved to an element. @param {El} el */
  beginHover(el) {
    if (this.acting && !this.fresh) this.pieces.prepareHover(el);
  }

  /** Records an input event that is about to reach the page. @param {Event} event */
  recordInput(event) {
    this.readDue();
    this.pieces.recordInput(event);
    if (this.looks.known.size === 0) return;
    const records = this.agent.observer.takeRecords();
    if (records.length) this.agent.onMutations(records);
    this.looks.recordInput(event);
  }

  /**
   * Reports the elements whose appearance has changed since the input, and updates the notices of elements that look as
   * before again.
   */
  compareLooks() {
    if (!this.acting) return;
    const { looks, pieces } = this, firsts = new Set();
    for (const [words, [{ node }, ...others]] of looks.different()) this.reportLook(/** @type {Map<El | string, Notice>} */ (looks.told), firsts, node, words, true, refsOf(others));
    const alone = this.made === pieces.told.size && !this.missed;
    /** @type {Map<El | string, {text: string, listed: boolean, minor: boolean}>} */
    const said = new Map();
    for (const [words, { what: [first, ...rest], minor }] of pieces.different(this.added, alone)) {
      const rec = typeof first === "string" ? undefined : this.model.records.get(first);
      const listed = rec !== undefined && rec.shown && rec.fields[F_KIND] === INTERACTIVE;
      const names = namesOf(new Set((listed ? rest : [first, ...rest]).map((one) => (typeof one === "string" ? one : nameOfPiece(one)))));
      const text = listed ? filled([words, names && "also " + names]).join(", ") : filled([names, words]).join(": "), other = said.get(first);
      said.set(first, { text: other ? other.text + "; " + text : text, listed, minor: minor && (!other || other.minor) });
    }
    for (const [first, { text, listed, minor }] of said) this.reportLook(pieces.told, firsts, first, text, listed, "", minor);
    for (const told of /** @type {Map<El | string, Notice>[]} */ ([looks.told, pieces.told])) {
      for (const [el, notice] of told) if (!firsts.has(el) && !notice.gone) this.change(notice, { gone: true });
    }
  }

  /**
   * @param {Map<El | string, Notice>} told @param {Set<El | string>} firsts receives the element or name @param {El | string} what an element, or its name
   * @param {string} words @param {boolean} listed whether the notice refers to the element by its ref @param {string} [detail]
   * @param {boolean} [minor] whether it is reported only if nothing else is
   */
  reportLook(told, firsts, what, words, listed, detail = "", minor = false) {
    firsts.add(what);
    const known = told.get(what), notice = known || this.make("look", words, detail, listed ? /** @type {El} */ (what) : null, false);
    const text = this.redacted(words);
    if (notice) notice.minor = minor;
    if (known && (known.gone || known.text !== text || known.detail !== detail)) this.change(known, { text, detail, gone: false });
    else if (notice) told.set(what, notice);
  }

  // ---- notices -------------------------------------------------------------------------------

  /**
   * @param {string} kind @param {string} text @param {string} detail @param {El | null} el
   * @param {boolean} gone
   * @returns {Notice | null}
   */
  make(kind, text, detail, el, gone) {
    if (this.made >= MAX_NOTICES) return null;
    this.made++;
    const notice = { id: ++this.lastId, kind, text: this.redacted(text), detail: this.redacted(detail), ref: -1, gone };
    this.unsent.add(notice);
    if (el) this.unnamed.set(notice, el);
    return notice;
  }

  /** @param {Notice} notice @param {Partial<Notice>} change */
  change(notice, change) {
    Object.assign(notice, change);
    this.unsent.add(notice);
  }

  /** @param {string} text */
  redacted(text) {
    return text === "" ? "" : withoutSecrets(this.model.doc, this.model.sweep.shadows, text);
  }

  /** Sets the refs of notices whose elements now have one. */
  name() {
    for (const [notice, el] of this.unnamed) {
      const rec = this.model.records.get(el);
      if (rec && rec.ref >= 0) this.change(notice, { ref: rec.ref });
      if (rec && rec.ref >= 0 || !safe.isConnected(el)) this.unnamed.delete(notice);
    }
  }

  flush() {
    if (!this.unsent.size) return;
    const lines = [...this.unsent].map((notice) => JSON.stringify(notice));
    this.unsent.clear();
    this.agent.send(this.agent.writer.header("o") + "\n" + lines.join("\n"));
  }
}

/** Whether a record of texts or children adds or removes text. @param {MutationRecord} r */
function writes(r) {
  return r.type === "characterData" || holdsWords(r.addedNodes) || holdsWords(r.removedNodes);
}

/** Whether some nodes contain text. @param {NodeList} nodes */
function holdsWords(nodes) {
  for (const node of /** @type {NodeListOf<DomNode>} */ (nodes)) if ((isText(node) || isElement(node)) && hasText(safe.textContent(node))) return true;
  return false;
}

/** Returns the kind of notice that an element may cause, or "". @param {El} el */
function kindOfSource(el) {
  if (MAIN_HEADINGS.has(tagOf(el)) && hasNoAttributes(el)) return "heading"; // most sources of a large page
  const live = liveKind(el);
  if (live !== "") return live;
  if (isDialogSource(el)) return "dialog";
  if (isMainHeading(el)) return "heading";
  if (isBusySource(el)) return "busy";
  return isInvalidField(el) ? "invalid" : "";
}

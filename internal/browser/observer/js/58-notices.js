// @ts-check
// Notices: what a person would notice on the page, from one moment on: alerts and status messages,
// dialogs that open and close, fields that become invalid, headings, signs of work, and, while the
// daemon acts, texts that change (58-changed-texts.js) and what looks different (58-looks.js). The daemon
// asks for them while it acts, navigates or waits, whatever its clients' views hold.
//
// Notices owns what each source (56-noticed.js) said at the last check. A check compares and sends
// what is new, in one message: the header of a patch with the flag o, then one line of JSON for each
// Notice. Checks run once a frame after the page changed, so that what was shown for one frame is
// noticed, and with each read. Everything is bounded, since the page may say something new forever.

/** How many notices are sent between two calls of begin; later ones replace nothing and are lost. */
const MAX_NOTICES = 24;
/** How often one live region is noticed anew; later texts replace the last one. */
const MAX_REGION_NOTICES = 3;
/** How many headings are noticed. */
const MAX_HEADINGS = 3;
/** How many changed nodes are kept until the next check. */
const MAX_CHANGED = 200;
/** How many milliseconds the parser of a new document is left alone at most. */
const PARSER_AT_MOST = 500;
/** How many milliseconds are between checks at least until a document is loaded. */
const LOADING_EVERY = 200;
/** How many milliseconds are waited for with frames: the page would have most of them anyway. */
const FRAMES_AT_MOST = 50;
/** Checks at frames take at most about one part in so many of the time. */
const CHECK_SHARE = 20;

/**
 * What a source said at the last check: its texts, and the notice that it made since begin.
 * @typedef {{kind: string, texts: string[], notice: Notice | null, count: number}} SourceState
 */

class Notices {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.model = agent.model;
    /** The daemon acts, or somebody follows the notices. */
    this.acting = this.followed = false;
    /** Nothing was there before: the document came after the daemon began to act. */
    this.fresh = false;
    /** The same, until the daemon has acted: all texts of the document are new. */
    this.arriving = false;
    /** The elements that may say something. */
    this.candidates = new Sources(this.model);
    /** The live regions that are parts of the page, as long as there is something in them. @type {WeakSet<El>} */
    this.parts = new WeakSet();
    /** The sources that said something at the last check. @type {Map<El, SourceState>} */
    this.sources = new Map();
    /** The texts of the headings, and the title, at the last check. @type {Set<string>} */
    this.headings = new Set();
    this.title = "";
    /** The nodes that changed since the last check. @type {Set<DomNode>} */
    this.touched = new Set();
    /** Those of them whose text or children changed, and not only their attributes. @type {Set<DomNode>} */
    this.rewritten = new Set();
    /** The elements that were added since begin, and those since the last check. @type {Set<El>} */
    this.added = new Set();
    /** @type {Set<El>} */
    this.arrived = new Set();
    /** The elements that got their first words since begin, those that lost some, and those that were taken out. @type {Set<DomNode>} */
    this.filled = new Set();
    /** @type {Set<DomNode>} */
    this.emptied = new Set();
    /** @type {Set<DomNode>} */
    this.taken = new Set();
    /** What boxes out of the flow said at begin. @type {Map<El, string>} */
    this.floats = new Map();
    /** The toasts that are shown, with what they say. @type {Map<El, {text: string, notice: Notice | null}>} */
    this.toasts = new Map();
    /** Boxes that may be toasts once they are in view. @type {Set<El>} */
    this.coming = new Set();
    /** What is not shown, and what is to be waited for. */
    this.reveals = new Reveals(agent.model);
    /** The texts in the flow that change while the daemon acts. */
    this.texts = new ChangedTexts(this.reveals);
    /** How what is acted on is drawn, and what is beside it. */
    this.looks = new Looks(agent.model);
    this.isElsewhere = this.isElsewhere.bind(this);
    this.isMessage = this.isMessage.bind(this);
    /** Fields whose validation failed since then. @type {Set<El>} */
    this.refused = new Set();
    /** Notices to send. @type {Set<Notice>} */
    this.unsent = new Set();
    /** Notices whose elements have no ref yet. @type {Map<Notice, El>} */
    this.unnamed = new Map();
    /** The number of the last notice, and how many were made since begin, headings among them. */
    this.lastId = 0;
    this.made = 0;
    this.madeHeadings = 0;
    /** The timer until which the parser of a new document is left alone; 0: it is not. */
    this.parsing = 0;
    this.observe = this.observe.bind(this);
    /** A check is due at the next frame, or the one after a timer, and when the next may be. */
    this.frame = this.timer = 0;
    this.notBefore = 0;
    this.onFrame = this.onFrame.bind(this);
    this.onTimer = this.onTimer.bind(this);
  }

  /** Whether anybody asks for notices. */
  get on() {
    return this.acting || this.followed;
  }

  /** The daemon begins or ends to act. @param {{on: boolean, fresh: boolean}} how */
  setActing(how) {
    const was = this.on;
    this.acting = how.on;
    this.turn(was, how.fresh);
  }

  /** Somebody follows the notices, or nobody does any more. @param {boolean} on @param {boolean} fresh */
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
    this.notBefore = 0;
    clearTimeout(this.timer);
    this.timer = 0;
    if (fresh && this.awaitParser()) return;
    this.agent.start();
    this.agent.takeRecords();
    this.texts.begin();
    this.looks.clear();
    this.reveals.clear();
    if (this.acting && !fresh) this.reveals.begin();
    this.arriving = fresh;
    if (was) {
      this.check(); // what came before is not of the action that begins
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
      this.notBefore = performance.now() + LOADING_EVERY; // the daemon asks when it is loaded
      return this.schedule();
    }
    this.floats = floatingBoxes(this.model.doc);
    this.compare(false);
  }

  /**
   * Leaves the parser of a new document alone, and says whether it does: a parser that is observed, and stopped in each frame
   * by a check, takes a tenth longer. What it has made is compared when it is done, or has taken long.
   */
  awaitParser() {
    if (this.parsing) return true;
    if (this.agent.following || this.model.doc.readyState !== "loading") return false;
    this.fresh = this.arriving = true;
    this.parsing = ownTimer(this.observe, PARSER_AT_MOST);
    addEventListener("readystatechange", this.observe, LISTEN);
    return true;
  }

  /** Observes the document from now on, which the parser has made. */
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
    this.reveals.clear();
    if (this.frame) cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = this.timer = 0;
    this.title = "";
  }

  // ---- what happens on the page --------------------------------------------------------------

  /** @param {MutationRecord[]} records */
  note(records) {
    this.candidates.note(records, this.on && !this.fresh);
    if (!this.on || this.parsing) return;
    this.looks.note(records);
    for (const r of records) {
      if (this.touched.size >= MAX_CHANGED) break;
      this.touched.add(/** @type {DomNode} */ (r.target));
      if (r.type !== "attributes" && writes(r)) this.rewritten.add(/** @type {DomNode} */ (r.target));
      if (this.fresh) continue; // there are no toasts before
      if (r.type === "childList") this.noteWords(r);
      if (this.acting && !this.arriving) this.texts.note(r);
      for (const n of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) {
        if (this.arrived.size < MAX_CHANGED && isElement(n) && !this.taken.has(n)) this.arrived.add(n);
      }
    }
    this.schedule();
  }

  /** Notes what is taken out of the document, perhaps to be put elsewhere, and whether an element gets its first words. @param {MutationRecord} r */
  noteWords(r) {
    const target = /** @type {DomNode} */ (r.target);
    for (const n of /** @type {NodeListOf<DomNode>} */ (r.removedNodes)) {
      if (isElement(n) && this.taken.size < MAX_CHANGED && !this.arrived.has(n) && !this.added.has(n)) this.taken.add(n);
    }
    if (holdsWords(r.removedNodes)) this.emptied.add(target);
    else if (!this.emptied.has(target) && this.filled.size < MAX_CHANGED && holdsWords(r.addedNodes)) this.filled.add(target);
  }

  /** The validation of a field failed. @param {El} field */
  noteInvalid(field) {
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

  /** Compares the page with the last check, and sends what is new. */
  check() {
    if (!this.on) return;
    if (this.parsing) this.observe();
    this.compare(true);
    this.compareLooks();
    this.name();
    this.flush();
    if (this.reveals.waits()) this.schedule();
  }

  /** Whether an act goes on, because an animation shows or hides something that is to be noticed. */
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

  /** Notes what a source says now, if anything. @param {El} el @param {string} kind @param {Map<El, SourceState>} now */
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
    if (safe.firstChild(el) === null) this.parts.delete(el);
    else if (!this.parts.has(el) && isPartOfPage(el, kind)) this.parts.add(el);
    return this.parts.has(el);
  }

  /** What a source says; nothing while it is not shown. @param {El} el @param {string} kind @returns {string[]} */
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
    // An application that draws everything anew shows nothing new by that.
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

  /** Reports a source that says something new. @param {El} el @param {SourceState} state @param {SourceState | null} was */
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
    // What is added to a text comes alone; an alert is read as a whole.
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

  /** Whether the text of an element was written anew since the last check: a style or class says nothing again. @param {El} el */
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

  /** Whether a heading is in a dialog that is open, or in a region that says it. @param {El} el @param {string} text */
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
      if (this.acting) this.reveals.noteAdded(el);
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
   * @param {El} box @param {boolean} own the box itself changed, and not only what is in it
   * @param {boolean} coming it was not in view at the last check
   */
  compareToast(box, own, coming) {
    const known = this.toasts.get(box);
    const isNew = this.isAdded(box);
    const deep = !known && !isNew && !isNearTop(box);
    if (deep && !own && getComputedStyle(box).position !== "fixed") return;
    if (this.acting && !known && !isNew && !coming && !this.holdsOnlyNews(box)) return; // it was shown before, perhaps in another place
    if (!isToastLike(box, deep ? DEEP_TOAST_SHARE : TOAST_SHARE)) return;
    if (!isVisibleInView(box)) {
      if (this.coming.size < MAX_NOTICES) this.coming.add(box);
      this.reveals.await(box);
      return;
    }
    const text = toastText(box), before = known ? known.text : isNew ? "" : this.floats.get(box) || "";
    if (text === "" || text === before) return;
    if (!known && before !== "") return; // a part of the page that says something else now
    if (known && known.notice && text.startsWith(known.text)) {
      this.change(known.notice, { text: this.redacted(text) });
      known.text = text;
      return;
    }
    this.toasts.set(box, { text, notice: this.make("toast", text, "", box, false) });
  }

  /** Whether a box was added since begin. @param {El} box */
  isAdded(box) {
    for (const el of this.added) if (safe.contains(el, box)) return true;
    return false;
  }

  /** Whether all that a box says was added, written or shown since begin: what was there before is no message, wherever it is moved. @param {El} box */
  holdsOnlyNews(box) {
    const { shown, unshown } = this.reveals;
    for (const el of [...shown, ...unshown]) if (safe.contains(el, box)) return true;
    return this.filled.has(box) || noticeText(box, MAX_NOTICE, (el) => this.added.has(el) || this.filled.has(el) || shown.has(el)) === "";
  }

  // ---- texts ---------------------------------------------------------------------------------

  /** Reports the blocks that say something else. A block that changes again has one notice. */
  compareTexts() {
    const { texts } = this;
    for (const [block, text] of texts.take(this.isElsewhere, this.isMessage)) {
      const known = texts.reported.get(block);
      if (known) this.change(known, { text: this.redacted(text) });
      else if (text !== "") this.tellText(block, text);
    }
    for (const [block, notice] of texts.reported) {
      const gone = !safe.isConnected(block) || !isShown(block) || !hasText(safe.textContent(block));
      if (notice.gone !== gone) this.change(notice, { gone });
    }
  }

  /** Tells what a block says, or counts it where others tell more. @param {El} block @param {string} text */
  tellText(block, text) {
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

  /** Whether another notice, or the element itself, says what is in an element. @param {El} el */
  isElsewhere(el) {
    const rec = this.model.records.get(el), source = this.sources.get(el);
    return (rec !== undefined && rec.shown && rec.fields[F_KIND] === INTERACTIVE && rec.coverage === COVERS_ALL) ||
      (source !== undefined && source.notice !== null) || this.toasts.has(el);
  }

  /** Whether an element is a live region that is told as a message. @param {El} el */
  isMessage(el) {
    return isLiveRegion(el) && !this.parts.has(el);
  }

  // ---- looks ---------------------------------------------------------------------------------

  /** Input for an element follows. @param {El} el */
  beginInput(el) {
    if (this.acting && !this.fresh) this.looks.begin(el);
  }

  /** An event of it is about to reach the page. @param {Event} event */
  noteInput(event) {
    if (this.looks.known.size === 0) return;
    const records = this.agent.observer.takeRecords();
    if (records.length) this.agent.onMutations(records);
    this.looks.noteInput(event);
  }

  /** Reports the elements that look different since the input, and of those that were reported which look as before. */
  compareLooks() {
    if (!this.acting) return;
    const { told } = this.looks;
    const ways = this.looks.different();
    const firsts = new Set();
    for (const [words, [{ node }, ...others]] of ways) {
      firsts.add(node);
      const known = told.get(node), detail = refsOf(others);
      const notice = known || this.make("look", words, detail, node, false);
      if (known) this.change(known, { text: words, detail, gone: false });
      else if (notice) told.set(node, notice);
    }
    for (const [el, notice] of told) if (!firsts.has(el) && !notice.gone) this.change(notice, { gone: true });
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

  /** Gives notices the refs of their elements, once these have one. */
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

/** Whether a record of texts or children is of words that came or went. @param {MutationRecord} r */
function writes(r) {
  return r.type === "characterData" || holdsWords(r.addedNodes) || holdsWords(r.removedNodes);
}

/** Whether some nodes have words in them. @param {NodeList} nodes */
function holdsWords(nodes) {
  for (const node of /** @type {NodeListOf<DomNode>} */ (nodes)) if ((isText(node) || isElement(node)) && hasText(safe.textContent(node))) return true;
  return false;
}

/** The kind of notice that an element may give; empty: none. @param {El} el */
function kindOfSource(el) {
  if (MAIN_HEADINGS.has(tagOf(el)) && hasNoAttributes(el)) return "heading"; // most sources of a large page
  const live = liveKind(el);
  if (live !== "") return live;
  if (isDialogSource(el)) return "dialog";
  if (isMainHeading(el)) return "heading";
  if (isBusySource(el)) return "busy";
  return isInvalidField(el) ? "invalid" : "";
}

// @ts-check
// Settling decides whether the effects of an action in this document are complete, as far as the document can know without
// waiting for time to pass. docs/adr/0029-rest-is-known.md has the rule and its limits.
//
// The guard reports the start of input and the moment when the page handles it. Settling then counts timers, frames and idle
// callbacks of the page (59-ids.js), requests the frame that shows the effects of the handlers, and then a task of the
// lowest priority, which runs after all queued tasks and messages. The document has settled only if the page has changed,
// requested nothing, and not changed since the start of that frame. In all other cases settle (70-commands.js) waits for
// quiet frames.

/** The maximum number of frames to wait for one without changes. */
const SETTLE_FRAMES = 3;
/** The maximum wait for a frame and the tasks after it, in milliseconds. */
const SETTLE_AT_MOST = 100;
/** The maximum wait for all queued tasks, in milliseconds. */
const LAST_AT_MOST = 400;
/**
 * If the queued tasks end within this many milliseconds after that limit, they are finite: the page was busy or stalled.
 */
const LATE_AT_MOST = 1500;
/** A change within this many milliseconds after the document had settled means that the decision was wrong. */
const TOO_SOON = 100;
/** The number of actions for which a document is then not trusted, also after endless messages. */
const DISTRUSTED_FOR = 10;
/** Animations that end within this many milliseconds are waited for, because a page may act on their end. */
const ENDS_SOON = 50;
/** The maximum number of added nodes per action that are searched. */
const SEARCHED = 50;
/** The maximum wait for pictures without a size, in milliseconds. */
const PICTURES_AT_MOST = 250;
const LAST = /** @type {const} */ ({ priority: "background" });
/** Attributes that pages change on a pressed element for its look. */
const DRAWN_BY = /^(class|style|data-)/;

class Settling {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /**
     * The counts at the start of the input, or null if they cannot be trusted or there was no input.
     * @type {{timers: number, idles: number, counted: number} | null}
     */
    this.start = null;
    /**
     * The frame count at the first call of expectFrame, or null before it.
     * @type {number | null}
     */
    this.frames = null;
    /** Whether input has started, and answer was not called for it yet. */
    this.fresh = false;
    /** Whether the input goes to another document. */
    this.elsewhere = false;
    /** The element that receives the input. @type {El | null} */
    this.el = null;
    /** Whether the page has changed since the input began, and whether it shows that it is busy. */
    this.changed = this.busy = false;
    /** The number of changes: in total, by the start of the last frame, and by the last answer. */
    this.changes = this.byFrame = this.byAnswer = 0;
    /** The frame request, or 0. */
    this.request = 0;
    /** Whether the frame and all tasks that were queued behind it are over. */
    this.drawn = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
    /** The time at which the document was reported as settled, or 0. */
    this.settledAt = 0;
    /** The number of actions for which the document is not trusted, so that it is not reported as settled. */
    this.distrusted = 0;
    /** Whether this action would have been reported as settled. */
    this.heldBack = false;
    /**
     * The number of actions for which Settling does not answer, and the reason why it does not answer for this action, if any.
     */
    this.unasked = 0;
    this.unknown = "no input";
    /** The added pictures. @type {El[]} */
    this.pictures = [];
    this.searched = 0;
    this.onFrame = this.onFrame.bind(this);
    this.onLast = this.onLast.bind(this);
  }

  // ---- reports of the guard ---------------------------------------------------------------------

  /**
   * Records that the page is about to receive the first event of an action. An action of several parts begins once.
   * @param {El | null} el the element that receives it, or null if it is in another document
   */
  begin(el) {
    this.agent.takeRecords();
    this.el = el;
    if (this.fresh) return;
    this.fresh = true;
    this.elsewhere = el === null;
    this.settledAt = 0;
    this.heldBack = false;
    this.frames = null;
    this.changed = this.busy = this.drawn = false;
    this.changes = this.byFrame = this.byAnswer = this.searched = 0;
    this.pictures = [];
    this.waiting = [];
    this.start = null;
    this.unknown = "messages";
    if (this.unasked > 0) {
      this.unasked--;
      return;
    }
    this.unknown = "no numbers";
    const timers = countTimers();
    if (countTimers() !== timers) return;
    this.start = { timers, idles: countIdles(), counted: this.agent.timers.counted };
    if (this.elsewhere) this.frames = countFrames();
  }

  /** Records that the page is about to handle an event that completes input. The next frame shows its effects. */
  expectFrame() {
    if (this.start === null) return;
    if (this.request) cancelAnimationFrame(this.request);
    this.request = ownFrame(this.onFrame);
    if (this.frames === null) this.frames = this.request - ownFrames;
    this.drawn = false;
  }

  /** Ends the observation when the daemon's actions are over or new actions start. */
  end() {
    this.fresh = false;
    this.start = null;
    this.unknown = "no input";
    this.pictures = [];
  }

  /** Records that the value of a control has changed, which causes no mutation. */
  recordValue() {
    if (this.start !== null) this.changed = true;
  }

  // ---- reports of the agent ---------------------------------------------------------------------

  /** @param {MutationRecord[]} records */
  record(records) {
    if (this.settledAt > 0) {
      if (performance.now() - this.settledAt < TOO_SOON) this.distrusted = DISTRUSTED_FOR;
      this.settledAt = 0;
    }
    if (this.start === null) return;
    this.changes++;
    for (const r of records) {
      if (!this.changed) this.changed = this.isEffect(r);
      if (r.attributeName === "aria-busy") this.addBusy(/** @type {El} */ (r.target));
      for (const node of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) {
        if (this.searched >= SEARCHED) break;
        if (!isElement(node)) continue;
        this.searched++;
        this.search(node);
      }
    }
  }

  /**
   * Whether a mutation is more than press feedback, such as a class in place of :active, or an element without text that
   * spreads over a button.
   * @param {MutationRecord} r
   */
  isEffect(r) {
    const { el } = this;
    const target = /** @type {El} */ (r.target);
    if (el === null) return false;
    switch (r.type) {
      case "attributes":
        return !DRAWN_BY.test(r.attributeName || "") || !(isWithinNode(target, el) || isWithinNode(el, target));
      case "childList":
        if (!isWithinNode(target, el)) return true;
        return [...r.addedNodes, ...r.removedNodes].some((node) => safe.textContent(node) !== "");
    }
    return true;
  }

  /** @param {El} el */
  addBusy(el) {
    this.busy = this.busy || attr(el, "aria-busy") === "true";
  }

  /** Searches added content for busy indicators and pictures. @param {El} added */
  search(added) {
    this.addBusy(added);
    if (tagOf(added) === "img") this.pictures.push(added);
    if (!safe.firstElementChild(added)) return;
    this.busy = this.busy || firstWithin(added, "[aria-busy=true]") !== null;
    for (const img of queryWithin(added, "img")) if (this.pictures.length < SEARCHED) this.pictures.push(img);
  }

  // ---- frames ----------------------------------------------------------------------------------

  onFrame() {
    this.request = 0;
    this.agent.takeRecords();
    this.byFrame = this.changes;
    scheduler.postTask(this.onLast, LAST);
  }

  /** Runs when all tasks that were queued at the start of the frame are over. */
  onLast() {
    if (this.request) return; // another frame was requested in between
    this.drawn = true;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Waits for the requested frame. Returns whether it came in time. */
  async awaitDrawn() {
    if (this.drawn) return true;
    await new Promise((resolve) => {
      const timer = ownTimer(resolve, SETTLE_AT_MOST);
      this.waiting.push(() => (clearTimeout(timer), resolve(undefined)));
    });
    return this.drawn;
  }

  // ---- answers ---------------------------------------------------------------------------------

  /**
   * Returns why the effects of the input may be incomplete, or "" if they are complete. It resolves as soon as the answer
   * is known.
   * @param {boolean} again whether the work since the last answer is over; it must have changed the page
   * @returns {Promise<string>}
   */
  async answer(again) {
    const asked = this.fresh || again;
    this.fresh = false;
    this.clearSettledAt();
    if (!asked || this.start === null) return this.unknown;
    if (!(await this.awaitLastTask())) {
      this.unasked = DISTRUSTED_FOR; // possibly endless messages
      return "tasks";
    }
    const why = this.elsewhere ? this.whyTouched() : await this.whyUnsettled(again);
    this.byAnswer = this.changes;
    if (why !== "") return why;
    this.settledAt = performance.now();
    if (this.distrusted === 0) return "";
    this.heldBack = true;
    this.distrusted--;
    return "distrusted";
  }

  /**
   * Waits until all queued tasks are over. Returns whether that was in time. If they end soon after the limit, Settling answers
   * again for the next action.
   * @returns {Promise<boolean>}
   */
  awaitLastTask() {
    return new Promise((resolve) => {
      let expired = 0;
      const timer = ownTimer(() => {
        expired = performance.now();
        resolve(false);
      }, LAST_AT_MOST);
      scheduler.postTask(() => {
        clearTimeout(timer);
        if (expired > 0 && performance.now() - expired < LATE_AT_MOST) this.unasked = 0;
        resolve(true);
      }, LAST);
    });
  }

  /** Clears the time at which the document settled when other work starts, so that later changes cause no distrust. */
  clearSettledAt() {
    this.settledAt = 0;
  }

  /** Records that the daemon continues to wait. Changes now only decide whether the document is trusted again. */
  continueWait() {
    if (!this.heldBack) this.clearSettledAt();
  }

  /** Returns why this document has not settled while another document received the input. */
  whyTouched() {
    this.agent.takeRecords();
    return this.changes > 0 ? "changes" : this.scheduledWork();
  }

  /** @param {boolean} again */
  async whyUnsettled(again) {
    this.agent.takeRecords();
    if (again) {
      if (this.changes === this.byAnswer) return "unchanged";
      this.changed = true;
      this.expectFrame();
    }
    for (let frames = 0; frames < SETTLE_FRAMES; frames++) {
      if (this.frames === null || !this.changed) return "unchanged";
      const scheduled = this.scheduledWork();
      if (scheduled !== "") return scheduled;
      if (!(await this.awaitDrawn())) return "no frame";
      this.agent.takeRecords();
      if (this.changes === this.byFrame) return this.scheduledWork() || this.visibleWork();
      this.expectFrame();
    }
    return "changes";
  }

  /** Returns the visible sign of the page's work, or "". */
  visibleWork() {
    return this.busy ? "busy" : this.agent.notices.isRevealing() ? "revealing" : endsSoon(this.agent.model) ? "animation" : "";
  }

  /**
   * Returns what the page has requested: timers (including timers that it set during earlier actions of the turn), idle
   * callbacks or frames. It returns "" if there are none.
   */
  scheduledWork() {
    const { start } = this;
    if (start === null || countTimers() !== start.timers || this.agent.timers.pending > 0) return "timers";
    return countIdles() !== start.idles ? "idle callbacks" : countFrames() !== this.frames ? "frames" : "";
  }

  /** Whether the page has requested idle callbacks since the input began. */
  hasIdles() {
    return this.start !== null && countIdles() !== this.start.idles;
  }

  /**
   * Extends the wait to the timers that the page has set since the input began, except timers that were counted at the
   * events of the input. Returns whether there are any.
   */
  addLateTimers() {
    const { start, agent: { timers } } = this;
    const late = start === null ? 0 : countTimers() - start.timers - (timers.counted - start.counted);
    if (late > 0) timers.addLate(late);
    return late > 0;
  }

  /**
   * Whether an added picture has no size until it is loaded.
   * @param {number} since the start of the wait for pictures
   */
  awaitsPictures(since) {
    if (this.pictures.length === 0 || performance.now() - since > PICTURES_AT_MOST) return false;
    this.pictures = this.pictures.filter((img) => isLoading(img));
    return this.pictures.length > 0;
  }
}

/** Whether a picture is loading and its box depends on that. @param {El} img */
function isLoading(img) {
  const { complete, loading } = /** @type {HTMLImageElement} */ (/** @type {HTMLElement} */ (img));
  return !complete && loading !== "lazy" && safe.isConnected(img) && !hasArea(safe.rect(img));
}

/** Whether an animation ends soon, or a view transition is in progress. @param {Model} model */
function endsSoon({ animations, doc }) {
  if (/** @type {{activeViewTransition?: unknown}} */ (doc).activeViewTransition) return true;
  return animations.list().some((animation) => {
    const { effect, currentTime, playState } = animation;
    const end = effect && Number(effect.getComputedTiming().endTime);
    return playState === "running" && typeof end === "number" && end - Number(currentTime) <= ENDS_SOON;
  });
}

/**
 * Implements the command "settled".
 * @param {Agent} agent @param {{again: boolean}} request
 */
async function whyUnsettled(agent, request) {
  const why = await agent.settling.answer(request.again);
  return { why, grown: agent.model.listeners.due };
}

// @ts-check
// Rest: whether what an action set off in this document is over, as far as the document can know
// without waiting for time to pass. docs/adr/0029-rest-is-known.md has the rule and its limits.
//
// The guard says when input begins and when the page handles it. Rest counts timers, frames and idle
// callbacks of the page from there on (59-ids.js), asks for the frame that shows what the handlers
// did, and then for a task of the lowest priority, which runs after all tasks and messages that are
// queued. It says "at rest" only when the page has changed, nothing was asked for, and nothing
// changed since that frame began. In all other cases settle (70-commands.js) waits for quiet frames.

/** How many frames are awaited until nothing changes in one any more. */
const REST_FRAMES = 3;
/** How long a frame and the tasks behind it are awaited, in milliseconds. */
const REST_AT_MOST = 100;
/** How long everything that is queued is awaited, in milliseconds. */
const LAST_AT_MOST = 400;
/** When it is over within so many milliseconds after that, it has an end: there was much to do, or the page stood still. */
const LATE_AT_MOST = 1500;
/** A change so soon after the document was at rest means that it was not. */
const TOO_SOON = 100;
/** For how many actions a document is not trusted after that, or after messages without an end. */
const DISTRUSTED_FOR = 10;
/** Animations that end so soon are waited for: a page may act on their end. */
const ENDS_SOON = 50;
/** How many added nodes of one action are searched. */
const SEARCHED = 50;
/** How long pictures without a size are waited for, in milliseconds. */
const PICTURES_AT_MOST = 250;
const LAST = /** @type {const} */ ({ priority: "background" });
/** Attributes that pages change on what is pressed, to draw it so. */
const DRAWN_BY = /^(class|style|data-)/;

class Rest {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /**
     * The counts when the input began; null: they cannot be trusted, or there was no input.
     * @type {{timers: number, idles: number, counted: number} | null}
     */
    this.start = null;
    /**
     * How many frames the page had requested at the first request of ask; null: there was none.
     * @type {number | null}
     */
    this.frames = null;
    /** Input has begun that answer was not asked about. */
    this.fresh = false;
    /** The input goes to another document. */
    this.elsewhere = false;
    /** The element that receives the input. @type {El | null} */
    this.el = null;
    /** The page has changed since the input began, and says that it is busy. */
    this.changed = this.busy = false;
    /** How many changes there were, by the beginning of the last frame, and at the last answer. */
    this.changes = this.byFrame = this.byAnswer = 0;
    /** The request of a frame; 0: none. */
    this.request = 0;
    /** The frame is over, and everything that was queued behind it. */
    this.drawn = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
    /** When the document was said to be at rest; 0: never, or it was not. */
    this.restedAt = 0;
    /** For how many actions the document is not trusted: it is not said to be at rest. */
    this.distrusted = 0;
    /** It would have been said of this action. */
    this.heldBack = false;
    /** For how many actions it is not asked; and why nothing is said of this one, if nothing is. */
    this.unasked = 0;
    this.unknown = "no input";
    /** The pictures that were added. @type {El[]} */
    this.pictures = [];
    this.searched = 0;
    this.onFrame = this.onFrame.bind(this);
    this.onLast = this.onLast.bind(this);
  }

  // ---- what the guard says ---------------------------------------------------------------------

  /**
   * The page is about to receive the first event of an action. An action of several parts begins once.
   * @param {El | null} el the element that receives it; null: it is in another document
   */
  begin(el) {
    this.agent.takeRecords();
    this.el = el;
    if (this.fresh) return;
    this.fresh = true;
    this.elsewhere = el === null;
    this.restedAt = 0;
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

  /** The page is about to handle an event that completes input: the frame after it shows what it does. */
  ask() {
    if (this.start === null) return;
    if (this.request) cancelAnimationFrame(this.request);
    this.request = ownFrame(this.onFrame);
    if (this.frames === null) this.frames = this.request - ownFrames;
    this.drawn = false;
  }

  /** The actions of the daemon are over, or others begin. */
  end() {
    this.fresh = false;
    this.start = null;
    this.unknown = "no input";
    this.pictures = [];
  }

  /** The value of a control has changed, which no mutation shows. */
  noteValue() {
    if (this.start !== null) this.changed = true;
  }

  // ---- what the agent says ---------------------------------------------------------------------

  /** @param {MutationRecord[]} records */
  note(records) {
    if (this.restedAt > 0) {
      if (performance.now() - this.restedAt < TOO_SOON) this.distrusted = DISTRUSTED_FOR;
      this.restedAt = 0;
    }
    if (this.start === null) return;
    this.changes++;
    for (const r of records) {
      if (!this.changed) this.changed = this.isEffect(r);
      if (r.attributeName === "aria-busy") this.noteBusy(/** @type {El} */ (r.target));
      for (const node of /** @type {NodeListOf<DomNode>} */ (r.addedNodes)) {
        if (this.searched >= SEARCHED) break;
        if (!isElement(node)) continue;
        this.searched++;
        this.search(node);
      }
    }
  }

  /**
   * Whether a mutation is more than the drawing of what is pressed, such as a class that stands for
   * :active, or an element without text that spreads over a button.
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
  noteBusy(el) {
    this.busy = this.busy || attr(el, "aria-busy") === "true";
  }

  /** Looks for signs of work, and for pictures, in what was added. @param {El} added */
  search(added) {
    this.noteBusy(added);
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

  /** Everything that was queued when the frame began is over. */
  onLast() {
    if (this.request) return; // another one was asked for meanwhile
    this.drawn = true;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Waits for the frame that was asked for. Reports whether it came in time. */
  async awaitDrawn() {
    if (this.drawn) return true;
    await new Promise((resolve) => {
      const timer = ownTimer(resolve, REST_AT_MOST);
      this.waiting.push(() => (clearTimeout(timer), resolve(undefined)));
    });
    return this.drawn;
  }

  // ---- answers ---------------------------------------------------------------------------------

  /**
   * Why what the input set off may not be over; empty when it is over. It answers as soon as it knows.
   * @param {boolean} again what was waited for since the last answer is over, and must have changed the page
   * @returns {Promise<string>}
   */
  async answer(again) {
    const asked = this.fresh || again;
    this.fresh = false;
    this.forgive();
    if (!asked || this.start === null) return this.unknown;
    if (!(await this.awaitLastTask())) {
      this.unasked = DISTRUSTED_FOR; // perhaps messages without an end
      return "tasks";
    }
    const why = this.elsewhere ? this.whyTouched() : await this.whyRestless(again);
    this.byAnswer = this.changes;
    if (why !== "") return why;
    this.restedAt = performance.now();
    if (this.distrusted === 0) return "";
    this.heldBack = true;
    this.distrusted--;
    return "distrusted";
  }

  /**
   * Waits until everything that is queued is over. Reports whether that was in time. When it is over soon after that time, the
   * next action is asked about again.
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

  /** Something else begins: a change from now on is no reason for distrust. */
  forgive() {
    this.restedAt = 0;
  }

  /** The daemon waits on: what changes now shows only whether a document is trusted again. */
  waitOn() {
    if (!this.heldBack) this.forgive();
  }

  /** What happened in this document while another one received input. */
  whyTouched() {
    this.agent.takeRecords();
    return this.changes > 0 ? "changes" : this.whatIsScheduled();
  }

  /** @param {boolean} again */
  async whyRestless(again) {
    this.agent.takeRecords();
    if (again) {
      if (this.changes === this.byAnswer) return "unchanged";
      this.changed = true;
      this.ask();
    }
    for (let frames = 0; frames < REST_FRAMES; frames++) {
      if (this.frames === null || !this.changed) return "unchanged";
      const scheduled = this.whatIsScheduled();
      if (scheduled !== "") return scheduled;
      if (!(await this.awaitDrawn())) return "no frame";
      this.agent.takeRecords();
      if (this.changes === this.byFrame) return this.whatIsScheduled() || this.whatIsShown();
      this.ask();
    }
    return "changes";
  }

  /** What the page shows of its work; empty when it shows nothing. */
  whatIsShown() {
    return this.busy ? "busy" : this.agent.notices.isRevealing() ? "revealing" : endsSoon(this.agent.model) ? "animation" : "";
  }

  /**
   * What the page has asked for: timers, also in earlier actions of the turn, idle callbacks or
   * frames; empty when it has not.
   */
  whatIsScheduled() {
    const { start } = this;
    if (start === null || countTimers() !== start.timers || this.agent.timers.pending > 0) return "timers";
    return countIdles() !== start.idles ? "idle callbacks" : countFrames() !== this.frames ? "frames" : "";
  }

  /** Whether the page has asked for idle callbacks since the input began. */
  hasIdles() {
    return this.start !== null && countIdles() !== this.start.idles;
  }

  /**
   * Has those timers waited for that the page has set since the input began, but for those that were
   * counted at its events. Reports whether there are any.
   */
  noteLateTimers() {
    const { start, agent: { timers } } = this;
    const late = start === null ? 0 : countTimers() - start.timers - (timers.counted - start.counted);
    if (late > 0) timers.addLate(late);
    return late > 0;
  }

  /**
   * Whether a picture that was added has no size until it is loaded.
   * @param {number} since when the wait for them began
   */
  awaitsPictures(since) {
    if (this.pictures.length === 0 || performance.now() - since > PICTURES_AT_MOST) return false;
    this.pictures = this.pictures.filter((img) => isLoading(img));
    return this.pictures.length > 0;
  }
}

/** Whether a picture is being loaded, and its box depends on that. @param {El} img */
function isLoading(img) {
  const { complete, loading } = /** @type {HTMLImageElement} */ (/** @type {HTMLElement} */ (img));
  return !complete && loading !== "lazy" && safe.isConnected(img) && !hasArea(safe.rect(img));
}

/** Whether an animation ends soon, or the change of a view is under way. @param {Model} model */
function endsSoon({ animations, doc }) {
  if (/** @type {{activeViewTransition?: unknown}} */ (doc).activeViewTransition) return true;
  return animations.list().some((animation) => {
    const { effect, currentTime, playState } = animation;
    const end = effect && Number(effect.getComputedTiming().endTime);
    return playState === "running" && typeof end === "number" && end - Number(currentTime) <= ENDS_SOON;
  });
}

/**
 * The command "rest".
 * @param {Agent} agent @param {{again: boolean}} request
 */
async function whyRestless(agent, request) {
  const why = await agent.rest.answer(request.again);
  return { why, grown: agent.model.listeners.due };
}

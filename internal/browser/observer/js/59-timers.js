// @ts-check
// Timers detects timers that the page sets while it handles an action, such as a search field that waits until typing
// stops. settle (70-commands.js) waits for them.
//
// The page's setTimeout is never touched: the observer counts the page's timers (59-ids.js) before the page handles an
// event, and in the task after it. Their delays are unknown, so the wait ends when the document has changed once for each
// timer, and at the latest after TIMERS_AT_MOST. If the timers of a page change nothing, such as those that count clicks,
// the limit halves with each such wait.

/** The maximum wait for a timer after an event, in milliseconds. */
const TIMERS_AT_MOST = 500;
/** The same limit for a timer that the page sets after the event, for example when it handles a response. */
const LATE_TIMERS_AT_MOST = 100;
/** The events during which timers are counted. */
const HANDLED_EVENTS = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "keydown", "keyup", "input", "change",
  "submit", "drop", "dragend",
];
/**
 * The maximum wait for a timer after a hover action, in milliseconds. It is longer, because the purpose of hovering is to
 * open something.
 */
const HOVERED_AT_MOST = 900;
/** A change within this time after a timer was set is not caused by the timer, but by hover styles of the page. */
const DRAWN_WITHIN = 32;
/** The events of a pointer that enters an element. */
const HOVERING_EVENTS = ["pointerover", "pointerenter", "pointermove", "mouseover", "mouseenter", "mousemove"];
/** The events of text entry. The full wait for their timers pays off. */
const ENTERING = new Set(["keydown", "keyup", "input", "change"]);
class Timers {
  constructor() {
    /** Whether the daemon acts. */
    this.acting = false;
    /**
     * The number of counted timers when the current event started, or null between events.
     * @type {number | null}
     */
    this.before = null;
    /** The total number of counted timers. */
    this.counted = 0;
    /** The number of timers that may be pending, the time of the last one, and the time limit of the wait. */
    this.pending = 0;
    this.since = 0;
    this.until = 0;
    /** The number of waits in this document without a change. */
    this.idle = 0;
    /** Whether the action only moves the pointer onto an element, and the number of such waits without a change. */
    this.hovering = false;
    this.idleHovers = 0;
    this.close = this.close.bind(this);
    this.listen();
  }

  listen() {
    for (const type of HANDLED_EVENTS) addEventListener(type, this, LISTEN);
  }

  /** @param {boolean} on */
  setActing(on) {
    this.acting = on;
    this.pending = 0;
    this.setHovering(false);
    if (on) this.listen(); // document.open() removes listeners
  }

  /** Sets whether the action only moves the pointer onto an element. @param {boolean} on */
  setHovering(on) {
    if (on === this.hovering) return;
    this.hovering = on;
    const change = on ? addEventListener : removeEventListener;
    for (const type of HOVERING_EVENTS) change(type, this, LISTEN);
  }

  /** Returns the maximum wait for the timers of an event, in milliseconds. @param {Event} event */
  patience(event) {
    if (this.hovering) return HOVERED_AT_MOST / 2 ** this.idleHovers;
    return ENTERING.has(event.type) ? TIMERS_AT_MOST : TIMERS_AT_MOST / 2 ** this.idle;
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (!this.acting || !event.isTrusted) return;
    this.until = Math.max(this.until, performance.now() + this.patience(event));
    if (this.before !== null) return;
    this.before = countTimers();
    scheduler.postTask(this.close, FLUSH);
  }

  /** Counts the timers of the handled event. */
  close() {
    if (this.before === null) return;
    const set = countTimers() - this.before;
    this.before = null;
    if (set > 0) this.add(set);
  }

  /** @param {number} set the number of timers that the page has set */
  add(set) {
    this.counted += set;
    this.pending += set;
    this.since = performance.now();
  }

  /**
   * Records timers that the page set after its events, for example when it handled a response.
   * @param {number} set their number
   */
  addLate(set) {
    this.add(set);
    this.until = Math.max(this.until, performance.now() + LATE_TIMERS_AT_MOST / 2 ** this.idle);
  }

  /** Records a change of the page, which a timer may have caused. */
  recordChange() {
    if (this.pending === 0 || this.before !== null) return;
    if (this.hovering && performance.now() - this.since < DRAWN_WITHIN) return;
    this.pending--;
    if (this.hovering) this.idleHovers = 0;
    else this.idle = 0;
  }

  /** Whether to continue waiting at a given time. @param {number} now */
  isPending(now) {
    if (this.pending === 0) return false;
    if (now < this.until) return true;
    this.pending = 0;
    if (this.hovering) this.idleHovers = Math.min(this.idleHovers + 1, 5);
    else this.idle = Math.min(this.idle + 1, 5);
    return false;
  }
}

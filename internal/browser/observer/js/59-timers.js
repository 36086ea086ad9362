// @ts-check
// Timers: whether the page set timers while it handled an action, as a search field does that waits
// until nothing more is typed. settle (70-commands.js) waits for them.
//
// The page's setTimeout is never touched: the observer counts the page's timers (59-ids.js) before
// the page handles an event, and in the task after it. How long they take nobody tells, so the wait ends with the first
// changes of the document that come for each, and at the latest when TIMERS_AT_MOST is over. A page
// whose timers change nothing, as those that count clicks, is waited for half as long with each
// such click.

/** How many milliseconds after an event a timer is waited for. */
const TIMERS_AT_MOST = 500;
/** The same for one that the page sets after the event, as when it handles the answer of a request. */
const LATE_TIMERS_AT_MOST = 100;
/** The events during which timers are looked for. */
const HANDLED_EVENTS = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "keydown", "keyup", "input", "change",
  "submit", "drop", "dragend",
];
/** How many milliseconds after the pointer came a timer is waited for, when the action moves it there: to open is what hovering is for. */
const HOVERED_AT_MOST = 900;
/** A change so soon after a timer was set is no timer's: the page draws what is hovered in another colour. */
const DRAWN_WITHIN = 32;
/** The events of a pointer that comes. */
const HOVERING_EVENTS = ["pointerover", "pointerenter", "pointermove", "mouseover", "mouseenter", "mousemove"];
/** Those by which text is entered: what waits for their end is worth its time. */
const ENTERING = new Set(["keydown", "keyup", "input", "change"]);
class Timers {
  constructor() {
    /** The daemon acts. */
    this.acting = false;
    /**
     * How many timers the page had set before the event that is being handled; null: none is.
     * @type {number | null}
     */
    this.before = null;
    /** How many timers were counted. */
    this.counted = 0;
    /** How many timers may be pending, since when, and until when they are waited for. */
    this.pending = 0;
    this.since = 0;
    this.until = 0;
    /** How many waits of this document saw no change. */
    this.idle = 0;
    /** The action moves the pointer onto an element, and nothing else; and how many such waits saw no change. */
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

  /** The action moves the pointer onto an element and leaves it there, or it does something else. @param {boolean} on */
  setHovering(on) {
    if (on === this.hovering) return;
    this.hovering = on;
    const change = on ? addEventListener : removeEventListener;
    for (const type of HOVERING_EVENTS) change(type, this, LISTEN);
  }

  /** How long the timers of an event are waited for, in milliseconds. @param {Event} event */
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

  /** The event was handled. */
  close() {
    if (this.before === null) return;
    const set = countTimers() - this.before;
    this.before = null;
    if (set > 0) this.add(set);
  }

  /** @param {number} set how many timers the page has set */
  add(set) {
    this.counted += set;
    this.pending += set;
    this.since = performance.now();
  }

  /**
   * Notes timers that the page set after its events, as when it handles the answer of a request.
   * @param {number} set how many
   */
  addLate(set) {
    this.add(set);
    this.until = Math.max(this.until, performance.now() + LATE_TIMERS_AT_MOST / 2 ** this.idle);
  }

  /** The page changed: a timer may be why. */
  noteChange() {
    if (this.pending === 0 || this.before !== null) return;
    if (this.hovering && performance.now() - this.since < DRAWN_WITHIN) return;
    this.pending--;
    if (this.hovering) this.idleHovers = 0;
    else this.idle = 0;
  }

  /** Whether to wait on at a time. @param {number} now */
  isPending(now) {
    if (this.pending === 0) return false;
    if (now < this.until) return true;
    this.pending = 0;
    if (this.hovering) this.idleHovers = Math.min(this.idleHovers + 1, 5);
    else this.idle = Math.min(this.idle + 1, 5);
    return false;
  }
}

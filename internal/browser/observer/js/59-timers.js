// @ts-check
// Timers: whether the page set timers while it handled an action, as a search field does that waits
// until nothing more is typed. settle (70-commands.js) waits for them.
//
// The page's setTimeout is never touched. All worlds of a window number their timers in one sequence,
// so the observer takes a number before the page handles an event, and one in the task after it: what
// is in between, but for its own, are the page's. How long they take nobody tells, so the wait ends with the first
// changes of the document that come for each, and at the latest when TIMERS_AT_MOST is over. A page
// whose timers change nothing, as those that count clicks, is waited for half as long with each
// such click.

/** How many milliseconds after an event a timer is waited for. */
const TIMERS_AT_MOST = 500;
/** The events during which timers are looked for. */
const HANDLED_EVENTS = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "keydown", "keyup", "input", "change",
  "submit", "drop", "dragend",
];
/** Those by which text is entered: what waits for their end is worth its time. */
const ENTERING = new Set(["keydown", "keyup", "input", "change"]);
/** The longest delay that a timer takes. */
const NEVER = 2 ** 31 - 1;

class Timers {
  constructor() {
    /** The daemon acts. */
    this.acting = false;
    /** The number of the timer before the event that is being handled; 0: none is. */
    this.first = 0;
    /** How many timers the observer had set by then. */
    this.own = 0;
    /** How many timers may be pending, since when, and until when they are waited for. */
    this.pending = 0;
    this.since = 0;
    this.until = 0;
    /** How many waits of this document saw no change. */
    this.idle = 0;
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
    if (on) this.listen(); // document.open() removes listeners
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (!this.acting || !event.isTrusted) return;
    const patience = ENTERING.has(event.type) ? TIMERS_AT_MOST : TIMERS_AT_MOST / 2 ** this.idle;
    this.until = Math.max(this.until, performance.now() + patience);
    if (this.first !== 0) return;
    this.first = nextTimer();
    this.own = ownTimers;
    scheduler.postTask(this.close, FLUSH);
  }

  /** The event was handled. */
  close() {
    const set = nextTimer() - this.first - 1 - (ownTimers - this.own);
    this.first = 0;
    if (set <= 0) return;
    this.pending += set;
    this.since = performance.now();
  }

  /** The page changed: a timer may be why. */
  noteChange() {
    if (this.pending === 0 || this.first !== 0) return;
    this.pending--;
    this.idle = 0;
  }

  /** Whether to wait on at a time. @param {number} now */
  isPending(now) {
    if (this.pending === 0) return false;
    if (now < this.until) return true;
    this.pending = 0;
    this.idle = Math.min(this.idle + 1, 5);
    return false;
  }
}

/** How many timers the observer set. */
let ownTimers = 0;

/** setTimeout, for the observer itself. @param {(value: any) => void} f @param {number} milliseconds */
function ownTimer(f, milliseconds) {
  ownTimers++;
  return setTimeout(f, milliseconds);
}

/** The number that the next timer of the window would have, roughly: it is taken by this one. */
function nextTimer() {
  const id = setTimeout(doNothing, NEVER);
  clearTimeout(id);
  return id;
}

function doNothing() {}

// @ts-check
// The guard: while the daemon acts on one element, no other element receives its input.
//
// Input that the daemon dispatches goes to whatever element the browser hits at that moment. The
// guard receives every such event before the page does, and cancels those that would reach another
// element than the target. It listens from the start of a document, so that no script of the page
// runs first.
//
// Guard owns the mode and target of the action under way; Press and Keys (68-press.js, 68-keys.js)
// own its outcome, and Held and KeyWatch (68-held.js) that of input without a target. Actions arm it right before input, and the commands for outcomes disarm it.

const GUARDED = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu",
  "keydown", "keypress", "keyup", "beforeinput", "input", "compositionstart", "compositionend", "dragstart",
  "gotpointercapture", "focus", "pointermove", "mousemove", "dragend",
];
/** Those that matter only while a button is held. */
const HELD_ONLY = new Set(["pointermove", "mousemove", "dragend"]);
/** Those of a press of the mouse. */
const PRESSED = /^(pointer|mouse)(down|up)$|click$|^contextmenu$/;
const GUARDING = { capture: true, passive: false };
/** After this many milliseconds the guard disarms itself, in case the daemon does not. */
const GUARD_AT_MOST = 20000;

class Guard {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /**
     * A number that grows with each action, by which earlier ones notice that they are over; see
     * retryUntil.
     */
    this.turn = 0;
    /**
     * "mouse" and "keys": events must reach the element; "deny": none may get through; empty:
     * disarmed.
     * @type {"" | "mouse" | "keys" | "deny"}
     */
    this.mode = "";
    /** @type {Press | null} */
    this.press = null;
    /**
     * Resolve functions of calls that wait for the outcome of the next press, and of those that wait
     * for its mousedown.
     * @type {((outcome: PressOutcome) => void)[]}
     */
    this.waiting = [];
    /** @type {((outcome: PressOutcome) => void)[]} */
    this.waitingForDown = [];
    /**
     * Of the last navigation to another document that began: aborted when that is over and this
     * document stays.
     * @type {AbortSignal | null}
     */
    this.leaving = null;
    /** The target. @type {El | null} */
    this.el = null;
    /** @type {Keys | null} */
    this.keys = null;
    /** The button that is down between actions. @type {Held | null} */
    this.held = null;
    /** The keys that go to whatever has the focus. @type {KeyWatch | null} */
    this.watch = null;
    this.until = 0;
    /** The first event reached the element. */
    this.reached = false;
    /** The element that would have received an event instead. @type {El | null} */
    this.stray = null;
    /** All further events are cancelled. */
    this.blocked = false;
    /**
     * Functions that compare and name the element; see expect.
     * @type {(() => Difference | null) | null}
     */
    this.difference = null;
    /** @type {(() => string) | null} */
    this.currentName = null;
    /** What was different of the element at the first event. @type {Difference | null} */
    this.changed = null;
    /** The names of the element when it was pressed and when it was clicked. @type {string[]} */
    this.names = [];
    /** Removes the listeners that preventFocusMove added. */
    this.allowFocusMove = () => {};
    this.listen();
    // document.open() removes listeners, and replaces the document element.
    new MutationObserver(() => this.listen()).observe(document, { childList: true });
    /** @param {NavigateEvent} event */
    const onNavigate = (event) => {
      if (event.destination.sameDocument) return;
      this.leaving = event.signal;
      if (this.press) this.press.noteNavigation();
    };
    if (globalThis.navigation) navigation.addEventListener("navigate", onNavigate, true);
  }

  listen() {
    for (const type of GUARDED) addEventListener(type, this, GUARDING);
  }

  clear() {
    if (this.press) this.press.end();
    this.allowFocusMove();
    this.press = null;
    this.el = this.keys = this.stray = null;
    this.until = 0;
    this.reached = this.blocked = false;
    this.difference = this.currentName = this.changed = null;
    this.names = [];
  }

  /**
   * From now on, the first event is cancelled if the element is no longer the one that was meant.
   * @param {() => Difference | null} difference @param {() => string} [currentName]
   */
  expect(difference, currentName) {
    this.difference = difference;
    this.currentName = currentName || null;
  }

  /** Checks, at the first event, whether the element is no longer the one that was meant. */
  isDifferent() {
    this.changed = this.difference && this.difference();
    if (!this.changed && this.currentName) this.names = [this.currentName()];
    return this.changed !== null;
  }

  /** The element received a click. */
  noteClick() {
    if (this.currentName && this.names.length === 1) this.names.push(this.currentName());
  }

  /** Begins to block presses of all elements but one. @param {El} el @param {number} clicks */
  armPress(el, clicks) {
    this.arm("mouse", el);
    this.press = new Press(this, el, clicks, this.waiting.splice(0), this.waitingForDown.splice(0));
  }

  /**
   * Begins an action.
   * @param {"mouse" | "keys" | "deny"} mode @param {El | null} el
   * @param {"one" | "text" | "any"} [follow] what may go to another element when the focus moves; see Keys
   */
  arm(mode, el, follow) {
    this.clear();
    this.listen();
    this.mode = mode;
    this.el = el;
    this.keys = el && follow ? new Keys(el, follow) : null;
    this.until = performance.now() + GUARD_AT_MOST;
    if (mode === "deny") this.agent.rest.begin(null);
    if (el) this.agent.notices.beginInput(el);
  }

  /** Whether the page is about to be replaced by another document. */
  isLeaving() {
    return this.leaving !== null && !this.leaving.aborted;
  }

  /** Whether an element of the page is being pressed. */
  isPressing() {
    return (this.mode === "mouse" || this.mode === "deny") && performance.now() <= this.until;
  }

  /** Ends the action and returns its outcome. */
  disarm() {
    this.turn++;
    this.mode = "";
    for (const resolve of [...this.waiting.splice(0), ...this.waitingForDown.splice(0)]) resolve({ reached: false });
    const { el, reached, stray, keys, press, changed, names } = this;
    this.clear();
    return { el, reached, stray, keys, press, changed, names };
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (!event.isTrusted || globalThis.__domtap !== this.agent) return; // another document may share the window
    if (this.held) this.held.note(/** @type {MouseEvent} */ (event));
    if (event.type === "dragend" && this.press) this.press.effect = effectOf(/** @type {DragEvent} */ (event));
    if (HELD_ONLY.has(event.type)) return;
    if (this.mode !== "") this.agent.notices.noteInput(event);
    if (this.watch) this.watch.note(event);
    if (event.type === "focus") {
      if (this.press) this.press.noteFocus(event);
    } else if (this.mode === "") {
      if (PRESSED.test(event.type) && (event.timeStamp <= 0 || isActingAround())) cancel(event);
    } else if (performance.now() > this.until) {
      this.mode = "";
    } else if (event.type === "input" || event.type === "compositionend") {
      if (this.keys) this.keys.noteInput(/** @type {InputEvent} */ (event));
    } else if (this.mode === "deny") {
      this.blocked = true;
      cancel(event);
    } else if (/^(key|before|comp)/.test(event.type)) {
      if (this.mode === "keys") this.key(event);
    } else if (this.mode === "mouse") this.mouse(event);
  }

  /** @param {Event} event */
  mouse(event) {
    const { press } = this;
    if (!press) return;
    if (event.type === "dragstart") {
      ownTimer(() => (press.dragging = !event.defaultPrevented), 0); // after the page's listeners
    } else if (!press.passes(/** @type {MouseEvent} */ (event))) cancel(event);
    else if (press.reached && CLICKS.has(event.type)) this.agent.rest.ask();
  }

  /** @param {Event} event */
  key(event) {
    const { el, keys } = this;
    if (!el || !keys) return;
    const up = event.type === "keyup";
    if (up) keys.target = null;
    if (this.blocked) return cancel(event);
    if (!this.reached && this.isDifferent()) {
      this.blocked = true;
      cancel(event);
    } else if (holdsFocus(el)) {
      if (!this.reached) this.agent.rest.begin(el);
      this.reached = true;
      this.agent.rest.ask();
      keys.noteEvent(event);
      if (event.type === "beforeinput") this.preventFocusMove(event);
    } else if (up && this.reached && keys.follow !== "one") {
      return; // of a key whose keydown the element received
    } else if (this.reached && keys.isRest(event)) {
      cancel(event);
    } else if (this.reached && keys.mayFollow(event)) {
      keys.noteEvent(event);
      if (event.type === "beforeinput") this.preventFocusMove(event);
    } else {
      if (!up) this.stray = /** @type {El} */ (event.composedPath()[0]);
      // After one character of a text is cancelled, the rest must be, too.
      this.blocked = !this.reached || keys.follow === "text";
      cancel(event);
    }
  }

  /**
   * Prevents the insertion of a text when the page moves the focus while it handles the beforeinput
   * of that text: the browser would insert the text where the focus is then. Focus events within a
   * shadow tree are dispatched in that tree alone.
   * @param {Event} event
   */
  preventFocusMove(event) {
    const { keys, el } = this;
    if (!keys || !el || keys.follow === "any") return;
    const onFocus = () => {
      const focused = focusedNow();
      if (event.eventPhase === Event.NONE || this.keys !== keys || !focused || holdsFocus(el)) return;
      if (keys.follow === "text" && keys.handsTextOn(keys.current, focused)) return;
      event.preventDefault();
      this.stray = focused;
      this.blocked = true;
    };
    this.allowFocusMove();
    const targets = [globalThis, /** @type {El} */ (event.composedPath()[0]).getRootNode()];
    for (const target of targets) target.addEventListener("focus", onFocus, true);
    this.allowFocusMove = () => {
      for (const target of targets) target.removeEventListener("focus", onFocus, true);
      this.allowFocusMove = () => {};
    };
  }
}

/**
 * Whether the daemon presses an element of another document of the page. This document came since, and
 * was not told: a page may show a new frame under the pointer while it handles the pointer's movement.
 * A document whose top document is in another process cannot know, but one that is younger than the
 * press has a timeStamp of 0 for it.
 */
function isActingAround() {
  try {
    return window !== top && /** @type {any} */ (top).__domtap.guard.isPressing();
  } catch {
    return false; // of another process
  }
}

/** Keeps an event from the page and the browser. @param {Event} event */
function cancel(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Focuses an element. HTML, SVG and MathML each have a method of their own for that, and other elements have none. @param {El} el */
function focusOn(el) {
  for (const kind of [HTMLElement, SVGElement, MathMLElement]) {
    try {
      return kind.prototype.focus.call(el, { preventScroll: true });
    } catch {
      // It is of another kind.
    }
  }
}

/** Whether an element or its content has the focus. @param {El} el */
function holdsFocus(el) {
  const n = focusedNow();
  return n !== null && isWithinNode(n, el);
}

/**
 * The names of an element when it was pressed and when it was clicked, if they differ.
 * @param {string[]} names
 */
function renamedBetween(names) {
  const [was, now] = names;
  return now === undefined || lettersOf(was) === lettersOf(now) ? {} : { was, now };
}

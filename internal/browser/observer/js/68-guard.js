// @ts-check
// While the daemon acts on an element, Guard ensures that no other element receives the input.
//
// The browser sends the daemon's input to the element that it hits at that moment. The guard receives every such event
// before the page, and cancels events that would reach an element other than the target. It listens from the start of a
// document, so that no script of the page runs first.
//
// Guard owns the mode and target of the current action. Press and Keys (68-press.js, 68-keys.js) own its outcome. Held and
// KeyWatch (68-held.js) own the outcome of input without a target. Actions arm the guard right before input, and the
// commands for outcomes disarm it.

const GUARDED = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu",
  "keydown", "keypress", "keyup", "beforeinput", "input", "compositionstart", "compositionend", "dragstart",
  "gotpointercapture", "focus", "pointermove", "mousemove", "dragend",
];
/** Events that matter only while a button is held. */
const HELD_ONLY = new Set(["pointermove", "mousemove", "dragend"]);
/** Events of a mouse press. */
const PRESSED = /^(pointer|mouse)(down|up)$|click$|^contextmenu$/;
const GUARDING = { capture: true, passive: false };
/** After this many milliseconds the guard disarms itself, in case the daemon does not. */
const GUARD_AT_MOST = 20000;

class Guard {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /**
     * A number that increases with each action, so that earlier actions notice their end; see retryUntil.
     */
    this.turn = 0;
    /**
     * In the modes "mouse" and "keys", events must reach the element. "deny" cancels all events. An empty mode means
     * disarmed.
     * @type {"" | "mouse" | "keys" | "deny"}
     */
    this.mode = "";
    /** @type {Press | null} */
    this.press = null;
    /**
     * The resolve functions of calls that wait for the outcome of the next press, or for its mousedown.
     * @type {((outcome: PressOutcome) => void)[]}
     */
    this.waiting = [];
    /** @type {((outcome: PressOutcome) => void)[]} */
    this.waitingForDown = [];
    /**
     * The signal of the last navigation to another document. It is aborted if the navigation ends and this document stays.
     * @type {AbortSignal | null}
     */
    this.leaving = null;
    /** The target. @type {El | null} */
    this.el = null;
    /** @type {Keys | null} */
    this.keys = null;
    /** The button that is held between actions. @type {Held | null} */
    this.held = null;
    /** The record of keys that go to the focused element. @type {KeyWatch | null} */
    this.watch = null;
    this.until = 0;
    /** Whether the first event reached the element. */
    this.reached = false;
    /** The element that would have received an event instead. @type {El | null} */
    this.stray = null;
    /** Whether all further events are cancelled. */
    this.blocked = false;
    /**
     * Functions that compare and name the element; see expect.
     * @type {(() => Difference | null) | null}
     */
    this.difference = null;
    /** @type {(() => string) | null} */
    this.currentName = null;
    /** The difference of the element at the first event. @type {Difference | null} */
    this.changed = null;
    /** The names of the element at the press and at the click. @type {string[]} */
    this.names = [];
    /** Removes the listeners that preventFocusMove added. */
    this.allowFocusMove = () => {};
    /** Removes the listeners that preventSubmission added. */
    this.allowSubmission = () => {};
    this.listen();
    // document.open() removes listeners, and replaces the document element.
    new MutationObserver(() => this.listen()).observe(document, { childList: true });
    /** @param {NavigateEvent} event */
    const onNavigate = (event) => {
      if (event.destination.sameDocument) return;
      this.leaving = event.signal;
      if (this.press) this.press.recordNavigation();
    };
    if (globalThis.navigation) navigation.addEventListener("navigate", onNavigate, true);
  }

  listen() {
    for (const type of GUARDED) addEventListener(type, this, GUARDING);
  }

  clear() {
    if (this.press) this.press.end();
    this.allowFocusMove();
    this.allowSubmission();
    this.press = null;
    this.el = this.keys = this.stray = null;
    this.until = 0;
    this.reached = this.blocked = false;
    this.difference = this.currentName = this.changed = null;
    this.names = [];
  }

  /**
   * Makes the guard cancel the first event if the element is no longer the intended one.
   * @param {() => Difference | null} difference @param {() => string} [currentName]
   */
  expect(difference, currentName) {
    this.difference = difference;
    this.currentName = currentName || null;
  }

  /** Checks, at the first event, whether the element is no longer the intended one. */
  isDifferent() {
    this.changed = this.difference && this.difference();
    if (!this.changed && this.currentName) this.names = [this.currentName()];
    return this.changed !== null;
  }

  /** Records that the element received a click. */
  recordClick() {
    if (this.currentName && this.names.length === 1) this.names.push(this.currentName());
  }

  /** Starts to block presses of all other elements. @param {El} el @param {number} clicks */
  armPress(el, clicks) {
    this.arm("mouse", el);
    this.press = new Press(this, el, clicks, this.waiting.splice(0), this.waitingForDown.splice(0));
  }

  /**
   * Starts an action.
   * @param {"mouse" | "keys" | "deny"} mode @param {El | null} el
   * @param {"one" | "text" | "any"} [follow] the input that may go to another element when the focus moves; see Keys
   */
  arm(mode, el, follow) {
    this.clear();
    this.listen();
    this.mode = mode;
    this.el = el;
    this.keys = el && follow ? new Keys(el, follow) : null;
    this.until = performance.now() + GUARD_AT_MOST;
    if (mode === "deny") this.agent.settling.begin(null);
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
    if (this.held) this.held.record(/** @type {MouseEvent} */ (event));
    if (event.type === "dragend" && this.press) this.press.effect = effectOf(/** @type {DragEvent} */ (event));
    if (HELD_ONLY.has(event.type)) return;
    if (this.mode !== "" || this.watch) this.agent.notices.recordInput(event);
    if (this.watch) this.watch.record(event);
    if (event.type === "focus") {
      if (this.press) this.press.recordFocus(event);
    } else if (this.mode === "") {
      if (PRESSED.test(event.type) && (event.timeStamp <= 0 || isActingAround())) cancel(event);
    } else if (performance.now() > this.until) {
      this.mode = "";
    } else if (event.type === "input" || event.type === "compositionend") {
      if (this.keys) this.keys.recordInput(/** @type {InputEvent} */ (event));
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
    else if (press.reached && CLICKS.has(event.type)) this.agent.settling.expectFrame();
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
      if (!this.reached) this.agent.settling.begin(el);
      this.reached = true;
      this.agent.settling.expectFrame();
      keys.recordEvent(event);
      if (event.type === "beforeinput") this.preventFocusMove(event);
    } else if (up && this.reached && keys.follow !== "one") {
      return; // of a key whose keydown the element received
    } else if (this.reached && keys.isRest(event)) {
      cancel(event);
    } else if (this.reached && keys.mayFollow(event)) {
      keys.recordEvent(event);
      if (event.type === "beforeinput") this.preventFocusMove(event);
    } else {
      if (!up) this.stray = /** @type {El} */ (event.composedPath()[0]);
      // After one character of a text is cancelled, the rest must also be cancelled.
      this.blocked = !this.reached || keys.follow === "text";
      cancel(event);
    }
  }

  /**
   * Prevents the insertion of a text if the page moves the focus while it handles the beforeinput of that text. The browser
   * would insert the text at the new focus. Focus events within a shadow tree are dispatched only in that tree.
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

  /** Prevents, until the action ends, that Enter submits the form of a tag field that does not handle the key. */
  preventSubmission() {
    const { until } = this;
    const onDefault = (/** @type {Event} */ event) => {
      if (performance.now() <= until) event.preventDefault();
      else this.allowSubmission();
    };
    for (const type of ["keypress", "submit"]) addEventListener(type, onDefault, true);
    this.allowSubmission = () => {
      for (const type of ["keypress", "submit"]) removeEventListener(type, onDefault, true);
      this.allowSubmission = () => {};
    };
  }
}

/**
 * Whether the daemon is pressing an element of another document of the page. This document may be newer than the action and
 * not know of it: a page may show a new frame under the pointer while it handles the pointer's movement. A document whose
 * top document is in another process cannot check this, but if it is newer than the press, the timeStamp of the press is 0.
 */
function isActingAround() {
  try {
    return window !== top && /** @type {any} */ (top).__domtap.guard.isPressing();
  } catch {
    return false; // the top document is in another process
  }
}

/** Keeps an event from the page and the browser. @param {Event} event */
function cancel(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/**
 * Focuses an element. HTML, SVG and MathML elements each have their own focus method, and other elements have none.
 * @param {El} el
 */
function focusOn(el) {
  for (const kind of [HTMLElement, SVGElement, MathMLElement]) {
    try {
      return kind.prototype.focus.call(el, { preventScroll: true });
    } catch {
      // The element is of another kind.
    }
  }
}

/** Whether an element or its content has the focus. @param {El} el */
function holdsFocus(el) {
  const n = focusedNow();
  return n !== null && isWithinNode(n, el);
}

/**
 * Returns the names of an element at the press and at the click, if they differ.
 * @param {string[]} names
 */
function renamedBetween(names) {
  const [was, now] = names;
  return now === undefined || lettersOf(was) === lettersOf(now) ? {} : { was, now };
}

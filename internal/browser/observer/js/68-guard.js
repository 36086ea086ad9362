// @ts-check
// The guard: while the daemon acts on one element, nothing else receives what it does.
//
// Input that the daemon dispatches goes to whatever element the browser hits at that moment. The guard receives every
// such event before the page does, and cancels those that would reach another element than the target. It listens
// from the start of a document, so that no script of the page runs first.

const GUARDED = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu",
  "keydown", "keypress", "keyup", "beforeinput", "input", "compositionstart", "compositionend", "dragstart",
  "gotpointercapture",
];
const GUARDING = { capture: true, passive: false };
/** Milliseconds after which the guard disarms itself, in case the daemon does not. */
const GUARD_AT_MOST = 10000;

class Guard {
  constructor() {
    /** Grows with whatever the daemon begins or lets go of. */
    this.turn = 0;
    /** @type {"" | "mouse" | "keys" | "deny"} */
    this.mode = "";
    /** @type {Press | null} */
    this.press = null;
    /** Resolve functions of calls that wait for the outcome of the next press. @type {((outcome: PressOutcome) => void)[]} */
    this.waiting = [];
    /** @type {El | null} */
    this.el = null;
    /** @type {Keys | null} */
    this.keys = null;
    this.until = 0;
    /** The first event reached the element. */
    this.reached = false;
    /** What would have received an event instead. @type {El | null} */
    this.stray = null;
    /** Nothing of it got through, for the first event went astray. */
    this.shut = false;
    /** What is different of the element, and what it is called; see expect. @type {(() => Difference | null) | null} */
    this.difference = null;
    /** @type {(() => string) | null} */
    this.currentName = null;
    /** What was different when the first event came. @type {Difference | null} */
    this.changed = null;
    /** What the element was called when it was pressed, and when it was clicked. @type {string[]} */
    this.names = [];
    /** Takes off what confine listens with. */
    this.release = () => {};
    this.listen();
    /** @param {NavigateEvent} event */
    const leaves = (event) => !event.destination.sameDocument && this.press && this.press.noteNavigation();
    if (globalThis.navigation) navigation.addEventListener("navigate", leaves, true);
  }

  listen() {
    for (const type of GUARDED) addEventListener(type, this, GUARDING);
  }

  clear() {
    if (this.press) this.press.notifyWaiters();
    this.release();
    this.press = null;
    this.el = this.keys = this.stray = null;
    this.until = 0;
    this.reached = this.shut = false;
    this.difference = this.currentName = this.changed = null;
    this.names = [];
  }

  /**
   * From now on the element receives nothing when it is something else by then.
   * @param {() => Difference | null} differs @param {() => string} [called]
   */
  expect(differs, called) {
    this.difference = differs;
    this.currentName = called || null;
  }

  /** Whether the element is another thing than the one that is meant, when the first event comes. */
  isDifferent() {
    this.changed = this.difference && this.difference();
    if (!this.changed && this.currentName) this.names = [this.currentName()];
    return this.changed !== null;
  }

  /** The element is clicked. */
  noteClick() {
    if (this.currentName && this.names.length === 1) this.names.push(this.currentName());
  }

  /** Lets nothing but the press of an element through. @param {El} el @param {number} clicks */
  armPress(el, clicks) {
    this.arm("mouse", el);
    this.press = new Press(this, el, clicks, this.waiting.splice(0));
  }

  /** @param {"mouse" | "keys" | "deny"} mode @param {El | null} el @param {"one" | "text" | "any"} [follow] what may follow the focus once the element had it */
  arm(mode, el, follow) {
    this.clear();
    this.listen();
    this.mode = mode;
    this.el = el;
    this.keys = el && follow ? new Keys(el, follow) : null;
    this.until = performance.now() + GUARD_AT_MOST;
  }

  disarm() {
    this.turn++;
    this.mode = "";
    for (const resolve of this.waiting.splice(0)) resolve({ reached: false });
    const { el, reached, stray, keys, press, changed, names } = this;
    this.clear();
    return { el, reached, stray, keys, press, changed, names };
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (this.mode === "" || !event.isTrusted) return;
    if (performance.now() > this.until) {
      this.mode = "";
    } else if (event.type === "input" || event.type === "compositionend") {
      if (this.keys) this.keys.noteInput(/** @type {InputEvent} */ (event));
    } else if (this.mode === "deny") {
      this.shut = true;
      swallow(event);
    } else if (/^(key|before|comp)/.test(event.type)) {
      if (this.mode === "keys") this.key(event);
    } else if (this.mode === "mouse") this.mouse(event);
  }

  /** @param {Event} event */
  mouse(event) {
    const { press } = this;
    if (!press) return;
    if (event.type === "dragstart") {
      setTimeout(() => (press.dragging = !event.defaultPrevented), 0); // when the page has had its say
    } else if (!press.passes(/** @type {MouseEvent} */ (event))) swallow(event);
  }

  /** @param {Event} event */
  key(event) {
    const { el, keys } = this;
    if (!el || !keys) return;
    const up = event.type === "keyup";
    if (up) keys.target = null;
    if (this.shut) return swallow(event);
    if (!this.reached && this.isDifferent()) {
      this.shut = true;
      swallow(event);
    } else if (holdsFocus(el)) {
      this.reached = true;
      keys.noteEvent(event);
      if (event.type === "beforeinput") this.confine(event);
    } else if (up && this.reached && keys.follow !== "one") {
      return; // of a key that the element heard
    } else if (this.reached && keys.isRest(event)) {
      swallow(event);
    } else if (this.reached && keys.mayFollow(event)) {
      keys.noteEvent(event);
      if (event.type === "beforeinput") this.confine(event);
    } else {
      if (!up) this.stray = /** @type {El} */ (event.composedPath()[0]);
      // A text that went on later would have a hole.
      this.shut = !this.reached || keys.follow === "text";
      swallow(event);
    }
  }

  /**
   * Prevents a text when the page moves the focus while it handles the beforeinput of that text: the browser inserts the
   * text where the focus is by then. Moves within a shadow tree are reported in that tree alone.
   * @param {Event} event
   */
  confine(event) {
    const { keys, el } = this;
    if (!keys || !el || keys.follow === "any") return;
    const moved = () => {
      const focused = focusedNow();
      if (event.eventPhase === Event.NONE || this.keys !== keys || !focused || holdsFocus(el)) return;
      if (keys.follow === "text" && keys.handsTextOn(keys.current, focused)) return;
      event.preventDefault();
      this.stray = focused;
      this.shut = true;
    };
    this.release();
    const places = [globalThis, /** @type {El} */ (event.composedPath()[0]).getRootNode()];
    for (const place of places) place.addEventListener("focus", moved, true);
    this.release = () => {
      for (const place of places) place.removeEventListener("focus", moved, true);
      this.release = () => {};
    };
  }
}

/** @param {Event} event */
function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Whether an element, or something in it, has the focus. @param {El} el */
function holdsFocus(el) {
  const n = focusedNow();
  return n !== null && isWithinNode(n, el);
}

/** What an element was called when it was pressed and what when it was clicked, when that is not the same. @param {string[]} names */
function renamedBetween(names) {
  const [was, now] = names;
  return now === undefined || lettersOf(was) === lettersOf(now) ? {} : { was, now };
}

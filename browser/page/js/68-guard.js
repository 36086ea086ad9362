// The guard: while the daemon acts on one element, nothing else receives what it does.
//
// What the daemon asks the browser to do arrives as an event wherever the browser finds something then. The guard
// hears every such event before the page does, and swallows those that would reach another element than the one
// that was named. It listens from the beginning of a document, so that no script of the page comes first.

const GUARDED = [
  "pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu",
  "keydown", "keypress", "keyup", "beforeinput", "input", "compositionstart", "compositionend", "dragstart",
];
const GUARDING = { capture: true, passive: false };
/** Milliseconds after which the guard lets go by itself, should the daemon forget to. */
const GUARD_AT_MOST = 10000;

class Guard {
  constructor() {
    /** Grows with whatever the daemon begins or lets go of. */
    this.turn = 0;
    /** Who waits to be told of the last click. @type {{ clicks: number, tell: (clicked: boolean) => void } | null} */
    this.waiter = null;
    /** @type {"" | "mouse" | "keys" | "deny"} */
    this.mode = "";
    this.clear();
    this.listen();
  }

  listen() {
    for (const type of GUARDED) addEventListener(type, this, GUARDING);
  }

  clear() {
    /** @type {any} */
    this.el = null;
    /** @type {Keys | null} */
    this.keys = null;
    this.until = 0;
    /** The first event reached the element. */
    this.reached = false;
    this.clicked = false;
    /** Where the pointer was last. */
    this.x = this.y = -1;
    /** A drag began, and the page let it. */
    this.dragging = false;
    /** What would have received an event instead. @type {any} */
    this.stray = null;
    /** Nothing of it got through, for the first event went astray. */
    this.shut = false;
    /** What is different of the element, and what it is called; see expect. @type {(() => any) | null} */
    this.differs = null;
    /** @type {(() => string) | null} */
    this.called = null;
    /** What was different when the first event came. @type {any} */
    this.changed = null;
    /** What the element was called when it was pressed, and when it was clicked. @type {string[]} */
    this.names = [];
  }

  /**
   * From now on the element receives nothing when it is something else by then.
   * @param {() => any} differs @param {() => string} [called]
   */
  expect(differs, called) {
    this.differs = differs;
    this.called = called || null;
  }

  /** Whether the element is another thing than the one that is meant, when the first event comes. */
  isOther() {
    this.changed = this.differs && this.differs();
    if (!this.changed && this.called) this.names = [this.called()];
    return this.changed !== null;
  }

  /**
   * Whether the element of the guard that is armed next receives its clicks, as soon as that is known: before any handler of the
   * page, which may never end.
   * @param {number} clicks @returns {Promise<{clicked: boolean}>}
   */
  whenClicked(clicks) {
    this.waiter?.tell(false);
    return new Promise((resolve) => (this.waiter = { clicks, tell: (clicked) => resolve({ clicked }) }));
  }

  /** @param {"mouse" | "keys" | "deny"} mode @param {any} el @param {"one" | "text" | "any"} [follow] what may follow the focus once the element had it */
  arm(mode, el, follow) {
    this.clear();
    this.listen();
    this.mode = mode;
    this.el = el;
    this.keys = follow ? new Keys(el, follow) : null;
    this.until = performance.now() + GUARD_AT_MOST;
  }

  disarm() {
    this.turn++;
    this.mode = "";
    this.waiter?.tell(false);
    this.waiter = null;
    const { el, reached, clicked, dragging, stray, x, y, keys, changed, names } = this;
    this.clear();
    return { el, reached, clicked, dragging, stray, x, y, keys, changed, names };
  }

  /** @param {any} event */
  handleEvent(event) {
    if (this.mode === "" || !event.isTrusted) return;
    if (performance.now() > this.until) {
      this.mode = "";
    } else if (event.type === "input" || event.type === "compositionend") {
      if (this.keys) this.keys.put(event);
    } else if (this.mode === "deny") {
      this.shut = true;
      swallow(event);
    } else if (/^(key|before|comp)/.test(event.type)) {
      if (this.mode === "keys") this.key(event);
    } else if (this.mode === "mouse") this.mouse(event);
  }

  /** @param {any} event */
  mouse(event) {
    const { type } = event;
    if (type === "dragstart") {
      setTimeout(() => (this.dragging = !event.defaultPrevented), 0); // when the page has had its say
      return;
    }
    if (this.shut) return swallow(event);
    const hit = withinTrees(event.composedPath()[0], event.clientX, event.clientY);
    const through = safe.nodeType(hit) === 1 && wayTo(this.el, hit) !== COVERED;
    if (!this.reached) {
      if (type !== "pointerdown" && type !== "mousedown") return; // of something that was pressed before
      if (through && !this.isOther()) {
        this.reached = true;
        return;
      }
      if (!through) this.stray = hit;
      this.shut = true;
      return swallow(event);
    }
    this.x = event.clientX;
    this.y = event.clientY;
    if (type === "pointerup" || type === "mouseup") return; // whoever is pressed waits for these, wherever they are
    if (through) {
      if (type === "click" || type === "auxclick" || type === "contextmenu") {
        this.clicked = true;
        if (type === "contextmenu" || event.detail >= (this.waiter?.clicks ?? 0)) this.waiter?.tell(true);
        if (this.called && this.names.length === 1) this.names.push(this.called());
      }
    } else if (takesClicks(hit)) {
      this.stray = hit;
      swallow(event);
    }
  }

  /** @param {any} event */
  key(event) {
    const { keys } = this;
    if (!keys) return;
    const up = event.type === "keyup";
    if (up) keys.target = null;
    if (this.shut) return swallow(event);
    if (!this.reached && this.isOther()) {
      this.shut = true;
      swallow(event);
    } else if (holdsFocus(this.el)) {
      this.reached = true;
      keys.heard(event);
    } else if (up && this.reached && keys.follow !== "one") {
      return; // of a key that the element heard
    } else if (this.reached && keys.isRest(event)) {
      swallow(event);
    } else if (this.reached && keys.mayFollow(event)) {
      keys.heard(event);
    } else {
      if (!up) this.stray = event.composedPath()[0];
      // A text that went on later would have a hole.
      this.shut = !this.reached || keys.follow === "text";
      swallow(event);
    }
  }
}

/** @param {Event} event */
function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Whether a node, or what it stands in, is something to click. @param {any} hit */
function takesClicks(hit) {
  for (let n = hit; n && safe.nodeType(n) === 1; n = flatParent(n)) {
    if (isInteractive(n, tagOf(n), explicitRole(n), 0)) return true;
  }
  return false;
}

/** Whether an element, or something in it, has the focus. @param {any} el */
function holdsFocus(el) {
  const n = focusedNow();
  return n !== null && reaches(n, el);
}

/** What an element was called when it was pressed and what when it was clicked, when that is not the same. @param {string[]} names */
function renamed(names) {
  const [was, now] = names;
  return now === undefined || lettersOf(was) === lettersOf(now) ? {} : { was, now };
}

/** How the press went, after it. @param {Agent} agent */
function struck(agent) {
  const { el, reached, clicked, dragging, stray, x, y, changed, names } = agent.guard.disarm();
  if (changed) return { reached, ...changed };
  if (reached) agent.model.rows.actedOn(el);
  const found = { reached, clicked, dragging, gone: el !== null && !safe.isConnected(el), ...renamed(names) };
  let other = stray;
  if (!other && reached && !clicked && !found.gone) other = hitAt(x, y);
  if (!other || safe.nodeType(other) !== 1 || (reached && wayTo(el, other) !== COVERED)) return found;
  const { detail, ref } = nameCover(agent, other, el);
  return { ...found, detail, cover: ref };
}

/** Whether a drag has begun, without letting go. @param {Agent} agent */
async function dragBegan(agent) {
  // What the guard noted of the event comes in a task of its own.
  await new Promise((resolve) => setTimeout(resolve, 0));
  return { reached: agent.guard.reached, dragging: agent.guard.dragging };
}

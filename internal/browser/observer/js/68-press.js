// @ts-check
// The outcome of a press of the mouse: which of its events the element received, and which element
// the others would have hit.
//
// Press owns the record of one action, of one or more clicks or a drag. The guard asks passes for
// every event before the page receives it. The commands "awaitPress", "awaitDown" and "pressOutcome"
// return the outcome.

/** Events whose listeners may remove, hide or disable the element, so that no click follows. */
const HANDLED = new Set(["pointerdown", "mousedown", "pointerup", "mouseup"]);
const CLICKS = new Set(["click", "auxclick", "contextmenu", "dblclick"]);

class Press {
  /**
   * @param {Guard} guard @param {El} el @param {number} wanted how many clicks; 0: a drag
   * @param {((outcome: PressOutcome) => void)[]} waiters
   * @param {((outcome: PressOutcome) => void)[]} downWaiters
   */
  constructor(guard, el, wanted, waiters, downWaiters) {
    this.guard = guard;
    this.el = el;
    this.wanted = wanted;
    /** Why the element could not be clicked before, and which states it told. */
    this.before = "";
    this.states = "";
    /**
     * The element is not drawn itself, as read before the press: a page may hide it while it is
     * pressed.
     */
    this.hidden = false;
    this.readState();
    /** The pointer moves before the press, so that the state is to be read again then. */
    this.ahead = false;
    /** The element received the first event, and how many presses and clicks it received. */
    this.reached = false;
    this.presses = 0;
    this.clicks = 0;
    /** The events of the current press that the element received. @type {Event | null} */
    this.pointer = null;
    this.down = false;
    this.clicked = false;
    /** The click of the current press on a label of the element. @type {Event | null} */
    this.labelClick = null;
    /** The page changed while it handled that. */
    this.labelTaken = false;
    /** The last event of a press or release that it received. @type {Event | null} */
    this.latest = null;
    /** The focus event by which the pressed element received the focus. @type {Event | null} */
    this.focus = null;
    /** Why the element became unclickable while the page handled that event; see whyUnclickable. */
    this.becameUnclickable = "";
    /** The page had taken the press when the button was released; see isTaken. */
    this.takenAtRelease = false;
    /**
     * The element that captured the pointer, and whether it received the click.
     * @type {El | null}
     */
    this.pointerCaptor = null;
    this.viaCaptor = false;
    /**
     * The first other element that would have received an event, or received the release.
     * @type {El | null}
     */
    this.stray = null;
    /** All further events are cancelled. */
    this.blocked = false;
    /** The page began to navigate after the press. */
    this.navigated = false;
    /** The page had begun to navigate before the press. */
    this.leaving = guard.isLeaving();
    /** The last position of the pointer. */
    this.x = this.y = -1;
    /** A drag began, and the page did not prevent it. */
    this.dragging = false;
    /** What the end of a drag of data did: "none" when nothing took the data; empty: it is not known, or there was none. */
    this.effect = "";
    /**
     * The element at which a drag ends, and whether the release was outside of it.
     * @type {El | null}
     */
    this.target = null;
    this.offTarget = false;
    this.waiters = waiters;
    this.downWaiters = downWaiters;
  }

  /** Reads the state of the element before it is pressed. */
  readState() {
    this.before = "";
    this.before = this.whyUnclickable();
    this.states = toldStates(this.el);
    this.hidden = !isDrawn(this.el);
  }

  /** Whether an event may reach the page. @param {MouseEvent} event */
  passes(event) {
    const { type } = event;
    if (this.blocked) return false;
    if (this.ahead && (type === "pointerdown" || type === "mousedown")) {
      this.ahead = false;
      this.readState();
    }
    const hit = innermostAt(/** @type {El} */ (event.composedPath()[0]), event.clientX, event.clientY);
    if (type === "gotpointercapture") {
      if (this.reached) this.pointerCaptor = hit;
      return true;
    }
    const own = isElement(hit) && clickPath(this.el, hit, this.hidden) !== COVERED;
    if (!this.reached && type !== "pointerdown" && type !== "mousedown") return true; // of an earlier press
    this.x = event.clientX;
    this.y = event.clientY;
    if (this.target && (type === "pointerup" || type === "mouseup")) this.noteRelease(event, this.target);
    const passes = this.accepts(event, hit, own);
    if (passes && own && HANDLED.has(type)) this.latest = event;
    if (!own && type === "mouseup") this.takenAtRelease = this.whyUnclickable() === "" && this.isTaken(); // what covers it may move on
    if (!own && this.stray === null && (!passes || type === "mouseup")) this.stray = hit;
    return passes;
  }

  /** The press moves the focus to an element. @param {Event} event */
  noteFocus(event) {
    const target = /** @type {DomNode} */ (event.composedPath()[0]);
    if (this.down && isElement(target) && isWithinNode(target, this.el)) this.focus = event;
  }

  /**
   * @param {MouseEvent} event @param {El} hit
   * @param {boolean} own a click on hit counts for the element
   */
  accepts(event, hit, own) {
    switch (event.type) {
      case "pointerdown":
        if (!own || (!this.reached && this.guard.isDifferent())) return !(this.blocked = true);
        this.countPress();
        this.noteReached();
        this.pointer = event;
        this.down = this.clicked = false;
        this.labelClick = null;
        this.labelTaken = false;
        this.becameUnclickable = "";
        this.takenAtRelease = false;
        return true;
      case "mousedown":
        if (!this.reached && (!own || this.guard.isDifferent())) return !(this.blocked = true);
        if (own) {
          this.noteReached();
          this.down = true;
          this.notify(this.downWaiters);
        }
        return own;
      case "pointerup":
        return true; // the pressed element needs the release, wherever it happens
      case "mouseup":
        return this.down;
    }
    return CLICKS.has(event.type) ? this.acceptsClick(event, hit, own) : true;
  }

  /** The element receives a press. */
  noteReached() {
    if (!this.reached) this.guard.agent.rest.begin(this.el);
    this.reached = true;
  }

  /** The first release is the end of a drag. @param {MouseEvent} event @param {El} target */
  noteRelease(event, target) {
    const { left, top, right, bottom } = safe.rect(target), { clientX: x, clientY: y } = event;
    this.offTarget = !safe.isConnected(target) || x < left - 1 || x > right + 1 || y < top - 1 || y > bottom + 1;
    this.target = null;
  }

  /** @param {Event} event @param {El} hit @param {boolean} own */
  acceptsClick(event, hit, own) {
    const { type } = event;
    const captured = !own && hit === this.pointerCaptor && isWithinNode(this.el, hit);
    if (!own && !captured) return isLabelled(this.el, hit);
    // The browser dispatches a click on a label to its control, too, and only that one counts.
    if (type === "click" && own && tagOf(this.el) !== "label" && !isWithinNode(hit, this.el) && isLabelled(hit, this.el)) {
      this.labelClick = event;
      ownTimer(() => this.noteHandledLabel(), 0); // after the page's listeners
      return true;
    }
    if (!this.isPressed()) return false;
    this.viaCaptor = this.viaCaptor || captured;
    this.countClick();
    return true;
  }

  /** The element receives the click of the current press. */
  countClick() {
    if (!this.clicked) this.clicks++;
    this.clicked = true;
    this.guard.noteClick();
    if (this.wanted > 0 && this.clicks >= this.wanted) this.notify(this.waiters);
  }

  /**
   * Counts a click on a label that the page prevents and answers with a change: the browser dispatches none to the
   * control. One that is prevented without a change arrives nowhere.
   */
  noteHandledLabel() {
    if (this.clicked || !this.labelClick || !this.labelClick.defaultPrevented || !this.isPressed()) return;
    if (!this.labelTaken && toldStates(this.el) === this.states) return;
    this.countClick();
  }

  /**
   * Whether the element received the current press. When the page prevents pointerdown, there is no
   * mousedown, and when it puts something over the element, that would receive the mousedown.
   */
  isPressed() {
    return this.down || (this.pointer !== null && (this.pointer.defaultPrevented || this.isTaken()));
  }

  /** The current press is over. */
  countPress() {
    if (this.isPressed()) this.presses++;
    this.pointer = null;
    this.down = false;
  }

  /**
   * Why clicks can no longer reach the element: "removed", "hidden", "disabled"; empty when they
   * can.
   * @returns {string}
   */
  whyUnclickable() {
    const { el } = this;
    const reason = !safe.isConnected(el) ? "removed" : !safe.checkVisibility(el, VISIBLE) ? "hidden" : safe.matches(el, ":disabled") ? "disabled" : "";
    return reason === this.before ? "" : reason;
  }

  /**
   * Whether something else is over the element at the pointer now, which was at the element when that was pressed. One
   * that has moved away is not covered.
   */
  isCovered() {
    if (!this.reached || !safe.isConnected(this.el)) return false;
    const { left, top, right, bottom } = safe.rect(this.el);
    if (this.x < left || this.x > right || this.y < top || this.y > bottom) return false;
    const hit = hitAt(this.x, this.y);
    return hit === null || clickPath(this.el, receiverAt(hit, this.x, this.y), this.hidden) === COVERED;
  }

  /**
   * The page has changed. If it is still handling an event of the press, it changed because of
   * that.
   */
  notePageChange() {
    if (this.labelClick !== null && this.labelClick.eventPhase !== 0) this.labelTaken = true;
    const handles = this.latest !== null && this.latest.eventPhase !== 0;
    // Calendars and lists of suggestions open when their field receives the focus.
    const focuses = this.focus !== null && this.focus.eventPhase !== 0;
    if (!handles && !focuses) return;
    this.becameUnclickable = (handles && this.whyUnclickable()) || (this.wanted > 0 && this.isCovered() ? "covered" : "");
  }

  /**
   * Whether the page took the press and keeps the click from the element, as menus do that open on the press and cover
   * their button: it did so while it handled an event of the press, or the element tells another state since.
   */
  isTaken() {
    const why = this.whyUnclickable();
    if (why !== "") return why === this.becameUnclickable;
    return this.wanted > 0 && (this.becameUnclickable === "covered" || toldStates(this.el) !== this.states) && this.isCovered();
  }

  /** The outcome so far. */
  outcome() {
    this.noteHandledLabel();
    const presses = this.presses + (this.isPressed() ? 1 : 0);
    // A page may act on the press, and remove or cover the element before the click.
    const taken = presses >= this.wanted && this.clicks === this.wanted - 1 && (this.takenAtRelease || this.isTaken());
    const unclickable = this.whyUnclickable() || (taken ? "covered" : "");
    const done = this.clicks >= this.wanted && presses >= this.wanted;
    return {
      reached: this.reached, presses, clicks: this.clicks, complete: done || taken, captured: this.viaCaptor,
      offTarget: this.offTarget, unclickable, navigated: this.navigated, leaving: this.leaving, dragging: this.dragging,
      effect: this.effect,
    };
  }

  /** The page begins to navigate to another document. */
  noteNavigation() {
    if (!this.reached) return;
    this.navigated = true;
    if (this.isPressed()) this.notify(this.waiters);
  }

  /** The action is over: nobody need wait any longer. */
  end() {
    this.notify(this.waiters);
    this.notify(this.downWaiters);
  }

  /** Resolves calls that wait. @param {((outcome: PressOutcome) => void)[]} waiters */
  notify(waiters) {
    if (!waiters.length) return;
    const outcome = this.outcome();
    for (const resolve of waiters.splice(0)) resolve(outcome);
  }
}

/** Attributes by which a control tells that it is open or on. */
const TOLD = ["aria-expanded", "aria-pressed", "aria-checked", "aria-selected", "aria-activedescendant", "open"];

/** The states that an element tells, by itself, around itself or on the first element in it that tells whether it is open. @param {El} el */
function toldStates(el) {
  let told = "";
  for (let /** @type {El | null} */ n = el, up = 0; n && up < 4; n = flatElement(n), up++) told += TOLD.map((name) => attr(n, name)).join();
  const [inner] = queryWithin(el, "[aria-expanded]");
  return told + (inner ? attr(inner, "aria-expanded") : "");
}

/**
 * Whether a node is in a label of a control: the browser dispatches clicks on it to the control,
 * too.
 * @param {El} node @param {El} control
 */
function isLabelled(node, control) {
  for (let label = closestOf(node, "label"); label; label = labelAround(label)) if (label.control === control) return true;
  return false;
}

/**
 * Sets the element at which the current drag ends.
 * @param {Agent} agent @param {{ref: number}} request
 */
function setDropTarget(agent, request) {
  const rec = agent.model.records.byRef.get(request.ref);
  const { press } = agent.guard;
  if (rec && press) press.target = rec.node;
  return {};
}

/**
 * Arms the guard for a press at a point of the viewport: what is there now must receive it. What is in a frame is not
 * known here.
 * @param {Agent} agent @param {{x: number, y: number, clicks: number}} request
 */
function armAtPoint(agent, request) {
  agent.schedule();
  const hit = hitAt(request.x, request.y);
  if (!hit || /^(i?frame|object|embed)$/.test(tagOf(hit))) return { armed: false };
  agent.pressedPosition = pagePositionOf(hit);
  agent.guard.armPress(hit, request.clicks);
  const { detail, ref } = describeObstacle(agent, hit, null);
  return { armed: true, detail, cover: ref };
}

/** Disarms the guard after a press, and returns the outcome. @param {Agent} agent */
function pressOutcome(agent) {
  const { press, changed, names } = agent.guard.disarm();
  if (changed) return { reached: false, ...changed };
  if (!press) return { reached: false };
  const found = { ...press.outcome(), ...renamedBetween(names) };
  if (found.reached) agent.model.rows.noteActed(press.el);
  let other = press.stray;
  if (!other && found.reached && !found.complete && !found.unclickable) other = hitAt(press.x, press.y);
  if (!other || !isElement(other) || (found.reached && clickPath(press.el, receiverAt(other, press.x, press.y)) !== COVERED)) return found;
  const { detail, ref } = describeObstacle(agent, other, press.el);
  return { ...found, detail, cover: ref };
}

/**
 * Resolves as soon as the next armed press is complete, or navigates to another document, because
 * this document cannot be asked afterwards.
 * @param {Agent} agent
 */
function awaitPress(agent) {
  return new Promise((resolve) => agent.guard.waiting.push(resolve));
}

/**
 * Resolves with the next mousedown that reaches its element, before the page handles it. What resolves
 * while the page handles an event is sent when it has done so, and if it navigates then, the browser
 * may have gone on to the next document before, and drops it.
 * @param {Agent} agent
 */
function awaitDown(agent) {
  return new Promise((resolve) => agent.guard.waitingForDown.push(resolve));
}

/** The outcome of a press that is not released yet: whether a drag began. @param {Agent} agent */
async function dragBegan(agent) {
  // The guard notes dragstart in a task.
  await new Promise((resolve) => ownTimer(resolve, 0));
  const { press } = agent.guard;
  return press ? press.outcome() : { reached: false };
}

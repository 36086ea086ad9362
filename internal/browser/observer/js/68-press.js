// @ts-check
// Press determines the outcome of a mouse press: the events that the element received, and the element that the other
// events would have hit.
//
// Press owns the record of one action: one or more clicks, or a drag. The guard calls passes for every event before the
// page receives it. The commands "awaitPress", "awaitDown" and "pressOutcome" return the outcome.

/** Events whose listeners may remove, hide or disable the element, so that no click follows. */
const HANDLED = new Set(["pointerdown", "mousedown", "pointerup", "mouseup"]);
const CLICKS = new Set(["click", "auxclick", "contextmenu", "dblclick"]);

class Press {
  /**
   * @param {Guard} guard @param {El} el @param {number} wanted the number of clicks, or 0 for a drag
   * @param {((outcome: PressOutcome) => void)[]} waiters
   * @param {((outcome: PressOutcome) => void)[]} downWaiters
   */
  constructor(guard, el, wanted, waiters, downWaiters) {
    this.guard = guard;
    this.el = el;
    this.wanted = wanted;
    /** Why the element was unclickable before the press, and the states that it showed. */
    this.before = "";
    this.states = "";
    /**
     * Whether the element is not drawn itself, as read before the press. A page may hide it during the press.
     */
    this.hidden = false;
    this.readState();
    /** Whether the pointer moves before the press, so that the state must be read again after the move. */
    this.ahead = false;
    /** Whether the element received the first event, and the numbers of presses and clicks that it received. */
    this.reached = false;
    this.presses = 0;
    this.clicks = 0;
    /** The events of the current press that the element received. @type {Event | null} */
    this.pointer = null;
    this.down = false;
    this.clicked = false;
    /** The click of the current press on a label of the element. @type {Event | null} */
    this.labelClick = null;
    /** Whether the page changed while it handled the click on the label. */
    this.labelTaken = false;
    /** The last event of a press or release that the element received. @type {Event | null} */
    this.latest = null;
    /** The focus event by which the pressed element received the focus. @type {Event | null} */
    this.focus = null;
    /** Why the element became unclickable while the page handled an event of the press; see whyUnclickable. */
    this.becameUnclickable = "";
    /** Whether the page had taken the press at the release; see isTaken. */
    this.takenAtRelease = false;
    /**
     * The element that captured the pointer, and whether it received the click.
     * @type {El | null}
     */
    this.pointerCaptor = null;
    this.viaCaptor = false;
    /**
     * The first other element that would have received an event, or that received the release.
     * @type {El | null}
     */
    this.stray = null;
    /** Whether all further events are cancelled. */
    this.blocked = false;
    /** Whether the page started to navigate after the press. */
    this.navigated = false;
    /** Whether the page started to navigate before the press. */
    this.leaving = guard.isLeaving();
    /** The last position of the pointer. */
    this.x = this.y = -1;
    /** Whether a drag started that the page did not prevent. */
    this.dragging = false;
    /** The effect of a drag of data: "none" if nothing accepted the data, or "" if it is unknown or there was no drag. */
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
    this.states = reportedStates(this.el);
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
    if (this.target && (type === "pointerup" || type === "mouseup")) this.recordRelease(event, this.target);
    const passes = this.accepts(event, hit, own);
    if (passes && own && HANDLED.has(type)) this.latest = event;
    if (!own && type === "mouseup") this.takenAtRelease = this.whyUnclickable() === "" && this.isTaken(); // the covering element may move away
    if (!own && this.stray === null && (!passes || type === "mouseup")) this.stray = hit;
    return passes;
  }

  /** Records that the press moves the focus to an element. @param {Event} event */
  recordFocus(event) {
    const target = /** @type {DomNode} */ (event.composedPath()[0]);
    if (this.down && isElement(target) && isWithinNode(target, this.el)) this.focus = event;
  }

  /**
   * @param {MouseEvent} event @param {El} hit
   * @param {boolean} own whether a click on hit counts for the element
   */
  accepts(event, hit, own) {
    switch (event.type) {
      case "pointerdown":
        if (!own || (!this.reached && this.guard.isDifferent())) return !(this.blocked = true);
        this.countPress();
        this.recordReached();
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
          this.recordReached();
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

  /** Records that the element receives a press. */
  recordReached() {
    if (!this.reached) this.guard.agent.settling.begin(this.el);
    this.reached = true;
  }

  /** Records the first release, which is the end of a drag. @param {MouseEvent} event @param {El} target */
  recordRelease(event, target) {
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
      ownTimer(() => this.countLabelClick(), 0); // after the page's listeners
      return true;
    }
    if (!this.isPressed()) return false;
    this.viaCaptor = this.viaCaptor || captured;
    this.countClick();
    return true;
  }

  /** Records that the element receives the click of the current press. */
  countClick() {
    if (!this.clicked) this.clicks++;
    this.clicked = true;
    this.guard.recordClick();
    if (this.wanted > 0 && this.clicks >= this.wanted) this.notify(this.waiters);
  }

  /**
   * Counts a click on a label that the page prevents and handles with a change, because the browser then dispatches no
   * click to the control. A click that is prevented without a change has no effect and does not count.
   */
  countLabelClick() {
    if (this.clicked || !this.labelClick || !this.labelClick.defaultPrevented || !this.isPressed()) return;
    if (!this.labelTaken && reportedStates(this.el) === this.states) return;
    this.countClick();
  }

  /**
   * Whether the element received the current press. If the page prevents pointerdown, there is no mousedown. If it puts
   * another element over the element, the mousedown would go there.
   */
  isPressed() {
    return this.down || (this.pointer !== null && (this.pointer.defaultPrevented || this.isTaken()));
  }

  /** Counts the current press when it is over. */
  countPress() {
    if (this.isPressed()) this.presses++;
    this.pointer = null;
    this.down = false;
  }

  /**
   * Returns why clicks can no longer reach the element: "removed", "hidden" or "disabled". It returns "" if they can.
   * @returns {string}
   */
  whyUnclickable() {
    const { el } = this;
    const reason = !safe.isConnected(el) ? "removed" : !safe.checkVisibility(el, VISIBLE) ? "hidden" : safe.matches(el, ":disabled") ? "disabled" : "";
    return reason === this.before ? "" : reason;
  }

  /**
   * Whether another element now covers the element at the pointer, although the pointer was on the element at the press.
   * An element that has moved away is not covered.
   */
  isCovered() {
    if (!this.reached || !safe.isConnected(this.el)) return false;
    const { left, top, right, bottom } = safe.rect(this.el);
    if (this.x < left || this.x > right || this.y < top || this.y > bottom) return false;
    const hit = hitAt(this.x, this.y);
    return hit === null || clickPath(this.el, receiverAt(hit, this.x, this.y), this.hidden) === COVERED;
  }

  /**
   * Records a change of the page. If the page is still handling an event of the press, the press is the cause.
   */
  recordPageChange() {
    if (this.labelClick !== null && this.labelClick.eventPhase !== 0) this.labelTaken = true;
    const handles = this.latest !== null && this.latest.eventPhase !== 0;
    // Calendars and suggestion lists open when their field receives the focus.
    const focuses = this.focus !== null && this.focus.eventPhase !== 0;
    if (!handles && !focuses) return;
    this.becameUnclickable = (handles && this.whyUnclickable()) || (this.wanted > 0 && this.isCovered() ? "covered" : "");
  }

  /**
   * Whether the page handled the press and prevents the click from reaching the element, as menus do that open on the press
   * and cover their button. Evidence is a change while the page handled an event of the press, or a changed state of the
   * element.
   */
  isTaken() {
    const why = this.whyUnclickable();
    if (why !== "") return why === this.becameUnclickable;
    return this.wanted > 0 && (this.becameUnclickable === "covered" || reportedStates(this.el) !== this.states) && this.isCovered();
  }

  /** Returns the outcome so far. */
  outcome() {
    this.countLabelClick();
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

  /** Records that the page starts to navigate to another document. */
  recordNavigation() {
    if (!this.reached) return;
    this.navigated = true;
    if (this.isPressed()) this.notify(this.waiters);
  }

  /** Ends the action, and resolves all waiting calls. */
  end() {
    this.notify(this.waiters);
    this.notify(this.downWaiters);
  }

  /** Resolves waiting calls. @param {((outcome: PressOutcome) => void)[]} waiters */
  notify(waiters) {
    if (!waiters.length) return;
    const outcome = this.outcome();
    for (const resolve of waiters.splice(0)) resolve(outcome);
  }
}

/** Attributes by which a control shows that it is open or on. */
const REPORTED_STATES = ["aria-expanded", "aria-pressed", "aria-checked", "aria-selected", "aria-activedescendant", "open"];
const NO_STATES = REPORTED_STATES.map(() => "").join();

/**
 * Returns the states that an element shows: its own states, the states of its nearest ancestors, and the states of its first
 * descendant that shows whether it is open.
 * @param {El} el
 */
function reportedStates(el) {
  let told = "";
  for (let /** @type {El | null} */ n = el, up = 0; n && up < 4; n = flatElement(n), up++) told += hasNoAttributes(n) ? NO_STATES : REPORTED_STATES.map((name) => attr(n, name)).join();
  const [inner] = queryWithin(el, "[aria-expanded]");
  return told + (inner ? attr(inner, "aria-expanded") : "");
}

/**
 * Whether a node is in a label of a control. The browser also dispatches clicks on it to the control.
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
 * Arms the guard for a press at a point of the viewport. The element that is there now must receive the press. The content
 * of frames is unknown here.
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
  if (found.reached) agent.model.rows.expectChange(press.el);
  let other = press.stray;
  if (!other && found.reached && !found.complete && !found.unclickable) other = hitAt(press.x, press.y);
  if (!other || !isElement(other) || (found.reached && clickPath(press.el, receiverAt(other, press.x, press.y)) !== COVERED)) return found;
  const { detail, ref } = describeObstacle(agent, other, press.el);
  return { ...found, detail, cover: ref };
}

/**
 * Resolves when the next armed press is complete, or starts a navigation to another document, because this document cannot
 * answer afterwards.
 * @param {Agent} agent
 */
function awaitPress(agent) {
  return new Promise((resolve) => agent.guard.waiting.push(resolve));
}

/**
 * Resolves at the next mousedown that reaches its element, before the page handles it. An answer that resolves while the
 * page handles an event is sent afterwards. If the page navigates in between, the browser may already have replaced the
 * document, and drops the answer.
 * @param {Agent} agent
 */
function awaitDown(agent) {
  return new Promise((resolve) => agent.guard.waitingForDown.push(resolve));
}

/** Returns whether a drag started, for a press that is not released yet. @param {Agent} agent */
async function dragBegan(agent) {
  // The guard records dragstart in a task.
  await new Promise((resolve) => ownTimer(resolve, 0));
  const { press } = agent.guard;
  return press ? press.outcome() : { reached: false };
}

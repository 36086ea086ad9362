// @ts-check
// The outcome of a press of the mouse: which of its events the element received, and what the others would have hit. The
// guard reports every event here before the page receives it, and cancels those of other elements.

/** What a press or a release may make the page do with an element, so that no click can follow. */
const HANDLED = new Set(["pointerdown", "mousedown", "pointerup", "mouseup"]);
const CLICKS = new Set(["click", "auxclick", "contextmenu", "dblclick"]);

class Press {
  /** @param {Guard} guard @param {El} el @param {number} wanted how many clicks; 0: it is pressed for a drag @param {((outcome: PressOutcome) => void)[]} witnesses */
  constructor(guard, el, wanted, witnesses) {
    this.guard = guard;
    this.el = el;
    this.wanted = wanted;
    /** Why it could not be clicked before. */
    this.before = "";
    this.before = this.whyUnclickable();
    /** What is drawn for a control counts only where that was so before the press: a page may hide what it draws while it is pressed. */
    this.hidden = !isDrawn(el);
    /** The element heard the first event, and how many presses and clicks it heard. */
    this.reached = false;
    this.presses = 0;
    this.clicks = 0;
    /** What the element heard of the press that is under way. @type {Event | null} */
    this.pointer = null;
    this.down = false;
    this.clicked = false;
    /** The last event that it heard of a press or release. @type {Event | null} */
    this.latest = null;
    /** What became of the element while the page handled that event; see whyUnclickable. */
    this.becameUnclickable = "";
    /** What captured the pointer, and then took the click. @type {El | null} */
    this.pointerCaptor = null;
    this.viaCaptor = false;
    /** What was in its place first: it would have heard an event, or heard the release. @type {El | null} */
    this.stray = null;
    /** Nothing more gets through. */
    this.shut = false;
    /** The page set out for another document after the press. */
    this.navigated = false;
    /** Where the pointer was last. */
    this.x = this.y = -1;
    /** A drag began, and the page let it. */
    this.dragging = false;
    /** Where a drag is to end, and whether the release was beside it. @type {El | null} */
    this.target = null;
    this.beside = false;
    /** Who waits for the end. */
    this.waiters = witnesses;
  }

  /** Whether an event may go on to the page. @param {MouseEvent} event */
  passes(event) {
    const { type } = event;
    if (this.shut) return false;
    const hit = innermostAt(/** @type {El} */ (event.composedPath()[0]), event.clientX, event.clientY);
    if (type === "gotpointercapture") {
      if (this.reached) this.pointerCaptor = hit;
      return true;
    }
    const own = isElement(hit) && clickPath(this.el, hit, this.hidden) !== COVERED;
    if (!this.reached && type !== "pointerdown" && type !== "mousedown") return true; // of something that was pressed before
    if (this.reached) {
      this.x = event.clientX;
      this.y = event.clientY;
    }
    if (this.target && (type === "pointerup" || type === "mouseup")) this.noteRelease(event, this.target);
    const passes = this.accepts(event, hit, own);
    if (passes && own && HANDLED.has(type)) this.latest = event;
    if (!own && this.stray === null && (!passes || type === "mouseup")) this.stray = hit;
    return passes;
  }

  /** @param {MouseEvent} event @param {El} hit @param {boolean} own whether what was hit is the element's */
  accepts(event, hit, own) {
    switch (event.type) {
      case "pointerdown":
        if (!own || (!this.reached && this.guard.isDifferent())) return !(this.shut = true);
        this.countPress();
        this.reached = true;
        this.pointer = event;
        this.down = this.clicked = false;
        this.becameUnclickable = "";
        return true;
      case "mousedown":
        if (!this.reached && (!own || this.guard.isDifferent())) return !(this.shut = true);
        if (own) this.reached = this.down = true;
        return own;
      case "pointerup":
        return true; // the pressed element waits for the release, wherever it happens
      case "mouseup":
        return this.down;
    }
    return CLICKS.has(event.type) ? this.acceptsClick(event.type, hit, own) : true;
  }

  /** The first release says where a drag has ended. @param {MouseEvent} event @param {El} target */
  noteRelease(event, target) {
    const { left, top, right, bottom } = safe.rect(target), { clientX: x, clientY: y } = event;
    this.beside = !safe.isConnected(target) || x < left - 1 || x > right + 1 || y < top - 1 || y > bottom + 1;
    this.target = null;
  }

  /** @param {string} type @param {El} hit @param {boolean} own */
  acceptsClick(type, hit, own) {
    const captured = !own && hit === this.pointerCaptor && isWithinNode(this.el, hit);
    if (!own && !captured) return isLabelled(this.el, hit);
    // A label hands a click on to its control, or does not: what counts is the click that the control gets.
    if (type === "click" && own && tagOf(this.el) !== "label" && !isWithinNode(hit, this.el) && isLabelled(hit, this.el)) return true;
    if (!this.isPressed()) return false;
    if (!this.clicked) this.clicks++;
    this.clicked = true;
    this.guard.noteClick();
    this.viaCaptor = this.viaCaptor || captured;
    if (this.wanted > 0 && this.clicks >= this.wanted) this.notifyWaiters();
    return true;
  }

  /** Whether the element heard the press that is under way: where the page prevents pointerdown, the browser makes no mousedown of it. */
  isPressed() {
    return this.down || (this.pointer !== null && this.pointer.defaultPrevented);
  }

  /** The press that was under way is over. */
  countPress() {
    if (this.isPressed()) this.presses++;
    this.pointer = null;
    this.down = false;
  }

  /** Why no click can reach the element any more; empty: it can. @returns {string} */
  whyUnclickable() {
    const { el } = this;
    const fate = !safe.isConnected(el) ? "removed" : !safe.checkVisibility(el, VISIBLE) ? "hidden" : safe.matches(el, ":disabled") ? "disabled" : "";
    return fate === this.before ? "" : fate;
  }

  /** The page has changed: if it still handles the press, it is its answer to that. */
  notePageChange() {
    if (this.latest !== null && this.latest.eventPhase !== 0) this.becameUnclickable = this.whyUnclickable();
  }

  /** How it went so far. */
  outcome() {
    const presses = this.presses + (this.isPressed() ? 1 : 0);
    const fate = this.whyUnclickable();
    // A page may act on the press, and take the element away before there is a click.
    const taken = fate !== "" && fate === this.becameUnclickable && presses >= this.wanted && this.clicks === this.wanted - 1;
    const done = this.clicks >= this.wanted && presses >= this.wanted;
    return { reached: this.reached, presses, clicks: this.clicks, whole: done || taken, via: this.viaCaptor, beside: this.beside, fate, left: this.navigated, dragging: this.dragging };
  }

  /** The page sets out for another document. */
  noteNavigation() {
    if (!this.reached) return;
    this.navigated = true;
    if (this.isPressed()) this.notifyWaiters();
  }

  /** Resolves the calls that wait for the outcome. */
  notifyWaiters() {
    const outcome = this.outcome();
    for (const resolve of this.waiters.splice(0)) resolve(outcome);
  }
}

/** Whether a node stands in a label of a control, to which the browser hands a click on. @param {El} node @param {El} control */
function isLabelled(node, control) {
  for (let label = closestOf(node, "label"); label; label = labelAround(label)) if (label.control === control) return true;
  return false;
}

/** Says where the drag that is under way is to end. @param {Agent} agent @param {{ref: number}} request */
function setDropTarget(agent, request) {
  const rec = agent.model.records.byRef.get(request.ref);
  const { press } = agent.guard;
  if (rec && press) press.target = rec.node;
  return {};
}

/** How the press went, after it. @param {Agent} agent */
function pressOutcome(agent) {
  const { press, changed, names } = agent.guard.disarm();
  if (changed) return { reached: false, ...changed };
  if (!press) return { reached: false };
  const found = { ...press.outcome(), ...renamedBetween(names) };
  if (found.reached) agent.model.rows.noteActed(press.el);
  let other = press.stray;
  if (!other && found.reached && !found.whole && !found.fate) other = hitAt(press.x, press.y);
  if (!other || !isElement(other) || (found.reached && clickPath(press.el, other) !== COVERED)) return found;
  const { detail, ref } = describeObstacle(agent, other, press.el);
  return { ...found, detail, cover: ref };
}

/**
 * Resolves as soon as the next armed press is complete, or leads to another document, after which this document cannot be
 * asked any more.
 * @param {Agent} agent
 */
function awaitPress(agent) {
  return new Promise((resolve) => agent.guard.waiting.push(resolve));
}

/** Whether a drag has begun, without letting go. @param {Agent} agent */
async function dragBegan(agent) {
  // What the guard noted of the event comes in a task of its own.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const { press } = agent.guard;
  return press ? press.outcome() : { reached: false };
}

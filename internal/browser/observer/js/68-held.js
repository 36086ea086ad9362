// @ts-check
// Held records what the page receives while the daemon holds a button. KeyWatch records what the page receives of
// keys that go to the focused element.
//
// Unlike Press and Keys, they block nothing, because such input is meant for the element that a person's input would reach.
// The guard passes the trusted events to both before the page receives them. The commands "beginHold" to "endHold",
// "focusNow", "watchKeys" and "keysSeen" own them.

/** Held records a held button, from the press that its element received. */
class Held {
  /** @param {El} el @param {boolean} dragging */
  constructor(el, dragging) {
    this.el = el;
    /** Whether the press started a drag of data. */
    this.dragging = dragging;
    /** The number of moves that the page received since the last answer. */
    this.moves = 0;
    /** The last position of the pointer in the viewport of this document. */
    this.x = this.y = -1;
    this.released = false;
    /** The effect of the drag: "none" if nothing accepted the data, or "" if unknown. */
    this.effect = "";
    /** The element under the pointer at the release, and the element that received the click. @type {El | null} */
    this.on = null;
    /** @type {El | null} */
    this.clicked = null;
    /** @type {((answer: {released: boolean}) => void)[]} */
    this.waiting = [];
  }

  /** @param {MouseEvent} event */
  record(event) {
    const { type } = event;
    if (type === "dragstart") {
      ownTimer(() => (this.dragging = this.dragging || !event.defaultPrevented), 0); // after the page's listeners
    } else if (type === "dragend") {
      this.effect = effectOf(/** @type {DragEvent} */ (event));
    } else if (HELD_ONLY.has(type) || type === "pointerup" || type === "mouseup") {
      this.x = event.clientX;
      this.y = event.clientY;
      if (HELD_ONLY.has(type)) this.moves++;
      else this.recordRelease();
    } else if (type === "click" || type === "auxclick" || type === "contextmenu") {
      if (this.released && !this.clicked) this.clicked = /** @type {El} */ (event.composedPath()[0]);
    }
  }

  recordRelease() {
    if (!this.released) this.on = hitAt(this.x, this.y);
    this.released = true;
    for (const resolve of this.waiting.splice(0)) resolve({ released: true });
  }
}

/** Returns the effect of a drag, or "" if unknown. @param {DragEvent} event */
function effectOf({ dataTransfer }) {
  return dataTransfer ? dataTransfer.dropEffect : "";
}

/**
 * Whether a press on an element may start a drag of data: on a draggable element, a link, an image, or selected text.
 * @param {El} el
 */
function mayDrag(el) {
  const selection = getSelection();
  return closestOf(el, "[draggable=true],a[href],img") !== null || (selection !== null && !selection.isCollapsed);
}

/**
 * Ends the action of the guard if the element has received the press, and starts to record what the page receives.
 * Otherwise the action continues, and "pressOutcome" reports the outcome.
 * @param {Agent} agent
 */
async function beginHold(agent) {
  // The guard records dragstart in a task.
  await new Promise((resolve) => ownTimer(resolve, 0));
  const { guard } = agent;
  if (!guard.press) return { reached: false };
  const outcome = guard.press.outcome(), { el } = guard.press;
  if (outcome.presses === 0) return outcome;
  agent.model.rows.expectChange(el);
  guard.disarm();
  guard.held = new Held(el, outcome.dragging);
  return { ...outcome, mayDrag: mayDrag(el) };
}

/**
 * Returns what the page received since the last answer.
 * @param {Agent} agent
 */
async function heldOutcome(agent) {
  await new Promise((resolve) => ownTimer(resolve, 0));
  const { held } = agent.guard;
  if (!held) return { gone: true };
  const { moves, dragging, released, effect } = held;
  held.moves = 0;
  const on = released ? held.on : hitAt(held.x, held.y);
  const found = { moves, dragging, released, effect, ...(on ? described(agent, on) : {}) };
  return held.clicked ? { ...found, clicked: true, ...described(agent, held.clicked) } : found;
}

/** Returns whether the moves have started a drag of data. @param {Agent} agent */
async function draggingNow(agent) {
  await new Promise((resolve) => ownTimer(resolve, 0));
  const { held } = agent.guard;
  return held ? { dragging: held.dragging } : { gone: true };
}

/** @param {Agent} agent @param {El} el */
function described(agent, el) {
  const { detail, ref } = describeObstacle(agent, el, null);
  return { detail, cover: ref };
}

/**
 * Resolves at the release, before the page handles it, because this document may be gone afterwards.
 * @param {Agent} agent
 */
function awaitRelease(agent) {
  const { held } = agent.guard;
  if (!held) return { released: false };
  return new Promise((resolve) => held.waiting.push(resolve));
}

/** @param {Agent} agent */
function endHold(agent) {
  if (agent.guard.held) for (const resolve of agent.guard.held.waiting.splice(0)) resolve({ released: false });
  agent.guard.held = null;
  return {};
}

// ---- keys to the focus ------------------------------------------------------------------------

/** Controls that keys press or toggle, and that accept no text. */
const PRESSED_BY_KEYS = "button,a[href],summary,select,input,[role=button],[role=link],[role=checkbox],[role=radio],[role=switch]";

/** KeyWatch records the keys that the page receives, independent of their target. */
class KeyWatch {
  constructor() {
    /** The element that received the first key. @type {El | null} */
    this.first = null;
    /** The preventable events of each key. @type {Event[][]} */
    this.keys = [];
    this.downs = 0;
    /** The number of characters that were inserted into each field. @type {Map<El, number>} */
    this.fields = new Map();
    this.composed = "";
    this.content = new Content(focusedNow());
  }

  /** @param {Event} event */
  record(event) {
    const { type } = event;
    const at = /** @type {El} */ (event.composedPath()[0]);
    if (type === "keydown") {
      this.downs++;
      if (!this.first) this.first = at;
      if (this.keys.length < KEY_EVENTS) this.keys.push([event]);
    } else if (type === "keypress" || type === "beforeinput") {
      const latest = this.keys[this.keys.length - 1];
      if (latest && this.downs <= KEY_EVENTS) latest.push(event);
    } else if (type === "input" || type === "compositionend") this.recordInput(at, /** @type {InputEvent} */ (event));
  }

  /** @param {El} into @param {InputEvent} event */
  recordInput(into, event) {
    if (event.type === "input" && event.isComposing) {
      this.composed = event.data || "";
      return;
    }
    const data = event.type === "compositionend" ? this.composed : textOf(event);
    this.composed = "";
    if (data !== "") this.fields.set(into, (this.fields.get(into) || 0) + lengthOf(data));
  }

  /** Counts the keys that the page handled itself. */
  handled() {
    return this.keys.filter((events) => events.some((event) => event.defaultPrevented)).length;
  }
}

/** Whether keys that reach an element belong to the document, because nothing has the focus. @param {El | null} el */
function isDocumentLevel(el) {
  return el === null || /^(body|html|frameset)$/.test(tagOf(el)) && !isEditable(el);
}

/**
 * Returns the focused node (the document, a frame, or an element), whether it accepts text, and whether keys press it.
 * @param {Agent} agent
 */
function focusNow(agent) {
  agent.schedule();
  const el = focusedNow();
  if (el === null || isDocumentLevel(el)) return { document: true };
  for (const [frame, host] of agent.hosts) if (host === el) return { frame };
  const editable = isEditable(el);
  return { editable, catcher: editable && isCatcher(el), control: !editable && safe.matches(el, PRESSED_BY_KEYS), ...described(agent, el) };
}

/** Starts to record the keys that the page receives. @param {Agent} agent */
function watchKeys(agent) {
  agent.guard.disarm();
  agent.guard.watch = new KeyWatch();
  return {};
}

/**
 * Ends the recording, and returns what the page received, and which field holds the text.
 * @param {Agent} agent
 */
async function keysSeen(agent) {
  await new Promise((resolve) => ownTimer(resolve, 0)); // some pages process a text in a task
  const { watch } = agent.guard;
  agent.guard.watch = null;
  if (!watch) return { gone: true };
  const { first, downs } = watch;
  let kept = 0;
  for (const count of watch.fields.values()) kept += count;
  const found = { downs, handled: watch.handled(), kept, unseen: watch.content.unseenChange(), document: isDocumentLevel(first), ...(first ? described(agent, first) : {}) };
  const [field] = [...watch.fields.keys()].slice(-1);
  if (!field || !safe.isConnected(field) || !isEditable(field)) return found;
  const reported = isReportable(field);
  return { ...found, into: described(agent, field), held: reported && !isCatcher(field) ? clean(contentOf(field), MAX_VALUE) : "" };
}

// @ts-check
// Actionability checks, and waits for, the conditions of an action: the element is connected, visible, enabled, stable, in
// view, not covered, and still the element that the caller saw.
//
// The daemon's commands call waitActionable and checkBeforePress (internal/browser/input). A refusal is an Answer with an
// error code. The file also maps points of frames, and measures the effects of drags and of the wheel. ReachState holds the
// state of an action. Only the guard and the agent's pressedPosition and wheel outlive a command.

/**
 * The maximum wait for an animation frame, in milliseconds. Documents that are not rendered have no frames.
 */
const FRAME_AT_MOST = 100;
/** The maximum wait for a moving element, in milliseconds. After it, the action uses the current position. */
const UNSTABLE_AT_MOST = 1000;

/** Errors that waiting cannot resolve. */
const FINAL = new Set(["stale", "renamed", "reused", "unsure", "uneditable", "untagged", "uncheckable", "unselectable", "radio", "wrong", "outside"]);

/** Resolves at the next animation frame. @returns {Promise<void>} */
function nextFrame() {
  return new Promise((resolve) => {
    const timer = ownTimer(resolve, FRAME_AT_MOST);
    ownFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Retries at every frame until the attempt succeeds, the time is up, or the daemon starts another
 * action.
 * @template {{error?: string}} T
 * @param {Agent} agent @param {number} patience in milliseconds @param {(tries: number) => T} attempt
 * @returns {Promise<T>}
 */
async function retryUntil(agent, patience, attempt) {
  const turn = ++agent.guard.turn;
  const end = performance.now() + patience;
  for (let tries = 0; ; tries++) {
    const found = attempt(tries);
    if (!found.error || FINAL.has(found.error) || performance.now() >= end) return found;
    await nextFrame();
    if (agent.guard.turn !== turn) return found;
  }
}

/**
 * Waits until an element is actionable, and returns the point, or why it is not. Actions without a pointer (focus, select)
 * are performed in the same step.
 * @param {Agent} agent
 * @param {ReachRequest} request
 *   need is "point" for a point to click, "view" to scroll into view, "drop" for the end of a drag, "focus" for the focus,
 *   or "node" for only the node. A passive action, such as scrolling, does not need an enabled element.
 */
function waitActionable(agent, request) {
  agent.settling.clearSettledAt();
  const began = performance.now();
  /** @type {ReachState} */
  const state = { scrolls: 0, box: "", stableBy: began + Math.min(UNSTABLE_AT_MOST, request.patience / 2) };
  return retryUntil(agent, request.patience, () => checkActionable(agent, request, state));
}

/**
 * Matches choices of which the one under the pointer may be taken at a click, such as the stars of a rating. Frameworks render the pointer's
 * movement in a task of its own. Such a choice is pressed after that task, and not together with the movement.
 */
const CHOSEN_BY_HOVER = "[role=radio]:not(input),[class*=rating i],[class*=stars i]";

/**
 * @param {Agent} agent @param {ReachRequest} request @param {ReachState} state @returns {Answer}
 */
function checkActionable(agent, request, state) {
  const rec = agent.model.records.connected(request.ref);
  if (!rec) return { error: "stale" };
  const changed = agent.differenceOf(rec, request.known);
  if (changed) return changed;
  const { visibility } = agent.model;
  refreshVisibility(visibility);
  if (request.need !== "node" && !visibility.isVisible(rec.node, rec.tag)) return { error: "hidden" };
  if (request.need === "view") return scrollToPoint(agent, rec, state, false, request.words);
  if (request.need === "drop") return scrollToDropPoint(agent, rec, state, request.dragged);
  const el = request.edit !== undefined ? editableOf(agent, rec.node) : request.values !== undefined ? selectOf(agent, rec.node) : rec.node;
  const unusable = request.passive ? null : unusableReason(agent, el, request);
  if (unusable) return unusable;
  if (!el) return { error: "stale" };
  if (request.want !== undefined) {
    const { error, checked } = checkedOf(agent, rec.node, request.want);
    if (error) return { error };
    if (checked === String(request.want)) return { checked, type: el.type || "" };
    state.checked = checked;
  }
  switch (request.need) {
    case "node":
      return {};
    case "focus":
      if (request.values !== undefined) return choose(agent, el, request.values);
      return focusForInput(agent, rec.node, el, request);
  }
  agent.timers.setHovering(request.passive === true);
  const found = scrollToPoint(agent, rec, state, true, request.words);
  if (!found.error && isMoving(rec.node, request, found, state)) return { ...found, error: "moving" };
  const armed = !found.error && request.clicks !== undefined && state.scrolls === 0 && !closestOf(rec.node, CHOSEN_BY_HOVER);
  if (armed) armPressAhead(agent, rec, request);
  else if (!found.error && request.passive) agent.notices.beginHover(rec.node);
  return { ...found, checked: state.checked, armed };
}

/**
 * Arms the guard for a press that is sent together with the pointer movement. At the first event of the press, the guard
 * makes the checks that checkBeforePress otherwise makes after the movement.
 * @param {Agent} agent @param {Rec} rec @param {ReachRequest} request
 */
function armPressAhead(agent, rec, request) {
  agent.pressedPosition = pagePositionOf(rec.node);
  agent.guard.armPress(rec.node, request.clicks || 0);
  const { press } = agent.guard;
  if (press) press.ahead = true;
  agent.guard.expect(() => unpressableReason(agent, rec, request), () => nameNow(agent.model, rec));
}

/**
 * Returns why an element cannot be pressed at the pointer, or null if it can; elements that cover
 * it are not considered.
 * @param {Agent} agent @param {Rec} rec @param {{known?: Known, passive?: boolean}} request
 * @returns {Difference | null}
 */
function unpressableReason(agent, rec, request) {
  agent.model.changes.styleDirty = true; // the pointer moved, and :hover rules apply without an event
  agent.schedule();
  const changed = agent.differenceOf(rec, request.known);
  if (changed) return changed;
  const { visibility } = agent.model;
  refreshVisibility(visibility);
  if (!visibility.isVisible(rec.node, rec.tag)) return { error: "hidden", was: "", now: "" };
  return isUnusable(agent, rec, request) ? { error: "disabled", was: "", now: "" } : null;
}

/**
 * Whether the target of a press is disabled.
 * @param {Agent} agent @param {Rec} rec @param {{passive?: boolean}} request
 */
function isUnusable(agent, rec, request) {
  return !request.passive && agent.model.hints.toggleOf(rec.node) === undefined && unusableReason(agent, rec.node, {}) !== null;
}

/**
 * Returns why an element cannot be used, or null if it can.
 * @param {Agent} agent @param {El | null} el @param {{edit?: string}} request
 * @returns {Answer | null}
 */
function unusableReason(agent, el, request) {
  if (!el) return { error: request.edit !== undefined ? "uneditable" : "unselectable" };
  const control = agent.model.hints.proxiedControls.get(el) || el;
  if (safe.matches(control, ":disabled")) return { error: "disabled" };
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    if (attr(n, "aria-disabled") === "true") return { error: "disabled" };
  }
  if (request.edit !== undefined && (el.readOnly === true || attr(el, "aria-readonly") === "true")) return { error: "readonly" };
  return null;
}

/**
 * Scrolls an element into view and finds the point to act at.
 * @param {Agent} agent @param {Rec} rec @param {ReachState} state @param {boolean} open whether nothing may cover it
 * @param {string} [words] the text of the element to act at
 * @returns {Answer & {x: number, y: number, l: number, t: number, w: number, h: number}}
 */
function scrollToPoint(agent, rec, state, open, words) {
  const { visibility } = agent.model;
  const { node, tag } = rec;
  const text = (words && !INTERACTIVE_TAGS.has(tag) ? textRange(node, words) : null) || (rec.fields[F_ROLE] === "treeitem" ? titleTextOf(node) : null);
  let rect = visibility.rect(node, tag);
  let best = actionPoint(visibility, node, tag, rect, text);
  const outside = !isInView(text ? middleOf(text) : visibleCenter(rect)) || best.cover === document;
  if ((best.cover || outside) && (outside || state.scrolls < SCROLLS.length)) {
    if (!outside || state.scrolls < SCROLLS.length) rect = scrollElementIntoView(visibility, node, tag, SCROLLS[Math.min(state.scrolls, SCROLLS.length - 1)]);
    if (text && !isInView(middleOf(text))) scrollTextIntoView(visibility, text);
    state.scrolls++;
    best = actionPoint(visibility, node, tag, rect, text);
  }
  const found = { x: best.point.x, y: best.point.y, l: rect.left, t: rect.top, w: rect.width, h: rect.height };
  if (!open || !best.cover) return found;
  if (getComputedStyle(node).pointerEvents === "none" && isWithinNode(node, best.cover)) return { ...found, error: "untouchable" };
  const { detail, ref } = describeObstacle(agent, best.cover, node);
  return { ...found, error: "covered", detail, cover: ref };
}

/**
 * Scrolls an element into view as the end of a drag, and finds its centre, or another point if an element other than the
 * dragged one covers the centre.
 * @param {Agent} agent @param {Rec} rec @param {ReachState} state @param {number | undefined} dragged the ref of the dragged element
 */
function scrollToDropPoint(agent, rec, state, dragged) {
  const { visibility } = agent.model;
  const { node, tag } = rec;
  const source = dragged === undefined ? undefined : agent.model.records.byRef.get(dragged);
  const ignored = source ? source.node : null;
  let rect = visibility.rect(node, tag);
  let at = centerOf(visibility, node, tag, rect);
  if (!isInView(at)) {
    rect = scrollElementIntoView(visibility, node, tag, "center");
    at = centerOf(visibility, node, tag, rect);
  }
  const hit = isInView(at) ? hitWithout(ignored, at.x, at.y) : null;
  if (hit && clickPath(node, receiverAt(hit, at.x, at.y)) !== COVERED) return { x: at.x, y: at.y, w: rect.width, h: rect.height };
  return scrollToPoint(agent, rec, state, false);
}

/**
 * Whether to wait because an element is moving.
 * @param {El} el @param {ReachRequest} request @param {Answer} found its current position
 * @param {ReachState} state
 */
function isMoving(el, request, found, state) {
  if (state.box === "" && !request.still && !isAnimated(el)) return false;
  const box = [found.x, found.y, found.w, found.h].join();
  const same = box === state.box;
  state.box = box;
  return !same && performance.now() < state.stableBy;
}

/** The properties whose animation may move an element. */
const MOVING = /^(all|transform|translate|rotate|scale|zoom|left|top|right|bottom|width|height|inset|offset|margin|padding|max|min|flex|grid|font|gap|line|block|inline|border)/i;

/**
 * Whether a running animation may move an element: an animation with an end, or an endless animation of an ancestor.
 * @param {El} el
 */
function isAnimated(el) {
  const root = safe.getRootNode(el);
  const running = safe.getAnimations(document);
  if (isShadow(root)) running.push(...root.getAnimations());
  for (const animation of running.slice(0, 200)) {
    const effect = /** @type {KeyframeEffect | null} */ (animation.effect);
    if (animation.playState !== "running" || !effect || !effect.target) continue;
    if (effect.getComputedTiming().endTime === Infinity && !isWithinNode(el, effect.target)) continue;
    if (effect.getKeyframes().some((frame) => Object.keys(frame).some((key) => MOVING.test(key)))) return true;
  }
  return false;
}

/**
 * Checks right before the press, with the pointer at the point, that the point still hits the element. Then it arms the
 * guard, which blocks presses of other elements.
 * @param {Agent} agent @param {{ref: number, x: number, y: number, clicks?: number, passive?: boolean, known?: Known}} request
 */
function checkBeforePress(agent, request) {
  agent.model.changes.styleDirty = true; // the pointer moved, and :hover rules apply without an event
  agent.schedule();
  const rec = agent.model.records.connected(request.ref);
  if (!rec) return { error: "stale" };
  const changed = agent.differenceOf(rec, request.known);
  if (changed) return changed;
  const { visibility } = agent.model;
  refreshVisibility(visibility);
  if (!visibility.isVisible(rec.node, rec.tag)) return { error: "hidden" };
  const hit = hitAt(request.x, request.y);
  if (!hit || clickPath(rec.node, receiverAt(hit, request.x, request.y)) === COVERED) {
    const { detail, ref } = describeObstacle(agent, hit || document, rec.node);
    return { error: "covered", detail, cover: ref };
  }
  if (isUnusable(agent, rec, request)) return { error: "disabled" };
  agent.pressedPosition = pagePositionOf(rec.node);
  agent.guard.armPress(rec.node, request.clicks || 0);
  agent.guard.expect(() => agent.differenceOf(rec, request.known), () => nameNow(agent.model, rec));
  return {};
}

// ---- frames ---------------------------------------------------------------------------------

/**
 * Maps a point of a child frame's viewport into this document's, scrolls it into view, and checks
 * that the frame receives input there.
 * @param {Agent} agent @param {ThroughRequest} request
 */
function mapFramePoint(agent, request) {
  const state = { scrolled: 0, box: "" };
  return retryUntil(agent, request.patience, () => tryMapFramePoint(agent, request, state));
}

/**
 * @param {Agent} agent @param {ThroughRequest} request
 * @param {{scrolled: number, box: string}} state @returns {Answer}
 */
function tryMapFramePoint(agent, request, state) {
  const el = agent.hosts.get(request.frame);
  if (!el || !safe.isConnected(el)) return { error: "frame" };
  const map = safe.checkVisibility(el, VISIBLE) ? frameMap(el) : null;
  if (!map) return { error: "frame" };
  let p = map(request.x, request.y);
  let hit = isInView(p) ? hitAt(p.x, p.y) : null;
  if (hit !== el && request.scroll && (!isInView(p) || state.scrolled < 2)) {
    state.scrolled++;
    const now = () => (frameMap(el) || map)(request.x, request.y);
    scrollToFramePoint(el, now);
    p = now();
    hit = hitAt(p.x, p.y);
  }
  const found = { x: p.x, y: p.y };
  if (request.open && hit !== el) {
    const { detail, ref } = describeObstacle(agent, hit || document, el);
    return { ...found, error: "covered", detail, cover: ref };
  }
  // After scrolling, the browser's hit test is correct only once a frame is drawn, so the point must be the same twice.
  const box = p.x + "," + p.y;
  const drawn = state.scrolled === 0 || state.box === box;
  state.box = box;
  if (!drawn) return { ...found, error: "moving" };
  if (request.arm) agent.guard.arm("deny", null);
  return found;
}

/**
 * Maps points of a frame's viewport into this one, with the 2D transforms of the frame and its
 * ancestors.
 * @param {El} el @returns {((x: number, y: number) => {x: number, y: number}) | null}
 */
function frameMap(el) {
  const rect = safe.rect(el);
  if (!hasArea(rect)) return null;
  let m = [1, 0, 0, 1];
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) m = linearPart(getComputedStyle(n), m);
  const [a, b, c, d] = m;
  const w = el.offsetWidth, h = el.offsetHeight;
  const left = Math.min(0, a * w, c * h, a * w + c * h), right = Math.max(0, a * w, c * h, a * w + c * h);
  const top = Math.min(0, b * w, d * h, b * w + d * h), bottom = Math.max(0, b * w, d * h, b * w + d * h);
  if (!(right > left && bottom > top)) return null;
  const kx = rect.width / (right - left), ky = rect.height / (bottom - top);
  const style = getComputedStyle(el);
  const dx = el.clientLeft + parseFloat(style.paddingLeft), dy = el.clientTop + parseFloat(style.paddingTop);
  return (x, y) => ({
    x: rect.left + (a * (x + dx) + c * (y + dy) - left) * kx,
    y: rect.top + (b * (x + dx) + d * (y + dy) - top) * ky,
  });
}

/**
 * Multiplies the transforms of one element and a matrix, without translations.
 * @param {CSSStyleDeclaration} style @param {number[]} m
 */
function linearPart(style, m) {
  if (style.transform === "none" && style.scale === "none" && style.rotate === "none") return m;
  const t = style.transform === "none" ? new DOMMatrix() : new DOMMatrix(style.transform);
  let own = new DOMMatrix();
  const turn = /(-?[\d.]+)deg$/.exec(style.rotate);
  if (turn) own = own.rotate(parseFloat(turn[1]));
  if (style.scale !== "none") {
    const [sx, sy = sx] = style.scale.split(" ").map(parseFloat);
    own = own.scale(sx, sy);
  }
  own = own.multiply(t);
  return [
    own.a * m[0] + own.c * m[1], own.b * m[0] + own.d * m[1],
    own.a * m[2] + own.c * m[3], own.b * m[2] + own.d * m[3],
  ];
}

/** @type {(el: El, by: ScrollToOptions) => void} */
const scrollBoxBy = method(Element, "scrollBy");

/**
 * Scrolls all scroll containers around an element until a point of it is in the middle.
 * @param {El} el @param {() => {x: number, y: number}} point
 */
function scrollToFramePoint(el, point) {
  for (let n = flatElement(el), up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    const tag = tagOf(n);
    if (tag === "html" || tag === "body" || !clips(getComputedStyle(n))) continue;
    const box = safe.rect(n), p = point();
    scrollBoxBy(n, { left: p.x - box.left - box.width / 2, top: p.y - box.top - box.height / 2, behavior: "instant" });
  }
  const p = point();
  scrollBy({ left: isWithinWidth(p) ? 0 : p.x - innerWidth / 2, top: p.y - innerHeight / 2, behavior: "instant" });
}

/** @param {Point} p */
function isWithinWidth(p) {
  return p.x >= 0 && p.x < innerWidth;
}

// ---- points ---------------------------------------------------------------------------------

/**
 * Describes the element at a point of the viewport.
 * @param {Agent} agent @param {{x: number, y: number, passive?: boolean}} request
 */
function describePoint(agent, request) {
  const hit = isInView(request) ? hitAt(request.x, request.y) : null;
  if (!hit) return { error: "outside", detail: innerWidth + " x " + innerHeight };
  agent.timers.setHovering(request.passive === true);
  agent.pressedPosition = pagePositionOf(hit);
  const { detail, ref } = describeObstacle(agent, hit, null);
  return { detail, cover: ref };
}

// ---- displacement by a drag -------------------------------------------------------------------

/** The smallest displacement that is reported, in CSS pixels. */
const MOVED_AT_LEAST = 1;

/**
 * Returns the position of an element on the page, independent of scrolling. Fixed elements do not scroll
 * with the page; the partial scrolling of sticky elements cannot be distinguished from a move.
 * @param {El} el
 */
function pagePositionOf(el) {
  const rect = safe.rect(el);
  let left = 0, top = 0, sticky = false, fixed = false;
  for (let /** @type {El | null} */ n = el, up = 0; n && !fixed && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    const { position } = getComputedStyle(n);
    fixed = position === "fixed";
    sticky = sticky || position === "sticky";
    if (n === el || tagOf(n) === "html" || tagOf(n) === "body") continue;
    left += slow.scrollLeft(n);
    top += slow.scrollTop(n);
  }
  if (!fixed) {
    left += scrollX;
    top += scrollY;
  }
  return { el, x: rect.left + left, y: rect.top + top, left, top, sticky, content: partsInMiddle(el, rect), ...placeInParent(el) };
}

/**
 * Returns the elements in the middle of an element, the innermost first, with their positions in it. A drag moves them when
 * it pans a map.
 * @param {El} el @param {DOMRect} rect
 */
function partsInMiddle(el, rect) {
  /** @type {{el: El, x: number, y: number}[]} */
  const out = [];
  const add = (/** @type {El} */ n) => {
    const { left, top } = safe.rect(n);
    out.push({ el: n, x: left - rect.left, y: top - rect.top });
  };
  const hit = hitAt(rect.left + rect.width / 2, rect.top + rect.height / 2);
  if (hit && isWithinNode(hit, el)) for (let /** @type {El | null} */ n = hit; n && n !== el; n = flatElement(n)) add(n);
  if (hit === el) for (const n of /** @type {Iterable<El>} */ ([...el.children].slice(0, MAX_PARTS))) add(n); // children that ignore the pointer are not hit
  return out;
}

/** The maximum number of siblings that are counted. */
const SIBLINGS_COUNTED = 1000;

/**
 * Returns the position of an element in its parent, among the siblings with its tag.
 * @param {El} el @returns {{parent: DomNode | null, nth: number}} nth is 0 if unknown
 */
function placeInParent(el) {
  const parent = safe.parentNode(el), tag = tagOf(el);
  let nth = 0;
  for (let n = parent && isElement(parent) ? safe.firstElementChild(parent) : null, i = 0; n; n = safe.nextElementSibling(n)) {
    if (++i > SIBLINGS_COUNTED) break;
    if (tagOf(n) === tag) nth++;
    if (n === el) return { parent, nth };
  }
  return { parent, nth: 0 };
}

/**
 * Returns the element that a page shows in place of one that it removed: the only element with that tag and text. It returns null if there is
 * none, and undefined if that is unknown: the element has no words, or there are several such elements.
 * @param {Agent} agent @param {El} gone @returns {El | null | undefined}
 */
function successorOf(agent, gone) {
  const text = safe.textContent(gone);
  if (!hasText(text)) return undefined;
  const tag = CSS.escape(tagOf(gone));
  const same = [agent.model.doc, ...agent.model.sweep.shadows].flatMap((tree) => [...inTree(tree, tag)]).filter((n) => safe.isConnected(n) && safe.textContent(n) === text);
  return same.length === 1 ? same[0] : same.length > 1 ? undefined : null;
}

/**
 * Waits until the last pressed element stops moving, and returns its displacement.
 * @param {Agent} agent @param {{patience: number}} request
 * @returns {Promise<Displacement>}
 */
async function displacement(agent, request) {
  const was = agent.pressedPosition;
  agent.pressedPosition = null;
  const end = performance.now() + request.patience;
  await nextFrame();
  if (!was) return { x: 0, y: 0 };
  while (safe.isConnected(was.el) && isAnimated(was.el) && performance.now() < end) await nextFrame();
  const el = safe.isConnected(was.el) ? was.el : successorOf(agent, was.el);
  if (el === null) return { x: 0, y: 0, gone: true };
  if (!el || !hasArea(safe.rect(el))) return { x: 0, y: 0 };
  const now = pagePositionOf(el);
  if ((was.sticky || now.sticky) && (was.left !== now.left || was.top !== now.top)) return { x: 0, y: 0 };
  const x = Math.round(now.x - was.x), y = Math.round(now.y - was.y);
  if (Math.hypot(x, y) < MOVED_AT_LEAST) return contentDisplacement(was, x === 0 && y === 0);
  return { x, y, from: now.parent === was.parent ? was.nth : 0, to: now.nth };
}

/**
 * Returns what became of the content of a dragged element that did not move. What a canvas draws is unknown.
 * @param {ReturnType<typeof pagePositionOf>} was @param {boolean} stays @returns {Displacement}
 */
function contentDisplacement(was, stays) {
  const frame = safe.rect(was.el);
  for (const part of was.content) {
    if (!safe.isConnected(part.el)) continue;
    const { left, top } = safe.rect(part.el);
    const x = Math.round(left - frame.left - part.x), y = Math.round(top - frame.top - part.y);
    if (Math.hypot(x, y) >= MOVED_AT_LEAST) return { x: 0, y: 0, content: { x, y } };
  }
  const canvas = tagOf(was.el) === "canvas" || was.content.some((part) => tagOf(part.el) === "canvas");
  return { x: 0, y: 0, stays: stays && !canvas, canvas };
}

// ---- the wheel ------------------------------------------------------------------------------

/**
 * Records the scroll positions of all scroll containers around a point.
 * @param {Agent} agent @param {{x: number, y: number, center?: boolean}} request center selects the middle of the viewport
 */
function beforeWheel(agent, request) {
  const at = request.center ? { x: innerWidth / 2, y: innerHeight / 2 } : { x: request.x, y: request.y };
  /** @type {WheelState["boxes"]} */
  const boxes = [];
  let foreign = false;
  for (let n = hitAt(at.x, at.y); n; n = flatElement(n)) {
    foreign = foreign || tagOf(n) === "iframe" || tagOf(n) === "frame";
    boxes.push({ node: n, left: n.scrollLeft, top: n.scrollTop });
  }
  /** @type {WheelState} */
  const wheel = { boxes, left: scrollX, top: scrollY, foreign, event: null, onWheel: (event) => (wheel.event = wheel.event || event) };
  if (agent.wheel) removeEventListener("wheel", agent.wheel.onWheel, WHEEL_HEARD);
  agent.wheel = wheel;
  addEventListener("wheel", wheel.onWheel, WHEEL_HEARD);
  return at;
}

/** A passive listener does not slow down scrolling. */
const WHEEL_HEARD = { capture: true, passive: true };

/** Returns the scroll distances since beforeWheel. @param {WheelState} wheel */
function wheelDelta(wheel) {
  let x = scrollX - wheel.left, y = scrollY - wheel.top;
  for (const box of wheel.boxes) {
    if (tagOf(box.node) === "html" || tagOf(box.node) === "body") continue;
    x += box.node.scrollLeft - box.left;
    y += box.node.scrollTop - box.top;
  }
  return { x: Math.round(x), y: Math.round(y) };
}

/**
 * The maximum number of frames until the wheel starts to scroll, and the number of unchanged frames after which scrolling
 * has ended.
 */
const WHEEL_BEGINS = 12, WHEEL_RESTS = 3;

/**
 * Resolves with the scroll distances when the scrolling by the wheel has ended. foreign is set if the pointer is over a
 * frame.
 * @param {Agent} agent @param {{patience: number}} request
 */
async function afterWheel(agent, request) {
  const { wheel } = agent;
  if (!wheel) return { x: 0, y: 0 };
  agent.wheel = null;
  const end = performance.now() + request.patience;
  let last = wheelDelta(wheel);
  for (let unchanged = 0; performance.now() < end; ) {
    await nextFrame();
    if (wheel.event !== null && wheel.event.defaultPrevented) break; // the page handles the event, and nothing scrolls
    const now = wheelDelta(wheel);
    unchanged = now.x === last.x && now.y === last.y ? unchanged + 1 : 0;
    last = now;
    if (unchanged >= (last.x || last.y ? WHEEL_RESTS : WHEEL_BEGINS)) break;
  }
  removeEventListener("wheel", wheel.onWheel, WHEEL_HEARD);
  const handled = wheel.event !== null && wheel.event.defaultPrevented;
  return { ...last, foreign: wheel.foreign, handled, view: last.x || last.y ? inView(agent, wheel) : null };
}

/** The distance between the points at which the text of a view is searched, in pixels. */
const VIEW_STEP = 12;
/**
 * The horizontal positions of these points, in order, as shares of the width: in a box from the left, on a page from the
 * middle, because menus are at the sides.
 */
const BOX_COLUMNS = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9], PAGE_COLUMNS = [0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.05, 0.02];
/** The maximum length of a line of a view in an answer, in characters. */
const MAX_IN_VIEW = 40;

/**
 * Returns the visible part of the scrolled box: its first and last line, with their row numbers if a grid, list or feed
 * states them, and whether the end is reached. It returns null if there is no text.
 * @param {Agent} agent @param {WheelState} wheel
 */
function inView(agent, wheel) {
  const scrolled = wheel.boxes.find((box) => !/^(?:html|body)$/.test(tagOf(box.node)) && (box.node.scrollTop !== box.top || box.node.scrollLeft !== box.left));
  const box = scrolled ? scrolled.node : null;
  const rect = box ? safe.rect(box) : new DOMRect(0, 0, innerWidth, innerHeight);
  const top = Math.max(rect.top, 0), bottom = Math.min(rect.bottom, innerHeight);
  const lines = Math.floor((bottom - top) / VIEW_STEP);
  /** @param {number} from @param {number} by */
  const search = (from, by) => {
    for (let i = 0, y = from; i < lines; i++, y += by) {
      for (const part of box ? BOX_COLUMNS : PAGE_COLUMNS) {
        const el = hitAt(Math.max(rect.left, 0) + Math.min(rect.width, innerWidth) * part, y);
        const words = el && (!box || isWithinNode(el, box)) && !isPinned(el, box) ? lineOf(agent, el, box, y) : "";
        if (el && words) return { words, ...(numberOf(el) || numberByPosition(el, scrolled) || { number: 0, total: 0 }) };
      }
    }
    return null;
  };
  const first = search(top + 2, VIEW_STEP), last = search(bottom - 2, -VIEW_STEP);
  if (!first || !last) return null;
  const scroller = box || scrollAccess.scroller(document);
  const end = wheelDelta(wheel).y > 0 && scroller !== null && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
  return { first: first.words, last: last.words, from: first.number, to: last.number, of: last.total, end };
}

/** Whether an element keeps its position while a box, or the page, is scrolled. @param {El} el @param {El | null} box */
function isPinned(el, box) {
  for (let /** @type {El | null} */ n = el, up = 0; n && n !== box && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    if (/^(?:fixed|sticky)$/.test(getComputedStyle(n).position)) return true;
  }
  return false;
}

/** A control that is higher than this many pixels counts as an area, which may have text anywhere. */
const MAX_LINE = 80;

/**
 * Returns the text that is drawn at a height in an element, or on the control that contains it.
 * @param {Agent} agent @param {El} el @param {El | null} box @param {number} y
 */
function lineOf(agent, el, box, y) {
  for (let /** @type {El | null} */ n = el, up = 0; n && n !== box && up < 3; n = flatElement(n), up++) {
    const rec = agent.model.records.get(n);
    if (rec && rec.shown && rec.fields[F_TEXT] && safe.rect(n).height <= MAX_LINE) return clean(rec.fields[F_TEXT], MAX_IN_VIEW);
  }
  if (isTextMasked(el)) return "";
  for (let n = safe.firstChild(el), seen = 0; n && seen < MAX_PARTS; n = safe.nextSibling(n), seen++) {
    if (!isText(n) || !hasText(n.data)) continue;
    const rect = partRect(n);
    if (rect.top <= y + VIEW_STEP && rect.bottom >= y - VIEW_STEP) return clean(reportedWords(el, MAX_IN_VIEW + 1), MAX_IN_VIEW);
  }
  return "";
}

/**
 * Returns the number of the row or item that contains an element, and their total, or 0 for one that the page does not state. It
 * returns null if the page states neither.
 * @param {El} el
 */
function numberOf(el) {
  const item = closestOf(el, "[aria-rowindex],[aria-posinset]");
  if (!item) return null;
  const grid = closestOf(item, "[aria-rowcount]");
  /** @param {string | null} text */
  const counted = (text) => text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
  return {
    number: counted(attr(item, "aria-rowindex") || attr(item, "aria-posinset")),
    total: counted(hasAttr(item, "aria-rowindex") ? grid && attr(grid, "aria-rowcount") : attr(item, "aria-setsize")),
  };
}

/** The minimum number of rendered rows of a virtual list, and the maximum difference of their heights in pixels. */
const MIN_VIRTUAL = 3, MAX_UNEVEN = 1;

/**
 * Returns the number of the row of a virtual list that contains an element, and their total: the box is as high as all rows, but
 * only a few are in the document. It returns null if the rows are not equally high.
 * @param {El} el @param {{node: El} | undefined} scrolled the scrolled box
 */
function numberByPosition(el, scrolled) {
  const box = scrolled && scrolled.node;
  if (!box) return null;
  const start = safe.rect(box).top + box.clientTop - box.scrollTop;
  for (let /** @type {El | null} */ n = el; n && n !== box; n = flatElement(n)) {
    const { top, height } = safe.rect(n), parent = flatElement(n);
    if (!parent || height === 0) continue;
    const rows = childrenOf(parent).filter((row) => Math.abs(safe.rect(row).height - height) <= MAX_UNEVEN);
    if (rows.length < MIN_VIRTUAL) continue;
    const number = (top - start) / height, total = box.scrollHeight / height;
    const even = [number, total].every((at) => Math.abs(at - Math.round(at)) * height <= MAX_UNEVEN);
    return even && total >= 2 * rows.length ? { number: Math.round(number) + 1, total: Math.round(total) } : null;
  }
  return null;
}

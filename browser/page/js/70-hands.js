// What acting needs to know about an element, immediately before the act.

/**
 * Brings an element into view and says where to act on it, or why not.
 * @param {Agent} agent @param {{ref: number, scroll: boolean, focus: boolean, editable: boolean}} request
 * @returns {{error?: string, detail?: string, x?: number, y?: number, w?: number, h?: number, tag?: string, type?: string}}
 */
function locate(agent, request) {
  const rec = agent.model.byRef.get(request.ref);
  if (!rec || !safe.isConnected(rec.node)) return { error: "stale" };
  const el = rec.node;
  const { sight } = agent.model;
  sight.begin();
  sight.x = scrollX;
  sight.y = scrollY;
  if (!sight.isVisible(el, rec.tag)) return { error: "hidden" };
  let rect = sight.rect(el, rec.tag);
  const control = agent.model.stoodFor.get(el) || (rec.control || rec.tag === "button" ? el : null);
  if (control && safe.matches(control, ":disabled")) return { error: "disabled" };
  if (attr(el, "aria-disabled") === "true") return { error: "disabled" };
  if (request.editable) {
    if (!isEditable(el, rec.tag)) return { error: "uneditable" };
    if (el.readOnly) return { error: "readonly" };
  }
  if (request.scroll && !wellInside(rect)) {
    rect = bringIntoView(sight, el, rec.tag);
  }
  if (request.focus) HTMLElement.prototype.focus.call(el, { preventScroll: true });
  const { point, cover } = pointToUse(sight, el, rec.tag, rect);
  const found = { x: point.x, y: point.y, w: rect.width, h: rect.height, tag: rec.tag, type: el.type || "" };
  if (cover && request.scroll) return { ...found, error: "covered", detail: cover };
  return found;
}

/** @param {any} el @param {string} tag */
function isEditable(el, tag) {
  if (tag === "textarea") return true;
  if (tag === "input") return !/^(checkbox|radio|button|submit|reset|image|file|range|color|hidden)$/.test(el.type);
  return el.isContentEditable === true;
}

/** @param {DOMRect} r */
function wellInside(r) {
  return r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
}

/** The middle of the part of the element that is in the viewport. @param {any} el @param {DOMRect} rect */
function pointIn(el, rect) {
  let r = rect;
  for (const part of el.getClientRects()) {
    if (part.width > 0 && part.height > 0) {
      r = part;
      break;
    }
  }
  return middle(r);
}

/**
 * Scrolls an element into view: what it shows itself by, where it has no box of its own. Returns where it is then.
 * @param {Sight} sight @param {any} el @param {string} tag
 */
function bringIntoView(sight, el, tag) {
  let shown = tag === "area" ? sight.imageOf(el) : (isToggle(el, tag) && sight.isTucked(el, tag, safe.rect(el)) && sight.labelOf(el)) || el;
  if (shown === el && el.getClientRects().length === 0) shown = sight.parts(el).find((part) => safe.nodeType(part) === 1 && hasArea(partRect(part))) || safe.parentNode(el);
  Element.prototype.scrollIntoView.call(shown, { block: "center", inline: "center", behavior: "instant" });
  sight.begin();
  sight.x = scrollX;
  sight.y = scrollY;
  const rect = sight.rect(el, tag);
  if (tag !== "area" || wellInside(rect)) return rect;
  scrollBy({ left: rect.left + rect.width / 2 - innerWidth / 2, top: rect.top + rect.height / 2 - innerHeight / 2, behavior: "instant" });
  sight.x = scrollX;
  sight.y = scrollY;
  return sight.rect(el, tag);
}

/**
 * The first point of an element that nothing covers, or else its first point and what covers that.
 * @param {Sight} sight @param {any} el @param {string} tag @param {DOMRect} rect
 */
function pointToUse(sight, el, tag, rect) {
  let first = null;
  for (const point of pointsIn(sight, el, tag, rect)) {
    const cover = coverAt(el, point.x, point.y);
    if (!cover) return { point, cover };
    first = first || { point, cover };
  }
  return first;
}

/** Points to try, the best first, never none. @param {Sight} sight @param {any} el @param {string} tag @param {DOMRect} rect */
function pointsIn(sight, el, tag, rect) {
  if (tag === "area") {
    const image = sight.imageOf(el);
    const shape = image && shapeOf(el, safe.rect(image));
    if (shape && shape.points.length) return shape.points;
  }
  const label = tag === "label" ? el : isToggle(el, tag) && sight.isTucked(el, tag, safe.rect(el)) && sight.labelOf(el);
  if (label) return labelPoints(label);
  const parts = el.getClientRects().length ? [] : sight.parts(el).map(partRect).filter(hasArea).slice(0, 8);
  return parts.length ? parts.map(middle) : [pointIn(el, rect)];
}

/** Points of a label: a link in it may have its middle. @param {any} label */
function labelPoints(label) {
  const points = [];
  for (const r of [...label.getClientRects()].filter(hasArea).slice(0, 8)) {
    const y = middle(r).y;
    points.push(middle(r), { x: r.left + Math.min(4, r.width / 2), y }, { x: r.right - Math.min(4, r.width / 2), y });
  }
  return points.length ? points : [middle(safe.rect(label))];
}

/** @param {DOMRect} r */
function middle(r) {
  const left = Math.max(0, r.left), right = Math.min(innerWidth, r.right);
  const top = Math.max(0, r.top), bottom = Math.min(innerHeight, r.bottom);
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** What would receive a click there instead of the element; empty when the element does. @param {any} el @param {number} x @param {number} y */
function coverAt(el, x, y) {
  let hit = safe.elementFromPoint(document, x, y);
  while (hit && shadowOf(hit)) {
    const inner = shadowOf(hit).elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit) return "nothing (the point is outside the page)";
  let through = true;
  for (let n = hit; n && safe.nodeType(n) === 1; n = flatParent(n)) {
    const tag = tagOf(n);
    if (n === el) {
      if (through || tag !== "label") return "";
      break;
    }
    // A label hands a click on to its control, unless something in the label takes it.
    if (tag === "label" && n.control === el && through) return "";
    if ((INTERACTIVE_TAGS.has(tag) || isEditingHost(n)) && n !== el.control) through = false;
  }
  if (isInlineWrapper(hit, el)) return "";
  const id = attr(hit, "id");
  const cls = (attr(hit, "class") || "").trim().split(/\s+/)[0];
  return clean("<" + tagOf(hit) + (id ? " id=" + id : cls ? " class=" + cls : "") + ">", 100);
}

/** A transparent native control is acted on through the box that is drawn around it. @param {any} hit @param {any} el */
function isInlineWrapper(hit, el) {
  return isToggle(el, tagOf(el)) && hit.contains(el);
}

/**
 * Selects the whole content of an editable element, so that what is typed replaces it.
 * @param {Agent} agent @param {{ref: number}} request
 */
function selectAll(agent, request) {
  const rec = agent.model.byRef.get(request.ref);
  if (!rec || !safe.isConnected(rec.node)) return { error: "stale" };
  if (rec.tag === "input" || rec.tag === "textarea") {
    rec.node.select();
    return { selected: rec.node.value.length > 0 };
  }
  getSelection().selectAllChildren(rec.node);
  return { selected: safe.textContent(rec.node).length > 0 };
}

/**
 * Puts the caret behind the content, so that what is typed is appended.
 * @param {Agent} agent @param {{ref: number}} request
 */
function caretToEnd(agent, request) {
  const rec = agent.model.byRef.get(request.ref);
  if (!rec || !safe.isConnected(rec.node)) return { error: "stale" };
  const el = rec.node;
  if (rec.tag === "input" || rec.tag === "textarea") {
    try {
      el.setSelectionRange(el.value.length, el.value.length);
    } catch {
      // number, date and email inputs have no selection: the caret is where focus put it.
    }
    return {};
  }
  const selection = getSelection();
  selection.selectAllChildren(el);
  selection.collapseToEnd();
  return {};
}

/**
 * Sets the value of an input whose picker takes no text, as the picker would: value, then events.
 * @param {Agent} agent @param {{ref: number, value: string}} request
 */
function setValue(agent, request) {
  const rec = agent.model.byRef.get(request.ref);
  if (!rec || !safe.isConnected(rec.node)) return { error: "stale" };
  rec.node.value = request.value;
  for (const type of ["input", "change"]) rec.node.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  return {};
}

/**
 * Where a child frame's viewport begins in this one.
 * @param {Agent} agent @param {{frame: string}} request
 */
function hostOf(agent, request) {
  for (const rec of agent.model.all) {
    if (agent.model.children.get(rec.node) !== request.frame) continue;
    const rect = safe.rect(rec.node);
    return { x: rect.x + rec.node.clientLeft, y: rect.y + rec.node.clientTop };
  }
  return { error: "hidden" };
}

/**
 * Resolves when the page has produced two frames and its DOM was quiet between them, at the
 * latest after `limit` milliseconds.
 * @param {Agent} agent @param {{limit: number}} request
 * @returns {Promise<{}>}
 */
function settle(agent, request) {
  agent.start();
  const end = performance.now() + request.limit;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({}), request.limit);
    let frames = 0;
    const step = () => {
      const now = performance.now();
      const records = agent.observer.takeRecords();
      if (records.length) agent.mutated(records);
      frames = now - agent.quiet < 20 ? 0 : frames + 1;
      if (frames >= 2 || now >= end) {
        clearTimeout(timer);
        resolve({});
      } else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

/** The title and the HTTP status of the document. */
function about() {
  const [navigation] = performance.getEntriesByType("navigation");
  return { title: clean(safe.title(document), 300), status: (navigation && navigation.responseStatus) || 0 };
}

/** Tells the agent which frame an element holds. @this {any} @param {string} frame */
function adopt(frame) {
  const agent = globalThis.__domtap;
  agent.model.children.set(this, frame);
  const rec = agent.model.recs.get(this);
  if (rec) agent.model.dirty.add(rec);
  agent.schedule();
}

globalThis.__domtapAdopt = adopt;

/** Tells the agent what the browser knows of some nodes. @param {any} what @param {any[]} nodes */
globalThis.__domtapLearn = (what, nodes) => {
  const agent = globalThis.__domtap;
  agent.unseen.learn(what, nodes);
  agent.schedule();
};

globalThis.__domtap = new Agent(document, (message) => {
  const push = globalThis.__domtapPush;
  if (push) push(message);
});

/** The daemon's only way in. @param {string} command @param {any} argument */
globalThis.__domtapCall = (command, argument) => {
  const agent = globalThis.__domtap;
  switch (command) {
    case "read":
      return agent.read(argument);
    case "ack":
      return agent.acknowledge(argument);
    case "observe":
      return agent.observe(argument);
    case "heed":
      return agent.heed(argument);
    case "about":
      return about();
    case "nodes": {
      const nodes = [];
      for (let rec = agent.model.head.next; rec; rec = rec.next) nodes.push(rec.node);
      return nodes;
    }
    case "document":
      return agent.model.doc;
    case "suspects":
      return agent.unseen.suspects();
    case "fresh":
      return agent.fresh();
    case "markup":
      return markupOf(agent);
    case "locate":
      return locate(agent, argument);
    case "selectAll":
      return selectAll(agent, argument);
    case "caretToEnd":
      return caretToEnd(agent, argument);
    case "setValue":
      return setValue(agent, argument);
    case "hostOf":
      return hostOf(agent, argument);
    case "settle":
      return settle(agent, argument);
  }
  throw new Error("domtap: unknown command " + command);
};

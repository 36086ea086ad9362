// @ts-check
// Hit testing finds a point at which an element receives a click, or the node that covers it.
//
// The functions scroll elements into view and read the layout. They keep no state. clickPath decides whether a click on one
// element counts for another: a label, a control in the element, or a box that is drawn for a hidden control.
// Actionability, guard and press use it.

/** The alignments for scrolling an element into view, tried in order while something covers it. */
const SCROLLS = /** @type {const} */ (["center", "end", "start", "center"]);

/** Returns the centre of the part of a box that is in the viewport. @param {DOMRect} r */
function visibleCenter(r) {
  const left = Math.max(0, r.left), right = Math.min(innerWidth, r.right);
  const top = Math.max(0, r.top), bottom = Math.min(innerHeight, r.bottom);
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** Whether a point is in the viewport. @param {Point} p */
function isInView(p) {
  return p.x >= 0 && p.y >= 0 && p.x < innerWidth && p.y < innerHeight;
}

/**
 * Returns the element that is rendered for an element: its image, its label, the element itself or a
 * part of it.
 * @param {Visibility} visibility @param {El} el @param {string} tag @returns {El}
 */
function renderedFor(visibility, el, tag) {
  if (tag === "area") return visibility.imageOf(el) || el;
  const label = isToggle(el, tag) && visibility.isVisuallyHidden(el, safe.rect(el)) && visibility.labelOf(el);
  if (label) return label;
  if (el.getClientRects().length > 0) return el;
  for (const part of visibility.parts(el)) if (isElement(part) && hasArea(partRect(part))) return part;
  return /** @type {El} */ (safe.parentNode(el));
}

/**
 * Scrolls an element into view, in every scroll container. Returns its new box.
 * @param {Visibility} visibility @param {El} el @param {string} tag @param {"center" | "end" | "start"} how
 */
function scrollElementIntoView(visibility, el, tag, how) {
  Element.prototype.scrollIntoView.call(renderedFor(visibility, el, tag), { block: how, inline: how === "center" ? "center" : "nearest", behavior: "instant" });
  refreshVisibility(visibility);
  const rect = visibility.rect(el, tag);
  if (tag !== "area" || isInView(visibleCenter(rect))) return rect;
  scrollBy({ left: rect.left + rect.width / 2 - innerWidth / 2, top: rect.top + rect.height / 2 - innerHeight / 2, behavior: "instant" });
  refreshVisibility(visibility);
  return visibility.rect(el, tag);
}

/**
 * Clears the layout caches, and reads the scroll position.
 * @param {Visibility} visibility
 */
function refreshVisibility(visibility) {
  visibility.begin();
  visibility.x = scrollX;
  visibility.y = scrollY;
}

/**
 * Returns the best point of an element for an action: a point where the element itself receives the click, or else a point
 * where a control in the element does, or else its first point, with the node that covers it.
 * @param {Visibility} visibility @param {El} el @param {string} tag @param {DOMRect} rect
 * @param {Range | null} text the text of the element to act at
 * @returns {ActionPoint} cover is null, a node, or the document if there is no element at the point
 */
function actionPoint(visibility, el, tag, rect, text) {
  /** @type {ActionPoint | null} */
  let inner = null;
  /** @type {ActionPoint | null} */
  let first = null;
  const points = text ? [...text.getClientRects()].filter(hasArea).slice(0, 8).map(visibleCenter) : [];
  for (const point of points.length ? points : pointsIn(visibility, el, tag, rect)) {
    const hit = hitAt(point.x, point.y);
    const path = hit ? clickPath(el, receiverAt(hit, point.x, point.y)) : COVERED;
    if (path === DIRECT) return { point, cover: null };
    if (path === INSIDE && hit && containsTextOf(el, hit)) return { point, cover: null };
    if (path === INSIDE) inner = inner || { point, cover: null };
    first = first || { point, cover: hit || document };
  }
  return inner || /** @type {ActionPoint} */ (first);
}

/**
 * Whether a hit within an element is in a part that contains all its text, such as the button of a column header. The rest
 * of the element, such as a handle, then has another purpose.
 * @param {El} el @param {El} hit
 */
function containsTextOf(el, hit) {
  const words = foldWhiteSpace(safe.textContent(el));
  for (let /** @type {El | null} */ n = hit; n && n !== el; n = flatElement(n)) if (words !== "" && foldWhiteSpace(safe.textContent(n)) === words) return true;
  return false;
}

/** The maximum number of text nodes that are searched for a text. */
const MAX_TEXT_NODES = 2000;

/**
 * Returns the text of an element, in lower case and with collapsed white space, and the position of each character.
 * @param {El} el
 */
function textOfAll(el) {
  /** @type {{node: Text, at: number}[]} */
  const places = []; // of each character

  let said = "";
  let texts = 0;
  for (const node of textsIn(el)) {
    if (texts++ > MAX_TEXT_NODES || said.length > MAX_COMPARED) break;
    const data = node.data.toLowerCase();
    if (data.length !== node.data.length) continue;
    if (said !== "" && !said.endsWith(" ") && isSeparate(places[places.length - 1].node, node)) {
      said += " ";
      places.push(places[places.length - 1]);
    }
    for (let i = 0; i < data.length; i++) {
      const c = /\s/.test(data[i]) ? " " : data[i];
      if (c === " " && (said === "" || said.endsWith(" "))) continue;
      said += c;
      places.push({ node, at: i });
    }
  }
  return { said, places };
}

/**
 * Returns the range of a text in an element, in the flat tree, ignoring case and white space, or null if the element does
 * not render it, such as a text that is only in its name.
 * @param {El} el @param {string} words @returns {Range | null}
 */
function textRange(el, words) {
  const wanted = words.replace(/\s+/g, " ").trim().toLowerCase();
  const { said, places } = textOfAll(el);
  const starts = [];
  for (let at = said.indexOf(wanted); wanted && at >= 0 && starts.length < MAX_FOUND; at = said.indexOf(wanted, at + 1)) starts.push(at);
  // A text node with exactly this text is preferred to a longer one.
  const isWhole = (/** @type {number} */ at) => places[at].node.data.replace(/\s+/g, " ").trim().length === wanted.length;
  starts.sort((a, b) => Number(isWhole(b)) - Number(isWhole(a)));
  for (const at of starts) {
    const first = places[at], last = places[at + wanted.length - 1];
    const range = document.createRange();
    range.setStart(first.node, first.at);
    range.setEnd(last.node, last.at + 1);
    if (isShadow(safe.getRootNode(first.node)) && safe.getRootNode(first.node) !== safe.getRootNode(last.node)) continue;
    if ([...range.getClientRects()].some(hasArea)) return range;
  }
  return null;
}

/** Matches the controls and subitems in a tree item, whose texts are not its title. */
const PARTS_OF_ITEM = "button,input,select,label,[role=button],[role=checkbox],[role=radio],[role=switch],[role=group],[role=treeitem],[aria-hidden=true]";
/** The maximum number of texts of a tree item that are examined. */
const MAX_TITLE_TEXTS = 8;

/**
 * Returns the range of the title of a tree item, its first text with a word, or null. People click the title: the item itself often
 * fills the width of the tree and contains its subitems.
 * @param {El} item
 */
function titleTextOf(item) {
  let seen = 0;
  for (const text of textsIn(item)) {
    if (seen++ >= MAX_TITLE_TEXTS) break;
    const up = flatElement(text);
    if (!up || !hasWord(text.data) || !isWithinNode(up, item) || (closestOf(up, PARTS_OF_ITEM) || item) !== item) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if ([...range.getClientRects()].some(hasArea)) return range;
  }
  return null;
}

/** Yields the drawn text nodes in an element, in the flat tree. @param {El} el @returns {Generator<Text>} */
function* textsIn(el) {
  for (const node of flatNodes(el, tagOf(el))) {
    if (isText(node)) yield node;
    else if (isElement(node) && !/^(script|style|noscript|template)$/.test(tagOf(node))) yield* textsIn(node);
  }
}

/** Whether two texts are separated, because they are in different blocks. @param {Text} a @param {Text} b */
function isSeparate(a, b) {
  const up = flatElement(a), other = flatElement(b);
  /** @param {El | null} n @param {El | null} not */
  const inBlock = (n, not) => {
    for (; n && !isWithinNode(not, n); n = flatElement(n)) if (!/^(inline|contents)/.test(getComputedStyle(n).display)) return true;
    return false;
  };
  return inBlock(up, other) || inBlock(other, up);
}

/** Returns the centre of the first box of a text. @param {Range} text */
function middleOf(text) {
  const r = [...text.getClientRects()].find(hasArea) || text.getBoundingClientRect();
  return { x: r.left + r.width / 2, y: r.top + r.height / 2 };
}

/** Scrolls a text to the middle of its scroll containers. @param {Visibility} visibility @param {Range} text */
function scrollTextIntoView(visibility, text) {
  scrollToFramePoint(/** @type {El} */ (text.startContainer), () => middleOf(text));
  refreshVisibility(visibility);
}

/**
 * Returns the points of an element to try, best first. There is at least one.
 * @param {Visibility} visibility @param {El} el @param {string} tag @param {DOMRect} rect
 */
function pointsIn(visibility, el, tag, rect) {
  if (tag === "area") {
    const image = visibility.imageOf(el);
    const shape = image && shapeOf(el, safe.rect(image));
    if (shape && shape.points.length) return shape.points;
  }
  if (visibility.isTucked(el)) return [visibleCenter(rect)]; // the face, which receives the press for it
  if (tag === "details") return pointsOfDetails(visibility, el, rect);
  const line = SHAPES.has(tag) ? pointsOnLine(el) : [];
  if (line.length) return line;
  const label = tag === "label" ? el : isToggle(el, tag) && visibility.isVisuallyHidden(el, safe.rect(el)) && visibility.labelOf(el);
  const own = [...(label || el).getClientRects()].filter(hasArea).slice(0, 8);
  const boxes = own.length ? own : visibility.parts(el).map(partRect).filter(hasArea).slice(0, 8);
  if (!boxes.length) return [visibleCenter(label ? safe.rect(label) : rect)];
  return [...boxes.map(visibleCenter), ...boxes.slice(0, 2).flatMap(pointsAround)];
}

/**
 * Returns the points at which a click opens or closes a details element: those of its summary, or one in the first line if the
 * browser draws the summary.
 * @param {Visibility} visibility @param {El} el @param {DOMRect} rect @returns {Point[]}
 */
function pointsOfDetails(visibility, el, rect) {
  const summary = summaryOf(el);
  if (summary) return pointsIn(visibility, summary, "summary", safe.rect(summary));
  const { borderTopWidth, paddingTop, lineHeight, fontSize } = getComputedStyle(el);
  const line = parseFloat(lineHeight) || parseFloat(fontSize), top = rect.top + parseFloat(borderTopWidth) + parseFloat(paddingTop);
  return [{ x: visibleCenter(rect).x, y: top + line / 2 }];
}

/** Returns points of a shape that is drawn as a line, not filled. @param {El} el */
function pointsOnLine(el) {
  const shape = /** @type {SVGGeometryElement} */ (/** @type {unknown} */ (el)), { fill, stroke } = getComputedStyle(el);
  const matrix = (fill === "none" || tagOf(el) === "line") && stroke !== "none" ? shape.getScreenCTM() : null;
  if (!matrix) return [];
  const length = shape.getTotalLength();
  return [0.5, 0.4, 0.6, 0.25, 0.75].map((part) => {
    const { x, y } = shape.getPointAtLength(part * length).matrixTransform(matrix);
    return { x, y };
  });
}

/** @type {(el: El) => DOMRectList} */
const rectsOf = method(Element, "getClientRects");

/**
 * Returns the centre of an element's only box, or else of its first part.
 * @param {Visibility} visibility @param {El} el @param {string} tag @param {DOMRect} rect
 */
function centerOf(visibility, el, tag, rect) {
  const own = tag === "area" || tag === "label" || isToggle(el, tag) || visibility.isTucked(el) ? [] : [...rectsOf(el)].filter(hasArea);
  if (own.length === 1) return { x: own[0].left + own[0].width / 2, y: own[0].top + own[0].height / 2 };
  return pointsIn(visibility, el, tag, rect)[0];
}

/**
 * Returns more points of a box: between its middle and its sides, and close to its corners.
 * @param {DOMRect} r
 */
function pointsAround(r) {
  const m = visibleCenter(r);
  const left = Math.max(0, r.left), right = Math.min(innerWidth, r.right);
  const top = Math.max(0, r.top), bottom = Math.min(innerHeight, r.bottom);
  const dx = Math.min(4, (right - left) / 2), dy = Math.min(4, (bottom - top) / 2);
  return [
    { x: left + dx, y: m.y }, { x: right - dx, y: m.y }, { x: m.x, y: top + dy }, { x: m.x, y: bottom - dy },
    { x: left + dx, y: top + dy }, { x: right - dx, y: bottom - dy }, { x: right - dx, y: top + dy }, { x: left + dx, y: bottom - dy },
  ];
}

/** Returns the innermost element at a point, including shadow trees. @param {number} x @param {number} y */
function hitAt(x, y) {
  const hit = safe.elementFromPoint(document, x, y);
  return hit && innermostAt(hit, x, y);
}

/** @type {(doc: Document, x: number, y: number) => El[]} */
const elementsAt = method(Document, "elementsFromPoint");

/**
 * Returns the innermost element at a point, ignoring an element and its content.
 * @param {El | null} without @param {number} x @param {number} y
 */
function hitWithout(without, x, y) {
  if (without === null) return hitAt(x, y);
  for (const hit of elementsAt(document, x, y)) {
    if (isWithinNode(hit, without)) continue;
    const inner = innermostAt(hit, x, y);
    return isWithinNode(inner, without) ? hit : inner;
  }
  return null;
}

/**
 * Returns the innermost element at a point in the shadow trees of an element there.
 * @param {El} hit @param {number} x @param {number} y
 */
function innermostAt(hit, x, y) {
  for (let root = shadowOf(hit); root; root = shadowOf(hit)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

/**
 * Returns the element at which a press at a point starts. If the hit test returns a host because its own text is drawn
 * at the point, the result is the slot of the text, from which the press propagates through the shadow tree.
 * @param {El} hit @param {number} x @param {number} y
 */
function receiverAt(hit, x, y) {
  if (!shadowOf(hit)) return hit;
  for (let n = safe.firstChild(hit), seen = 0; n && seen < MAX_PARTS; n = safe.nextSibling(n), seen++) {
    const slot = isText(n) && hasText(n.data) ? slotOf(n) : null;
    if (slot && isTextAt(/** @type {Text} */ (n), x, y) && getComputedStyle(slot).pointerEvents !== "none") return slot;
  }
  return hit;
}

/** Whether a text is drawn at a point. @param {Text} text @param {number} x @param {number} y */
function isTextAt(text, x, y) {
  const range = new Range();
  range.selectNodeContents(text);
  return [...range.getClientRects()].some((r) => x >= r.left && x <= r.right && y >= r.top && y <= r.bottom);
}

const DIRECT = 0, INSIDE = 1, COVERED = 2;

/**
 * Returns how a click on `hit` reaches an element: DIRECT; INSIDE, if a control in the element handles the click itself; or
 * COVERED, if it does not.
 * @param {El} el @param {El} hit @param {boolean} [hidden] whether the element is a control that is not drawn itself
 */
function clickPath(el, hit, hidden) {
  if (tagOf(el) === "label" && hit === el.control) return DIRECT;
  let through = true;
  for (let /** @type {El | null} */ n = hit; n; n = flatElement(n)) {
    const tag = tagOf(n);
    if (n === el) return through ? DIRECT : tag === "label" ? COVERED : INSIDE;
    // The browser also dispatches a click on a label to its control, unless a control in the label handled it.
    if (tag === "label" && through && n.control === el) return DIRECT;
    if ((INTERACTIVE_TAGS.has(tag) || isEditingHost(n) || INTERACTIVE_ROLES.has(explicitRole(n))) && n !== el.control) through = false;
  }
  if (tagOf(el) === "area" && tagOf(hit) === "img" && hasAttr(hit, "usemap")) return DIRECT;
  // A transparent native control receives clicks through the box that is drawn around it.
  if (isToggle(el, tagOf(el)) && (isBoxAround(el, hit, hidden ?? !isDrawn(el)) || drawsToggleBeside(el, hit))) return DIRECT;
  if (isPressedThrough(el, hit) || isOnOwnCover(el, hit)) return DIRECT;
  return isOnFace(el, hit, hidden) ? INSIDE : COVERED;
}

/** Whether an element handles clicks itself. @param {El} el */
function hasClickListener(el) {
  return hasAttr(el, "onclick") || isClickable(el);
}

/** The maximum number of levels between a text and the box that receives its click. */
const MAX_COVERED_DEPTH = 4;

/**
 * Whether a hit covers a text and belongs to the same box, such as a drag handle over a whole item: an empty element in a
 * box with no other text and no control. The box then receives the click. Elements that handle clicks themselves are
 * excluded.
 * @param {El} el @param {El} hit
 */
function isOnOwnCover(el, hit) {
  if (hasClickListener(el) || hasClickListener(hit) || INTERACTIVE_TAGS.has(tagOf(el)) || isEditingHost(el) || INTERACTIVE_ROLES.has(explicitRole(el)) || safe.matches(hit, CONTROLS) || INTERACTIVE_ROLES.has(explicitRole(hit))) return false;
  const words = foldWhiteSpace(safe.textContent(el));
  if (words === "" || hasText(safe.textContent(hit))) return false;
  let n = flatElement(el);
  for (let up = 0; n && up < MAX_COVERED_DEPTH && !/^(?:html|body)$/.test(tagOf(n)); n = flatElement(n), up++) {
    if (foldWhiteSpace(safe.textContent(n)) !== words || firstWithin(n, CONTROLS)) return false;
    if (n !== hit && isWithinNode(hit, n)) return true;
    if (hasClickListener(n)) return false; // the click does not pass it
  }
  return false;
}

/**
 * Whether a press is on the face of a combobox, such as the choices and the arrow beside its transparent field, or on the editor whose keys
 * a field receives, and on no control in it. Such a press opens the combobox, or sets the caret.
 * @param {El} el @param {El} hit @param {boolean} [hidden] whether the combobox is not drawn itself
 */
function isOnFace(el, hit, hidden) {
  const tag = tagOf(el);
  const tucked = isInHidingBox(el), editor = editorOf(el);
  if (!editor && (!(isCombo(el) || tucked) || !mayHaveFace(el, tag) || !(tucked || (hidden ?? !isDrawn(el))))) return false;
  const face = editor || faceOf(el);
  for (let /** @type {El | null} */ n = face && hit; n; n = flatElement(n)) {
    if (n === face) return true;
    if (INTERACTIVE_TAGS.has(tagOf(n)) || isEditingHost(n) || INTERACTIVE_ROLES.has(explicitRole(n))) return false;
  }
  return false;
}

/** Whether an element is directly in a box whose only purpose is to hide it. @param {El} el */
function isInHidingBox(el) {
  const box = flatElement(el);
  return box !== null && isTuckedAway(el, box) && isCollapsedBox(box);
}

/**
 * Whether a click on the surroundings operates an element with pointer-events: none: a field by its face, a placeholder by
 * the face of its field, or the only control of a shadow tree by its host.
 * @param {El} el @param {El} hit
 */
function isPressedThrough(el, hit) {
  if (el === hit || getComputedStyle(el).pointerEvents !== "none" || !isWithinNode(el, hit) || NO_FACES.has(tagOf(hit))) return false;
  const root = safe.getRootNode(el);
  if (isShadow(root) && root.host === hit) return [...root.querySelectorAll(CONTROLS)].every((other) => other === el || other.type === "hidden") && !safe.matches(el, ":disabled");
  if (safe.matches(el, FACED)) return isOnlyControl(el, hit);
  if (safe.matches(el, CONTROLS) || attr(el, "aria-disabled") === "true" || firstWithin(el, CONTROLS)) return false;
  const fields = safe.matches(hit, PLACEHOLDER_FIELDS) ? [hit] : queryWithin(hit, PLACEHOLDER_FIELDS);
  return fields.length === 1 && isOnlyControl(fields[0], hit);
}

/** Matches the fields that a placeholder may represent. */
const PLACEHOLDER_FIELDS = FACED + ",[role=combobox],[role=textbox],[tabindex='0']";

/** Whether a box contains no other control. @param {El} el @param {El} box */
function isOnlyControl(el, box) {
  return [...queryWithin(box, CONTROLS)].every((other) => other === el);
}

/** Matches controls. A box that is drawn for a control contains no other control. */
const CONTROLS = "a[href],button,input:not([type=hidden]),select,textarea";

/** Whether an element is drawn itself, and can be clicked there. @param {El} el */
function isDrawn(el) {
  const rect = safe.rect(el);
  const { pointerEvents, clip, clipPath } = getComputedStyle(el);
  return safe.checkVisibility(el, VISIBLE) && rect.width > 1 && rect.height > 1 && pointerEvents !== "none" && clip === "auto" && clipPath === "none" && isInView(visibleCenter(rect));
}

/**
 * Whether an element is the box that is drawn for exactly one visually hidden control in it.
 * @param {El} el the control @param {El} hit @param {boolean} hidden whether the control is not drawn itself
 */
function isBoxAround(el, hit, hidden) {
  if (!hidden || !safe.contains(hit, el) || /^(html|body)$/.test(tagOf(hit))) return false;
  return isOnlyControl(el, hit);
}

/**
 * Whether an element draws the transparent toggle beside it, in a box for both. The page handles the click in that box or around it.
 * @param {El} toggle @param {El} hit
 */
function drawsToggleBeside(toggle, hit) {
  const box = flatElement(toggle);
  if (!box || hit === box || !safe.contains(box, hit) || getComputedStyle(toggle).opacity !== "0") return false;
  return !hasText(safe.textContent(box)) && isOnlyControl(toggle, box) && !firstWithin(box, "[tabindex],[role=button]");
}

/**
 * Returns the node that would receive a click at a point instead of the element, or "" if the element does.
 * @param {El} el @param {number} x @param {number} y
 */
function obscuredBy(el, x, y) {
  const hit = hitAt(x, y);
  if (!hit) return "nothing (the point is outside the page)";
  return clickPath(el, receiverAt(hit, x, y)) === COVERED ? describeNode(hit) : "";
}

/** Returns the tag of an element with its id or class, for a message. @param {El} node */
function describeNode(node) {
  const id = attr(node, "id");
  const cls = (attr(node, "class") || "").trim().split(/\s+/)[0];
  return clean("<" + tagOf(node) + (id ? " id=" + id : cls ? " class=" + cls : "") + ">", 100);
}

/**
 * Describes the node that covers an element, for a message: the dialog or control around the hit, with its ref.
 * @param {Agent} agent @param {El | Document} hit @param {El | null} el the element, if there is one
 * @returns {{detail: string, ref?: number}}
 */
function describeObstacle(agent, hit, el) {
  if (isDocument(hit)) return { detail: "nothing: it cannot be scrolled into view" };
  const model = agent.model;
  const modal = openModal(document, model.sweep.shadows);
  const cover = modal && !isWithinNode(el, modal) && (isWithinNode(hit, modal) || /^(html|body)$/.test(tagOf(hit))) ? modal : controlAround(model, hit, el);
  if (!cover) return { detail: (isWithinNode(el, hit) ? "its container, " : "") + describeNode(hit) };
  const tag = tagOf(cover);
  const role = roleOf(cover, tag, explicitRole(cover));
  const name = clean(model.naming.name(cover, tag, role), MAX_NAME) || clean(reportedWords(cover, 80), 40);
  const rec = model.records.get(cover);
  const detail = (role === "generic" || role === "none" ? describeNode(cover) : role) + (name ? ' "' + name + '"' : "");
  return rec && rec.ref >= 0 && rec.sent ? { detail, ref: rec.ref } : { detail };
}

/**
 * Whether a node is `outer` or in it, in the flat tree.
 * @param {DomNode | null} node @param {Node} outer
 */
function isWithinNode(node, outer) {
  for (let /** @type {DomNode | null} */ n = node, up = 0; n && up < 4 * MAX_ANCESTORS; n = flatParent(n), up++) if (n === outer) return true;
  return false;
}

/**
 * Returns the dialog, or else the control, that contains a node but not the element.
 * @param {Model} model @param {El} hit @param {El | null} el
 */
function controlAround(model, hit, el) {
  /** @type {El | null} */
  let control = null;
  for (let /** @type {El | null} */ n = hit; n && !isWithinNode(el, n); n = flatElement(n)) {
    const role = roleOf(n, tagOf(n), explicitRole(n));
    if (role === "dialog" || role === "alertdialog" || hasAttr(n, "popover")) return n;
    const rec = model.records.get(n);
    if (!control && rec && rec.shown) control = n;
  }
  return control;
}

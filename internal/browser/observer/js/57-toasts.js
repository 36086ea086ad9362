// @ts-check
// Toasts are texts that appear over the page without a role that identifies them.
//
// The functions find the box that a change belongs to, and decide whether that box is a toast. They keep no state; Notices
// (58-notices.js) knows the earlier boxes. Menus, lists, forms and boxes that fill the viewport are not toasts, because
// their content is listed as elements.

/** The number of levels up and down the flat tree in which the box of a change is searched. */
const MAX_BOX_ANCESTORS = 8, MAX_BOX_DESCENDANTS = 12;
/** The largest share of the viewport that a toast covers, and that a toast covers whose box itself did not change. */
const TOAST_SHARE = 0.4, DEEP_TOAST_SHARE = 0.15;
/** The maximum number of links and buttons in a toast. */
const MAX_TOAST_CONTROLS = 3;
const TOAST_ROLES = new Set(["", "none", "presentation", "generic", "group", "region", "note"]);
const TOASTLESS_TAGS = new Set(["nav", "header", "footer", "main", "label", "legend", "a", "button", "form", "table", "ul", "ol", "body", "html", "dialog"]);
/** Matches content that no toast contains. */
const TOASTLESS = "input,select,textarea,table,ul,ol,form,nav,iframe,[role=menu],[role=listbox],[role=option],[role=menuitem],[role=tooltip],[role=grid],[role=tree]";

/** Whether an element is out of the flow. @param {El} el */
function isFloating(el) {
  return /^(fixed|absolute)$/.test(getComputedStyle(el).position) || isInTopLayer(el);
}

/**
 * Returns the box out of the flow that contains a node, or that an added element contains, or null if there is none.
 * @param {El} el @param {boolean} added
 */
function floatingBox(el, added) {
  for (let /** @type {El | null} */ n = el, up = 0; n && up < MAX_BOX_ANCESTORS; n = flatElement(n), up++) {
    if (tagOf(n) === "body") break;
    if (isFloating(n)) return n;
  }
  if (!added) return null;
  const inner = queryWithin(el, "*");
  for (let i = 0; i < inner.length && i < MAX_BOX_DESCENDANTS; i++) if (isFloating(inner[i])) return inner[i];
  return null;
}

/** Whether a box is drawn, and in view. @param {El} box */
function isVisibleInView(box) {
  if (!safe.isConnected(box) || !safe.checkVisibility(box, VISIBLE)) return false;
  const r = safe.rect(box);
  return hasArea(r) && isInViewport(r);
}

/** The maximum number of elements of a box whose cursor is read. */
const MAX_TOAST_PARTS = 60;

/** Whether a box may be a toast, by its style and content. @param {El} box @param {number} share of the viewport */
function isToastLike(box, share) {
  if (!TOAST_ROLES.has(explicitRole(box)) || TOASTLESS_TAGS.has(tagOf(box))) return false;
  const { width, height } = safe.rect(box);
  if (width * height > share * innerWidth * innerHeight) return false;
  const style = getComputedStyle(box);
  const parent = box.offsetParent;
  if (style.position === "absolute" && !(Number(style.zIndex) > 0) && parent && tagOf(parent) !== "body" && tagOf(parent) !== "html") return false;
  for (let /** @type {El | null} */ n = box, up = 0; n && up < MAX_ANCESTORS; n = flatElement(n), up++) {
    if (isLiveRegion(n) || isDialogSource(n)) return false;
  }
  if (firstWithin(box, TOASTLESS) || holdsOffer(box) || [...queryWithin(box, SOURCES)].some((el) => isLiveRegion(el) || isDialogSource(el))) return false;
  return queryWithin(box, "a[href],button,[role=button]").length <= MAX_TOAST_CONTROLS && countPointers(box) <= MAX_TOAST_CONTROLS;
}

/**
 * Returns how many elements near the start of a box set cursor: pointer themselves, as custom controls do.
 * @param {El} box
 */
function countPointers(box) {
  const inside = queryWithin(box, "*");
  let pointers = 0;
  for (let i = 0; i < inside.length && i < MAX_TOAST_PARTS; i++) {
    if (isPointerCursor(getComputedStyle(inside[i]).cursor) && !isPointerCursor(getComputedStyle(/** @type {El} */ (flatElement(inside[i]))).cursor)) pointers++;
  }
  return pointers;
}

/** Returns the text of a toast, or "" if it is not a message. @param {El} box */
function toastText(box) {
  const text = noticeText(box, MAX_NOTICE);
  return text.length >= 3 && hasLetter(text) ? text : "";
}

/**
 * Returns the boxes out of the flow near the top of the document, with their texts, as a baseline. Deeper boxes are not
 * searched, because each costs a style.
 * @param {Document} doc @returns {Map<El, string>}
 */
function floatingBoxes(doc) {
  const found = new Map();
  const body = doc.body && safe.querySelector(doc, "body");
  if (!body) return found;
  let left = MAX_FLOATS;
  for (let c = safe.firstElementChild(body); c && left > 0; c = safe.nextElementSibling(c)) {
    left = addFloat(c, found, left);
    for (let d = safe.firstElementChild(c); d && left > 0; d = safe.nextElementSibling(d)) left = addFloat(d, found, left);
  }
  return found;
}
const MAX_FLOATS = 100;

/** @param {El} el @param {Map<El, string>} found @param {number} left */
function addFloat(el, found, left) {
  if (!NO_MESSAGE.has(tagOf(el)) && isFloating(el) && safe.checkVisibility(el, VISIBLE)) found.set(el, noticeText(el, MAX_NOTICE));
  return left - 1;
}

/** Whether floatingBoxes would have found a box. @param {El} box */
function isNearTop(box) {
  const parent = safe.parentNode(box), above = parent && safe.parentNode(parent);
  return [parent, above].some((n) => n && isElement(n) && tagOf(n) === "body");
}

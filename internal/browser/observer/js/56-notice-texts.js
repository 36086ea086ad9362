// @ts-check
// Functions that find what a person would notice: live regions, dialogs, invalid fields, headings, busy indicators and
// toasts, and the text of each.
//
// The functions read the document and keep no state. Notices (58-notices.js) compares their results with the earlier
// results. All work is bounded, because the page controls the number of such elements and their text.

/**
 * Matches the elements that may cause a notice (sources), except invalid fields without an attribute. Their roles and
 * states are checked later, so that the query stays simple.
 */
const SOURCES = '[role~="alert" i],[role~="status" i],[role~="log" i],[aria-live],output,' +
  'dialog,[role~="dialog" i],[role~="alertdialog" i],[aria-modal="true" i],[popover],' +
  '[aria-invalid],h1,h2,h3,[role~="heading" i],[aria-busy="true" i],progress,[role~="progressbar" i]';
/**
 * The maximum number of sources that are read per tree, and the maximum number of fields that are
 * searched for secrets.
 */
const MAX_SOURCES = 1000;
/** The maximum length of a text, and of a name or label, in characters. */
const MAX_NOTICE = 300, MAX_LABEL = 80;
/** The maximum number of nodes that are read for a text. */
const MAX_NOTICE_NODES = 400;
/** Elements whose content is not part of the surrounding message. */
const NO_MESSAGE = new Set([
  "script", "style", "template", "head", "noscript", "input", "select", "textarea", "button", "iframe", "svg", "object",
  "video", "audio", "canvas", "datalist",
]);
/** Headings of level 1 to 3. */
const MAIN_HEADINGS = new Set(["h1", "h2", "h3"]);
const LIVE_KINDS = new Map([["alert", "alert"], ["status", "status"], ["log", "log"]]);
const DIALOG_ROLES = new Set(["dialog", "alertdialog"]);
/** Roles of popovers that are not dialogs, because they contain choices, not messages. */
const OFFERING_ROLES = new Set(["menu", "menubar", "listbox", "tree", "grid", "tooltip", "combobox"]);

/**
 * Returns the kind of a live region: "alert", "status" or "log". It returns "" for other elements. A dialog with aria-live
 * is a dialog.
 * @param {El} el
 */
function liveKind(el) {
  if (DIALOG_ROLES.has(explicitRole(el))) return "";
  const role = LIVE_KINDS.get(explicitRole(el)) || "";
  const live = (attr(el, "aria-live") || "").trim().toLowerCase();
  if (live === "off") return "";
  if (live === "assertive" && role !== "log") return "alert";
  if (role !== "") return role;
  if (live === "polite" || live === "assertive") return "status";
  return tagOf(el) === "output" && explicitRole(el) === "" ? "status" : "";
}

/** Whether an element is a dialog or popover, open or not. @param {El} el */
function isDialogSource(el) {
  const role = explicitRole(el);
  if (DIALOG_ROLES.has(role)) return true;
  if (OFFERING_ROLES.has(role) || liveKind(el) !== "") return false;
  if (tagOf(el) === "dialog" || (attr(el, "aria-modal") || "").toLowerCase() === "true") return true;
  return hasAttr(el, "popover") && !holdsOffer(el);
}

/** The maximum number of elements of a popover that are searched for choices. */
const MAX_OFFER_NODES = 30;

/** Whether the whole text of a box is in a menu, a list of options or a similar widget. @param {El} box */
function holdsOffer(box) {
  /** @type {(El | Text)[]} */
  const stack = [box];
  for (let seen = 0; stack.length && seen < MAX_OFFER_NODES; seen++) {
    const node = /** @type {El | Text} */ (stack.pop());
    if (isText(node)) {
      if (hasText(node.data)) return false; // words before the widget
      continue;
    }
    const tag = tagOf(node);
    if (node !== box && OFFERING_ROLES.has(explicitRole(node))) return noticeText(box, MAX_NOTICE) === noticeText(node, MAX_NOTICE);
    if (!NO_MESSAGE.has(tag)) stack.push(...flatNodes(node, tag).slice(0, MAX_OFFER_NODES).reverse());
  }
  return false;
}

/** Whether a dialog or popover is open and drawn. @param {El} el */
function isDialogOpen(el) {
  if (tagOf(el) === "dialog" && !hasAttr(el, "open")) return false;
  return safe.isConnected(el) && safe.checkVisibility(el, VISIBLE);
}

/** Whether the page or the browser marks a field as invalid. @param {El} el */
function isInvalidField(el) {
  const stated = attr(el, "aria-invalid");
  if (stated !== null) return stated !== "" && stated.toLowerCase() !== "false";
  return safe.matches(el, ":user-invalid");
}

/** Whether an element is a heading of level 1 to 3. @param {El} el */
function isMainHeading(el) {
  const role = explicitRole(el), tag = tagOf(el);
  if (role !== "heading" && (role !== "" || !MAIN_HEADINGS.has(tag))) return false;
  return Number(levelOf(el, tag, "heading")) <= 3;
}

/** Whether an element shows that work is in progress, by aria-busy or as a progress bar that is not full. @param {El} el */
function isBusySource(el) {
  return (attr(el, "aria-busy") || "").toLowerCase() === "true" || (isProgressBar(el) && !(shareOf(el) >= 1));
}

/** @param {El} el */
function isProgressBar(el) {
  return tagOf(el) === "progress" || explicitRole(el) === "progressbar";
}

/** Whether an element is a progress bar that is full. @param {El} el */
function isFullBar(el) {
  return isProgressBar(el) && shareOf(el) >= 1 && safe.checkVisibility(el, VISIBLE);
}

/** Returns the filled share of a progress bar, from 0 to 1, or NaN if it is unknown. @param {El} bar */
function shareOf(bar) {
  const native = tagOf(bar) === "progress";
  const now = parseFloat(attr(bar, native ? "value" : "aria-valuenow") || "");
  return now / parseFloat(attr(bar, native ? "max" : "aria-valuemax") || (native ? "1" : "100"));
}

/**
 * Returns the text of an element as a person reads it: the visible text, masked where needed, with collapsed white space.
 * It excludes the text of fields and buttons.
 * @param {El} root @param {number} most
 * @param {((el: El) => boolean) | null} [skip] selects elements to leave out
 */
function noticeText(root, most, skip) {
  if (isTextMasked(root)) return hasText(safe.textContent(root)) ? MASK : "";
  if (isOnlyText(root)) return clean(safe.textContent(root), most);
  return textOfNodes(flatNodes(root, tagOf(root)), most, skip);
}

/**
 * Returns the same text for consecutive nodes.
 * @param {(El | Text)[]} nodes @param {number} most @param {((el: El) => boolean) | null} [skip]
 */
function textOfNodes(nodes, most, skip) {
  const out = new TextFolder(2 * most);
  /** @type {(El | Text | null)[]} */
  const stack = nodes.slice().reverse();
  for (let seen = 0; stack.length && seen < MAX_NOTICE_NODES && !out.isFull; seen++) {
    const node = /** @type {El | Text | null} */ (stack.pop());
    if (node === null) {
      out.add(" "); // the end of a block
    } else if (isText(node)) {
      out.add(node.data);
    } else if (isRead(node) && !(skip && skip(node))) {
      if (isTextMasked(node)) {
        out.add(MASK);
        continue;
      }
      const tag = tagOf(node);
      if (!PHRASING.has(tag) || isApart(node, tag)) {
        out.add(" ");
        stack.push(null);
      }
      const nodes = flatNodes(node, tag);
      for (let i = Math.min(nodes.length, MAX_NOTICE_NODES) - 1; i >= 0; i--) stack.push(nodes[i]);
    }
  }
  return clean(out.finish(), most);
}

/** Whether an element contains only text, as most headings do, so that its text needs no walk. @param {El} el */
function isOnlyText(el) {
  const tag = tagOf(el);
  return tag !== "slot" && !NO_MESSAGE.has(tag) && !hasElements(el);
}

/** Whether the content of an element is read as text. @param {El} el */
function isRead(el) {
  const tag = tagOf(el);
  if (NO_MESSAGE.has(tag) || (hasAttr(el, "role") && explicitRole(el) === "button")) return false;
  return tag === "slot" || safe.checkVisibility(el, VISIBLE) || getComputedStyle(el).display === "contents";
}

/** Whether an element is a live region. @param {El} el */
function isLiveRegion(el) {
  return liveKind(el) !== "";
}

/**
 * Returns the texts of a live region, one for each child. Where children come and go, the new children are the message.
 * Nested regions are reported separately.
 * @param {El} region @returns {string[]}
 */
function regionTexts(region) {
  if (!safe.checkVisibility(region, VISIBLE)) return [];
  const children = entriesOf(region);
  if (isTextMasked(region) || children.length > MAX_NOTICE_NODES || !children.some(isElement)) return filled([noticeText(region, MAX_NOTICE, isLiveRegion)]);
  const out = [];
  for (const child of children) {
    if (isText(child)) out.push(clean(child.data, MAX_NOTICE));
    else if (isRead(child) && !isLiveRegion(child)) out.push(noticeText(child, MAX_NOTICE, isLiveRegion));
  }
  return filled(out);
}

/** Returns the child nodes of a region, or the child nodes of its only list or box. @param {El} region */
function entriesOf(region) {
  let nodes = flatNodes(region, tagOf(region));
  for (let down = 0; down < MAX_PHRASES; down++) {
    const said = nodes.filter((node) => isElement(node) || hasText(node.data)), only = said[0];
    if (said.length !== 1 || !isElement(only) || isLiveRegion(only) || isTextMasked(only) || !isRead(only)) break;
    nodes = flatNodes(only, tagOf(only));
  }
  return nodes;
}

/** A live region with this many elements or characters is a part of the page instead of a message. */
const PART_NODES = 60, PART_TEXT = 300;
/** Matches content that occurs in parts of a page but not in messages. */
const PART_HOLDS = "main,nav,form,table,h1,[role=grid],[role=table],[role=main]";

/**
 * Whether a live region is a part of the page, such as a live table or a long chat. Changes in it are reported like
 * changes of other text.
 * @param {El} region @param {string} kind
 */
function isPartOfPage(region, kind) {
  if (kind === "alert") return false;
  return firstWithin(region, PART_HOLDS) !== null || queryWithin(region, "*").length >= PART_NODES || safe.textContent(region).length > 4 * PART_TEXT ||
    noticeText(region, PART_TEXT + 1).length > PART_TEXT;
}

/** @param {string[]} texts */
function filled(texts) {
  return texts.filter((text) => text !== "");
}

/**
 * Returns the name of a dialog: its accessible name, or else its first heading.
 * @param {Naming} naming @param {El} dialog
 */
function dialogName(naming, dialog) {
  const tag = tagOf(dialog);
  const name = naming.name(dialog, tag, explicitRole(dialog) || "dialog");
  if (name) return name;
  for (const heading of queryWithin(dialog, "h1,h2,h3,h4,h5,h6,[role=heading]")) {
    const text = safe.checkVisibility(heading, VISIBLE) ? noticeText(heading, MAX_LABEL) : "";
    if (text) return text;
  }
  return "";
}

/** Returns the text of the elements of an IDREF list. @param {El} el @param {string} attribute */
function referencedText(el, attribute) {
  const ids = attr(el, attribute);
  if (!ids) return "";
  const out = [];
  for (const id of ids.trim().split(/\s+/, 4)) {
    const other = elementOf(treeOf(el), id);
    if (other && safe.checkVisibility(other, VISIBLE)) out.push(noticeText(other, MAX_NOTICE));
  }
  return clean(filled(out).join(" "), MAX_NOTICE);
}

/**
 * Returns why a field is invalid, in the words of the page, or else of the browser. The browser states the length of a
 * value in brackets, which are left out for secrets.
 * @param {El} el
 */
function invalidMessage(el) {
  const stated = attr(el, "aria-invalid") !== null;
  const own = referencedText(el, "aria-errormessage") || (stated && referencedText(el, "aria-describedby"));
  if (own) return own;
  let message = clean(el.validationMessage || "", MAX_NOTICE);
  if (!isSecret(el) && !isValueMasked(el)) return message;
  if (typeof el.value === "string" && el.value) message = message.replaceAll(el.value, MASK);
  return message.replace(/ ?\([^)]*\)/g, "");
}

/**
 * Returns a text without the secrets of the fields in its tree, because a page may print them.
 * @param {Document} doc @param {Iterable<Shadow>} shadows @param {string} text
 */
function withoutSecrets(doc, shadows, text) {
  for (const tree of [doc, ...shadows]) {
    const fields = inTree(tree, "input,textarea");
    for (let i = 0; i < fields.length && i < MAX_SOURCES; i++) {
      const { value } = fields[i];
      if (typeof value !== "string" || value.length < SECRET_WITHIN || !isSecret(fields[i])) continue;
      const held = foldedSecret(value);
      if (held) text = text.replaceAll(held, MASK);
    }
  }
  return text;
}

/** Returns the text of a busy indicator. @param {Naming} naming @param {El} el */
function busyText(naming, el) {
  const role = explicitRole(el);
  return naming.name(el, tagOf(el), role || "progressbar") || clean(reportedAria(el, "aria-valuetext") || "", MAX_LABEL) ||
    noticeText(el, MAX_LABEL) || ((attr(el, "aria-busy") || "").toLowerCase() === "true" ? "loading" : "progress bar");
}

/** Returns the progress of a busy indicator in percent, or "" if it is unknown. @param {El} el */
function busyShare(el) {
  const share = isProgressBar(el) ? shareOf(el) : NaN;
  return share >= 0 ? Math.floor(100 * share) + " %" : "";
}

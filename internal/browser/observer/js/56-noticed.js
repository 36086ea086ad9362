// @ts-check
// What a person would notice: which elements are live regions, dialogs, invalid fields, headings or
// signs of work, whether a box is a toast, and the text of each.
//
// The functions read the document and keep nothing. Notices (58-notices.js) compares what they
// return with what they returned before. Everything here is bounded: the page decides how many such
// elements there are, and what they say.

/**
 * The elements that may say something: one query finds all of them, but for invalid fields without
 * an attribute. Their roles and states are checked afterwards, so that the query stays simple.
 */
const SOURCES = '[role~="alert" i],[role~="status" i],[role~="log" i],[aria-live],output,' +
  'dialog,[role~="dialog" i],[role~="alertdialog" i],[aria-modal="true" i],[popover],' +
  '[aria-invalid],h1,h2,h3,[role~="heading" i],[aria-busy="true" i],progress,[role~="progressbar" i]';
/** How many of them are read in one tree, and how many fields are searched for secrets. */
const MAX_SOURCES = 1000;
/** How many characters of a text, of a name and of a label are reported. */
const MAX_NOTICE = 300, MAX_LABEL = 80;
/** How many nodes are read for a text. */
const MAX_NOTICE_NODES = 400;
/** Elements whose content is not text of the message around them. */
const NO_MESSAGE = new Set([
  "script", "style", "template", "head", "noscript", "input", "select", "textarea", "button", "iframe", "svg", "object",
  "video", "audio", "canvas", "datalist",
]);
/** Headings of level 1 to 3. */
const MAIN_HEADINGS = new Set(["h1", "h2", "h3"]);
const LIVE_KINDS = new Map([["alert", "alert"], ["status", "status"], ["log", "log"]]);
const DIALOG_ROLES = new Set(["dialog", "alertdialog"]);
/** Roles of popovers that are not dialogs: what they hold is offered, not said. */
const OFFERING_ROLES = new Set(["menu", "menubar", "listbox", "tree", "grid", "tooltip", "combobox"]);

/**
 * The kind of a live region: "alert", "status" or "log"; empty: the element is none. A dialog whose text is read aloud is a dialog.
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

/** How many elements of a popover are searched for what it offers. */
const MAX_OFFER_NODES = 30;

/** Whether all that a box says is a menu, a list of options or the like in it. @param {El} box */
function holdsOffer(box) {
  /** @type {(El | Text)[]} */
  const stack = [box];
  for (let seen = 0; stack.length && seen < MAX_OFFER_NODES; seen++) {
    const node = /** @type {El | Text} */ (stack.pop());
    if (isText(node)) {
      if (hasText(node.data)) return false; // words before it
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

/** Whether a field is invalid, as the page or the browser says. @param {El} el */
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

/** Whether an element says that work is going on: aria-busy, or a progress bar that is not full. @param {El} el */
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

/** Which part of a progress bar is full, from 0 to 1; NaN where it does not say. @param {El} bar */
function shareOf(bar) {
  const native = tagOf(bar) === "progress";
  const now = parseFloat(attr(bar, native ? "value" : "aria-valuenow") || "");
  return now / parseFloat(attr(bar, native ? "max" : "aria-valuemax") || (native ? "1" : "100"));
}

/**
 * The text of an element as a person reads it: what is drawn, masked where needed, white space
 * folded. Fields and buttons in it do not count.
 * @param {El} root @param {number} most
 * @param {((el: El) => boolean) | null} [skip] elements in it that are left out
 */
function noticeText(root, most, skip) {
  if (isTextMasked(root)) return hasText(safe.textContent(root)) ? MASK : "";
  if (isOnlyText(root)) return clean(safe.textContent(root), most);
  return textOfNodes(flatNodes(root, tagOf(root)), most, skip);
}

/**
 * The same of some nodes that stand one after the other.
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

/** Whether an element has nothing in it but text, as most headings do: its text needs no walk. @param {El} el */
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
 * The texts of a live region, one for each child: where children come and go, the new ones are what
 * is said. Regions in it speak for themselves.
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

/** The nodes of a region, or of the one list or box that it has. @param {El} region */
function entriesOf(region) {
  let nodes = flatNodes(region, tagOf(region));
  for (let down = 0; down < MAX_PHRASES; down++) {
    const said = nodes.filter((node) => isElement(node) || hasText(node.data)), only = said[0];
    if (said.length !== 1 || !isElement(only) || isLiveRegion(only) || isTextMasked(only) || !isRead(only)) break;
    nodes = flatNodes(only, tagOf(only));
  }
  return nodes;
}

/** From how many elements and characters on a live region is a part of the page, and no message. */
const PART_NODES = 60, PART_TEXT = 300;
/** What a part of a page has in it, and no message. */
const PART_HOLDS = "main,nav,form,table,h1,[role=grid],[role=table],[role=main]";

/**
 * Whether a live region is a part of the page, as a table that is read aloud when it changes, or a long chat. What changes in it is told as of
 * any other text.
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
 * The name of a dialog: its accessible name, else its first heading.
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

/** The text that the elements of an IDREF list have. @param {El} el @param {string} attribute */
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
 * Why a field is invalid, in the words of the page, else of the browser. The browser's words for a
 * secret say how long it is in brackets, which are left out.
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
 * A text without the secrets that fields of its tree hold, for a page may print them.
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

/** The words for a sign of work. @param {Naming} naming @param {El} el */
function busyText(naming, el) {
  const role = explicitRole(el);
  return naming.name(el, tagOf(el), role || "progressbar") || clean(reportedAria(el, "aria-valuetext") || "", MAX_LABEL) ||
    noticeText(el, MAX_LABEL) || ((attr(el, "aria-busy") || "").toLowerCase() === "true" ? "loading" : "progress bar");
}

/** How far a sign of work is, in percent; "" where it does not say. @param {El} el */
function busyShare(el) {
  const share = isProgressBar(el) ? shareOf(el) : NaN;
  return share >= 0 ? Math.floor(100 * share) + " %" : "";
}

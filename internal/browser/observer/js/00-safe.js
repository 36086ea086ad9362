// @ts-check
// Safe access to the DOM: node properties that no page can replace or shadow.
//
// The observer runs in an isolated world: the page's scripts cannot see it, and cannot replace the
// prototypes that it uses. But named properties also apply in isolated worlds: `<form><input
// name="localName"></form>` makes form.localName an element, and `<img name="title">` does the same
// to document.title. The observer therefore reads forms and documents through getters that it takes
// from the prototypes once.
//
// All other files read nodes through `safe` and the functions below. This file also has functions
// that follow the flat tree (shadow roots, slots), and functions that fold and cut text.

/**
 * Returns the getter of a property as a function of the node. The caller declares the type F; nothing checks
 * it. The first call looks the getter up, because most documents need few getters.
 * @template {Function} F
 * @param {Function} type @param {string} property
 * @returns {F}
 */
function getter(type, property) {
  /** @type {Function | undefined} */
  let get;
  /** @param {Node} n */
  const read = (n) => {
    if (get === undefined) get = /** @type {PropertyDescriptor & { get: Function }} */ (Object.getOwnPropertyDescriptor(type.prototype, property)).get;
    return get.call(n);
  };
  return /** @type {F} */ (/** @type {unknown} */ (read));
}

/**
 * Returns a method as a function of the node and at most two arguments. The caller declares the type F;
 * nothing checks it. The first call looks the method up.
 * @template {Function} F
 * @param {Function} type @param {string} name
 * @returns {F}
 */
function method(type, name) {
  /** @type {Function | undefined} */
  let found;
  /** @param {Node} n @param {unknown} a @param {unknown} b */
  const call = (n, a, b) => {
    if (found === undefined) found = /** @type {Function} */ (type.prototype[name]);
    return b === undefined ? found.call(n, a) : found.call(n, a, b);
  };
  return /** @type {F} */ (/** @type {unknown} */ (call));
}

/**
 * Whether a node's properties can be read directly, because no form control shadows them: the node is a text, or an
 * element other than a form. A direct read is several times faster than a getter, above all in code that just
 * started to run.
 * @param {Node} n
 */
function hasPlainProperties(n) {
  const name = /** @type {El} */ (n).localName;
  return name === undefined ? n.nodeType === 3 : typeof name === "string" && name !== "form";
}

/** Reads through the prototypes, for forms and documents, whose own properties may be shadowed. */
const slow = {
  /** @type {(n: Node) => DomNode | null} */
  parentNode: getter(Node, "parentNode"),
  /** @type {(n: Node) => boolean} */
  isConnected: getter(Node, "isConnected"),
  /** @type {(n: Node) => El | Text | null} */
  firstChild: getter(Node, "firstChild"),
  /** @type {(n: Node) => El | Text | null} */
  nextSibling: getter(Node, "nextSibling"),
  /** @type {(n: Node) => El | Text | null} */
  previousSibling: getter(Node, "previousSibling"),
  /** @type {(n: Node) => El | Text | null} */
  lastChild: getter(Node, "lastChild"),
  /** @type {(n: Node) => string} */
  textContent: getter(Node, "textContent"),
  /** @type {(n: Node) => Document | null} */
  ownerDocument: getter(Node, "ownerDocument"),
  /** @type {(el: El) => string | null} */
  namespaceURI: getter(Element, "namespaceURI"),
  /** @type {(n: Node) => DomNode} */
  getRootNode: method(Node, "getRootNode"),
  /** @type {(el: El) => El | null} */
  firstElementChild: getter(Element, "firstElementChild"),
  /** @type {(el: El) => El | null} */
  nextElementSibling: getter(Element, "nextElementSibling"),
  /** @type {(el: El) => El | null} */
  assignedSlot: getter(Element, "assignedSlot"),
  /** @type {(el: El, name: string) => string | null} */
  getAttribute: method(Element, "getAttribute"),
  /** @type {(el: El, name: string) => boolean} */
  hasAttribute: method(Element, "hasAttribute"),
  /** @type {(el: El) => DOMRect} */
  rect: method(Element, "getBoundingClientRect"),
  /** @type {(el: El, how?: CheckVisibilityOptions) => boolean} */
  checkVisibility: method(Element, "checkVisibility"),
  /** @type {(el: El) => number} */
  scrollLeft: getter(Element, "scrollLeft"),
  /** @type {(el: El) => number} */
  scrollTop: getter(Element, "scrollTop"),
};

const RECT = Element.prototype.getBoundingClientRect;
const CHECK_VISIBILITY = Element.prototype.checkVisibility;

/** Reads that no page can falsify. Each takes the node as its first argument. */
const safe = {
  /** @param {Node} n */
  parentNode: (n) => /** @type {DomNode | null} */ (hasPlainProperties(n) ? n.parentNode : slow.parentNode(n)),
  /** @param {Node} n */
  isConnected: (n) => (hasPlainProperties(n) ? n.isConnected : slow.isConnected(n)),
  /** @param {Node} n */
  firstChild: (n) => /** @type {El | Text | null} */ (hasPlainProperties(n) ? n.firstChild : slow.firstChild(n)),
  /** @param {Node} n */
  nextSibling: (n) => /** @type {El | Text | null} */ (hasPlainProperties(n) ? n.nextSibling : slow.nextSibling(n)),
  /** @param {Node} n */
  previousSibling: (n) => /** @type {El | Text | null} */ (hasPlainProperties(n) ? n.previousSibling : slow.previousSibling(n)),
  /** @param {Node} n */
  lastChild: (n) => /** @type {El | Text | null} */ (hasPlainProperties(n) ? n.lastChild : slow.lastChild(n)),
  /** @param {Node} n */
  nodeType: (n) => (typeof n.nodeType === "number" ? n.nodeType : 1),
  /** @param {Node} n */
  textContent: (n) => /** @type {string} */ (hasPlainProperties(n) ? n.textContent : slow.textContent(n)),
  /** @param {Node} n */
  getRootNode: (n) => /** @type {DomNode} */ (hasPlainProperties(n) ? n.getRootNode() : slow.getRootNode(n)),
  /** @param {El} n */
  firstElementChild: (n) => (hasPlainProperties(n) ? n.firstElementChild : slow.firstElementChild(n)),
  /** @param {El} n */
  nextElementSibling: (n) => (hasPlainProperties(n) ? n.nextElementSibling : slow.nextElementSibling(n)),
  /** @param {El} n @returns {El | null} */
  assignedSlot: (n) => (hasPlainProperties(n) ? n.assignedSlot : slow.assignedSlot(n)),
  /** A form cannot have a shadow root. @param {El} n */
  shadowRoot: (n) => (hasPlainProperties(n) ? n.shadowRoot : null),
  /** @param {El} n */
  rect: (n) => (n.getBoundingClientRect === RECT ? n.getBoundingClientRect() : slow.rect(n)),
  /** @param {El} n @param {CheckVisibilityOptions} [how] */
  checkVisibility: (n, how) => (n.checkVisibility === CHECK_VISIBILITY ? n.checkVisibility(how) : slow.checkVisibility(n, how)),
  /** @type {(el: El, selector: string) => boolean} */
  matches: method(Element, "matches"),
  /** @type {(n: Node, other: Node | null) => boolean} */
  contains: method(Node, "contains"),
  /** @type {(doc: Document) => El | null} */
  documentElement: getter(Document, "documentElement"),
  /** @type {(doc: Document) => string} */
  title: getter(Document, "title"),
  /** @type {(doc: Document) => El | null} */
  activeElement: getter(Document, "activeElement"),
  /** @type {(doc: Document, id: string) => El | null} */
  getElementById: method(Document, "getElementById"),
  /** @type {(doc: Document, selector: string) => El | null} */
  querySelector: method(Document, "querySelector"),
  /** @type {(doc: Document, selector: string) => NodeListOf<El>} */
  querySelectorAll: method(Document, "querySelectorAll"),
  /** @type {(doc: Document, tag: string) => HTMLCollectionOf<El>} */
  elements: method(Document, "getElementsByTagName"),
  /** @type {(doc: Document) => Animation[]} */
  getAnimations: method(Document, "getAnimations"),
  /** @type {(doc: Document) => StyleSheetList} */
  styleSheets: getter(Document, "styleSheets"),
  /** @type {(doc: Document) => CSSStyleSheet[]} */
  adoptedStyleSheets: getter(Document, "adoptedStyleSheets"),
  /** @type {(doc: Document) => string} */
  designMode: getter(Document, "designMode"),
  /** @type {(doc: Document, x: number, y: number) => El | null} */
  elementFromPoint: method(Document, "elementFromPoint"),
};

/** @param {Node} n @returns {n is El} */
function isElement(n) {
  return safe.nodeType(n) === 1;
}

/** Returns the element at which an event was dispatched, or null if it is a document or the window. @param {Event} event @returns {El | null} */
function targetOf(event) {
  const first = /** @type {Node | Window | undefined} */ (event.composedPath()[0]);
  return first !== undefined && first !== window && isElement(/** @type {Node} */ (first)) ? /** @type {El} */ (first) : null;
}

/** @param {Node} n @returns {n is Text} */
function isText(n) {
  return safe.nodeType(n) === 3;
}

/** @param {Node} n @returns {n is Document} */
function isDocument(n) {
  return safe.nodeType(n) === 9;
}

/** @param {Node} n @returns {n is Shadow} */
function isShadow(n) {
  return safe.nodeType(n) === 11;
}

/** The tree that contains a node of the document. @param {Node} n */
function treeOf(n) {
  return /** @type {Tree} */ (safe.getRootNode(n));
}

/** The element with an id in a tree. @param {Tree} root @param {string} id @returns {El | null} */
function elementOf(root, id) {
  return isDocument(root) ? safe.getElementById(root, id) : root.getElementById(id);
}

const GET_ATTRIBUTE = Element.prototype.getAttribute;
const HAS_ATTRIBUTE = Element.prototype.hasAttribute;

const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml", SVG_NAMESPACE = "http://www.w3.org/2000/svg";
/**
 * The names of HTML elements that have specific properties. An element with such a name in another namespace, as in XML documents, has none
 * of them.
 */
const HTML_ONLY = new Set(
  ("area,audio,base,body,button,canvas,data,datalist,details,dialog,embed,fieldset,form,frame,frameset,html,iframe,img,input,label,legend,li," +
    "link,map,marquee,meta,meter,object,ol,optgroup,option,output,param,progress,select,slot,source,table,tbody,td,template,textarea,tfoot,th," +
    "thead,time,tr,track,video").split(","),
);

/**
 * Returns the local name, or "form" for a form whose localName is shadowed by a control. If an XML, SVG or MathML element
 * has the name of an HTML element or link, the result starts with "xml:", because the element lacks the HTML properties.
 * @param {El} el
 */
function tagOf(el) {
  if (el === tagged) return tagOfTagged;
  tagged = el;
  return (tagOfTagged = readTag(el));
}

/** The element of the last call of tagOf, and its result, because the description of an element calls it many times. @type {El | null} */
let tagged = null;
let tagOfTagged = "";

/** @param {El} el */
function readTag(el) {
  const tag = el.localName;
  if (typeof tag !== "string") return "form";
  if (HTML_ONLY.has(tag)) return namespaceOf(el, tag) === HTML_NAMESPACE ? tag : "xml:" + tag;
  if (tag !== "a") return tag;
  const namespace = namespaceOf(el, tag); // el.href would build an address
  return namespace === HTML_NAMESPACE || namespace === SVG_NAMESPACE ? tag : "xml:a";
}

/** Returns the namespace of an element. Controls may shadow that of a form. @param {El} el @param {string} tag its local name */
function namespaceOf(el, tag) {
  return tag === "form" ? slow.namespaceURI(el) : el.namespaceURI;
}

/** @param {El} el */
function isSVG(el) {
  return slow.namespaceURI(el) === SVG_NAMESPACE;
}

/**
 * The roles and aria-* values that custom elements set through ElementInternals, by attribute name. An attribute on
 * the element overrides them. Null while none is known. See Internals.
 * @type {WeakMap<El, Map<string, string>> | null}
 */
let internals = null;

/** Returns an attribute, or else the value that the element's internals set for it. @param {El} el @param {string} name @returns {string | null} */
function attr(el, name) {
  const value = el.getAttribute === GET_ATTRIBUTE ? el.getAttribute(name) : slow.getAttribute(el, name);
  return value === null && internals !== null ? internals.get(el)?.get(name) ?? null : value;
}

/** @param {El} el @param {string} name */
function hasAttr(el, name) {
  const has = el.hasAttribute === HAS_ATTRIBUTE ? el.hasAttribute(name) : slow.hasAttribute(el, name);
  return has || (internals !== null && internals.get(el)?.has(name) === true);
}

/**
 * The elements that are known to have no aria-* attribute, no data-* attribute, and no attribute at all. They save two dozen
 * lookups; see probeAttributes.
 * @type {El | null}
 */
let ariaFree = null;
/** @type {El | null} */
let dataFree = null;
/** @type {El | null} */
let attributeFree = null;
/** The element that probeAttributes has checked, and the same if it is known to hold no secret. @type {El | null} */
let probed = null;
/** @type {El | null} */
let secretFree = null;

/**
 * Checks once which kinds of attributes an element has, so that the caller need not look up each attribute.
 * The caller must call forgetAttributes before anything can change.
 * @param {El} el
 */
function probeAttributes(el) {
  forgetAttributes();
  probed = el;
  if (hasNoAttributes(el)) {
    ariaFree = dataFree = attributeFree = el;
    return;
  }
  if (el.hasAttribute !== HAS_ATTRIBUTE || internals?.has(el)) return;
  let aria = false, data = false;
  for (const name of el.getAttributeNames()) {
    aria = aria || name.startsWith("aria-");
    data = data || name.startsWith("data-");
  }
  if (!aria) ariaFree = el;
  if (!data) dataFree = el;
}

/** Discards the results of probeAttributes. */
function forgetAttributes() {
  ariaFree = dataFree = attributeFree = probed = secretFree = null;
}

/** An aria-* attribute. @param {El} el @param {string} name @returns {string | null} */
function aria(el, name) {
  return el === ariaFree ? null : attr(el, name);
}

const HAS_ATTRIBUTES = Element.prototype.hasAttributes;

/** Whether an element has no attribute at all, and no internals that replace some. @param {El} el */
function hasNoAttributes(el) {
  return el.hasAttributes === HAS_ATTRIBUTES && !el.hasAttributes() && !internals?.has(el);
}

/**
 * Maps hosts to the closed shadow roots that the daemon found. It is null until the first one is found.
 * @type {WeakMap<El, Shadow> | null}
 */
let closedRoots = null;

/**
 * The shadow root of an element, if any: open, or closed and known.
 * @param {El} el @returns {Shadow | null}
 */
function shadowOf(el) {
  const open = safe.shadowRoot(el);
  return open !== null || closedRoots === null ? open : closedRoots.get(el) || null;
}

/** Whether a text has a letter or a digit. @param {string} text */
function hasWord(text) {
  return /[0-9]/.test(text) || hasLetter(text) || (text !== "" && /\p{N}/u.test(text));
}

/** Whether a text has a letter. The test for all scripts runs only if the text has none in ASCII. @param {string} text */
function hasLetter(text) {
  return /[a-z]/i.test(text) || (text !== "" && /\p{L}/u.test(text));
}

/** Whether an element has elements in it, as children or in a shadow tree. @param {El} el */
function hasElements(el) {
  return safe.firstElementChild(el) !== null || shadowOf(el) !== null;
}

/**
 * The slot that a node is assigned to. Nodes do not report the slots of closed roots, so those are
 * looked up by name.
 * @param {El | Text} node @returns {El | null}
 */
function slotOf(node) {
  const slot = isElement(node) ? safe.assignedSlot(node) : node.assignedSlot;
  if (slot || closedRoots === null) return /** @type {El | null} */ (slot);
  const parent = safe.parentNode(node);
  const root = parent && isElement(parent) && closedRoots.get(parent);
  if (!root) return null;
  const name = (isElement(node) && attr(node, "slot")) || "";
  for (const s of root.querySelectorAll("slot")) if ((attr(s, "name") || "") === name) return s;
  return null;
}

/**
 * Returns the parent of a node if it is also the parent in the flat tree, as for most nodes: the parent has no shadow root. Otherwise
 * returns null; see otherParent.
 * @param {DomNode} node @returns {El | null}
 */
function plainParent(node) {
  if (closedRoots !== null || !hasPlainProperties(node)) return null;
  const parent = /** @type {El | null} */ (/** @type {Node} */ (node).parentElement);
  return parent !== null && safe.shadowRoot(parent) === null ? parent : null;
}

/**
 * The parent in the flat tree: the slot that an element is assigned to, the host of a shadow root,
 * or else the parent. Null for the document.
 * @param {DomNode} node @returns {El | Document | null}
 */
function flatParent(node) {
  return plainParent(node) || otherParent(node);
}

/** The parent in the flat tree of a node for which plainParent returns null. @param {DomNode} node @returns {El | Document | null} */
function otherParent(node) {
  const type = safe.nodeType(node);
  if (type === 1 || type === 3) {
    const slot = slotOf(/** @type {El | Text} */ (node));
    if (slot) return slot;
  }
  const parent = safe.parentNode(node);
  if (!parent) return null;
  if (isShadow(parent)) return parent.host || null;
  return /** @type {El | Document} */ (parent);
}

/** The parent element in the flat tree, or null for the outermost element. @param {DomNode} node @returns {El | null} */
function flatElement(node) {
  const plain = plainParent(node);
  if (plain !== null) return plain;
  const parent = otherParent(node);
  return parent && isElement(parent) ? parent : null;
}

/**
 * The assigned elements of a slot as an array, or null for other elements: the caller then follows
 * firstElementChild and nextElementSibling.
 * @param {El} el @param {string} tag
 * @returns {El[] | null}
 */
function assignedChildren(el, tag) {
  if (tag !== "slot") return null;
  const assigned = el.assignedElements();
  return assigned.length ? assigned : null;
}

/** Texts that need no cleaning: printable ASCII, single spaces. */
const CLEAN = /^[!-~]+(?: [!-~]+)*$/;
/** Matches the characters that are folded into one space. */
const SPACES = /(?:[\s\u0000-\u001f\u007f-\u009f\ue000-\uf8ff]|[\udb80-\udbff][\udc00-\udfff])+/g;
/**
 * The maximum number of characters folded in one step, and how many are collected first when pieces
 * are small.
 */
const FOLDED_AT_ONCE = 4096, FOLDED_LATER = 512;
/** The maximum number of raw characters read for one result. */
const MAX_RAW = 200_000;

/**
 * Folds the white space of a text that arrives in pieces. It stops when it has enough characters or
 * has read MAX_RAW.
 */
class TextFolder {
  /** @param {number} most how many characters are enough */
  constructor(most) {
    this.most = most;
    /** The folded text so far. It has no white space before the first word. */
    this.text = "";
    /** Small pieces that are folded together later. */
    this.pending = "";
    /** How many more raw characters may be read. */
    this.left = Math.max(MAX_RAW, 8 * most);
    /** Whether some of the text was not read. */
    this.cut = false;
  }

  /** Whether further text is ignored. */
  get isFull() {
    return this.cut || this.text.length > this.most;
  }

  /** @param {string} text */
  add(text) {
    if (this.pending.length + text.length <= FOLDED_LATER) {
      this.pending += text;
      return;
    }
    this.take(this.pending);
    this.pending = "";
    this.take(text);
  }

  /** @param {string} text */
  take(text) {
    for (let i = 0; i < text.length && this.text.length <= this.most; i += FOLDED_AT_ONCE) {
      if (this.left <= 0) {
        this.cut = true;
        return;
      }
      let piece = text.length > FOLDED_AT_ONCE ? text.slice(i, i + FOLDED_AT_ONCE) : text;
      this.left -= piece.length;
      piece = piece.replace(SPACES, " ");
      this.text += piece[0] === " " && (this.text === "" || this.text.endsWith(" ")) ? piece.slice(1) : piece;
    }
  }

  /** Returns the text, with "…" at the end if it was cut. */
  finish() {
    this.take(this.pending);
    this.pending = "";
    let text = this.text.trimEnd();
    if (secretValues.size) {
      text = withoutSecretValues(text);
      if (this.isFull) text = withoutSecretEnd(text);
    }
    return this.cut ? text + "…" : text;
  }
}

/**
 * Returns the beginning of a text, folded, with about `most` characters, which is enough for clean.
 * @param {string} text @param {number} most
 */
function folded(text, most) {
  if (text.length <= most) return text;
  const out = new TextFolder(most);
  out.add(text);
  return out.finish();
}

/** Whether a text has more than white space and glyphs, or is too long to check. @param {string} text */
function hasText(text) {
  return text.length > MAX_RAW || /[^\s\ue000-\uf8ff\udb80-\udfff]/.test(text);
}

/**
 * Cleans and cuts a string: folds white space, drops control characters, and keeps at most `max`
 * characters plus "…", without lone surrogates.
 * @param {string} text @param {number} max
 */
function clean(text, max) {
  if (!text) return "";
  if (secretValues.size) text = withoutSecretValues(text);
  if (text.length <= max && CLEAN.test(text)) return text;
  const long = text.length > max * 8;
  text = long ? folded(text, 2 * max) : text.replace(SPACES, " ").trim();
  if (text.length > max) {
    let end = 0;
    let count = 0;
    while (end < text.length && count < max) {
      end += Number(text.codePointAt(end)) > 0xffff ? 2 : 1;
      count++;
    }
    if (end < text.length) text = text.slice(0, end).trimEnd() + "…";
  }
  if (long) text = text.split("").join(""); // a slice of a long string keeps the whole string in memory
  return text.isWellFormed() ? text : text.toWellFormed();
}

// @ts-check
// ListenerProbe finds listeners and closed shadow roots, which scripts cannot see.
//
// ListenerProbe chooses the elements that may have a closed root (suspects). The daemon queries them and the click
// listeners in the browser, and sends the result to takeAnswer (internal/browser/documents/probe.go). ListenerProbe decides
// when a probe is due, and owns the queried elements and the elements that are clickable because of a listener. Poller and
// Agent.read check whether a probe is due.

/**
 * The property that records whether an element's own click listener makes it interactive. It is absent on elements without
 * such a listener.
 */
const CLICKABLE = Symbol("clickable");

/**
 * The property that records whether an element reacts to the pointer over it by a listener of its own. Such an element is
 * structural. The property is absent on elements without such a listener.
 */
const HOVERED = Symbol("hovered");

/** Whether some element has a listener. Looking up a property that no element has is slow. */
let listened = false;

/** @param {El} el */
function isClickable(el) {
  return listened && el[CLICKABLE] === true;
}

/** @param {El} el */
function isHovered(el) {
  return listened && el[HOVERED] === true;
}

/** The maximum number of elements per document that a probe queries. */
const MAX_SUSPECTS = 300;
/**
 * The maximum number of inserted roots that are remembered for the next probe. Beyond it, the probe searches the whole
 * document.
 */
const MAX_PENDING = 500;
/** The maximum number of elements that wait for a query. */
const MAX_LATER = 1000;
/** The number of probes that query a custom element, because its root may be attached late. */
const MAX_ASKED = 3;
/** The number of elements that a probe queries again, and the maximum number that are remembered for that. */
const ASKED_AGAIN = 20, MAX_WAITING = 2000;
/** The number of elements with listeners that each probe classifies again. */
const CLASSIFIED_AGAIN = 200;
/**
 * An element that contains more interactive elements than this listens for them (event delegation),
 * not for itself.
 */
const DELEGATES_ABOVE = 5;
/** The same limit for elements that count because of their cursor, in an element that does not. */
const POINTERS_ABOVE = 2;
/** The number of levels, from an added element upwards, at which listeners are classified again. */
const MAX_LISTENERS_AROUND = 4;
/** The maximum number of examined elements within an element that listens. */
const MAX_LISTENED = 1000;

/** The elements, beside custom ones, that may have a shadow root (DOM, attachShadow). */
const HOSTS = "article,aside,blockquote,body,div,footer,h1,h2,h3,h4,h5,h6,header,main,nav,p,section,span";
/** :empty is first, because most elements are not empty. */
const EMPTY_HOSTS = ":empty:is(" + HOSTS + ")";
/**
 * Tags that a listener cannot make interactive, because they are interactive already or are not rendered. They have no
 * shadow root either.
 */
const NO_LISTENERS = "a,button,input,select,textarea,details,summary,option,optgroup,datalist,br,hr,wbr,script,style,link,meta,title,base,template,noscript,source,track,param";
const MAY_LISTEN = ":not(" + NO_LISTENERS + ")";
/** @type {(el: El, selector: string) => El | null} */
const firstWithin = method(Element, "querySelector");
const INTERACTIVE_SELECTOR = "a[href],button,input,select,textarea,summary,[role=button],[role=link],[onclick]";

class ListenerProbe {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Whether elements were inserted since the last probe. */
    this.probeDue = true;
    /**
     * The roots of the subtrees that were inserted since the last probe. Null means the whole document.
     * @type {WeakRef<El | Shadow>[] | null}
     */
    this.pending = null;
    /**
     * Whether elements count that CANDIDATES does not match, so that full scans walk the document; see Refresh.isPlain.
     */
    this.needsWalk = false;
    /**
     * The elements with a click listener, by their number in the browser.
     * @type {Map<number, WeakRef<El>>}
     */
    this.listening = new Map();
    /**
     * The same for elements that have only a hover listener.
     * @type {Map<number, WeakRef<El>>}
     */
    this.hovering = new Map();
    /** The number of probes that queried each element. @type {WeakMap<El, number>} */
    this.asked = new WeakMap();
    /** Queried elements, for askAgain. @type {WeakRef<El>[]} */
    this.waiting = [];
    /**
     * The elements to query at the next probe: custom elements, and elements that had no size yet.
     * @type {WeakRef<El>[]}
     */
    this.askLater = [];
    /**
     * The hosts that askAboutHost has queried. Their roots are unknown and contain elements with listeners.
     * @type {WeakSet<El>}
     */
    this.hostsOfListeners = new WeakSet();
    /** Elements whose press changed nothing and caused a probe. @type {WeakSet<El>} */
    this.idle = new WeakSet();
    /** Where classifyAgain continues. @type {Iterator<WeakRef<El>> | null} */
    this.cursor = null;
    /** The items of each container that listens for its items. @type {WeakMap<El, Set<El>>} */
    this.items = new WeakMap();
    /** The loadStage at the last probe. */
    this.stage = -1;
    /** The daemon does not probe the browser's error pages; see probe in documents/probe.go. */
    this.never = location.protocol === "chrome-error:";
  }

  /**
   * Records an inserted element or shadow root. A probe is due if an element in it may have a listener.
   * @param {El | Shadow} root
   */
  recordInsertion(root) {
    if (isElement(root) && safe.matches(root, NO_LISTENERS) && firstWithin(root, MAY_LISTEN) === null) return;
    this.probeDue = true;
    this.addPending(root);
  }

  /**
   * Records the end of an action. A press that changed nothing may have added listeners without a mutation, so a probe is
   * due, once for each element.
   * @param {Settling} settling
   */
  recordActionEnd({ el, changed }) {
    if (el === null || changed || this.idle.has(el)) return;
    this.idle.add(el);
    this.probeDue = true;
  }

  /** Makes the next probe search an element or shadow root. @param {El | Shadow} root */
  addPending(root) {
    if (this.pending === null) return;
    if (this.pending.length < MAX_PENDING) this.pending.push(new WeakRef(root));
    else this.pending = null;
  }

  /** Makes the next probe search the whole document. */
  forgetPending() {
    this.probeDue = true;
    this.pending = null;
  }

  /**
   * Whether elements were inserted since the last probe, or the document has loaded further.
   */
  get grown() {
    return !this.never && (this.probeDue || this.stage !== loadStage());
  }

  /** Whether a probe is due before a read, because the document has grown or internals may have changed. */
  get due() {
    return this.grown || this.model.internals.due;
  }

  /**
   * Returns the elements that may have a closed shadow root (custom elements, and empty elements with a size), then null,
   * then the elements that may have internals. It also starts the probe: elements that are inserted later are left to the
   * next probe.
   */
  suspects() {
    const { model, pending, askLater } = this;
    /** @type {El[]} */
    const out = [];
    this.probeDue = false;
    this.stage = loadStage();
    this.pending = [];
    this.askLater = [];
    for (const ref of askLater) {
      const el = ref.deref();
      if (el && safe.isConnected(el)) this.ask(out, el);
    }
    if (pending === null) {
      this.askAll(out, model.elements, safe.querySelectorAll(model.doc, EMPTY_HOSTS));
      for (const root of model.sweep.shadows) this.askAll(out, root.querySelectorAll("*"), root.querySelectorAll(EMPTY_HOSTS));
    }
    for (const ref of pending || []) {
      const root = ref.deref();
      if (root && safe.isConnected(root)) this.askWithin(out, root);
    }
    this.askAgain(out);
    const hosts = model.internals.hosts();
    return hosts.length ? [...out, null, ...hosts] : out;
  }

  /**
   * Queries the candidates in an inserted element or shadow root.
   * @param {El[]} out @param {El | Shadow} root
   */
  askWithin(out, root) {
    if (isShadow(root)) {
      this.askAll(out, root.querySelectorAll("*"), root.querySelectorAll(EMPTY_HOSTS));
      return;
    }
    this.askAll(out, [root], safe.matches(root, EMPTY_HOSTS) ? [root] : []);
    if (safe.firstElementChild(root)) this.askAll(out, queryWithin(root, "*"), queryWithin(root, EMPTY_HOSTS));
  }

  /**
   * Queries some elements again, in turn, because a root can be attached at any time.
   * @param {El[]} out
   */
  askAgain(out) {
    const fresh = new Set(out);
    for (let i = Math.min(ASKED_AGAIN, this.waiting.length); i > 0 && out.length < MAX_SUSPECTS; i--) {
      const ref = this.waiting.shift();
      const el = ref && ref.deref();
      if (!ref || !el || !safe.isConnected(el) || shadowOf(el)) continue;
      this.waiting.push(ref);
      if (!fresh.has(el)) out.push(el);
    }
  }

  /**
   * Queries the custom elements in `all`, and the elements in `empty`.
   * @param {El[]} out @param {ArrayLike<El>} all @param {Iterable<El>} empty
   */
  askAll(out, all, empty) {
    for (let i = 0, n = Math.min(all.length, MAX_ELEMENTS); i < n; i++) {
      const el = all[i], tag = el.localName;
      if (typeof tag === "string" && tag.includes("-")) this.ask(out, el);
    }
    for (const el of empty) this.ask(out, el);
  }

  /**
   * Adds an element to those that the daemon queries, or to askLater, unless it was queried often enough.
   * @param {El[]} out @param {El} el
   */
  ask(out, el) {
    const tag = tagOf(el), isCustom = tag.includes("-");
    if (isCustom) this.model.internals.addElement(el, tag);
    const most = isCustom ? MAX_ASKED : 1;
    const times = this.asked.get(el) || 0;
    if (times >= most || shadowOf(el)) return;
    let now = out.length < MAX_SUSPECTS;
    if (now && most === 1) {
      const { width, height } = safe.rect(el);
      now = width > 0 && height > 0;
    }
    if (now) {
      this.asked.set(el, times + 1);
      if (times === 0 && this.waiting.length < MAX_WAITING) this.waiting.push(new WeakRef(el));
      out.push(el);
    }
    if ((!now || times + 1 < most) && this.askLater.length < MAX_LATER) this.askLater.push(new WeakRef(el));
  }

  /**
   * Applies the browser's answer, which the daemon sends.
   * @param {{on: number[], hovers?: number[], off: number[]}} numbers of elements that have a click listener,
   * that have only a hover listener, and that no longer have either
   * @param {DomNode[]} nodes the elements of `on` and `hovers`, then closed shadow roots
   */
  takeAnswer({ on, hovers = [], off }, nodes) {
    for (const number of off) {
      const ref = this.listening.get(number) || this.hovering.get(number);
      const el = ref && ref.deref();
      this.listening.delete(number);
      this.hovering.delete(number);
      if (!el) continue;
      this.setListening(el, false, false);
      this.setItems(el, []);
    }
    // Inner elements come first, because the class of an element depends on the classes of its
    // content.
    for (let i = nodes.length - 1; i >= 0; i--) {
      const node = nodes[i];
      // The answer includes nodes of same-process frames. A node belongs to the world that sees it first, so even nodes of
      // this document may have the prototypes of another frame. They are read only through `slow`.
      if (slow.ownerDocument(node) !== this.model.doc) continue;
      if (!isElement(node)) {
        // The browser has reported that the root is closed. The script never reads the mode: reading the mode of an
        // internal root of the browser, such as in its JSON viewer, crashes the renderer.
        if (isShadow(node)) this.addClosedRoot(node);
        continue;
      }
      this.askAboutHost(slow.getRootNode(node));
      if (i < on.length) {
        this.hovering.delete(on[i]);
        this.listening.set(on[i], new WeakRef(node));
        this.classify(node);
      } else if (i < on.length + hovers.length) {
        const number = hovers[i - on.length];
        this.listening.delete(number);
        this.hovering.set(number, new WeakRef(node));
        this.setListening(node, false, isOwnListener(node) && !isMostOf(node, this.model.elements.length));
      }
    }
    this.classifyAgain();
  }

  /** Makes the next probe query the mode of an unknown root that contains an element with a listener. @param {Node} root */
  askAboutHost(root) {
    if (!isShadow(root) || shadowOf(root.host) === root || this.hostsOfListeners.has(root.host)) return;
    this.hostsOfListeners.add(root.host);
    this.asked.delete(root.host);
    this.askLater.push(new WeakRef(root.host));
    this.probeDue = true;
  }

  /** Decides whether an element with a click listener is interactive. @param {El} el */
  classify(el) {
    const own = isOwnListener(el) && !this.holdsPointers(el) && !isPartOfEditor(el);
    const items = own ? itemsOf(el) : [];
    const clickable = own && items.length === 0 && !isMostOf(el, this.model.elements.length) && !isSurrounding(el, this.model.hints) && !isEdgeOfRecord(el);
    this.setListening(el, clickable, false);
    this.setItems(el, items);
    if (clickable && !this.needsWalk && !safe.matches(el, CANDIDATES)) this.needsWalk = true;
  }

  /**
   * Whether an element without cursor: pointer contains several elements that count because of their cursor, such as the
   * days of a calendar. Such an element listens for them, or stops their clicks.
   * @param {El} el
   */
  holdsPointers(el) {
    const { hints } = this.model;
    const inside = el.getElementsByTagName("*");
    let pointers = 0;
    for (let i = 0; i < inside.length && i < MAX_LISTENED; i++) {
      if (hints.get(/** @type {El} */ (inside[i])) & HINT_POINTER && ++pointers > POINTERS_ABOVE) return !isPointerCursor(getComputedStyle(el).cursor);
    }
    return false;
  }

  /**
   * Records the items that a container listens for.
   * @param {El} el @param {El[]} items empty if it listens for itself, or no longer listens
   */
  setItems(el, items) {
    const { changes, hints } = this.model;
    const was = this.items.get(el);
    if (!was && !items.length) return;
    const now = new Set(items);
    for (const item of was || []) if (!now.has(item) && hints.set(item, HINT_ITEM, false)) changes.checkNodes.add(item);
    for (const item of now) if (hints.set(item, HINT_ITEM, true)) changes.checkNodes.add(item);
    if (now.size) {
      this.items.set(el, now);
      this.needsWalk = true;
    } else this.items.delete(el);
  }

  /**
   * Classifies an element that was added or got children, and the listening elements around it, which may listen for it
   * now.
   * @param {El} el
   */
  classifyAround(el) {
    for (let /** @type {El | null} */ n = el, i = 0; n && i < MAX_LISTENERS_AROUND; n = flatElement(n), i++) if (isClickable(n)) this.classify(n);
  }

  /** Classifies some elements again, in turn, in case their content has changed. */
  classifyAgain() {
    for (let i = 0; i < CLASSIFIED_AGAIN; i++) {
      if (!this.cursor) this.cursor = this.listening.values();
      const { done, value } = this.cursor.next();
      if (done) {
        this.cursor = null;
        return;
      }
      const el = value.deref();
      if (el) this.classify(el);
    }
  }

  /** @param {El} el @param {boolean} clickable @param {boolean} hovered */
  setListening(el, clickable, hovered) {
    const { changes, records } = this.model;
    if (clickable || hovered) listened = true;
    if ((el[HOVERED] === true) !== hovered) {
      el[HOVERED] = hovered;
      if (this.model.structural && !changes.rescan) changes.added.add(el);
    }
    if ((el[CLICKABLE] === true) === clickable) return;
    el[CLICKABLE] = clickable;
    for (let up = flatElement(el), i = 0; up && i < 4; up = flatElement(up), i++) {
      const rec = records.get(up);
      if (rec) changes.check.add(rec); // see isHolder
    }
    if (!changes.rescan) changes.added.add(el);
  }

  /** @param {Shadow} root */
  addClosedRoot(root) {
    closedRoots = closedRoots || new WeakMap();
    if (closedRoots.has(root.host)) return;
    closedRoots.set(root.host, root);
    this.recordInsertion(root); // the root may contain more hosts
    if (this.model.changes.rescan) return;
    this.model.sweep.checkRoot(root.host);
  }
}

/**
 * Returns the loading stage of the document. Scripts often add listeners at DOMContentLoaded or load, without a mutation.
 */
function loadStage() {
  const { domContentLoadedEventEnd: parsed, loadEventEnd: loaded } = performance.timing;
  return Number(parsed > 0) + Number(loaded > 0);
}

/**
 * Whether an element listens to clicks for itself. An element that listens for many elements in it (event delegation), or
 * that is inside a link or button with the same text, does not. Neither does the decoration of a drawn checkbox, radio or switch.
 * @param {El} el
 */
function isOwnListener(el) {
  const tag = tagOf(el);
  if (tag === "html" || tag === "body" || tag === "form") return false;
  if (el.querySelectorAll(INTERACTIVE_SELECTOR).length > DELEGATES_ABOVE) return false;
  const isDecoration = aria(el, "aria-hidden") === "true";
  for (let up = flatElement(el), i = 0; up && i < 8; up = flatElement(up), i++) {
    const outer = tagOf(up);
    if (isDecoration && DRAWN_TOGGLES.has(explicitRole(up))) return false;
    if (outer === "button" || (outer === "a" && hasAttr(up, "href"))) {
      return safe.textContent(up).trim() !== safe.textContent(el).trim();
    }
    if (outer.includes("-") && INTERACTIVE_ROLES.has(explicitRole(up)) && shadowOf(up) !== null) return firstWithin(el, "slot") === null;
  }
  return true;
}

/** Whether an element contains most elements of a page. @param {El} el @param {number} all the number of elements */
function isMostOf(el, all) {
  return all > 20 && el.getElementsByTagName("*").length * 2 > all;
}

/** Containers whose children are items, by tag and role. */
const CONTAINER_TAGS = new Set(["table", "thead", "tbody", "ul", "ol", "menu", "dl"]);
const ITEM_CONTAINERS = new Set(["list", "listbox", "menu", "menubar", "table", "grid", "treegrid", "tree", "tablist", "radiogroup", "rowgroup"]);
/** The items of a table with more cells than this are its rows. */
const MAX_CELLS = 200;
/** The maximum number of items of a container that are listed individually. */
const MAX_ITEMS = 500;
/** The minimum number of equal children that make a box a container without such a tag or role. */
const MIN_EQUAL = 3;
/** The maximum number of nested boxes with one child that lead to the items. */
const MAX_WRAPPERS = 3;

/**
 * Returns the items of a container that listens for its content (event delegation), such as the cells of a table, the
 * entries of a list or the days of a calendar. The items have equal shapes, and each has content of its own. If there are
 * none, the element listens for itself.
 * @param {El} el @returns {El[]}
 */
function itemsOf(el) {
  const tag = tagOf(el), role = explicitRole(el);
  if (INTERACTIVE_ROLES.has(role) && role !== "listbox") return [];
  if (tag === "svg") return shapesOf(el);
  const container = CONTAINER_TAGS.has(tag) || ITEM_CONTAINERS.has(role);
  if (!container && (role !== "" || hasOwnText(el) || isPointerCursor(getComputedStyle(el).cursor))) return [];
  if (tag === "table" || tag === "tbody") return cellsOf(el);
  if (tag === "thead") return headersIn(el);
  const choices = container ? [] : choicesIn(el);
  if (choices.length) return choices;
  if (!container && firstWithin(el, FILTERS)) return entriesBeside(el);
  let box = el;
  for (let i = 0; i < MAX_WRAPPERS && childrenOf(box).length === 1; i++) box = /** @type {El} */ (safe.firstElementChild(box));
  const children = childrenOf(box);
  if (children.length === 0 || children.length > MAX_ITEMS || hasOwnText(box)) return [];
  const inner = children.flatMap(childrenOf);
  const isGrid = inner.length >= 4 && inner.length <= MAX_ITEMS && children.every((row) => childrenOf(row).length >= 2 && !hasOwnText(row)) && areEqual(inner) && inner.every(isLeaf);
  if (!container && !areEqual(children)) return [];
  if (!container && !isGrid && children.length < MIN_EQUAL) return [];
  const items = isGrid ? inner : children;
  if (items.some(holdsItems)) return role === "grid" || role === "treegrid" ? cellsOf(el) : [];
  const used = items.filter((item) => !INTERACTIVE_TAGS.has(tagOf(item)) && hasArea(safe.rect(item)));
  return container || used.length > 1 ? used : [];
}

/** The minimum number of equal small cells in rows that a person chooses from, such as days, and the maximum length of their texts. */
const MIN_CHOICES = 9, MAX_CHOICE = 5;

/**
 * Returns the cells of a calendar or a similar table of short texts in a box that listens for them.
 * @param {El} el @returns {El[]}
 */
function choicesIn(el) {
  /** @type {Map<El, El[]>} */
  const groups = new Map();
  const inside = el.getElementsByTagName("*");
  if (inside.length < MIN_CHOICES || inside.length > MAX_LISTENED) return [];
  for (let i = 0; i < inside.length; i++) {
    const cell = /** @type {El} */ (inside[i]);
    const text = isLeaf(cell) ? safe.textContent(cell).trim() : "";
    if (text === "" || text.length > MAX_CHOICE || hasElements(cell) || INTERACTIVE_TAGS.has(tagOf(cell))) continue;
    const box = tagOf(cell) === "td" ? closestOf(cell, "table") : flatElement(cell);
    if (box) groups.set(box, [...(groups.get(box) || []), cell]);
  }
  let most = /** @type {El[]} */ ([]);
  for (const cells of groups.values()) if (cells.length > most.length && hasArea(safe.rect(cells[0]))) most = cells;
  return most.length >= MIN_CHOICES && most.length <= MAX_CELLS && isInRows(most.map(safe.rect)) ? most : [];
}

/** Whether boxes fill rows and columns. @param {DOMRect[]} boxes */
function isInRows(boxes) {
  const rows = new Set(boxes.map((box) => Math.round(box.top))).size, columns = new Set(boxes.map((box) => Math.round(box.left))).size;
  return rows >= 2 && columns >= 3 && boxes.length <= rows * columns && boxes.length > (rows - 2) * columns;
}

/** Matches a field in a box that listens, such as a filter for the entries of a list. */
const FILTERS = "input:not([type=hidden],[type=checkbox],[type=radio]),textarea,[contenteditable=true],[role=searchbox],[role=textbox]";
/** The maximum number of examined elements in such a box. */
const MAX_FILTERED = 60;

/**
 * Returns the entries of a box that also contains a field. Users click the entries of such a box, not the box itself.
 * @param {El} el @returns {El[]}
 */
function entriesBeside(el) {
  const inside = queryWithin(el, "*");
  for (let i = 0; i < inside.length && i < MAX_FILTERED; i++) {
    const entries = childrenOf(inside[i]);
    if (entries.length >= 2 && entries.length <= MAX_ITEMS && areEqual(entries) && entries.every((entry) => hasText(safe.textContent(entry)) && firstWithin(entry, INTERACTIVE_SELECTOR) === null)) {
      return entries.filter((entry) => !INTERACTIVE_TAGS.has(tagOf(entry)) && hasArea(safe.rect(entry)));
    }
  }
  return [];
}

/** Returns the shapes of a drawing with several shapes. @param {El} svg @returns {El[]} */
function shapesOf(svg) {
  const shapes = isDrawing(svg) ? [...queryWithin(svg, [...SHAPES].join(","))].filter((el) => closestOf(el, "defs,symbol,clipPath,mask,pattern,marker") === null) : [];
  return shapes.length >= 2 && shapes.length <= MAX_ITEMS ? shapes : [];
}

/** Returns the cells of a table, or its rows if there are many cells. @param {El} table @returns {El[]} */
function cellsOf(table) {
  /** @type {El[]} */
  const cells = [...queryWithin(table, "td")];
  return cells.length <= MAX_CELLS ? cells.filter((cell) => hasText(safe.textContent(cell)) || isPainted(cell, "div")) : [...queryWithin(table, "tr")].slice(0, MAX_ITEMS);
}

/** Returns the column headers that contain words but no controls, which people click to sort. @param {El} head */
function headersIn(head) {
  return [...queryWithin(head, "th")].slice(0, MAX_ITEMS).filter((th) => hasText(safe.textContent(th)) && firstWithin(th, INTERACTIVE_SELECTOR) === null);
}

/** Returns the rendered child elements. @param {El} el @returns {El[]} */
function childrenOf(el) {
  /** @type {El[]} */
  const out = [];
  for (let c = safe.firstElementChild(el); c && out.length <= MAX_ITEMS; c = safe.nextElementSibling(c)) {
    const tag = tagOf(c);
    if (tag !== "script" && tag !== "style" && tag !== "template" && tag !== "br") out.push(c);
  }
  return out;
}

/** Whether elements have the same tag and, if they have classes, a class in common. @param {El[]} all */
function areEqual(all) {
  const [first] = all;
  const classes = (attr(first, "class") || "").trim().split(/\s+/, 20).filter(Boolean);
  return all.every((el) => {
    const own = (attr(el, "class") || "").trim();
    return tagOf(el) === tagOf(first) && (own === "" ? classes.length === 0 || hasOwnText(el) : classes.length === 0 || own.split(/\s+/, 20).some((c) => classes.includes(c)));
  });
}

/** Whether an element contains few elements and no control. @param {El} el */
function isLeaf(el) {
  return el.getElementsByTagName("*").length <= 3 && firstWithin(el, INTERACTIVE_SELECTOR) === null;
}

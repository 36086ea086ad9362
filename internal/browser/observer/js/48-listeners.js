// @ts-check
// Listeners and closed shadow roots, which scripts cannot see.
//
// ListenerProbe chooses the elements that may have a closed root (suspects). The daemon asks the
// browser about them and about click listeners, and sends the result to takeAnswer
// (internal/browser/documents/probe.go). The file owns when a probe is due, which elements were
// asked about, and which are clickable because of a listener. Poller and Agent.read ask whether a
// probe is due.

/**
 * A property of elements: whether their own click listener makes them interactive; absent on
 * elements without one.
 */
const CLICKABLE = Symbol("clickable");

/**
 * A property of elements: whether something of their own happens when the pointer is over them; absent
 * on elements without such a listener. It makes them structural.
 */
const HOVERED = Symbol("hovered");

/** Some element was found to have a listener: looking up a property that no element has takes long. */
let listened = false;

/** @param {El} el */
function isClickable(el) {
  return listened && el[CLICKABLE] === true;
}

/** @param {El} el */
function isHovered(el) {
  return listened && el[HOVERED] === true;
}

/** How many elements of one document one probe asks about. */
const MAX_SUSPECTS = 300;
/**
 * How many inserted roots are remembered for the next probe; beyond that it searches the whole
 * document.
 */
const MAX_PENDING = 500;
/** How many elements wait to be asked about. */
const MAX_LATER = 1000;
/** How many probes ask about a custom element, because its root may be attached late. */
const MAX_ASKED = 3;
/** How many elements one probe asks about again, and how many are remembered for that. */
const ASKED_AGAIN = 20, MAX_WAITING = 2000;
/** How many elements with listeners are classified again at a probe. */
const CLASSIFIED_AGAIN = 200;
/**
 * An element with more interactive elements in it than this listens for them (event delegation),
 * not for itself.
 */
const DELEGATES_ABOVE = 5;
/** The same of elements that count for their cursor, in one that does not. */
const POINTERS_ABOVE = 2;
/** How far around an added element listeners are classified again. */
const MAX_LISTENERS_AROUND = 4;
/** How many elements in one that listens are examined. */
const MAX_LISTENED = 1000;

/** The elements, beside custom ones, that may have a shadow root (DOM, attachShadow). */
const HOSTS = "article,aside,blockquote,body,div,footer,h1,h2,h3,h4,h5,h6,header,main,nav,p,section,span";
/** Most elements are not empty, so that is looked at first. */
const EMPTY_HOSTS = ":empty:is(" + HOSTS + ")";
/**
 * Tags that a listener cannot make interactive: they are already, or are not rendered. They have no
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
    /** Elements were inserted since the last probe. */
    this.probeDue = true;
    /**
     * Roots of the subtrees that were inserted since the last probe; null: the whole document.
     * @type {WeakRef<El | Shadow>[] | null}
     */
    this.pending = null;
    /**
     * Some elements count that CANDIDATES does not match, so full scans walk the document; see
     * Refresh.isPlain.
     */
    this.needsWalk = false;
    /**
     * Elements with a click listener by the browser's number for them.
     * @type {Map<number, WeakRef<El>>}
     */
    this.listening = new Map();
    /**
     * The same for elements that have only a hover listener.
     * @type {Map<number, WeakRef<El>>}
     */
    this.hovering = new Map();
    /** How many probes asked about an element. @type {WeakMap<El, number>} */
    this.asked = new WeakMap();
    /** Elements that were asked about, for askAgain. @type {WeakRef<El>[]} */
    this.waiting = [];
    /**
     * Elements that the next probe asks about: custom ones, and those that had no size yet.
     * @type {WeakRef<El>[]}
     */
    this.askLater = [];
    /** Hosts of unknown roots that have elements with listeners, which askAboutHost asked about. @type {WeakSet<El>} */
    this.hostsOfListeners = new WeakSet();
    /** Elements whose press changed nothing, after which a probe was due once. @type {WeakSet<El>} */
    this.idle = new WeakSet();
    /** Where classifyAgain continues. @type {Iterator<WeakRef<El>> | null} */
    this.cursor = null;
    /** The items of the containers that listen for them. @type {WeakMap<El, Set<El>>} */
    this.items = new WeakMap();
    /** The loadStage at the last probe. */
    this.stage = -1;
    /** The daemon probes no error pages of the browser: see probe in documents/probe.go. */
    this.never = location.protocol === "chrome-error:";
  }

  /**
   * An element or shadow root was inserted: a probe is due if anything in it may have a listener.
   * @param {El | Shadow} root
   */
  noteInserted(root) {
    if (isElement(root) && safe.matches(root, NO_LISTENERS) && firstWithin(root, MAY_LISTEN) === null) return;
    this.probeDue = true;
    this.addPending(root);
  }

  /**
   * An action is over. A press that changed nothing may have added listeners, which no mutation shows: a probe is due, once for
   * each element.
   * @param {Rest} rest
   */
  noteIdlePress({ el, changed }) {
    if (el === null || changed || this.idle.has(el)) return;
    this.idle.add(el);
    this.probeDue = true;
  }

  /** The next probe searches an element or shadow root. @param {El | Shadow} root */
  addPending(root) {
    if (this.pending === null) return;
    if (this.pending.length < MAX_PENDING) this.pending.push(new WeakRef(root));
    else this.pending = null;
  }

  /** The next probe searches the whole document. */
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

  /** Whether a probe is due before a read: the document has grown, or internals may have changed. */
  get due() {
    return this.grown || this.model.internals.due;
  }

  /**
   * Elements that may have a closed shadow root: custom elements, and those that are empty but have
   * a size. Behind null, those that may have internals. It also begins the probe: what is inserted from now on is for
   * the next one.
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
   * Asks about the candidates in an inserted element or shadow root.
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
   * Asks about some elements again, in turn, because a root can be attached at any time.
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
   * Asks about the custom elements among all, and about the empty elements.
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
   * Adds an element to those that the daemon asks about, or to askLater, unless it was asked often
   * enough.
   * @param {El[]} out @param {El} el
   */
  ask(out, el) {
    const tag = tagOf(el), isCustom = tag.includes("-");
    if (isCustom) this.model.internals.note(el, tag);
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
   * Takes the answer of the browser, which the daemon sends.
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
    nodes.forEach((node, i) => {
      // The answer includes nodes of same-process frames. A node belongs to the world that sees it
      // first, so even nodes of this document may have the prototypes of another frame: they are
      // read through `slow` alone.
      if (slow.ownerDocument(node) !== this.model.doc) return;
      if (!isElement(node)) {
        // A closed root, whose mode the browser said. The mode is never read here: that of a root of the browser's
        // own, as in its viewer of JSON documents, ends the renderer.
        if (isShadow(node)) this.addClosedRoot(node);
        return;
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
        this.setListening(node, false, isOwnListener(node, this.model.elements.length));
      }
    });
    this.classifyAgain();
  }

  /** The next probe asks for the mode of a root that is not known, in which an element has a listener. @param {Node} root */
  askAboutHost(root) {
    if (!isShadow(root) || shadowOf(root.host) === root || this.hostsOfListeners.has(root.host)) return;
    this.hostsOfListeners.add(root.host);
    this.asked.delete(root.host);
    this.askLater.push(new WeakRef(root.host));
    this.probeDue = true;
  }

  /** Decides whether an element with a click listener is interactive. @param {El} el */
  classify(el) {
    const own = isOwnListener(el, this.model.elements.length) && !this.holdsPointers(el);
    const items = own ? itemsOf(el) : [];
    const clickable = own && items.length === 0;
    this.setListening(el, clickable, false);
    this.setItems(el, items);
    if (clickable && !this.needsWalk && !safe.matches(el, CANDIDATES)) this.needsWalk = true;
  }

  /**
   * Whether an element without cursor: pointer has several elements in it that count for theirs, such as the days of a calendar that is
   * drawn by boxes: it listens for them, or keeps their clicks from the page.
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

  /** Notes the items that a container listens for. @param {El} el @param {El[]} items none: it listens for itself, or no longer */
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

  /** Classifies an element that was added, or got children, and what listens around it: it may listen for them now. @param {El} el */
  classifyAround(el) {
    for (let /** @type {El | null} */ n = el, i = 0; n && i < MAX_LISTENERS_AROUND; n = flatElement(n), i++) if (isClickable(n)) this.classify(n);
  }

  /** Classifies some elements again, in turn, because their content may have changed. */
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
    this.noteInserted(root); // it may contain more hosts
    if (this.model.changes.rescan) return;
    this.model.sweep.checkRoot(root.host);
  }
}

/**
 * How far the document has loaded: parsed, loaded. Scripts that wait for DOMContentLoaded or load
 * add listeners then, often without a mutation.
 */
function loadStage() {
  const { domContentLoadedEventEnd: parsed, loadEventEnd: loaded } = performance.timing;
  return Number(parsed > 0) + Number(loaded > 0);
}

/**
 * Whether an element listens to clicks for itself: not for many others in it (event delegation),
 * and not inside a link or button with the same text.
 * @param {El} el @param {number} all the number of elements in the document
 */
function isOwnListener(el, all) {
  const tag = tagOf(el);
  if (tag === "html" || tag === "body" || tag === "form") return false;
  if (all > 20 && el.getElementsByTagName("*").length * 2 > all) return false;
  if (el.querySelectorAll(INTERACTIVE_SELECTOR).length > DELEGATES_ABOVE) return false;
  for (let up = flatElement(el), i = 0; up && i < 8; up = flatElement(up), i++) {
    const outer = tagOf(up);
    if (outer === "button" || (outer === "a" && hasAttr(up, "href"))) {
      return safe.textContent(up).trim() !== safe.textContent(el).trim();
    }
    if (outer.includes("-") && INTERACTIVE_ROLES.has(explicitRole(up)) && shadowOf(up) !== null) return firstWithin(el, "slot") === null;
  }
  return true;
}

/** Containers whose children are items, by tag and role. */
const CONTAINER_TAGS = new Set(["table", "tbody", "ul", "ol", "menu", "dl"]);
const ITEM_CONTAINERS = new Set(["list", "listbox", "menu", "menubar", "table", "grid", "treegrid", "tree", "tablist", "radiogroup", "rowgroup"]);
/** A table with more cells than this has rows as its items. */
const MAX_CELLS = 200;
/** How many items of one container are listed by themselves. */
const MAX_ITEMS = 500;
/** How many equal children a box has at least that is no container by tag or role. */
const MIN_EQUAL = 3;
/** How many boxes of one child are followed to the items. */
const MAX_WRAPPERS = 3;

/**
 * The items of a container that listens for what is in it (event delegation), such as the cells of a table, the
 * entries of a list, the days of a calendar: of equal shape, and each with something of its own. None: the element listens for itself.
 * @param {El} el @returns {El[]}
 */
function itemsOf(el) {
  const tag = tagOf(el), role = explicitRole(el);
  if (INTERACTIVE_ROLES.has(role) && role !== "listbox") return [];
  if (tag === "svg") return shapesOf(el);
  const container = CONTAINER_TAGS.has(tag) || ITEM_CONTAINERS.has(role);
  if (!container && (role !== "" || hasOwnText(el) || isPointerCursor(getComputedStyle(el).cursor))) return [];
  if (tag === "table" || tag === "tbody") return cellsOf(el);
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
  return items.filter((item) => !INTERACTIVE_TAGS.has(tagOf(item)) && hasArea(safe.rect(item)));
}

/** A field in a box that listens, such as the one that filters the entries of a list. */
const FILTERS = "input:not([type=hidden],[type=checkbox],[type=radio]),textarea,[contenteditable=true],[role=searchbox],[role=textbox]";
/** How many elements in such a box are examined. */
const MAX_FILTERED = 60;

/**
 * The entries of a box that listens for them and has a field besides: nobody clicks on such a box as a whole.
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

/** The shapes of a drawing that has several. @param {El} svg @returns {El[]} */
function shapesOf(svg) {
  const shapes = isDrawing(svg) ? [...queryWithin(svg, [...SHAPES].join(","))].filter((el) => closestOf(el, "defs,symbol,clipPath,mask,pattern,marker") === null) : [];
  return shapes.length >= 2 && shapes.length <= MAX_ITEMS ? shapes : [];
}

/** The cells of a table, or the rows of one with many. @param {El} table @returns {El[]} */
function cellsOf(table) {
  /** @type {El[]} */
  const cells = [...queryWithin(table, "td")];
  return cells.length <= MAX_CELLS ? cells.filter((cell) => hasText(safe.textContent(cell)) || isPainted(cell, "div")) : [...queryWithin(table, "tr")].slice(0, MAX_ITEMS);
}

/** The child elements that are rendered. @param {El} el @returns {El[]} */
function childrenOf(el) {
  /** @type {El[]} */
  const out = [];
  for (let c = safe.firstElementChild(el); c && out.length <= MAX_ITEMS; c = safe.nextElementSibling(c)) {
    const tag = tagOf(c);
    if (tag !== "script" && tag !== "style" && tag !== "template" && tag !== "br") out.push(c);
  }
  return out;
}

/** Whether elements have the same tag, and a class in common where they have any. @param {El[]} all */
function areEqual(all) {
  const [first] = all;
  const classes = (attr(first, "class") || "").trim().split(/\s+/, 20).filter(Boolean);
  return all.every((el) => {
    const own = (attr(el, "class") || "").trim();
    return tagOf(el) === tagOf(first) && (own === "" ? classes.length === 0 || hasOwnText(el) : classes.length === 0 || own.split(/\s+/, 20).some((c) => classes.includes(c)));
  });
}

/** Whether an element has few elements in it, none of them a control. @param {El} el */
function isLeaf(el) {
  return el.getElementsByTagName("*").length <= 3 && firstWithin(el, INTERACTIVE_SELECTOR) === null;
}

// @ts-check
// Listeners and closed shadow roots, which scripts cannot see. The daemon asks the browser for them and sends
// the answer (internal/browser/documents/probe.go), which is evaluated here.

/** On elements whose click listener makes them something to act on: true or false; absent on all others. */
const CLICKABLE = Symbol("clickable");

/** How many elements of one document the daemon is asked about at once. */
const MAX_SUSPECTS = 300;
/** How many elements that came are remembered for the next probe; beyond that it looks at all. */
const MAX_PENDING = 500;
/** How many elements wait to be asked about. */
const MAX_LATER = 1000;
/** How often a custom element is asked about: its root may come late. */
const MAX_ASKED = 3;
/** How many elements are asked about again at a probe, and how many wait for it. */
const ASKED_AGAIN = 20, MAX_WAITING = 2000;
/** How many elements are judged again at a probe. */
const JUDGED_AGAIN = 200;
/** Above this many things to act on in it, an element listens for them, not for itself. */
const DELEGATES_ABOVE = 5;

/** The elements, beside custom ones, that may have a shadow root (DOM, attachShadow). */
const HOSTS = "article,aside,blockquote,body,div,footer,h1,h2,h3,h4,h5,h6,header,main,nav,p,section,span";
const EMPTY_HOSTS = HOSTS.split(",").map((tag) => tag + ":empty").join();
/** What no listener makes something to act on: it is that already, or is not shown. Nor has it a shadow root. */
const NO_LISTENERS = "a,button,input,select,textarea,details,summary,option,optgroup,datalist,br,hr,wbr,script,style,link,meta,title,base,template,noscript,source,track,param";
const MAY_LISTEN = ":not(" + NO_LISTENERS + ")";
/** @type {(el: El, selector: string) => El | null} */
const firstWithin = method(Element, "querySelector");
const ACTED_ON = "a[href],button,input,select,textarea,summary,[role=button],[role=link],[onclick]";

class ListenerProbe {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Elements came since the daemon last asked the browser about them. */
    this.probeDue = true;
    /** Roots of what came since the last probe; null: the probe is to look at everything. @type {WeakRef<El | Shadow>[] | null} */
    this.pending = null;
    /** Some count that CANDIDATES does not find: the document is to be walked. */
    this.needsWalk = false;
    /** Elements with a click listener by the browser's number for them. @type {Map<number, WeakRef<El>>} */
    this.listening = new Map();
    /** How often an element was asked about. @type {WeakMap<El, number>} */
    this.asked = new WeakMap();
    /** Elements that were asked about, for askAgain. @type {WeakRef<El>[]} */
    this.waiting = [];
    /** Custom elements, and elements without a size, that are to be asked about still. @type {WeakRef<El>[]} */
    this.askLater = [];
    /** Where judgeAgain goes on. @type {Iterator<WeakRef<El>> | null} */
    this.cursor = null;
    /** How far the document had loaded at the last probe. */
    this.stage = -1;
  }

  /** An element or shadow root came, with what is in it: a probe is due if any of it may listen. @param {El | Shadow} root */
  noteInserted(root) {
    if (isElement(root) && safe.matches(root, NO_LISTENERS) && firstWithin(root, MAY_LISTEN) === null) return;
    this.probeDue = true;
    this.addPending(root);
  }

  /** The next probe looks at an element or shadow root, and at what is in it. @param {El | Shadow} root */
  addPending(root) {
    if (this.pending === null) return;
    if (this.pending.length < MAX_PENDING) this.pending.push(new WeakRef(root));
    else this.pending = null;
  }

  /** The next probe looks at everything. */
  forgetPending() {
    this.probeDue = true;
    this.pending = null;
  }

  /** Whether a probe is due before a read: elements came since the last one, or the document has loaded further. */
  get due() {
    return this.probeDue || this.stage !== loadStage();
  }

  /**
   * Elements that may have a closed shadow root: custom elements, and what is empty but has a size. Whatever
   * grows from now on calls for another probe.
   */
  suspects() {
    const { model } = this;
    /** @type {El[]} */
    const out = [];
    const { pending } = this;
    const again = this.askLater;
    this.probeDue = false;
    this.stage = loadStage();
    this.pending = [];
    this.askLater = [];
    for (const ref of again) {
      const el = ref.deref();
      if (el && safe.isConnected(el)) this.ask(out, el);
    }
    if (pending === null) {
      this.suspect(out, model.elements, safe.querySelectorAll(model.doc, EMPTY_HOSTS));
      for (const root of model.sweep.shadows) this.suspect(out, root.querySelectorAll("*"), root.querySelectorAll(EMPTY_HOSTS));
    }
    for (const ref of pending || []) {
      const el = ref.deref();
      if (!el || !safe.isConnected(el)) continue;
      if (isShadow(el)) {
        this.suspect(out, el.querySelectorAll("*"), el.querySelectorAll(EMPTY_HOSTS));
        continue;
      }
      this.suspect(out, [el], safe.matches(el, EMPTY_HOSTS) ? [el] : []);
      if (safe.firstElementChild(el)) this.suspect(out, queryWithin(el, "*"), queryWithin(el, EMPTY_HOSTS));
    }
    this.askAgain(out);
    return out;
  }

  /** A root may come at any time to an element that had none: some are asked about again, in turn. @param {El[]} out */
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

  /** @param {El[]} out @param {ArrayLike<El>} all @param {Iterable<El>} empty */
  suspect(out, all, empty) {
    for (let i = 0, n = Math.min(all.length, MAX_ELEMENTS); i < n; i++) {
      if (tagOf(all[i]).includes("-")) this.ask(out, all[i]);
    }
    for (const el of empty) this.ask(out, el);
  }

  /** @param {El[]} out @param {El} el */
  ask(out, el) {
    const most = tagOf(el).includes("-") ? MAX_ASKED : 1;
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
   * Takes what the daemon found out.
   * @param {{on: number[], off: number[]}} numbers of elements that have, and no longer have, a click listener
   * @param {DomNode[]} nodes the elements of `on`, then closed shadow roots
   */
  takeAnswer({ on, off }, nodes) {
    for (const number of off) {
      const ref = this.listening.get(number);
      const el = ref && ref.deref();
      this.listening.delete(number);
      if (el) this.setClickable(el, false);
    }
    nodes.forEach((node, i) => {
      // Nodes of frames in this document come too. They are made known to our world by whichever agent is told
      // of them first, so even its own may have another frame's prototypes: nothing here asks for those.
      if (slow.ownerDocument(node) !== this.model.doc) return;
      const root = slow.getRootNode(node);
      if (isShadow(root) && root.mode === "closed") this.addClosedRoot(root);
      if (i < on.length && isElement(node)) {
        this.listening.set(on[i], new WeakRef(node));
        this.judge(node);
      }
    });
    this.judgeAgain();
  }

  /** Decides whether an element that listens is something to act on. @param {El} el */
  judge(el) {
    const clickable = isOwnListener(el, this.model.elements.length);
    this.setClickable(el, clickable);
    if (clickable && !this.needsWalk && !safe.matches(el, CANDIDATES)) this.needsWalk = true;
  }

  /** What is in an element may have changed since it was judged: looks at some at a time. */
  judgeAgain() {
    for (let i = 0; i < JUDGED_AGAIN; i++) {
      if (!this.cursor) this.cursor = this.listening.values();
      const { done, value } = this.cursor.next();
      if (done) {
        this.cursor = null;
        return;
      }
      const el = value.deref();
      if (el) this.judge(el);
    }
  }

  /** @param {El} el @param {boolean} clickable */
  setClickable(el, clickable) {
    if ((el[CLICKABLE] === true) === clickable) return;
    el[CLICKABLE] = clickable;
    if (!this.model.changes.rescan) this.model.changes.added.add(el);
  }

  /** @param {Shadow} root */
  addClosedRoot(root) {
    closedRoots = closedRoots || new WeakMap();
    if (closedRoots.has(root.host)) return;
    closedRoots.set(root.host, root);
    this.noteInserted(root); // there may be more in it
    if (this.model.changes.rescan) return;
    this.model.sweep.checkRoot(root.host);
  }
}

/**
 * How far the document has loaded. Scripts that wait for it to be parsed, or loaded with all its pictures, add
 * listeners then, and need not change anything else.
 */
function loadStage() {
  const { domContentLoadedEventEnd: parsed, loadEventEnd: loaded } = performance.timing;
  return Number(parsed > 0) + Number(loaded > 0);
}

/**
 * Whether an element listens to clicks for itself: not for many others in it, as roots of applications,
 * tables and lists do, and not inside a link or button that already says the same.
 * @param {El} el @param {number} all the number of elements in the document
 */
function isOwnListener(el, all) {
  const tag = tagOf(el);
  if (tag === "html" || tag === "body" || tag === "form") return false;
  if (all > 20 && el.getElementsByTagName("*").length * 2 > all) return false;
  if (el.querySelectorAll(ACTED_ON).length > DELEGATES_ABOVE) return false;
  for (let up = flatElement(el), i = 0; up && i < 8; up = flatElement(up), i++) {
    const outer = tagOf(up);
    if (outer === "button" || (outer === "a" && hasAttr(up, "href"))) {
      return safe.textContent(up).trim() !== safe.textContent(el).trim();
    }
  }
  return true;
}

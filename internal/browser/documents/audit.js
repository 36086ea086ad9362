/**
 * Finds barriers in the document, without changing it, and returns them as a list of [rule, ref, element, ...details]. The ref is -1 for an element that the
 * daemon does not list; element consists of its tag, id and classes. Package audit describes the rules. In the main document, the script also reads the browser's
 * web vitals.
 *
 * @param {unknown} entry fails if the document has no observer
 * @param {boolean} main whether to read the vitals
 * @returns {string} JSON
 */
(function (entry, main) {
  const MAX_ELEMENTS = 50000, MAX_TEXTS = 3000, MAX_FINDINGS = 1000, MAX_TARGETS = 1500, MAX_CLIMB = 200;
  const { model } = globalThis.__domtap;
  const doc = document;
  const out = { findings: [], unknown: 0, truncated: false, title: true, lang: "", vitals: null };

  // ---- elements --------------------------------------------------------------------------

  /** A name for an element without a ref. */
  const nameOf = (el) => {
    const id = el.getAttribute("id"), classes = (el.getAttribute("class") || "").trim().split(/\s+/).filter(Boolean).slice(0, 3);
    return (el.localName + (id ? "#" + id : "") + classes.map((c) => "." + c).join("")).slice(0, 120);
  };
  const refOf = (el) => {
    const rec = model.records.get(el);
    return rec && rec.sent && rec.ref >= 0 ? rec.ref : -1;
  };
  /** The ref of an element, or of its nearest ancestor with a ref. */
  const nearRef = (el) => {
    for (let n = el, i = 0; n && i < MAX_CLIMB; n = parentOf(n), i++) {
      const ref = refOf(n);
      if (ref >= 0) return ref;
    }
    return -1;
  };
  const parentOf = (el) => el.assignedSlot || el.parentElement || (el.getRootNode() instanceof ShadowRoot ? el.getRootNode().host : null);
  const add = (rule, el, ...details) => {
    if (out.findings.length >= MAX_FINDINGS) out.truncated = true;
    else out.findings.push([rule, el ? refOf(el) : -1, el ? nameOf(el) : "", ...details]);
  };
  const isShown = (el) => el.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const isHidden = (el) => {
    for (let n = el, i = 0; n && i < MAX_CLIMB; n = parentOf(n), i++) if (n.getAttribute("aria-hidden") === "true") return true;
    return false;
  };
  const isPresentation = (el) => /^(none|presentation)$/i.test((el.getAttribute("role") || "").trim());
  const named = (el) => ["aria-label", "aria-labelledby", "title"].some((a) => (el.getAttribute(a) || "").trim() !== "");

  const trees = [doc, ...[...model.sweep.shadows].filter((root) => root.isConnected)];
  const all = [];
  for (const tree of trees) {
    for (const el of tree.querySelectorAll("*")) {
      if (all.length >= MAX_ELEMENTS) {
        out.truncated = true;
        break;
      }
      all.push(el);
    }
  }
  /**
   * The labels of fields, collected once: the browser walks the whole document each time a script reads the
   * labels of a field.
   */
  const labels = new Map();
  for (const el of all) {
    if (el.localName !== "label" || !el.control) continue;
    if (!labels.has(el.control)) labels.set(el.control, []);
    labels.get(el.control).push(el);
  }
  const labelsOf = (el) => labels.get(el) || [];

  // ---- the document -----------------------------------------------------------------------

  const root = doc.documentElement;
  out.title = doc.title.trim() !== "";
  out.lang = (root && (root.getAttribute("lang") || root.getAttribute("xml:lang")) || "").trim().slice(0, 40);
  const viewport = doc.querySelector("meta[name=viewport i]");
  if (viewport) {
    const content = (viewport.getAttribute("content") || "").toLowerCase();
    const most = /maximum-scale\s*=\s*([\d.]+)/.exec(content);
    if (/user-scalable\s*=\s*(no|0)\b/.test(content) || (most && parseFloat(most[1]) < 2)) add("page-zoom", viewport);
  }
  if (main && root && all.length > 50 && !doc.querySelector("main,[role=main],h1,h2,h3,[role=heading],a[href^='#']")) add("page-bypass", root);

  // ---- one element at a time ----------------------------------------------------------------

  const FOCUSABLE = "a[href],button,input:not([type=hidden]),select,textarea,summary,iframe,audio[controls],video[controls],[contenteditable=''],[contenteditable=true],[tabindex]";
  const TARGETS = "a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=tab],[role=menuitem],[role=option],[role=slider]";
  const REFERENCES = ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-activedescendant", "aria-details", "aria-errormessage"];
  /**
   * Attributes without which an element loses its name. The other attributes may refer to elements
   * that are added later.
   */
  const NAMING = new Set(["aria-labelledby", "aria-describedby", "for"]);
  const referenced = new Map();
  const targets = [];
  for (const el of all) {
    const tag = el.localName;
    const ids = [];
    for (const a of REFERENCES) for (const id of (el.getAttribute(a) || "").split(/\s+/)) if (id) ids.push([a, id]);
    if (tag === "label" && el.getAttribute("for")) ids.push(["for", el.getAttribute("for")]);
    for (const [attribute, id] of ids.slice(0, 50)) {
      const scope = el.getRootNode();
      const key = trees.indexOf(scope) + " " + id;
      if (!referenced.has(key)) referenced.set(key, [attribute, id, el, scope]);
    }
    if (!isShown(el)) continue;
    if ((tag === "img" || tag === "area" || (tag === "input" && el.type === "image")) && !el.hasAttribute("alt") && !named(el) && !isPresentation(el) && !isHidden(el)) add("image-alt", el);
    if (tag === "svg" && /^(img|graphics-)/.test(el.getAttribute("role") || "") && !named(el) && !el.querySelector(":scope > title") && !isHidden(el)) add("image-alt", el);
    if (/^h[1-6]$/.test(tag) && !isPresentation(el) && !isHidden(el) && !named(el) && el.textContent.trim() === "" && !el.querySelector("img[alt]:not([alt='']),svg,[aria-label],slot")) add("heading-empty", el);
    if ((tag === "iframe" || tag === "frame") && !named(el) && !isHidden(el) && el.tabIndex >= 0 && el.getBoundingClientRect().width > 1) add("frame-title", el);
    if (el.tabIndex > 0) add("tab-order", el, el.tabIndex);
    if (el.matches(FOCUSABLE) && el.tabIndex >= 0 && !el.matches(":disabled") && isHidden(el)) add("hidden-focus", el);
    if ((tag === "input" || tag === "textarea") && (el.getAttribute("placeholder") || "").trim() && !named(el) && !labelsOf(el).length && el.type !== "hidden") add("placeholder-label", el);
    if ((tag === "video" || tag === "audio") && el.hasAttribute("autoplay") && !el.muted && !el.hasAttribute("muted") && !el.hasAttribute("controls")) add("autoplay", el);
    if (el.matches(TARGETS) && !el.matches(":disabled") && targets.length < MAX_TARGETS) targets.push(el);
  }
  for (const [attribute, id, el, scope] of referenced.values()) {
    let found = scope.querySelectorAll("#" + CSS.escape(id)).length;
    if (found > 1) add("duplicate-id", el, attribute, id.slice(0, 80), found);
    if (found === 0 && NAMING.has(attribute) && isShown(el)) add("broken-reference", el, attribute, id.slice(0, 80));
  }

  // Finds elements that can be clicked with a mouse but not reached by keyboard, among the interactive elements that the
  // daemon lists.
  for (let rec = model.records.head.next, i = 0; rec && i < MAX_ELEMENTS; rec = rec.next, i++) {
    const el = rec.node;
    if (rec.fields[0] !== 0 || el.tabIndex >= 0 || el.matches("a,button,input,select,textarea,summary,label,option,[tabindex],[aria-activedescendant]") || isHidden(el)) continue;
    if (el.closest("a[href],button,label,summary,[tabindex],[contenteditable]") || el.querySelector("a[href],button,input,select,textarea,summary,[tabindex]")) continue;
    if (el.closest("[aria-activedescendant],select,[role=listbox],[role=menu],[role=tree],[role=grid],[role=radiogroup],[role=tablist]")) continue;
    add("keyboard", el);
  }

  // ---- targets: size, and what covers them ---------------------------------------------------

  const LEAST = 24;
  const boxes = targets.map((el) => {
    let box = el.getBoundingClientRect();
    for (const label of labelsOf(el)) {
      const b = label.getBoundingClientRect();
      const x = Math.min(box.left, b.left), y = Math.min(box.top, b.top);
      box = new DOMRect(x, y, Math.max(box.right, b.right) - x, Math.max(box.bottom, b.bottom) - y);
    }
    return box;
  });
  const isInline = (el) => {
    if (getComputedStyle(el).display !== "inline" || !el.parentElement) return false;
    return [...el.parentElement.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== "");
  };
  /**
   * The exception for controls with the browser's own size. They are recognized by their default border,
   * which pages do not set.
   */
  const isBrowsers = (el) => {
    const style = getComputedStyle(el);
    if (el.localName === "input" && (el.type === "checkbox" || el.type === "radio")) return style.appearance === "auto";
    return /^(outset|inset)$/.test(style.borderTopStyle) && /^(button|input|select|textarea)$/.test(el.localName);
  };
  const small = boxes.map((b) => b.width > 1 && b.height > 1 && (b.width < LEAST || b.height < LEAST));
  targets.forEach((el, i) => {
    const b = boxes[i];
    const x = b.left + b.width / 2, y = b.top + b.height / 2;
    if (small[i] && !isInline(el) && !isBrowsers(el)) {
      // The exception for spacing: a circle with a diameter of 24 pixels on the target meets neither another target
      // nor the circle of another small target.
      const crowded = boxes.some((o, j) => {
        if (j === i || o.width <= 1 || targets[j].contains(el) || el.contains(targets[j])) return false;
        if (small[j] && Math.hypot(o.left + o.width / 2 - x, o.top + o.height / 2 - y) < LEAST) return true;
        return Math.hypot(Math.max(o.left - x, 0, x - o.right), Math.max(o.top - y, 0, y - o.bottom)) < LEAST / 2;
      });
      if (crowded) add("target-size", el, Math.round(b.width), Math.round(b.height));
    }
    if (b.width <= 1 || b.height <= 1 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return;
    let hit = doc.elementFromPoint(x, y);
    while (hit && hit.shadowRoot && hit !== el && !hit.contains(el)) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    if (!hit || getComputedStyle(el).pointerEvents === "none") return;
    const within = (a, b) => {
      for (let n = a, k = 0; n && k < MAX_CLIMB; n = parentOf(n), k++) if (n === b) return true;
      return false;
    };
    if (within(hit, el) || within(el, hit) || labelsOf(el).some((label) => within(hit, label) || within(label, hit))) return;
    if (hit.getRootNode() !== el.getRootNode() && !(el.getRootNode() instanceof Document)) return; // in a closed tree, so it is unknown what covers it
    add("covered", el, nameOf(hit));
  });

  // ---- contrast ------------------------------------------------------------------------------

  /** Red, green, blue and alpha of a computed color; null for other color spaces. */
  const colorOf = (text) => {
    const m = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : null;
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat([1]);
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratioOf = (a, b) => {
    const x = luminance(a), y = luminance(b);
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  /** The opaque background of a text; null when it cannot be computed. */
  const backgroundOf = (el) => {
    const layers = [];
    for (let n = el, i = 0; n; n = parentOf(n), i++) {
      if (i >= MAX_CLIMB) return null;
      const style = getComputedStyle(n);
      if (style.backgroundImage !== "none" || style.opacity !== "1" || style.filter !== "none" || style.mixBlendMode !== "normal" || style.backdropFilter && style.backdropFilter !== "none") return null;
      const color = colorOf(style.backgroundColor);
      if (!color) return null;
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
      // The background under the element may not be the background of its ancestors.
      if (style.position === "absolute" || style.position === "fixed" || style.position === "sticky") return null;
      if (!parentOf(n)) layers.push([255, 255, 255, 1]);
    }
    let color = layers.pop() || [255, 255, 255, 1];
    while (layers.length) color = over(layers.pop(), color);
    return color;
  };
  const pairs = new Map();
  let texts = 0;
  for (const el of all) {
    if (texts >= MAX_TEXTS) {
      out.truncated = true;
      break;
    }
    if (/^(script|style|noscript|option|title|textarea)$/.test(el.localName) || el.namespaceURI !== "http://www.w3.org/1999/xhtml") continue;
    let has = false;
    for (let n = el.firstChild; n && !has; n = n.nextSibling) has = n.nodeType === 3 && n.data.trim() !== "";
    if (!has || !isShown(el) || el.closest(":disabled,[aria-disabled=true]")) continue;
    const box = el.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    texts++;
    const style = getComputedStyle(el);
    const text = colorOf(style.color), below = text && style.textShadow === "none" ? backgroundOf(el) : null;
    if (!below) {
      out.unknown++;
      continue;
    }
    if (text[3] === 0) continue; // the application hides the text this way
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    const ratio = ratioOf(over(text, below), below), need = large ? 3 : 4.5;
    if (ratio >= need - 0.005) continue;
    const key = [style.color, below.map(Math.round).join(), large].join("|");
    const known = pairs.get(key);
    if (known) known[3]++;
    else pairs.set(key, [el, Math.floor(ratio * 100) / 100, need, 0]);
  }
  for (const [el, ratio, need, more] of pairs.values()) {
    if (out.findings.length >= MAX_FINDINGS) out.truncated = true;
    else out.findings.push(["contrast", nearRef(el), nameOf(el), ratio, need, more]);
  }

  // ---- web vitals ------------------------------------------------------------------------------

  /** The entries of a type that the browser has kept. */
  const entriesOf = (type) => {
    try {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type, buffered: true, durationThreshold: 16 });
      const entries = observer.takeRecords();
      observer.disconnect();
      return entries;
    } catch {
      return [];
    }
  };
  const shiftOf = (shifts) => {
    let worst = 0, sum = 0, first = 0, last = 0;
    for (const s of shifts) {
      if (s.hadRecentInput) continue;
      if (sum > 0 && s.startTime - last < 1000 && s.startTime - first < 5000) sum += s.value;
      else [sum, first] = [s.value, s.startTime];
      last = s.startTime;
      worst = Math.max(worst, sum);
    }
    return worst;
  };
  const vitalsOf = () => {
    const v = {};
    const [navigation] = performance.getEntriesByType("navigation");
    if (navigation && navigation.responseStart > 0) v.ttfb = navigation.responseStart;
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    if (paint) v.fcp = paint.startTime;
    const largest = entriesOf("largest-contentful-paint").pop();
    if (largest) {
      v.lcp = largest.startTime;
      if (largest.element) v.lcpElement = nameOf(largest.element);
    }
    // Before the first paint nothing can shift.
    if (paint) v.cls = shiftOf(entriesOf("layout-shift"));
    const [input] = entriesOf("first-input");
    if (input) v.fid = input.processingStart - input.startTime;
    const slowest = new Map();
    for (const e of entriesOf("event")) if (e.interactionId) slowest.set(e.interactionId, Math.max(e.duration, slowest.get(e.interactionId) || 0));
    if (input && input.interactionId) slowest.set(input.interactionId, Math.max(input.duration, slowest.get(input.interactionId) || 0));
    const count = Math.max(performance.interactionCount || 0, slowest.size);
    const sorted = [...slowest.values()].sort((a, b) => b - a);
    if (sorted.length) v.inp = sorted[Math.min(sorted.length - 1, Math.floor(count / 50))];
    else if (count > 0) v.inpBelow = 104;
    return v;
  };
  if (main) out.vitals = vitalsOf();
  return JSON.stringify(out);
})

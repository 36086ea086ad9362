// Says what the page received and what it holds. It is installed before the scripts of the page, in every frame of its origin, and
// shares no code with domtap: what domtap answers is compared with it.
"use strict";
(() => {
  /** @type {any} */
  const boss = (() => { try { return window.top.witness ? window.top : window; } catch { return window; } })();
  const MOVES = ["pointermove", "mousemove", "pointerover", "mouseover", "pointerenter"];
  const TYPES = [...MOVES, "pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "contextmenu", "dblclick", "keydown", "input", "change", "wheel", "scroll", "dragstart", "dragover", "drop", "dragend"];
  const ATTRIBUTE = "data-witness";
  const ids = boss.witness ? boss.witness.ids : new WeakMap();
  const elements = boss.witness ? boss.witness.elements : new Map();
  let log = [], early = null, due = 0;

  /** The number of an element, which no other element ever has. */
  function idOf(el) {
    let id = ids.get(el);
    if (!id) {
      ids.set(el, id = ++boss.witnessed || (boss.witnessed = 1));
      elements.set(id, new WeakRef(el));
    }
    return id;
  }

  const isElement = (n) => n && n.nodeType === 1;

  /** The element around, through shadow roots and frames. */
  function parentOf(el) {
    if (el.assignedSlot) return el.assignedSlot;
    if (el.parentElement) return el.parentElement;
    const root = el.getRootNode();
    return root.host || (root.defaultView && root.defaultView.frameElement) || null;
  }

  function* upward(el) {
    for (; el; el = parentOf(el)) yield el;
  }

  /** All elements of the page, through open shadow roots and frames of its origin. */
  function* all(root = document) {
    for (const el of root.querySelectorAll("*")) {
      yield el;
      if (el.shadowRoot) yield* all(el.shadowRoot);
      if (el.localName === "iframe" && el.contentDocument) yield* all(el.contentDocument);
    }
  }

  /** The elements at a point, topmost first, and those around them. */
  function over(x, y, root) {
    const found = [];
    for (const el of root.elementsFromPoint(x, y)) {
      for (const up of upward(el)) found.push(idOf(up));
      if (el.shadowRoot && el.getRootNode() === root) found.push(...over(x, y, el.shadowRoot));
    }
    return [...new Set(found)];
  }

  function record(e) {
    const path = e.composedPath().filter(isElement);
    if (window.frameElement) path.push(...upward(window.frameElement));
    const one = { type: e.type, trusted: e.isTrusted, path: path.map(idOf), key: e.key || "" };
    if (["pointerup", "mouseup", "drop", "dragend"].includes(e.type)) one.over = over(e.clientX, e.clientY, document);
    boss.witness.note(one);
  }
  for (const type of TYPES) window.addEventListener(type, record, { capture: true, passive: true });
  if (boss !== window) return;

  /** What a person reads: the texts, and what the fields hold. What is only announced, or measured off the page, is left out. */
  function text() {
    let shown = document.body ? document.body.innerText : "";
    const isOff = (el) => el.getBoundingClientRect().bottom <= 0 || el.getBoundingClientRect().right <= 0;
    const measured = [...document.querySelectorAll("body>[aria-hidden=true]")].filter(isOff);
    for (const live of [...document.querySelectorAll("[aria-live],[role=log],[role=status],[role=alert]"), ...measured]) shown = shown.replace(live.innerText, "");
    const parts = [shown];
    for (const el of all()) {
      if (el.shadowRoot) for (const child of el.shadowRoot.children) parts.push(child.innerText || "");
      if (el.localName === "iframe" && el.contentDocument && el.contentDocument.body) parts.push(el.contentDocument.body.innerText);
      if (/^(input|textarea|select)$/.test(el.localName) && el.type !== "hidden" && el.checkVisibility())
        parts.push(el.type === "checkbox" || el.type === "radio" ? String(el.checked) : el.value);
    }
    return parts.map((p) => p.replace(/\s+/g, " ").trim()).filter(Boolean).join("\n");
  }

  /** Keeps an event, and looks at the page two frames after the last one. */
  function note(one) {
    if (log.length < 3000) log.push(one);
    if (MOVES.includes(one.type)) return;
    const now = ++due;
    requestAnimationFrame(() => requestAnimationFrame(() => { if (now === due) early = text(); }));
  }

  /** The fields in an element and the one that it is the label of. */
  function fields(el) {
    const found = [el];
    if (el.control) found.push(el.control);
    const inside = [...el.querySelectorAll("input,textarea,select,[contenteditable]")];
    if (el.shadowRoot) inside.push(...el.shadowRoot.querySelectorAll("input,textarea,select,[contenteditable]"));
    return found.concat(inside.slice(0, 8));
  }

  /** What an element may be said to hold. */
  function holds(el) {
    const found = [];
    for (const f of fields(el)) {
      if (typeof f.value === "string" || typeof f.value === "number") found.push(String(f.value));
      for (const name of ["aria-valuenow", "aria-valuetext", "data-value"]) if (f.hasAttribute(name)) found.push(f.getAttribute(name));
      if (f.localName === "select") for (const o of f.selectedOptions) found.push(o.label);
      if (f.innerText) found.push(f.innerText.trim());
    }
    return found;
  }

  /** Whether it is checked, where it can be: "true", "false" or "mixed". */
  function checked(el) {
    for (const f of fields(el)) {
      if (f.type === "checkbox" || f.type === "radio") return f.indeterminate ? "mixed" : String(f.checked);
      for (const name of ["aria-checked", "aria-pressed", "aria-selected"]) if (f.hasAttribute(name)) return f.getAttribute(name);
    }
    return "";
  }

  const CONTROL = "a[href],button,input:not([type=hidden]),select,textarea,[tabindex],[role=button],[role=option]";
  const FIELD = "input,select,textarea,[role=combobox],[role=checkbox],[role=radio],[role=switch],[role=slider],[role=spinbutton]";

  /** What a press may be on to be one on an element: its label, the field that it is the label of, the box that draws a field and holds no other, the host that it is the control of, or what takes the presses of an element that takes none. */
  function standIns(el) {
    const found = [...(el.labels || []), ...(el.control ? [el.control] : [])], host = el.getRootNode().host;
    if (host && host.shadowRoot.querySelectorAll(CONTROL).length === 1) found.push(host);
    let box = null;
    if (el.matches(FIELD)) {
      for (const up of [...upward(el)].slice(1, 5)) {
        if ([...up.querySelectorAll(CONTROL)].some((other) => other !== el && !el.contains(other) && !other.contains(el))) break;
        box = up;
      }
    }
    if (box) found.push(box);
    if (getComputedStyle(el).pointerEvents === "none") found.push([...upward(el)].find((up) => getComputedStyle(up).pointerEvents !== "none") || el);
    return found.map(idOf);
  }

  function state(id) {
    const el = elements.get(id)?.deref();
    if (!el || !el.isConnected) return { there: false };
    const around = [...upward(el)].slice(0, 5).pop();
    return {
      there: true, tag: el.localName, html: el.outerHTML.replace(/\s+/g, " ").slice(0, 200), path: [...upward(el)].map(idOf), standIns: standIns(el),
      holds: holds(el), around: (around.innerText || "").replace(/\s+/g, " "), checked: checked(el), hovered: el.matches(":hover"),
      options: el.localName === "select" ? [...el.options].filter((o) => !o.disabled).map((o) => o.label) : [],
    };
  }

  /** Puts the numbers into an attribute, which reads ask for. What is in an editor is left alone. */
  function number() {
    for (const el of all()) {
      if (el.parentElement && el.parentElement.isContentEditable) continue;
      const id = String(idOf(el));
      if (el.getAttribute(ATTRIBUTE) !== id) el.setAttribute(ATTRIBUTE, id);
    }
  }

  const ROW = "tr,li,article,[role=row],[role=listitem],[role=treeitem],.card,.row,.item";

  /** The texts that stand in one row or card and nowhere else, with the numbers of the elements around them up to the row. */
  function rows() {
    const texts = [], everything = [];
    for (const el of all()) {
      for (const name of ["aria-label", "title", "alt", "placeholder", "value"]) if (el.hasAttribute(name)) everything.push(el.getAttribute(name).toLowerCase());
      if (typeof el.value === "string") everything.push(el.value.toLowerCase());
      if (/^(script|style|noscript)$/.test(el.localName)) continue;
      for (const n of el.childNodes) {
        const words = n.nodeType === 3 ? n.data.replace(/\s+/g, " ").trim() : "";
        if (!words) continue;
        everything.push(words.toLowerCase());
        const row = [...upward(el)].find((up) => up.matches(ROW)), cell = el.closest("td,th,[role=gridcell]");
        // A cell with controls is a card of its own, as the day of a calendar.
        if (row && !(cell && row.contains(cell) && cell.querySelector("a,button,input,select,textarea,[tabindex]")) && words.length > 3 && words.length < 40 && el.checkVisibility({ visibilityProperty: true })) texts.push({ words, row, el });
      }
    }
    const single = (words) => everything.filter((other) => other.includes(words.toLowerCase())).length === 1;
    return texts.slice(0, 200).filter((t) => single(t.words)).map((t) => {
      const path = [...upward(t.el)];
      return { words: t.words, row: idOf(t.row), path: path.slice(0, path.indexOf(t.row)).map(idOf), inside: [...all(t.row)].map(idOf) };
    });
  }

  /** Waits for transitions, for two seconds at most: what fades out is still text, and goes without being caused by the next step. */
  async function ended() {
    const short = document.getAnimations().filter((a) => a.playState === "running" && a.effect && a.effect.getComputedTiming().endTime < 2000);
    if (!short.length) return;
    await Promise.race([Promise.allSettled(short.map((a) => a.finished)), new Promise((done) => setTimeout(done, 2000))]);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  window.witness = {
    ids, elements, note, number, state, rows,
    async begin() { await ended(); log = []; early = null; return text(); },
    end() { return { log, early, text: text() }; },
  };
})();

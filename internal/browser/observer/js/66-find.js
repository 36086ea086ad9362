// @ts-check
// Finding elements by label, placeholder, test id or CSS selector, which the stored DOM does not have. The search
// includes shadow trees; frames have an agent of their own.

/** How many elements are looked at for one target, and how many of them are named. */
const MAX_SOUGHT = 5000;
const MAX_MEANT = 50;
/** How many characters of an element's text are compared. */
const MAX_SAID = 100_000;

/** What has a label or a placeholder. */
const FIELDS_SELECTOR = "input:not([type=hidden]),select,textarea,meter,progress,output,[contenteditable],[role=textbox]," +
  "[role=searchbox],[role=combobox],[role=listbox],[role=checkbox],[role=radio],[role=switch],[role=slider],[role=spinbutton]," +
  "[role=radiogroup],[aria-placeholder]";
/** What holds a group of choices. */
const GROUPS_SELECTOR = "fieldset,[role=group],[role=radiogroup]";
const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy"];

/** How well a text fits, as target.Fit in Go. */
const EXACTLY = 0, FOLDED = 1, PARTLY = 2, NOT = 3;

/** @type {(el: El) => string} */
const innerTextOf = getter(HTMLElement, "innerText");

/** The text in an element as it is drawn, without what is hidden. @param {El} el */
function drawnText(el) {
  try {
    return innerTextOf(el);
  } catch {
    return safe.textContent(el); // of a drawing
  }
}

class Finder {
  /** @param {Agent} agent @param {{by: string, words: string, ref: number}} wanted */
  constructor(agent, wanted) {
    this.ref = wanted.ref;
    this.model = agent.model;
    this.by = wanted.by;
    this.words = wanted.words;
    this.wanted = clean(wanted.words, wanted.by === "innermost" ? MAX_SAID : MAX_NAME);
    this.folded = this.wanted.toLowerCase();
    /** @type {{found: [number, number][], hidden: number, was: string, more: boolean, invalid: boolean}} */
    this.answer = { found: [], hidden: 0, was: "", more: false, invalid: false };
  }

  /** Everything that fits closest among what can be seen; if there is nothing, how much of what cannot. */
  run() {
    const { model, answer } = this;
    model.visibility.begin();
    model.visibility.x = scrollX;
    model.visibility.y = scrollY;
    /** @type {El[][]} */
    const shown = [[], [], []];
    /** @type {El[][]} */
    const hidden = [[], [], []];
    try {
      for (const el of this.candidates()) {
        const fit = this.fit(el);
        if (fit === NOT) continue;
        (this.shownAs(el) ? shown : hidden)[fit].push(el);
      }
    } catch (error) {
      answer.invalid = error instanceof DOMException; // the browser does not take the selector
      if (!answer.invalid) throw error;
      return answer;
    }
    const fit = shown.findIndex((list) => list.length > 0);
    if (fit >= 0) this.name(shown[fit], fit);
    const veiled = hidden.find((list) => list.length > 0) || [];
    answer.hidden = veiled.length;
    if (veiled.length) answer.was = describeTag(veiled[0]);
    return answer;
  }

  /** @returns {El[]} in no more than the order of their trees */
  candidates() {
    const { model } = this;
    if (this.by === "submitter") return submittersOf(model.records.byRef.get(this.ref));
    if (this.by === "innermost") return this.innermost(model.records.byRef.get(this.ref));
    const out = [];
    const selector = this.selector();
    const roots = [model.doc, ...model.sweep.shadows];
    for (const root of roots) {
      if (isShadow(root) && !safe.isConnected(root.host)) continue;
      const list = inTree(root, selector);
      for (const el of list) {
        if (out.length >= MAX_SOUGHT) {
          this.answer.more = true;
          return out;
        }
        out.push(el);
      }
    }
    return out;
  }

  selector() {
    switch (this.by) {
      case "label":
        return FIELDS_SELECTOR;
      case "group":
        return GROUPS_SELECTOR;
      case "placeholder":
        return "[placeholder],[aria-placeholder]";
      case "test_id":
        return TEST_IDS.map((name) => "[" + name + "=" + CSS.escape(this.words) + "]").join();
    }
    return this.words;
  }

  /** @param {El} el */
  fit(el) {
    switch (this.by) {
      case "label":
      case "group":
        return this.fitLabel(el);
      case "placeholder":
        return Math.min(this.compare(reportedAttribute(el, "placeholder") || ""), this.compare(reportedAttribute(el, "aria-placeholder") || ""));
      case "innermost":
        return this.fitText(el);
    }
    return EXACTLY;
  }

  /** The innermost elements in one, or itself, that say the words. @param {Rec | undefined} rec @returns {El[]} */
  innermost(rec) {
    /** @type {El[]} */
    const out = [];
    if (!rec || !safe.isConnected(rec.node)) return out;
    const stack = [rec.node];
    for (let seen = 0; stack.length && out.length < MAX_MEANT; ) {
      const el = /** @type {El} */ (stack.pop());
      /** @type {El[]} */
      const inner = [];
      const open = [el]; // and what has no box of its own
      for (let i = 0; i < open.length && (el === rec.node || !INTERACTIVE_TAGS.has(tagOf(el))); i++) {
        for (const node of flatNodes(open[i], tagOf(open[i]))) {
          if (seen++ > MAX_SOUGHT) break;
          if (!isElement(node) || this.fitText(node) === NOT) continue;
          (this.shownAs(node) ? inner : open).push(node);
        }
      }
      if (inner.length) stack.push(...inner.reverse());
      else out.push(el);
    }
    return out;
  }

  /** How well the text of an element fits, as rendered or as its name has it. @param {El} el */
  fitText(el) {
    const { naming } = this.model;
    naming.visited.clear();
    naming.length = 0;
    const named = this.compare(naming.content(el, tagOf(el)), MAX_SAID);
    return named === EXACTLY ? named : Math.min(named, this.compare(MASKS === null ? drawnText(el) : reportedText(el), MAX_SAID));
  }

  /** A person reads the label, also when an aria-label names the field otherwise. @param {El} el */
  fitLabel(el) {
    const { naming, labels } = this.model;
    const tag = tagOf(el);
    probeAria(el);
    let fit = this.compare(naming.name(el, tag, roleOf(el, tag, explicitRole(el))));
    for (const label of labels.of(el)) {
      if (fit === EXACTLY) break;
      naming.visited.clear();
      naming.length = 0;
      fit = Math.min(fit, this.compare(clean(naming.content(label, "label"), MAX_NAME)), this.compare(clean(reportedText(label), MAX_NAME)));
    }
    return fit;
  }

  /** @param {string} text @param {number} [most] */
  compare(text, most = MAX_NAME) {
    const said = clean(text, most);
    if (!said) return NOT;
    if (said === this.wanted) return EXACTLY;
    const folded = said.toLowerCase();
    if (folded === this.folded) return FOLDED;
    return folded.includes(this.folded) ? PARTLY : NOT;
  }

  /** What a person sees and uses of an element: itself, the label that stands in for it, or nothing. @param {El} el */
  shownAs(el) {
    if (this.model.visibility.isVisible(el, tagOf(el))) return el;
    return this.model.hints.proxyLabels.get(el) || null;
  }

  /** @param {El[]} list @param {number} fit */
  name(list, fit) {
    const { model, answer } = this;
    if (list.length > MAX_MEANT) answer.more = true;
    const seen = new Set();
    for (const el of list.slice(0, MAX_MEANT)) {
      const stand = this.shownAs(el);
      if (!stand || seen.has(stand)) continue;
      seen.add(stand);
      const rec = model.records.get(stand);
      const listed = rec && rec.shown && rec.ref >= 0;
      if (!rec || !rec.shown) this.makeListed(stand);
      answer.found.push([listed ? rec.ref : -1, fit]);
    }
  }

  /** Makes an element a part of the stored DOM, as something that is shown. @param {El} el */
  makeListed(el) {
    const { model } = this;
    if (!model.hints.set(el, HINT_TARGET, true)) return;
    model.listeners.needsWalk = true;
    model.changes.checkNodes.add(el);
  }
}

/** The first button that submits the form of a field. @param {Rec | undefined} rec @returns {El[]} */
function submittersOf(rec) {
  const field = rec && safe.isConnected(rec.node) ? rec.node : null;
  const form = field && ((tagOf(field) !== "label" && field.form) || closestOf(field, "form"));
  if (!form || typeof form !== "object") return [];
  const buttons = queryWithin(form, "button,input[type=submit],input[type=image]");
  const id = attr(form, "id");
  const away = id ? inTree(treeOf(form), "[form=" + CSS.escape(id) + "]") : [];
  const first = [...buttons, ...away].find((b) => (tagOf(b) === "button" || tagOf(b) === "input") && (b.type === "submit" || b.type === "image"));
  return first ? [first] : [];
}

/** An element in a few words. @param {El} el */
function describeTag(el) {
  const id = attr(el, "id");
  const name = attr(el, "name");
  const type = tagOf(el) === "input" ? " type=" + el.type : "";
  return clean("<" + tagOf(el) + type + (id ? " id=" + id : name ? " name=" + name : "") + ">", MAX_NAME);
}

/**
 * Finds what a target means.
 * @param {Agent} agent @param {{by: string, words: string, ref: number}} wanted
 * @returns {{found: [number, number][], hidden: number, was: string, more: boolean, invalid: boolean}} found: refs (-1: none yet) and fits
 */
function find(agent, wanted) {
  agent.start();
  return new Finder(agent, wanted).run();
}

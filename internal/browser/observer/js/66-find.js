// @ts-check
// Finder finds elements by label, placeholder, test id, CSS selector or the text that they show beside their name, which
// the stored DOM does not contain. The search includes shadow trees. Each frame has its own agent.
//
// A Finder owns one search. The command "find" creates it and returns the refs of the best matches. Matches that are not
// listed get a hint (HINT_TARGET), so that the next read assigns them a ref.

/**
 * The maximum number of elements that are examined for one target, and the maximum number that are
 * returned.
 */
const MAX_EXAMINED = 5000;
const MAX_FOUND = 50;
/** The maximum number of characters of an element's text that are compared. */
const MAX_COMPARED = 100_000;

/** Elements that can have a label or a placeholder. */
const FIELDS_SELECTOR = "input:not([type=hidden]),select,textarea,meter,progress,output,[contenteditable],[role=textbox]," +
  "[role=searchbox],[role=combobox],[role=listbox],[role=checkbox],[role=radio],[role=switch],[role=slider],[role=spinbutton]," +
  "[role=radiogroup],[aria-placeholder],[aria-haspopup=listbox]";
/** Native fields of text that pages hide, and the elements in which they let people write instead. */
const REPLACED_TEXTS = "input[type=text],input:not([type]),textarea";
const EDITORS = "[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only]";
/** Groups of choices. */
const GROUPS_SELECTOR = "fieldset,[role=group],[role=radiogroup]";
const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy"];
/** Matches containers of controls that have text of their own. */
const HOLDERS_SELECTOR = "[role=listbox],[role=tree],[role=grid],[role=treegrid],[role=menu],[role=application]";
/** Attributes from which pages draw the tooltip of a control. */
const TIP_ATTRIBUTES = ["title", "data-tooltip", "data-tooltip-content", "data-tip", "data-title", "data-original-title", "data-bs-original-title", "data-bs-title"];

/** The degrees of fit of a text; target.Fit in Go. */
const EXACTLY = 0, FOLDED = 1, WORDED = 2, PARTLY = 3, NOT = 4;

/** @type {(el: El) => string} */
const innerTextOf = getter(HTMLElement, "innerText");

/**
 * Whether a text contains a part that does not start within a word; elementcontext.BeginsWord in Go.
 * @param {string} text @param {string} part
 */
function beginsWord(text, part) {
  if (part === "") return false;
  const sign = !/^[\p{L}\p{N}\p{M}]/u.test(part), inWord = /^\p{N}/u.test(part) ? /\p{N}$/u : /[\p{L}\p{M}]$/u;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (sign || !inWord.test(text.slice(Math.max(0, at - 2), at))) return true;
  }
  return false;
}

/** The letters of scripts that separate words, and their marks, in a character class. */
const LETTERS = "\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{M}";

/** Returns a pattern that finds a part as whole words. "count" is neither in "country" nor in "discount". @param {string} part */
function wholeWords(part) {
  const quoted = part.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
  const isLetter = new RegExp("[" + LETTERS + "]", "u");
  const from = isLetter.test([...part][0] || "") ? "(?<![" + LETTERS + "])" : "";
  const to = isLetter.test([...part].pop() || "") ? "(?![" + LETTERS + "])" : "";
  return new RegExp(from + quoted + to, "u");
}

/** Whether a text may match from within a word; mayBeginWithin of package target in Go. @param {string} part */
function mayBeginWithin(part) {
  return [...part].length >= 4 || !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(part);
}

/** Returns the rendered text of an element. @param {El} el */
function renderedText(el) {
  try {
    return innerTextOf(el);
  } catch {
    return safe.textContent(el); // an SVG element
  }
}

class Finder {
  /** @param {Agent} agent @param {FindRequest} wanted */
  constructor(agent, wanted) {
    this.ref = wanted.ref;
    this.role = (wanted.role || "").toLowerCase();
    this.model = agent.model;
    this.by = wanted.by;
    this.words = wanted.words;
    /** Whether the last fit is that of a caption. */
    this.byCaption = false;
    this.wanted = clean(wanted.words, MAX_COMPARED);
    this.folded = this.wanted.toLowerCase();
    /** The pattern that a text must match for the name of a field: only whole words match. */
    this.whole = wanted.whole ? wholeWords(this.folded) : null;
    /**
     * @type {{found: [number, number][], hidden: number, was: string, inert: string, more: boolean, invalid: boolean}}
     */
    this.answer = { found: [], hidden: 0, was: "", inert: "", more: false, invalid: false };
  }

  /** Finds the visible elements that fit best, and counts the invisible ones. */
  run() {
    const { model, answer } = this;
    model.visibility.begin();
    model.visibility.x = scrollX;
    model.visibility.y = scrollY;
    // Two lists for each fit: by name, and by caption, which counts if no name fits as well.
    /** @type {El[][]} */
    const shown = Array.from({ length: 2 * NOT }, () => []);
    /** @type {El[][]} */
    const hidden = Array.from({ length: 2 * NOT }, () => []);
    try {
      for (const el of this.candidates()) {
        this.byCaption = false;
        const fit = this.fit(el);
        if (fit === NOT) continue;
        (this.listedFor(el) ? shown : hidden)[2 * fit + (this.byCaption ? 1 : 0)].push(el);
      }
    } catch (error) {
      answer.invalid = error instanceof DOMException; // a syntax error in the selector
      if (!answer.invalid) throw error;
      return answer;
    }
    const best = shown.findIndex((list) => list.length > 0);
    // A caption also names the widget around a field that has its words as a name.
    const around = best >= 0 && best % 2 === 0 ? shown[best + 1].filter((outer) => shown[best].some((el) => isWithinNode(el, outer))) : [];
    if (best >= 0) this.addFound([...around, ...shown[best]], best >> 1);
    const invisible = hidden.find((list) => list.length > 0) || [];
    answer.hidden = invisible.length;
    if (invisible.length) {
      answer.was = describeTag(invisible[0]);
      const around = inertAround(invisible[0]);
      if (around) answer.inert = describeTag(around);
    }
    return answer;
  }

  /**
   * Finds the listed elements whose hover shows hidden controls that match the target. Each has the closest fit of its
   * controls.
   */
  runOnHover() {
    const { model, answer } = this;
    /** @type {Map<El, number>} */
    const owners = new Map();
    refreshVisibility(model.visibility);
    model.onHover.begin();
    for (const el of this.hiddenControls()) {
      const fit = this.fit(el);
      const owner = fit === NOT ? null : model.onHover.toHoverFor(el);
      if (owner) owners.set(owner, Math.min(fit, owners.get(owner) ?? NOT));
    }
    for (const [owner, fit] of owners) {
      if (answer.found.length >= MAX_FOUND) answer.more = true;
      else this.addFound([owner], fit);
    }
    return answer;
  }

  /** Returns the unlisted controls to search for the target. */
  hiddenControls() {
    const { onHover, records } = this.model;
    if (this.by === "ref") {
      const rec = records.connected(this.ref);
      return rec && !rec.shown ? [rec.node] : [];
    }
    /** @type {El[]} */
    const out = [];
    if (this.by === "role" || this.by === "text") {
      for (const rec of records.all) if (!rec.shown && onHover.isHiddenControl(rec)) out.push(rec.node);
      return out.slice(0, MAX_EXAMINED);
    }
    for (const el of this.candidates()) if (!this.listedFor(el)) out.push(el);
    return out;
  }

  /** @returns {El[]} tree by tree, each in document order */
  candidates() {
    const { model } = this;
    if (this.by === "submitter") return submittersOf(model.records.byRef.get(this.ref));
    if (this.by === "role" || this.by === "text") return this.inertControls();
    if (this.by === "ref") {
      const rec = model.records.connected(this.ref);
      return rec && inertAround(rec.node) ? [rec.node] : [];
    }
    if (this.by === "innermost") return this.innermost(model.records.byRef.get(this.ref));
    if (this.by === "shown") return [...model.records.all].filter((rec) => rec.shown && rec.fields[F_KIND] === INTERACTIVE).map((rec) => rec.node);
    const out = [];
    const selector = this.selector();
    const roots = [model.doc, ...model.sweep.shadows];
    if (this.by === "label" || this.by === "group") out.push(...model.internals.fields(this.by === "group"));
    for (const root of roots) {
      if (isShadow(root) && !safe.isConnected(root.host)) continue;
      if (this.by === "group") out.push(...this.labelledContainers(root));
      const list = inTree(root, selector);
      for (const el of list) {
        if (out.length >= MAX_EXAMINED) {
          this.answer.more = true;
          return out;
        }
        out.push(el);
      }
    }
    return out;
  }

  /** Returns the controls that are not listed because they are inert. */
  inertControls() {
    /** @type {El[]} */
    const out = [];
    for (const root of [this.model.doc, ...this.model.sweep.shadows]) {
      for (const top of inTree(root, "[inert]")) {
        const around = flatElement(top);
        if (around && inertAround(around)) continue; // it is examined with that element
        for (const el of [top, ...queryWithin(top, "*")]) {
          if (out.length >= MAX_EXAMINED) return out;
          const tag = tagOf(el);
          if (isInteractive(el, tag, explicitRole(el), 0) && this.model.visibility.isVisible(el, tag)) out.push(el);
        }
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
      case "role":
        if (this.role && roleOf(el, tagOf(el), explicitRole(el)) !== this.role) return NOT;
        return this.wanted ? this.fitHidden(el) : EXACTLY;
      case "text":
        return this.fitHidden(el);
      case "shown":
        return this.fitShown(el);
    }
    return EXACTLY;
  }

  /**
   * Returns the fit of a control's visible texts beside its name: the text that its name hides, its tooltip, or its
   * placeholder.
   * @param {El} el
   */
  fitShown(el) {
    if (hasNoAttributes(el)) return NOT;
    const tag = tagOf(el);
    if (this.role && roleOf(el, tag, explicitRole(el)) !== this.role) return NOT;
    let fit = this.compare(reportedAttribute(el, "placeholder") || "");
    for (const name of TIP_ATTRIBUTES) if (fit > FOLDED) fit = Math.min(fit, this.compare(reportedAttribute(el, name) || ""));
    const isNamedApart = !FIELD_TAGS.has(tag) && !safe.matches(el, HOLDERS_SELECTOR) && (hasAttr(el, "aria-label") || hasAttr(el, "aria-labelledby"));
    return isNamedApart && fit > FOLDED ? Math.min(fit, this.fitText(el)) : fit;
  }

  /** Returns the fit of the name of an invisible element. @param {El} el */
  fitHidden(el) {
    return this.compare(hoverText(el, tagOf(el)));
  }

  /**
   * Returns the innermost elements in an element, or the element itself, whose text fits.
   * @param {Rec | undefined} rec @returns {El[]}
   */
  innermost(rec) {
    /** @type {El[]} */
    const out = [];
    if (!rec || !safe.isConnected(rec.node)) return out;
    const stack = [rec.node];
    for (let seen = 0; stack.length && out.length < MAX_FOUND; ) {
      const el = /** @type {El} */ (stack.pop());
      /** @type {El[]} */
      const inner = [];
      const open = [el]; // and its invisible descendants, such as those without a box
      for (let i = 0; i < open.length && (el === rec.node || !INTERACTIVE_TAGS.has(tagOf(el))); i++) {
        for (const node of flatNodes(open[i], tagOf(open[i]))) {
          if (seen++ > MAX_EXAMINED) break;
          if (!isElement(node) || this.fitText(node) === NOT) continue;
          (this.listedFor(node) ? inner : open).push(node);
        }
      }
      if (!inner.length || this.fitOwnText(el) <= FOLDED) out.push(el);
      stack.push(...inner.reverse());
    }
    return out;
  }

  /**
   * Returns the fit of an element's text: the rendered text, or the name from content.
   * @param {El} el
   */
  fitText(el) {
    const { naming } = this.model;
    naming.start(el);
    const named = Math.min(this.compare(naming.content(el, tagOf(el))), this.fitOwnText(el));
    return named === EXACTLY ? named : Math.min(named, this.compare(MASKS === null ? renderedText(el) : reportedText(el)));
  }

  /** Returns the best fit of the texts directly in an element that also contains elements. @param {El} el */
  fitOwnText(el) {
    let fit = NOT;
    if (MASKS !== null || safe.firstElementChild(el) === null) return fit;
    for (const node of flatNodes(el, tagOf(el))) if (isText(node)) fit = Math.min(fit, this.compare(node.data));
    return fit;
  }

  /**
   * Returns the fit of a label: the accessible name, or a label element, which a person reads even if there is an
   * aria-label.
   * @param {El} el
   */
  fitLabel(el) {
    const { naming, labels } = this.model;
    const tag = tagOf(el);
    probeAttributes(el);
    let fit = this.compare(naming.name(el, tag, roleOf(el, tag, explicitRole(el))));
    forgetAttributes();
    for (const label of labels.of(el)) {
      if (fit === EXACTLY) break;
      naming.start(label);
      fit = Math.min(fit, this.compare(naming.content(label, "label")), this.compare(reportedText(label)));
    }
    if (fit === NOT && this.by === "group") fit = this.fitLabelFor(el);
    if (fit === NOT && this.by === "label") {
      fit = Math.min(this.compare(naming.captions.of(el, tag, attr(el, "role") || "", null)), this.fitLabelAround(el));
      this.byCaption = true;
    }
    return fit;
  }

  /** Returns the fit of the labels that name a container of controls, which no label can focus. @param {El} el */
  fitLabelFor(el) {
    const id = attr(el, "id");
    const labels = id ? [...(this.model.labels.index(treeOf(el)).get(id) || [])] : [];
    let fit = NOT;
    for (const label of labels.slice(0, MAX_LABELS)) fit = Math.min(fit, this.compare(reportedText(label)));
    return fit;
  }

  /** Returns the containers of controls that have a label, but no role of groups. @param {Tree} root */
  labelledContainers(root) {
    /** @type {Set<El>} */
    const named = new Set();
    for (const el of inTree(root, "[aria-label],[aria-labelledby],label[for]")) {
      if (named.size >= MAX_EXAMINED) break;
      if (hasAttr(el, "aria-label") || hasAttr(el, "aria-labelledby")) named.add(el);
      const container = tagOf(el) === "label" && !el.control ? elementOf(root, attr(el, "for") || "") : null;
      if (container) named.add(container);
    }
    /** @type {Map<Node, number>} the numbers of fields in elements, up to 2 */
    const fields = new Map();
    for (const field of inTree(root, FIELDS_SELECTOR)) {
      for (let n = safe.parentNode(field); n && (fields.get(n) || 0) < 2; n = safe.parentNode(n)) fields.set(n, (fields.get(n) || 0) + 1);
    }
    return [...named].filter((el) => fields.get(el) === 2 && !INTERACTIVE_TAGS.has(tagOf(el)) && !safe.matches(el, GROUPS_SELECTOR));
  }

  /**
   * Returns the fit of the label around an element that is drawn for a native field. The label belongs to that field.
   * @param {El} el
   */
  fitLabelAround(el) {
    const label = closestOf(el, "label");
    return label === null ? NOT : this.fitText(label);
  }

  /** Returns the fit of a text. @param {string} text */
  compare(text) {
    const cleaned = clean(text, MAX_COMPARED);
    if (!cleaned) return NOT;
    if (cleaned === this.wanted) return EXACTLY;
    const folded = cleaned.toLowerCase();
    if (folded === this.folded) return FOLDED;
    if (this.whole && !this.whole.test(folded)) return NOT;
    return beginsWord(folded, this.folded) ? WORDED : folded.includes(this.folded) && mayBeginWithin(this.folded) ? PARTLY : NOT;
  }

  /**
   * Returns the listed element for an element: itself if it is visible, or else its proxy, if any.
   * @param {El} el
   */
  listedFor(el) {
    if (inertAround(el)) return null;
    if (this.model.visibility.isVisible(el, tagOf(el))) return el;
    return this.model.hints.proxyLabels.get(el) || this.drawnFor(el);
  }

  /**
   * Returns the editor that is drawn beside a hidden native field and takes its text, or null if there is none.
   * @param {El} el
   */
  drawnFor(el) {
    if (!safe.matches(el, REPLACED_TEXTS)) return null;
    for (const beside of [elementBefore(el), safe.nextElementSibling(el)]) {
      if (!beside) continue;
      const editors = safe.matches(beside, EDITORS) ? [beside] : [...queryWithin(beside, EDITORS)];
      if (editors.length === 1 && this.model.visibility.isVisible(editors[0], tagOf(editors[0]))) return editors[0];
    }
    return null;
  }

  /**
   * Adds elements to the answer, and makes the unlisted elements count.
   * @param {El[]} list @param {number} fit
   */
  addFound(list, fit) {
    const { model, answer } = this;
    if (list.length > MAX_FOUND) answer.more = true;
    const seen = new Set();
    for (const el of list.slice(0, MAX_FOUND)) {
      const target = this.listedFor(el);
      if (!target || seen.has(target)) continue;
      seen.add(target);
      const rec = model.records.get(target);
      const listed = rec && rec.shown && rec.ref >= 0;
      if (!rec || !rec.shown) this.makeListed(target);
      answer.found.push([listed ? rec.ref : -1, fit]);
    }
  }

  /** Makes an element count, so that the next update lists it. @param {El} el */
  makeListed(el) {
    const { model } = this;
    if (!model.hints.set(el, HINT_TARGET, true)) return;
    model.listeners.needsWalk = true;
    model.changes.checkNodes.add(el);
  }
}

/**
 * Returns the first button that submits the form of a field.
 * @param {Rec | undefined} rec @returns {El[]}
 */
function submittersOf(rec) {
  const field = rec && safe.isConnected(rec.node) ? rec.node : null;
  const form = field && ((tagOf(field) !== "label" && field.form) || closestOf(field, "form"));
  if (!form || typeof form !== "object") return [];
  const buttons = queryWithin(form, "button,input[type=submit],input[type=image]");
  const id = attr(form, "id");
  const outside = id ? inTree(treeOf(form), "[form=" + CSS.escape(id) + "]") : [];
  const first = [...buttons, ...outside].find((b) => (tagOf(b) === "button" || tagOf(b) === "input") && (b.type === "submit" || b.type === "image"));
  return first ? [first] : [];
}

/** Returns the tag of an element with its type, id or name, for a message. @param {El} el */
function describeTag(el) {
  const id = attr(el, "id");
  const name = attr(el, "name");
  const type = tagOf(el) === "input" ? " type=" + el.type : "";
  return clean("<" + tagOf(el) + type + (id ? " id=" + id : name ? " name=" + name : "") + ">", MAX_NAME);
}

/** Returns the element with the attribute inert that is or contains an element, unless the element is in a modal dialog inside it. @param {El} el */
function inertAround(el) {
  for (let /** @type {El | null} */ n = el; n; n = flatElement(n)) {
    if (hasAttr(n, "inert")) return n;
    if (tagOf(n) === "dialog" && safe.matches(n, ":modal")) return null;
  }
  return null;
}

/**
 * Finds the elements that match a target, or, with onHover, the elements whose hover shows them.
 * @param {Agent} agent @param {FindRequest} wanted
 * @returns {{found: [number, number][], hidden: number, was: string, inert: string, more: boolean, invalid: boolean}} found:
 *   refs (-1 if not yet assigned) and fits; hidden: how many matches are not visible or inert; was and inert: the first of them, and the
 *   inert element around it
 */
function find(agent, wanted) {
  agent.start();
  const finder = new Finder(agent, wanted);
  return wanted.onHover ? finder.runOnHover() : finder.run();
}

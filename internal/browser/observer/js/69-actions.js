// @ts-check
// Actions without a pointer: entering text, setting values, selecting options, checking boxes, and choosing files.
//
// The functions change the page as a person's input would, with the events of such input, and keep no state.
// checkActionable calls the functions that act. The table at the end contains all commands for actions, which
// 70-commands.js calls.

const NO_TEXT = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"]);
/** Inputs whose value is set as a whole, as a picker does. */
const VALUED = new Set(["date", "time", "datetime-local", "month", "week", "range", "color"]);
const EDITABLE = 'input,textarea,[contenteditable=""],[contenteditable="true" i],[contenteditable="plaintext-only" i]';

/** @param {El} el */
function isEditable(el) {
  const tag = tagOf(el);
  if (tag === "textarea") return true;
  if (tag === "input") return !NO_TEXT.has(el.type);
  return el.isContentEditable === true;
}

/**
 * Returns the first elements in an element, and in its shadow tree, that match a selector.
 * @param {El} el @param {string} selector @returns {El[]}
 */
function parts(el, selector) {
  const root = shadowOf(el);
  return [...queryWithin(el, selector), ...(root ? root.querySelectorAll(selector) : [])].slice(0, 20);
}

/**
 * Returns the editable element for a target: itself, its labelled control, or the only editable element in it. A drawn select has none, even
 * if its list contains a search field.
 * @param {Agent} agent @param {El} el
 */
function editableOf(agent, el) {
  if (agent.model.hints.selectOf(el)) return null;
  if (isEditable(el)) return el;
  if (tagOf(el) === "label") return el.control && isEditable(el.control) ? el.control : null;
  if (INTERACTIVE_TAGS.has(tagOf(el))) return null;
  const inside = parts(el, EDITABLE).filter(isEditable);
  if (inside.length !== 1 || isOfDrawnSelect(inside[0])) return null;
  const isOfClosedList = attr(el, "role") === "combobox" && !safe.checkVisibility(inside[0], VISIBLE_OR_TRANSPARENT);
  return isOfClosedList ? null : inside[0];
}

/**
 * Whether a field belongs to a combobox that receives the focus itself, while the keyboard cannot reach the field. Such a
 * field only shows the selection, and text in it selects nothing.
 * @param {El} field
 */
function isOfDrawnSelect(field) {
  const box = attr(field, "role") === "combobox" ? null : closestOf(field, "[role=combobox]");
  return box !== null && parseInt(attr(box, "tabindex") || "", 10) >= 0 && parseInt(attr(field, "tabindex") || "", 10) < 0;
}

/**
 * Returns the select for a target in the same way, unless the target is a list that is drawn for it.
 * @param {Agent} agent @param {El} el
 */
function selectOf(agent, el) {
  const select = tagOf(el) === "select" ? el : tagOf(el) === "label" && el.control && tagOf(el.control) === "select" ? el.control : null;
  const inside = select !== null ? [select] : INTERACTIVE_TAGS.has(tagOf(el)) ? [] : parts(el, "select");
  if (inside.length !== 1 || agent.model.hints.proxyLabels.has(inside[0])) return null;
  const isDrawnFor = select === null && /^(?:combobox|listbox)$/.test(attr(el, "role") || "") && isOutOfSight(inside[0]);
  return isDrawnFor ? null : inside[0];
}

// ---- text -----------------------------------------------------------------------------------

/**
 * Focuses an element and, for text, sets the selection for the insertion. Then it arms the guard, which keeps keys from
 * other elements.
 * @param {Agent} agent @param {El} named the target of the caller @param {El} el the element to focus @param {ReachRequest} request
 * @returns {Answer}
 */
function focusForInput(agent, named, el, request) {
  if (request.tag && !isTagField(el)) return { error: "untagged" };
  if (request.edit !== undefined && tagOf(el) === "input" && VALUED.has(el.type)) return setValue(agent, el, request.text || "");
  if (!isInView(visibleCenter(safe.rect(el)))) Element.prototype.scrollIntoView.call(el, { block: "center", inline: "nearest", behavior: "instant" });
  const control = agent.model.hints.toggleOf(named) || el;
  if (!holdsFocus(control)) focusOn(control);
  if (!holdsFocus(control)) {
    const inside = safe.isConnected(control) ? parts(control, "a[href],button,input,select,textarea,[tabindex]") : [];
    if (inside.length) focusOn(inside[0]);
    if (!holdsFocus(control)) return { error: "unfocused" };
  }
  if (request.edit !== undefined && safe.isConnected(el)) {
    const unusable = unusableReason(agent, el, request); // the page may disable it when it receives the focus
    if (unusable) return unusable;
    const full = selectFor(el, request.edit);
    agent.tagging = request.edit === "replace" && mayBeTag(el, request.text || "") ? new Tagging(el, request.text || "") : null;
    agent.guard.arm("keys", el, request.edit === "replace" ? "one" : "text");
    if (request.edit === "keep" && agent.guard.keys) agent.guard.keys.expected = contentWith(el, request.text || "");
    expectUnchanged(agent, request);
    return { full, rich: isRich(el), proxy: !isRich(el) && isCatcher(el), type: el.type || "", end: request.edit === "append" && full && el.selectionStart === null };
  }
  agent.guard.arm("keys", control, request.text ? "text" : "any");
  expectUnchanged(agent, request);
  return {};
}

/**
 * Makes the guard compare the element with its current state. The element already has the focus, and changes because of the
 * focus are expected.
 * @param {Agent} agent @param {ReachRequest} request
 */
function expectUnchanged(agent, request) {
  const rec = agent.model.records.byRef.get(request.ref);
  if (rec && request.known) agent.guard.expect(agent.model.rows.capture(rec));
}

/** Whether an editable element is an editing host (contenteditable), not a field. @param {El} el */
function isRich(el) {
  return !/^(input|textarea)$/.test(tagOf(el));
}

/**
 * Selects the content of an element, sets the caret after it, or keeps the current selection. Returns whether there is
 * content.
 * @param {El} el @param {string} edit
 */
function selectFor(el, edit) {
  if (edit === "keep") return contentOf(el).length > 0;
  if (!isRich(el)) {
    if (edit === "replace") el.select();
    else {
      try {
        el.setSelectionRange(el.value.length, el.value.length);
      } catch {
        // Scripts cannot set the caret of number and email inputs; see focusForInput.
      }
    }
    return el.value.length > 0;
  }
  const selection = /** @type {Selection} */ (getSelection());
  selection.selectAllChildren(el);
  if (edit !== "replace") selection.collapseToEnd();
  return safe.textContent(el).length > 0;
}

/**
 * Returns the content of a field after a text replaces its selection, or null if it is unknown.
 * @param {El} el @param {string} text
 */
function contentWith(el, text) {
  if (isRich(el) || typeof el.selectionStart !== "number" || typeof el.selectionEnd !== "number") return null;
  return el.value.slice(0, el.selectionStart) + text + el.value.slice(el.selectionEnd);
}

/** Waits until an editor has handled the change of the selection, before text is inserted. */
async function selectionHeard() {
  await nextFrame();
  return {};
}

/**
 * Sets the value of an input with a picker or a thumb, with the events of a key press, or of a drag from press to release,
 * and a change event.
 * @param {Agent} agent @param {El} el @param {string} text
 */
function setValue(agent, el, text) {
  const probe = document.createElement("input");
  probe.type = el.type;
  if (el.type === "range") for (const name of ["min", "max", "step"]) if (hasAttr(el, name)) probe.setAttribute(name, attr(el, name) || "");
  const wanted = text.trim();
  probe.value = el.type === "color" ? wanted.toLowerCase() : wanted;
  const bad = el.type === "range" ? !Number.isFinite(parseFloat(wanted)) : el.type === "color" ? probe.value !== wanted.toLowerCase() : wanted !== "" && probe.value === "";
  if (bad) return { error: "wrong", detail: el.type };
  focusOn(el);
  if (el.value === probe.value) return { done: true, held: isReportable(el) ? el.value : MASK };
  const press = el.type === "range" ? dispatchPointer : dispatchKey;
  press(el, "down");
  el.value = probe.value;
  recordValueChange(agent, el);
  el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  press(el, "up");
  el.dispatchEvent(new Event("change", { bubbles: true }));
  return { done: true, held: isReportable(el) ? el.value : MASK };
}

/**
 * Presses or releases the pointer on a slider, as a drag of its thumb does.
 * @param {El} el @param {"down" | "up"} what
 */
function dispatchPointer(el, what) {
  const { x, y } = visibleCenter(safe.rect(el));
  const init = { bubbles: true, composed: true, cancelable: true, view: window, clientX: x, clientY: y, button: 0, buttons: what === "down" ? 1 : 0, detail: 1 };
  el.dispatchEvent(new PointerEvent("pointer" + what, { ...init, pointerId: 1, pointerType: "mouse", isPrimary: true }));
  el.dispatchEvent(new MouseEvent("mouse" + what, init));
}

/** Presses or releases a key in a field. @param {El} el @param {"down" | "up"} what */
function dispatchKey(el, what) {
  el.dispatchEvent(new KeyboardEvent("key" + what, { key: "Unidentified", bubbles: true, composed: true, cancelable: true }));
}

/** Records that a value is being set. @param {Agent} agent @param {El} el */
function recordValueChange(agent, el) {
  agent.model.rows.recordSetValue(el);
  agent.notices.pieces.orders.isSetting = true;
  agent.settling.begin(el);
  agent.settling.expectFrame();
  agent.settling.recordValue();
}

/** Takes the focus from the focused field. @param {Agent} agent */
function leaveField(agent) {
  const el = focusedNow();
  if (!el) return {};
  agent.settling.begin(el);
  agent.settling.expectFrame();
  el.blur();
  return {};
}

/** @param {Agent} agent @param {El} el */
function dispatchChange(agent, el) {
  recordValueChange(agent, el);
  el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  el.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Returns a text with normalized white space, because editors add and remove it. @param {string} text */
function foldWhiteSpace(text) {
  return text.replace(/[\s\u00a0\u200b\ufeff]+/g, " ").trim();
}

// ---- choices --------------------------------------------------------------------------------

/** @param {El} option */
function optionLabel(option) {
  return foldWhiteSpace(attr(option, "label") || option.text || "");
}

/** Returns the label of an option, masked where needed. @param {El} option */
function reportedLabel(option) {
  return isMasked(option) ? MASK : clean(optionLabel(option), 40);
}

/**
 * Returns the options with the wanted value, or else those with that label, or else with that label ignoring case, or else
 * the only option whose label contains it at the start of a word, or else anywhere.
 * @param {El[]} options @param {string} wanted
 */
function optionsNamed(options, wanted) {
  const label = foldWhiteSpace(wanted);
  /** @type {((option: El) => boolean)[]} */
  const matches = [(o) => o.value === wanted, (o) => optionLabel(o) === label, (o) => optionLabel(o).toLowerCase() === label.toLowerCase()];
  for (const match of matches) {
    const found = options.filter(match);
    if (found.length) return found;
  }
  const parts = label === "" ? [] : options.filter((o) => optionLabel(o).toLowerCase().includes(label.toLowerCase()));
  const words = parts.filter((o) => beginsWord(optionLabel(o).toLowerCase(), label.toLowerCase()));
  return words.length === 1 ? words : parts.length === 1 ? parts : [];
}

/**
 * Selects exactly the given options, with the events of a person's selection.
 * @param {Agent} agent @param {El} el @param {string[]} values @returns {Answer}
 */
function choose(agent, el, values) {
  if (!el.multiple && values.length !== 1) return { error: "wrong", detail: "one" };
  const options = [...el.options];
  const chosen = new Set();
  for (const wanted of values) {
    const found = optionsNamed(options, wanted);
    const one = found.find((o) => !safe.matches(o, ":disabled")) || null;
    if (!found.length) return { error: "nooption", detail: clean(wanted, 40), options: options.slice(0, 12).map(reportedLabel), more: Math.max(0, options.length - 12) };
    if (!one) return { error: "offoption", detail: clean(wanted, 40) };
    chosen.add(one);
  }
  focusOn(el);
  const held = isSecret(el) || isValueMasked(el) ? MASK : [...chosen].map(reportedLabel).join(", ");
  if (options.every((o) => o.selected === chosen.has(o))) return { done: true, same: true, held };
  for (const o of options) if (o.selected !== chosen.has(o)) o.selected = chosen.has(o);
  dispatchChange(agent, el);
  return { done: true, held };
}

const CHECKABLE = 'input[type=checkbox],input[type=radio],[role=checkbox],[role=switch],[role=radio],[role=menuitemcheckbox],[role=menuitemradio]';

/**
 * Returns the checkable element for a target: the control that it is the proxy of, itself, its labelled control, or the
 * only one in it.
 * @param {Agent} agent @param {El} el
 */
function checkableOf(agent, el) {
  const proxied = agent.model.hints.toggleOf(el);
  if (proxied) return proxied;
  if (safe.matches(el, CHECKABLE) || aria(el, "aria-checked") !== null || aria(el, "aria-pressed") !== null) return el;
  if (tagOf(el) === "label" && el.control) return safe.matches(el.control, CHECKABLE) ? el.control : null;
  const inside = parts(el, CHECKABLE);
  if (inside.length > 0) return inside.length === 1 ? inside[0] : null;
  return safe.matches(el, CHOOSABLE) || chipState(agent, el) !== "" ? el : null;
}

/** Matches items that a click selects, as aria-selected shows. */
const CHOOSABLE = "[role=option],[role=treeitem],[role=row],[role=gridcell]";

/**
 * Returns "true" or "false" for a chip that only a class or data attribute marks, or "" for other elements. A chip is
 * recognized by its own mark or the mark of a similar sibling.
 * @param {Agent} agent @param {El} el
 */
function chipState(agent, el) {
  if (tagOf(el) === "a" || tagOf(el) === "input") return "";
  /** @param {El} n */
  const isMarked = (n) => {
    /** @type {string[]} */
    const marks = [];
    addStates(marks, n, 0);
    return marks.some((mark) => CHIP_MARK.test(mark));
  };
  if (isMarked(el)) return "true";
  if (/^(?:off|unchecked)$/.test(attr(el, "data-state") || "")) return "false";
  const parent = flatElement(el);
  let seen = 0;
  for (let n = parent && safe.firstElementChild(parent); n && seen < MAX_CHIPS; n = safe.nextElementSibling(n), seen++) {
    if (n !== el && tagOf(n) === tagOf(el) && isMarked(n)) return "false";
  }
  return "";
}

/** The marks of a chip, and the maximum number of chips that are examined. */
const CHIP_MARK = /^(?:active|selected|checked|on)$/, MAX_CHIPS = 30;

/**
 * Returns the checked state of an element: "true", "false" or "mixed".
 * @param {Agent} agent @param {El} el @param {boolean} want
 * @returns {{error?: string, checked?: string}}
 */
function checkedOf(agent, el, want) {
  const control = checkableOf(agent, el);
  if (!control) return { error: "uncheckable" };
  const native = tagOf(control) === "input" && (control.type === "checkbox" || control.type === "radio");
  const radio = native ? control.type === "radio" : /radio/.test(explicitRole(control));
  const checked = native
    ? control.indeterminate ? "mixed" : String(control.checked)
    : (attr(control, "aria-checked") || attr(control, "aria-pressed") || attr(control, "aria-selected") || chosenAround(control, explicitRole(control)) || chipState(agent, control) || "false").toLowerCase();
  if (radio && !want && checked === "true") return { error: "radio" };
  return { checked: checked === "mixed" || checked === "true" ? checked : "false" };
}

/**
 * Waits until an element has the wanted checked state.
 * @param {Agent} agent @param {{ref: number, want: boolean, patience: number}} request
 */
function waitChecked(agent, request) {
  return retryUntil(agent, request.patience, () => {
    const rec = agent.model.records.connected(request.ref);
    if (!rec) return { error: "stale" };
    const { error, checked } = checkedOf(agent, rec.node, request.want);
    if (error || checked === String(request.want)) return { error, checked };
    if (agent.model.internals.due) agent.send(agent.writer.header("p")); // only a probe detects changes of internals
    return { error: "unchanged", checked };
  });
}

// ---- files ----------------------------------------------------------------------------------

/**
 * Returns the file input for a target: itself, its labelled control, or the only one in it.
 * @param {Agent} agent @param {El} el
 */
function fileInputOf(agent, el) {
  /** @param {El} n */
  const is = (n) => tagOf(n) === "input" && n.type === "file";
  for (const n of [el, agent.model.hints.toggleOf(el), tagOf(el) === "label" ? el.control : null]) if (n && is(n)) return n;
  if (INTERACTIVE_TAGS.has(tagOf(el))) return null;
  const inside = parts(el, "input").filter(is);
  return inside.length === 1 ? inside[0] : null;
}

/**
 * Returns the file input for a target as an object, for which the daemon sets files, or null if there is none or the target
 * is no longer the intended element.
 * @param {Agent} agent @param {{ref: number, known?: Known}} request
 */
function fileInput(agent, request) {
  const rec = agent.model.records.connected(request.ref);
  if (!rec || agent.differenceOf(rec, request.known)) return null;
  const input = fileInputOf(agent, rec.node);
  agent.model.rows.expectChange(input);
  return input;
}

/**
 * Returns which files a file input accepts: one, several, or a folder.
 * @param {Agent} agent @param {{ref: number}} request
 */
function fileTerms(agent, request) {
  const rec = agent.model.records.byRef.get(request.ref);
  const input = rec && safe.isConnected(rec.node) ? fileInputOf(agent, rec.node) : null;
  if (!input) return { input: false };
  if (safe.matches(input, ":disabled")) return { error: "disabled" };
  return { input: true, multiple: input.multiple === true, folder: input.webkitdirectory === true };
}

/** FileDrag records what the page does with files that are dragged over it and dropped. */
class FileDrag {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /** The last event of each kind. @type {{[type: string]: Event}} */
    this.last = {};
    /** What the page showed before the drag and at the drop. @type {Set<string>} */
    this.shown = new Set([this.shownNow()]);
    for (const type of FileDrag.HEARD) addEventListener(type, this, true);
    addEventListener("drop", FileDrag.keepDocument);
  }

  static HEARD = ["dragover", "drop"];

  /** Files that the page does not accept would otherwise replace the document. @param {Event} event */
  static keepDocument(event) { event.preventDefault(); }

  /** @param {Event} event */
  handleEvent(event) {
    if (!event.isTrusted) return;
    this.last[event.type] = event;
    if (event.type === "drop") this.shown.add(this.shownNow());
  }

  /** Returns the texts of the page, and how many elements and files of inputs it has and requests it has made. */
  shownNow() {
    const { doc, sweep } = this.agent.model;
    const isRequest = (/** @type {PerformanceEntry} */ entry) => /^(fetch|xmlhttprequest|beacon)$/.test(/** @type {PerformanceResourceTiming} */ (entry).initiatorType);
    let shown = performance.getEntriesByType("resource").filter(isRequest).length + " ";
    for (const tree of [doc, ...sweep.shadows]) {
      shown += inTree(tree, "*").length + " ";
      for (const input of inTree(tree, "input[type=file]")) shown += input.files?.length + " ";
      for (const top of isShadow(tree) ? /** @type {Iterable<El>} */ (tree.children) : inTree(tree, "body")) shown += renderedText(top) + "\n";
    }
    return shown;
  }

  /** Whether the page shows or has requested something new since the drop. */
  isTaken() {
    return !this.shown.has(this.shownNow());
  }

  end() {
    for (const type of FileDrag.HEARD) removeEventListener(type, this, true);
    removeEventListener("drop", FileDrag.keepDocument);
  }
}

/** Starts to record what the page does with dragged files. @param {Agent} agent */
function beginFileDrag(agent) {
  endFileDrag(agent);
  agent.fileDrag = new FileDrag(agent);
  return {};
}

/**
 * The maximum time until the page receives an event of dragged files, in milliseconds. The browser reports the drag
 * earlier.
 */
const DRAG_HEARD_AT_MOST = 1000;

/**
 * Waits for an event of dragged files. Returns whether the page received it, and prevented the browser's default.
 * @param {Agent} agent @param {{type: string}} request
 */
async function fileDragSeen(agent, request) {
  const end = performance.now() + DRAG_HEARD_AT_MOST;
  const seen = () => agent.fileDrag ? agent.fileDrag.last[request.type] : undefined;
  while (!seen() && performance.now() < end) await nextFrame();
  const event = seen();
  return { heard: !!event, prevented: !!event && event.defaultPrevented };
}

/**
 * The maximum time until a page shows that it took files, in milliseconds, and how often that is checked. Reading a page's
 * texts may need a layout.
 */
const TAKEN_AT_MOST = 1000;
const TAKEN_EVERY = 50;

/**
 * Waits until the page shows that it took the dropped files. A prevented default action of the browser proves nothing:
 * many pages prevent it everywhere, to keep the document.
 * @param {Agent} agent
 */
async function filesTaken(agent) {
  for (const end = performance.now() + TAKEN_AT_MOST; agent.fileDrag; ) {
    if (agent.fileDrag.isTaken()) return { taken: true };
    if (performance.now() >= end) break;
    await new Promise((resolve) => ownTimer(resolve, TAKEN_EVERY));
  }
  return { taken: false };
}

/** @param {Agent} agent */
function endFileDrag(agent) {
  if (agent.fileDrag) agent.fileDrag.end();
  agent.fileDrag = null;
  return {};
}

/**
 * The actions by the names of their commands. `never` represents the argument type of each action.
 * @type {Record<string, (agent: Agent, argument: never) => unknown>}
 */
const actions = {
  waitActionable, checkBeforePress, mapFramePoint, describePoint, armAtPoint, displacement, awaitPress, awaitDown, pressOutcome, dragBegan, setDropTarget,
  beginHold, heldOutcome, draggingNow, awaitRelease, endHold, focusNow, watchKeys, keysSeen, armTag, tagOutcome, beforeWheel, afterWheel, typedOutcome, selectionHeard, leaveField, waitChecked, fileInput, fileTerms,
  beginFileDrag, fileDragSeen, filesTaken, endFileDrag,
  deny: (agent) => (agent.guard.arm("deny", null), {}),
  guarding: (agent) => ({ guarding: agent.guard.mode === "keys" }),
  disarm: (agent) => (agent.guard.disarm(), {}),
};

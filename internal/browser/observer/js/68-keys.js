// @ts-check
// Keys determines the outcome of the keys of one action: the key events that the element received, the part of the text
// that was inserted, and the final value.
//
// Keys owns the record of one action. The guard reports every event to it before the page receives the event. The command
// "typedOutcome" waits for pages that format or send the text themselves.

/** The maximum wait for a page that inserts a text by script, in milliseconds. */
const TAKES_AT_MOST = 300;
/** An element smaller than this many pixels shows no text. */
const CATCHER_SIZE = 8;
/** The maximum number of events that are kept, to check later whether the page prevented them. */
const KEY_EVENTS = 1000;

/** Returns the content of a text field or an editor. @param {El} el @returns {string} */
function contentOf(el) {
  return isRich(el) ? String(el.innerText) : String(el.value);
}

/** Returns the focused element, which may be in a shadow tree. */
function focusedNow() {
  return focusedIn(document);
}

/** The maximum number of nodes of an editor whose format is compared. */
const MAX_FORMAT_NODES = 5000;
/** The attributes that format a text. Classes also say where the caret is. */
const FORMAT_ATTRIBUTES = ["style", "href", "align", "dir", "color", "size", "face"];

/** Returns the format of an editor's text: its elements, without their classes. Of a large text, it returns "". @param {El} editor */
function formatOf(editor) {
  let left = MAX_FORMAT_NODES;
  const within = (/** @type {Node} */ parent) => {
    let format = "";
    for (let n = safe.firstChild(parent); n && left-- > 0; n = safe.nextSibling(n)) {
      if (isText(n)) format += n.data.length + " ";
      else if (isElement(n)) format += `<${tagOf(n)} ${FORMAT_ATTRIBUTES.map((name) => attr(n, name) || "").join("|")}>${within(n)}</>`;
    }
    return format;
  };
  const format = isRich(editor) ? within(editor) : "";
  return left > 0 ? format : "";
}

/** The content of a field or an editor before an action, to detect changes that its reported text does not show. */
class Content {
  /** @param {El | null} el */
  constructor(el) {
    this.el = el !== null && isEditable(el) ? el : null;
    this.text = this.el ? contentOf(this.el) : "";
    this.format = this.el ? formatOf(this.el) : "";
  }

  /** Returns what changed without a change of the reported text: "text", because it is a secret, "format" or "". */
  unseenChange() {
    const { el } = this;
    if (!el || !safe.isConnected(el)) return "";
    if (contentOf(el) !== this.text) return isReportable(el) ? "" : "text";
    return formatOf(el) === this.format ? "" : "format";
  }
}

class Keys {
  /**
   * @param {El} el
   * @param {"one" | "text" | "any"} follow the input that may go to another element when the focus moves: none, a text
   *   under conditions (mayFollow), or any
   */
  constructor(el, follow) {
    this.el = el;
    this.follow = follow;
    /** The content before the action, or null if the element is no text field. */
    this.before = el && isEditable(el) ? contentOf(el) : null;
    this.content = new Content(el);
    /** The text around an empty field, to which the page may add what is entered, as fields for tags do. */
    this.around = this.before !== null && !hasText(this.before) ? textAround(el) : "";
    /** The expected content after the whole text, if known. @type {string | null} */
    this.expected = null;
    /** The numbers of characters that the browser inserted into the element, and into other elements. */
    this.inserted = 0;
    /** @type {Map<El, number>} */
    this.elsewhere = new Map();
    /** The content after the last inserted character, and all inserted text. */
    this.held = "";
    this.data = "";
    /** The content at each Enter. @type {string[]} */
    this.enters = [];
    /** The number of keydown events that the element received. */
    this.downs = 0;
    /** The preventable events. @type {Event[]} */
    this.events = [];
    /** The field that receives the keys: the element, or another field to which it moved the focus. */
    this.current = el;
    /** The element that received the last keydown. @type {El | null} */
    this.target = null;
    /** "Enter" or "Tab" if that was the last key, because these may move the focus. */
    this.focusKey = "";
    /** The text of the composition in progress. */
    this.composed = "";
  }

  /** Records an event that the element, or the field that follows it, is about to receive. @param {Event} event */
  recordEvent(event) {
    const { type } = event;
    if (type === "keydown") {
      const { key } = /** @type {KeyboardEvent} */ (event);
      this.target = focusedNow();
      this.focusKey = key === "Enter" || key === "Tab" ? key : "";
      if (!holdsFocus(this.el)) {
        // Lists with type-ahead dispatch no input event.
        if (key.length === 1 && this.target && !isEditable(this.target)) this.elsewhere.set(this.target, (this.elsewhere.get(this.target) || 0) + 1);
      } else {
        this.downs++;
        if (key === "Enter" && this.before !== null) this.enters.push(contentOf(this.el));
      }
    }
    const blocks = type === "keydown" || type === "keypress" || type === "beforeinput";
    if (blocks && this.events.length < KEY_EVENTS && holdsFocus(this.el)) this.events.push(event);
  }

  /**
   * Whether an event may reach the focused element, which is not the target.
   * @param {Event} event
   */
  mayFollow(event) {
    const { type } = event;
    const focused = focusedNow();
    // All events of a key go to the same element.
    if ((type === "keypress" || type === "beforeinput") && this.target && focused !== this.target) return false;
    if (this.follow !== "text") return this.follow === "any";
    if (focused === this.current) return true;
    if (!focused || /^(body|html)$/.test(tagOf(focused))) return false;
    if (!(this.focusKey === "Tab" || (this.focusKey === "Enter" && isEditable(focused)) || this.handsTextOn(this.current, focused))) return false;
    this.current = focused;
    return true;
  }

  /**
   * Whether an event belongs to a key that moved the focus, so that no other element may receive it.
   * @param {Event} event
   */
  isRest(event) {
    return this.focusKey !== "" && (event.type === "keypress" || event.type === "beforeinput");
  }

  /**
   * Whether a field moved the focus so that another field receives the rest of a text, such as the fields of a code, or a
   * search field that opens a larger field.
   * @param {El} from @param {El} to
   */
  handsTextOn(from, to) {
    if (!isEditable(to)) return false;
    const now = foldWhiteSpace(contentOf(to));
    if (this.data !== "" && (now === foldWhiteSpace(this.data) || now === foldWhiteSpace((this.before || "") + this.data))) return true;
    if (from === null || isRich(from) || tagOf(to) !== tagOf(from) || to.type !== from.type) return false;
    const put = from === this.el ? this.inserted : this.elsewhere.get(from) || 0;
    const { length } = contentOf(from);
    return put > 0 && ((from.maxLength > 0 && length >= from.maxLength) || (length === 1 && isBoxOfOne(from) && isBoxOfOne(to)));
  }

  /** Records that a text was inserted. @param {InputEvent} event */
  recordInput(event) {
    const { type } = event;
    if (type === "input" && event.isComposing) {
      this.composed = event.data || "";
      return;
    }
    const data = type === "compositionend" ? this.composed : textOf(event);
    this.composed = "";
    if (data === "") return;
    const into = /** @type {El} */ (event.composedPath()[0]);
    const count = [...data].length;
    if (this.el && (isWithinNode(into, this.el) || isWithinNode(this.el, into))) {
      this.inserted += count;
      this.data += data;
      if (this.before !== null && !isRich(this.el)) this.held = contentOf(this.el);
    } else this.elsewhere.set(into, (this.elsewhere.get(into) || 0) + count);
  }

  /** Counts the events that the page prevented. */
  prevented() {
    return this.events.filter((e) => e.defaultPrevented).length;
  }

  /** Whether the page prevents the default input of keys, as in a page that enters each character itself. */
  isKeyed() {
    return this.events.some((e) => e.type === "keydown" && e.defaultPrevented);
  }

  /**
   * Whether the element received a text, by its current content, or because the page sent or forwarded the text.
   * @param {string} text
   */
  isReceived(text) {
    const now = safe.isConnected(this.el) ? contentOf(this.el) : null;
    const before = this.before || "";
    if (this.expected !== null && now === this.expected && this.inserted > 0) return true;
    if (now !== null && now !== before && showsNumber(this.el, text, now)) return true;
    if ((now !== null && holdsText(before, text, now)) || this.wasSentByLines(text, now) || this.wasHandedOn(text)) return true;
    if (this.inserted >= lengthOf(text)) {
      if (now ? now !== before : showsNoValue(this.el)) return true;
      // If a field had the whole text and is now empty or removed, the page has used the text and cleared the field.
      if (!now && (now === null || before !== "" || (lengthOf(text) > 1 && holdsText(before, text, this.held)))) return true;
    }
    return now !== null && this.downs + this.inserted > 0 && isCatcher(this.el);
  }

  /**
   * Whether the field contained each line when Enter sent it.
   * @param {string} text @param {string | null} now
   */
  wasSentByLines(text, now) {
    const lines = text.split(/\r?\n/);
    if (lines.length < 2 || this.enters.length < lines.length - 1) return false;
    let base = this.before || "";
    for (let i = 0; i < lines.length; i++) {
      const held = i < lines.length - 1 ? this.enters[i] : now;
      if (lines[i] === "") continue;
      if (held === null || !(holdsText(base, lines[i], held) || holdsText("", lines[i], held))) return false;
      base = held;
    }
    return true;
  }

  /** Whether the rest of a text is in the fields to which the focus moved. @param {string} text */
  wasHandedOn(text) {
    let total = this.inserted;
    for (const n of this.elsewhere.values()) total += n;
    const whole = total >= lengthOf(text.replace(/[\r\n\t]/g, ""));
    const tab = text.indexOf("\t");
    if (tab >= 0 && whole && (this.current !== this.el || this.focusKey === "Tab")) return true;
    if (this.current === this.el || !this.current) return false;
    return whole || (isEditable(this.current) && holdsText("", text, contentOf(this.current)));
  }

  /** Whether the page took each part of a text out of the empty field and shows it beside the field. @param {string} text */
  wasTaken(text) {
    if (this.before === null || hasText(this.before) || hasText(contentOf(this.el)) || this.inserted < lengthOf(text)) return false;
    const now = textAround(this.el);
    const parts = text.split(/[,;\n]/).map((part) => part.trim()).filter((part) => part !== "");
    return parts.length > 0 && parts.every((part) => now.split(part).length > this.around.split(part).length);
  }

  /** Counts the characters of a text that are in the element. @param {string} text */
  countReceived(text) {
    if (!safe.isConnected(this.el)) return Math.min(this.inserted, lengthOf(text));
    const now = contentOf(this.el), before = this.before || "";
    if (now === before) return 0;
    if (this.inserted > 0) return Math.min(this.inserted, lengthOf(text));
    let same = 0;
    const tail = now.startsWith(before) ? now.slice(before.length) : "";
    while (same < tail.length && tail[same] === text[same]) same++;
    return lengthOf(text.slice(0, same));
  }

  /**
   * Returns why the element did not receive the whole text.
   * @param {El | null} stray the element that a cancelled event would have reached
   */
  cause(stray) {
    const { el } = this;
    if (!safe.isConnected(el)) return "gone";
    if (safe.matches(el, ":disabled")) return "disabled";
    if (el.readOnly === true) return "readonly";
    if (this.elsewhere.size > 0) return "elsewhere";
    if (stray) return "moved";
    if (this.prevented() > 0) return "prevented";
    if (el.maxLength >= 0 && contentOf(el).length >= el.maxLength) return "maxlength";
    return tagOf(el) === "input" && el.type === "number" && this.inserted === 0 ? "number" : "reset";
  }
}

/**
 * Whether a spin button shows the typed number, such as 3 for "03".
 * @param {El} el @param {string} text @param {string} now
 */
function showsNumber(el, text, now) {
  return /^\d+$/.test(text) && explicitRole(el) === "spinbutton" && parseInt(now, 10) === parseInt(text, 10);
}

/**
 * Whether a field is about as wide as one character, such as the fields of a code.
 * @param {El} el
 */
function isBoxOfOne(el) {
  const { width, height } = safe.rect(el);
  return width <= 2 * height;
}

/** The maximum number of characters of a text around a field. */
const MAX_BESIDE_FIELD = 10_000;

/** Returns the text of the box around a field, or "" if that is long. @param {El} el */
function textAround(el) {
  const box = flatElement(el);
  const text = box === null || SECTIONS.has(tagOf(box)) ? "" : safe.textContent(box);
  return text.length > MAX_BESIDE_FIELD ? "" : text;
}

/** Whether a field shows input that is not a value, such as half a number. @param {El} el */
function showsNoValue(el) {
  return tagOf(el) === "input" && safe.isConnected(el) && el.validity.badInput === true;
}

/**
 * Whether an element shows no text itself, but receives keys for an editor that is drawn by other means.
 * @param {El} el
 */
function isCatcher(el) {
  const { width, height } = safe.rect(el);
  if (width < CATCHER_SIZE || height < CATCHER_SIZE || parseFloat(getComputedStyle(el).opacity) < 0.05) return true;
  const box = flatElement(el);
  return box !== null && box.offsetWidth < CATCHER_SIZE && clips(getComputedStyle(box));
}

/** Returns the text that an input event inserted. @param {InputEvent} event */
function textOf(event) {
  if (event.inputType === "insertLineBreak" || event.inputType === "insertParagraph") return "\n";
  return /^insert/.test(event.inputType || "") ? event.data || (event.dataTransfer && event.dataTransfer.getData("text/plain")) || "" : "";
}

/** Returns the number of characters of a text. @param {string} text */
function lengthOf(text) {
  return [...text.replace(/\r\n/g, "\n")].length;
}

/**
 * Returns the characters of a text that a field keeps when it formats its value.
 * @param {string} text @param {boolean} words only letters and digits
 */
function essentialCharacters(text, words) {
  return text.normalize().toLowerCase().replace(words ? /[^\p{L}\p{N}]+/gu : /\s+/gu, "");
}

/**
 * Whether a field with the earlier content `before` contains an appended text, either unchanged or formatted, such as a
 * number with separators.
 * @param {string} before @param {string} text @param {string} now
 */
function holdsText(before, text, now) {
  if (text === "") return true;
  if (now === before) return false;
  if (foldWhiteSpace(now) === foldWhiteSpace(before + text)) return true;
  if (foldWhiteSpace(text) === "") return now.length > before.length;
  const words = hasWord(text);
  const wanted = essentialCharacters(text, words);
  if (now.startsWith(before)) return isSubsequence(wanted, essentialCharacters(now.slice(before.length), words));
  return essentialCharacters(now, words).includes(wanted) || isSubsequence(essentialCharacters(before, words) + wanted, essentialCharacters(now, words));
}

/**
 * Whether all characters of `wanted` are in `text`, in order.
 * @param {string} wanted @param {string} text
 */
function isSubsequence(wanted, text) {
  let at = 0;
  for (const c of wanted) {
    at = text.indexOf(c, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/**
 * Disarms the guard after keys, and returns whether the element received them, and its content.
 * @param {Agent} agent @param {{text?: string, edit: "append" | "replace" | "", framed?: boolean}} request
 */
async function typedOutcome(agent, request) {
  const { el, reached, stray, keys, changed } = agent.guard.disarm();
  if (changed) return { reached, ...changed };
  const outcome = await receivedOutcome(agent, request, el, reached, stray, keys);
  return keys ? { ...outcome, unseen: keys.content.unseenChange() } : outcome;
}

/**
 * Returns whether an element received keys, and its content.
 * @param {Agent} agent @param {{text?: string, edit: "append" | "replace" | "", framed?: boolean}} request @param {El | null} el
 * @param {boolean} reached @param {El | null} stray @param {Keys | null} keys
 */
async function receivedOutcome(agent, request, el, reached, stray, keys) {
  if (reached) agent.model.rows.expectChange(el);
  /** @type {TypedAnswer} */
  const found = { reached, same: true, held: "", delivered: "all", cause: "", kept: 0, of: 0 };
  if (!el || !keys) return found;
  if (stray && isElement(stray)) describeReceiver(agent, stray, el, found);
  // A field that lost the focus at the key may regain it for the text.
  if (!reached && request.edit === "replace" && request.text && keys.before !== null && safe.isConnected(el) && contentOf(el) !== keys.before &&
    foldWhiteSpace(contentOf(el)) === foldWhiteSpace(request.text)) return { ...found, reached: true, detail: "" };
  if (!reached || request.text === undefined || keys.before === null) return keysOutcome(agent, keys, found, stray);
  if (request.edit === "replace") return replacedOutcome(keys, request.text, stray, found, request.framed === true);
  await new Promise((resolve) => ownTimer(resolve, 0)); // some pages reset a field in a task
  const end = performance.now() + TAKES_AT_MOST;
  while (!stray && !keys.isReceived(request.text) && safe.isConnected(el) && performance.now() < end) await nextFrame();
  return textOutcome(agent, keys, request.text, stray, found);
}

/**
 * Returns the outcome of an appended text.
 * @param {Agent} agent @param {Keys} keys @param {string} text @param {El | null} stray
 * @param {TypedAnswer} found
 */
function textOutcome(agent, keys, text, stray, found) {
  const { el } = keys;
  found.of = lengthOf(text);
  if (stray || !keys.isReceived(text)) {
    found.kept = keys.countReceived(text);
    found.cause = keys.cause(stray);
    found.delivered = found.kept > 0 ? "part" : "none";
    const [other] = keys.elsewhere.keys();
    if (found.cause === "elsewhere") describeReceiver(agent, other, el, found);
    if (found.cause === "maxlength") found.limit = el.maxLength;
  } else if (keys.current !== el && keys.current && safe.isConnected(keys.current)) {
    found.cause = "handed on";
    describeReceiver(agent, keys.current, el, found);
    return found;
  }
  if (!safe.isConnected(el)) {
    found.cause = "gone";
    return found;
  }
  const now = contentOf(el);
  found.same = foldWhiteSpace(now) === foldWhiteSpace(keys.expected === null ? keys.before + text : keys.expected);
  if (!found.same && !found.cause) found.cause = isCatcher(el) ? "catcher" : now === "" ? "emptied" : "";
  found.reported = isReportable(el);
  if (!found.same && found.reported) found.held = clean(now, MAX_VALUE);
  return found;
}

/**
 * Describes in the answer the element that received the keys.
 * @param {Agent} agent @param {El} to @param {El} el @param {Answer} found
 */
function describeReceiver(agent, to, el, found) {
  const { detail, ref } = describeObstacle(agent, to, el);
  found.detail = detail;
  found.cover = ref;
}

/** Whether the value of a field may be reported. @param {El} el */
function isReportable(el) {
  return !isSecret(el) && !isTextMasked(el) && !isValueMasked(el);
}

/**
 * Returns the outcome of a text that replaced the content. An input that is not drawn, but held a value, is a select whose choice
 * is drawn elsewhere, and not a field that only receives keys.
 * @param {Keys} keys
 * @param {string} text
 * @param {El | null} stray
 * @param {TypedAnswer} found
 * @param {boolean} framed whether it was inserted as a whole, so that a page which enters each key itself also received the
 *   last key
 */
async function replacedOutcome(keys, text, stray, found, framed) {
  const { el } = keys;
  const end = performance.now() + TAKES_AT_MOST;
  await new Promise((resolve) => ownTimer(resolve, 0)); // some pages reset a field in a task
  for (;;) {
    if (!safe.isConnected(el)) {
      const received = text === "" || keys.inserted > 0;
      return { ...found, cause: "gone", delivered: received ? "all" : "none", of: lengthOf(text) };
    }
    const now = contentOf(el);
    found.same = foldWhiteSpace(now) === foldWhiteSpace(text);
    found.reported = isReportable(el);
    found.held = found.same || !found.reported ? "" : clean(now, MAX_VALUE);
    if (found.same && !holdsWhiteSpace(el, now, text)) {
      // Editors may format the text in a separate task, so a mismatch is final only after the time limit.
      if (performance.now() < end) {
        await nextFrame();
        continue;
      }
      return { ...found, same: false, cause: "spaces", held: found.reported ? now.slice(0, MAX_VALUE) : "" };
    }
    if (!found.same && el.maxLength >= 0 && now !== "" && now.length < text.length && text.startsWith(now)) {
      return { ...found, delivered: "part", cause: "maxlength", kept: lengthOf(now), of: lengthOf(text), limit: el.maxLength };
    }
    if (!found.same && framed && tagOf(el) === "input" && keys.isKeyed() && (now === keys.before || now.includes(text))) return { ...found, cause: "keyed" };
    if (found.same || (now !== keys.before && now !== "")) return found;
    if (isCatcher(el) && keys.inserted > 0 && !(tagOf(el) === "input" && hasText(keys.before || ""))) return { ...found, cause: "catcher" };
    if (keys.wasTaken(text)) return { ...found, held: "", cause: "emptied" };
    if (performance.now() >= end) break;
    await nextFrame();
  }
  return { ...found, delivered: "none", cause: keys.cause(stray), of: lengthOf(text), limit: el.maxLength };
}

/**
 * Whether a field or editor has the white space of a text, as far as it can hold it. In an editor that does not preserve
 * white space, blank lines are ambiguous, because paragraphs look like them, and spaces at line ends are lost.
 * @param {El} el @param {string} now @param {string} text
 */
function holdsWhiteSpace(el, now, text) {
  if (tagOf(el) === "input") return true;
  const plain = (/** @type {string} */ s) => s.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").replace(/[\u200b\ufeff]/g, "");
  let held = plain(now), wanted = plain(text);
  if (tagOf(el) === "textarea") return held === wanted;
  if (!/^(pre|break)/.test(getComputedStyle(el).whiteSpace)) {
    const lines = (/** @type {string} */ s) => s.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "").join("\n");
    [held, wanted] = [lines(held), lines(wanted)];
  } else if (safe.firstElementChild(el)) {
    // innerText represents a blank line in a separate block by one line or two.
    [held, wanted] = [held, wanted].map((s) => s.replace(/\n{2,}/g, "\n\n"));
  }
  const withoutEnd = (/** @type {string} */ s) => s.replace(/\n$/, "");
  return held === wanted || withoutEnd(held) === wanted || withoutEnd(held) === withoutEnd(wanted);
}

/**
 * Returns the outcome of keys that are not a text.
 * @param {Agent} agent @param {Keys} keys @param {TypedAnswer} found @param {El | null} stray
 */
function keysOutcome(agent, keys, found, stray) {
  found.kept = keys.downs;
  if (stray || !found.reached) return found;
  const focused = focusedNow();
  if (focused && safe.isConnected(keys.el) && !holdsFocus(keys.el) && !/^(body|html)$/.test(tagOf(focused))) {
    describeReceiver(agent, focused, keys.el, found);
    found.cause = "handed on";
  } else if (keys.prevented() > 0) found.cause = "prevented";
  return found;
}

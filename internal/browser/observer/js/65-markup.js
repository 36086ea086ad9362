// @ts-check
// Markup writes the visible content of the document as HTML for readers, with flattened shadow trees and slots. It does not
// use the model, because a reader also needs the text between the elements.
//
// The result is untrusted but well formed: tags and attributes come from fixed lists, and everything else is escaped. The
// host of another document becomes <x-frame name="its frame">, which no page can forge, because tags that are not on the
// list become div or span.
//
// Markup owns the output of one call and its limits. The command "markup" calls markupOf; package
// internal/content reads the result.

/** The limits per document, in characters and in nodes. */
const MARKUP_LENGTH = 10_000_000;
const MARKUP_NODES = 400_000;
/** The maximum number of characters of invisible text that are kept. */
const MARKUP_HIDDEN = 50_000;
/** Tags nested deeper than this are left out, but not their text, because parsers and readers recurse. */
const MARKUP_DEPTH = 200;
/** The maximum length of a control's value when only the control is written. */
const MAX_WHOLE_VALUE = 1_000_000;
/** The same limit for a field that users cannot change, when the whole page is written, and the types of such fields. */
const MAX_FIXED_VALUE = 20_000;
const READ_ONLY_TYPES = new Set(["textarea", "text", "search", "url", "tel", "email", "number", "date", "time", "datetime-local", "month", "week"]);
/** The maximum number of images that are measured. */
const MARKUP_PICTURES = 500;
/** The maximum number of options of a list that are written. */
const MARKUP_OPTIONS = 2000;

/** Tags that are kept. */
const MARKUP_TAGS = new Set(
  ("article section main nav aside header footer h1 h2 h3 h4 h5 h6 p div ul ol li dl dt dd table caption thead tbody " +
    "tfoot tr td th pre code blockquote q a em strong b i u s del ins sub sup mark br hr figure figcaption address time " +
    "abbr cite kbd samp var label fieldset legend form details summary dialog search menu hgroup").split(" "),
);
/** Tags that are left out with their content. */
const MARKUP_SKIPPED = new Set(
  "script style noscript template head title meta link base object embed audio map area datalist option optgroup rt rp track source param math".split(" "),
);
const MARKUP_VOID = new Set(["br", "hr"]);
const MARKUP_MEDIA = new Set(["canvas", "video", "img"]);

const UNSAFE = /[&<>"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** @param {string} text */
function escaped(text) {
  if (!text.isWellFormed()) text = text.toWellFormed();
  return text.replace(UNSAFE, (c) => ENTITIES[c] || " ");
}

/** @param {string} name @param {string} value */
function markupAttribute(name, value) {
  return value ? " " + name + '="' + escaped(value) + '"' : "";
}

/** @param {El} el @param {string} name @param {number} max */
function keptAttribute(el, name, max) {
  return markupAttribute(name, withoutSecretValues(attr(el, name) || "").slice(0, max));
}

class Markup {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The element to write. @type {El | null} */
    this.root = null;
    this.opacity = { opacityProperty: VISIBLE.opacityProperty };
    /** @type {string[]} */
    this.parts = [];
    /** Text that is not visible. @type {string[]} */
    this.hiddenText = [];
    /** The remaining number of characters for each. */
    this.hiddenLeft = MARKUP_HIDDEN;
    this.left = MARKUP_LENGTH;
    this.nodes = 0;
    this.truncated = false;
    /** The number of viewport pixels that images, canvases and videos cover. */
    this.mediaArea = 0;
    this.pictures = 0;
    /** The number of open elements that preserve white space (pre). */
    this.preserved = 0;
    const root = safe.documentElement(model.doc);
    const styles = root ? getComputedStyle(root) : null;
    const body = safe.querySelector(model.doc, "body");
    /** @param {CSSStyleDeclaration | null} style */
    const clipsX = (style) => style !== null && (style.overflowX === "hidden" || style.overflowX === "clip");
    // The limits of scrolling.
    const width = root ? (clipsX(styles) || (body && clipsX(getComputedStyle(body))) ? root.clientWidth : root.scrollWidth) : 0;
    const leftwards = root !== null && styles !== null && styles.direction === "rtl" ? width - root.clientWidth : 0;
    this.minX = -leftwards - scrollX;
    this.maxX = width - leftwards - scrollX;
    this.minY = -scrollY;
  }

  /** Appends to the output, up to the limit. @param {string} text */
  put(text) {
    if (text.length > this.left) {
      this.truncated = true;
      return;
    }
    this.left -= text.length;
    this.parts.push(text);
  }

  /** Whether some part of a box can be scrolled into view. @param {DOMRect} r */
  isReachable(r) {
    return r.right > this.minX && r.bottom > this.minY && r.left < Math.max(this.maxX, innerWidth - scrollX);
  }

  /**
   * Whether an element is left out with its content. `visibility` is checked for each text instead,
   * because descendants can be visible again.
   * @param {El} el @param {string} tag
   */
  isHidden(el, tag) {
    if (MARKUP_SKIPPED.has(tag)) return true;
    if (!safe.checkVisibility(el, this.opacity)) return getComputedStyle(el).display !== "contents";
    const r = safe.rect(el);
    if (r.width > 1 && r.height > 1) return false;
    // A box without a size hides its content only if it clips.
    const style = getComputedStyle(el);
    return style.overflowX !== "visible" && style.overflowY !== "visible" && style.display !== "inline" && style.display !== "contents";
  }

  /**
   * Whether a person can read the text in an element.
   * @param {El} el @param {CSSStyleDeclaration} style
   */
  isLegible(el, style) {
    if (style.visibility !== "visible" && VISIBLE.visibilityProperty) return false;
    if (style.contentVisibility === "hidden") return false;
    if (parseFloat(style.fontSize) < 1 || Math.abs(parseFloat(style.textIndent)) > 999) return false;
    if (/^rgba\(.*, 0\)$/.test(style.color) && style.webkitBackgroundClip !== "text") return false;
    const box = style.display === "contents" ? this.ancestorWithBox(el) : el;
    const r = safe.rect(box);
    if (r.width > 1 && r.height > 1) return this.isReachable(r);
    // An inline element's box contains its own text. The text of a block can overflow its box.
    return style.overflowX === "visible" && style.display !== "inline" && (r.width > 0 || r.height > 0) && this.isReachable(r);
  }

  /** Returns the nearest ancestor with a box of its own. @param {El} el */
  ancestorWithBox(el) {
    for (let /** @type {El | null} */ n = el, i = 0; n && i < 16; n = flatElement(n), i++) {
      el = n;
      if (getComputedStyle(n).display !== "contents") break;
    }
    return el;
  }

  /** Records invisible text, which is left out. @param {string} data */
  recordHiddenText(data) {
    if (this.hiddenLeft <= 0) return;
    const text = folded(data, this.hiddenLeft).replace(/\s+/g, " ").slice(0, this.hiddenLeft);
    if (text.length < 4) return;
    this.hiddenLeft -= text.length + 1;
    this.hiddenText.push(text.isWellFormed() ? text : text.toWellFormed());
  }

  /** Writes a text. @param {El | null} parent @param {string} data */
  text(parent, data) {
    if (!this.preserved && data.length < 1000 && !/\S/.test(data)) {
      this.put(" ");
      return;
    }
    if (parent === null) return;
    const style = getComputedStyle(parent);
    if (!this.isLegible(parent, style)) {
      if (!isTextMasked(parent)) this.recordHiddenText(withoutSecretValues(data));
      return;
    }
    if (MASKS !== null && isTextMasked(parent)) data = hasText(data) ? MASK : " ";
    if (secretValues.size) data = withoutSecretValues(data);
    const lines = style.whiteSpaceCollapse !== "collapse" && data.includes("\n");
    if (!this.preserved) data = lines ? data.replace(/[^\S\n]+/g, " ") : data.replace(/\s+/g, " ");
    if (data.length > this.left) {
      data = data.slice(0, this.left);
      this.truncated = true;
    }
    if (lines && !this.preserved) this.put(data.split("\n").map(escaped).join("<br>"));
    else this.put(escaped(data));
  }

  /**
   * Writes the start tag of an element and returns its end tag, or null if its children are not written.
   * @param {El} el @param {string} tag @param {number} depth
   * @returns {string | null}
   */
  open(el, tag, depth) {
    if (MASKS !== null && isMasked(el)) {
      this.put(" " + MASK + " ");
      return null;
    }
    if (MARKUP_MEDIA.has(tag)) this.measure(el);
    switch (tag) {
      case "iframe":
      case "frame":
        this.put("<x-frame" + markupAttribute("name", this.model.frames.get(el) || "") + "></x-frame>");
        return null;
      case "img":
      case "svg":
        this.picture(el, tag);
        return isDrawing(el) && firstWithin(el, "text") !== null ? "" : null;
      case "canvas":
      case "video":
        return null;
      case "input":
      case "select":
      case "textarea":
        this.control(el, tag);
        return null;
      case "button":
        this.put("<button>");
        return "</button>";
    }
    if (depth > MARKUP_DEPTH) return "";
    if (MARKUP_VOID.has(tag)) {
      this.put("<" + tag + ">");
      return null;
    }
    const name = this.name(el, tag);
    if (name === "") return "";
    const space = PHRASING.has(tag) && isApart(el, tag) ? " " : "";
    this.put(space + "<" + name + this.attributes(el, tag) + ">");
    return "</" + name + ">" + space;
  }

  /** Returns the tag to write. @param {El} el @param {string} tag */
  name(el, tag) {
    if (MARKUP_TAGS.has(tag)) return tag === "q" || tag === "cite" || tag === "abbr" ? "span" : tag;
    if (tag === "slot" || tag === "body" || tag === "html") return "";
    const display = getComputedStyle(el).display;
    return display.startsWith("inline") || display.startsWith("ruby") || display === "contents" ? "span" : "div";
  }

  /** @param {El} el @param {string} tag */
  attributes(el, tag) {
    if (hasNoAttributes(el)) return "";
    let out = keptAttribute(el, "class", 200) + keptAttribute(el, "id", 100) + keptAttribute(el, "role", 40);
    switch (tag) {
      case "a":
        out += markupAttribute("href", hrefOf(el, tag)) + keptAttribute(el, "rel", 40);
        break;
      case "td":
      case "th":
        out += keptAttribute(el, "colspan", 6) + keptAttribute(el, "rowspan", 6);
        break;
      case "ol":
        out += keptAttribute(el, "start", 9);
    }
    if (isEditingHost(el)) out += ' contenteditable="true"';
    return out + keptAttribute(el, "itemprop", 40);
  }

  /** Writes an image that has an alternative text. @param {El} el @param {string} tag */
  picture(el, tag) {
    const r = safe.rect(el);
    if (r.width <= 1 || r.height <= 1 || !this.isReachable(r) || getComputedStyle(el).visibility !== "visible") return;
    const alt = clean(attr(el, "aria-label") || attr(el, "alt") || "", 300);
    if (!alt) return;
    let src = tag === "img" ? el.currentSrc || el.src || "" : "";
    if (src.startsWith("data:")) src = src.slice(0, 40);
    this.put("<img" + markupAttribute("alt", alt) + markupAttribute("src", clean(withoutUser(src), MAX_FIELD)) + ">");
  }

  /**
   * Writes a control with its visible value. If only the control is written, it writes the whole value with its line
   * breaks. The value of a field that users cannot change is part of the page's text.
   * @param {El} el @param {string} tag
   */
  control(el, tag) {
    const type = tag === "input" ? el.type : tag;
    if (type === "hidden" || getComputedStyle(el).visibility !== "visible") return;
    const fixed = tag !== "select" && (el.readOnly === true || safe.matches(el, ":disabled")) && READ_ONLY_TYPES.has(type);
    if ((fixed || (el === this.root && tag === "textarea" && el.value.includes("\n"))) && el.value !== "" && !isSecret(el) && !isValueMasked(el)) {
      const value = secretValues.size ? withoutSecretValues(el.value) : el.value;
      const lines = value.slice(0, el === this.root ? MAX_WHOLE_VALUE : MAX_FIXED_VALUE).split("\n").map(escaped);
      this.put(lines.length > 1 ? "<pre>\n" + lines.join("\n") + "</pre>" : "<span>" + lines[0] + "</span>");
      return;
    }
    if (tag === "select" && el === this.root) return this.options(el);
    let out = "<input" + markupAttribute("type", type);
    if (type === "checkbox" || type === "radio") out += el.checked ? " checked" : "";
    else if (type === "submit" || type === "button" || type === "reset") out += markupAttribute("value", clean(el.value, MAX_VALUE));
    else out += markupAttribute("value", valueOf(el, tag, "", el === this.root ? MAX_WHOLE_VALUE : MAX_VALUE)) + markupAttribute("placeholder", clean(reportedAttribute(el, "placeholder") || "", MAX_NAME));
    this.put(out + ">");
  }

  /** Writes the options of a list when only the list is written. @param {El} select */
  options(select) {
    if (isSecret(select) || isValueMasked(select)) return this.put(MASK);
    this.put("<ul>");
    for (let i = 0; i < select.options.length && i < MARKUP_OPTIONS; i++) {
      const option = select.options[i];
      const states = (option.selected ? " (selected)" : "") + (safe.matches(option, ":disabled") ? " (disabled)" : "");
      this.put("<li>" + escaped((isMasked(option) ? MASK : clean(optionLabel(option), MAX_NAME)) + states) + "</li>");
    }
    this.put("</ul>");
  }

  /** Adds the part of the viewport that an image, canvas or video covers. @param {El} el */
  measure(el) {
    if (++this.pictures > MARKUP_PICTURES || !safe.checkVisibility(el, VISIBLE)) return;
    const r = safe.rect(el);
    const width = Math.min(r.right, innerWidth) - Math.max(r.left, 0);
    const height = Math.min(r.bottom, innerHeight) - Math.max(r.top, 0);
    if (width > 0 && height > 0) this.mediaArea += width * height;
  }

  /** Writes a subtree. It is iterative, because nesting is unbounded. @param {El} root */
  write(root) {
    this.root = root;
    /** The next node of each level. @type {(El | Text | null | undefined)[]} */
    const next = [root];
    /**
     * On levels with the content of a slot: the assigned nodes, and the position among them.
     * @type {((El | Text)[] | null)[]}
     */
    const lists = [null];
    const positions = [0];
    /** The open elements, and their end tags. @type {(El | null)[]} */
    const owners = [null];
    const ends = [""];
    let depth = 0;
    let written = 0;
    while (depth >= 0) {
      const node = next[depth];
      if (!node || this.truncated) {
        if (ends[depth]) written--;
        if (ends[depth] === "</pre>") this.preserved--;
        this.parts.push(ends[depth]);
        depth--;
        continue;
      }
      const list = lists[depth];
      next[depth] = depth === 0 ? null : list ? list[++positions[depth]] : safe.nextSibling(node);
      if (++this.nodes > MARKUP_NODES) this.truncated = true;
      if (isText(node)) {
        if (node.data) this.text(owners[depth], node.data);
        continue;
      }
      if (!isElement(node)) continue;
      const tag = tagOf(node);
      if (this.isHidden(node, tag)) {
        if (!MARKUP_SKIPPED.has(tag)) this.recordHiddenText(reportedText(node) || "");
        continue;
      }
      const end = this.open(node, tag, written);
      if (end === null) continue;
      const shadow = shadowOf(node);
      const assigned = tag === "slot" ? node.assignedNodes() : [];
      depth++;
      lists[depth] = assigned.length ? assigned : null;
      positions[depth] = 0;
      next[depth] = assigned.length ? assigned[0] : safe.firstChild(shadow || node);
      owners[depth] = node;
      ends[depth] = end;
      if (end) written++;
      if (end === "</pre>") this.preserved++;
    }
  }
}

/**
 * Returns the document, or the content of one element, as HTML, and the viewport area that pictures cover.
 * @param {Agent} agent @param {{root: number} | null} argument the ref of the element
 */
function markupOf(agent, argument) {
  const doc = agent.model.doc;
  if (checkHiddenPage(doc)) agent.model.changes.styleDirty = true;
  const markup = new Markup(agent.model);
  const only = argument ? agent.model.records.connected(argument.root) : null;
  const root = argument ? only && only.node : safe.querySelector(doc, "body,frameset");
  if (argument && root && closestOf(root, "pre")) markup.preserved++;
  if (root) markup.write(root);
  return {
    html: markup.parts.join(""), unseen: markup.hiddenText.join("\n"), truncated: markup.truncated, mediaArea: markup.mediaArea, viewArea: innerWidth * innerHeight,
    url: clean(location.href, MAX_FIELD), title: clean(safe.title(doc), 300), type: clean(doc.contentType, MAX_FIELD),
  };
}

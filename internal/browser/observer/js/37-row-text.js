// @ts-check
// The content of a row as parts: texts, values of fields, and attributes that identify records.
//
// RowGather walks the row. partsOfMarkup computes the same parts from the markup of a row, which is
// cheaper to keep than parts. RowReader (37-row-finder.js) chooses between the two.
// 37-row-compare.js and 39-rows.js read the parts.

/** The limits of a row: the number of parts, and the number of characters of each. */
const MAX_ROW_PARTS = 80;
const MAX_ROW_TEXT = 160;

/** Elements that change by themselves, and so do not identify a record. */
const LIVE_TAGS = new Set(["script", "style", "noscript", "template", "time", "progress", "meter", "output", "svg", "canvas", "video", "audio"]);
const LIVE_ROLES = new Set(["alert", "status", "log", "timer", "progressbar", "marquee", "tooltip", "meter"]);
const CAPTION_TAGS = new Set(["button", "summary"]);
/** Attributes that identify records, and their library-generated values, which do not. */
const KEY_ATTRIBUTE = /^(id|itemid|key|data-(.*[-_])?(id|key|uid|uuid|guid|pk|slug|sku|name|email|user|record|item))$/;
const GENERATED_KEY = /^(:r|«|radix|headlessui|react|mui|ember|ext-|yui|j_id|__)/i;

/** @type {(el: El) => string[]} */
const attributeNames = method(Element, "getAttributeNames");

/**
 * A part of a row. Kind is "w" for a text, "v" for the value of a field, "h" for the URL of a link,
 * and otherwise the name of an attribute. Control is the number of the field or editor that
 * contains the part. Hidden parts never appear in messages.
 * @typedef {{kind: string, text: string, control: number, caption: boolean, hidden: boolean}} RowPart
 */

/**
 * The content of a row at a mark (a number that the daemon assigns to each read; see Rows). It
 * consists of the markup that the browser serializes, which is much cheaper than a walk, and the
 * values of its fields. Parts are computed from both on demand, or immediately if the markup does
 * not show everything. Unsure means that the row changed after the read and before it was recorded.
 * @typedef {{mark: number, markup: string, values: RowPart[], parts: RowPart[] | null, unsure: boolean}} RowState
 */

/** Gathers the parts of a row. */
class RowGather {
  /** @param {RowReader} reader @param {El} root */
  constructor(reader, root) {
    this.reader = reader;
    this.root = root;
    this.left = MAX_ROW_NODES;
    /** @type {RowPart[]} */
    this.parts = [];
  }

  /** @param {El} root */
  walk(root) {
    /** @type {[El | Text, number, boolean][]} */
    const stack = [[root, 0, false]];
    while (stack.length && --this.left >= 0) {
      const [node, control, caption] = /** @type {[El | Text, number, boolean]} */ (stack.pop());
      if (isText(node)) {
        if (/\S/.test(node.data)) this.addPart("w", node.data, control, caption, MASKS !== null && isTextMasked(/** @type {El | null} */ (safe.parentNode(node))));
        continue;
      }
      if (!isElement(node) || !this.visit(node, node === root)) continue;
      const tag = tagOf(node);
      const editor = control || (isEditingHost(node) ? this.reader.fieldNumber(node) : 0);
      const below = caption || CAPTION_TAGS.has(tag) || (hasAttr(node, "role") && explicitRole(node) === "button");
      const nodes = flatNodes(node, tag);
      for (let i = Math.min(nodes.length, MAX_ROW_NODES) - 1; i >= 0; i--) stack.push([nodes[i], editor, below]);
    }
  }

  /**
   * Adds the parts of an element's attributes or value. Reports whether to visit its children.
   * @param {El} el @param {boolean} first whether it is the row itself
   */
  visit(el, first) {
    const tag = tagOf(el);
    const role = hasAttr(el, "role") ? explicitRole(el) : "";
    if (isSkippedInRow(tag, role, first, !hasNoAttributes(el) && hasAttr(el, "aria-live"))) return false;
    if (!hasNoAttributes(el)) {
      const masked = isMasked(el);
      for (const name of attributeNames(el).slice(0, MAX_ROW_PARTS)) this.parts.push(...attributeParts(tag, name, attr(el, name) || "", (other) => attr(el, other), masked));
    }
    if (tag !== "select" && tag !== "textarea" && tag !== "input") return true;
    this.parts.push(...this.reader.fieldParts(el));
    return false;
  }

  /**
   * @param {string} kind @param {string | null} text @param {number} control
   * @param {boolean} caption @param {boolean} hidden
   */
  addPart(kind, text, control, caption, hidden) {
    if (!text || this.parts.length >= MAX_ROW_PARTS) return;
    this.parts.push({ kind, text: clean(text, MAX_ROW_TEXT), control, caption, hidden });
  }
}

/**
 * Whether an element does not belong to the row around it, because it changes by itself or is
 * another row.
 * @param {string} tag @param {string} role @param {boolean} first @param {boolean} live
 */
function isSkippedInRow(tag, role, first, live) {
  return LIVE_TAGS.has(tag) || (!first && (ROW_TAGS.has(tag) || ROW_ROLES.has(role) || LIVE_ROLES.has(role) || live));
}

/**
 * Returns the part for an attribute, if any.
 * @param {string} tag @param {string} name @param {string} value @param {(name: string) => string | null} other reads another attribute @param {boolean} masked
 * @returns {RowPart[]}
 */
function attributeParts(tag, name, value, other, masked) {
  if (!value) return [];
  let kind = "";
  if (name === "aria-label" || name === "alt") kind = "w";
  else if (name === "href" && tag === "a") kind = "h";
  else if (name === "src" && tag === "img" && !other("alt") && !other("data-src") && other("loading") !== "lazy") kind = "src";
  else if (KEY_ATTRIBUTE.test(name) && !GENERATED_KEY.test(value)) kind = name;
  return kind ? [{ kind, text: clean(value, MAX_ROW_TEXT), control: 0, caption: false, hidden: kind !== "w" || masked }] : [];
}

/**
 * Returns the parts of a row, computing them from its markup on first use.
 * @param {RowState} state @returns {RowPart[]}
 */
function partsOf(state) {
  if (state.parts === null) {
    state.parts = partsOfMarkup(state.markup);
    state.parts.push(...state.values);
    state.markup = "";
  }
  return state.parts;
}

const TOKENS = /<(\/?)([^\s<>\/]+)((?:\s[^\s=>]+(?:="[^"]*")?)*)\s*\/?>|<!--[^]*?-->|[^<]+|</g;
const ATTRIBUTE = /\s([^\s=>]+)(?:="([^"]*)")?/g;
const VOID_TAGS = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const RAW_TAGS = new Set(["script", "style", "noscript", "iframe", "xmp", "noembed", "noframes", "plaintext", "template"]);

/**
 * Returns the parts of serialized markup. The browser wrote it, so attributes are quoted and texts
 * are escaped.
 * @param {string} markup
 */
function partsOfMarkup(markup) {
  /** @type {RowPart[]} */
  const parts = [];
  /**
   * The open elements, with flags for skipped content and captions.
   * @type {{tag: string, skipped: boolean, caption: boolean}[]}
   */
  const open = [];
  TOKENS.lastIndex = 0;
  for (let m; (m = TOKENS.exec(markup)) && parts.length < MAX_ROW_PARTS; ) {
    const top = open[open.length - 1];
    if (m[2] === undefined) {
      if (m[0][0] !== "<" && !(top && top.skipped) && /\S/.test(m[0])) {
        parts.push({ kind: "w", text: clean(unescaped(m[0]), MAX_ROW_TEXT), control: 0, caption: top !== undefined && top.caption, hidden: false });
      }
      continue;
    }
    const tag = m[2].toLowerCase();
    if (m[1]) {
      const i = open.findLastIndex((o) => o.tag === tag);
      if (i >= 0) open.length = i;
      continue;
    }
    const attributes = new Map();
    for (const [, name, value] of m[3].matchAll(ATTRIBUTE)) attributes.set(name.toLowerCase(), unescaped(value || ""));
    const role = (attributes.get("role") || "").toLowerCase().trim();
    const skipped = (top !== undefined && top.skipped) || isSkippedInRow(tag, role, open.length === 0, attributes.has("aria-live"));
    if (!skipped) for (const [name, value] of attributes) parts.push(...attributeParts(tag, name, value, (other) => attributes.get(other) || null, false));
    if (VOID_TAGS.has(tag)) continue;
    if (RAW_TAGS.has(tag)) {
      const end = markup.indexOf("</" + tag, TOKENS.lastIndex);
      if (end < 0) break;
      TOKENS.lastIndex = end;
    }
    open.push({
      tag,
      skipped: skipped || tag === "select" || tag === "textarea",
      caption: (top !== undefined && top.caption) || CAPTION_TAGS.has(tag) || role === "button",
    });
  }
  return parts;
}

/** @type {Record<string, string>} */
const ESCAPES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " };

/** @param {string} text */
function unescaped(text) {
  return text.includes("&") ? text.replace(/&(amp|lt|gt|quot|nbsp);/g, (_, name) => ESCAPES[name]) : text;
}

/**
 * Whether two states have the same markup and values, or the same parts.
 * @param {RowState} a @param {RowState} b
 */
function isSameState(a, b) {
  if (a.markup !== "" && a.markup === b.markup) return signatureOf(a.values) === signatureOf(b.values);
  return signatureOf(partsOf(a)) === signatureOf(partsOf(b));
}

/** @param {RowPart[]} parts */
function signatureOf(parts) {
  let sign = "";
  for (const p of parts) sign += p.kind + "\u001e" + p.text + "\u001f";
  return sign;
}

// @ts-check
// Extraction runs a plan that package extract has compiled from a schema. A plan is data. Values are returned as strings,
// which the daemon converts, so that the page does not decide what counts as a number.
//
// Selectors match in the document and in its shadow trees, in document order, with a shadow tree at the position of its
// host. All walks are iterative and bounded by time, characters, values and rows.
//
// Extraction owns one run and its limits; Table reads one table for it. The command "extract" calls
// extractWith.

/** The maximum length of one value, in characters. */
const EXTRACT_VALUE = 100_000;
/** The maximum number of nodes from which the text of one value is gathered. */
const EXTRACT_NODES = 100_000;
/** The maximum number of columns of a table, and the maximum number of rows that a cell may span. */
const EXTRACT_COLUMNS = 200;
const EXTRACT_SPAN = 1000;
/** The number of elements between two reads of the clock. */
const EXTRACT_TICKS = 256;

const EXTRACT_SILENT = new Set("script style template noscript head title meta link base".split(" "));

/** The attribute with the URL, by tag. @type {Record<string, string>} */
const EXTRACT_LINKS = { a: "href", area: "href", link: "href", img: "src", iframe: "src", script: "src", source: "src", video: "src", audio: "src", form: "action" };

/**
 * The root of a search: a document, a shadow tree or an element.
 * @typedef {El | Document | DocumentFragment} Scope
 */

/** @type {Record<string, (scope: Scope, selector: string) => El | null>} */
const querySelectorIn = { element: method(Element, "querySelector"), document: method(Document, "querySelector"), fragment: method(DocumentFragment, "querySelector") };
/** @type {Record<string, (scope: Scope, selector: string) => NodeListOf<El>>} */
const querySelectorAllIn = { element: method(Element, "querySelectorAll"), document: method(Document, "querySelectorAll"), fragment: method(DocumentFragment, "querySelectorAll") };

/** @param {Scope} root */
function scopeKind(root) {
  const type = safe.nodeType(root);
  return type === 9 ? "document" : type === 11 ? "fragment" : "element";
}

/** @param {Scope} root @param {string} selector */
const queryOne = (root, selector) => querySelectorIn[scopeKind(root)](root, selector);
/** @param {Scope} root @param {string} selector */
const queryAll = (root, selector) => querySelectorAllIn[scopeKind(root)](root, selector);

/** Returns a node and the hosts around it, each with the root of its tree. @param {El} node */
function hostChain(node) {
  const chain = [];
  for (let /** @type {El | null} */ n = node, i = 0; n && i < 1000; i++) {
    const root = safe.getRootNode(n);
    chain.push({ root, node: n });
    n = isShadow(root) ? root.host : null;
  }
  return chain;
}

/**
 * Compares the document order of two elements, with shadow trees at the positions of their hosts.
 * @param {El} a @param {El} b
 */
function composedOrder(a, b) {
  const others = new Map(hostChain(b).map((p, depth) => [p.root, { node: p.node, depth }]));
  const own = hostChain(a);
  for (let depth = 0; depth < own.length; depth++) {
    const other = others.get(own[depth].root);
    if (!other) continue;
    if (own[depth].node === other.node) return depth - other.depth; // a host precedes its content
    return own[depth].node.compareDocumentPosition(other.node) & 4 ? -1 : 1;
  }
  return 0;
}

class Extraction {
  /**
   * @param {Agent} agent
   * @param {PlanLimits} limits
   */
  constructor(agent, limits) {
    this.model = agent.model;
    this.naming = this.model.naming;
    this.maxRows = limits.rows;
    /** The remaining numbers of characters and values. */
    this.characters = limits.characters;
    this.values = limits.values;
    this.end = performance.now() + limits.milliseconds;
    this.ticks = 0;
    this.timedOut = false;
    this.truncated = false;
    /** The number of elements of top-level fields with `all`. */
    this.rows = 0;
    /** The shadow roots in a scope. @type {Map<Scope, Shadow[]>} */
    this.shadows = new Map();
    /** The number of elements that the last find left out. */
    this.surplus = 0;
    this.hasShadowTrees = [...this.model.sweep.shadows].some((root) => safe.isConnected(root.host));
  }

  /** Whether the time is up. */
  overdue() {
    if (!this.timedOut && ++this.ticks % EXTRACT_TICKS === 0) this.timedOut = performance.now() > this.end;
    if (this.timedOut) this.truncated = true;
    return this.timedOut;
  }

  /** Whether a limit is reached. */
  full() {
    if (this.values <= 0 || this.characters <= 0) this.truncated = true;
    return this.values <= 0 || this.characters <= 0 || this.overdue();
  }

  /** Returns the shadow roots below a scope, at any depth. @param {Scope} scope */
  shadowsIn(scope) {
    if (!this.hasShadowTrees) return [];
    const known = this.shadows.get(scope);
    if (known) return known;
    /** @type {Shadow[]} */
    const found = [];
    const stack = [scope];
    const own = isElement(scope) && shadowOf(scope);
    if (own) {
      found.push(own);
      stack.push(own);
    }
    while (stack.length && !this.overdue()) {
      for (const el of queryAll(/** @type {Scope} */ (stack.pop()), "*")) {
        const root = shadowOf(el);
        if (root) {
          found.push(root);
          stack.push(root);
        }
        if (this.overdue()) break;
      }
    }
    this.shadows.set(scope, found);
    return found;
  }

  /**
   * Returns the elements of a field in document order: all, or the first.
   * @param {Scope} scope @param {PlanField} field
   * @returns {El[]}
   */
  find(scope, field) {
    if (field.role) return this.findRole(scope, field);
    const { selector } = field;
    if (!selector) return [isDocument(scope) ? safe.documentElement(scope) : /** @type {El} */ (scope)].filter((el) => el !== null);
    const trees = [scope, ...this.shadowsIn(scope)];
    if (!field.all) {
      const firsts = trees.map((tree) => queryOne(tree, selector)).filter((el) => el !== null);
      return (firsts.length > 1 ? firsts.sort(composedOrder) : firsts).slice(0, 1);
    }
    /** @type {El[]} */
    const found = [];
    let from = 0;
    for (const tree of trees) {
      const list = queryAll(tree, selector);
      if (list.length) from++;
      for (let i = 0; i < list.length && i < this.maxRows + 1; i++) found.push(list[i]);
      if (list.length > this.maxRows + 1) this.surplus += list.length - this.maxRows - 1;
    }
    return from > 1 ? found.sort(composedOrder) : found;
  }

  /**
   * Returns the visible elements with the role and name of a field.
   * @param {Scope} scope @param {PlanField} field
   */
  findRole(scope, field) {
    const found = [];
    const trees = [scope, ...this.shadowsIn(scope)];
    for (const tree of trees) {
      for (const el of queryAll(tree, "*")) {
        if (this.overdue()) break;
        const tag = tagOf(el);
        probeAttributes(el);
        const role = roleOf(el, tag, explicitRole(el));
        forgetAttributes();
        if (role !== field.role || !safe.checkVisibility(el, VISIBLE)) continue;
        if (field.name && !foldCase(this.naming.nameOrCaption(el, tag, role)).includes(field.name)) continue;
        found.push(el);
        if (!field.all && trees.length === 1) return found;
        if (found.length > this.maxRows) break;
      }
    }
    if (trees.length > 1) found.sort(composedOrder);
    return field.all ? found : found.slice(0, 1);
  }

  /**
   * Returns the value of a field, or null if no element matches.
   * @param {Scope} scope @param {PlanField} field @param {number} depth @returns {PlanValue}
   */
  read(scope, field, depth) {
    const found = this.find(scope, field);
    const { surplus } = this;
    this.surplus = 0;
    if (depth === 0 && field.all) this.rows += found.length + surplus;
    if (!field.all) return found.length ? this.value(found[0], field, depth) : null;
    /** @type {PlanValue[]} */
    const out = [];
    if (found.length > this.maxRows || surplus) this.truncated = true;
    for (const el of found.slice(0, this.maxRows)) {
      if (this.full()) break;
      out.push(this.value(el, field, depth));
    }
    return out;
  }

  /**
   * Returns the value of one element. It recurses, because the daemon limits the nesting of fields.
   * @param {El} el @param {PlanField} field @param {number} depth @returns {PlanValue}
   */
  value(el, field, depth) {
    if (field.fields) return field.fields.map((inner) => (this.full() ? null : this.read(el, inner, depth + 1)));
    this.values--;
    const tag = tagOf(el);
    if (field.attribute) {
      const text = reportedAttribute(el, field.attribute);
      return text === null ? null : this.keep(field.url && text !== MASK ? absoluteURL(el, text) : text.trim());
    }
    if (field.url && isMasked(el)) return this.keep(MASK);
    if (field.url) {
      const raw = attr(el, EXTRACT_LINKS[tag] || "href");
      if (raw === null && EXTRACT_LINKS[tag]) return null;
      return this.keep(absoluteURL(el, raw === null ? this.text(el, tag) : raw));
    }
    return this.keep(this.text(el, tag));
  }

  /** Counts a value, and truncates it if it is too long. @param {string | null} text */
  keep(text) {
    if (text === null) return null;
    text = withoutSecretValues(text);
    const most = Math.min(EXTRACT_VALUE, Math.max(this.characters, 0));
    if (text.length > most) {
      text = text.slice(0, most) + "…";
      this.truncated = true;
    }
    this.characters -= text.length + 8;
    return text.isWellFormed() ? text : text.toWellFormed();
  }

  /**
   * Returns the visible text of an element, or all its text if it is not visible.
   * @param {El} el @param {string} tag
   */
  text(el, tag) {
    const field = tag === "textarea" || tag === "input" || tag === "select";
    if (MASKS !== null && (isMasked(el) || (!field && isTextMasked(el)))) return MASK;
    if (tag === "input" && (el.type === "checkbox" || el.type === "radio")) return String(el.checked);
    if (tag === "img") return (attr(el, "alt") || "").trim();
    if (field) return this.fieldText(el, tag);
    if (!safe.checkVisibility(el) && getComputedStyle(el).display !== "contents") return this.finishText(reportedFolded(el, EXTRACT_VALUE));
    return this.finishText(this.gather(el));
  }

  /** Returns the value of a form field, masked where needed. @param {El} el @param {string} tag */
  fieldText(el, tag) {
    if (isSecret(el) || (isValueMasked(el) && !isCaption(el))) return el.value ? MASK : "";
    return tag === "select" ? selectedText(el, EXTRACT_VALUE) : String(el.value).trim();
  }

  /** Ends a text, and records whether it was truncated. @param {TextFolder} text */
  finishText(text) {
    const words = text.finish();
    this.truncated = this.truncated || text.cut;
    return words;
  }

  /** Gathers the visible text of an element. @param {El} el */
  gather(el) {
    const out = new TextFolder(EXTRACT_VALUE);
    /** @type {{next: El | Text | null, list: (El | Text)[] | null, i: number, after: string}[]} */
    const stack = [{ next: firstFlat(el), list: null, i: 0, after: "" }];
    for (let seen = 0; stack.length && !out.isFull; ) {
      const top = stack[stack.length - 1];
      const node = top.list ? top.list[top.i++] : top.next;
      if (!node) {
        out.add(top.after);
        stack.pop();
        continue;
      }
      if (!top.list) top.next = safe.nextSibling(node);
      if (++seen > EXTRACT_NODES || this.overdue()) {
        this.truncated = true;
        break;
      }
      if (isText(node)) {
        out.add(node.data);
        continue;
      }
      if (!isElement(node)) continue;
      const tag = tagOf(node);
      const space = addReplacedText(out, node, tag);
      if (space === null) continue;
      out.add(space);
      const assigned = tag === "slot" ? node.assignedNodes() : [];
      stack.push({ next: firstFlat(node), list: assigned.length ? assigned : null, i: 0, after: space });
    }
    return out;
  }

  /** Returns the frames below a scope, in document order, by their names in the daemon. @param {Scope} scope */
  frames(scope) {
    const found = [];
    for (const tree of [scope, ...this.shadowsIn(scope)]) for (const el of queryAll(tree, "iframe, frame")) found.push(el);
    if (this.hasShadowTrees) found.sort(composedOrder);
    return found.slice(0, 1000).map((el) => this.model.frames.get(el)).filter(Boolean);
  }
}

/**
 * Adds the text that replaces an element's content, if any: a mask, an alternative text or a space. Returns null if the
 * content is not read, or else the space around it.
 * @param {TextFolder} out @param {El} el @param {string} tag
 */
function addReplacedText(out, el, tag) {
  if (EXTRACT_SILENT.has(tag)) return null;
  if (MASKS !== null && isTextMasked(el)) {
    out.add(" " + MASK + " ");
    return null;
  }
  const { display, visibility } = getComputedStyle(el);
  if (display === "none" || (visibility !== "visible" && !safe.firstElementChild(el))) return null;
  const space = display === "inline" || display === "contents" ? "" : " ";
  switch (tag) {
    case "br":
    case "input":
    case "textarea":
    case "select":
    case "iframe":
      out.add(" ");
      return null;
    case "img":
      out.add(space + (attr(el, "alt") || "") + space);
      return null;
  }
  return space;
}

/** @param {El} el */
function firstFlat(el) {
  return safe.firstChild(shadowOf(el) || el);
}

/** @param {string} text */
function foldSpace(text) {
  return text.replace(SPACES, " ").trim();
}

/** @param {string} text */
function foldCase(text) {
  return foldSpace(text).toLowerCase();
}

/** @param {El} el @param {string} text */
function absoluteURL(el, text) {
  try {
    return withoutUser(new URL(text.trim(), /** @type {Document} */ (slow.ownerDocument(el)).baseURI).href);
  } catch {
    return null;
  }
}

// ---- tables -----------------------------------------------------------------------------------

const TABLES = "table, [role=table], [role=grid], [role=treegrid]";
const ROWS = "tr, [role=row]";
const HEADERS = new Set(["columnheader", "rowheader"]);

/** Returns the table around a row or a cell. @param {El} el */
function tableOf(el) {
  for (let n = flatElement(el), i = 0; n && i < 10_000; n = flatElement(n), i++) if (safe.matches(n, TABLES)) return n;
  return null;
}

class Table {
  /** @param {Extraction} extraction @param {El} el */
  constructor(extraction, el) {
    this.extraction = extraction;
    this.el = el;
    this.native = tagOf(el) === "table";
    /** The rows, including the head but not the rows of nested tables. */
    this.rows = this.native ? nativeRows(el) : roleRows(extraction, el);
    /** The number of rows in the head. */
    this.head = this.countHead();
    const head = this.grid(0, this.head);
    /** @type {string[]} */
    this.headers = this.head ? this.columnNames(head) : [];
    /** The texts of the last row of the head, without the groups above them. @type {string[]} */
    this.lowest = head.length > 1 ? head[head.length - 1] : [];
  }

  /** Returns the cells of a row. @param {El} row @returns {El[]} */
  cells(row) {
    if (tagOf(row) === "tr") return [...row.cells];
    const cells = [];
    const stack = flatNodes(row, tagOf(row)).reverse();
    while (stack.length && cells.length < EXTRACT_COLUMNS) {
      const node = /** @type {El | Text} */ (stack.pop());
      if (!isElement(node)) continue;
      const role = explicitRole(node);
      if (role === "cell" || role === "gridcell" || HEADERS.has(role)) cells.push(node);
      else if (!safe.matches(node, TABLES)) stack.push(...flatNodes(node, tagOf(node)).reverse());
    }
    return cells;
  }

  /** Whether a cell is a column header. @param {El} cell */
  isColumnHeader(cell) {
    const explicit = explicitRole(cell);
    if (explicit) return explicit === "columnheader";
    return tagOf(cell) === "th" && !/^row/i.test(attr(cell, "scope") || "");
  }

  /** Counts the rows of the head: the rows of thead, or else the leading rows of headers. */
  countHead() {
    let n = 0;
    for (const row of this.rows) {
      if (n >= 10) break;
      const parent = safe.parentNode(row);
      const inHead = parent && isElement(parent) && tagOf(parent) === "thead";
      if (!inHead) {
        const cells = this.cells(row);
        // An empty first cell need not be a header.
        const all = cells.length > 0 && cells.every((c, i) => this.isColumnHeader(c) || (i === 0 && !safe.textContent(c).trim() && cells.length > 1));
        if (!all || (cells.length === 1 && this.rows.length > n + 1 && this.cells(this.rows[n + 1]).length === 2)) break;
      }
      n++;
    }
    return n;
  }

  /**
   * Returns the texts of rows. A cell that spans columns or rows is repeated in each of them.
   * @param {number} from @param {number} to
   * @returns {string[][]}
   */
  grid(from, to) {
    const { extraction } = this;
    const out = [];
    /**
     * The cells that span into the next row, by column, with the remaining number of rows.
     * @type {{text: string, rows: number}[]}
     */
    let spanning = [];
    for (let i = from; i < to && !extraction.full(); i++) {
      const line = [];
      const next = [];
      let column = 0;
      const fillSpanned = () => {
        while (spanning[column] && spanning[column].rows > 0) {
          line[column] = spanning[column].text;
          next[column] = { text: spanning[column].text, rows: spanning[column].rows - 1 };
          column++;
        }
      };
      for (const cell of this.cells(this.rows[i])) {
        fillSpanned();
        if (column >= EXTRACT_COLUMNS) break;
        extraction.values--;
        const text = extraction.keep(extraction.text(cell, tagOf(cell))) || "";
        const wide = spanOf(cell, "colspan", EXTRACT_COLUMNS - column);
        const high = spanOf(cell, "rowspan", EXTRACT_SPAN) || to - i;
        for (let c = 0; c < Math.max(wide, 1); c++, column++) {
          line[column] = text;
          if (high > 1) next[column] = { text, rows: high - 1 };
        }
      }
      fillSpanned();
      for (; column < spanning.length; column++) fillSpanned();
      for (let c = 0; c < line.length; c++) if (line[c] === undefined) line[c] = "";
      spanning = next;
      out.push(line);
    }
    return out;
  }

  /**
   * Returns the column names: for each column, the distinct texts of the head rows, joined.
   * @param {string[][]} grid
   */
  columnNames(grid) {
    const width = Math.max(0, ...grid.map((line) => line.length));
    const taken = new Map();
    const names = [];
    for (let c = 0; c < width; c++) {
      /** @type {string[]} */
      const words = [];
      for (const line of grid) if (line[c] && !words.includes(line[c])) words.push(line[c].slice(0, 200));
      const name = words.join(" ") || "column " + (c + 1);
      const count = (taken.get(name) || 0) + 1;
      taken.set(name, count);
      names.push(count > 1 ? name + " " + count : name);
    }
    return names;
  }

  /**
   * Names a column by its lowest header alone if a wanted header is only that, such as "2021" below
   * "Inhabitants".
   * @param {string[]} wanted the case-folded headers
   */
  nameLowest(wanted) {
    const lowest = this.lowest.map(foldCase);
    const names = this.headers.map(foldCase);
    for (const header of wanted) {
      const column = lowest.indexOf(header);
      if (column >= 0 && !names.includes(header) && lowest.lastIndexOf(header) === column) this.headers[column] = this.lowest[column];
    }
  }

  /** Whether the table is a list of properties, with one header and one cell per row. */
  isPropertyList() {
    return !this.head && this.rows.length > 0 && this.rows.slice(0, 200).every((row) => {
      const cells = this.cells(row);
      return cells.length === 2 && (tagOf(cells[0]) === "th" || explicitRole(cells[0]) === "rowheader") && tagOf(cells[1]) !== "th";
    });
  }

  /** Returns the accessible name, which is the caption if there is one. */
  caption() {
    const { naming } = this.extraction;
    return clean(naming.name(this.el, tagOf(this.el), this.native ? "table" : explicitRole(this.el)), MAX_NAME);
  }
}

/** @param {El} cell @param {string} name @param {number} most the limit; 0 means down to the end */
function spanOf(cell, name, most) {
  const stated = attr(cell, name) || attr(cell, "aria-" + name);
  const n = stated === null ? 1 : parseInt(stated, 10);
  if (n === 0 && name === "rowspan") return 0;
  return Math.min(n > 0 ? n : 1, Math.max(most, 1));
}

/** Returns the rows of a table without the foot, which contains totals. @param {El} table */
function nativeRows(table) {
  /** @type {El[]} */
  const foot = [];
  for (const section of /** @type {Iterable<El>} */ (table.tBodies ? table.children : [])) if (tagOf(section) === "tfoot") foot.push(section);
  const rows = table.rows ? [...table.rows] : [];
  return foot.length ? rows.filter((row) => !foot.includes(/** @type {El} */ (safe.parentNode(row)))) : rows;
}

/** @param {Extraction} extraction @param {El} el */
function roleRows(extraction, el) {
  const rows = [];
  for (const tree of [el, ...extraction.shadowsIn(el)]) {
    for (const row of queryAll(tree, ROWS)) {
      if (extraction.overdue()) break;
      if (tableOf(row) === el) rows.push(row);
    }
  }
  return extraction.hasShadowTrees ? rows.sort(composedOrder) : rows;
}

/** Returns the words of a text, with single spaces around them. @param {string} text */
function spacedWords(text) {
  return " " + text.replace(/[^\p{L}\p{N}]+/gu, " ").trim() + " ";
}

/** Whether exactly one name contains the words of a header. @param {string[]} names @param {string} header */
function isPartOfOne(names, header) {
  const words = spacedWords(header);
  return words.length > 2 && names.filter((name) => spacedWords(name).includes(words)).length === 1;
}

/**
 * Returns the largest table with the wanted caption and headers. It prefers tables with the exact headers to tables whose headers only
 * contain the wanted words.
 * @param {Extraction} extraction @param {Scope} scope @param {PlanTable} wanted
 */
function findTable(extraction, scope, wanted) {
  const headers = (wanted.headers || []).map(foldCase);
  const caption = foldCase(wanted.caption || "");
  let best = null;
  let size = -1;
  let isBestExact = false;
  const trees = [scope, ...extraction.shadowsIn(scope)];
  const candidates = isElement(scope) && safe.matches(scope, TABLES) ? [scope] : [];
  for (const tree of trees) for (const el of queryAll(tree, TABLES)) candidates.push(el);
  for (const el of candidates) {
    if (extraction.overdue()) break;
    const role = explicitRole(el);
    if (role === "presentation" || role === "none" || !safe.checkVisibility(el)) continue;
    const table = new Table(extraction, el);
    if (table.rows.length <= table.head) continue;
    if (caption && foldCase(table.caption()) !== caption) continue;
    table.nameLowest(headers);
    const names = (table.isPropertyList() ? table.rows.slice(0, 200).map((row) => extraction.text(table.cells(row)[0], "th")) : table.headers).map(foldCase);
    const isExact = headers.every((h) => names.includes(h));
    if (!isExact && (isBestExact || !headers.every((h) => names.includes(h) || isPartOfOne(names, h)))) continue;
    const here = table.rows.length * Math.max(table.headers.length, 1);
    if (here > size || isExact && !isBestExact) {
      best = table;
      size = here;
      isBestExact = isExact;
    }
  }
  return best && { table: /** @type {Table} */ (best), size };
}

/** @param {Extraction} extraction @param {Scope} scope @param {PlanTable} wanted */
function extractTable(extraction, scope, wanted) {
  const found = findTable(extraction, scope, wanted);
  if (!found) return null;
  const { table, size } = found;
  if (table.isPropertyList()) {
    const lines = table.grid(0, Math.min(table.rows.length, EXTRACT_COLUMNS));
    return { headers: table.columnNames([lines.map((line) => line[0])]), rows: [lines.map((line) => line[1] || "")], found: 1, size };
  }
  const most = Math.min(table.rows.length, table.head + extraction.maxRows);
  if (most < table.rows.length) extraction.truncated = true;
  const rows = table.grid(table.head, most).filter((line) => line.length);
  const width = Math.max(table.headers.length, ...rows.slice(0, 1000).map((line) => line.length));
  const headers = table.headers.slice();
  while (headers.length < Math.min(width, EXTRACT_COLUMNS)) headers.push("column " + (headers.length + 1));
  return { headers, rows, found: table.rows.length - table.head, size };
}

/**
 * Returns the path of the first field with an invalid selector, or "". It also normalizes the names of the fields.
 * @param {PlanField[]} fields
 */
function invalidField(fields) {
  const stack = fields.slice().reverse();
  const empty = new DocumentFragment();
  while (stack.length) {
    const field = /** @type {PlanField} */ (stack.pop());
    field.name = foldCase(field.name || "");
    try {
      if (field.selector) queryOne(empty, field.selector);
    } catch {
      return field.path;
    }
    if (field.fields) stack.push(...field.fields.slice().reverse());
  }
  return "";
}

/**
 * Runs a plan.
 * @param {Agent} agent
 * @param {{fields: PlanField[], table: PlanTable | null, limits: PlanLimits, root: number}} plan
 */
function extractWith(agent, plan) {
  const invalid = invalidField(plan.fields || []);
  if (invalid) return { invalid };
  /** @type {Scope} */
  let scope = agent.model.doc;
  if (plan.root >= 0) {
    const rec = agent.model.records.connected(plan.root);
    if (!rec) return { stale: true };
    scope = rec.node;
  }
  const extraction = new Extraction(agent, plan.limits);
  const table = plan.table ? extractTable(extraction, scope, plan.table) : null;
  const values = plan.table ? [] : plan.fields.map((field) => extraction.read(scope, field, 0));
  return {
    values, table, rows: table ? table.found : extraction.rows, truncated: extraction.truncated, frames: extraction.frames(scope),
    url: clean(location.href, MAX_FIELD),
  };
}

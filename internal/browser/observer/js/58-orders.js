// @ts-check
// Orders finds lists that the page sorts: the same texts, in another order.
//
// A mutation record has no earlier list of children. Orders therefore undoes the first records of a parent, from the last to
// the first, in its current list.

/** The maximum number of sorted parents per act, and of children of each. */
const MAX_SORTED = 4, MAX_SORTED_CHILDREN = 400;
/** The maximum number of parts and characters of a child that are compared, and of texts in a report. */
const MAX_SORTED_PARTS = 8, MAX_SORTED_TEXT = 30, MAX_SORTED_TEXTS = 5;

/** The number of items up to which the parts of their texts are separated for the comparison, and the compared characters of more. */
const MAX_SPACED = 100, MAX_COMPARED_ITEM = 200;
/** Tags and roles of boxes whose children stand below or beside each other in their order. */
const LIST_BOXES = new Set(["table", "tbody", "ul", "ol", "menu", "list", "listbox", "grid", "treegrid", "rowgroup", "feed", "tree"]);

class Orders {
  constructor() {
    /** The texts of the children before the first change, by parent. @type {Map<El, string[]>} */
    this.before = new Map();
    /** Whether a value is set by script, so that changes follow without an event of the input. */
    this.isSetting = false;
  }

  clear() {
    this.before.clear();
    this.isSetting = false;
  }

  /** @param {MutationRecord[]} records all records of a batch */
  record(records) {
    const seen = new Set();
    for (const { type, target } of records) {
      const parent = /** @type {El} */ (target);
      if (this.before.size >= MAX_SORTED) return;
      if (type !== "childList" || seen.has(parent)) continue;
      seen.add(parent);
      if (!isElement(parent) || this.before.has(parent)) continue;
      const now = flatNodes(parent, tagOf(parent));
      if (now.length > MAX_SORTED_CHILDREN) continue;
      const own = records.filter((r) => r.target === target && r.type === "childList");
      const texts = textsOfItems(itemsAmong(undone(now, own)));
      if (texts.length > 1) this.before.set(parent, texts);
    }
  }

  /** Returns the beginning of each list that has the same texts in another order, and whether the list is certainly shown in this order. */
  changed() {
    /** @type {{text: string, certain: boolean}[]} */
    const out = [];
    if (MASKS !== null) return out; // removed nodes cannot be matched with the selectors of masks
    for (const [parent, before] of this.before) {
      if (!safe.isConnected(parent) || !safe.checkVisibility(parent, VISIBLE)) continue;
      const items = itemsAmong(flatNodes(parent, tagOf(parent))), now = textsOfItems(items);
      if (now.length !== before.length || now.join("\n") === before.join("\n") || now.slice().sort().join("\n") !== before.slice().sort().join("\n")) continue;
      const text = textsOfChildren(items.slice(0, MAX_SORTED_TEXTS)).join(", ") + (now.length > MAX_SORTED_TEXTS ? ", … " + now.length + " in all" : "");
      out.push({ text, certain: isListBox(parent) || hasEqualChildren(parent) });
    }
    return out;
  }
}

/** Whether an element is a list, a table or a group of its rows, by its role or tag. @param {El} el */
function isListBox(el) {
  return LIST_BOXES.has(explicitRole(el) || tagOf(el));
}

/**
 * Whether an element has at least three children that look like the items of a list: all have the same tag and class, and the first is in the flow.
 * @param {El} parent
 */
function hasEqualChildren(parent) {
  const items = childrenOf(parent), [first] = items;
  if (items.length < 3 || !/^(?:static|relative)$/.test(getComputedStyle(first).position)) return false;
  return items.every((item) => tagOf(item) === tagOf(first) && attr(item, "class") === attr(first, "class"));
}

/**
 * Returns the items among some nodes, without white space and comments. Lists and parts of tables among the nodes, which the page may
 * have replaced, count with their items.
 * @param {DomNode[]} nodes
 */
function itemsAmong(nodes) {
  const items = nodes.flatMap((node) => (isElement(node) && isListBox(node) ? itemsIn(node) : [node]));
  return items.filter((node) => isElement(node) && !isHeaderOfTable(node) && hasText(safe.textContent(node)));
}

/**
 * Returns the texts by which the items of a list are compared, or none for too many items. The parts of many items are not separated.
 * @param {DomNode[]} items
 */
function textsOfItems(items) {
  if (items.length > MAX_SORTED_CHILDREN) return [];
  return items.length > MAX_SPACED ? items.map((item) => safe.textContent(item).slice(0, MAX_COMPARED_ITEM)) : textsOfChildren(items);
}

/** Whether a node is the head of a table, or a row of headers, which is not sorted. @param {DomNode} node */
function isHeaderOfTable(node) {
  if (!isElement(node)) return false;
  const tag = tagOf(node);
  return tag === "thead" || tag === "colgroup" || tag === "caption" || (tag === "tr" && hasElements(node) && childrenOf(node).every((cell) => tagOf(cell) === "th"));
}

/** Returns the items of a list or table. @param {El} list @returns {DomNode[]} */
function itemsIn(list) {
  const items = flatNodes(list, tagOf(list));
  return items.length > MAX_SORTED_CHILDREN || tagOf(list) !== "table" ? items : items.flatMap((part) => (isElement(part) && isListBox(part) ? flatNodes(part, tagOf(part)) : [part]));
}

/**
 * Returns the children of a node before the records of one batch.
 * @param {DomNode[]} now @param {MutationRecord[]} records
 */
function undone(now, records) {
  const nodes = now.slice();
  for (const { addedNodes, removedNodes, previousSibling, nextSibling } of records.slice().reverse()) {
    for (const n of /** @type {NodeListOf<DomNode>} */ (addedNodes)) if (nodes.includes(n)) nodes.splice(nodes.indexOf(n), 1);
    const before = nodes.indexOf(/** @type {DomNode} */ (previousSibling)), behind = nodes.indexOf(/** @type {DomNode} */ (nextSibling));
    nodes.splice(before >= 0 ? before + 1 : behind >= 0 ? behind : nodes.length, 0, .../** @type {NodeListOf<DomNode>} */ (removedNodes));
  }
  return nodes;
}

/** @param {DomNode[]} nodes */
function textsOfChildren(nodes) {
  return filled(nodes.map((n) => {
    if (!isElement(n)) return "";
    const parts = hasElements(n) ? flatNodes(n, tagOf(n)) : [n];
    return clean(parts.slice(0, MAX_SORTED_PARTS).map(rawTextIn).join(" "), MAX_SORTED_TEXT);
  }));
}

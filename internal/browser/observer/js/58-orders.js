// @ts-check
// Orders finds lists that the page sorts: the same texts, in another order.
//
// A mutation record has no earlier list of children. Orders therefore undoes the first records of a parent, from the last to
// the first, in its current list.

/** The maximum number of sorted parents per act, and of children of each. */
const MAX_SORTED = 4, MAX_SORTED_CHILDREN = 100;
/** The maximum number of parts and characters of a child that are compared, and of texts in a report. */
const MAX_SORTED_PARTS = 8, MAX_SORTED_TEXT = 30, MAX_SORTED_TEXTS = 5;

class Orders {
  constructor() {
    /** The texts of the children before the first change, by parent. @type {Map<El, string[]>} */
    this.before = new Map();
  }

  clear() {
    this.before.clear();
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
      if (now.length < 2 || now.length > MAX_SORTED_CHILDREN) continue;
      const own = records.filter((r) => r.target === target && r.type === "childList");
      this.before.set(parent, textsOfChildren(undone(now, own)));
    }
  }

  /** Returns the beginning of each list that has the same texts in another order. */
  changed() {
    if (MASKS !== null) return []; // removed nodes cannot be matched with the selectors of masks
    /** @type {string[]} */
    const out = [];
    for (const [parent, before] of this.before) {
      if (!safe.isConnected(parent) || !safe.checkVisibility(parent, VISIBLE)) continue;
      const now = textsOfChildren(flatNodes(parent, tagOf(parent)));
      if (now.length < 2 || now.join("\n") === before.join("\n") || now.slice().sort().join("\n") !== before.slice().sort().join("\n")) continue;
      out.push(now.slice(0, MAX_SORTED_TEXTS).join(", ") + (now.length > MAX_SORTED_TEXTS ? ", …" : ""));
    }
    return out;
  }
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

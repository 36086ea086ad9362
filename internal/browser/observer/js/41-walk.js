// @ts-check
// Walks the flat tree: the shadow tree of a host replaces its children, and slots show the nodes
// assigned to them.
//
// walkFlat is the only traversal of the model. Model.walk calls it for Refresh, Changes and
// Identity. This file also computes what an element inherits from its ancestors (Inherited in
// 30-describe.js), and the previous element in flat order. It keeps no state.

/** Tags whose content is not visible. */
const SKIPPED = new Set(["script", "style", "template", "head"]);

/**
 * Walks the flat subtree of an element in document order. It calls visit for each element; visit
 * reports whether to visit the children. It calls inherit for each element with children to visit.
 * It is iterative, because nesting is unbounded.
 * @param {El} root @param {Inherited} ctx
 * @param {(el: El, tag: string, ctx: Inherited, depth: number) => boolean} visit depth is 0 at the root
 * @param {((el: El, ctx: Inherited) => Inherited) | null} inherit
 * @param {(root: Shadow) => void} onRoot called for each shadow root, before its content is visited
 */
function walkFlat(root, ctx, visit, inherit, onRoot) {
  /** The current element of each level, null after the last. @type {(El | null | undefined)[]} */
  const nodes = [root];
  const contexts = [ctx];
  /** The assigned elements, on levels that are the content of a slot. @type {(El[] | null)[]} */
  const lists = [null];
  const positions = [0];
  /** Whether the current element of each level is a form, whose properties may be shadowed. */
  const forms = [false];
  let depth = 0;
  for (;;) {
    const el = nodes[depth];
    if (!el) {
      if (--depth < 0) return;
    } else {
      const tag = tagOf(el), form = tag === "form";
      forms[depth] = form;
      if (!SKIPPED.has(tag) && visit(el, tag, contexts[depth], depth)) {
        const root = form || (closedRoots === null && el.shadowRoot === null) ? null : shadowOf(el);
        if (root) onRoot(root);
        const list = root || tag !== "slot" ? null : assignedChildren(el, tag);
        const first = list ? list[0] : root ? root.firstElementChild : form ? slow.firstElementChild(el) : el.firstElementChild;
        if (first) {
          contexts[depth + 1] = inherit ? inherit(el, contexts[depth]) : contexts[depth];
          depth++;
          lists[depth] = list;
          positions[depth] = 0;
          nodes[depth] = first;
          continue;
        }
      }
    }
    if (depth === 0) return;
    const list = lists[depth];
    const last = /** @type {El} */ (nodes[depth]);
    nodes[depth] = list ? list[++positions[depth]] : forms[depth] ? slow.nextElementSibling(last) : last.nextElementSibling;
  }
}

/** Returns an element and its flat ancestors, the outermost last. @param {El} el */
function flatPath(el) {
  const path = [el];
  for (let n = flatElement(el); n; n = flatElement(n)) path.push(n);
  return path;
}

/** Computes joins during a walk; see Records.setJoin. */
class Joiner {
  /** @param {Records} records @param {El} root where the walk starts */
  constructor(records, root) {
    this.records = records;
    this.active = records.model.structural;
    this.base = this.active ? flatPath(root).length - 1 : 0;
    /** The smallest depth in the walk since the last record, or -1 before the first record. */
    this.low = -1;
    /** @type {Rec | null} */
    this.last = null;
    records.joining = this.active;
  }

  /** Records that the walk has reached an element, with its record if it is listed. @param {number} depth in the walk @param {Rec | null} rec */
  visit(depth, rec) {
    if (!this.active) return;
    if (depth < this.low) this.low = depth;
    if (!rec) return;
    if (this.last) this.records.setJoin(rec, this.base + this.low - 1);
    else this.records.unjoined.add(rec);
    this.last = rec;
    this.low = depth + 1;
  }

  /** Ends the walk. Another record may now precede the record after it. */
  end() {
    this.records.joining = false;
    if (this.last) this.records.disjoin(this.last.next);
  }
}

/** Whether one of the elements of a document is a shadow host. @param {ArrayLike<El>} elements */
function hasShadowTrees(elements) {
  for (let i = 0, n = elements.length; i < n; i++) {
    const el = elements[i];
    if ((closedRoots !== null || el.shadowRoot) && shadowOf(el)) return true;
  }
  return false;
}

/**
 * Whether an element is inert, by itself or through an ancestor. Ancestors do not make a modal
 * dialog inert.
 * @param {El} el @param {Inherited} ctx
 */
function isInert(el, ctx) {
  if (hasAttr(el, "inert")) return true;
  return ctx.inert && !(tagOf(el) === "dialog" && safe.matches(el, ":modal"));
}

/**
 * Returns what the children of an element inherit.
 * @param {El} el @param {Inherited} ctx @param {Rec | undefined} rec of the element
 */
function inheritedBelow(el, ctx, rec) {
  const listed = rec !== undefined && rec.shown;
  if (!listed && hasNoAttributes(el)) return ctx;
  const inert = isInert(el, ctx);
  const disabled = ctx.disabled || attr(el, "aria-disabled") === "true";
  const fieldset = ctx.fieldset || (tagOf(el) === "fieldset" && el.disabled === true);
  const parent = listed ? rec : ctx.parent;
  const coverage = listed && ctx.coverage !== COVERS_ALL ? rec.coverage : ctx.coverage;
  if (parent === ctx.parent && inert === ctx.inert && disabled === ctx.disabled && fieldset === ctx.fieldset && coverage === ctx.coverage) return ctx;
  return new Inherited(parent, inert, disabled, fieldset, coverage);
}

/**
 * Returns what an element inherits, computed from all its ancestors. walkFlat computes the same as
 * it descends.
 * @param {El} el @param {Records} records
 */
function inheritedBy(el, records) {
  /** @type {El[]} */
  const up = [];
  for (let n = flatElement(el); n; n = flatElement(n)) up.push(n);
  let ctx = AT_ROOT;
  for (let i = up.length - 1; i >= 0; i--) ctx = inheritedBelow(up[i], ctx, records.get(up[i]));
  return ctx;
}

/**
 * Returns the last element, in flat document order, inside the flat sibling before an element, or
 * the sibling itself if it is empty. Null if there is no such sibling.
 * @param {El} el
 */
function previousFlat(el) {
  let n = flatSiblingBefore(el);
  for (let last = n; last; last = lastFlatChild(n)) n = last;
  return n;
}

/** @param {El} el @returns {El | null} */
function flatSiblingBefore(el) {
  const slot = slotOf(el);
  if (slot) {
    const list = slot.assignedElements();
    const i = list.indexOf(el);
    return i > 0 ? list[i - 1] : null;
  }
  return elementBefore(el);
}

/** @param {El} el @returns {El | null} */
function lastFlatChild(el) {
  const tag = tagOf(el);
  if (SKIPPED.has(tag)) return null;
  const root = shadowOf(el);
  if (root) return root.lastElementChild;
  const list = assignedChildren(el, tag);
  if (list) return list[list.length - 1];
  return hasPlainProperties(el) ? el.lastElementChild : lastElement(el);
}

/** Returns the previous sibling element, or null. @param {El} el @returns {El | null} */
function elementBefore(el) {
  return hasPlainProperties(el) ? el.previousElementSibling : previousElement(el);
}

/** Like elementBefore, also for forms. @param {DomNode} el @returns {El | null} */
function previousElement(el) {
  let n = safe.previousSibling(el);
  while (n && !isElement(n)) n = safe.previousSibling(n);
  return n;
}

/** @param {DomNode} el @returns {El | null} */
function lastElement(el) {
  let n = safe.lastChild(el);
  while (n && !isElement(n)) n = safe.previousSibling(n);
  return n;
}

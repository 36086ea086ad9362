// @ts-check
// Panes: grids with frozen columns draw each row in several boxes side by side, one for each pane. Only the first pane, or the second if
// the first has only checkboxes, has the cells by which people know a row, so rows of the other panes are named after the row beside them.
//
// Panes keeps what it measured until the next update. Naming calls nameOf for rows without a name of their own.

/** Matches rows. */
const PANE_ROWS = "tr,[role=row]";
/**
 * The maximum number of levels from the box of one pane's rows up to the box of all panes, and the maximum number of rows that
 * are compared.
 */
const MAX_PANE_DEPTH = 8, MAX_PANE_ROWS = 500;
/** The minimum number of rows of a pane. */
const MIN_PANE_ROWS = 2;
/** The maximum distance between two panes, and between the tops of the parts of a row, in CSS pixels. */
const MAX_PANE_GAP = 3;

class Panes {
  constructor() {
    /** The rows that name the rows of a pane, by the box of the rows. @type {Map<El, El[]>} */
    this.naming = new Map();
  }

  /** Forgets what was measured before an update. */
  begin() {
    this.naming.clear();
  }

  /**
   * Returns the words of the part of a row by which people know it, or "" if the row has them itself. The row is described again after a
   * change in that part or in the rows of that pane.
   * @param {El} row @param {Captions} captions @param {Rec} rec
   */
  nameOf(row, captions, rec) {
    const box = flatElement(row);
    if (!box) return "";
    let rows = this.naming.get(box);
    if (rows === undefined) this.naming.set(box, (rows = namingRows(box)));
    if (rows.length === 0) return "";
    const part = rows.find((other) => isOnLine(other, row) && hasText(safe.textContent(other))); // a row of no height may be above
    captions.watch(flatElement(rows[0]), rec);
    captions.watch(part || null, rec);
    const words = part ? reportedWords(part, MAX_NAME) : "", own = reportedWords(row, MAX_NAME);
    return own !== "" && words.includes(own) ? "" : words;
  }
}

/**
 * Returns the rows that name the rows of a pane: the rows of the first pane, or of the second if the first has no words. Returns no rows if
 * neither exists.
 * @param {El} box of the rows of the pane
 */
function namingRows(box) {
  if (closestOf(box, PANE_ROWS) !== null) return [];
  const isWordless = !hasText(safe.textContent(box));
  for (let up = flatElement(box), depth = 0; up && depth < MAX_PANE_DEPTH; up = flatElement(up), depth++) {
    const first = firstWithin(up, PANE_ROWS);
    if (first === null || (flatElement(first) === box && !isWordless)) continue;
    const panes = panesIn(up), own = panes.get(box) || [];
    /** @type {El[]} */
    let start = [], last = start;
    for (const rows of panes.values()) {
      if (rows.length !== own.length || own.length < MIN_PANE_ROWS || !isOnLine(rows[0], own[0])) continue;
      if (!start.length) start = rows;
      else if (!isBeside(last[0], rows[0], up)) return [];
      else if (rows === own) return start;
      else if (start === own) return isWordless ? rows : [];
      last = rows;
    }
  }
  return [];
}

/** Whether two elements begin at the same height. @param {El} a @param {El} b */
function isOnLine(a, b) {
  return Math.abs(safe.rect(a).top - safe.rect(b).top) <= MAX_PANE_GAP;
}

/**
 * Whether the visible part of one row is directly to the right of the visible part of another.
 * @param {El} left @param {El} right @param {El} around both
 */
function isBeside(left, right, around) {
  return Math.abs(edgesOf(left, around).right - edgesOf(right, around).left) <= MAX_PANE_GAP;
}

/** Returns the edges of the part of an element that the boxes around it leave visible. @param {El} el @param {El} around the boxes */
function edgesOf(el, around) {
  let { left, right } = safe.rect(el);
  for (let up = flatElement(el); up && up !== around; up = flatElement(up)) {
    const rect = safe.rect(up);
    left = Math.max(left, rect.left);
    right = Math.min(right, rect.right);
  }
  return { left, right };
}

/** Returns the rows in an element by their boxes. @param {El} el */
function panesIn(el) {
  /** @type {Map<El | null, El[]>} */
  const panes = new Map();
  const rows = queryWithin(el, PANE_ROWS);
  for (let i = 0; i < rows.length && i < MAX_PANE_ROWS; i++) {
    const box = flatElement(rows[i]), known = panes.get(box);
    if (known) known.push(rows[i]);
    else panes.set(box, [rows[i]]);
  }
  return panes;
}

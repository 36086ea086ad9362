// @ts-check
// After each change of the page, SelectorWatch rematches the selectors that callers wait for, and sends results that
// differ from the last one.
//
// SelectorWatch owns the selectors and the last result. Agent invalidates it with every event and
// sends what takeNews returns.

/**
 * The maximum number of matches per selector that are examined, and the maximum number of refs
 * that are sent.
 */
const MAX_MATCHES = 1000;
/**
 * The maximum number of consecutive patches before the result. Elements in the result get their refs with patches.
 */
const PATCHES_FIRST = 8;

class SelectorWatch {
  /** @param {Model} model @param {Writer} writer */
  constructor(model, writer) {
    this.model = model;
    this.writer = writer;
    /** @type {{css: string, shown: boolean}[]} */
    this.selectors = [];
    this.lastReported = "";
    this.due = false;
    this.patchesSince = 0;
  }

  /** @param {{css: string, shown: boolean}[]} selectors */
  setSelectors(selectors) {
    this.selectors = selectors;
    this.lastReported = "";
    this.invalidate();
  }

  /** Marks the result as due, because the page may have changed. */
  invalidate() {
    this.due = this.selectors.length > 0;
  }

  /** Whether the result is sent before the next patch, because PATCHES_FIRST patches preceded it. */
  overdue() {
    return this.due && ++this.patchesSince > PATCHES_FIRST;
  }

  /** Returns the message to send, or null. A message is the header, then a line of JSON for each selector. */
  takeNews() {
    if (!this.due) return null;
    this.due = false;
    this.patchesSince = 0;
    const { visibility } = this.model;
    visibility.begin();
    visibility.x = scrollX;
    visibility.y = scrollY;
    const answer = this.selectors.map((s) => JSON.stringify({ ...s, ...this.findMatches(s) })).join("\n");
    if (answer === this.lastReported) return null;
    this.lastReported = answer;
    return this.writer.header("s") + "\n" + answer;
  }

  /** @param {{css: string, shown: boolean}} selector */
  findMatches(selector) {
    const found = { count: 0, enabled: 0, refs: /** @type {number[]} */ ([]), invalid: false };
    try {
      this.tally(found, safe.querySelectorAll(this.model.doc, selector.css), selector.shown);
      for (const root of this.model.sweep.shadows) {
        if (safe.isConnected(root.host)) this.tally(found, root.querySelectorAll(selector.css), selector.shown);
      }
    } catch (error) {
      found.invalid = error instanceof DOMException; // a syntax error in the selector
    }
    return found;
  }

  /**
   * @param {{count: number, enabled: number, refs: number[]}} found
   * @param {NodeListOf<El>} elements @param {boolean} shown
   */
  tally(found, elements, shown) {
    const n = Math.min(elements.length, MAX_MATCHES);
    if (!shown) found.count += elements.length - n;
    for (let i = 0; i < n; i++) {
      const el = elements[i];
      if (shown && !this.model.visibility.isVisible(el, tagOf(el))) continue;
      found.count++;
      if (!safe.matches(el, ":disabled") && attr(el, "aria-disabled") !== "true") found.enabled++;
      const rec = this.model.records.get(el);
      if (rec && rec.ref >= 0 && found.refs.length < MAX_MATCHES) found.refs.push(rec.ref);
    }
  }
}

// @ts-check
// Selectors that a caller waits for: matched again after the page changed, and reported when the result differs.

/** How many matches of one selector are looked at and named. */
const MAX_CHOSEN = 1000;
/** How many patches in a row may go before the selectors, which name elements by the refs that patches get. */
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

  /** The page has changed. */
  invalidate() {
    this.due = this.selectors.length > 0;
  }

  /** Whether the result is to be sent now although a patch is under way. */
  overdue() {
    return this.due && ++this.patchesSince > PATCHES_FIRST;
  }

  /** The message to send, or null: the header, then a line of JSON for each selector. */
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
      found.invalid = error instanceof DOMException; // the browser does not take it
    }
    return found;
  }

  /** @param {{count: number, enabled: number, refs: number[]}} found @param {NodeListOf<El>} elements @param {boolean} shown */
  tally(found, elements, shown) {
    const n = Math.min(elements.length, MAX_CHOSEN);
    if (!shown) found.count += elements.length - n;
    for (let i = 0; i < n; i++) {
      const el = elements[i];
      if (shown && !this.model.visibility.isVisible(el, tagOf(el))) continue;
      found.count++;
      if (!safe.matches(el, ":disabled") && attr(el, "aria-disabled") !== "true") found.enabled++;
      const rec = this.model.records.get(el);
      if (rec && rec.ref >= 0 && found.refs.length < MAX_CHOSEN) found.refs.push(rec.ref);
    }
  }
}

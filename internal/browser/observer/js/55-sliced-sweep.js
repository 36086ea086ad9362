// @ts-check
// A sliced sweep: checks everything that neither mutations nor events show, while the page is followed. It works in
// slices, so that it never blocks the main thread for long, and a pause follows it, so that it takes a small share
// of the main thread's time however large the page is.

/** How long a slice may take, in milliseconds. */
const SLICE = 4;
/** A sweep of n ms is followed by a rest of this many times n ms. */
const REST = 40;
/** How much is looked at between two looks at the clock. */
const AT_ONCE = 8;

class SlicedSweep {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.took = 0;
    this.found = model.sweep.found;
    // What changes from here on is for the next sweep.
    model.changes.styleDirty = model.changes.geometryDirty = false;
    this.work = model.sweep.inSteps();
  }

  /** Works for a slice. Reports whether everything was looked at. */
  slice() {
    const start = performance.now();
    this.model.begin();
    for (let n = 1; ; n++) {
      const over = this.work.next().done;
      if (!over && (n % AT_ONCE !== 0 || performance.now() - start < SLICE)) continue;
      this.took += performance.now() - start;
      return over;
    }
  }
}

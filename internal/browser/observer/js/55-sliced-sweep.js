// @ts-check
// SlicedSweep runs one sweep in slices of SLICE milliseconds while the page is followed, so that it
// never blocks the main thread for long. Poller starts it, continues it in tasks of its own, and
// pauses afterwards in proportion to its duration, so that sweeps take a small share of the main
// thread however large the page is.

/** The maximum duration of a slice, in milliseconds. */
const SLICE = 4;
/** A sweep or poll of n ms is followed by a pause of this many times n ms. */
const PAUSE = 40;
/** The number of steps between two reads of the clock. */
const STEPS = 8;

class SlicedSweep {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The total duration of the slices so far, in milliseconds. */
    this.took = 0;
    /** Sweep.found at the start. */
    this.found = model.sweep.found;
    // Later changes are left to the next sweep.
    model.changes.styleDirty = model.changes.geometryDirty = false;
    this.work = model.sweep.sweepSteps();
  }

  /** Runs one slice. Returns whether the sweep is complete. */
  slice() {
    const start = performance.now();
    this.model.begin();
    for (let n = 1; ; n++) {
      const over = this.work.next().done;
      if (!over && (n % STEPS !== 0 || performance.now() - start < SLICE)) continue;
      this.took += performance.now() - start;
      return over;
    }
  }
}

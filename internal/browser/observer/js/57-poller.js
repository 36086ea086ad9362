// @ts-check
// While the page is followed, Poller regularly checks for changes without a mutation or event, starts a sweep when there
// may be some, and asks the daemon to probe for listeners.
//
// It owns the timer, the sweep in progress and the intervals, which grow while the page is idle. Agent
// starts and stops it, and reports activity.

/** The milliseconds between ticks while the page is followed, and between polls while it is idle. */
const TICK_EVERY = 250, POLL_IDLE = 1000;
/**
 * The milliseconds between sweeps of a page that seems unchanged, and after a sweep that found nothing.
 */
const SWEEP_EVERY = 2000, SWEEP_IDLE = 4000;
/**
 * The milliseconds between probes: after elements were added, after any activity, and while the page is idle.
 */
const PROBE_GROWN = 500, PROBE_EVERY = 2000, PROBE_IDLE = 4000;

class Poller {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.model = agent.model;
    this.timer = 0;
    /** Whether the page was active since the last poll, and since the last probe. */
    this.activeSincePoll = this.activeSinceProbe = true;
    this.lastPoll = this.lastProbe = 0;
    /** The sweep in progress. @type {SlicedSweep | null} */
    this.sweep = null;
    /** The time at which the next poll may start, and the time at which the last sweep ended. */
    this.nextPoll = this.lastSweep = 0;
    this.sweepEvery = SWEEP_EVERY;
    this.continueSweep = this.continueSweep.bind(this);
  }

  start() {
    this.timer = ownTimer(() => this.tick(), TICK_EVERY);
  }

  stop() {
    this.activeSincePoll = true;
    this.lastProbe = performance.now();
    clearTimeout(this.timer);
  }

  /** Records activity of the page. */
  recordActivity() {
    this.activeSincePoll = this.activeSinceProbe = true;
  }

  /** Runs every TICK_EVERY milliseconds while the page is followed. */
  tick() {
    const { agent } = this;
    if (!agent.pushing) return;
    const now = performance.now();
    agent.start();
    if (!this.sweep && now >= this.nextPoll && (this.activeSincePoll || now - this.lastPoll >= POLL_IDLE)) this.poll(now);
    if (agent.selectors.due) agent.schedule();
    this.askForProbe(now);
    this.start();
  }

  /**
   * Requests a probe at intervals, because listeners are added without a mutation, and soon after elements were inserted.
   * @param {number} now
   */
  askForProbe(now) {
    const since = now - this.lastProbe;
    if (since < (this.model.listeners.grown ? PROBE_GROWN : this.activeSinceProbe ? PROBE_EVERY : PROBE_IDLE)) return;
    this.lastProbe = now;
    this.activeSinceProbe = false;
    this.agent.send(this.agent.writer.header("p"));
  }

  /**
   * Checks a part of the document, and starts a sweep when there may be changes elsewhere.
   * @param {number} start the current time
   */
  poll(start) {
    const { agent, model } = this;
    this.lastPoll = start;
    this.activeSincePoll = false;
    agent.selectors.invalidate();
    if (!model.changes.rescan) {
      model.sweep.poll();
      model.sweep.checkControls(false);
      if (model.changes.styleDirty || !model.layout.seemsUnchanged(agent.geometry) || start - this.lastSweep >= this.sweepEvery) {
        this.sweep = new SlicedSweep(model);
        scheduler.postTask(this.continueSweep, SLICES);
      }
    }
    const took = performance.now() - start;
    agent.writer.took += took;
    this.nextPoll = start + PAUSE * took;
    if (model.pending || agent.writer.isHeaderNews()) agent.schedule();
  }

  /** Drops the sweep in progress. The next sweep checks what remains. */
  abandonSweep() {
    if (this.sweep) this.model.changes.invalidateLayout();
    this.sweep = null;
  }

  /** Runs one slice of the sweep. */
  continueSweep() {
    const { agent, model, sweep } = this;
    if (!sweep) return; // a read has checked everything in between
    if (!agent.pushing || model.changes.rescan) {
      this.abandonSweep();
      return;
    }
    const before = sweep.took;
    const complete = sweep.slice();
    agent.writer.took += sweep.took - before;
    if (complete) {
      this.endSweep(sweep);
      return;
    }
    scheduler.postTask(this.continueSweep, SLICES);
    if (model.pending) agent.schedule();
  }

  /** Completes a sweep. @param {SlicedSweep} sweep */
  endSweep(sweep) {
    const { agent, model } = this;
    this.sweep = null;
    this.lastSweep = performance.now();
    this.sweepEvery = model.sweep.found > sweep.found ? SWEEP_EVERY : SWEEP_IDLE;
    this.nextPoll = this.lastSweep + PAUSE * sweep.took;
    model.changes.proxiesDirty = true;
    model.onHover.due = true;
    if (agent.geometry) {
      model.layout.findObscured();
      agent.boxes = true;
    }
    agent.schedule();
  }
}

// @ts-check
// The poller: while the page is followed, it checks regularly for changes that neither mutations
// nor events show, starts a sweep when there may be some, and asks the daemon to probe for
// listeners.
//
// It owns the timer, the sweep under way and the intervals, which grow while nothing happens. Agent
// starts and stops it, and reports activity.

/** Milliseconds between ticks while the page is followed, and between polls while it is idle. */
const TICK_EVERY = 250, POLL_IDLE = 1000;
/**
 * Milliseconds between sweeps of a page that seems unchanged, and when the last sweep found
 * nothing.
 */
const SWEEP_EVERY = 2000, SWEEP_IDLE = 4000;
/**
 * Milliseconds between probes: when elements came, when anything happened, and when nothing did.
 */
const PROBE_GROWN = 500, PROBE_EVERY = 2000, PROBE_IDLE = 4000;

class Poller {
  /** @param {Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.model = agent.model;
    this.timer = 0;
    /** Something happened since the last poll, and since the last probe. */
    this.activeSincePoll = this.activeSinceProbe = true;
    this.lastPoll = this.lastProbe = 0;
    /** The sweep under way. @type {SlicedSweep | null} */
    this.sweep = null;
    /** When the next poll may begin, and when the last sweep ended. */
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

  /** Something happened in the page. */
  noteActivity() {
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
   * Asks for a probe now and then, because listeners are added without a mutation, and soon after
   * elements were inserted.
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
   * Checks a part of the document, and begins a sweep when there may be changes elsewhere.
   * @param {number} start now
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

  /** Drops the sweep under way. What it did not check remains to be checked. */
  abandonSweep() {
    if (this.sweep) this.model.changes.invalidateLayout();
    this.sweep = null;
  }

  /** Works on the sweep for a slice. */
  continueSweep() {
    const { agent, model, sweep } = this;
    if (!sweep) return; // a read has checked everything meanwhile
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

  /** The sweep is complete. @param {SlicedSweep} sweep */
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

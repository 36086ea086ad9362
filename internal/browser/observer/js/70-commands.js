// @ts-check
// The commands of the daemon. __domtapCall and the functions beside it are the only entry points of the script. The file
// creates the agent of each document. Package observer defines the names of the functions, and the arguments as Go types.

/**
 * Resolves when the page has produced two frames without DOM changes between them, the added pictures have a size, the
 * page's idle callbacks are over and, with `timers`, the timers that the page set because of the action are over. It
 * resolves after `limit` milliseconds at the latest.
 * @param {Agent} agent @param {{limit: number, timers?: boolean}} request
 * @returns {Promise<{grown: boolean}>} whether a probe is due
 */
function settle(agent, request) {
  const { settling, timers } = agent;
  agent.start();
  settling.continueWait();
  const late = request.timers === true && settling.addLateTimers();
  const start = performance.now(), end = start + request.limit;
  return new Promise((resolve) => {
    const done = () => resolve({ grown: agent.model.listeners.due });
    const timer = ownTimer(done, request.limit);
    let frames = 0, looked = late || request.timers !== true;
    // Idle callbacks run in order, so the page's callbacks are over when this one runs.
    let idle = !settling.hasIdles();
    if (!idle) ownIdle(() => (idle = true));
    const step = () => {
      const now = performance.now();
      const records = agent.observer.takeRecords();
      if (records.length) agent.onMutations(records);
      const revealing = agent.notices.isRevealing(); // a page handles the end of an animation a frame later
      frames = now - agent.lastMutation < 20 || revealing ? 0 : frames + 1;
      if (frames >= 2 && !looked) {
        looked = true; // the page may have handled an answer since
        settling.addLateTimers();
      }
      const waits = (request.timers === true && timers.isPending(now)) || settling.awaitsPictures(start) || !idle;
      if ((frames >= 2 && !waits) || now >= end) {
        clearTimeout(timer);
        done();
      } else ownFrame(step);
    };
    ownFrame(step);
  });
}

/**
 * Records that the daemon starts or stops acting.
 * @param {Agent} agent @param {{on: boolean, fresh: boolean}} how
 */
function notice(agent, how) {
  agent.timers.setActing(how.on);
  agent.settling.end();
  if (!how.on) agent.model.listeners.recordActionEnd(agent.settling);
  if (how.on) agent.settling.clearSettledAt();
  agent.notices.setActing(how);
}

/**
 * Sends the pending notices.
 * @param {Agent} agent @param {{last: boolean}} how last is set at the end of the call that enabled notices
 */
function collectNotices(agent, how) {
  agent.takeRecords();
  agent.notices.check();
  if (how.last) notice(agent, { on: false, fresh: false });
}

/** Returns the title and the HTTP status of the document. */
function about() {
  const [navigation] = performance.getEntriesByType("navigation");
  return { title: clean(safe.title(document), 300), status: (navigation && navigation.responseStatus) || 0 };
}

/** Registers an element with the agent as the host of a frame. @this {El} @param {string} frame */
function adopt(frame) {
  const agent = globalThis.__domtap;
  agent.model.frames.set(this, frame);
  agent.hosts.set(frame, this);
  const rec = agent.model.records.get(this);
  if (rec) agent.model.changes.dirty.add(rec);
  agent.schedule();
}

globalThis.__domtapAdopt = adopt;

/**
 * Applies the answer of a probe; see ListenerProbe.takeAnswer.
 * @param {{on: number[], hovers?: number[], off: number[]}} what @param {DomNode[]} nodes
 */
globalThis.__domtapLearn = (what, nodes) => {
  const agent = globalThis.__domtap;
  agent.model.listeners.takeAnswer(what, nodes);
  agent.schedule();
};

/**
 * Applies the browser's answers about internals.
 * @param {Agent} agent @param {{answers: (Record<string, string> | null)[]}} known
 */
function takeInternals(agent, { answers }) {
  agent.model.internals.takeAnswer(answers);
  agent.schedule();
}

/**
 * Returns the node of a ref, if it is in the document.
 * @param {Agent} agent @param {{ref: number}} request
 */
function nodeOf(agent, { ref }) {
  const rec = agent.model.records.connected(ref);
  return rec && rec.node;
}

/** Creates the agent of the window's current document. */
function startAgent() {
  const doc = document;
  globalThis.__domtap = new Agent(doc, (message) => {
    const push = globalThis.__domtapPush;
    if (push && doc === document) push(message);
  });
}

startAgent();

/**
 * Runs a command.
 * @param {string} command @param {never} argument of the type that the command takes
 * @param {Digit[]} digits of an acknowledgement
 */
globalThis.__domtapCall = (command, argument, digits) => {
  // The initial blank document of a frame and the document after it may share a window.
  if (globalThis.__domtap.model.doc !== document) startAgent();
  const agent = globalThis.__domtap;
  switch (command) {
    case "read":
      return agent.read(argument, digits);
    case "prepare":
      return agent.prepare(argument);
    case "ack":
      return agent.acknowledge(digits);
    case "observe":
      return agent.observe(argument);
    case "setInterests":
      return agent.setInterests(argument);
    case "notice":
      return notice(agent, argument);
    case "collectNotices":
      return collectNotices(agent, argument);
    case "about":
      return about();
    case "nodes": {
      const nodes = [];
      for (let rec = agent.model.records.head.next; rec; rec = rec.next) nodes.push(rec.node);
      return nodes;
    }
    case "reveal":
      return reveal(agent, argument);
    case "extract":
      return extractWith(agent, argument);
    case "node":
      return nodeOf(agent, argument);
    case "document":
      return agent.model.doc;
    case "suspects":
      return agent.model.listeners.suspects();
    case "internals":
      return takeInternals(agent, argument);
    case "freshWalk":
      return freshWalk(agent);
    case "markup":
      return markupOf(agent, argument);
    case "find":
      return find(agent, argument);
    case "rematch":
      return agent.model.identity.rematch(argument);
    case "maskedBoxes":
      return maskedBoxesOf(agent);
    case "settled":
      return whyUnsettled(agent, argument);
    case "settle":
      return settle(agent, argument);
    case "building":
      return building(agent, argument);
    case "scrollPosition":
      return scrollPosition();
    case "restoreScroll":
      return restoreScroll(argument);
  }
  const action = Object.hasOwn(actions, command) ? actions[command] : null;
  if (action) return action(agent, argument);
  throw new Error("domtap: unknown command " + command);
};

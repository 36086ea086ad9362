// @ts-check
// Functions that count the timers, animation frames and idle callbacks that the page has requested, without patching the
// page's own functions.
//
// All worlds of a window share one sequence of ids for each of these. The observer allocates an id, cancels it, and
// subtracts the number of its own ids. The rest increases with each request of the page. Each function returns a
// count; only the difference between two counts is meaningful. A page can see the gaps.
//
// All code in the observer allocates such ids through this file.

/** The number of each that the observer has requested. */
let ownTimers = 0, ownFrames = 0, ownIdles = 0;
/** The longest delay that setTimeout supports. */
const NEVER = 2 ** 31 - 1;

/** setTimeout, for the observer itself. @param {(value: any) => void} f @param {number} milliseconds */
function ownTimer(f, milliseconds) {
  ownTimers++;
  return setTimeout(f, milliseconds);
}

/** requestAnimationFrame, for the observer itself. @param {FrameRequestCallback} f */
function ownFrame(f) {
  ownFrames++;
  return requestAnimationFrame(f);
}

/** requestIdleCallback, for the observer itself. @param {() => void} f */
function ownIdle(f) {
  ownIdles++;
  return requestIdleCallback(f);
}

/** Counts the timers that the page has set. */
function countTimers() {
  const id = ownTimer(doNothing, NEVER);
  clearTimeout(id);
  return id - ownTimers;
}

/** Counts the animation frames that the page has requested. */
function countFrames() {
  const id = ownFrame(doNothing);
  cancelAnimationFrame(id);
  return id - ownFrames;
}

/** Counts the idle callbacks that the page has requested. */
function countIdles() {
  const id = ownIdle(doNothing);
  cancelIdleCallback(id);
  return id - ownIdles;
}

function doNothing() {}

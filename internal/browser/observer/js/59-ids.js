// @ts-check
// Ids: how many timers, animation frames and idle callbacks the page has asked for, without a change
// of the page's own functions.
//
// All worlds of a window number each of these in one sequence. The observer takes a number, gives it
// back, and subtracts how many it took itself: what is left grows by what the page took. Each
// function answers a count of which only differences mean anything. A page can see the gaps.
//
// Everything in the observer that takes such a number does so through this file.

/** How many of each the observer took. */
let ownTimers = 0, ownFrames = 0, ownIdles = 0;
/** The longest delay that a timer takes. */
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

/** How many timers the page has set. */
function countTimers() {
  const id = ownTimer(doNothing, NEVER);
  clearTimeout(id);
  return id - ownTimers;
}

/** How many animation frames the page has requested. */
function countFrames() {
  const id = ownFrame(doNothing);
  cancelAnimationFrame(id);
  return id - ownFrames;
}

/** How many idle callbacks the page has requested. */
function countIdles() {
  const id = ownIdle(doNothing);
  cancelIdleCallback(id);
  return id - ownIdles;
}

function doNothing() {}

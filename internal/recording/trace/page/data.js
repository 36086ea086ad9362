// @ts-check
'use strict'
// What is in the file, and what there was at a time. The scripts of the page are one script in the file.

/**
 * @typedef {{id: number, at: number, end: number, kind: string, client?: string, action: string, target?: string, text: string, verdict?: string, outcome?: string,
 *   failed?: string, call?: boolean, took?: number, tokens?: number, estimated?: boolean, diff?: string, gone?: boolean,
 *   marks?: {point?: number[], box?: number[]}[]}} Step
 * @typedef {{at: number, revision: number, first: number, last: number, lines: number[]}} State
 * @typedef {{at: number, width: number, height: number, page_width: number, type: string, data: string}} Picture
 * @typedef {{at: number, kind: string, level?: string, text?: string, url?: string, status?: number, type?: string, failure?: string, took?: number,
 *   bytes?: number, problem?: boolean}} Line
 * @typedef {{name: string, calls: number, failed: number, tokens: number, estimated?: boolean}} Client
 * @typedef {{id: string, steps: Step[]?, states: State[], lines: string[], pictures: Picture[]?, log: Line[]?, clients: Client[]?}} Tab
 * @typedef {{program: string, started: number, duration: number, tabs: Tab[], left: string[]?}} Trace
 */

/** @type {Trace} */
const trace = JSON.parse(document.getElementById('data')?.textContent ?? '')

/**
 * The place of the last one at or before a time, all in the order of their times; -1: none.
 * @param {{at: number}[]} all
 * @param {number} time
 */
function before(all, time) {
  let low = 0, high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle].at <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Reads states, which are kept as changes. The one that was read last is the start of the way to a later one. */
class Pages {
  /** @param {Tab} tab */
  constructor(tab) {
    this.tab = tab
    this.place = -1
    /** @type {number[]} */
    this.lines = []
  }

  /**
   * The text of a state.
   * @param {number} place
   */
  text(place) {
    if (place < this.place) [this.place, this.lines] = [-1, []]
    while (this.place < place) {
      const s = this.tab.states[++this.place], old = this.lines
      this.lines = [...old.slice(0, s.first), ...s.lines, ...old.slice(old.length - s.last)]
    }
    return this.lines.map(i => this.tab.lines[i]).join('\n')
  }
}

/**
 * A time as m:ss.ss or h:mm:ss.ss. What was before the recording has a minus.
 * @param {number} ms
 * @returns {string}
 */
function clock(ms) {
  if (ms < 0) return `−${clock(-ms)}`
  const hundredths = Math.floor(ms / 10), s = Math.floor(hundredths / 100), two = (/** @type {number} */ n) => String(n).padStart(2, '0')
  const rest = `${two(s % 60)}.${two(hundredths % 100)}`, m = Math.floor(s / 60)
  return m < 60 ? `${m}:${rest}` : `${Math.floor(m / 60)}:${two(m % 60)}:${rest}`
}

/**
 * How long something took.
 * @param {number | undefined} ms
 */
const took = (ms = 0) => ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`

/** @param {{tokens?: number, estimated?: boolean}} of */
const tokens = of => `${of.estimated ? 'about ' : ''}${of.tokens ?? 0}`

// @ts-check
// A replay: what there is of a recording, and what it was like at one time. The newest time that is asked for wins.
import { CallError } from './calls.js'
import { again, throttled } from './follow.js'

/** @typedef {import('./calls.js').Client} Client */
/** @typedef {import('../types').ReplayAnswer} ReplayAnswer */
/** @typedef {import('../types').Row} Row */

const INTERVAL = 60 // milliseconds between two reads while the scrubber moves
const KEPT = 200 // diffs of steps

/** @param {string | undefined} duration such as 1.5s, of protojson */
export const msOf = duration => 1000 * Number.parseFloat(duration || '0')

/** @param {number} ms since the start of the first recording */
export const momentOf = ms => ({ offset: `${(ms / 1000).toFixed(3)}s` })

/**
 * What the daemon replays; undefined when its tabs are live.
 * @param {Client} client
 * @param {AbortSignal} signal
 * @param {(state: string) => void} state
 * @returns {Promise<ReplayAnswer | undefined>}
 */
export async function replayOf(client, signal, state) {
  /** @type {ReplayAnswer | undefined} */
  let answer
  await again(async () => {
    try {
      answer = await client.call('ReplayService/GetReplay', {}, signal)
    } catch (e) {
      if (!(e instanceof CallError && ['failed_precondition', 'unimplemented', 'permission_denied'].includes(e.code))) throw e
    }
    return true
  }, signal, state)
  return answer
}

/**
 * Reads a tab at the times of the scrubber until the signal is aborted. The function that it returns reads the time of now.
 * @param {Client} client
 * @param {string} id
 * @param {object} view
 * @param {() => number} now
 * @param {{tabs: (answer: any) => void, lines: (answer: any) => void, nothing: (why: string) => void}} sink
 * @param {AbortSignal} signal
 */
export function readAt(client, id, view, now, sink, signal) {
  let read = -1
  return throttled(async () => {
    const time = now()
    if (time === read) return
    read = time
    const at = momentOf(time)
    try {
      const [tabs, lines] = await Promise.all([
        client.call('TabService/ListTabs', { at }, signal),
        client.call('DomService/GetCompact', { tabId: id, observeOnly: true, at, ...view }, signal),
      ])
      sink.tabs(tabs)
      sink.lines(lines)
    } catch (e) {
      read = -1
      if (!signal.aborted) sink.nothing(e instanceof Error ? e.message : String(e))
    }
  }, INTERVAL, signal).ask
}

/** The diffs of steps, of which each is asked for once. */
export class Diffs {
  /** @type {Map<string, Promise<string>>} */
  #known = new Map()

  clear() { this.#known.clear() }

  /**
   * What a step changed, in words.
   * @param {Client} client
   * @param {string} id
   * @param {object} view
   * @param {Row} row
   * @param {AbortSignal} signal
   * @returns {Promise<string>}
   */
  of(client, id, view, row, signal) {
    const { from, to, epoch } = row.revisions || {}
    if (!from || !to || from === to) return Promise.resolve('')
    const key = `${epoch} ${from} ${to}`
    let diff = this.#known.get(key)
    if (!diff) {
      if (this.#known.size >= KEPT) this.#known.clear()
      diff = client.call('DomService/GetCompact', { tabId: id, at: { revision: to, epoch }, sinceRevision: from, epoch, format: 'FORMAT_DIFF', ...view }, signal)
        .then(answer => answer.resync ? `The page was read anew:\n${answer.text || ''}` : answer.text || '')
      diff.catch(() => this.#known.delete(key))
      this.#known.set(key, diff)
    }
    return diff
  }
}

// @ts-check
// What is followed: the list of tabs, and what happens in one tab. A connection that is cut is made again, and goes on
// where it was.
import { CallError } from './calls.js'

/** @typedef {import('./calls.js').Client} Client */
/** @typedef {import('../types').Tab} Tab */
/** @typedef {import('../types').TimelineAnswer} TimelineAnswer */
/** @typedef {(state: string, why?: unknown) => void} Told */

const FIRST_WAIT = 250, LONGEST_WAIT = 5000 // milliseconds between tries
const SILENCE = 45000 // WatchDom has a heartbeat every 15 s

/**
 * Ends after some milliseconds, or at once when the signal is aborted.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function sleep(ms, signal) {
  return new Promise(done => {
    if (signal.aborted) return done()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', () => { clearTimeout(timer); done() }, { once: true })
  })
}

/**
 * Runs work until it says that it is done, or the signal is aborted, or it fails in a way that trying again does not help. work gets a function
 * to call when it goes well.
 * @param {(well: () => void) => Promise<boolean | void>} work
 * @param {AbortSignal} signal
 * @param {Told} state
 */
export async function again(work, signal, state) {
  let wait = FIRST_WAIT
  const well = () => { wait = FIRST_WAIT; state('live') }
  while (!signal.aborted) {
    try {
      if (await work(well)) return
    } catch (e) {
      if (signal.aborted) return
      if (e instanceof CallError && e.reason === 'TAB_CLOSED') return
      if (e instanceof CallError && ['unauthenticated', 'not_found', 'invalid_argument', 'unimplemented'].includes(e.code)) throw e
      state('cut', e)
    }
    await sleep(wait * (0.75 + Math.random() / 2), signal)
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }
}

const NODES_INTERVAL = 2000 // nodes renew their leases as often

/**
 * Tells show what the cluster is like, until the signal is aborted. Only the operator may see it: for others, show gets nothing once.
 * @param {Client} client
 * @param {(now?: object) => void} show
 * @param {AbortSignal} signal
 */
export async function followNodes(client, show, signal) {
  while (!signal.aborted) {
    try {
      show(await client.call('ClusterService/GetCluster', {}, signal))
    } catch (e) {
      if (signal.aborted) return
      if (e instanceof CallError && ['unauthenticated', 'permission_denied', 'failed_precondition', 'unimplemented'].includes(e.code)) return show()
      // What is shown is a little old until the daemon answers again.
    }
    await sleep(NODES_INTERVAL, signal)
  }
}

const TABS_INTERVAL = 1000

/**
 * Keeps a map of the tabs. changed is told when the list was read, and listed gets the answer. The list is asked for again and again: a browser
 * has six connections to a server, and each stream of each window holds one of them.
 * @param {Client} client
 * @param {Map<string, Tab>} tabs
 * @param {() => void} changed
 * @param {(answer: {nodeId?: string}) => void} listed
 * @param {Told} state
 * @param {AbortSignal} signal
 */
export function followTabs(client, tabs, changed, listed, state, signal) {
  return again(async well => {
    while (!signal.aborted) {
      const answer = await client.call('TabService/ListTabs', {}, signal)
      well()
      tabs.clear()
      for (const tab of answer.tabs || []) tabs.set(tab.id, tab)
      listed(answer)
      changed()
      await sleep(TABS_INTERVAL, signal)
    }
    return true
  }, signal, state)
}

/**
 * Makes ask, which runs work now, or a while after it ran last; and once more when it was asked for while it ran. An error of the work is left to
 * what it was done for: the next event asks again.
 * @param {() => Promise<void>} work
 * @param {number} interval
 * @param {AbortSignal} signal
 */
export function throttled(work, interval, signal, due = () => true) {
  let running = false, wanted = false, last = -Infinity
  /** @type {number | undefined} */
  let timer
  const run = async () => {
    timer = undefined
    if (running || !wanted || signal.aborted || !due()) return
    running = true
    wanted = false
    try { await work() } catch { /* see above */ }
    last = performance.now()
    running = false
    if (wanted) plan()
  }
  const plan = () => { timer ??= setTimeout(run, Math.max(0, last + interval - performance.now())) }
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return { ask() { wanted = true; plan() } }
}

/**
 * Tells sink what happens in a tab. place keeps where it is, so that it can go on there: after the connection was cut, and when it is called again
 * with the same place.
 * @param {Client} client
 * @param {string} id
 * @param {object} view
 * @param {{revision?: string, epoch?: string}} place
 * @param {{lines: (first: any) => void, message: (m: any) => void, resumed: (place: {revision?: string}) => void, ended: () => void, state: Told}} sink
 * @param {AbortSignal} signal
 */
export function followTab(client, id, view, place, sink, signal) {
  return again(async well => {
    if (!place.epoch) {
      const first = await client.call('DomService/GetCompact', { tabId: id, observeOnly: true, ...view }, signal)
      sink.lines(first)
      Object.assign(place, { revision: first.revision || '0', epoch: first.epoch })
    } else {
      sink.resumed(place)
    }
    well()
    const request = { tabId: id, ...view, format: 'FORMAT_DIFF', fromRevision: place.revision, epoch: place.epoch }
    for await (const m of client.stream('DomService/WatchDom', request, signal, SILENCE)) {
      well()
      Object.assign(place, { revision: m.revision || '0', epoch: m.epoch })
      sink.message(m)
    }
    sink.ended()
    return true
  }, signal, sink.state)
}

/**
 * Tells show what is in the timeline of a tab, and what comes, until the signal is aborted or the tab is closed. at keeps where it is, as place
 * does. A daemon without timelines fails with unimplemented.
 * @param {Client} client
 * @param {string} id
 * @param {{version?: string}} at
 * @param {(answer: TimelineAnswer, live: boolean) => void} show
 * @param {AbortSignal} signal
 */
export function followTimeline(client, id, at, show, signal) {
  return again(async well => {
    if (at.version === undefined) {
      const first = await client.call('TimelineService/GetTimeline', { tabId: id, limit: 500 }, signal)
      show({ ...first, reset: true }, false)
      at.version = first.version || '0'
      if (first.closed) return true
    }
    well()
    for await (const m of client.stream('TimelineService/WatchTimeline', { tabId: id, afterVersion: at.version }, signal)) {
      well()
      at.version = m.version || at.version
      show(m, !m.reset)
    }
    return true
  }, signal, () => {})
}

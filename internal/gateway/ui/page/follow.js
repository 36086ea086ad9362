// What is followed: the list of tabs, and what happens in one tab. A connection that is cut is made again, and goes on
// where it was.
import { CallError } from './calls.js'

const FIRST_WAIT = 250, LONGEST_WAIT = 5000 // milliseconds between tries
const SILENCE = 45000 // WatchDom has a heartbeat every 15 s

// sleep ends after some milliseconds, or at once when the signal is aborted.
function sleep(ms, signal) {
  return new Promise(done => {
    if (signal.aborted) return done()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', () => { clearTimeout(timer); done() }, { once: true })
  })
}

// again runs work until it says that it is done, or the signal is aborted, or it fails in a way that trying again does
// not help. work gets a function to call when it goes well.
async function again(work, signal, state) {
  let wait = FIRST_WAIT
  const well = () => { wait = FIRST_WAIT; state('live') }
  while (!signal.aborted) {
    try {
      if (await work(well)) return
    } catch (e) {
      if (signal.aborted) return
      if (e instanceof CallError && ['unauthenticated', 'not_found', 'invalid_argument', 'unimplemented'].includes(e.code)) throw e
      state('cut', e)
    }
    await sleep(wait * (0.75 + Math.random() / 2), signal)
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }
}

const NODES_INTERVAL = 2000 // nodes renew their leases as often

// followNodes tells show what the cluster is like, until the signal is aborted. Only the operator may see it: for others, show gets
// nothing once.
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

// followTabs keeps a map of the tabs. changed(id, closed) is told of each event, and listed gets each list.
export function followTabs(client, tabs, changed, listed, state, signal) {
  const list = async () => {
    const known = new Set(tabs.keys())
    const answer = await client.call('TabService/ListTabs', {}, signal)
    const now = answer.tabs || []
    listed(answer)
    for (const tab of now) known.delete(tab.id)
    for (const id of known) tabs.delete(id) // it was closed while nobody looked
    for (const tab of now) tabs.set(tab.id, tab)
    changed()
    if (now.some(tab => tab.status === 'TAB_STATUS_LOADING')) lister.ask() // no event tells when it is loaded
  }
  const lister = throttled(list, 1000, signal)
  const done = again(async well => {
    await list()
    well()
    lister.ask() // for what is closed between the list and the stream
    for await (const m of client.stream('TabService/WatchTabs', {}, signal)) {
      if (m.closed) tabs.delete(m.tab.id)
      else tabs.set(m.tab.id, m.tab)
      changed(m.tab.id, Boolean(m.closed))
      if (!m.closed) lister.ask() // titles and states come after the events
    }
  }, signal, state)
  return { done, refresh: lister.ask }
}

// throttled makes ask, which runs work now, or a while after it ran last; and once more when it was asked for while it
// ran. An error of the work is left to what it was done for: the next event asks again.
export function throttled(work, interval, signal, due = () => true) {
  let running = false, wanted = false, last = -Infinity, timer
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

// followTab tells sink what happens in a tab. place keeps where it is, so that it can go on there: after the connection was
// cut, and when it is called again with the same place.
export function followTab(client, id, view, place, sink, signal) {
  return again(async well => {
    if (!place.epoch) {
      const first = await client.call('DomService/GetCompact', { tabId: id, ...view }, signal)
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

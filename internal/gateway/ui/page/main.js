// @ts-check
// The live page: which token, which tab, and whether anything is to be followed now. What it calls is in ui.go: it reads, and it pauses and
// resumes clients when a person presses a button.
import { Client, CallError } from './calls.js'
import { addChange, clearChanges, showChange } from './changes.js'
import { SELF, control, showClients } from './clients.js'
import { $, inFrame, set, shortURL } from './dom.js'
import { followNodes, followTab, followTabs, followTimeline, throttled } from './follow.js'
import { listen, nextTheme } from './keys.js'
import { Lines } from './lines.js'
import { Network } from './network.js'
import { Picture } from './picture.js'
import { Diffs, momentOf, msOf, readAt, replayOf } from './replay.js'
import { Scrubber } from './scrub.js'
import { dialogText, showCluster, showTab, showTabs, statusOf } from './tabs.js'
import { Timeline } from './timeline.js'

/** @typedef {import('../types').Rect} Rect */
/** @typedef {import('../types').Row} Row */

const KEY = 'domtap.token'
const LINES_INTERVAL = 300 // milliseconds between two readings of the lines
/** @type {Record<string, object>} */
const VIEWS = { agent: {}, viewport: { viewportOnly: true }, text: { interactiveOnly: false }, all: { maxElements: 0, maxTokens: 0 } }
const IN_SIGHT = ['nav', 'refresh', 'updates', 'signout']

/** @type {Map<string, import('../types').Tab>} */
const tabs = new Map()
const picture = new Picture()
const timeline = new Timeline(row => replayed ? replayed.point(row) : picture.mark(markOf(row)), row => replayed?.choose(row))
const scrubber = new Scrubber(() => replayed?.moved())
const network = new Network(time => { if (recording) scrubber.seek(time - recording.started) })
const diffs = new Diffs()
const lines = new Lines(ref => point(ref))
const view = /** @type {HTMLSelectElement} */ ($('view'))
let token = '', chosen = '', paused = false
// place is where the chosen tab's stream is, at where its timeline is; they outlive pauses, so that what happened meanwhile is not lost.
/** @type {{revision?: string, epoch?: string}} */
let place = {}
/** @type {{version?: string}} */
let at = {}
// running ends all that is followed, watching what is followed of the chosen tab.
/** @type {{abort: AbortController, client: Client} | undefined} */
let running
/** @type {AbortController | undefined} */
let watching
// mode is what the daemon has, once that is known; recording is what it replays, replayed what shows the chosen tab of it.
/** @type {'' | 'live' | 'replay'} */
let mode = ''
/** @type {{about: import('../types').ReplayAnswer, started: number, length: number} | undefined} */
let recording
/** @type {{moved: () => void, point: (row: Row | undefined) => void, choose: (row: Row) => void} | undefined} */
let replayed
// boxes are where the elements are, as far as that was asked for; a change of the page forgets them.
/** @type {Promise<Map<number, Rect>> | undefined} */
let boxes
/** @type {number | undefined} */
let pointed
let reread = () => {}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1))
  const given = said.get('token')
  if (given !== null) {
    keepToken(given)
    said.delete('token')
    history.replaceState(null, '', location.pathname + (said.size ? `#${said}` : ''))
  }
  return said.get('tab')
}

/** @param {string} value */
function keepToken(value) {
  token = value.trim()
  mode = ''
  try { token ? sessionStorage.setItem(KEY, token) : sessionStorage.removeItem(KEY) } catch { /* then until the page is loaded again */ }
}

function storedToken() {
  try { return sessionStorage.getItem(KEY) || '' } catch { return '' }
}

/** Asks for the token. */
function sign(why = '') {
  stop()
  tabs.clear()
  for (const id of IN_SIGHT) $(id).hidden = true
  choose('')
  showTabs(tabs, chosen)
  showCluster()
  $('sign').hidden = false
  set('sign-why', why)
  link('signed out')
  $('token').focus()
}

/** @param {string} state */
function link(state) { set('link', state[0].toUpperCase() + state.slice(1)).dataset.state = state }

function stop() {
  running?.abort.abort()
  watching?.abort()
  running = watching = replayed = undefined
  scrubber.pause()
}

/** Follows what is to be followed now, or stops: nothing is, while nobody can see it. */
function run() {
  stop()
  if (!token) return sign()
  if (paused) return link('updates paused')
  if (document.visibilityState === 'hidden') return link('resting')
  $('sign').hidden = true
  for (const id of IN_SIGHT) $(id).hidden = false
  const abort = new AbortController()
  const client = new Client(token, SELF)
  running = { abort, client }
  begin(client, abort.signal).catch(e => { if (!abort.signal.aborted) refused(e) })
}

/**
 * Finds out what the daemon has, and follows it.
 * @param {Client} client
 * @param {AbortSignal} signal
 */
async function begin(client, signal) {
  if (!mode) {
    const about = await replayOf(client, signal, link)
    if (signal.aborted) return
    setMode(about)
  }
  if (recording) {
    const { tabs: all } = await client.call('TabService/ListTabs', { at: momentOf(scrubber.now) }, signal)
    link('replay')
    takeTabs(all)
    return watch()
  }
  /** @type {Promise<void> | undefined} */
  let nodes
  followTabs(client, tabs, tabChanged, ({ nodeId }) => {
    if (nodeId) nodes ??= followNodes(client, showCluster, signal)
    else showCluster()
  }, link, signal).catch(refused)
  watch()
}

/**
 * Shows what there is on a daemon with live tabs, or on one that replays a recording.
 * @param {import('../types').ReplayAnswer | undefined} about
 */
function setMode(about) {
  mode = about ? 'replay' : 'live'
  document.body.dataset.mode = mode
  set('mode', mode)
  for (const id of ['replay', 'network-view', 'changes-step']) $(id).hidden = !about
  $('changes-live').hidden = Boolean(about)
  recording = undefined
  if (!about) return
  const started = Date.parse(about.started || '') || 0
  recording = { about, started, length: (Date.parse(about.ended || '') || 0) - started }
  const at = msOf(about.position) // dates have whole milliseconds, durations have less: the end is the end
  scrubber.open(recording.length, at + 1 >= recording.length ? recording.length : at)
  set('no-changes', 'No step has ended at this time.')
}

/** @param {import('../types').Tab[] | undefined} all */
function takeTabs(all) {
  tabs.clear()
  for (const tab of all || []) tabs.set(tab.id, tab)
  tabChanged()
}

/**
 * Is called when there is no use in trying again.
 * @param {unknown} e
 */
function refused(e) {
  if (e instanceof CallError && e.code === 'unauthenticated') {
    keepToken('')
    sign('The daemon does not accept this token. The command domtap ui prints an address with the right one.')
  } else {
    link('failed')
    lines.clear(e instanceof Error ? e.message : String(e))
  }
}

/** Is called when the list of tabs was read. */
function tabChanged() {
  if (!chosen && tabs.size) choose(newest())
  showAll()
}

const showAll = inFrame(() => {
  $('tab').hidden = !token || !chosen
  showTabs(tabs, chosen)
  const tab = tabs.get(chosen)
  if (tab) showTab(tab, place.revision)
})

/** The tab to begin with: not this page, which would look at itself. */
function newest() {
  const others = [...tabs.values()].filter(tab => !tab.url?.startsWith(location.origin + '/'))
  return (others.at(-1) || [...tabs.values()].at(-1))?.id || ''
}

/**
 * Begins with another tab.
 * @param {string} id
 */
function choose(id) {
  if (id === chosen) return
  chosen = id
  restart()
  showTab(tabs.get(chosen))
  showAll()
}

/**
 * Goes some tabs further in the list.
 * @param {number} by
 */
function step(by) {
  const ids = [...tabs.keys()]
  if (ids.length) location.hash = `tab=${encodeURIComponent(ids[(ids.indexOf(chosen) + by + ids.length) % ids.length])}`
}

/** Forgets what is known of the chosen tab, and reads it anew. */
function restart() {
  place = {}
  at = {}
  lines.clear()
  clearChanges()
  diffs.clear()
  network.clear()
  timeline.clear()
  showClients([], '')
  picture.clear()
  watch()
}

/** Follows the chosen tab. */
function watch() {
  watching?.abort()
  boxes = undefined
  replayed = undefined
  if (!running || !chosen || !mode) return
  watching = new AbortController()
  const { client } = running
  const { signal } = watching
  const id = chosen, how = VIEWS[view.value]
  if (recording) {
    watchRecording(recording, client, id, how, signal).catch(e => { if (!signal.aborted) timeline.clear(e instanceof Error ? e.message : String(e)) })
    return
  }
  /** @type {Set<number>} */
  const fresh = new Set()
  const reader = throttled(async () => {
    const marked = new Set(fresh)
    fresh.clear()
    const answer = await client.call('DomService/GetCompact', { tabId: id, observeOnly: true, ...how }, signal)
    if (!signal.aborted) takeLines(answer, marked)
  }, LINES_INTERVAL, signal)
  reread = reader.ask
  picture.follow(client, id, signal)
  follow(client, id, how, fresh, signal).catch(e => {
    if (e instanceof CallError && e.code === 'not_found') lines.clear('There is no such tab.')
    else refused(e)
  })
  followTimeline(client, id, at, (answer, live) => {
    if (answer.reset) timeline.clear()
    timeline.add((answer.entries || []).filter(e => e.client !== SELF || e.control), live)
    showClients(answer.clients || [], answer.takenOverBy || '')
  }, signal).catch(e => {
    if (e instanceof CallError && e.code === 'not_found') timeline.clear('There is no such tab.')
    else if (e instanceof CallError && e.code === 'unimplemented') timeline.clear('This daemon keeps no timeline.')
    else timeline.clear(e instanceof Error ? e.message : String(e))
  })
}

/**
 * Where an element was and the pointer, for the picture.
 * @param {Row | undefined} row
 */
function markOf(row) {
  return row && (row.box || row.point) ? { box: row.box, point: row.point, says: `where “${row.label}” was` } : undefined
}

/**
 * Shows a tab of a recording at the times of the scrubber.
 * @param {NonNullable<typeof recording>} of
 * @param {Client} client
 * @param {string} id
 * @param {object} how
 * @param {AbortSignal} signal
 */
async function watchRecording({ about, started, length }, client, id, how, signal) {
  const track = about.tabs?.find(t => t.recording?.tabId === id)
  const now = () => scrubber.now
  const read = readAt(client, id, how, now, { tabs: answer => takeTabs(answer.tabs), lines: answer => takeLines(answer, new Set()), nothing: why => lines.clear(why) }, signal)
  const shots = picture.replay(client, id, track?.pictures || [], now, signal)
  set('missing', track?.missing?.length ? `Missing: ${track.missing.join('; ')}` : '')
  /** @type {Row | undefined} */
  let step
  // A step is marked in the picture that was taken last before it ended: a later one may show another page.
  const mark = (/** @type {Row | undefined} */ row) => {
    const marked = markOf(row)
    picture.mark(marked && row && shots.isOf(row.end - started) ? marked : undefined)
  }
  const diffOf = (/** @type {Row} */ row, /** @type {(text: string) => void} */ take) => {
    diffs.of(client, id, how, row, signal).then(take, e => { if (!signal.aborted) take(e instanceof Error ? e.message : String(e)) })
  }
  const showStep = () => {
    const last = timeline.steps.findLast(row => row.end - started <= now())
    if (last?.key !== step?.key) {
      step = last
      if (!last) clearChanges()
      else diffOf(last, text => { if (step === last) showChange(`revision ${last.revisions?.from} to ${last.revisions?.to} · ${last.label} ${last.what}`, text) })
    }
    mark(step)
  }
  replayed = {
    moved() {
      read()
      shots.show()
      timeline.at(started + now())
      network.at(started + now())
      showStep()
    },
    point: row => mark(row || step),
    choose(row) {
      scrubber.seek(row.end - started)
      if (row.revisions) diffOf(row, text => timeline.diff(row, text))
    },
  }
  replayed.moved()
  const [{ entries, clients }, log] = await Promise.all([
    client.call('TimelineService/GetTimeline', { tabId: id, limit: 500 }, signal),
    client.call('PageService/ReadLog', { tabId: id, kinds: ['LOG_KIND_NETWORK'], maxEntries: 1000, at: momentOf(length + 1000) }, signal),
  ])
  if (signal.aborted) return
  timeline.add(entries || [], false)
  showClients(clients || [], '')
  network.show(log.entries || [])
  scrubber.marks(timeline.steps.map(row => row.end - started))
  replayed?.moved()
}

/**
 * Follows the page of a tab.
 * @param {Client} client
 * @param {string} id
 * @param {object} how
 * @param {Set<number>} fresh
 * @param {AbortSignal} signal
 */
function follow(client, id, how, fresh, signal) {
  return followTab(client, id, how, place, {
    lines: answer => takeLines(answer, new Set()),
    message: m => {
      take(id, m, fresh)
      // What was refused behind a dialog, or while the tab was being brought back, is there when the tab is ready.
      const ready = m.tabStatus && statusOf(m.tabStatus) === 'ready'
      if (m.diff || m.resync || ready) { boxes = undefined; reread(); picture.changed() }
    },
    resumed: from => { addChange(`went on from revision ${from.revision}`, '', 'note'); reread() },
    ended: () => { addChange('closed', '', 'note'); lines.clear('The tab is closed.') },
    state: (state, e) => { if (state === 'cut' && e instanceof CallError) lines.clear(e.message); else if (state === 'cut') link('cut') },
  }, signal)
}

/**
 * @param {any} answer
 * @param {Set<number>} fresh
 */
function takeLines(answer, fresh) {
  lines.show(answer.text || '', fresh)
  const m = answer.metadata || {}
  if (!answer.text) set('no-lines', 'There is nothing here that an agent could act on.')
  set('counts', `${m.includedElements || 0} of ${m.totalElements || 0} elements · ${m.tokens || 0} tokens`)
}

/**
 * Shows a message of WatchDom.
 * @param {string} id
 * @param {any} m
 * @param {Set<number>} fresh
 */
function take(id, m, fresh) {
  const where = `revision ${place.revision}${m.coalesced > 1 ? ` · ${m.coalesced} in one` : ''}`
  if (m.diff) {
    addChange(where, m.text || '', 'diff')
    for (const e of [...m.diff.added || [], ...m.diff.changed || []]) fresh.add(e.ref || 0)
    beat()
  } else if (m.resync) {
    addChange(where, `Read anew: ${(m.resync.reason || '').replaceAll('_', ' ')}`, 'note')
    beat()
  } else if (m.navigated) {
    addChange(where, `Went to ${shortURL(m.navigated.url)}`, 'note')
  } else if (m.tabStatus) {
    const known = tabs.get(id)
    if (known) tabs.set(id, { ...known, status: m.tabStatus.status, dialog: m.tabStatus.dialog })
    addChange(`${where} · ${statusOf(m.tabStatus)}`, dialogText(m.tabStatus.dialog) || m.tabStatus.detail || '', 'note')
  }
  showAll()
}

/**
 * Shows in the picture where an element is. Its box is asked for when the first one is pointed at, and answered from what the daemon knows.
 * @param {number | undefined} ref
 */
async function point(ref) {
  pointed = ref
  if (recording) return // boxes are not recorded
  if (ref === undefined || !running || !watching) return picture.mark(undefined)
  const { client } = running
  boxes ??= client.call('DomService/GetDom', { tabId: chosen, clientId: SELF, maxAge: '60s', includeHistory: false, ...VIEWS[view.value] }, watching.signal)
    .then(answer => new Map((answer.elements || []).map((/** @type {any} */ e) => [e.ref || 0, e.rect])))
  try {
    const box = (await boxes).get(ref)
    if (pointed === ref) picture.mark(box ? { box, says: `[${ref}]` } : undefined)
  } catch { boxes = undefined /* the next line asks again */ }
}

/** Lets the mark in the corner beat once; without motion it stays still. */
function beat() {
  const mark = document.querySelector('.mark')
  if (!(mark instanceof HTMLElement)) return
  mark.getAnimations().forEach(a => a.cancel())
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) mark.animate([{ transform: 'scale(1.7)' }, { transform: 'none' }], 500)
}

/**
 * Shows one of the parts of a tab where there is no room for all, and leads the focus there.
 * @param {string} name
 * @param {boolean} focus
 */
function show(name, focus) {
  $('tab').dataset.view = name
  for (const button of document.querySelectorAll('.views button')) {
    button.setAttribute('aria-pressed', String(button instanceof HTMLElement && button.dataset.view === name))
  }
  if (!focus) return
  if (name === 'timeline') timeline.focus()
  else if (name === 'picture') $('frame').focus()
  else if (name === 'text') $('lines').focus()
  else if (name === 'changes') $('changes-box').focus()
  else $('network-box').focus()
}

function pauseUpdates() {
  if (recording) return
  paused = !paused
  set('updates', paused ? 'Resume updates' : 'Pause updates').setAttribute('aria-pressed', String(paused))
  run()
}

function refresh() {
  paused = false
  set('updates', 'Pause updates').setAttribute('aria-pressed', 'false')
  restart()
  run()
}

$('updates').addEventListener('click', pauseUpdates)
$('refresh').addEventListener('click', refresh)
$('signout').addEventListener('click', () => { keepToken(''); sign() })
$('sign-form').addEventListener('submit', e => {
  e.preventDefault()
  const field = /** @type {HTMLInputElement} */ ($('token'))
  keepToken(field.value)
  field.value = ''
  run()
})
view.addEventListener('change', restart)
document.querySelector('.views')?.addEventListener('click', e => {
  const button = e.target instanceof Element ? e.target.closest('button') : null
  if (button?.dataset.view) show(button.dataset.view, false)
})

// The keys of a replay do nothing on a live page.
const inReplay = (/** @type {() => void} */ act) => () => { if (recording) act() }
// The switch of the lower part stands beside it where all parts are shown, so that the Tab key leads to it in the order of the eye.
const wide = matchMedia('(min-width: 64rem)')
function placeViews() {
  const views = document.querySelector('.views')
  if (views) document.querySelector(wide.matches ? '.panel.text' : '.panel.timeline')?.before(views)
}
wide.addEventListener('change', placeViews)
placeViews()

control(() => running && watching && chosen ? { client: running.client, tabId: chosen, signal: watching.signal } : undefined)
listen({
  j: () => timeline.focus(), k: () => timeline.focus(), ArrowDown: () => timeline.focus(), ArrowUp: () => timeline.focus(),
  1: () => show('timeline', true), 2: () => show('picture', true), 3: () => show('text', true), 4: () => show('changes', true),
  5: inReplay(() => show('network', true)), ',': inReplay(() => scrubber.step(-1)), '.': inReplay(() => scrubber.step(1)),
  p: inReplay(() => scrubber.toggle()), s: inReplay(() => $('scrub').focus()),
  '[': () => step(-1), ']': () => step(1), r: refresh, u: pauseUpdates, t: nextTheme,
})
document.addEventListener('visibilitychange', run)
window.addEventListener('hashchange', () => {
  const before = token
  const tab = readAddress()
  if (token !== before) run()
  if (tab) choose(tab)
})

token = storedToken()
const first = readAddress()
clearChanges()
run()
if (first) choose(first)

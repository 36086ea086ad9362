// The live page: which token, which tab, and whether anything is to be followed now. It calls only what reads:
// ListTabs, WatchTabs, GetCompact, WatchDom, Screenshot, and of a cluster GetCluster.
import { Client, CallError } from './calls.js'
import { followNodes, followTabs, followTab, throttled } from './follow.js'
import { Picture } from './picture.js'
import { $, addChange, clearChanges, clearLines, dialogText, set, showCluster, showLines, showTab, showTabs, statusOf } from './show.js'

const KEY = 'domtap.token'
const LINES_INTERVAL = 300 // milliseconds between two readings of the lines
const VIEWS = { agent: {}, viewport: { viewportOnly: true }, text: { interactiveOnly: false } }

const tabs = new Map()
const picture = new Picture()
let token = '', chosen = '', paused = false
// place is where the chosen tab's stream is; it outlives pauses, so that what happened meanwhile is not lost.
let place = {}
// running ends all that is followed, watching what is followed of the chosen tab.
let running, watching

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1))
  if (said.has('token')) {
    keepToken(said.get('token'))
    said.delete('token')
    history.replaceState(null, '', location.pathname + (said.size ? `#${said}` : ''))
  }
  return said.get('tab')
}

function keepToken(value) {
  token = value.trim()
  try { token ? sessionStorage.setItem(KEY, token) : sessionStorage.removeItem(KEY) } catch { /* then until the page is loaded again */ }
}

function storedToken() {
  try { return sessionStorage.getItem(KEY) || '' } catch { return '' }
}

// sign asks for the token.
function sign(why = '') {
  stop()
  tabs.clear()
  choose('')
  showCluster()
  $('sign').hidden = false
  for (const id of ['nav', 'tab', 'pause', 'forget']) $(id).hidden = true
  set('sign-why', why)
  link('no token')
  $('token').focus()
}

function link(state) { set('link', state[0].toUpperCase() + state.slice(1)).dataset.state = state }

function stop() {
  running?.abort()
  watching?.abort()
  running = watching = undefined
}

// run follows what is to be followed now, or stops: nothing is, while nobody can see it.
function run() {
  stop()
  if (!token) return sign()
  if (paused) return link('paused')
  if (document.visibilityState === 'hidden') return link('resting')
  $('sign').hidden = true
  for (const id of ['nav', 'tab', 'pause', 'forget']) $(id).hidden = false
  running = new AbortController()
  const client = new Client(token)
  const { signal } = running
  let nodes
  const listed = ({ nodeId }) => {
    if (nodeId) nodes ??= followNodes(client, showCluster, signal)
    else showCluster()
  }
  const following = followTabs(client, tabs, tabChanged, listed, link, signal)
  running.refresh = following.refresh
  following.done.catch(e => refused(e, client))
  running.client = client
  watch()
}

// refused is called when there is no use in trying again.
function refused(e) {
  if (e instanceof CallError && e.code === 'unauthenticated') {
    keepToken('')
    sign('The daemon does not accept this token. The command domtap ui prints an address with the right one.')
  } else {
    link('failed')
    set('no-lines', e.message)
  }
}

// tabChanged is called when the list is another, or after an event of a tab.
function tabChanged(id, closed) {
  if (closed && id === chosen) addChange('closed', '', 'note')
  if (!chosen && tabs.size) choose(newest())
  showTabs(tabs, chosen)
  if (tabs.has(chosen)) showTab(tabs.get(chosen), place.revision)
}

// newest is the tab to begin with: not this page, which would look at itself.
function newest() {
  const others = [...tabs.values()].filter(tab => !tab.url.startsWith(location.origin + '/'))
  return (others.at(-1) || [...tabs.values()].at(-1)).id
}

// choose begins with another tab.
function choose(id) {
  if (id === chosen) return
  chosen = id
  restart()
  showTabs(tabs, chosen)
  showTab(tabs.get(chosen))
}

// restart forgets what is known of the chosen tab, and reads it anew.
function restart() {
  place = {}
  clearLines()
  clearChanges()
  picture.clear()
  watch()
}

// watch follows the chosen tab.
function watch() {
  watching?.abort()
  if (!running || !chosen) return
  watching = new AbortController()
  const { client } = running
  const { signal } = watching
  const id = chosen, view = VIEWS[$('view').value]
  const fresh = new Set()
  const reader = throttled(async () => {
    const marked = new Set(fresh)
    fresh.clear()
    const lines = await client.call('DomService/GetCompact', { tabId: id, ...view }, signal)
    if (!signal.aborted) takeLines(lines, marked)
  }, LINES_INTERVAL, signal)
  const sink = {
    lines: answer => takeLines(answer, new Set()),
    message: m => {
      take(id, m, fresh)
      running?.refresh() // a new title has no event of its own; it comes with what changes beside it, or with a heartbeat
      // What was refused behind a dialog, or while the tab was being brought back, is there when the tab is ready.
      const ready = m.tabStatus && statusOf(m.tabStatus) === 'ready'
      if (m.diff || m.resync || ready) { reader.ask(); picture.changed() }
    },
    resumed: at => { addChange(`went on from revision ${at.revision}`, '', 'note'); reader.ask() },
    ended: () => clearLines('The tab is closed.'),
    state: (state, e) => { if (state === 'cut' && e instanceof CallError) clearLines(e.message); else if (state === 'cut') link('cut') },
  }
  picture.follow(client, id, signal)
  followTab(client, id, view, place, sink, signal).catch(e => {
    if (e instanceof CallError && e.code === 'not_found') clearLines('There is no such tab.')
    else refused(e)
  })
}

function takeLines(answer, fresh) {
  showLines(answer.text || '', fresh)
  const m = answer.metadata || {}
  set('no-lines', 'There is nothing here that an agent could act on.')
  set('counts', `${m.includedElements || 0} of ${m.totalElements || 0} elements · ${m.tokens || 0} tokens`)
}

// take shows a message of WatchDom.
function take(id, m, fresh) {
  const at = `revision ${place.revision}${m.coalesced > 1 ? ` · ${m.coalesced} in one` : ''}`
  if (m.diff) {
    addChange(at, m.text || '', 'diff')
    for (const e of m.diff.added || []) fresh.add(e.ref || 0)
    for (const e of m.diff.changed || []) fresh.add(e.ref || 0)
    beat()
  } else if (m.resync) {
    addChange(at, `Read anew: ${(m.resync.reason || '').replaceAll('_', ' ')}`, 'note')
    beat()
  } else if (m.navigated) {
    addChange(at, `Went to ${m.navigated.url}`, 'note')
  } else if (m.tabStatus) {
    const known = tabs.get(id)
    if (known) tabs.set(id, { ...known, status: m.tabStatus.status, dialog: m.tabStatus.dialog })
    const text = dialogText(m.tabStatus.dialog) || m.tabStatus.detail || ''
    addChange(`${at} · ${statusOf(m.tabStatus)}`, text, 'note')
  }
  if (id === chosen) {
    showTabs(tabs, chosen)
    showTab(tabs.get(id) || { id }, place.revision)
  }
}

// beat lets the mark in the corner beat once; without motion it stays still.
function beat() {
  const mark = document.querySelector('.mark')
  mark.classList.remove('beat')
  void mark.offsetWidth // a class that comes back at once would start no animation
  mark.classList.add('beat')
}

$('pause').addEventListener('click', () => {
  paused = !paused
  $('pause').setAttribute('aria-pressed', String(paused))
  run()
})
$('forget').addEventListener('click', () => { keepToken(''); sign() })
$('sign-form').addEventListener('submit', e => {
  e.preventDefault()
  keepToken($('token').value)
  $('token').value = ''
  run()
})
$('view').addEventListener('change', restart)
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

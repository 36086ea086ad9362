// @ts-check
// The tabs and the nodes at the side, and the facts of the chosen tab.
import { $, count, el, set, shortURL, sync, write } from './dom.js'

/** @typedef {import('../types').Tab} Tab */

/** @type {Record<string, string>} */
const STATUS = {
  TAB_STATUS_LOADING: 'loading', TAB_STATUS_READY: 'ready', TAB_STATUS_CRASHED: 'crashed',
  TAB_STATUS_UNRESPONSIVE: 'does not answer', TAB_STATUS_CLOSED: 'closed', TAB_STATUS_RESTORING: 'coming back',
}

/** @param {{status?: string, dialog?: object}} tab */
export const statusOf = tab => tab.dialog ? 'dialog' : STATUS[tab.status || ''] || 'unknown'

/** @type {Record<string, string>} */
const KINDS = { DIALOG_TYPE_ALERT: 'alert', DIALOG_TYPE_CONFIRM: 'confirm', DIALOG_TYPE_PROMPT: 'prompt', DIALOG_TYPE_BEFOREUNLOAD: 'beforeunload' }

/** @param {import('../types').Dialog | undefined} d */
export const dialogText = d => d ? `The page waits for an answer to its ${KINDS[d.type || ''] || 'dialog'}: ${d.message || 'no text'}` : ''

/**
 * Writes the list of tabs, and keeps the focus where it is.
 * @param {Map<string, Tab>} tabs
 * @param {string} chosen
 */
export function showTabs(tabs, chosen) {
  sync($('tabs'), [...tabs.values()].map(tab => ({ key: tab.id, tab })), tabItem, (li, { tab }) => fillTab(li, tab, tab.id === chosen))
  $('welcome').hidden = tabs.size > 0 || $('nav').hidden
  $('no-tabs').hidden = tabs.size > 0
}

/** @param {{key: string}} item */
function tabItem({ key }) {
  const li = el('li')
  const a = el('a')
  a.href = `#tab=${encodeURIComponent(key)}`
  a.append(el('span', 'id', key), el('span', 'name'), el('span', 'state'), el('span', 'url'))
  li.append(a)
  return li
}

/**
 * @param {HTMLElement} li
 * @param {Tab} tab
 * @param {boolean} current
 */
function fillTab(li, tab, current) {
  const a = /** @type {HTMLElement} */ (li.firstElementChild)
  if (current) a.setAttribute('aria-current', 'true')
  else a.removeAttribute('aria-current')
  const [, name, state, url] = /** @type {HTMLElement[]} */ ([...a.children])
  write(name, tab.title || 'No title')
  write(state, statusOf(tab))
  write(url, shortURL(tab.url))
  state.dataset.state = statusOf(tab)
}

/** @type {Record<string, string>} */
const NODE_STATES = { NODE_STATE_SERVING: 'serving', NODE_STATE_DRAINING: 'draining', NODE_STATE_SILENT: 'silent', NODE_STATE_GONE: 'gone' }
/** @type {Record<string, string>} */
const SESSION_STATES = { CLUSTER_SESSION_STATE_CREATING: 'being made', CLUSTER_SESSION_STATE_RESTORING: 'coming back', CLUSTER_SESSION_STATE_MOVING: 'moving' }

/**
 * Writes the nodes of a cluster, with their load and their sessions; without an argument, it hides them.
 * @param {any} [now]
 */
export function showCluster(now) {
  $('cluster').hidden = !now
  /** @type {any[]} */
  const nodes = now?.nodes || []
  sync($('nodes'), nodes.map(node => ({ key: node.nodeId, node })), nodeItem, (li, { node }) => fillNode(li, node, now))
}

function nodeItem() {
  const li = el('li')
  const title = el('p', 'node')
  title.append(el('span', 'id'), el('span', 'here'), el('span', 'state'))
  li.append(title, el('p', 'load'), el('ul', 'placed'))
  return li
}

/**
 * @param {HTMLElement} li
 * @param {any} node
 * @param {any} now
 */
function fillNode(li, node, now) {
  const [title, load, placed] = /** @type {HTMLElement[]} */ ([...li.children])
  const [id, here, state] = /** @type {HTMLElement[]} */ ([...title.children])
  const said = NODE_STATES[node.state] || 'unknown'
  write(id, node.nodeId)
  write(here, node.nodeId === now.nodeId ? 'answers' : '')
  write(state, said)
  state.dataset.state = said
  write(load, said === 'gone' ? '' : `${node.sessions || 0} of ${count(node.maxSessions, 'session')} · ${count(node.tabs, 'tab')} · ${Math.round(100 * (node.busy || 0))} % busy`)
  /** @type {any[]} */
  const sessions = (now.sessions || []).filter((/** @type {any} */ s) => s.nodeId === node.nodeId)
  sync(placed, sessions.map(s => ({ key: s.sessionId, s })), () => el('li'), (e, { s }) => {
    const more = SESSION_STATES[s.state]
    write(e, `${s.sessionId} · ${count(s.tabs, 'tab')}${more ? ` · ${more}` : ''}`)
  })
}

/**
 * Writes what is known of the chosen tab.
 * @param {Tab | undefined} tab
 * @param {string} [revision]
 */
export function showTab(tab, revision) {
  set('title', tab ? tab.title || 'No title' : 'No tab is chosen')
  set('url', shortURL(tab?.url))
  set('status', tab ? statusOf(tab) : '').dataset.state = tab ? statusOf(tab) : ''
  set('revision', tab && revision ? `revision ${revision}` : '')
  set('http', tab?.httpStatus ? `HTTP ${tab.httpStatus}` : '')
  set('session', tab && tab.sessionId && tab.sessionId !== 'default' ? `session ${tab.sessionId}` : '')
  set('dialog', dialogText(tab?.dialog))
  const mode = `domtap ${document.body.dataset.mode || 'live'}`
  document.title = tab ? `${tab.title || tab.id} · ${mode}` : mode
}

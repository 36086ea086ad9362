// What is shown. All that pages say comes in as text (textContent), never as markup.

const MOST_CHANGES = 100
const LONGEST_CHANGE = 6000 // characters of one change
const MOST_LINES = 1200

export const $ = id => document.getElementById(id)

function el(tag, className, text) {
  const e = document.createElement(tag)
  if (className) e.className = className
  if (text !== undefined) e.textContent = text
  return e
}

// set writes only what is another text, so that nothing is read out twice.
export function set(id, text) {
  const e = $(id)
  if (e.textContent !== text) e.textContent = text
  return e
}

const STATUS = {
  TAB_STATUS_LOADING: 'loading', TAB_STATUS_READY: 'ready', TAB_STATUS_CRASHED: 'crashed',
  TAB_STATUS_UNRESPONSIVE: 'does not answer', TAB_STATUS_CLOSED: 'closed', TAB_STATUS_RESTORING: 'coming back',
}
export const statusOf = tab => tab.dialog ? 'dialog' : STATUS[tab.status] || 'unknown'

const KINDS = { DIALOG_TYPE_ALERT: 'alert', DIALOG_TYPE_CONFIRM: 'confirm', DIALOG_TYPE_PROMPT: 'prompt', DIALOG_TYPE_BEFOREUNLOAD: 'beforeunload' }
export const dialogText = d => d ? `The page waits for an answer to its ${KINDS[d.type] || 'dialog'}: ${d.message || 'no text'}` : ''

const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
export const timeOf = at => clock.format(at)

// showTabs writes the list of tabs, and keeps the focus where it is.
export function showTabs(tabs, chosen) {
  const list = $('tabs')
  const items = new Map([...list.children].map(li => [li.dataset.id, li]))
  const wanted = [...tabs.values()].map(tab => {
    const li = items.get(tab.id) || tabItem(tab.id)
    fillTab(li, tab, tab.id === chosen)
    return li
  })
  for (const li of [...list.children]) if (!wanted.includes(li)) li.remove()
  wanted.forEach((li, i) => { if (list.children[i] !== li) list.insertBefore(li, list.children[i] || null) })
  $('no-tabs').hidden = wanted.length > 0
}

function tabItem(id) {
  const li = el('li')
  li.dataset.id = id
  const a = el('a')
  a.href = `#tab=${encodeURIComponent(id)}`
  a.append(el('span', 'id', id), el('span', 'name'), el('span', 'state'), el('span', 'url'))
  li.append(a)
  return li
}

function fillTab(li, tab, current) {
  const a = li.firstChild
  if (current) a.setAttribute('aria-current', 'true')
  else a.removeAttribute('aria-current')
  const [, name, state, url] = a.children
  const texts = [tab.title || 'No title', statusOf(tab), tab.url || '']
  ;[name, state, url].forEach((e, i) => { if (e.textContent !== texts[i]) e.textContent = texts[i] })
  state.dataset.state = statusOf(tab)
}

const NODE_STATES = { NODE_STATE_SERVING: 'serving', NODE_STATE_DRAINING: 'draining', NODE_STATE_SILENT: 'silent', NODE_STATE_GONE: 'gone' }
const SESSION_STATES = { CLUSTER_SESSION_STATE_CREATING: 'being made', CLUSTER_SESSION_STATE_RESTORING: 'coming back', CLUSTER_SESSION_STATE_MOVING: 'moving' }
const count = (n, what) => `${n || 0} ${what}${n === 1 ? '' : 's'}`

// showCluster writes the nodes of a cluster, with their load and their sessions; without an argument, it hides them.
export function showCluster(now) {
  $('cluster').hidden = !now
  const nodes = now?.nodes || []
  const list = $('nodes')
  nodes.forEach((node, i) => fillNode(list.children[i] || list.appendChild(nodeItem()), node, now))
  while (list.children.length > nodes.length) list.lastChild.remove()
}

function nodeItem() {
  const li = el('li')
  const title = el('p', 'node')
  title.append(el('span', 'id'), el('span', 'here'), el('span', 'state'))
  li.append(title, el('p', 'load'), el('ul', 'placed'))
  return li
}

function fillNode(li, node, now) {
  const [title, load, placed] = li.children
  const [id, here, state] = title.children
  const said = NODE_STATES[node.state] || 'unknown'
  write(id, node.nodeId)
  write(here, node.nodeId === now.nodeId ? 'answers' : '')
  write(state, said)
  state.dataset.state = said
  write(load, said === 'gone' ? '' : `${node.sessions || 0} of ${count(node.maxSessions, 'session')} · ${count(node.tabs, 'tab')} · ${Math.round(100 * (node.busy || 0))} % busy`)
  const sessions = (now.sessions || []).filter(s => s.nodeId === node.nodeId)
  sessions.forEach((s, i) => {
    const more = SESSION_STATES[s.state]
    write(placed.children[i] || placed.appendChild(el('li')), `${s.sessionId} · ${count(s.tabs, 'tab')}${more ? ` · ${more}` : ''}`)
  })
  while (placed.children.length > sessions.length) placed.lastChild.remove()
}

function write(e, text) {
  if (e.textContent !== text) e.textContent = text
}

// showTab writes what is known of the chosen tab.
export function showTab(tab, revision) {
  set('title', tab ? tab.title || 'No title' : 'No tab is chosen')
  set('url', tab?.url || '')
  set('status', tab ? statusOf(tab) : '').dataset.state = tab ? statusOf(tab) : ''
  set('revision', tab && revision ? `revision ${revision}` : '')
  set('http', tab?.httpStatus ? `HTTP ${tab.httpStatus}` : '')
  set('session', tab && tab.sessionId && tab.sessionId !== 'default' ? `session ${tab.sessionId}` : '')
  set('dialog', dialogText(tab?.dialog))
  document.title = tab ? `${tab.id} · domtap live` : 'domtap live'
}

// showLines writes the compact text of a page, line by line; those whose ref is in fresh are marked.
export function showLines(text, fresh) {
  const box = $('lines')
  const lines = text.split('\n').filter(Boolean).slice(0, MOST_LINES)
  lines.forEach((line, i) => {
    const e = box.children[i] || box.appendChild(el('div'))
    if (e.dataset.line !== line) fillLine(e, line)
    const ref = e.dataset.ref
    e.classList.toggle('fresh', ref !== undefined && fresh.has(Number(ref)))
  })
  while (box.children.length > lines.length) box.lastChild.remove()
  $('no-lines').hidden = lines.length > 0
}

// fillLine takes a line apart for the eye: [ref] text (detail). Its text stays the same.
function fillLine(e, line) {
  e.dataset.line = line
  const ref = /^\[(\d+)\] /.exec(line)
  const end = line.lastIndexOf(' (')
  if (!ref || end < ref[0].length - 1) {
    delete e.dataset.ref
    e.className = line.startsWith('#') || line.startsWith('URL: ') ? 'head' : ''
    e.textContent = line
    return
  }
  e.dataset.ref = ref[1]
  e.className = ''
  e.replaceChildren(el('span', 'ref', `[${ref[1]}]`), el('span', 'name', line.slice(ref[0].length - 1, end)), el('span', 'detail', line.slice(end)))
}

export function clearLines(why = 'No lines yet.') {
  $('lines').replaceChildren()
  $('no-lines').hidden = false
  set('no-lines', why)
  set('counts', '')
}

// addChange puts an entry at the top of the changes, and drops the oldest of too many.
export function addChange(head, text, kind) {
  const list = $('changes')
  const li = el('li', kind)
  li.append(el('p', 'when', `${timeOf(new Date())} · ${head}`))
  if (text) li.append(changeText(text))
  list.prepend(li)
  while (list.children.length > MOST_CHANGES) list.lastChild.remove()
  $('no-changes').hidden = true
}

const SECTIONS = { 'Added:': 'added', 'Removed:': 'removed', 'Changed:': 'changed', 'Moved:': 'moved' }

// changeText colours the sections of a diff's text, which stays the same.
function changeText(text) {
  const pre = el('pre')
  if (text.length > LONGEST_CHANGE) text = text.slice(0, LONGEST_CHANGE) + '\n… and more'
  let section = ''
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    const title = SECTIONS[line]
    section = title || (line.startsWith('  ') ? section : '')
    pre.append(el('span', title ? `${title} section` : section, line + '\n'))
  }
  return pre
}

export function clearChanges() {
  $('changes').replaceChildren()
  $('no-changes').hidden = false
  set('most', String(MOST_CHANGES))
}

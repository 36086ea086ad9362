// @ts-check
// How the entries of a timeline read: what stands in their lines, and in their details. No document here.
import { count, shortURL, timeOf } from './dom.js'

/** @typedef {import('../types').Entry} Entry */
/** @typedef {import('../types').Row} Row */
/** @typedef {import('../types').Step} Step */

/** @type {Record<string, string>} */
const VERDICTS = {
  VERDICT_NO_CHANGE: 'no change', VERDICT_CHANGED: 'changed', VERDICT_NAVIGATED: 'navigated', VERDICT_DIALOG: 'dialog', VERDICT_NEW_TAB: 'new tab',
}
/** @type {Record<string, Row['tone']>} */
const TONES = { VERDICT_NO_CHANGE: 'warn', VERDICT_CHANGED: 'good', VERDICT_NAVIGATED: 'good', VERDICT_DIALOG: 'warn', VERDICT_NEW_TAB: 'good' }
/** @type {Record<string, string>} */
const DELIVERED = {
  DELIVERED_ALL: 'the element received the whole action', DELIVERED_PART: 'the element received a part of the action',
  DELIVERED_NONE: 'the element received nothing, or that is unknown',
}
/** @type {Record<string, string>} */
const ACTIONS = {
  TIMELINE_ACTION_PAUSED: 'paused', TIMELINE_ACTION_RESUMED: 'resumed', TIMELINE_ACTION_TAKEN_OVER: 'took over', TIMELINE_ACTION_HANDED_BACK: 'handed back',
}
/** @type {Record<string, string>} */
const METHODS = {
  Interact: 'act', FillForm: 'form', Navigate: 'go to', GoBack: 'back', GoForward: 'forward', Reload: 'reload', OpenTab: 'open', CloseTab: 'close',
  AnswerDialog: 'answer', Evaluate: 'script',
}

/**
 * The rows of an entry: one for each step of a turn, else one.
 * @param {Entry} e
 * @returns {Row[]}
 */
export function rowsOf(e) {
  const steps = e.turn?.steps || []
  if (steps.length === 0) return [rowOf(e)]
  return steps.map((step, i) => stepRow(e, step, i, steps.length))
}

/**
 * A client's name for the eye: terminals name themselves by a long number, of which the beginning tells them apart.
 * @param {string} client
 */
export const nameOf = client => client.replace(/^([a-z]+)-([0-9a-f]{4})[0-9a-f]{12,}$/, '$1 $2')

/** @param {string | undefined} enumName @param {string} prefix */
const plain = (enumName, prefix) => (enumName || '').replace(prefix, '').replaceAll('_', ' ').toLowerCase()

/**
 * What all rows of an entry have.
 * @param {Entry} e
 * @param {number} i
 * @returns {Row}
 */
function base(e, i) {
  return {
    key: `${e.id}.${i}`, id: Number(e.id), part: i, time: Date.parse(e.time || '') || 0, group: 'page', label: '', what: '', tone: '', badge: '', second: '',
    client: nameOf(e.client || ''), took: '', cost: '', more: [],
    end: (Date.parse(e.time || '') || 0) + Math.ceil(1000 * Number.parseFloat(e.duration || '0')),
    revisions: e.turn ? { from: e.revisionFrom || '', to: e.revisionTo || '', epoch: e.epoch || '' } : undefined,
  }
}

/**
 * A step of a turn. The last one has what is said of the whole turn.
 * @param {Entry} e
 * @param {Step} step
 * @param {number} i
 * @param {number} all
 */
function stepRow(e, step, i, all) {
  const row = base(e, i)
  Object.assign(row, { group: 'act', label: (step.kind || 'act').replaceAll('_', ' '), what: whatOf(step), box: step.box, point: step.point })
  if (step.error) {
    Object.assign(row, { tone: 'bad', badge: step.reason ? plain(step.reason, '') : 'failed', second: step.error })
  } else if (!step.ok && e.state === 'TIMELINE_STATE_DONE') {
    Object.assign(row, { tone: 'quiet', badge: 'not done' })
  } else {
    row.badge = step.ok ? 'done' : ''
  }
  if (step.healed) row.second ||= 'on the element that the page rendered in its place'
  if (i === all - 1) closing(e, row)
  row.more = [...stepDetails(step), ...details(e)]
  return row
}

/**
 * What became of a turn, said in a row.
 * @param {Entry} e
 * @param {Row} row
 */
function closing(e, row) {
  stateOf(e, row)
  const turn = e.turn || {}
  if (!row.tone && turn.verdict) {
    row.badge = VERDICTS[turn.verdict] || ''
    row.tone = TONES[turn.verdict] || ''
  }
  const said = [diffOf(turn), ...(turn.outcome || []).map(o => `${plain(o.kind, 'OUTCOME_KIND_')}: ${o.text || ''}${o.gone ? ' (gone)' : ''}`)]
  if (turn.newTabId) said.push(`opened tab ${turn.newTabId}`)
  row.second = [row.second, ...said].filter(Boolean).join(' · ')
  row.took = tookOf(e)
  row.cost = costOf(e)
}

/**
 * How far a call is, if it is not simply done.
 * @param {Entry} e
 * @param {Row} row
 */
function stateOf(e, row) {
  if (e.state === 'TIMELINE_STATE_WAITING') Object.assign(row, { tone: 'warn', badge: 'waiting: paused' })
  if (e.state === 'TIMELINE_STATE_RUNNING') Object.assign(row, { tone: 'busy', badge: 'running' })
  if (e.state === 'TIMELINE_STATE_FAILED') Object.assign(row, { tone: 'bad', badge: plain(e.reason, '') || 'failed', second: row.second || e.error || '' })
}

/** @param {{added?: number, removed?: number, changed?: number}} turn */
const diffOf = turn => turn.added || turn.removed || turn.changed ? `+${turn.added || 0} −${turn.removed || 0} ~${turn.changed || 0}` : ''

/** @param {Entry} e */
const costOf = e => Number(e.tokens) ? `${e.tokensEstimated ? '≈ ' : ''}${count(e.tokens, 'token')}` : ''

/** @param {Entry} e */
function tookOf(e) {
  const seconds = parseFloat(e.duration || '')
  if (!seconds) return ''
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`
}

/**
 * The target of a step, as a person would say it: the element if it is known, else what the caller named.
 * @param {Step} step
 */
function whatOf(step) {
  const element = step.name || step.role ? [step.name ? `“${step.name}”` : '', step.role || ''].filter(Boolean).join(' ') : ''
  const how = step.key ? step.key : step.length ? count(step.length, 'character') : ''
  return [how, element || targetOf(step.target)].filter(Boolean).join(how && element ? ' into ' : ' ') || step.summary || ''
}

/** @param {import('../types').Target | undefined} t */
export function targetOf(t) {
  if (!t) return ''
  const parts = []
  if (t.ref !== undefined) parts.push(`ref ${t.ref}`)
  if (t.role || t.name) parts.push([t.role, t.name && `“${t.name}”`].filter(Boolean).join(' '))
  for (const [name, value] of Object.entries({ text: t.text, label: t.label, placeholder: t.placeholder, 'test id': t.testId, selector: t.selector, within: t.within })) {
    if (value) parts.push(`${name} “${value}”`)
  }
  if (t.x !== undefined) parts.push(`at ${t.x}, ${t.y}`)
  return parts.join(' ')
}

/** @param {Step} step @returns {[string, string][]} */
function stepDetails(step) {
  return kept([
    ['Target as named', targetOf(step.target)],
    ['Element', [step.ref !== undefined ? `[${step.ref}]` : '', step.role, step.name && `“${step.name}”`].filter(Boolean).join(' ')],
    ['Result', step.error || step.summary || ''],
    ['Delivered', DELIVERED[step.delivered || ''] || ''],
    ['Value afterwards', step.value || ''],
    ['Pointer', step.point ? `${Math.round(step.point.x || 0)}, ${Math.round(step.point.y || 0)}` : ''],
  ])
}

/** @param {Entry} e @returns {[string, string][]} */
function details(e) {
  return kept([
    ['Call', [e.method, Number(e.count) > 1 ? `× ${e.count}` : ''].filter(Boolean).join(' ')],
    ['Client', [e.client, e.owner && `(${e.owner})`].filter(Boolean).join(' ')],
    ['Time', e.time ? timeOf(new Date(e.time)) + (tookOf(e) ? `, took ${tookOf(e)}` : '') : ''],
    ['Answer', costOf(e)],
    ['Revision', e.revisionTo ? `${e.revisionFrom || 0} to ${e.revisionTo}` : ''],
    ['Error', e.error ? `${e.error}${e.reason ? ` (${e.reason})` : ''}` : ''],
  ])
}

/** @param {[string, string][]} pairs @returns {[string, string][]} */
const kept = pairs => pairs.filter(([, value]) => value)

/**
 * The row of an entry that has no steps.
 * @param {Entry} e
 */
function rowOf(e) {
  const row = base(e, 0)
  row.more = details(e)
  row.took = tookOf(e)
  row.cost = costOf(e)
  const times = Number(e.count) > 1 ? ` × ${e.count}` : ''
  if (e.turn || (e.method && !e.read && !e.status)) {
    Object.assign(row, { group: 'act', label: METHODS[e.method || ''] || e.method || 'call', what: shortURL(e.turn?.url) + times })
    closing(e, row)
    if (e.turn?.url) row.more.unshift(['URL', e.turn.url])
  } else if (e.read) {
    const read = e.read
    Object.assign(row, {
      group: 'read', label: 'read', tone: 'quiet', what: `${e.method || 'page'}${times}`,
      second: [read.elements ? count(read.elements, 'element') : '', read.incremental ? 'changes only' : ''].filter(Boolean).join(', '),
    })
    stateOf(e, row)
  } else {
    ofPage(e, row, times)
  }
  return row
}

/**
 * What the page did, or what became of the tab.
 * @param {Entry} e
 * @param {Row} row
 * @param {string} times
 */
function ofPage(e, row, times) {
  const { navigation: n, dialog, download, popup, problem, request, status, control } = e
  if (n) {
    Object.assign(row, { label: n.sameDocument ? 'url' : 'page', what: n.title || shortURL(n.url), second: n.title ? shortURL(n.url) : '', badge: n.httpStatus ? `HTTP ${n.httpStatus}` : '' })
    if ((n.httpStatus || 0) >= 400) row.tone = 'bad'
    row.more.unshift(['URL', n.url || ''])
  } else if (dialog) {
    const answer = plain(dialog.answer, 'DIALOG_ANSWER_')
    Object.assign(row, { label: 'dialog', what: `${plain(dialog.type, 'DIALOG_TYPE_')}: ${dialog.message || 'no text'}`, badge: answer || 'waits for an answer', tone: answer ? '' : 'warn' })
  } else if (download) {
    const state = plain(download.state, 'DOWNLOAD_STATE_')
    Object.assign(row, { label: 'download', what: download.suggestedFilename || download.url || '', badge: state, tone: state === 'canceled' ? 'bad' : '', second: download.path || download.reason || '' })
  } else if (popup) {
    Object.assign(row, { label: 'popup', what: `tab ${popup.tabId || ''}`, second: popup.url || '' })
  } else if (problem) {
    Object.assign(row, { group: 'problem', label: problem.level === 'warning' ? 'warning' : 'error', tone: problem.level === 'warning' ? 'warn' : 'bad', what: (problem.text || '') + times, second: placeOf(problem) })
    row.more.unshift(['Message', problem.text || ''], ['Place', placeOf(problem)])
  } else if (request) {
    Object.assign(row, { group: 'problem', label: 'request', tone: 'bad', what: `${request.level || 'GET'} ${request.url || ''}${times}`, badge: request.httpStatus ? `HTTP ${request.httpStatus}` : 'failed', second: request.failure || '' })
    row.more.unshift(['URL', request.url || ''], ['Failure', request.failure || ''])
  } else if (status) {
    Object.assign(row, { label: 'tab', what: `${status.reason || plain(status.status, 'TAB_STATUS_')}`, tone: status.status === 'TAB_STATUS_CRASHED' ? 'bad' : '' })
  } else if (control) {
    const of = control.client ? ` ${control.client}` : control.action === 'TIMELINE_ACTION_PAUSED' || control.action === 'TIMELINE_ACTION_RESUMED' ? ' all clients' : ''
    Object.assign(row, { group: 'control', label: 'control', tone: 'warn', what: `${ACTIONS[control.action || ''] || 'changed'}${of}`, second: control.reason || '' })
  }
  row.more = kept(row.more)
}

/** @param {{url?: string, line?: number}} entry */
const placeOf = ({ url, line }) => url ? `${url}${line ? `:${line}` : ''}` : ''

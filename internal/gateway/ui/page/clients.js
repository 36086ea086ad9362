// @ts-check
// Who acts on the tab and what that cost, and the controls: a person can pause a client, and take over from all of them.
import { $, count, el, set, sync, write } from './dom.js'
import { nameOf } from './entry.js'

/** @typedef {import('../types').TimelineClient} TimelineClient */

/** This page's own name as a client (timelines.LivePage): what it reads is no step of anybody's work. */
export const SELF = 'live-page'

/**
 * Writes the list of clients, and who has taken over.
 * @param {TimelineClient[]} all
 * @param {string} takenOverBy
 */
export function showClients(all, takenOverBy) {
  const others = all.filter(c => c.client !== SELF && c.client)
  sync($('clients'), others.map(client => ({ key: client.client || '', client })), makeClient, (li, { client }) => fillClient(li, client))
  $('clients').hidden = others.length === 0
  const tokens = others.reduce((sum, c) => sum + Number(c.tokens || 0), 0)
  set('tokens', tokens ? count(tokens, 'token') : '')
  const over = $('over')
  over.hidden = others.length === 0 && !takenOverBy
  write(over, takenOverBy ? 'Hand back' : 'Take over')
  over.dataset.does = takenOverBy ? 'hand back' : 'take over'
  const held = others.filter(c => c.paused).length
  set('held', takenOverBy ? `${takenOverBy === SELF ? 'You have' : `${nameOf(takenOverBy)} has`} taken over: what other clients would do on this tab waits until Hand back.`
    : held ? `${count(held, 'client')} paused: what ${held === 1 ? 'it' : 'they'} would do on this tab waits until Resume.` : '')
}

/** @param {{key: string}} item */
function makeClient({ key }) {
  const li = el('li')
  const button = el('button', 'pause')
  button.type = 'button'
  button.dataset.client = key
  li.append(el('span', 'name', nameOf(key)), el('span', 'cost'), button)
  return li
}

/**
 * @param {HTMLElement} li
 * @param {TimelineClient} client
 */
function fillClient(li, client) {
  const [, cost, button] = /** @type {HTMLElement[]} */ ([...li.children])
  const parts = [`${client.tokensEstimated ? '≈ ' : ''}${count(client.tokens, 'token')}`, count(Number(client.turns || 0) + Number(client.reads || 0), 'call')]
  if (Number(client.failed)) parts.push(`${client.failed} failed`)
  write(cost, parts.join(' · '))
  li.className = client.paused ? 'paused' : ''
  write(button, client.paused ? 'Resume' : 'Pause')
  button.setAttribute('aria-label', `${client.paused ? 'Resume' : 'Pause'} ${nameOf(client.client || '')}`)
  button.dataset.does = client.paused ? 'resume' : 'pause'
}

/**
 * Lets the buttons call. A call that fails is said beside them; what it changed comes with the timeline.
 * @param {() => {client: import('./calls.js').Client, tabId: string, signal: AbortSignal} | undefined} now what the calls are made with
 */
export function control(now) {
  /** @param {string} method @param {object} request */
  const call = async (method, request) => {
    const on = now()
    if (!on) return
    set('control-why', '')
    try {
      await on.client.call(method, { tabId: on.tabId, clientId: SELF, ...request }, on.signal)
    } catch (e) {
      if (!on.signal.aborted) set('control-why', e instanceof Error ? e.message : String(e))
    }
  }
  const reason = 'a person paused this client on the live page'
  $('clients').addEventListener('click', e => {
    const button = e.target instanceof Element ? e.target.closest('button') : null
    if (!button) return
    const client = button.dataset.client
    if (button.dataset.does === 'resume') call('TimelineService/ResumeClient', { client })
    else call('TimelineService/PauseClient', { client, reason })
  })
  $('over').addEventListener('click', () => {
    if ($('over').dataset.does === 'hand back') call('TimelineService/HandBack', {})
    else call('TimelineService/TakeOver', { reason: 'a person took over on the live page' })
  })
}

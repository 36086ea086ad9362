// @ts-check
// The requests of the chosen tab in a replay: all that the recording has, those after the time of the scrubber dimmed.
import { $, count, el, inFrame, set, shortURL, sync, timeOf, write } from './dom.js'

/** @typedef {import('../types').LogEntry} LogEntry */
/** @typedef {{key: string, time: number, entry: LogEntry}} Request */

export class Network {
  /** @type {Request[]} */
  #all = []
  #now = Infinity
  #list = $('requests')
  #find = /** @type {HTMLInputElement} */ ($('find'))
  #draw = inFrame(() => this.#show())

  /** @param {(time: number) => void} chosen is told when the request began that was chosen, in milliseconds since 1970 */
  constructor(chosen) {
    this.#find.addEventListener('input', this.#draw)
    this.#list.addEventListener('click', e => {
      const li = e.target instanceof Element ? e.target.closest('li[data-key]') : null
      const request = li instanceof HTMLElement ? this.#all.find(r => r.key === li.dataset.key) : undefined
      if (request) chosen(request.time)
    })
  }

  /** @param {LogEntry[]} entries */
  show(entries) {
    this.#all = entries.map((entry, i) => ({ key: String(i), time: Date.parse(entry.at || '') || 0, entry })).sort((a, b) => a.time - b.time)
    this.#draw()
  }

  /** @param {number} now milliseconds since 1970 */
  at(now) {
    this.#now = now
    this.#draw()
  }

  clear() {
    this.#all = []
    this.#show()
  }

  #show() {
    const words = this.#find.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = this.#all.filter(({ entry }) => {
      const text = `${entry.level} ${entry.url} ${entry.httpStatus || ''} ${entry.resourceType} ${entry.failure}`.toLowerCase()
      return words.every(word => text.includes(word))
    })
    sync(this.#list, found, makeRequest, (li, request) => fillRequest(li, request, request.time > this.#now))
    set('request-count', words.length ? `${found.length} of ${count(this.#all.length, 'request')}` : count(this.#all.length, 'request'))
    this.#list.hidden = found.length === 0
    set('no-requests', this.#all.length ? 'No request has these words.' : 'The recording of this tab has no requests.').hidden = found.length > 0
  }
}

function makeRequest() {
  const li = el('li')
  const button = el('button', 'request')
  button.type = 'button'
  button.append(el('time', 'when'), el('span', 'label'), el('span', 'what'), el('span', 'verdict'), el('span', 'meta'))
  li.append(button)
  return li
}

/**
 * @param {HTMLElement} li
 * @param {Request} request
 * @param {boolean} later
 */
function fillRequest(li, { time, entry }, later) {
  const [when, method, url, status, meta] = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (li.firstElementChild).children])
  const bad = Boolean(entry.failure) || (entry.httpStatus || 0) >= 400
  li.className = `${bad ? 'bad' : ''} ${later ? 'later' : ''}`
  write(when, timeOf(time))
  write(method, entry.level || 'GET')
  write(url, shortURL(entry.url))
  write(status, entry.httpStatus ? String(entry.httpStatus) : entry.failure || 'no answer')
  write(meta, [entry.resourceType, entry.durationMs ? `${Math.round(entry.durationMs)} ms` : ''].filter(Boolean).join(' · '))
}

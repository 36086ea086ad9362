// @ts-check
// The timeline of the chosen tab: what clients did, what they read, and what the page did by itself, oldest first. It stays at its end while
// nobody scrolls up.
import { rowsOf } from './entry.js'
import { changeText } from './changes.js'
import { $, count, el, inFrame, set, sync, timeOf, write } from './dom.js'

/** @typedef {import('../types').Entry} Entry */
/** @typedef {import('../types').Row} Row */

const MOST = 500 // rows in the document; the daemon keeps about as many
const SAID_EVERY = 5000 // milliseconds between two announcements

/** @type {Record<string, (row: Row) => boolean>} */
const FILTERS = {
  all: () => true,
  steps: row => row.group !== 'read',
  act: row => row.group === 'act' || row.group === 'control',
  problems: row => row.tone === 'bad' || row.group === 'problem',
}

export class Timeline {
  /** @type {Map<string, Entry>} by id */
  #entries = new Map()
  /** @type {Row[]} */
  #rows = []
  #current = ''
  #open = new Set()
  #list = $('steps')
  #box = $('timeline-box')
  #filter = /** @type {HTMLSelectElement} */ ($('filter'))
  #pointed
  #unsaid = { steps: 0, failed: 0 }
  #said = 0
  #timer = 0
  #follows = true
  #render = inFrame(() => this.#show())
  // now is the time of a replay, in milliseconds since 1970; undefined: the tab is live. diffs are what steps changed, by the keys of their rows.
  /** @type {number | undefined} */
  #now
  /** @type {Map<string, string>} */
  #diffs = new Map()
  #chosen
  #seen = ''

  /**
   * @param {(row: Row | undefined) => void} pointed is told which row is pointed at, or has the focus
   * @param {(row: Row) => void} chosen is told which row is opened
   */
  constructor(pointed, chosen) {
    this.#pointed = pointed
    this.#chosen = chosen
    this.#filter.addEventListener('change', this.#render)
    this.#list.addEventListener('click', e => this.#toggle(this.#keyOf(e.target)))
    this.#list.addEventListener('keydown', e => this.#key(e))
    this.#list.addEventListener('focusin', e => this.#point(this.#keyOf(e.target), true))
    this.#list.addEventListener('pointerover', e => this.#point(this.#keyOf(e.target), false))
    this.#list.addEventListener('pointerleave', () => this.#point(document.activeElement && this.#list.contains(document.activeElement) ? this.#current : '', false))
    this.#list.addEventListener('focusout', () => this.#point('', false))
    this.#box.addEventListener('scroll', () => {
      this.#follows = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 40
      if (this.#follows) $('newest').hidden = true
    }, { passive: true })
    $('newest').addEventListener('click', () => this.toEnd())
  }

  /** @param {EventTarget | null} target */
  #keyOf(target) {
    const li = target instanceof Element ? target.closest('li[data-key]') : null
    return li instanceof HTMLElement ? li.dataset.key || '' : ''
  }

  /** What all entries are, for the list of clients. */
  get entries() { return this.#entries.values() }

  /** The rows that are shown. */
  get rows() { return this.#rows }

  /** The rows of steps, whether they are shown or not. */
  get steps() { return this.#all().filter(row => row.group === 'act') }

  /**
   * Is at a time of a replay: rows that ended later are dimmed, and the last one before is brought into view.
   * @param {number} now milliseconds since 1970
   */
  at(now) {
    this.#now = now
    this.#follows = false
    this.#render()
  }

  /** The last row before the time of a replay. */
  get last() { return this.#now === undefined ? undefined : this.#rows.findLast(row => row.end <= (this.#now || 0)) }

  /**
   * Says what the step of a row changed.
   * @param {Row} row
   * @param {string} text
   */
  diff(row, text) {
    this.#diffs.set(row.key, text)
    this.#render()
  }

  /** @param {string} why */
  clear(why = 'Nothing has happened on this tab yet.') {
    this.#entries.clear()
    this.#open.clear()
    this.#diffs.clear()
    this.#now = undefined
    this.#current = ''
    this.#follows = true
    this.#unsaid = { steps: 0, failed: 0 }
    set('no-steps-why', why)
    this.#show() // now, as in lines.js
  }

  /**
   * Adds entries, or newer versions of them. live: they happen now, and are announced.
   * @param {Entry[]} entries
   * @param {boolean} live
   */
  add(entries, live) {
    for (const entry of entries) {
      const old = this.#entries.get(entry.id)
      if (old && Number(old.version) > Number(entry.version)) continue
      this.#entries.set(entry.id, entry)
      if (live && !old && !entry.read) this.#unsaid.steps++
      if (live && entry.state === 'TIMELINE_STATE_FAILED') this.#unsaid.failed++
    }
    if (this.#entries.size > MOST) {
      const ids = [...this.#entries.keys()].sort((a, b) => Number(a) - Number(b))
      for (const id of ids.slice(0, ids.length - MOST)) this.#entries.delete(id)
    }
    this.#render()
    this.#announce()
  }

  // announce says in words how many steps are new: at most once in some seconds, so that a busy agent does not talk without end.
  #announce() {
    if (!this.#unsaid.steps || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = 0
      this.#said = performance.now()
      const { steps, failed } = this.#unsaid
      this.#unsaid = { steps: 0, failed: 0 }
      if (steps) set('news', `${count(steps, 'new step')}${failed ? `, ${failed} failed` : ''}`)
    }, Math.max(0, this.#said + SAID_EVERY - performance.now()))
  }

  #show() {
    this.#rows = this.#all().filter(FILTERS[this.#filter.value] || FILTERS.all).slice(-MOST)
    const last = this.last
    const before = this.#list.children.length
    if (last && !this.#list.contains(document.activeElement)) this.#current = last.key
    if (!this.#rows.some(row => row.key === this.#current)) this.#current = this.#rows.at(-1)?.key || ''
    sync(this.#list, this.#rows, makeRow, (li, row) => fillRow(li, row, {
      current: row.key === this.#current, open: this.#open.has(row.key), diff: this.#diffs.get(row.key), now: row === last,
      later: this.#now !== undefined && row.end > this.#now,
    }))
    $('no-steps').hidden = this.#rows.length > 0
    this.#list.hidden = this.#rows.length === 0
    set('step-count', this.#rows.length ? count(this.#rows.length, 'line') : '')
    if (last) this.#keepInView(last)
    if (this.#follows) this.#box.scrollTop = this.#box.scrollHeight
    else if (this.#now === undefined && this.#list.children.length > before) $('newest').hidden = false
  }

  #all() { return [...this.#entries.values()].sort((a, b) => Number(a.id) - Number(b.id)).flatMap(rowsOf) }

  // keepInView scrolls to the row of the time, once for each row, so that a person can scroll away from it.
  /** @param {Row} row */
  #keepInView(row) {
    if (row.key === this.#seen) return
    this.#seen = row.key
    this.#list.children[this.#rows.indexOf(row)]?.scrollIntoView({ block: 'nearest' })
  }

  toEnd() {
    this.#follows = true
    $('newest').hidden = true
    this.#box.scrollTop = this.#box.scrollHeight
    this.#focus(this.#rows.length - 1)
  }

  /**
   * Points at a row. With keep, it becomes the one that the Tab key leads to.
   * @param {string} key
   * @param {boolean} keep
   */
  #point(key, keep) {
    if (keep && key && key !== this.#current) {
      this.#current = key
      this.#render()
    }
    this.#pointed(this.#rows.find(row => row.key === key))
  }

  /** @param {string} key */
  #toggle(key) {
    if (!key) return
    const row = this.#rows.find(row => row.key === key)
    if (!this.#open.delete(key)) {
      this.#open.add(key)
      if (row) this.#chosen(row)
    }
    this.#render()
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return
    const at = this.#rows.findIndex(row => row.key === this.#keyOf(e.target))
    const last = this.#rows.length - 1
    const next = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: last, PageDown: at + 10, PageUp: at - 10 }[e.key]
    if (next === undefined) return
    e.preventDefault()
    e.stopPropagation()
    this.#focus(Math.max(0, Math.min(last, next)))
  }

  /** Moves the focus to the current row. */
  focus() {
    const at = this.#rows.findIndex(row => row.key === this.#current)
    this.#focus(at < 0 ? this.#rows.length - 1 : at)
  }

  /** @param {number} at */
  #focus(at) {
    const button = this.#list.children[at]?.querySelector('button')
    if (!button) return
    button.focus({ preventScroll: true })
    button.scrollIntoView({ block: 'nearest' })
  }
}

/** @param {Row} row */
function makeRow(row) {
  const li = el('li')
  const button = el('button', 'step')
  button.type = 'button'
  const line = el('span', 'line')
  line.append(el('span', 'label', row.label), el('span', 'what'), el('span', 'verdict'))
  button.append(el('time', 'when'), line, el('span', 'second'), el('span', 'meta'))
  li.append(button)
  return li
}

/**
 * @param {HTMLElement} li
 * @param {Row} row
 * @param {{current: boolean, open: boolean, diff: string | undefined, now: boolean, later: boolean}} how
 */
function fillRow(li, row, how) {
  const { current, open, diff, now, later } = how
  const button = /** @type {HTMLElement} */ (li.firstElementChild)
  const [when, line, second, meta] = /** @type {HTMLElement[]} */ ([...button.children])
  const [label, what, verdict] = /** @type {HTMLElement[]} */ ([...line.children])
  const state = JSON.stringify([row, how])
  if (li.dataset.state === state) return
  li.dataset.state = state
  li.className = `${row.group} ${row.tone}${now ? ' now' : ''}${later ? ' later' : ''}`
  if (now) button.setAttribute('aria-current', 'step')
  else button.removeAttribute('aria-current')
  button.tabIndex = current ? 0 : -1
  button.setAttribute('aria-expanded', String(open))
  write(when, row.time ? timeOf(row.time) : '')
  write(label, row.label)
  write(what, row.what)
  write(verdict, row.badge)
  write(second, row.second)
  write(meta, [row.client, row.took, row.cost].filter(Boolean).join(' · '))
  for (const old of li.querySelectorAll('dl, pre')) old.remove()
  if (open) li.append(detailsOf(row))
  if (open && diff) li.append(changeText(diff))
}

/** @param {Row} row */
function detailsOf(row) {
  const list = el('dl', 'more')
  for (const [name, value] of row.more) list.append(el('dt', '', name), el('dd', '', value))
  return list
}

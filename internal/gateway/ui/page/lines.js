// @ts-check
// The text of the page, line by line. Only the lines that can be seen are in the document, so that a page of thousands of elements costs
// as much as one of ten.
import { $, el, inFrame, set, shortURL } from './dom.js'

const HEIGHT = 24 // pixels of a line; style.css has it, too
const BEYOND = 12 // lines above and below those that can be seen
const MOST = 50000

/** @typedef {{text: string, ref: number | undefined}} Line */

export class Lines {
  /** @type {Line[]} */
  #all = []
  /** @type {Set<number>} */
  #fresh = new Set()
  #active = -1
  #box = $('lines')
  #rows = $('lines-rows')
  #told
  #draw = inFrame(() => this.#render())

  /** @param {(ref: number | undefined) => void} told is told which element is pointed at */
  constructor(told) {
    this.#told = told
    this.#box.addEventListener('scroll', this.#draw, { passive: true })
    new ResizeObserver(this.#draw).observe(this.#box)
    this.#box.addEventListener('keydown', e => this.#key(e))
    this.#box.addEventListener('focus', () => { if (this.#all.length) this.#go(Math.max(0, this.#active)) })
    this.#box.addEventListener('blur', () => told(undefined))
    this.#box.addEventListener('pointerover', e => told(this.#at(e.target)?.ref))
    this.#box.addEventListener('pointerleave', () => told(undefined))
    this.#box.addEventListener('click', e => {
      const line = this.#at(e.target)
      if (line) this.#go(this.#all.indexOf(line))
    })
  }

  /** @param {EventTarget | null} target */
  #at(target) {
    const row = target instanceof Element ? target.closest('[role=option]') : null
    return row instanceof HTMLElement ? this.#all[Number(row.dataset.at)] : undefined
  }

  /**
   * Shows a text; lines whose ref is in fresh are marked.
   * @param {string} text
   * @param {Set<number>} fresh
   */
  show(text, fresh) {
    this.#all = text.split('\n').filter(Boolean).slice(0, MOST).map(line => {
      const ref = /^\[(\d+)\] /.exec(line)
      return { text: line.replace(/^URL: (\S+)/, (_, url) => `URL: ${shortURL(url)}`), ref: ref ? Number(ref[1]) : undefined }
    })
    this.#fresh = fresh
    this.#active = Math.min(this.#active, this.#all.length - 1)
    $('no-lines').hidden = this.#all.length > 0
    this.#box.hidden = this.#all.length === 0
    this.#draw()
    if (this.#active < 0) set('line-full', '')
  }

  /** @param {string} why */
  clear(why = 'Nothing has been read yet.') {
    this.show('', new Set())
    this.#render() // now: a window in the background has no frames, and what is cleared must not stay in it
    set('no-lines', why)
    set('counts', '')
  }

  #render() {
    const first = Math.max(0, Math.floor(this.#box.scrollTop / HEIGHT) - BEYOND)
    const last = Math.min(this.#all.length, Math.ceil((this.#box.scrollTop + this.#box.clientHeight) / HEIGHT) + BEYOND)
    this.#rows.style.height = `${this.#all.length * HEIGHT}px`
    const wanted = []
    for (let i = first; i < last; i++) wanted.push(i)
    if (this.#active >= 0 && (this.#active < first || this.#active >= last)) wanted.push(this.#active) // aria-activedescendant names it
    wanted.forEach((at, i) => this.#fill(/** @type {HTMLElement} */ (this.#rows.children[i] || this.#rows.appendChild(el('div'))), at))
    while (this.#rows.children.length > wanted.length) this.#rows.lastElementChild?.remove()
    if (this.#active >= 0) this.#box.setAttribute('aria-activedescendant', `line-${this.#active}`)
    else this.#box.removeAttribute('aria-activedescendant')
  }

  /**
   * Takes a line apart for the eye: [ref] text (detail). Its text stays the same.
   * @param {HTMLElement} e
   * @param {number} at
   */
  #fill(e, at) {
    const { text, ref } = this.#all[at]
    e.id = `line-${at}`
    e.dataset.at = String(at)
    e.setAttribute('role', 'option')
    e.setAttribute('aria-setsize', String(this.#all.length))
    e.setAttribute('aria-posinset', String(at + 1))
    e.setAttribute('aria-selected', String(at === this.#active))
    e.style.top = `${at * HEIGHT}px`
    e.className = ref !== undefined && this.#fresh.has(ref) ? 'fresh' : ref === undefined ? 'head' : ''
    if (e.dataset.line === text) return
    e.dataset.line = text
    const end = text.lastIndexOf(' (')
    const head = ref === undefined ? 0 : text.indexOf('] ') + 1
    if (ref === undefined || end < head) e.textContent = text
    else e.replaceChildren(el('span', 'ref', text.slice(0, head)), el('span', 'name', text.slice(head, end)), el('span', 'detail', text.slice(end)))
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const page = Math.max(1, Math.floor(this.#box.clientHeight / HEIGHT) - 1)
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -this.#all.length, End: this.#all.length }[e.key]
    if (!by || e.ctrlKey || e.metaKey || e.altKey) return
    e.preventDefault()
    e.stopPropagation()
    this.#go(this.#active + by)
  }

  /** @param {number} at */
  #go(at) {
    if (this.#all.length === 0) return
    this.#active = Math.max(0, Math.min(this.#all.length - 1, at))
    const top = this.#active * HEIGHT
    if (top < this.#box.scrollTop) this.#box.scrollTop = top
    else if (top + HEIGHT > this.#box.scrollTop + this.#box.clientHeight) this.#box.scrollTop = top + HEIGHT - this.#box.clientHeight
    this.#draw()
    set('line-full', this.#all[this.#active].text)
    this.#told(this.#all[this.#active].ref)
  }
}

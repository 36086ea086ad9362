// @ts-check
// The scrubber of a replay: at which time of the recording the page is, and what moves it. It reads nothing.
import { $, el, set, write } from './dom.js'

const FRAME = 100 // milliseconds between two moves while it plays
/** @type {Record<string, number>} milliseconds that a key moves by */
const KEYS = { ArrowRight: 1000, ArrowUp: 1000, ArrowLeft: -1000, ArrowDown: -1000, PageUp: 10000, PageDown: -10000 }

/**
 * A time since the start, such as 1:02.5.
 * @param {number} ms
 */
export function clockOf(ms) {
  const tenths = Math.floor(ms / 100)
  const [s, m, h] = [Math.floor(tenths / 10) % 60, Math.floor(tenths / 600) % 60, Math.floor(tenths / 36000)]
  const seconds = `${String(s).padStart(2, '0')}.${tenths % 10}`
  return h ? `${h}:${String(m).padStart(2, '0')}:${seconds}` : `${m}:${seconds}`
}

export class Scrubber {
  #length = 0
  #now = 0
  /** @type {number[]} when steps ended, ascending */
  #steps = []
  #timer = 0
  #range = /** @type {HTMLInputElement} */ ($('scrub'))
  #speed = /** @type {HTMLSelectElement} */ ($('speed'))
  #moved

  /** @param {(now: number) => void} moved is told each new time, in milliseconds */
  constructor(moved) {
    this.#moved = moved
    this.#range.addEventListener('input', () => { this.pause(); this.#go(Number(this.#range.value)) })
    this.#range.addEventListener('keydown', e => {
      const by = KEYS[e.key]
      if (!by || e.ctrlKey || e.metaKey || e.altKey) return
      e.preventDefault()
      this.seek(this.#now + (e.shiftKey ? by / 10 : by))
    })
    $('play').addEventListener('click', () => this.toggle())
    $('step-back').addEventListener('click', () => this.step(-1))
    $('step-on').addEventListener('click', () => this.step(1))
  }

  get now() { return this.#now }

  /**
   * Begins with a recording of a length, at a time.
   * @param {number} length
   * @param {number} at
   */
  open(length, at) {
    this.#length = Math.max(0, length)
    this.#range.max = String(this.#length)
    this.#go(at)
  }

  /**
   * Says when steps ended.
   * @param {number[]} times
   */
  marks(times) {
    this.#steps = [...new Set(times.map(t => Math.max(0, Math.min(this.#length, t))))].sort((a, b) => a - b)
    $('scrub-marks').replaceChildren(...this.#steps.map(t => {
      const mark = el('span')
      mark.style.left = `${100 * t / (this.#length || 1)}%`
      return mark
    }))
    this.#say()
  }

  /** @param {number} ms */
  seek(ms) {
    this.pause()
    this.#go(ms)
  }

  /**
   * Goes to the next step, or to the one before.
   * @param {1 | -1} by
   */
  step(by) {
    const to = by > 0 ? this.#steps.find(t => t > this.#now) : this.#steps.findLast(t => t < this.#now)
    if (to !== undefined) this.seek(to)
  }

  /** Plays, or stops to. At the end it plays from the start. */
  toggle() {
    if (this.#timer) return this.pause()
    if (this.#now >= this.#length) this.#go(0)
    let last = performance.now()
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#go(this.#now + (now - last) * Number(this.#speed.value))
      last = now
      if (this.#now >= this.#length) this.pause()
    }, FRAME)
    write($('play'), 'Pause')
  }

  pause() {
    clearInterval(this.#timer)
    this.#timer = 0
    write($('play'), 'Play')
  }

  /** @param {number} ms */
  #go(ms) {
    this.#now = Math.max(0, Math.min(this.#length, ms))
    this.#range.value = String(Math.round(this.#now))
    this.#say()
    this.#moved(this.#now)
  }

  #say() {
    const past = this.#steps.filter(t => t <= this.#now).length
    const where = `${clockOf(this.#now)} of ${clockOf(this.#length)}`
    set('scrub-at', where)
    set('scrub-step', this.#steps.length ? `step ${past} of ${this.#steps.length}` : '')
    this.#range.setAttribute('aria-valuetext', this.#steps.length ? `${where}, step ${past} of ${this.#steps.length}` : where)
  }
}

// @ts-check
// The picture of the chosen tab: taken again when the page changed, at most once a second, and only while it can be seen. Boxes and the place of
// a click are drawn over it.
import { $, set, timeOf } from './dom.js'
import { throttled } from './follow.js'
import { msOf } from './replay.js'
import { clockOf } from './scrub.js'

/** @typedef {import('./calls.js').Client} Client */
/** @typedef {import('../types').Marked} Marked */

const INTERVAL = 1000
const LIMIT = 8000

export class Picture {
  #ask = () => {}
  #late = false
  /** @type {string | undefined} */
  #url
  /** @type {Marked | undefined} */
  #marked
  #image = /** @type {HTMLImageElement} */ ($('picture'))
  // width is how many CSS pixels of the page the picture shows; while another one is loaded, that of the one before. pageWidth is what the daemon
  // said of it: a recorded picture is smaller than the page.
  #width = 0
  #pageWidth = 0
  // ratio is how many pixels of the picture make one CSS pixel of the page.
  #ratio = 1
  #frame = $('frame')
  #refs = /** @type {HTMLInputElement} */ ($('marks'))

  constructor() {
    new IntersectionObserver(entries => {
      if (this.#late && entries.at(-1)?.isIntersecting) this.#ask()
    }).observe(this.#frame)
    this.#refs.addEventListener('change', () => this.#ask())
    $('shoot').addEventListener('click', () => this.#ask())
    this.#image.addEventListener('load', () => this.#draw())
    new ResizeObserver(() => this.#draw()).observe(this.#image)
  }

  /**
   * Takes pictures of a tab until the signal is aborted.
   * @param {Client} client
   * @param {string} id
   * @param {AbortSignal} signal
   */
  follow(client, id, signal) {
    const shooter = throttled(() => this.#take(client, id, signal), INTERVAL, signal, () => this.#due())
    this.#ask = shooter.ask
    signal.addEventListener('abort', () => { this.#ask = () => {} }, { once: true })
    this.#ask()
  }

  /**
   * Shows recorded pictures until the signal is aborted. The function that it returns shows the one of now.
   * @param {Client} client
   * @param {string} id
   * @param {string[]} times when there are pictures, as protojson writes durations
   * @param {() => number} now
   * @param {AbortSignal} signal
   */
  replay(client, id, times, now, signal) {
    let shown = -1
    const index = () => Math.max(0, times.findLastIndex(t => msOf(t) <= now()))
    const shooter = throttled(async () => {
      const i = index()
      if (i === shown) return
      shown = i
      await this.#take(client, id, signal, { at: { offset: times[i] } }, `at ${clockOf(msOf(times[i]))}`)
    }, 0, signal, () => this.#due())
    this.#ask = shooter.ask
    signal.addEventListener('abort', () => { this.#ask = () => {} }, { once: true })
    if (times.length === 0) set('no-picture', 'The recording of this tab has no pictures.')
    else this.#ask()
    return {
      show: () => { if (times.length) this.#ask() },
      // isOf reports whether the picture is the one that is shown at a time, too.
      isOf: (/** @type {number} */ time) => times.length > 0 && index() === Math.max(0, times.findLastIndex(t => msOf(t) <= time)),
    }
  }

  // due says whether the picture can be seen. If not, it is late, and taken when it can be.
  #due() {
    const { top, bottom, width } = this.#frame.getBoundingClientRect()
    this.#late = width === 0 || bottom <= 0 || top >= innerHeight
    return !this.#late
  }

  /** Says that the page looks otherwise. */
  changed() { this.#ask() }

  clear() {
    this.#show(undefined)
    this.mark(undefined)
    set('no-picture', 'No picture yet.')
    set('taken', '')
  }

  /**
   * Shows a box, and where the pointer was; nothing without an argument.
   * @param {Marked | undefined} marked
   */
  mark(marked) {
    this.#marked = marked
    this.#draw()
    set('marked', marked?.says || '')
  }

  #draw() {
    const { naturalWidth, clientWidth, hidden } = this.#image
    if (naturalWidth) this.#width = this.#pageWidth || naturalWidth / this.#ratio
    const scale = clientWidth / (this.#width || 1)
    const box = hidden || !this.#width ? undefined : this.#marked?.box
    const point = hidden || !this.#width ? undefined : this.#marked?.point
    const at = $('box'), spot = $('spot')
    at.hidden = !box
    if (box) {
      const px = (/** @type {number | undefined} */ n) => `${(n || 0) * scale}px`
      Object.assign(at.style, { left: px(box.x), top: px(box.y), width: px(box.width), height: px(box.height) })
    }
    spot.hidden = !point
    if (point) Object.assign(spot.style, { left: `${(point.x || 0) * scale}px`, top: `${(point.y || 0) * scale}px` })
  }

  /**
   * @param {Client} client
   * @param {string} id
   * @param {AbortSignal} signal
   * @param {object} [of] the moment of a recorded picture
   * @param {string} [says]
   */
  async #take(client, id, signal, of, says) {
    const marks = this.#refs.checked && !of
    try {
      const shot = await client.call('PageService/Screenshot', { tabId: id, format: 'IMAGE_FORMAT_JPEG', quality: 70, marks, ...of }, signal, LIMIT)
      if (signal.aborted) return
      this.#pageWidth = Number(shot.pageWidth || 0)
      this.#ratio = Number(shot.pixelRatio || 1)
      this.#show(new Blob([decode(shot.image || '')], { type: 'image/jpeg' }))
      this.#image.alt = `What the page of tab ${id} looks like${marks ? ', with a number at each element that can be acted on' : ''}. The page text says the same in words.`
      set('taken', says || timeOf(Date.now()))
    } catch (e) {
      if (signal.aborted) return
      this.#show(undefined)
      set('no-picture', `There is no picture: ${e instanceof Error ? e.message : e}`)
    }
  }

  /** @param {Blob | undefined} blob */
  #show(blob) {
    if (this.#url) URL.revokeObjectURL(this.#url)
    this.#url = blob && URL.createObjectURL(blob)
    if (this.#url) this.#image.src = this.#url
    else this.#image.removeAttribute('src')
    this.#image.hidden = !this.#url
    $('no-picture').hidden = Boolean(this.#url)
    this.#draw()
  }
}

/** @param {string} base64 */
function decode(base64) {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

// The picture of the chosen tab: taken again when the page changed, at most once a second, and only while it can be seen.
import { $, set, timeOf } from './show.js'
import { throttled } from './follow.js'

const INTERVAL = 1000
const LIMIT = 8000

export class Picture {
  #ask = () => {}
  #late = false
  #url

  constructor() {
    new IntersectionObserver(entries => {
      if (this.#late && entries.at(-1).isIntersecting) this.#ask()
    }).observe($('frame'))
    $('marks').addEventListener('change', () => this.#ask())
    $('shoot').addEventListener('click', () => this.#ask())
  }

  // follow takes pictures of a tab until the signal is aborted.
  follow(client, id, signal) {
    const shooter = throttled(() => this.#take(client, id, signal), INTERVAL, signal, () => this.#due())
    this.#ask = shooter.ask
    signal.addEventListener('abort', () => { this.#ask = () => {} }, { once: true })
    this.#ask()
  }

  // due says whether the picture can be seen. If not, it is late, and taken when it can be.
  #due() {
    const { top, bottom, width } = $('frame').getBoundingClientRect()
    this.#late = width === 0 || bottom <= 0 || top >= innerHeight
    return !this.#late
  }

  // changed says that the page looks otherwise.
  changed() { this.#ask() }

  clear() {
    this.#show(undefined)
    set('no-picture', 'No picture yet.')
    set('taken', '')
  }

  async #take(client, id, signal) {
    const marks = $('marks').checked
    try {
      const shot = await client.call('PageService/Screenshot', { tabId: id, format: 'IMAGE_FORMAT_JPEG', quality: 70, marks }, signal, LIMIT)
      if (signal.aborted) return
      this.#show(new Blob([decode(shot.image || '')], { type: 'image/jpeg' }))
      $('picture').alt = `What the page of tab ${id} looks like${marks ? ', with a number at each element that can be acted on' : ''}. The lines say the same in words.`
      set('taken', `taken ${timeOf(new Date())}`)
    } catch (e) {
      if (signal.aborted) return
      this.#show(undefined)
      set('no-picture', `There is no picture: ${e.message}`)
    }
  }

  #show(blob) {
    if (this.#url) URL.revokeObjectURL(this.#url)
    this.#url = blob && URL.createObjectURL(blob)
    const img = $('picture')
    if (this.#url) img.src = this.#url
    else img.removeAttribute('src')
    img.hidden = !this.#url
    $('no-picture').hidden = Boolean(this.#url)
  }
}

function decode(base64) {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

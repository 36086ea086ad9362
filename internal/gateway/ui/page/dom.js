// @ts-check
// Writing the document. All that pages say comes in as text (textContent), never as markup.

/**
 * The element with an id of index.html.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export const $ = id => {
  const e = document.getElementById(id)
  if (!e) throw new Error(`the page has no element ${id}`)
  return /** @type {T} */ (e)
}

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, className, text) {
  const e = document.createElement(tag)
  if (className) e.className = className
  if (text !== undefined) e.textContent = text
  return e
}

/**
 * Writes only what is another text, so that nothing is read out twice and no selection is lost.
 * @param {Element} e
 * @param {string} text
 */
export function write(e, text) {
  if (e.textContent !== text) e.textContent = text
}

/**
 * The same for an id.
 * @param {string} id
 * @param {string} text
 */
export function set(id, text) {
  const e = $(id)
  write(e, text)
  return e
}

/**
 * Brings the children of a list in line with wanted items: one child for each key, in their order, and no other. Children that stay are
 * moved only when they must be, so that the focus stays.
 * @template {{key: string}} T
 * @param {HTMLElement} list
 * @param {T[]} wanted
 * @param {(item: T) => HTMLElement} make
 * @param {(child: HTMLElement, item: T) => void} fill
 */
export function sync(list, wanted, make, fill) {
  /** @type {Map<string | undefined, HTMLElement>} */
  const old = new Map()
  for (const child of /** @type {Iterable<HTMLElement>} */ (list.children)) old.set(child.dataset.key, child)
  const keys = new Set(wanted.map(item => item.key))
  for (const [key, child] of old) if (!keys.has(key || '')) child.remove()
  wanted.forEach((item, i) => {
    const child = old.get(item.key) || make(item)
    child.dataset.key = item.key
    fill(child, item)
    if (list.children[i] !== child) list.insertBefore(child, list.children[i] || null)
  })
}

/**
 * A function that runs work in the next frame, once, however often it is called until then.
 * @param {() => void} work
 */
export function inFrame(work) {
  let planned = false
  return () => {
    if (planned) return
    planned = true
    requestAnimationFrame(() => { planned = false; work() })
  }
}

const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

/** @param {Date | number} at */
export const timeOf = at => clock.format(at)

// Parameters of URLs that are secrets by their names, as internal/telemetry/har has them.
const SECRET = /auth|token|secret|password|passwd|pwd|session|cookie|credential|signature|api[-_]?key|csrf|xsrf|jwt|^(key|sig|sid|code|pass|otp|pin|state)$/i

/**
 * A URL for the eye: of a data: URL, its type; of others, *** for the values of parameters that are secrets by their names, as the timeline has them.
 * Somebody may look over the shoulder.
 * @param {string | undefined} url
 */
export const shortURL = (url = '') => url.startsWith('data:') ? `${url.slice(0, Math.max(5, url.indexOf(',')))}…`
  : url.replace(/([?&#/])([^?&#/=]+)=([^&#]+)/g, (all, before, name) => {
    let plain = name
    try { plain = decodeURIComponent(name) } catch { return `${before}${name}=***` }
    return SECRET.test(plain) ? `${before}${name}=***` : all
  })

/**
 * @param {number | string | undefined} n
 * @param {string} what
 */
export const count = (n, what) => `${Number(n || 0).toLocaleString('en')} ${what}${Number(n) === 1 ? '' : 's'}`

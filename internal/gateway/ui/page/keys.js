// @ts-check
// Keys, and the choice of light and dark. A single key does something only while no field has the focus, and can be switched off (WCAG 2.1.4).
import { $, set } from './dom.js'

/** @param {string} key @param {string} value */
function keep(key, value) {
  try { sessionStorage.setItem(key, value) } catch { /* then until the page is loaded again */ }
}
/** @param {string} key */
function kept(key) {
  try { return sessionStorage.getItem(key) || '' } catch { return '' }
}

const THEMES = ['auto', 'light', 'dark']

/** @param {string} theme */
function setTheme(theme) {
  const now = THEMES.includes(theme) ? theme : 'auto'
  document.documentElement.dataset.theme = now
  set('theme', `Theme: ${now}`)
  if (now !== (kept('domtap.theme') || 'auto')) keep('domtap.theme', now)
}

/** The next of the themes. */
export function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || 'auto') + 1) % THEMES.length])
}

/**
 * Begins to listen for keys.
 * @param {Record<string, () => void>} does what each key does
 */
export function listen(does) {
  const dialog = /** @type {HTMLDialogElement} */ ($('keys'))
  const single = /** @type {HTMLInputElement} */ ($('single'))
  setTheme(kept('domtap.theme'))
  single.checked = kept('domtap.keys') !== 'off'
  single.addEventListener('change', () => keep('domtap.keys', single.checked ? 'on' : 'off'))
  $('theme').addEventListener('click', nextTheme)
  $('help').addEventListener('click', () => dialog.showModal())
  $('keys-close').addEventListener('click', () => dialog.close())
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || dialog.open || !single.checked) return
    if (e.target instanceof HTMLElement && e.target.closest('input:not([type=checkbox], [type=range]), select, textarea')) return
    const act = e.key === '?' ? () => dialog.showModal() : does[e.key]
    if (!act) return
    e.preventDefault()
    act()
  })
}

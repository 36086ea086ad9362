// @ts-check
'use strict'
// What is shown: a tab, a time, and a step. The step is the one that was chosen, or else the last one before the time.

const scrub = /** @type {HTMLInputElement} */ ($('scrub'))
const tabChoice = /** @type {HTMLSelectElement} */ ($('tab'))
const which = /** @type {HTMLSelectElement} */ ($('which'))
const kind = /** @type {HTMLSelectElement} */ ($('kind'))
const filter = /** @type {HTMLInputElement} */ ($('filter'))

// A key moves the time by so many milliseconds. The whole time is a multiple of it, or else the last key would seem to do nothing.
const by = trace.duration < 60_000 ? 10 : 100
const whole = Math.ceil(trace.duration / by) * by

/** @type {Tab} */
const noTab = { id: '', steps: [], states: [], lines: [], pictures: [], log: [], clients: [] }
/** @type {{tab: Tab, pages: Pages, time: number, step: Step | undefined, buttons: Map<Step, HTMLButtonElement>, list: Step[], shown: number}} */
const now = { tab: noTab, pages: new Pages(noTab), time: 0, step: undefined, buttons: new Map(), list: [], shown: -1 }

/**
 * Scrolls a list, and nothing around it, until a child is seen.
 * @param {HTMLElement} list
 * @param {HTMLElement} child
 */
function reveal(list, child) {
  const a = list.getBoundingClientRect(), b = child.getBoundingClientRect()
  if (b.top < a.top) list.scrollTop -= a.top - b.top
  else if (b.bottom > a.bottom) list.scrollTop += b.bottom - a.bottom
}

/**
 * Shows a time, and a step with it.
 * @param {number} time
 * @param {Step} [step]
 */
function show(time, step) {
  now.time = Math.min(Math.max(0, time), whole)
  const at = before(now.list, now.time)
  now.step = step ?? now.list[at]
  const says = `${clock(now.time)} of ${clock(whole)}`
  scrub.value = String(now.time)
  scrub.setAttribute('aria-valuetext', says)
  $('now').textContent = says
  for (const b of $('steps').querySelectorAll('[aria-current]')) {
    b.removeAttribute('aria-current')
    b.setAttribute('tabindex', '-1')
  }
  const b = (now.step && now.buttons.get(now.step)) ?? now.buttons.values().next().value
  b?.setAttribute('tabindex', '0')
  if (now.step) b?.setAttribute('aria-current', 'true')
  if (b) reveal($('steps'), b)
  showStep(now.step)
  for (const id of ['before', 'after']) /** @type {HTMLButtonElement} */ ($(id)).disabled = !now.step
  const place = now.step ? now.list.indexOf(now.step) : -1
  const previous = /** @type {HTMLButtonElement} */ ($('previous')), next = /** @type {HTMLButtonElement} */ ($('next'))
  previous.disabled = place <= 0
  next.disabled = place >= now.list.length - 1
  const pictures = now.tab.pictures ?? []
  showPicture(pictures[Math.max(0, before(pictures, now.time))], now.step)
  showPage()
}

function showPage() {
  const states = now.tab.states, place = Math.max(0, before(states, now.time))
  if (place === now.shown) return
  now.shown = place
  const s = states[place]
  $('page-time').textContent = s ? `Since ${clock(s.at)}, revision ${s.revision}` : 'The recording has no states.'
  $('page').textContent = s ? now.pages.text(place) : ''
}

/**
 * Chooses a step: the page as it was before, with where the step acted.
 * @param {Step | undefined} s
 * @param {boolean} [focus]
 */
function choose(s, focus) {
  if (!s) return
  show(s.at, s)
  if (focus) now.buttons.get(s)?.focus()
}

/** @param {number} steps */
const move = steps => choose(now.list[(now.step ? now.list.indexOf(now.step) : -1) + steps])

function listSteps() {
  const failed = (/** @type {Step} */ s) => Boolean(s.failed) || s.kind === 'problem' || s.kind === 'request'
  now.list = (now.tab.steps ?? []).filter(s => which.value === 'all' || (which.value === 'act' ? s.kind === 'turn' : failed(s)))
  now.buttons = new Map(now.list.map(s => [s, stepButton(s)]))
  $('steps').replaceChildren(...now.list.map(s => {
    const item = el('li', ''), b = /** @type {HTMLButtonElement} */ (now.buttons.get(s))
    b.setAttribute('tabindex', '-1')
    b.addEventListener('click', () => choose(s))
    item.append(b)
    return item
  }))
  $('no-steps').hidden = now.list.length > 0
}

const listLog = () => showLog(now.tab.log ?? [], kind.value, filter.value, time => show(time))

/** @param {number} place */
function openTab(place) {
  now.tab = trace.tabs[place] ?? now.tab
  now.pages = new Pages(now.tab)
  now.shown = -1
  listSteps()
  listLog()
  showClients(now.tab.clients ?? [])
  show(0)
}

function start() {
  const begun = new Date(trace.started).toISOString().replace('T', ' ').slice(0, 19)
  document.title = `Trace of ${begun} UTC`
  $('title').textContent = document.title
  $('about').textContent = `${took(trace.duration)}, ${trace.tabs.length} ${trace.tabs.length === 1 ? 'tab' : 'tabs'}, made by domtap ${trace.program}. The file is complete: it loads nothing.`
  const left = trace.left ?? []
  $('left').hidden = left.length === 0
  $('left').querySelector('summary')?.append(`Not in this file (${left.length})`)
  $('left').querySelector('ul')?.append(...left.map(l => el('li', '', l)))
  tabChoice.append(...trace.tabs.map(t => el('option', '', t.id)))
  $('tab-choice').hidden = trace.tabs.length < 2
  scrub.step = String(by)
  scrub.max = String(whole)
  $('keys').prepend(`In the time, the arrow keys move by ${by / 1000} s, `)
  tabChoice.addEventListener('change', () => openTab(tabChoice.selectedIndex))
  scrub.addEventListener('input', () => show(Number(scrub.value)))
  which.addEventListener('change', () => {
    listSteps()
    show(now.time, now.list.find(s => s === now.step)) // the chosen one stays where it is still listed
  })
  kind.addEventListener('change', listLog)
  filter.addEventListener('input', listLog)
  $('previous').addEventListener('click', () => move(-1))
  $('next').addEventListener('click', () => move(1))
  $('before').addEventListener('click', () => choose(now.step))
  $('after').addEventListener('click', () => now.step && show(now.step.end, now.step))
  $('steps').addEventListener('keydown', e => {
    const last = now.list.length - 1, place = now.step ? now.list.indexOf(now.step) : -1
    const to = new Map([['ArrowDown', Math.min(place + 1, last)], ['ArrowUp', Math.max(place - 1, 0)], ['Home', 0], ['End', last]]).get(e.key)
    if (to === undefined) return
    e.preventDefault()
    choose(now.list[to], true)
  })
  openTab(0)
}

start()

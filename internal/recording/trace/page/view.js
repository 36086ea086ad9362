// @ts-check
'use strict'
// Writing the document. All that pages say comes in as text (textContent), never as markup.

/**
 * The element with an id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
function $(id) {
  const e = document.getElementById(id)
  if (!e) throw new Error(`the page has no element ${id}`)
  return /** @type {T} */ (e)
}

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} className
 * @param {string} [text]
 */
function el(tag, className, text) {
  const e = document.createElement(tag)
  if (className) e.className = className
  if (text !== undefined) e.textContent = text
  return e
}

/**
 * A client's name in a list: terminals name themselves by a long number, whose beginning tells them apart.
 * @param {string | undefined} name
 */
const brief = name => name?.replace(/^(terminal)-([0-9a-f]{4})[0-9a-f]{28}$/, '$1 $2')

/**
 * The button of a step.
 * @param {Step} s
 */
function stepButton(s) {
  const b = el('button', '')
  b.type = 'button'
  const what = el('span', 'what', [brief(s.client), s.action, s.target].filter(Boolean).join(' '))
  const more = el('span', 'more')
  const part = (/** @type {string | undefined | false} */ text, tone = '') => {
    if (text) more.append(more.childNodes.length ? ' · ' : '', el('span', tone, text))
  }
  part(s.verdict)
  part(s.outcome)
  part(s.failed, 'bad')
  part(s.call && took(s.took))
  part(Boolean(s.tokens) && `${tokens(s)} tokens`)
  b.append(el('span', 'at', clock(s.at)), what, more)
  return b
}

/**
 * Shows what a step says.
 * @param {Step | undefined} s
 */
function showStep(s) {
  $('step-title').textContent = s ? `Step ${s.id}` : 'Step'
  $('step-text').textContent = s ? s.text : 'No step yet: choose a later time.'
  /** @type {[string, string | undefined | false][]} */
  const facts = !s ? [] : [
    ['Time', clock(s.at)], ['Client', s.client], ['Action', s.action], ['Target', s.target], ['Verdict', s.verdict], ['Outcome', s.outcome],
    ['Failed', s.failed], ['Duration', s.call && took(s.took)], ['Tokens', Boolean(s.tokens) && tokens(s)],
  ]
  $('facts').replaceChildren(...facts.flatMap(([name, value]) => value ? [el('dt', '', name), el('dd', '', value)] : []))
  $('diff').textContent = !s ? '' : s.gone ? 'Left out to keep the file small.' : s.diff || (s.kind === 'turn' ? 'Nothing.' : 'Not an action: it has no diff.')
}

/**
 * Shows a picture with what a step acted on.
 * @param {Picture | undefined} p
 * @param {Step | undefined} s
 */
function showPicture(p, s) {
  const image = /** @type {HTMLImageElement} */ ($('picture')), marks = $('marks')
  marks.replaceChildren()
  image.hidden = !p
  if (!p) {
    $('caption').textContent = 'No picture.'
    return
  }
  const source = `data:${p.type};base64,${p.data}`
  if (image.src !== source) image.src = source
  image.width = p.width
  image.height = p.height
  image.alt = `What the page showed at ${clock(p.at)}`
  let says = `Taken at ${clock(p.at)}.`
  const percent = (/** @type {number} */ n, /** @type {number} */ of) => `${100 * n * p.width / p.page_width / of}%`
  for (const m of s?.marks ?? []) {
    if (m.box) {
      const [x, y, width, height] = m.box, b = el('div', 'box')
      Object.assign(b.style, { left: percent(x, p.width), top: percent(y, p.height), width: percent(width, p.width), height: percent(height, p.height) })
      marks.append(b)
    }
    if (m.point) {
      const [x, y] = m.point, b = el('div', 'point')
      Object.assign(b.style, { left: percent(x, p.width), top: percent(y, p.height) })
      marks.append(b)
      says += ` Step ${s?.id} used the pointer at ${Math.round(x)}, ${Math.round(y)}.`
    }
  }
  $('caption').textContent = says
}

/** The most lines of the log that are in the document at once. */
const mostLines = 500

/**
 * Shows the lines of the log that match.
 * @param {Line[]} log
 * @param {string} kind
 * @param {string} words
 * @param {(time: number) => void} go
 */
function showLog(log, kind, words, go) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const found = log.filter(l => {
    if (kind !== 'all' && !(kind === 'problem' ? l.problem : kind === 'request' ? l.kind === 'request' : l.kind !== 'request')) return false
    const text = [l.kind, l.level, l.text, l.url, l.status, l.type, l.failure].join(' ').toLowerCase()
    return wanted.every(w => text.includes(w))
  })
  const more = found.length > mostLines ? `, the first ${mostLines} are shown` : ''
  $('found').textContent = `${found.length} of ${log.length}${more}`
  $('log').replaceChildren(...found.slice(0, mostLines).map(l => {
    const row = el('tr', l.problem ? 'bad' : ''), time = el('td', ''), b = el('button', '', clock(l.at)), request = l.kind === 'request'
    b.type = 'button'
    b.setAttribute('aria-label', `Go to ${clock(l.at)}`)
    b.addEventListener('click', () => go(l.at))
    time.append(b)
    row.append(time, el('td', '', request ? l.type || 'request' : `${l.kind} ${l.level ?? ''}`), el('td', '', request ? `${l.level} ${l.url}` : `${l.text} ${l.url ?? ''}`),
      el('td', '', request ? l.failure || String(l.status || '') : ''), el('td', '', request && l.took ? took(l.took) : ''), el('td', '', request && l.bytes ? String(l.bytes) : ''))
    return row
  }))
}

/** @param {Client[]} clients */
function showClients(clients) {
  $('clients').replaceChildren(...clients.map(c => {
    const row = el('tr', '')
    row.append(el('td', '', brief(c.name) || 'others'), el('td', '', String(c.calls)), el('td', c.failed ? 'bad' : '', String(c.failed)), el('td', '', tokens(c)))
    return row
  }))
}

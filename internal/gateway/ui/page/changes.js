// @ts-check
// The changes of the page, as diffs, newest first.
import { $, el, set, timeOf } from './dom.js'

const MOST = 100
const LONGEST = 6000 // characters of one change

/**
 * Puts an entry at the top of the changes, and drops the oldest of too many.
 * @param {string} head
 * @param {string} text
 * @param {string} kind diff or note
 */
export function addChange(head, text, kind) {
  const list = $('changes')
  const li = el('li', kind)
  li.append(el('p', 'when', `${timeOf(Date.now())} · ${head}`))
  if (text) li.append(changeText(text))
  list.prepend(li)
  while (list.children.length > MOST) list.lastElementChild?.remove()
  $('no-changes').hidden = true
}

/** @type {Record<string, string>} */
const SECTIONS = { 'Added:': 'added', 'Removed:': 'removed', 'Changed:': 'changed', 'Moved:': 'moved' }

/**
 * Colours the sections of a diff's text, which stays the same: one element for each section, however many lines it has.
 * @param {string} text
 */
export function changeText(text) {
  const pre = el('pre')
  if (text.length > LONGEST) text = text.slice(0, LONGEST) + '\n… and more'
  let section = '', kind = '', run = ''
  const flush = () => { if (run) pre.append(el('span', kind, run)); run = '' }
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    const title = SECTIONS[line]
    section = title || (line.startsWith('  ') ? section : '')
    const next = title ? `${title} section` : section
    if (next !== kind) flush()
    kind = next
    run += line + '\n'
  }
  flush()
  return pre
}

/**
 * Shows one change alone: that of a step of a replay.
 * @param {string} head
 * @param {string} text
 */
export function showChange(head, text) {
  const li = el('li', 'diff')
  li.append(el('p', 'when', head))
  li.append(text ? changeText(text) : el('p', 'empty', 'It changed nothing that is in the text.'))
  $('changes').replaceChildren(li)
  $('no-changes').hidden = true
}

export function clearChanges() {
  $('changes').replaceChildren()
  $('no-changes').hidden = false
  set('most', String(MOST))
}

// The messages of the daemon that the live page reads, as protojson writes them, and the page's own values. Every field of a message may
// be missing: protojson leaves out what is unset.

export interface Point { x?: number, y?: number }
export interface Rect extends Point { width?: number, height?: number }
export interface Target {
  ref?: number, role?: string, name?: string, text?: string, label?: string, placeholder?: string, testId?: string, selector?: string
  within?: string, x?: number, y?: number
}
export interface Dialog { type?: string, message?: string, answer?: string }
export interface Tab {
  id: string, title?: string, url?: string, status?: string, sessionId?: string, httpStatus?: number, dialog?: Dialog, detail?: string
}

export interface Step {
  kind?: string, target?: Target, ref?: number, role?: string, name?: string, point?: Point, box?: Rect, ok?: boolean, delivered?: string
  summary?: string, error?: string, reason?: string, healed?: boolean, value?: string, key?: string, length?: number
}
export interface Turn {
  steps?: Step[], url?: string, verdict?: string, outcome?: { kind?: string, text?: string, gone?: boolean }[], added?: number, removed?: number
  changed?: number, newTabId?: string
}
export interface LogEntry {
  level?: string, text?: string, url?: string, line?: number, httpStatus?: number, failure?: string, at?: string, resourceType?: string, durationMs?: number
}
export interface Entry {
  id: string, version?: string, time?: string, duration?: string, count?: number, client?: string, owner?: string, method?: string, state?: string
  error?: string, reason?: string, revisionFrom?: string, revisionTo?: string, epoch?: string, tokens?: string, tokensEstimated?: boolean
  turn?: Turn
  read?: { format?: string, elements?: number, incremental?: boolean }
  navigation?: { url?: string, title?: string, sameDocument?: boolean, httpStatus?: number }
  dialog?: Dialog
  download?: { suggestedFilename?: string, url?: string, state?: string, path?: string, reason?: string }
  popup?: { tabId?: string, url?: string }
  problem?: LogEntry
  request?: LogEntry
  status?: { status?: string, reason?: string }
  control?: { action?: string, client?: string, reason?: string, mode?: string, session?: boolean }
}

// Row is a line of the timeline.
export interface Row {
  key: string
  // The entry, and which of its steps.
  id: number, part: number
  // Milliseconds since 1970: its start, and its end.
  time: number, end: number
  // What a turn led from and to.
  revisions?: { from: string, to: string, epoch: string }
  group: 'act' | 'read' | 'page' | 'problem' | 'control'
  label: string, what: string, second: string, badge: string
  tone: '' | 'good' | 'bad' | 'warn' | 'busy' | 'quiet'
  client: string, took: string, cost: string
  // Where the element was, and where the pointer.
  box?: Rect, point?: Point
  // Names and values.
  more: [string, string][]
}

export interface ReplayAnswer {
  started?: string, ended?: string, position?: string
  tabs?: { recording?: { tabId?: string }, first?: string, last?: string, missing?: string[], pictures?: string[] }[]
}

// Marked is what is shown in the picture.
export interface Marked { box?: Rect, point?: Point, says?: string }

export interface TimelineClient {
  client?: string, owner?: string, turns?: string, reads?: string, failed?: string, tokens?: string, tokensEstimated?: boolean, paused?: boolean
}
export interface TimelineAnswer {
  entries?: Entry[], version?: string, reset?: boolean, dropped?: string, clients?: TimelineClient[], takenOverBy?: string
}

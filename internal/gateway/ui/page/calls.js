// @ts-check
// Calls of the daemon by the Connect protocol: a call is a POST of JSON; a stream is an answer of frames, each five
// bytes (flags, length) and JSON.

// CallError is an error that the daemon answered; code is such as "not_found", reason that of its ErrorInfo.
export class CallError extends Error {
  /**
   * @param {{code?: string, message?: string, details?: {debug?: {reason?: string}}[]}} failure
   * @param {number} [status]
   */
  constructor(failure, status) {
    super(failure.message || `the daemon answered ${status}`)
    this.code = failure.code || 'unknown'
    this.reason = (failure.details || []).map(d => d.debug?.reason).find(Boolean) || ''
  }
}

const END = 2 // the flag of a stream's last frame
const HEAD = 5
const LARGEST = 64 << 20

export class Client {
  #token
  #name
  /**
   * @param {string} token
   * @param {string} name what the daemon calls this client
   */
  constructor(token, name) {
    this.#token = token
    this.#name = name
  }

  /**
   * @param {string} method
   * @param {string} type
   * @param {BodyInit} body
   * @param {AbortSignal} signal
   */
  #post(method, type, body, signal) {
    return fetch(`/domtap.v1.${method}`, {
      method: 'POST', body, signal, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
      headers: { 'Authorization': `Bearer ${this.#token}`, 'Content-Type': type, 'Connect-Protocol-Version': '1', 'Domtap-Client-Id': this.#name },
    })
  }

  /**
   * Answers with the message. It gives up after limit milliseconds.
   * @param {string} method
   * @param {object} request
   * @param {AbortSignal} signal
   * @returns {Promise<any>}
   */
  async call(method, request, signal, limit = 15000) {
    const response = await this.#post(method, 'application/json', JSON.stringify(request), AbortSignal.any([signal, AbortSignal.timeout(limit)]))
    if (!response.ok) throw await failed(response)
    return response.json()
  }

  /**
   * Yields the messages as they come. Without one for silence milliseconds it fails, when silence is given.
   * @param {string} method
   * @param {object} request
   * @param {AbortSignal} signal
   * @param {number} [silence]
   * @returns {AsyncGenerator<any>}
   */
  async *stream(method, request, signal, silence) {
    const quiet = new Quiet(silence)
    const response = await this.#post(method, 'application/connect+json', frame(request), AbortSignal.any([signal, quiet.signal]))
    if (!response.ok) throw await failed(response)
    if (!response.body) throw new TypeError('the answer has no body')
    const reader = response.body.getReader()
    try {
      for await (const { flags, text } of frames(reader, quiet)) {
        const message = JSON.parse(text)
        if (!(flags & END)) { yield message; continue }
        if (message.error) throw new CallError(message.error)
        return
      }
      throw new TypeError('the connection was cut')
    } finally {
      quiet.stop()
      reader.cancel().catch(() => {}) // it may have failed already
    }
  }
}

// Quiet aborts when nobody touches it for some time.
class Quiet {
  #abort = new AbortController()
  #limit
  #timer = 0
  /** @param {number} [limit] */
  constructor(limit) { this.#limit = limit; this.touch() }
  get signal() { return this.#abort.signal }
  stop() { clearTimeout(this.#timer) }
  touch() {
    this.stop()
    if (this.#limit) this.#timer = setTimeout(() => this.#abort.abort(new TypeError('the daemon has said nothing for too long')), this.#limit)
  }
}

/** @param {Response} response */
async function failed(response) {
  let failure = {}
  try { failure = await response.json() } catch { /* not the daemon's words */ }
  return new CallError(failure, response.status)
}

/** @param {object} request */
function frame(request) {
  const body = new TextEncoder().encode(JSON.stringify(request))
  const out = new Uint8Array(HEAD + body.length)
  new DataView(out.buffer).setUint32(1, body.length)
  out.set(body, HEAD)
  return out
}

/**
 * Cuts what a reader reads into frames.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @param {Quiet} quiet
 */
async function* frames(reader, quiet) {
  /** @type {Uint8Array[]} */
  let chunks = []
  let have = 0
  const take = async (/** @type {number} */ n) => {
    while (have < n) {
      const { done, value } = await reader.read()
      if (done) return null
      quiet.touch()
      chunks.push(value)
      have += value.length
    }
    const all = chunks.length === 1 ? chunks[0] : join(chunks, have)
    chunks = [all.subarray(n)]
    have -= n
    return all.subarray(0, n)
  }
  for (;;) {
    const head = await take(HEAD)
    if (!head) return
    const size = new DataView(head.buffer, head.byteOffset).getUint32(1)
    if (size > LARGEST) throw new TypeError('a message is too large')
    const flags = head[0]
    const body = await take(size)
    if (!body) return
    yield { flags, text: new TextDecoder().decode(body) }
  }
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} size
 */
function join(chunks, size) {
  const all = new Uint8Array(size)
  let at = 0
  for (const c of chunks) { all.set(c, at); at += c.length }
  return all
}

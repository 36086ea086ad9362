// @ts-check
// Reads and creates the IndexedDB databases of an origin, in an empty document of that origin. The expression is an object of
// functions, each of which takes and returns JSON. StoreRecord in session.proto describes the encoding of values.
(() => {
  'use strict'

  /** The maximum nesting depth of a value, in objects and arrays. */
  const DEEPEST = 200
  /** The maximum number of databases of an origin, and of listed omissions. */
  const MOST = 100
  /**
   * The maximum time for opening a database, in milliseconds: opening waits while a page changes the
   * database's version.
   */
  const PATIENCE = 5000

  const kinds = {
    i8: Int8Array, ui8: Uint8Array, ui8c: Uint8ClampedArray, i16: Int16Array, ui16: Uint16Array, i32: Int32Array, ui32: Uint32Array,
    f32: Float32Array, f64: Float64Array, bi64: BigInt64Array, bui64: BigUint64Array,
  }
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }

  /** A value that cannot be stored; the message describes it. */
  class Unkept extends Error {}
  /** The databases exceed the limit. */
  class TooMuch extends Error {}

  const tag = value => Object.prototype.toString.call(value).slice(8, -1)
  const article = word => (/^[AEIOU]/.test(word) ? 'an ' : 'a ') + word

  function base64(bytes) {
    let text = ''
    for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
    return btoa(text)
  }

  function unbase64(text) {
    const raw = atob(text)
    const bytes = new Uint8Array(raw.length)
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i)
    return bytes
  }

  function checked(text) {
    if (!text.isWellFormed()) throw new Unkept('text that is not Unicode')
    return text
  }

  /**
   * Whether JSON can represent a value and its content. met holds the objects so far, because JSON cannot
   * represent a repeated object.
   */
  function isPlain(value, met, depth) {
    switch (typeof value) {
      case 'string': checked(value); return true
      case 'boolean': return true
      case 'number': return Number.isFinite(value) && !Object.is(value, -0)
    }
    if (value === null) return true
    if (typeof value !== 'object' || met.has(value)) return false
    if (depth >= DEEPEST) throw new Unkept(`a value of more than ${DEEPEST} levels`)
    const isArray = Array.isArray(value)
    if (!isArray && tag(value) !== 'Object') return false
    const names = Object.keys(value)
    if (isArray && (names.length !== value.length || names.some((name, i) => name !== String(i)))) return false
    met.add(value)
    return names.every(name => isPlain(value[checked(name)], met, depth + 1))
  }

  /** Encodes one value. seen maps the objects so far to their numbers, for cycles. */
  function encode(value, seen, depth) {
    switch (typeof value) {
      case 'string': return checked(value)
      case 'boolean': return value
      case 'undefined': return { v: 'undefined' }
      case 'bigint': return { bi: String(value) }
      case 'number':
        if (Object.is(value, -0)) return { v: '-0' }
        return Number.isFinite(value) ? value : { v: String(value) }
    }
    if (value === null) return { v: 'null' }
    if (depth >= DEEPEST) throw new Unkept(`a value of more than ${DEEPEST} levels`)
    if (seen.has(value)) return { ref: seen.get(value) }
    const id = seen.size + 1
    const kind = tag(value)
    const inner = one => encode(one, seen, depth + 1)
    if (Array.isArray(value)) {
      seen.set(value, id)
      if (Object.keys(value).length > value.length) throw new Unkept('an array with names')
      if (value.length > Object.keys(value).length + 1000) throw new Unkept('an array with many holes')
      return { a: Array.from(value, inner), id }
    }
    const array = Object.keys(kinds).find(k => kinds[k].name === kind)
    if (array) return { ta: { b: base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), k: array } }
    switch (kind) {
      case 'Date': return { d: Number.isNaN(value.getTime()) ? null : value.toJSON() }
      case 'RegExp': return { r: { p: checked(value.source), f: value.flags } }
      case 'Error': return { e: { n: checked(String(value.name)), m: checked(String(value.message)), s: checked(String(value.stack ?? '')) } }
      case 'ArrayBuffer': return { ab: { b: base64(new Uint8Array(value)) } }
      case 'DataView': return { dv: { b: base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) } }
      case 'Boolean': case 'Number': case 'String': case 'BigInt': return { bx: inner(value.valueOf()) }
      case 'Map': seen.set(value, id); return { m: Array.from(value, ([k, v]) => [inner(k), inner(v)]), id }
      case 'Set': seen.set(value, id); return { s: Array.from(value, inner), id }
      case 'Object':
        seen.set(value, id)
        return { o: Object.keys(value).map(k => ({ k: checked(k), v: inner(value[k]) })), id }
    }
    throw new Unkept(article(kind))
  }

  function define(object, name, value) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }

  /** The inverse of encode. refs has the objects by their numbers. */
  function decode(code, refs, depth) {
    if (depth > DEEPEST + 1) throw new Error(`a value of more than ${DEEPEST} levels`)
    if (typeof code !== 'object' || code === null) return code
    const inner = one => decode(one, refs, depth + 1)
    const known = object => { refs.set(code.id, object); return object }
    if ('ref' in code) return refs.get(code.ref)
    if ('v' in code) return { undefined, null: null, NaN, Infinity, '-Infinity': -Infinity, '-0': -0 }[code.v]
    if ('d' in code) return new Date(code.d ?? NaN)
    if ('u' in code) return code.u // a URL, which databases cannot contain
    if ('bi' in code) return BigInt(code.bi)
    if ('r' in code) return new RegExp(code.r.p, code.r.f)
    if ('ab' in code) return unbase64(code.ab.b).buffer
    if ('dv' in code) return new DataView(unbase64(code.dv.b).buffer)
    if ('bx' in code) return Object(inner(code.bx))
    if ('ta' in code) {
      if (!Object.hasOwn(kinds, code.ta.k)) throw new Error('an unknown kind of array')
      return new kinds[code.ta.k](unbase64(code.ta.b).buffer)
    }
    if ('e' in code) {
      const error = new (Object.hasOwn(errors, code.e.n) ? errors[code.e.n] : Error)(code.e.m)
      error.stack = code.e.s
      return error
    }
    if ('m' in code) {
      const map = known(new Map())
      for (const [k, v] of code.m) map.set(inner(k), inner(v))
      return map
    }
    if ('s' in code) {
      const set = known(new Set())
      for (const one of code.s) set.add(inner(one))
      return set
    }
    if ('a' in code) {
      const array = known([])
      for (const one of code.a) array.push(inner(one))
      return array
    }
    if ('o' in code) {
      const object = known({})
      for (const { k, v } of code.o) define(object, k, inner(v))
      return object
    }
    throw new Error('an unknown encoding')
  }

  /**
   * Adds a value to a record: as JSON under a name, or encoded under the name with "Encoded" appended. Returns the
   * size in bytes.
   */
  function put(record, name, value) {
    const plain = isPlain(value, new Set(), 0)
    const json = JSON.stringify(plain ? value : encode(value, new Map(), 0))
    record[plain ? name : name + 'Encoded'] = JSON.parse(json)
    return size(json)
  }

  /** The size of a text in bytes, as UTF-8. */
  const size = text => new TextEncoder().encode(text).length

  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

  /**
   * Opens an existing database. Returns null if it was deleted in the meantime or does not open in
   * time.
   */
  async function open(name) {
    const request = indexedDB.open(name)
    request.onupgradeneeded = () => request.transaction.abort() // the database was deleted, so do not create it again
    let late = false
    const timeout = new Promise(resolve => setTimeout(() => { late = true; resolve(null) }, PATIENCE))
    const opened = done(request).then(db => { if (late) db.close(); return db }, () => null)
    return Promise.race([opened, timeout])
  }

  const pathOf = path => Array.isArray(path) ? { keyPathArray: path } : path === null || path === undefined ? {} : { keyPath: path }

  /** Reads the records of a store, within the budget. */
  function readRecords(source, budget, omit) {
    return new Promise((resolve, reject) => {
      const records = []
      const request = source.openCursor()
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const cursor = request.result
        if (!cursor) return resolve(records)
        try {
          const record = {}
          let bytes = 20
          if (source.keyPath === null) bytes += put(record, 'key', cursor.primaryKey)
          bytes += put(record, 'value', cursor.value)
          budget.spend(bytes)
          records.push(record)
        } catch (error) {
          if (!(error instanceof Unkept)) return reject(error)
          omit(error.message)
        }
        cursor.continue()
      }
    })
  }

  async function readDatabase(info, budget, omit) {
    const db = await open(info.name)
    if (!db) return omit(info.name, '', 'a database that a page is changing, or that is damaged'), null
    try {
      const out = { name: checked(info.name), version: db.version, stores: [] }
      budget.spend(size(info.name) + 40)
      const names = [...db.objectStoreNames]
      if (names.length === 0) return out
      const reading = db.transaction(names, 'readonly')
      for (const name of names) {
        const store = reading.objectStore(name)
        const indexes = [...store.indexNames].map(index => store.index(index))
        budget.spend(size(JSON.stringify([name, store.keyPath, indexes.map(x => [x.name, x.keyPath])])) + 100)
        out.stores.push({
          name: checked(name), ...pathOf(store.keyPath), autoIncrement: store.autoIncrement,
          indexes: indexes.map(x => ({ name: checked(x.name), ...pathOf(x.keyPath), multiEntry: x.multiEntry, unique: x.unique })),
          records: await readRecords(store, budget, reason => omit(info.name, name, reason)),
        })
      }
      return out
    } finally {
      db.close()
    }
  }

  /** Reads all databases, of at most limit bytes. */
  async function read({ limit }) {
    const databases = []
    const omissions = new Map()
    const budget = { spent: 0, spend(bytes) { if ((this.spent += bytes) > limit) throw new TooMuch() } }
    const omit = (database, store, reason) => {
      const key = JSON.stringify([database, store, reason])
      const one = omissions.get(key)
      if (one) one.records++
      else if (omissions.size < MOST) omissions.set(key, { database: database.toWellFormed(), store: store.toWellFormed(), reason, records: store ? 1 : 0 })
    }
    try {
      const all = (await indexedDB.databases()).sort((a, b) => a.name < b.name ? -1 : 1)
      for (const info of all.slice(MOST)) omit(info.name, '', `more than ${MOST} databases`)
      for (const info of all.slice(0, MOST)) {
        try {
          const one = await readDatabase(info, budget, omit)
          if (one) databases.push(one)
        } catch (error) {
          if (!(error instanceof Unkept)) throw error
          omit(info.name, '', error.message)
        }
      }
    } catch (error) {
      if (error instanceof TooMuch) return JSON.stringify({ tooMuch: true })
      return JSON.stringify({ failed: String(error && error.message || error) })
    }
    return JSON.stringify({ databases, omissions: [...omissions.values()], size: budget.spent })
  }

  const pathIn = ({ keyPath, keyPathArray }) => keyPathArray && keyPathArray.length > 0 ? keyPathArray : keyPath ?? null
  const valueIn = (record, name) => name in record ? record[name] : decode(record[name + 'Encoded'], new Map(), 0)
  const hasKey = record => 'key' in record || 'keyEncoded' in record

  async function writeDatabase(info) {
    const request = indexedDB.open(info.name, info.version)
    request.onupgradeneeded = () => {
      for (const one of info.stores) {
        const store = request.result.createObjectStore(one.name, { keyPath: pathIn(one), autoIncrement: one.autoIncrement })
        for (const index of one.indexes) store.createIndex(index.name, pathIn(index), { unique: index.unique, multiEntry: index.multiEntry })
      }
    }
    const db = await done(request)
    try {
      if (info.stores.length === 0) return
      const writing = db.transaction(info.stores.map(one => one.name), 'readwrite')
      const over = new Promise((resolve, reject) => {
        writing.oncomplete = resolve
        writing.onabort = () => reject(writing.error)
      })
      over.catch(() => {}) // the error of a record takes precedence
      for (const one of info.stores) {
        const store = writing.objectStore(one.name)
        for (const record of one.records) {
          if (hasKey(record)) store.put(valueIn(record, 'value'), valueIn(record, 'key'))
          else store.put(valueIn(record, 'value'))
        }
      }
      await over
    } finally {
      db.close()
    }
  }

  /** Creates databases that do not exist. */
  async function write({ databases }) {
    for (const info of databases) {
      try {
        await writeDatabase(info)
      } catch (error) {
        return JSON.stringify({ database: info.name, failed: String(error && error.message || error) })
      }
    }
    return '{}'
  }

  return { read, write }
})()

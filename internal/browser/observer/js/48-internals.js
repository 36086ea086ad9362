// @ts-check
// Internals holds the roles, names and states that custom elements set through ElementInternals, which scripts cannot read.
//
// Internals chooses the elements that the daemon queries in the browser (hosts), and stores the result. attr and hasAttr
// read it in place of attributes. ListenerProbe records the custom elements that it reaches. The daemon queries them with
// each of its probes (internal/browser/documents/internals.go), because changes of internals cause no mutation.

/**
 * The maximum number of elements per document that a probe queries, and the maximum number of elements that
 * are remembered.
 */
const MAX_HOSTS = 300, MAX_CUSTOM = 2000;
/**
 * The number of elements per tag that a probe samples, and the number of such samples, until it is known whether the tag
 * has internals.
 */
const SAMPLES = 2, MAX_SAMPLED = 3;

/**
 * The knowledge about the elements of a tag.
 * @typedef {{sampled: number, has: boolean}} CustomTag
 */

class Internals {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Custom elements, with or without internals. @type {Set<WeakRef<El>>} */
    this.custom = new Set();
    /** The same elements, to find duplicates. @type {WeakSet<El>} */
    this.noted = new WeakSet();
    /** @type {Map<string, CustomTag>} */
    this.tags = new Map();
    /** The elements of the probe in progress. @type {El[]} */
    this.asked = [];
  }

  /** Whether some element has internals that may have changed. */
  get due() {
    return internals !== null && this.custom.size > 0;
  }

  /** Records a custom element. @param {El} el @param {string} tag */
  addElement(el, tag) {
    const known = this.tags.get(tag);
    if (known === undefined) this.tags.set(tag, { sampled: 0, has: false });
    else if (!known.has && known.sampled >= MAX_SAMPLED) return;
    if (this.noted.has(el) || this.custom.size >= MAX_CUSTOM) return;
    this.noted.add(el);
    this.custom.add(new WeakRef(el));
  }

  /**
   * Returns the elements to query: all of each tag whose elements have internals, and samples of each tag that is not known
   * yet.
   */
  hosts() {
    this.asked = [];
    /** @type {Map<string, number>} */
    const samples = new Map();
    for (const ref of this.custom) {
      const el = ref.deref(), tag = el && tagOf(el), known = tag && this.tags.get(tag);
      if (!el || !tag || !known || (!known.has && known.sampled >= MAX_SAMPLED)) {
        this.custom.delete(ref);
        continue;
      }
      if (this.asked.length >= MAX_HOSTS || !safe.isConnected(el) || !safe.matches(el, ":defined")) continue;
      const asked = samples.get(tag) || 0;
      if (!known.has && asked >= SAMPLES) continue;
      samples.set(tag, asked + 1);
      this.asked.push(el);
    }
    for (const tag of samples.keys()) /** @type {CustomTag} */ (this.tags.get(tag)).sampled++;
    return this.asked;
  }

  /**
   * Returns the elements that are fields, or, if groups is set, groups of choices, by their internals.
   * @param {boolean} groups @returns {El[]}
   */
  fields(groups) {
    const out = [];
    for (const ref of internals === null ? [] : this.custom) {
      const el = ref.deref(), role = el && safe.isConnected(el) && internals?.get(el)?.get("role");
      if (!el || !role) continue;
      const isGroup = role === "group" || role === "radiogroup";
      if (groups ? isGroup : role === "radiogroup" || mayHaveCaption(el, tagOf(el), role)) out.push(el);
    }
    return out;
  }

  /**
   * Stores the browser's answers for the queried elements.
   * @param {(Record<string, string> | null)[]} answers the role and aria-* values of each element, or null if it has no internals
   */
  takeAnswer(answers) {
    answers.forEach((answer, i) => {
      const el = this.asked[i];
      if (!answer || !el) return;
      const { labelled, ...now } = answer;
      if (labelled && MASKS === null) now["aria-label"] = labelled; // which masks apply to the labels is not known here
      this.set(el, new Map(Object.entries(now)));
    });
  }

  /** @param {El} el @param {Map<string, string>} now */
  set(el, now) {
    const was = internals?.get(el);
    if (!was && now.size === 0) return;
    const { changes, listeners } = this.model;
    internals = internals || new WeakMap();
    internals.set(el, now);
    /** @type {CustomTag} */ (this.tags.get(tagOf(el))).has = true;
    if (!listeners.needsWalk && !safe.matches(el, CANDIDATES)) listeners.needsWalk = true;
    if (changes.rescan) return;
    for (const name of new Set([...now.keys(), ...(was ? was.keys() : [])])) {
      if (now.get(name) !== was?.get(name)) changes.processAttribute(el, name);
    }
  }
}

// @ts-check
// Roles, names and states that custom elements have by their ElementInternals, which no script can see.
//
// Internals chooses the elements that the daemon asks the browser about (hosts), and takes the answer. attr and hasAttr
// read it in place of attributes. ListenerProbe notes the custom elements that it comes to; the daemon asks with each of
// its probes (internal/browser/documents/internals.go), for no mutation shows that internals change.

/** How many elements of one document are asked about, and how many are remembered. */
const MAX_HOSTS = 300, MAX_CUSTOM = 2000;
/** How many elements of a tag are asked about, and how often, before it is known whether they have internals. */
const SAMPLES = 2, MAX_SAMPLED = 3;

/**
 * What is known of the elements of a tag.
 * @typedef {{sampled: number, has: boolean}} CustomTag
 */

class Internals {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** Custom elements, those without internals among them. @type {Set<WeakRef<El>>} */
    this.custom = new Set();
    /** Those among them that are noted. @type {WeakSet<El>} */
    this.noted = new WeakSet();
    /** @type {Map<string, CustomTag>} */
    this.tags = new Map();
    /** The elements that the daemon asks about now. @type {El[]} */
    this.asked = [];
  }

  /** Some element has internals that may have changed. */
  get due() {
    return internals !== null && this.custom.size > 0;
  }

  /** A custom element was found. @param {El} el @param {string} tag */
  note(el, tag) {
    const known = this.tags.get(tag);
    if (known === undefined) this.tags.set(tag, { sampled: 0, has: false });
    else if (!known.has && known.sampled >= MAX_SAMPLED) return;
    if (this.noted.has(el) || this.custom.size >= MAX_CUSTOM) return;
    this.noted.add(el);
    this.custom.add(new WeakRef(el));
  }

  /** The elements to ask about: all of a tag whose elements have internals, and some of one that may have. */
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

  /** The elements that are fields, or else groups of choices, by their internals. @param {boolean} groups @returns {El[]} */
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
   * Takes what the browser answers for the elements that were asked about.
   * @param {(Record<string, string> | null)[]} answers for each element its role and aria-* values; null: it has no internals
   */
  takeAnswer(answers) {
    answers.forEach((answer, i) => {
      const el = this.asked[i];
      if (answer && el) this.set(el, new Map(Object.entries(answer)));
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
      if (now.get(name) !== was?.get(name)) changes.noteAttribute(el, name);
    }
  }
}

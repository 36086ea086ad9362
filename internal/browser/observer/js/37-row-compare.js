// @ts-check
// Compares names and rows: do they still show the same record? Counts, times and states may differ,
// and text may have been added. The functions keep no state; they read RowState values that
// 37-row-finder.js created. Rows (39-rows.js) calls sameName and recordDifference before an action
// is dispatched.

/** Words for states and times. Rows that differ only in these show the same record. */
const STATE_WORDS = new Set((
  "new unread read pending done active inactive open opened closed paid unpaid due overdue sent delivered seen draft online offline away busy typing saved saving " +
  "loading failed error ok success successful running queued waiting completed complete incomplete finished started stopped paused playing enabled disabled " +
  "published unpublished approved rejected cancelled canceled shipped processing processed in progress stock out of available unavailable sold pinned starred " +
  "muted selected checked edited modified updated live on off yes no low high medium normal todo doing blocked archived " +
  "now just ago yesterday today tomorrow last next a an s sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days w week weeks " +
  "month months y year years am pm monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun").split(" "));
const MONTHS = new Set("jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december".split(" "));

/**
 * Returns the words of a text without numbers and times, joined by spaces, or "" if all words are
 * states or times.
 * @param {string} text
 */
function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{M}][\p{L}\p{M}\p{N}'’_@.-]*|\p{N}[\p{L}\p{N}_-]*/gu) || [];
  const kept = [];
  let numbers = 0;
  for (let word of words) {
    if (/^\p{N}/u.test(word) && !(word.length >= 6 && /\p{L}/u.test(word))) {
      numbers++;
      word = word.replace(/[\p{N}_-]+/gu, "");
    }
    word = word.replace(/[.'’_-]+$/u, "");
    if (word) kept.push(word);
  }
  /** @param {string} word */
  const isState = (word) => STATE_WORDS.has(word) || (numbers > 0 && MONTHS.has(word));
  return kept.every(isState) ? "" : kept.join(" ");
}

/**
 * Returns the numbers of a text that may distinguish records, or "" if the text has a time or
 * duration.
 * @param {string} text
 */
function numbersIn(text) {
  if (/\d{1,2}:\d\d|\b\d+ ?(s|sec|min|m|h|hr|d|days?|hours?|minutes?|seconds?|w|weeks?|months?|years?)\b/i.test(text)) return "";
  return (text.match(/\p{N}+/gu) || []).join(" ");
}

/**
 * Whether two names are the same apart from counts. Numbers distinguish names only when a neighbor
 * has the same letters.
 * @param {string} was @param {string} now @param {() => string[]} neighbors returns the names of the neighbors
 * @param {boolean} [numbersOnly] names with different letters count as the same
 */
function sameName(was, now, neighbors, numbersOnly) {
  if (was === now) return true;
  const letters = lettersOf(was);
  if (letters !== lettersOf(now)) return numbersOnly === true;
  if (letters === "") return numbersOnly === true && was === "";
  if (numbersIn(was) === numbersIn(now)) return true;
  return !neighbors().some((name) => lettersOf(name) === letters && numbersIn(name) !== numbersIn(was));
}

/** @param {string} text */
function lettersOf(text) {
  return text.replace(/[^\p{L}\p{M}]+/gu, "");
}

/**
 * Returns the difference if a row now shows another record, or null for the same record. In the
 * same record, numbers, times and states may differ, and text may have been added.
 * @param {RowState} before @param {RowState} after @param {number} own the number of the field that the action targets
 * @param {() => {before: RowState[], after: RowState[]}} siblings
 * @returns {null | {was: string, now: string}}
 */
function recordDifference(before, after, own, siblings) {
  const was = new RowWords(before, own), is = new RowWords(after, own);
  const lost = withoutParts(was.words, is.words), gained = withoutParts(is.words, was.words);
  const difference = { was: summarizeParts(lost), now: summarizeParts(gained) };
  if (keysDiffer(was.keys, is.keys)) return difference;
  if (!lost.length && !gained.length) return numbersDiffer(was, is, siblings) ? { was: was.numbered.text, now: is.numbered.text } : null;
  if (!lost.length) return null;
  const others = siblings();
  const title = titleOf(was, others.before.map((s) => new RowWords(s, 0)));
  const kept = title !== null && is.words.some((p) => eitherContains(p.words, title.words));
  if (!gained.length) return kept || was.words.length > lost.length ? null : difference;
  // Without siblings, title and captions cannot be distinguished, so most of the row must be
  // unchanged.
  const texts = was.words.filter((p) => !p.caption).length;
  if (!others.before.length) return kept && lost.length * 2 <= texts - lost.length ? null : difference;
  const ambiguous = kept && others.after.some((s) => new RowWords(s, 0).words.some((p) => p.words === title.words));
  return kept && !ambiguous ? null : difference;
}

/** The parts of a row, divided into words, keys and the number. */
class RowWords {
  /** @param {RowState} state @param {number} own */
  constructor(state, own) {
    /** The texts and values that have words. @type {(RowPart & {words: string})[]} */
    this.words = [];
    /** The values of identifying attributes, by attribute. @type {Map<string, string[]>} */
    this.keys = new Map();
    /** The first part with numbers that may distinguish rows. */
    this.numbered = { text: "", numbers: "" };
    for (const p of partsOf(state)) {
      if (own && p.control === own) continue;
      if (p.kind !== "w" && p.kind !== "v") {
        const list = this.keys.get(p.kind);
        if (list) list.push(p.text);
        else this.keys.set(p.kind, [p.text]);
        continue;
      }
      const words = wordsOf(p.text);
      if (words) this.words.push({ ...p, words });
      /** @type {string} */
      const numbers = this.numbered.numbers ? "" : numbersIn(p.text);
      if (numbers) this.numbered = { text: p.hidden ? "" : p.text, numbers };
    }
  }
  get all() {
    return this.words.map((p) => p.words).join("\u001f");
  }
}

/**
 * Returns the parts of one list that the other lacks. A text that was only extended or cut is in
 * both.
 * @param {(RowPart & {words: string})[]} a @param {(RowPart & {words: string})[]} b
 */
function withoutParts(a, b) {
  const left = b.slice();
  return a.filter((p) => {
    const i = left.findIndex((q) => q.words === p.words);
    if (i >= 0) left.splice(i, 1);
    return i < 0 && !b.some((q) => eitherContains(q.words, p.words));
  });
}

/** Whether one of two texts contains the other. @param {string} a @param {string} b */
function eitherContains(a, b) {
  return (" " + a + " ").includes(" " + b + " ") || (" " + b + " ").includes(" " + a + " ");
}

/**
 * Whether attributes that both rows have identify different records.
 * @param {Map<string, string[]>} was @param {Map<string, string[]>} now
 */
function keysDiffer(was, now) {
  for (const [kind, texts] of was) {
    const others = now.get(kind);
    if (others && texts.some((t) => !others.includes(t)) && others.some((t) => !texts.includes(t))) return true;
  }
  return false;
}

/**
 * Whether the number of a row changed, and only numbers distinguish the row from its siblings.
 * @param {RowWords} was @param {RowWords} now @param {() => {before: RowState[]}} siblings
 */
function numbersDiffer(was, now, siblings) {
  if (was.numbered.numbers === now.numbered.numbers || !was.numbered.numbers || !now.numbered.numbers) return false;
  return siblings().before.some((s) => {
    const one = new RowWords(s, 0);
    return one.all === was.all && one.numbered.numbers !== was.numbered.numbers;
  });
}

/**
 * Returns the title of a row: the first text that is not a caption and that no sibling has.
 * @param {RowWords} row @param {RowWords[]} others
 */
function titleOf(row, others) {
  const common = new Set(others.flatMap((o) => o.words.map((p) => p.words)));
  return row.words.find((p) => !p.caption && !common.has(p.words)) || null;
}

/** Returns parts as text for a message. @param {RowPart[]} parts */
function summarizeParts(parts) {
  return clean(parts.filter((p) => !p.hidden).slice(0, 3).map((p) => p.text).join(", "), 60);
}

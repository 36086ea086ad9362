// Random numbers that a seed repeats.

/** @param {number} seed @returns {(n: number) => number} whole numbers from 0 up to n, n left out */
export function random(seed) {
  let state = (seed * 2654435761) >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
}

const WORDS = "bake bread fetch water mend shoes read mail sing loud cut grass wash car pay rent".split(" ");

/** Two words and a number, now and then with what makes parsers stumble. @param {(n: number) => number} rnd */
export function words(rnd) {
  const strange = rnd(6) === 0 ? [" & <b>", " “ß”", "\u202f→ 日本"][rnd(3)] : "";
  return `${WORDS[rnd(WORDS.length)]} ${WORDS[rnd(WORDS.length)]} ${rnd(1000)}${strange}`;
}

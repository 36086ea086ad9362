// What the test calls: window.step(seed) makes the app take one random step, as a user would, and resolves with its
// name when the app has rendered; window.settled() does only the latter; window.visible() lists what is in the viewport.
import { random } from "./random.js";

/** A task later: what the app put off until after this one is done. */
export const turn = () =>
  new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done(undefined);
    };
    port2.postMessage(0);
  });

/** When a frame was drawn: scroll events and resize observers have run. */
export const frame = () => new Promise((done) => requestAnimationFrame(() => turn().then(done)));

/** Elements in document order, those in open shadow trees too. @param {string} selector @returns {any[]} */
export function all(selector) {
  const found = [];
  const roots = [document];
  // Hosts stand in document order, and apps here have no light children in them.
  const visit = (root) => {
    for (const el of root.querySelectorAll("*")) {
      if (el.matches(selector)) found.push(el);
      if (el.shadowRoot) visit(el.shadowRoot);
    }
  };
  roots.forEach(visit);
  return found;
}

/** @param {string} selector */
export const one = (selector) => all(selector)[0];

const setters = new Map();

/** Sets a field as typing does: frameworks that watch the property of their own element are not told. */
export function enter(field, value) {
  const proto = Object.getPrototypeOf(field);
  if (!setters.has(proto)) setters.set(proto, Object.getOwnPropertyDescriptor(proto, "value").set);
  setters.get(proto).call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
}

/** @param {Element} el @param {string} key */
export function press(el, key) {
  for (const type of ["keydown", "keyup"]) el.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, composed: true, cancelable: true }));
}

/**
 * @param {Record<string, (rnd: (n: number) => number) => any>} moves what can be done; a move that returns false
 * could not be, and another is taken
 * @param {() => any} settle resolves when everything is rendered
 */
export function drive(moves, settle) {
  const names = Object.keys(moves);
  Object.assign(window, {
    async step(seed) {
      const rnd = random(seed);
      for (let tries = 0; tries < 20; tries++) {
        const name = names[rnd(names.length)];
        const did = await moves[name](rnd);
        await settle();
        if (did !== false) return name;
      }
      return "nothing";
    },
    visible,
    settled: settle,
  });
}

const USABLE = "a[href], button, input, select, textarea, summary";

/** The tags of the usable elements whose box meets the viewport, sorted: slots show elements in another order. */
function visible() {
  return all(USABLE)
    .filter((el) => {
      const r = el.getBoundingClientRect();
      const left = Math.round(r.left + scrollX) - Math.round(scrollX);
      const top = Math.round(r.top + scrollY) - Math.round(scrollY);
      const width = Math.max(1, Math.round(r.width));
      const height = Math.max(1, Math.round(r.height));
      return r.width && r.height && el.checkVisibility({ visibilityProperty: true }) && left <= innerWidth && top <= innerHeight && left + width >= 0 && top + height >= 0;
    })
    .map((el) => el.localName)
    .sort()
    .join(" ");
}

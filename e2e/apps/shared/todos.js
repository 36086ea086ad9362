// What a list of things to do can have done to it. Nothing is changed in place: each function returns a list.

let last = 0;

export const PRIORITIES = ["low", "normal", "high"];

/** @typedef {{id: number, title: string, done: boolean, priority: string}} Todo */

/** @param {string} title @returns {Todo} */
export const make = (title) => ({ id: ++last, title, done: false, priority: "normal" });

export const initial = () => ["Buy milk", "Call mum", "Water the plants"].map(make);

/** @param {Todo[]} list @param {string} title */
export const add = (list, title) => (title.trim() ? [...list, make(title.trim())] : list);

/** @param {Todo[]} list @param {number} id @param {Partial<Todo>} change */
export const change = (list, id, change) => list.map((t) => (t.id === id ? { ...t, ...change } : t));

/** @param {Todo[]} list @param {number} id */
export const remove = (list, id) => list.filter((t) => t.id !== id);

/** An empty title removes. @param {Todo[]} list @param {number} id @param {string} title */
export const rename = (list, id, title) => (title.trim() ? change(list, id, { title: title.trim() }) : remove(list, id));

/** @param {Todo[]} list @param {boolean} done */
export const setAll = (list, done) => list.map((t) => ({ ...t, done }));

/** @param {Todo[]} list */
export const clearDone = (list) => list.filter((t) => !t.done);

/** One place up; the first goes to the end. @param {Todo[]} list @param {number} id */
export function raise(list, id) {
  const i = list.findIndex((t) => t.id === id);
  const rest = remove(list, id);
  rest.splice(i === 0 ? rest.length : i - 1, 0, list[i]);
  return rest;
}

/** @param {Todo[]} list */
export const sort = (list) => [...list].sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : a.id - b.id));

/** @param {Todo[]} list */
export const reverse = (list) => [...list].reverse();

/** @param {Todo[]} list */
export const left = (list) => list.filter((t) => !t.done).length;

export const ROUTES = [
  ["all", "All"],
  ["active", "Active"],
  ["completed", "Completed"],
];

/** Which of them the address asks for. */
export function route() {
  const name = location.hash.slice(2);
  return ROUTES.some(([r]) => r === name) ? name : "all";
}

/** @param {string} route @param {Todo} todo */
export const isShown = (route, todo) => route === "all" || (route === "completed") === todo.done;

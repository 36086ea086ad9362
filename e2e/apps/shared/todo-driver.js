// The steps of the apps that keep a list of things to do. They all have the same elements and classes, and
// differ in how they come by them.
import { all, drive, enter, one, press, turn } from "./driver.js";
import { PRIORITIES, ROUTES } from "./todos.js";
import { words } from "./random.js";

const pick = (rnd, selector) => {
  const list = all(selector);
  return list[rnd(list.length)];
};

const click = (selector) => (rnd) => {
  const el = pick(rnd, selector);
  if (!el) return false;
  el.click();
};

function append(title) {
  const field = one(".new");
  enter(field, title);
  press(field, "Enter");
}

function go(name) {
  const hash = `#/${name}`;
  if (location.hash === hash) return false;
  return new Promise((done) => {
    addEventListener("hashchange", done, { once: true });
    location.hash = hash;
  });
}

/** @param {() => any} settle resolves when everything is rendered */
export function driveTodos(settle) {
  const edit = (end) => async (rnd) => {
    const title = pick(rnd, ".title");
    if (!title) return false;
    title.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, composed: true }));
    await settle();
    const field = one(".edit");
    if (!field) return false;
    enter(field, rnd(8) === 0 ? "" : words(rnd));
    end(field);
  };
  const added = (rnd) => {
    if (all(".item").length > 60) return false;
    append(words(rnd));
  };
  const many = async (rnd) => {
    for (let n = 3 + rnd(15); n && all(".item").length < 60; n--) {
      append(words(rnd));
      if (rnd(2)) await settle();
    }
  };
  const draft = (rnd) => enter(one(".new"), words(rnd));
  const priority = (rnd) => {
    const select = pick(rnd, ".priority");
    if (!select) return false;
    select.value = PRIORITIES[rnd(PRIORITIES.length)];
    select.dispatchEvent(new Event("change", { bubbles: true, composed: true }));
  };
  drive(
    {
      added, alsoAdded: added, many, draft, priority,
      toggle: click(".toggle"), alsoToggle: click(".toggle"), toggleAll: click(".all"),
      remove: click(".remove"), raise: click(".raise"), sort: click(".sort"), reverse: click(".reverse"), clear: click(".clear"),
      rename: edit((field) => press(field, "Enter")),
      abandon: edit((field) => press(field, "Escape")),
      leave: edit((field) => field.blur()),
      beginEdit: edit(() => {}),
      route: (rnd) => go(ROUTES[rnd(ROUTES.length)][0]),
      about: click("summary"),
      confirm: click(".confirm, .cancel"),
      scroll: (rnd) => scrollTo(0, rnd(2) * rnd(3000)),
    },
    settle,
  );
  Object.assign(window, { workload: () => workload(settle) });
}

/** What benchmarks time: a hundred added, a hundred checked, eighty removed. Not for apps with shadow trees. */
async function workload(settle) {
  const find = (selector) => document.querySelector(selector);
  // Frameworks render in a microtask after each event.
  const rendered = async () => {
    for (let i = 0; i < 4; i++) await null;
  };
  const phase = async (count, act) => {
    for (let i = 0; i < count; i++) {
      act(i);
      await rendered();
    }
    await settle();
    await turn();
  };
  await phase(document.querySelectorAll(".remove").length, () => find(".remove").click());
  await phase(100, (i) => {
    enter(find(".new"), `Something to do ${i}`);
    press(find(".new"), "Enter");
  });
  await phase(100, (i) => document.querySelectorAll(".toggle")[i].click());
  await phase(80, () => find(".remove").click());
  return document.querySelectorAll(".item").length;
}

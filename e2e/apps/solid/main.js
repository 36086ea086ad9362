// Solid: no virtual DOM; what depends on a signal is changed in place, in the task that sets it.
import { For, Show, createSignal } from "solid-js";
import html from "solid-js/html";
import { render } from "solid-js/web";
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";
import "../shared/todos.css";

/** A list whose items are signals too, so that a change of one leaves all others alone. */
const item = (todo) => {
  const [get, set] = createSignal(todo);
  return { id: todo.id, get, set, get title() { return get().title; }, get done() { return get().done; } };
};

const [list, setList] = createSignal(todos.initial().map(item));
const [route, setRoute] = createSignal(todos.route());
const [editing, edit] = createSignal(0);
addEventListener("hashchange", () => setRoute(todos.route()));

const left = () => todos.left(list());
const shown = () => list().filter((it) => todos.isShown(route(), it));

function rename(it, title) {
  if (editing() !== it.id) return;
  edit(0);
  if (title.trim()) it.set({ ...it.get(), title: title.trim() });
  else setList(todos.remove(list(), it.id));
}

const Item = (it) => html`
  <li class=${() => `item${it.done ? " done" : ""}${editing() === it.id ? " editing" : ""}`}>
    <input class="toggle" type="checkbox" aria-label=${() => `Done: ${it.title}`} prop:checked=${() => it.done} onChange=${(e) => it.set({ ...it.get(), done: e.target.checked })} />
    <label class="title" onDblClick=${() => edit(it.id)}>${() => it.title}</label>
    <${Show} when=${() => editing() === it.id}>
      ${() => html`<input class="edit" aria-label="Title" value=${it.title} ref=${(el) => queueMicrotask(() => el.focus())}
        onBlur=${(e) => rename(it, e.target.value)}
        onKeyDown=${(e) => (e.key === "Enter" ? rename(it, e.target.value) : e.key === "Escape" && edit(0))} />`}
    <//>
    <select class="priority" aria-label="Priority" onChange=${(e) => it.set({ ...it.get(), priority: e.target.value })}>
      ${todos.PRIORITIES.map((p) => html`<option selected=${p === it.get().priority}>${p}</option>`)}
    </select>
    <button class="raise" aria-label=${() => `Move ${it.title} up`} onClick=${() => setList(todos.raise(list(), it.id))}>▲</button>
    <button class="remove" title="Remove" onClick=${() => setList(todos.remove(list(), it.id))}>×</button>
  </li>`;

function enter(event) {
  if (event.key !== "Enter") return;
  const title = event.target.value.trim();
  if (title) setList([...list(), item(todos.make(title))]);
  event.target.value = "";
}

const setAll = (done) => list().forEach((it) => it.set({ ...it.get(), done }));

const App = () => html`
  <section class="todoapp">
    <h1>todos</h1>
    <input class="new" placeholder="What needs to be done?" onKeyDown=${enter} />
    <label><input class="all" type="checkbox" prop:checked=${() => list().length > 0 && !left()} onChange=${(e) => setAll(e.target.checked)} /> All done</label>
    <ul class="list"><${For} each=${shown}>${Item}<//></ul>
    <${Show} when=${() => list().length > 0}>
      <footer class="footer">
        <span class="count">${left} left</span>
        ${todos.ROUTES.map(([name, label]) => html`<a class="route" href=${`#/${name}`} aria-current=${() => (name === route() ? "page" : undefined)}>${label}</a>`)}
        <button class="sort" onClick=${() => setList(todos.sort(list()))}>Sort</button>
        <button class="reverse" onClick=${() => setList(todos.reverse(list()))}>Reverse</button>
        <button class="clear" onClick=${() => setList(todos.clearDone(list()))}>Clear completed</button>
      </footer>
    <//>
  </section>`;

render(App, document.getElementById("app"));
driveTodos(turn);

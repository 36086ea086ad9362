// No framework: every change writes the whole list anew as HTML.
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";
import "../shared/todos.css";

let list = todos.initial();
let editing = 0;

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const item = ({ id, title, done, priority }) => `
  <li class="item${done ? " done" : ""}${editing === id ? " editing" : ""}" data-id="${id}">
    <input class="toggle" type="checkbox" aria-label="Done: ${escape(title)}"${done ? " checked" : ""}>
    <label class="title">${escape(title)}</label>
    ${editing === id ? `<input class="edit" aria-label="Title" value="${escape(title)}">` : ""}
    <select class="priority" aria-label="Priority">${todos.PRIORITIES.map((p) => `<option${p === priority ? " selected" : ""}>${p}</option>`).join("")}</select>
    <button class="raise" aria-label="Move ${escape(title)} up">▲</button>
    <button class="remove" title="Remove">×</button>
  </li>`;

const app = document.getElementById("app");
app.innerHTML = `
  <section class="todoapp">
    <h1>todos</h1>
    <input class="new" placeholder="What needs to be done?">
    <input class="all" type="checkbox" id="all"><label for="all">Mark all as complete</label>
    <ul class="list"></ul>
    <footer class="footer"></footer>
  </section>`;
const find = (selector) => app.querySelector(selector);

function draw() {
  const left = todos.left(list);
  const route = todos.route();
  find(".all").checked = list.length > 0 && left === 0;
  find(".list").innerHTML = list.filter((todo) => todos.isShown(route, todo)).map(item).join("");
  find(".footer").innerHTML = `
    <span class="count">${left} left</span>
    ${todos.ROUTES.map(([name, label]) => `<a class="route" href="#/${name}"${name === route ? ' aria-current="page"' : ""}>${label}</a>`).join(" ")}
    <button class="sort">Sort</button><button class="reverse">Reverse</button>
    <button class="clear"${left === list.length ? " disabled" : ""}>Clear completed</button>`;
  if (editing && find(".edit")) find(".edit").focus();
}

function set(next) {
  list = next;
  draw();
}

/** What a click on an element of a class does. */
const clicks = {
  remove: (id) => set(todos.remove(list, id)),
  raise: (id) => set(todos.raise(list, id)),
  sort: () => set(todos.sort(list)),
  reverse: () => set(todos.reverse(list)),
  clear: () => set(todos.clearDone(list)),
};

const idOf = (el) => Number(el.closest(".item")?.dataset.id);

function finish(field, title) {
  const id = idOf(field);
  if (editing !== id) return;
  editing = 0;
  set(title === null ? list : todos.rename(list, id, title));
}

app.addEventListener("click", ({ target }) => clicks[target.className]?.(idOf(target)));
app.addEventListener("change", ({ target }) => {
  if (target.className === "toggle") set(todos.change(list, idOf(target), { done: target.checked }));
  if (target.className === "all") set(todos.setAll(list, target.checked));
  if (target.className === "priority") list = todos.change(list, idOf(target), { priority: target.value });
});
app.addEventListener("dblclick", ({ target }) => {
  if (target.className !== "title") return;
  editing = idOf(target);
  draw();
});
app.addEventListener("keydown", ({ target, key }) => {
  if (target.className === "new" && key === "Enter") {
    set(todos.add(list, target.value));
    target.value = "";
  }
  if (target.className === "edit" && key === "Enter") finish(target, target.value);
  if (target.className === "edit" && key === "Escape") finish(target, null);
});
app.addEventListener("focusout", ({ target }) => {
  // Not while draw() takes the field away: its own innerHTML is at work then.
  if (target.className === "edit") queueMicrotask(() => target.isConnected && finish(target, target.value));
});
addEventListener("hashchange", draw);

draw();
driveTodos(turn);

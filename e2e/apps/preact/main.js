/** @jsxImportSource preact */
// Preact: items without keys, so that elements are reused for other items, and fragments.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";
import "../shared/todos.css";

function Editor({ todo, onDone }) {
  const field = useRef(null);
  const over = useRef(false);
  useEffect(() => field.current.focus(), []);
  const finish = (title) => {
    if (over.current) return;
    over.current = true;
    onDone(title);
  };
  return (
    <input
      class="edit"
      ref={field}
      aria-label="Title"
      defaultValue={todo.title}
      onBlur={(e) => finish(e.currentTarget.value)}
      onKeyDown={(e) => (e.key === "Enter" ? finish(e.currentTarget.value) : e.key === "Escape" && finish(todo.title))}
    />
  );
}

function Item({ todo, editing, edit, update }) {
  const doneEditing = (title) => {
    edit(0);
    update((list) => todos.rename(list, todo.id, title));
  };
  const change = (what) => update((list) => todos.change(list, todo.id, what));
  return (
    <li class={`item${todo.done ? " done" : ""}`}>
      <input class="toggle" type="checkbox" id={`done-${todo.id}`} checked={todo.done} onChange={(e) => change({ done: e.currentTarget.checked })} />
      {editing ? (
        <Editor todo={todo} onDone={doneEditing} />
      ) : (
        <>
          <label class="title" for={`done-${todo.id}`} onDblClick={() => edit(todo.id)}>
            {todo.title}
          </label>
          <select class="priority" aria-label="Priority" value={todo.priority} onChange={(e) => change({ priority: e.currentTarget.value })}>
            {todos.PRIORITIES.map((p) => (
              <option>{p}</option>
            ))}
          </select>
        </>
      )}
      <button class="raise" aria-label={`Move ${todo.title} up`} onClick={() => update((list) => todos.raise(list, todo.id))}>
        ▲
      </button>
      <button class="remove" title="Remove" onClick={() => update((list) => todos.remove(list, todo.id))}>
        ×
      </button>
    </li>
  );
}

function App() {
  const [list, update] = useState(todos.initial);
  const [route, setRoute] = useState(todos.route());
  const [editing, edit] = useState(0);
  useEffect(() => {
    const follow = () => setRoute(todos.route());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const left = todos.left(list);
  const enter = (event) => {
    if (event.key !== "Enter") return;
    const field = event.currentTarget;
    update((list) => todos.add(list, field.value));
    field.value = "";
  };
  return (
    <section class="todoapp">
      <h1>todos ({list.length})</h1>
      <input class="new" placeholder="What needs to be done?" onKeyDown={enter} />
      <input class="all" type="checkbox" id="all" checked={list.length > 0 && left === 0} onClick={(e) => update((list) => todos.setAll(list, e.currentTarget.checked))} />
      <label for="all">Mark all {list.length} as complete</label>
      <ul class="list">
        {list
          .filter((todo) => todos.isShown(route, todo))
          .map((todo) => (
            <Item todo={todo} editing={todo.id === editing} edit={edit} update={update} />
          ))}
      </ul>
      <footer class="footer" hidden={list.length === 0}>
        <span class="count">{left} left</span>
        {todos.ROUTES.map(([name, label]) => (
          <a class="route" href={`#/${name}`} aria-current={name === route ? "page" : undefined}>
            {label}
          </a>
        ))}
        <button class="sort" onClick={() => update(todos.sort)}>
          Sort
        </button>
        <button class="reverse" onClick={() => update(todos.reverse)}>
          Reverse
        </button>
        <button class="clear" disabled={left === list.length} onClick={() => update(todos.clearDone)}>
          Clear completed
        </button>
      </footer>
    </section>
  );
}

render(<App />, document.getElementById("app"));
driveTodos(turn);

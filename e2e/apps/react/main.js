// React: keyed items, controlled fields, a reducer, a portal for the question before clearing.
import { memo, useEffect, useLayoutEffect, useReducer, useRef, useState } from "react";
import { createPortal, flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";
import "../shared/todos.css";

/** Every change of the list is a function of shared/todos.js with its arguments. */
const reduce = (list, [what, ...args]) => todos[what](list, ...args);

const Item = memo(function Item({ todo, editing, onEdit, dispatch }) {
  const field = useRef(null);
  useLayoutEffect(() => {
    if (editing) field.current.focus();
  }, [editing]);
  const finish = (event) => {
    if (!editing) return;
    onEdit(0);
    dispatch(["rename", todo.id, event.target.value]);
  };
  const key = (event) => {
    if (event.key === "Enter") finish(event);
    if (event.key === "Escape") onEdit(0);
  };
  return (
    <li className={`item${todo.done ? " done" : ""}${editing ? " editing" : ""}`}>
      <input className="toggle" type="checkbox" aria-label={`Done: ${todo.title}`} checked={todo.done} onChange={(e) => dispatch(["change", todo.id, { done: e.target.checked }])} />
      <label className="title" onDoubleClick={() => onEdit(todo.id)}>
        {todo.title}
      </label>
      {editing && <input className="edit" ref={field} aria-label="Title" defaultValue={todo.title} onBlur={finish} onKeyDown={key} />}
      <select className="priority" aria-label="Priority" value={todo.priority} onChange={(e) => dispatch(["change", todo.id, { priority: e.target.value }])}>
        {todos.PRIORITIES.map((p) => (
          <option key={p}>{p}</option>
        ))}
      </select>
      <button className="raise" aria-label={`Move ${todo.title} up`} onClick={() => dispatch(["raise", todo.id])}>
        ▲
      </button>
      <button className="remove" title="Remove" onClick={() => dispatch(["remove", todo.id])}>
        ×
      </button>
    </li>
  );
});

function Question({ children, onAnswer }) {
  const dialog = useRef(null);
  useLayoutEffect(() => dialog.current.showModal(), []);
  return createPortal(
    <dialog ref={dialog} aria-label="Sure?" onCancel={() => onAnswer(false)}>
      <p>{children}</p>
      <button className="confirm" onClick={() => onAnswer(true)}>
        Clear them
      </button>
      <button className="cancel" onClick={() => onAnswer(false)}>
        Keep them
      </button>
    </dialog>,
    document.body,
  );
}

function App() {
  const [list, dispatch] = useReducer(reduce, null, todos.initial);
  const [route, setRoute] = useState(todos.route);
  const [editing, setEditing] = useState(0);
  const [asking, setAsking] = useState(false);
  const [draft, setDraft] = useState("");
  useEffect(() => {
    const follow = () => flushSync(() => setRoute(todos.route()));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const left = todos.left(list);
  const enter = (event) => {
    if (event.key !== "Enter") return;
    dispatch(["add", draft]);
    setDraft("");
  };
  const answer = (yes) => {
    setAsking(false);
    if (yes) dispatch(["clearDone"]);
  };
  return (
    <section className="todoapp">
      <h1>todos</h1>
      <input className="new" aria-label="What needs to be done?" placeholder="What needs to be done?" value={draft} onChange={(e) => setDraft(e.target.value)} onKeyDown={enter} />
      <label>
        <input className="all" type="checkbox" checked={list.length > 0 && left === 0} onChange={(e) => dispatch(["setAll", e.target.checked])} /> Mark all as complete
      </label>
      <ul className="list">
        {list
          .filter((todo) => todos.isShown(route, todo))
          .map((todo) => (
            <Item key={todo.id} todo={todo} editing={todo.id === editing} onEdit={setEditing} dispatch={dispatch} />
          ))}
      </ul>
      {list.length > 0 && (
        <footer className="footer">
          <span className="count">
            {left} {left === 1 ? "item" : "items"} left
          </span>
          <nav aria-label="Filter">
            {todos.ROUTES.map(([name, label]) => (
              <a key={name} className="route" href={`#/${name}`} aria-current={name === route ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
          <button className="sort" onClick={() => dispatch(["sort"])}>
            Sort
          </button>
          <button className="reverse" onClick={() => dispatch(["reverse"])}>
            Reverse
          </button>
          {left < list.length && (
            <button className="clear" onClick={() => setAsking(true)}>
              Clear completed ({list.length - left})
            </button>
          )}
        </footer>
      )}
      <details>
        <summary>About</summary>
        <a href="#/all">Everything</a>
      </details>
      {asking && <Question onAnswer={answer}>{list.length - left} are done.</Question>}
    </section>
  );
}

createRoot(document.getElementById("app")).render(<App />);
driveTodos(turn);

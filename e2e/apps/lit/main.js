// Lit: web components with shadow trees in shadow trees, and slots that light children move between.
import { LitElement, css, html, nothing } from "lit";
import { classMap } from "lit/directives/class-map.js";
import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import { all, turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";

/** A frame with a slot for the content and one for what stands below it. */
class TodoCard extends LitElement {
  static properties = { heading: {}, folded: { type: Boolean } };
  static styles = css`
    :host { display: block; border: 1px solid #ccc; padding: 0.5em; }
    .body[hidden] { display: none; }
  `;

  render() {
    return html`
      <h1>${this.heading}</h1>
      <button class="fold" aria-expanded=${!this.folded} @click=${() => (this.folded = !this.folded)}>${this.folded ? "Show" : "Hide"}</button>
      <div class="body" ?hidden=${this.folded}><slot></slot></div>
      <slot name="below">Nothing below</slot>
    `;
  }
}

class TodoItem extends LitElement {
  static properties = { todo: {}, editing: { state: true } };
  static styles = css`
    :host { display: flex; gap: 0.5em; padding: 0.2em 0; }
    .done { text-decoration: line-through; }
    :host(:not(:hover)) .remove { display: none; }
  `;

  tell(what, detail) {
    this.dispatchEvent(new CustomEvent("todo", { detail: { what, id: this.todo.id, detail }, bubbles: true, composed: true }));
  }

  finish(title) {
    if (!this.editing) return;
    this.editing = false;
    this.tell("rename", title);
  }

  key(event) {
    if (event.key === "Enter") this.finish(event.target.value);
    if (event.key === "Escape") this.editing = false;
  }

  updated(changed) {
    if (changed.has("editing") && this.editing) this.renderRoot.querySelector(".edit").focus();
  }

  render() {
    const { todo } = this;
    return html`
      <input class="toggle" type="checkbox" id="toggle" .checked=${live(todo.done)} @change=${(e) => this.tell("change", { done: e.target.checked })} />
      ${this.editing
        ? html`<input class="edit" aria-label="Title" .value=${todo.title} @blur=${(e) => this.finish(e.target.value)} @keydown=${this.key} />`
        : html`<label class=${classMap({ title: true, done: todo.done })} for="toggle" @dblclick=${() => (this.editing = true)}>${todo.title}</label>`}
      <select class="priority" aria-label="Priority" .value=${live(todo.priority)} @change=${(e) => this.tell("change", { priority: e.target.value })}>
        ${todos.PRIORITIES.map((p) => html`<option ?selected=${p === todo.priority}>${p}</option>`)}
      </select>
      <button class="raise" aria-label="Move ${todo.title} up" @click=${() => this.tell("raise")}>▲</button>
      <button class="remove" title="Remove" @click=${() => this.tell("remove")}>×</button>
    `;
  }
}

class TodoApp extends LitElement {
  static properties = { list: { state: true }, route: { state: true }, below: { state: true } };
  static styles = css`ul { padding: 0; list-style: none; }`;

  constructor() {
    super();
    this.list = todos.initial();
    this.route = todos.route();
    this.below = true;
    addEventListener("hashchange", () => (this.route = todos.route()));
  }

  key(event) {
    if (event.key !== "Enter") return;
    this.list = todos.add(this.list, event.target.value);
    event.target.value = "";
  }

  take({ detail: { what, id, detail } }) {
    this.list = todos[what](this.list, id, detail);
  }

  render() {
    const left = todos.left(this.list);
    const set = (list) => () => (this.list = list(this.list));
    return html`
      <todo-card heading="todos">
        <input class="new" placeholder="What needs to be done?" @keydown=${this.key} />
        <label><input class="all" type="checkbox" .checked=${live(this.list.length > 0 && !left)} @change=${(e) => (this.list = todos.setAll(this.list, e.target.checked))} /> All</label>
        <ul class="list" @todo=${this.take}>
          ${repeat(
            this.list.filter((todo) => todos.isShown(this.route, todo)),
            (todo) => todo.id,
            (todo) => html`<li><todo-item class="item" .todo=${todo}></todo-item></li>`,
          )}
        </ul>
        <nav slot=${this.below ? "below" : nothing} aria-label="Filter">
          ${todos.ROUTES.map(([name, label]) => html`<a class="route" href="#/${name}" aria-current=${name === this.route ? "page" : nothing}>${label}</a> `)}
        </nav>
        <button class="sort" @click=${set(todos.sort)}>Sort</button>
        <button class="reverse" @click=${() => ((this.list = todos.reverse(this.list)), (this.below = !this.below))}>Reverse</button>
        <button class="clear" ?disabled=${left === this.list.length} @click=${set(todos.clearDone)}>Clear completed</button>
        <span class="count">${left} left</span>
      </todo-card>
      <details><summary>About</summary><slot></slot></details>
    `;
  }
}

customElements.define("todo-card", TodoCard);
customElements.define("todo-item", TodoItem);
customElements.define("todo-app", TodoApp);

const app = document.createElement("todo-app");
const note = document.createElement("a");
note.href = "#/all";
note.textContent = "Made of components";
app.append(note);
document.getElementById("app").append(app);

driveTodos(async () => {
  for (const el of all("todo-app, todo-card, todo-item")) await el.updateComplete;
  await turn();
});

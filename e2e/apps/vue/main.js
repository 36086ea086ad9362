// Vue: state that is changed in place, v-model, filtering by v-show, a transition on the items, a teleport; templates
// are compiled in the page.
import { computed, createApp, nextTick, ref } from "vue/dist/vue.esm-bundler.js";
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import * as todos from "../shared/todos.js";
import "../shared/todos.css";
import "./transition.css";

const Item = {
  props: ["todo", "editing"],
  emits: ["edit", "rename", "raise", "remove"],
  directives: { focus: { mounted: (el) => el.focus() } },
  setup: () => ({ PRIORITIES: todos.PRIORITIES }),
  template: `
    <li class="item" :class="{ done: todo.done, editing }">
      <input class="toggle" type="checkbox" v-model="todo.done" :aria-labelledby="'t' + todo.id">
      <label class="title" :id="'t' + todo.id" @dblclick="$emit('edit', todo.id)">{{ todo.title }}</label>
      <input v-if="editing" v-focus class="edit" aria-label="Title" :value="todo.title"
        @blur="$emit('rename', $event.target.value)" @keydown.enter="$event.target.blur()" @keydown.escape="$emit('edit', 0)">
      <select class="priority" aria-label="Priority" v-model="todo.priority"><option v-for="p in PRIORITIES">{{ p }}</option></select>
      <button class="raise" :aria-label="'Move ' + todo.title + ' up'" @click="$emit('raise')">▲</button>
      <button class="remove" title="Remove" @click="$emit('remove')">×</button>
    </li>`,
};

const App = {
  components: { Item },
  setup() {
    const list = ref(todos.initial());
    const route = ref(todos.route());
    const draft = ref("");
    const editing = ref(0);
    addEventListener("hashchange", () => (route.value = todos.route()));
    const all = computed({
      get: () => list.value.length > 0 && left.value === 0,
      set: (done) => list.value.forEach((todo) => (todo.done = done)),
    });
    const left = computed(() => todos.left(list.value));
    const add = () => {
      if (draft.value.trim()) list.value.push(todos.make(draft.value.trim()));
      draft.value = "";
    };
    const rename = (todo, title) => {
      if (editing.value !== todo.id) return;
      editing.value = 0;
      if (title.trim()) todo.title = title.trim();
      else remove(todo);
    };
    const remove = (todo) => list.value.splice(list.value.indexOf(todo), 1);
    const raise = (todo) => (list.value = todos.raise(list.value, todo.id));
    const sort = () => list.value.sort((a, b) => a.title.localeCompare(b.title));
    const reverse = () => list.value.reverse();
    const clear = () => (list.value = todos.clearDone(list.value));
    const shown = (todo) => todos.isShown(route.value, todo);
    return { list, route, draft, editing, all, left, add, rename, remove, raise, sort, reverse, clear, shown, ROUTES: todos.ROUTES };
  },
  template: `
    <section class="todoapp" :class="{ empty: !list.length }">
      <h1>todos</h1>
      <input class="new" placeholder="What needs to be done?" v-model="draft" @keydown.enter="add">
      <input class="all" type="checkbox" id="all" v-model="all"><label for="all">Mark all as complete</label>
      <TransitionGroup tag="ul" class="list" name="fade">
        <Item v-for="todo in list" :key="todo.id" v-show="shown(todo)" :todo="todo" :editing="todo.id === editing"
          @edit="editing = $event" @rename="rename(todo, $event)" @raise="raise(todo)" @remove="remove(todo)" />
      </TransitionGroup>
      <footer class="footer">
        <span class="count">{{ left }} left</span>
        <a v-for="[name, label] in ROUTES" class="route" :href="'#/' + name" :aria-current="name === route ? 'page' : undefined">{{ label }}</a>
        <button class="sort" @click="sort">Sort</button>
        <button class="reverse" @click="reverse">Reverse</button>
        <button v-if="left < list.length" class="clear" @click="clear">Clear completed</button>
      </footer>
      <Teleport to="#outside"><p role="status">{{ list.length }} in all, {{ left }} left <a href="#/active" v-if="left">Show them</a></p></Teleport>
    </section>`,
};

const outside = document.createElement("aside");
outside.id = "outside";
document.body.prepend(outside);
createApp(App).mount("#app");
driveTodos(async () => {
  await nextTick();
  await turn();
});

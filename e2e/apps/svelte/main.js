// Svelte: compiled components, bindings in both directions, blocks that come and go.
import { mount, tick } from "svelte";
import { turn } from "../shared/driver.js";
import { driveTodos } from "../shared/todo-driver.js";
import "../shared/todos.css";
import App from "./App.svelte";

mount(App, { target: document.getElementById("app") });
driveTodos(async () => {
  await tick();
  await turn();
});

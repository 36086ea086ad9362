// A data grid: sorting, filtering, paging, editing in cells, selection, columns that come and go, rows that are
// rendered as they scroll into sight.
import { TabulatorFull as Tabulator } from "tabulator-tables";
import "tabulator-tables/dist/css/tabulator_simple.min.css";
import { all, drive, enter, frame, press } from "../shared/driver.js";
import { random, words } from "../shared/random.js";

const rnd = random(7);
const STATES = ["new", "paid", "sent", "returned"];
const row = (id) => ({ id, what: words(rnd), count: rnd(100), state: STATES[rnd(4)], paid: rnd(2) === 1, link: `#/order/${id}` });
let last = 1000;

document.getElementById("app").innerHTML = `<h1>Orders</h1><p role="status"></p><div id="grid"></div>`;

const grid = new Tabulator("#grid", {
  data: Array.from({ length: last }, (_, id) => row(id)),
  height: 420,
  layout: "fitColumns",
  pagination: true,
  paginationSize: 30,
  paginationSizeSelector: [10, 30, 100],
  movableColumns: true,
  selectableRows: true,
  columns: [
    { formatter: "rowSelection", titleFormatter: "rowSelection", headerSort: false, width: 40 },
    { title: "No", field: "id", sorter: "number", width: 80 },
    { title: "What", field: "what", editor: "input", headerFilter: "input" },
    { title: "Count", field: "count", sorter: "number", editor: "number", formatter: "progress" },
    { title: "State", field: "state", editor: "list", editorParams: { values: STATES }, headerFilter: "list", headerFilterParams: { values: ["", ...STATES] } },
    { title: "Paid", field: "paid", editor: true, formatter: "tickCross" },
    { title: "Link", field: "link", formatter: "link" },
  ],
});

const status = document.querySelector("[role=status]");
grid.on("rowSelectionChanged", (rows) => (status.textContent = `${rows.length} picked`));

const FIELDS = ["id", "what", "count", "state", "paid"];
const any = (rnd, list) => list[rnd(list.length)];

function cell(rnd, field) {
  return any(rnd, all(`.tabulator-row .tabulator-cell[tabulator-field=${field}]`));
}

/** Opens the editor of a cell, as a click does. */
async function edit(rnd, field, finish) {
  const target = cell(rnd, field);
  if (!target) return false;
  target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await frame();
  const input = target.querySelector("input");
  if (!input) return false;
  finish(input);
}

function click(selector) {
  return (rnd) => {
    const target = any(rnd, all(selector));
    if (!target) return false;
    target.click();
  };
}

const moves = {
  sort: (rnd) => grid.setSort(any(rnd, FIELDS), any(rnd, ["asc", "desc"])),
  header: click(".tabulator-col.tabulator-sortable .tabulator-col-title"),
  unsort: () => grid.clearSort(),
  filter: (rnd) => grid.setFilter("count", any(rnd, ["<", ">"]), rnd(100)),
  unfilter: () => grid.clearFilter(true),
  headerFilter: (rnd) => {
    const input = all(".tabulator-header-filter input")[0];
    enter(input, any(rnd, ["", "sing", "car", "none such"]));
    press(input, "Enter");
  },
  page: (rnd) => grid.setPage(1 + rnd(Math.max(1, grid.getPageMax()))),
  pager: click(".tabulator-page:enabled"),
  size: (rnd) => grid.setPageSize(any(rnd, [10, 30, 100])),
  typed: (rnd) => edit(rnd, "what", (input) => (enter(input, words(rnd)), press(input, "Enter"), input.blur())),
  counted: (rnd) => edit(rnd, "count", (input) => (enter(input, String(rnd(100))), input.blur())),
  opened: (rnd) => edit(rnd, "what", () => {}),
  cancelled: (rnd) => edit(rnd, "what", (input) => input.dispatchEvent(new KeyboardEvent("keydown", { keyCode: 27, bubbles: true }))),
  listed: (rnd) => edit(rnd, "state", () => {}),
  choose: click(".tabulator-edit-list-item"),
  pick: (rnd) => void any(rnd, grid.getRows("active"))?.toggleSelect(),
  pickAll: (rnd) => void (rnd(2) ? grid.selectRow("active") : grid.deselectRow()),
  add: (rnd) => grid.addRow(row(last++), rnd(2) === 1),
  remove: (rnd) => any(rnd, grid.getRows("active"))?.delete(),
  update: (rnd) => grid.updateData(grid.getRows("active").slice(0, 5).map((r) => ({ id: r.getData().id, count: rnd(100), paid: rnd(2) === 1 }))),
  column: (rnd) => grid.toggleColumn(any(rnd, ["link", "paid"])),
  columnMove: (rnd) => grid.moveColumn(any(rnd, ["state", "count"]), "what", rnd(2) === 1),
  scroll: (rnd) => void (document.querySelector(".tabulator-tableholder").scrollTop = rnd(3000)),
};

// The grid rejects what it cannot do, such as going to a page that a filter just took away.
const tried = (move) => async (rnd) => {
  try {
    return await move(rnd);
  } catch {
    return false;
  }
};

grid.on("tableBuilt", () =>
  drive(Object.fromEntries(Object.entries(moves).map(([name, move]) => [name, tried(move)])), async () => {
    for (let i = 0; i < 3; i++) await frame();
  }),
);

// A list of ten thousand rows of which only those in sight are in the document; rows differ in height and are
// measured when they come.
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { all, drive, enter, frame, one, turn } from "../shared/driver.js";
import { random, words } from "../shared/random.js";
import "./virtual.css";

const ROWS = 10_000;
const rnd = random(1);
const data = Array.from({ length: ROWS }, (_, id) => ({ id, title: words(rnd), lines: 1 + rnd(3) }));

let scroller;

function Row({ row, picked, onPick }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <input type="checkbox" className="pick" checked={picked} aria-label={`Pick ${row.id}`} onChange={() => onPick(row.id)} />
      <a href={`#/row/${row.id}`}>
        {row.id}: {row.title}
      </a>
      <button className="more" aria-expanded={open} onClick={() => setOpen(!open)}>
        More
      </button>
      {Array.from({ length: row.lines }, (_, n) => (
        <p key={n}>Line {n}</p>
      ))}
      {open && <textarea aria-label="Note" defaultValue={`About ${row.title}`} />}
    </>
  );
}

function App() {
  const parent = useRef(null);
  const [query, setQuery] = useState("");
  const [picked, setPicked] = useState(() => new Set());
  const rows = useMemo(() => data.filter((row) => row.title.includes(query)), [query]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => parent.current,
    getItemKey: (i) => rows[i].id,
    estimateSize: () => 60,
    overscan: 4,
    useScrollendEvent: true,
  });
  scroller = virtualizer;
  const pick = (id) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  };
  return (
    <main>
      <h1>{rows.length} rows</h1>
      <input className="query" type="search" placeholder="Filter" value={query} onChange={(e) => setQuery(e.target.value)} />
      <button className="none" disabled={!picked.size} onClick={() => setPicked(new Set())}>
        Unpick {picked.size}
      </button>
      <div ref={parent} className="scroller" tabIndex={0} role="listbox" aria-label="Rows">
        <div style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
          {virtualizer.getVirtualItems().map((item) => (
            <div key={item.key} ref={virtualizer.measureElement} data-index={item.index} className="row" style={{ transform: `translateY(${item.start}px)` }}>
              <Row row={rows[item.index]} picked={picked.has(rows[item.index].id)} onPick={pick} />
            </div>
          ))}
        </div>
      </div>
    </main>
  );
}

flushSync(() => createRoot(document.getElementById("app")).render(<App />));

const click = (selector) => (rnd) => {
  const list = all(selector);
  if (!list.length) return false;
  list[rnd(list.length)].click();
};
const jump = (align) => (rnd) => scroller.options.count > 0 && void scroller.scrollToIndex(rnd(scroller.options.count), { align });
const by = (rnd) => void one(".scroller").scrollBy(0, rnd(1200) - 600);

drive(
  {
    by, alsoBy: by, far: (rnd) => void one(".scroller").scrollTo(0, rnd(ROWS * 90)),
    jump: jump("start"), jumpEnd: jump("end"), jumpCenter: jump("center"),
    top: () => void one(".scroller").scrollTo(0, 0), bottom: () => void one(".scroller").scrollTo(0, ROWS * 200),
    pick: click(".pick"), alsoPick: click(".pick"), more: click(".more"), none: click(".none:enabled"),
    filter: (rnd) => enter(one(".query"), ["", "a", "mend", "sing car", "no such row"][rnd(5)]),
    window: (rnd) => scrollTo(0, rnd(2) * 400),
    narrow: (rnd) => void (one(".scroller").style.height = `${200 + 100 * rnd(6)}px`),
  },
  async () => {
    // A scroll is told at the next frame, rows are measured in the one after it and then may move.
    for (let i = 0; i < 4; i++) await frame();
    await turn();
  },
);

// An auction that never ends: rivals bid on a fixed schedule, so that two visits see the same story.
"use strict";

const all = [
  { id: "sextant", name: "Brass sextant, 1874", price: 420, step: 20, hue: 40 },
  { id: "atlas", name: "Sea atlas, hand-coloured", price: 980, step: 40, hue: 210 },
  { id: "clock", name: "Ship's chronometer", price: 1500, step: 50, hue: 160 },
  { id: "lamp", name: "Lighthouse lamp", price: 260, step: 10, hue: 15 },
];
// ?lots=2 shows the last two lots only.
const lots = all.slice(-(Number(new URLSearchParams(location.search).get("lots")) || all.length));
const rivals = ["Ines", "Bram", "Oda", "Yusuf", "Maren"];
const pace = 450; // milliseconds between two bids of rivals
const feedLength = 3;

const feed = document.querySelector("#feed");

for (const lot of lots) {
  const card = document.querySelector("#lot").content.firstElementChild.cloneNode(true);
  card.querySelector(".picture").style.setProperty("--hue", lot.hue);
  const link = card.querySelector("a");
  link.textContent = lot.name;
  link.href = "#" + lot.id;
  lot.card = card;
  lot.watch = card.querySelector("input");
  lot.watch.name = "watch-" + lot.id;
  lot.button = card.querySelector("button");
  lot.button.addEventListener("click", () => bid(lot));
  show(lot);
  document.querySelector("#lots").append(card);
}

function show(lot) {
  lot.card.querySelector(".price").textContent = `${lot.price} €`;
  lot.button.textContent = `Bid ${lot.price + lot.step} € on ${lot.name}`;
}

// tell puts a line on top of the feed and drops the oldest.
function tell(text, lot) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.textContent = text;
  link.href = "#" + lot.id;
  line.append(link);
  feed.prepend(line);
  while (feed.children.length > feedLength) feed.lastElementChild.remove();
}

// What the rivals do, one thing at a time.
const moves = [
  (lot, rival) => { lot.price += lot.step; show(lot); tell(`${rival} bids ${lot.price} €`, lot); },
  (lot) => { lot.watch.checked = !lot.watch.checked; lot.watch.dispatchEvent(new Event("change", { bubbles: true })); },
  (lot, rival) => tell(`${rival} asks about lot ${lots.indexOf(lot) + 1}`, lot),
  (lot) => { held = lot; lot.button.disabled = true; },
];

// held is the lot that nobody can bid on until the next move: shorter than domtap waits for a button.
let held = null;

let turn = 0;
let resumeAt = 0;

setInterval(() => {
  if (performance.now() < resumeAt) return; // everybody waits while you bid
  if (held) held.button.disabled = false;
  held = null;
  const lot = lots[turn % lots.length];
  moves[(turn * 3 + Math.floor(turn / lots.length)) % moves.length](lot, rivals[turn % rivals.length]);
  turn++;
}, pace);

// bid is the visitor's own bid: it can be withdrawn.
function bid(lot) {
  resumeAt = performance.now() + 3000;
  lot.price += lot.step;
  show(lot);
  lot.card.classList.add("leading");
  tell(`You lead with ${lot.price} €`, lot);
  if (lot.withdraw) return;
  lot.withdraw = document.createElement("button");
  lot.withdraw.textContent = `Withdraw from ${lot.name}`;
  lot.withdraw.addEventListener("click", () => {
    lot.withdraw.remove();
    lot.withdraw = null;
    lot.card.classList.remove("leading");
  });
  lot.button.after(lot.withdraw);
}

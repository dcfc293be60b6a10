// The page of a fleet: a tile for each board, which leads to the board's page.
import { events, get, listen } from "./api.js";
import { clock, h } from "./dom.js";
import { askForCode, begin } from "./pairing.js";
import { number, span } from "./words.js";

const EVERY_MS = 10000;
const VALUES = 6;
const main = document.getElementById("main");
const link = document.getElementById("link");
const summary = h("p", { role: "status" });
const grid = h("div", { class: "grid" });
const tiles = new Map();
let timer = 0;
let place = "";

async function start() {
  const found = await get("/session");
  ({ place } = found);
  document.getElementById("name").textContent = "Fleet";
  document.getElementById("role").textContent = found.guest ? "guest: you look only" : "";
  document.title = "Fleet · tenner";
  main.replaceChildren(h("h1", null, "Boards"), summary, grid);
  listen();
  await refresh();
}

function stop() {
  clearTimeout(timer);
  tiles.clear();
  grid.replaceChildren();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const found = await get("/fleet");
    setLink(found.connected ? "connected" : "the broker is away", found.connected);
    found.tiles.forEach(draw);
    sum();
  } finally {
    timer = setTimeout(() => refresh().catch(() => {}), EVERY_MS);
  }
}

function setLink(text, good) {
  link.textContent = text;
  link.className = good ? "good" : "bad";
}

const nameOf = (tile) => tile.name || tile.topic.split("/").pop();

// Only the body is drawn again, so that a focused link stays.
function draw(tile) {
  let known = tiles.get(tile.topic);
  if (!known) {
    const title = h(tile.page ? "a" : "span", tile.page ? { href: tile.page } : null);
    known = { title, body: h("div"), card: h("section"), tile: null };
    known.card.append(h("h2", null, title), known.body);
    tiles.set(tile.topic, known);
    const after = [...tiles.values()].filter((one) => one.tile && one.tile.topic > tile.topic);
    const next = after.sort((a, b) => (a.tile.topic < b.tile.topic ? -1 : 1))[0];
    grid.insertBefore(known.card, next ? next.card : null);
  }
  known.tile = tile;
  known.title.textContent = nameOf(tile);
  known.card.setAttribute("aria-label", nameOf(tile));
  known.card.className = "card" + (tile.alarms && tile.alarms.length ? " alarm" : "");
  known.body.replaceChildren(...body(tile));
}

function body(tile) {
  const kind = { online: "good", offline: "bad" }[tile.status] || "warn";
  const health = [tile.version && `tenner ${tile.version}`, tile.up_s != null && `up ${span(tile.up_s)}`,
    tile.heap_free_kb != null && `${tile.heap_free_kb} KB of heap free`].filter(Boolean);
  const lines = [h("p", null, h("strong", { class: kind }, tile.status), " ", h("small", null, health.join(" · ")))];
  const shown = tile.sensors.slice(0, VALUES);
  lines.push(h("dl", { class: "values" }, shown.flatMap((one) => [h("dt", null, one.name), h("dd", null, number(one.value))])));
  if (tile.sensors.length > VALUES) lines.push(h("p", null, h("small", null, `and ${tile.sensors.length - VALUES} more values`)));
  for (const one of tile.alarms || []) lines.push(h("p", { class: "bad" }, h("strong", null, one.state), ` ${one.text}`));
  if (tile.alarms && !tile.alarms.length && tile.status === "online") lines.push(h("p", { class: "good" }, "no alarm"));
  if (tile.problem) lines.push(h("p", { class: "warn" }, tile.problem));
  if (!tile.page) lines.push(h("p", null, h("small", null, "No page: this computer has no key of this board. `tenner sync` over the cable makes one.")));
  const seen = tile.seen ? `last message ${clock(tile.seen)}` : "no message since this server began";
  lines.push(h("p", null, h("small", null, `${tile.topic} · ${seen}`)));
  return lines;
}

function sum() {
  const all = [...tiles.values()].map((one) => one.tile);
  const online = all.filter((one) => one.status === "online").length;
  const alarms = all.reduce((count, one) => count + (one.alarms || []).length, 0);
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  summary.textContent = all.length ? `${plural(all.length, "board")} below ${place}: ${online} online, ${plural(alarms, "alarm")}.`
    : `No board is below ${place}.`;
}

events.addEventListener("tile", ({ detail }) => { draw(detail.tile); sum(); });
events.addEventListener("lost", ({ detail }) => setLink(detail, false));
events.addEventListener("open", () => refresh().catch(() => {}));
addEventListener("unpaired", () => { stop(); askForCode("The session is over.", start); });
addEventListener("hashchange", () => { if (location.hash.startsWith("#code=")) begin(start, stop); });
begin(start, stop);

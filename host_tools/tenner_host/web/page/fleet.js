// The page of a fleet: a tile for each board, which leads to the board's page.
import { events, get, listen } from "./api.js";
import { h } from "./dom.js";
import * as home from "./home.js";
import { askForCode, begin } from "./pairing.js";
import { beat, heard, isQuiet, quietFor, say, still } from "./pulse.js";
import { ago, filled, friendly, moment, shown, span } from "./words.js";

const EVERY_MS = 5000;
const LIMIT_MS = 12000;
// A board that is online is due after twice its longest pause so far.
const PAUSES = 2;
const PAUSE_S = 60;
const VALUES = 6;
const main = document.getElementById("main");
const summary = h("p", { role: "status" });
const grid = h("div", { class: "grid" });
const tiles = new Map();
let timer = 0;
let place = "";
let connected = false;

async function start() {
  const found = await get("/session");
  ({ place } = found);
  document.getElementById("name").textContent = "Fleet";
  document.getElementById("role").textContent = found.guest ? "guest: you look only" : "";
  document.title = "Fleet · tenner";
  home.offer("tenner fleet");
  main.replaceChildren(h("h1", null, "Boards"), summary, grid);
  listen();
  beat(showLink, () => refresh().catch(() => {}));
  await refresh();
}

function stop() {
  clearTimeout(timer);
  still();
  tiles.clear();
  grid.replaceChildren();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const found = await get("/fleet", LIMIT_MS);
    heard();
    ({ connected } = found);
    showLink();
    found.tiles.forEach(draw);
    sum();
  } finally {
    timer = setTimeout(() => refresh().catch(() => {}), EVERY_MS);
  }
}

function showLink() {
  if (isQuiet()) say("no answer", "bad", quietFor());
  else say(connected ? "connected" : "the broker is away", connected ? "good" : "bad");
  document.body.classList.toggle("stale", isQuiet() || !connected);
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
  known.card.className = "card" + (tile.alarms && tile.alarms.length ? " alarm" : "") + (tile.status !== "online" || isSilent(tile) ? " old" : "");
  known.body.replaceChildren(...body(tile));
}

const silentFor = (tile) => (tile.seen == null ? 0 : Date.now() / 1000 - tile.seen);
const isSilent = (tile) => tile.status === "online" && silentFor(tile) > PAUSES * Math.max(tile.pause_s || 0, PAUSE_S);

// A value of the broker's has no unit; a text of the board's gets the values that are there.
function body(tile) {
  const silent = isSilent(tile);
  const kind = silent ? "bad" : { online: "good", offline: "bad" }[tile.status] || "warn";
  const word = silent ? `no answer for ${span(silentFor(tile))}` : tile.status;
  const health = [tile.version && `tenner ${tile.version}`, !silent && tile.status !== "offline" && tile.up_s != null && `up ${span(tile.up_s)}`].filter(Boolean);
  const lines = [h("p", null, h("strong", { class: kind }, word), " ", h("small", null, health.join(" · ")))];
  for (const one of tile.alarms || []) lines.push(h("p", { class: "bad" }, h("strong", null, since(one.state)), ` ${filled(one.text, (name) => lookAt(tile, name))}`));
  const own = tile.sensors.slice(0, VALUES);
  lines.push(h("dl", { class: "values" }, own.flatMap((one) => [h("dt", { title: one.name }, friendly(one.name)), h("dd", null, valueOf(one))])));
  if (tile.sensors.length > VALUES) lines.push(h("p", null, h("small", null, `and ${tile.sensors.length - VALUES} more values`)));
  if (tile.alarms && !tile.alarms.length && tile.status === "online" && !silent) lines.push(h("p", { class: "good" }, "no alarm"));
  if (tile.problem) lines.push(h("p", { class: "warn" }, tile.problem));
  if (!tile.page) lines.push(h("p", null, h("small", null, "No page: this computer has no key of this board. ", h("code", null, "tenner sync"), " over the cable makes one.")));
  const seen = tile.seen ? `last message ${ago(silentFor(tile))}` : "no message since this server began";
  lines.push(h("p", null, h("small", null, `${tile.topic} · ${seen}`)));
  return lines;
}

const isState = (one) => /\.(open|on|wet|closed)$/.test(one.name);
const valueOf = (one) => shown(one.value, one.unit || "", one.name, isState(one));
const since = (state) => (state || "").split(",")[0].replace(/since (.*)/, (_, at) => `since ${moment(at)}`);

function lookAt(tile, name) {
  const one = tile.sensors.find((other) => other.name === name);
  return one ? { value: one.value, unit: one.unit || "", isSwitch: isState(one) } : {};
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
events.addEventListener("open", () => refresh().catch(() => {}));
addEventListener("unpaired", () => { stop(); askForCode("The session is over.", start); });
addEventListener("hashchange", () => { if (location.hash.startsWith("#code=")) begin(start, stop); });
begin(start, stop);

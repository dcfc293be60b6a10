// The page: its views, and the line that says whether the board is there.
import { call, events, get, listen, post } from "./api.js";
import { h, lookOnly, note } from "./dom.js";
import { keepFor } from "./drafts.js";
import * as chat from "./chat.js";
import * as heartbeat from "./heartbeat.js";
import * as live from "./live.js";
import * as log from "./log.js";
import * as now from "./now.js";
import { askForCode, begin } from "./pairing.js";
import * as plots from "./plots.js";
import * as settings from "./settings.js";
import * as update from "./update.js";

const VIEWS = { now, chat, heartbeat, plots, log, settings, update };
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const app = { board: null, offers: [], missing: {}, guest: false, readFiles, restarted, note, show };
let leave = null;
let shown = 0;
let current = now;

async function show() {
  const name = location.hash.slice(1).split("=")[0];
  if (name === "main") return;
  const view = VIEWS[name] || now;
  const turn = ++shown;
  if (leave) leave();
  leave = null;
  for (const link of nav.children) {
    if (VIEWS[link.hash.slice(1)] === view) {
      link.setAttribute("aria-current", "page");
      nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  current = view;
  setTitle();
  const place = h("div", null, h("h1", null, view.title));
  main.replaceChildren(place);
  try {
    const done = await view.show(place, app);
    if (turn === shown) leave = done;
    else if (done) done();
  } catch (problem) {
    if (problem.status !== 401) place.append(h("p", { class: "bad" }, problem.message));
  }
}

function setBoard(board) {
  app.board = board;
  document.getElementById("name").textContent = board.name || board.label;
  setLink(board.state, board.text);
}

// The count of active alarms is in the tab and in the title, whatever view is shown.
function setTitle() {
  const count = live.activeCount();
  const words = `${count} active alarm${count === 1 ? "" : "s"}`;
  document.title = `${count ? `(${count}) ` : ""}${(app.board && app.board.name) || "tenner"} · ${current.title}`;
  const badge = nav.querySelector("a[href='#now']");
  if (badge) badge.replaceChildren(now.title, ...(count ? [" ", h("span", { class: "badge", "aria-label": words, role: "img" }, String(count))] : []));
}

function setLink(state, text) {
  const line = document.getElementById("link");
  const words = { connected: "connected", connecting: "connecting …", files: text + " …", lost: text };
  line.textContent = words[state] || text;
  line.className = state === "connected" ? "good" : state === "lost" ? "bad" : "warn";
}

// They are read for a guest by the owner, or by a board at each request.
async function readFiles() {
  if (app.guest) return;
  const found = await post("/files/read");
  setBoard(found.board);
}

// After a change of its settings a board's own server is away for some seconds.
async function restarted() {
  for (let tries = 0; ; tries++) {
    await new Promise((go) => setTimeout(go, 1000));
    try {
      return await readFiles();
    } catch (problem) {
      if (problem.status || tries > 60) throw problem;
    }
  }
}

function stop() {
  if (leave) leave();
  leave = null;
  shown++;
  live.end();
  setTitle();
}

async function start() {
  const { board, offers, guest, missing = {} } = await get("/session");
  Object.assign(app, { offers, guest, missing });
  lookOnly(guest);
  // A board's own page has an address of its own, and its label may change.
  keepFor(offers.includes("replay") ? board.label : "");
  document.getElementById("role").textContent = guest ? "guest: you look only" : "";
  setBoard(board);
  nav.replaceChildren(...Object.entries(VIEWS).map(([name, view]) => h("a", { href: "#" + name }, view.title)));
  listen();
  if (!board.restarts_for_files && !board.slow) await readFiles().catch((problem) => note(problem.message));
  live.begin();
  await show();
}

live.live.addEventListener("now", ({ detail }) => { if (detail.board) setBoard(detail.board); setTitle(); });
events.addEventListener("link", (event) => setLink(event.detail.state, event.detail.text));
events.addEventListener("lost", (event) => setLink("lost", event.detail));
events.addEventListener("open", () => get("/session").then((found) => setBoard(found.board), () => {}));
addEventListener("unpaired", () => { if (app.board) { app.board = null; stop(); askForCode("The session is over.", start); } });
addEventListener("hashchange", () => { if (location.hash.startsWith("#code=")) begin(start, stop); else if (app.board) show(); });
if (location.pathname.includes("/boards/")) document.querySelector(".brand").prepend(h("a", { href: "../../" }, "All boards"));
begin(start, stop);

// The page: its views, and the line that says whether the board is there.
import { call, events, get, listen, post } from "./api.js";
import { h, lookOnly, note } from "./dom.js";
import { keepFor } from "./drafts.js";
import * as chat from "./chat.js";
import * as heartbeat from "./heartbeat.js";
import * as home from "./home.js";
import * as live from "./live.js";
import * as log from "./log.js";
import * as now from "./now.js";
import { askForCode, begin } from "./pairing.js";
import * as plots from "./plots.js";
import { isQuiet, quietFor, say } from "./pulse.js";
import * as settings from "./settings.js";
import * as tabs from "./tabs.js";
import * as update from "./update.js";

const VIEWS = { now, chat, heartbeat, plots, log, settings, update };
// A turn of the agent may take so long without a word.
const AT_WORK_S = 90;
const main = document.getElementById("main");
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
  tabs.mark((other) => VIEWS[other] === view);
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
  home.offer(board.name || board.label);
  showLink();
}

// The connection as it is: that of the server, unless the board itself is silent.
function showLink() {
  if (!app.board) return;
  const { state, text } = app.board;
  const isSilent = isQuiet() && state !== "files" && !(live.isBusy() && quietFor() < AT_WORK_S);
  if (isSilent) say("no answer", "bad", quietFor());
  else if (isQuiet() && state === "connected") say("the agent is at work", "warn", quietFor());
  else {
    const words = { connected: "connected", connecting: "connecting …", files: text + " …" };
    say(words[state] || text, state === "connected" ? "good" : state === "lost" ? "bad" : "warn");
  }
  document.body.classList.toggle("stale", isSilent || state === "lost");
}

// The count of active alarms is in the tab and in the title, whatever view is shown.
function setTitle() {
  const count = live.activeCount();
  const words = `${count} active alarm${count === 1 ? "" : "s"}`;
  document.title = `${count ? `(${count}) ` : ""}${(app.board && app.board.name) || "tenner"} · ${current.title}`;
  tabs.count(count, words);
}

// They are read for a guest by the owner, or by a board at each request.
async function readFiles() {
  if (app.guest) return;
  const found = await post("/files/read");
  app.filesAt = found.files_at;
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
  tabs.draw(document.getElementById("nav"), VIEWS);
  listen();
  if (!board.restarts_for_files && !board.slow) await readFiles().catch((problem) => note(problem.message));
  live.begin(!offers.includes("replay"), showLink);
  await show();
}

live.live.addEventListener("now", ({ detail }) => { if (detail.board) setBoard(detail.board); setTitle(); });
events.addEventListener("link", ({ detail }) => { if (app.board) setBoard({ ...app.board, state: detail.state, text: detail.text }); });
events.addEventListener("open", () => get("/session").then((found) => setBoard(found.board), () => {}));
addEventListener("unpaired", () => { if (app.board) { app.board = null; stop(); askForCode("The session is over.", start); } });
addEventListener("hashchange", () => { if (location.hash.startsWith("#code=")) begin(start, stop); else if (app.board) show(); });
if (location.pathname.includes("/boards/")) document.querySelector(".brand").prepend(h("a", { href: "../../" }, "All boards"));
begin(start, stop);

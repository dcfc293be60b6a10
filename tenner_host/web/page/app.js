// The page: its views, the pairing, and the line that says whether the board is there.
import { call, events, get, listen, pair, post } from "./api.js";
import { button, h, note } from "./dom.js";
import * as chat from "./chat.js";
import * as heartbeat from "./heartbeat.js";
import * as log from "./log.js";
import * as now from "./now.js";
import * as plots from "./plots.js";
import * as settings from "./settings.js";
import * as update from "./update.js";

const VIEWS = { now, chat, heartbeat, plots, log, settings, update };
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const app = { board: null, offers: [], readFiles, restarted, note, show };
let leave = null;
let shown = 0;

async function show() {
  const name = location.hash.slice(1).split("=")[0];
  if (name === "main") return;
  const view = VIEWS[name] || now;
  const turn = ++shown;
  if (leave) leave();
  leave = null;
  for (const link of nav.children) {
    if (VIEWS[link.hash.slice(1)] === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view.title} · tenner`;
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

function setLink(state, text) {
  const line = document.getElementById("link");
  const words = { connected: "connected", connecting: "connecting …", files: text + " …", lost: text };
  line.textContent = words[state] || text;
  line.className = state === "connected" ? "good" : state === "lost" ? "bad" : "warn";
}

async function readFiles() {
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

function askForCode(sentence) {
  if (leave) leave();
  leave = null;
  shown++;
  nav.replaceChildren();
  const input = h("input", { id: "code", autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: "false", required: true, maxlength: 40 });
  const problem = h("p", { class: "bad", role: "alert" }, sentence);
  const form = h("form", { class: "card", onsubmit: send }, h("h1", null, "Pair this browser"),
    h("p", null, h("label", { for: "code" }, "Enter the code that `tenner web` shows in its terminal, or a board in its answer to /web.")),
    h("p", { class: "row" }, input, h("button", { class: "main" }, "Pair")), problem);
  main.replaceChildren(form);
  input.focus();
  async function send(event) {
    event.preventDefault();
    try {
      await pair(input.value);
      await start();
    } catch (failed) {
      problem.textContent = failed.message;
    }
  }
}

async function start() {
  const { board, offers } = await get("/session");
  app.offers = offers;
  setBoard(board);
  nav.replaceChildren(...Object.entries(VIEWS).map(([name, view]) => h("a", { href: "#" + name }, view.title)));
  listen();
  if (!board.restarts_for_files) await readFiles().catch((problem) => note(problem.message));
  await show();
}

async function begin() {
  const code = location.hash.startsWith("#code=") ? decodeURIComponent(location.hash.slice(6)) : "";
  let sentence = "";
  if (code) {
    // The code stays in no history.
    history.replaceState(null, "", location.pathname);
    try {
      await pair(code);
    } catch (problem) {
      sentence = problem.message;
    }
  }
  try {
    await start();
  } catch (problem) {
    if (problem.status === 401) askForCode(sentence);
    else main.replaceChildren(h("p", { class: "bad" }, problem.message), button("Try again", begin));
  }
}

events.addEventListener("link", (event) => setLink(event.detail.state, event.detail.text));
events.addEventListener("lost", (event) => setLink("lost", event.detail));
events.addEventListener("open", () => get("/session").then((found) => setBoard(found.board), () => {}));
addEventListener("unpaired", () => { if (app.board) { app.board = null; askForCode("The session is over."); } });
addEventListener("hashchange", () => { if (location.hash.startsWith("#code=")) begin(); else if (app.board) show(); });
begin();

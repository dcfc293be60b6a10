// The board's present state, asked for again and again, for all views; and whether it answers.
import { events, get } from "./api.js";
import { beat, heard, quietFor, still } from "./pulse.js";

const OFTEN_MS = 5000;
// A board has little time for its own page: other requests show that it answers.
const BOARDS_MS = 10000;
const SELDOM_MS = 60000;
const PROBE_S = 5;
// A computer asks its board again after three seconds.
const FRESH_S = 4;
// A computer waits half a minute for its board; a board tells after eight seconds to come again.
const LIMIT_MS = 40000;
const BOARDS_LIMIT_MS = 12000;
export const live = new EventTarget();
let found = null;
let running = false;
let often = false;
let byBoard = false;
let busy = false;
let timer = 0;
let probing = false;

export const latest = () => found;
// Nobody asks the agent while a person waits for its answer.
export const isBusy = () => busy;
export const isActive = (task) => Boolean(task.condition) && /^(active|over)/.test(task.state);
export const activeCount = () => (found && found.agent ? found.agent.tasks.filter(isActive).length : 0);

const limit = () => (byBoard ? BOARDS_LIMIT_MS : LIMIT_MS);

// Ask now; then again and again, often where a view shows the state.
export async function refresh() {
  clearTimeout(timer);
  try {
    const answer = await get("/now", limit());
    if (!running) return;
    // Their times are short on the way.
    for (const one of answer.sensors) for (const point of one.points) point[0] += one.since;
    const isNew = Boolean(answer.agent) && answer.agent.at !== found?.agent?.at;
    // A state of before the last request is not asked for again.
    busy = !answer.problem && !isNew && quietFor() > FRESH_S;
    if (byBoard || (!answer.problem && isNew)) heard();
    found = answer;
    live.dispatchEvent(new CustomEvent("now", { detail: found }));
  } catch (problem) {
    busy = false;
    throw problem;
  } finally {
    clearTimeout(timer);
    if (running) timer = setTimeout(() => refresh().catch(() => {}), byBoard ? (often ? BOARDS_MS : SELDOM_MS) : OFTEN_MS);
  }
}

async function probe() {
  if (!byBoard || probing || quietFor() < PROBE_S) return;
  probing = true;
  try {
    await get("/session", BOARDS_LIMIT_MS);
  } catch {
    // The header tells.
  } finally {
    probing = false;
  }
}

// `isOwn`: the board itself serves the page. `tick` is called each second.
export function begin(isOwn, tick) {
  running = true;
  byBoard = isOwn;
  beat(() => { probe(); tick(); }, () => refresh().catch(() => {}));
  refresh().catch(() => {});
}

export function end() {
  running = busy = false;
  found = null;
  clearTimeout(timer);
  still();
}

// Call `work` with each state while a view is shown, and return its end.
export async function follow(work) {
  const take = (event) => work(event.detail);
  live.addEventListener("now", take);
  often = true;
  const leave = () => { often = false; live.removeEventListener("now", take); };
  try {
    await refresh();
  } catch (problem) {
    leave();
    throw problem;
  }
  return leave;
}

events.addEventListener("answer", () => { if (byBoard) heard(); });
for (const name of ["log", "chat", "question"]) events.addEventListener(name, heard);

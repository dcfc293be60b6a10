// The board's present state, asked for again and again, for all views.
import { get } from "./api.js";

const OFTEN_MS = 10000;
const SELDOM_MS = 60000;
export const live = new EventTarget();
let found = null;
let running = false;
let often = false;
let timer = 0;

export const latest = () => found;

// Ask now; then again and again, often where a view shows the state.
export async function refresh() {
  clearTimeout(timer);
  try {
    const answer = await get("/now");
    if (!running) return;
    // Their times are short on the way.
    for (const one of answer.sensors) for (const point of one.points) point[0] += one.since;
    found = answer;
    live.dispatchEvent(new CustomEvent("now", { detail: found }));
  } finally {
    clearTimeout(timer);
    if (running) timer = setTimeout(() => refresh().catch(() => {}), often ? OFTEN_MS : SELDOM_MS);
  }
}

export function begin() {
  running = true;
  refresh().catch(() => {});
}

export function end() {
  running = false;
  found = null;
  clearTimeout(timer);
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

export const isActive = (task) => Boolean(task.condition) && /^(active|over)/.test(task.state);
export const activeCount = () => (found && found.agent ? found.agent.tasks.filter(isActive).length : 0);

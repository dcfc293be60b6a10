// Now: the board's health, its sensors, its tasks and alarms.
import { get, post } from "./api.js";
import { action, clock, h, isSwitch, note, number, span, sparkline } from "./dom.js";

export const title = "Now";
const EVERY_MS = 10000;

export async function show(place, app) {
  const health = h("div");
  const sensors = h("div", { class: "grid" });
  const tasks = h("div");
  const files = h("div");
  place.append(health, h("h2", null, "Sensors"), sensors, files, h("h2", null, "Tasks and alarms"), tasks);
  let timer = 0;
  let ended = false;
  let drawn = "";

  async function refresh() {
    clearTimeout(timer);
    try {
      const found = await get("/now");
      if (ended) return;
      health.replaceChildren(...healthLines(found));
      sensors.replaceChildren(...(found.sensors.length ? found.sensors.map(sensor)
        : [h("p", { class: "soft" }, "No values yet.")]));
      files.replaceChildren(...(found.files_at ? [] : [filesCard(app, refresh)]));
      // Drawn only after a change, so that a focused button and an open answer stay.
      const state = JSON.stringify([found.agent && found.agent.tasks.map((one) => ({ ...one, next_s: 0 })), found.agent && found.agent.decisions]);
      if (state !== drawn) {
        drawn = state;
        tasks.replaceChildren(...taskCards(found.agent, refresh));
      }
    } finally {
      if (!ended) timer = setTimeout(() => refresh().catch(() => {}), EVERY_MS);
    }
  }

  await refresh();
  return () => { ended = true; clearTimeout(timer); };
}

function healthLines({ agent, problem }) {
  const lines = [];
  if (problem) lines.push(h("p", { class: "bad", role: "alert" }, problem));
  if (!agent) return lines;
  const { status } = agent;
  const parts = [
    status.version && `tenner ${status.version}`, status.up_s != null && `up ${span(status.up_s)}`,
    status.heap_free_kb != null && `${status.heap_free_kb} KB of heap free`,
    status.network && `network ${status.network}`, status.telegram && `Telegram: ${status.telegram}`,
    status.outbox ? `${status.outbox} messages waiting` : null,
    agent.next_s != null && `next look in ${span(agent.next_s)}`,
  ];
  lines.push(h("p", null, parts.filter(Boolean).join(" · ")));
  for (const one of status.failing || []) lines.push(h("p", { class: "bad" }, `Failing: ${one}`));
  lines.push(h("details", null, h("summary", null, `As the board says it, ${clock(agent.at)}`), h("pre", null, status.lines.join("\n"))));
  return lines;
}

function sensor(one) {
  const steps = isSwitch(one) && (one.value === 0 || one.value === 1);
  const value = steps ? ["off", "on"][one.value] : `${number(one.value)}${one.unit ? " " + one.unit : ""}`;
  const label = `${one.name} over the last day, ${one.old ? "last" : "now"} ${value}`;
  return h("section", { class: "card", "aria-label": one.name }, h("p", null, one.name),
    h("p", { class: "value" }, value), sparkline(one.points, label, steps), h("small", null, `${clock(one.at)}${one.old ? " (old)" : ""}`));
}

export function filesCard(app, after) {
  if (app.guest) return h("div", { class: "card" }, h("p", null, "Stored readings, HEARTBEAT.md and settings are there once the owner has read the board's files."));
  const stops = app.board.restarts_for_files
    ? "Stored readings, HEARTBEAT.md and settings are files of the board. Its agent stops while they are read, and starts again: some seconds."
    : "Stored readings, HEARTBEAT.md and settings are files of the board. Its agent runs on while they are read.";
  return h("div", { class: "card" }, h("p", null, stops),
    action("Read the files", async () => { await app.readFiles(); await after(); }, { class: "main" }));
}

function taskCards(agent, refresh) {
  if (!agent) return [];
  if (!agent.tasks.length) return [h("p", { class: "soft" }, "HEARTBEAT.md has no tasks.")];
  return agent.tasks.map((task) => taskCard(task, agent.decisions, refresh));
}

function taskCard(task, decisions, refresh) {
  const id = task.alarm != null ? String(task.alarm) : `line ${task.line}`;
  const kind = !task.state ? "" : /^(active|pending)/.test(task.state) ? "bad" : /^clear/.test(task.state) ? "good" : "warn";
  const lines = [h("p", null, task.text.split("\n")[0])];
  if (task.condition) {
    lines.push(h("p", { class: kind }, h("strong", null, task.state)),
      h("p", { class: "soft" }, `${task.condition}${task.value == null ? "" : task.old_s == null ? ` (now ${number(task.value)})` : ` (${number(task.value)}, old: ${span(task.old_s)})`}`));
  }
  const more = [task.line ? `line ${task.line}` : "", task.waits && `waits: ${task.waits}`,
    task.done ? "done" : task.next_s == null ? "waits for the clock" : `next in ${span(task.next_s)}`,
    task.last_run && `last run ${task.last_run}`, task.told && `last told ${task.told}`];
  lines.push(h("p", null, h("small", null, more.filter(Boolean).join(" · "))));
  const answer = h("p", { role: "status" });
  const act = (what, more) => async () => {
    const found = await post("/alarms", { action: what, id, ...more });
    answer.textContent = found.answer;
    if (what !== "why") { note(found.answer); await refresh(); }
  };
  const buttons = [];
  if (task.condition) {
    if (task.alarm != null && /^active/.test(task.state)) buttons.push(action("Acknowledge", act("ack"), { class: "main" }));
    buttons.push(/^muted/.test(task.state) ? action("Unmute", act("unmute")) : action("Mute for 1 h", act("mute", { duration: "1h" })));
    buttons.push(action("Why?", act("why")));
  }
  if (task.line) buttons.push(action("Run now", async () => { note((await post("/tasks/run", { line: task.line })).answer); }));
  const name = `line ${task.line}`;
  const past = decisions.filter((one) => one.task === name);
  const history = past.length ? h("details", null, h("summary", null, "Latest decisions"),
    h("ul", null, past.map((one) => h("li", null, `${one.at}: ${one.result}${one.why ? ", " + one.why : ""}${one.times > 1 ? ` (×${one.times})` : ""}`)))) : null;
  return h("section", { class: "card", "aria-label": task.line ? name : "other tasks" }, lines, h("div", { class: "row" }, buttons), answer, history);
}

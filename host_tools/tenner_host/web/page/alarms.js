// Alarms and other tasks, a line each: a strip of those that matter now, and the rest folded.
import { post } from "./api.js";
import { action, h, note } from "./dom.js";
import { isActive } from "./live.js";
import { ending, filled, friendly, limit, moment, parse, shown, span } from "./words.js";

// So many active alarms are open, and so many more have a line; the rest is behind one more tap.
const OPEN = 3;
const LINES = 5;
const KINDS = [["active", isActive], ["unread", (task) => /^cannot be read/.test(task.state)],
  ["pending", (task) => /^pending/.test(task.state)], ["acknowledged", (task) => /^acknowledged/.test(task.state)]];
const WORDS = { active: "active", unread: "without a reading", pending: "about to begin", acknowledged: "acknowledged" };

const kindOf = (task) => (KINDS.find(([, fits]) => fits(task)) || ["quiet"])[0];
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const keyOf = (task) => `${task.line} ${task.condition || ""}`;

// Seconds until seven in the morning, as the answer to "not tonight".
function tillMorning() {
  const then = new Date();
  then.setHours(then.getHours() < 7 ? 7 : 31, 0, 0, 0);
  return `${Math.max(Math.round((then - Date.now()) / 60000), 1)}m`;
}

// The value of a condition: the last that the agent has seen.
function about(task, look) {
  const found = parse(task.condition);
  if (!found) return { title: task.condition, value: "", limits: "", term: null };
  const [term] = found.terms;
  const lookAt = (name) => (name === term.name && task.unit != null ? { ...look(name), unit: task.unit } : look(name));
  const held = found.held ? ` for ${span(found.held)}` : "";
  if (found.terms.length > 1) {
    const all = found.terms.map((one) => `${friendly(one.name)} ${limit(one, lookAt(one.name))}`);
    return { title: all.join(found.joint), value: "", limits: held.trim(), term, look: lookAt };
  }
  const its = lookAt(term.name);
  const value = task.value == null ? "" : shown(task.value, its.unit, term.name, its.isSwitch);
  return { title: friendly(term.name), value, limits: limit(term, its) + held, term, look: lookAt };
}

function since(task, kind) {
  const state = task.state;
  const [, at] = state.match(/(?:since|until) ([^,]+)/) || [];
  const parts = [];
  if (kind === "unread") parts.push(`cannot be read${task.old_s ? ` for ${span(task.old_s)}` : ""}`);
  else if (/^pending/.test(state)) parts.push(`begins in ${(state.match(/, (.*) left/) || ["", "a moment"])[1]}`);
  else if (/^over/.test(state)) parts.push("over");
  else if (/^muted/.test(state)) parts.push(`muted until ${moment(at)}`);
  else if (at && at !== "?") parts.push(`${kind === "acknowledged" ? "acknowledged, " : ""}since ${moment(at)}`);
  else parts.push(state.split(",")[0]);
  return parts;
}

// One alarm or task. Its buttons are made again only after a change, so that a focused one stays.
function row(given, app) {
  let { task, look, past } = given;
  const name = h("span", { class: "what" });
  const value = h("strong", { class: "value" });
  const head = h("small");
  const text = h("p");
  const more = h("small");
  const buttons = h("div", { class: "row" });
  const answer = h("p", { role: "status", class: "answer" });
  const history = h("ul");
  const run = h("div", { class: "row" });
  const past_ = h("details", { class: "more" }, h("summary", null, "More"), h("p", null, more), history, run);
  const root = h("details", { class: "line" }, h("summary", null, name, " ", value, " ", head), h("div", { class: "body" }, text, buttons, answer, past_));
  let drawn = "";

  const act = (what, fields) => async () => {
    const id = task.alarm != null ? String(task.alarm) : `line ${task.line}`;
    const found = await post("/alarms", { action: what, id, ...fields });
    answer.textContent = found.answer;
    if (what !== "why") { note(found.answer); await app.refresh(); }
  };

  function mutes() {
    const choices = h("span", { class: "row", hidden: true }, [["1 h", () => "1h"], ["8 h", () => "8h"], ["Till 7:00", tillMorning]].map(([label, duration]) =>
      action(label, () => act("mute", { duration: duration() })(), { "aria-label": `Mute: ${label}` })));
    const opener = action("Mute …", () => { choices.hidden = !choices.hidden; opener.setAttribute("aria-expanded", String(!choices.hidden)); }, { "aria-expanded": "false" });
    return [opener, choices];
  }

  function draw() {
    const made = [];
    if (task.condition) {
      if (task.alarm != null && /^active/.test(task.state)) made.push(action("Acknowledge", act("ack"), { class: "main" }));
      made.push(...(/^muted/.test(task.state) ? [action("Unmute", act("unmute"))] : mutes()), action("Why?", act("why")));
    }
    buttons.replaceChildren(...made.filter(Boolean));
    run.replaceChildren(task.line ? action("Run now", async () => { note((await post("/tasks/run", { line: task.line })).answer); }) : "");
  }

  function update(next) {
    ({ task, look, past } = next);
    const kind = task.condition ? kindOf(task) : "task";
    const said = filled(task.text.split("\n")[0], (one) => lookOf(task, look, one));
    root.className = `line ${kind}`;
    text.textContent = said;
    const next_ = task.done ? "done" : task.next_s == null ? "waits for the clock" : `next in ${span(task.next_s)}`;
    if (task.condition) {
      const found = about(task, look);
      name.textContent = found.title;
      value.textContent = found.value;
      const parts = since(task, kind);
      const end = found.term ? ending(task.state, found.term, found.look(found.term.name)) : "";
      head.replaceChildren([found.limits, ...(kind === "quiet" && /^(clear|not)/.test(task.state) ? [] : parts)].filter(Boolean).join(" · "), end && h("span", { class: "end" }, ` · ${end}`));
      root.setAttribute("aria-label", `${found.title} ${found.limits}`.trim());
      more.textContent = [task.line ? `line ${task.line}` : "", task.state.startsWith("not read") ? "not read yet" : "", task.told && `last told ${moment(task.told)}`, `looks again in ${span(task.next_s) || "a while"}`].filter(Boolean).join(" · ");
    } else {
      name.textContent = said;
      head.textContent = next_;
      root.setAttribute("aria-label", task.line ? `line ${task.line}` : "other tasks");
      more.textContent = [task.line ? `line ${task.line}` : "", task.waits && `waits: ${task.waits}`, task.last_run && `last run ${moment(task.last_run)}`, task.told && `last told ${moment(task.told)}`].filter(Boolean).join(" · ");
      text.hidden = true;
    }
    history.replaceChildren(...past.map((one) => h("li", null, `${moment(one.at)}: ${one.result}${one.why ? ", " + one.why : ""}${one.times > 1 ? ` (×${one.times})` : ""}`)));
    const state = `${kind} ${task.alarm} ${task.state.split(/ |,/)[0]}`;
    if (state !== drawn) { drawn = state; draw(); }
  }

  update({ ...given, task: { state: "", ...task } });
  return { root, update: (one) => update({ ...one, task: { state: "", ...one.task } }) };
}

// A value that an alarm has seen is newer than a stored one.
function lookOf(task, look, name) {
  const found = task.condition && parse(task.condition);
  const own = found && found.terms.length === 1 && found.terms[0].name === name && task.value != null;
  return own ? { ...look(name), value: task.value, unit: task.unit ?? look(name).unit } : look(name);
}

// Children are moved only where that is needed: a moved one loses the focus.
function place(box, wanted) {
  const there = [...box.children];
  if (there.length !== wanted.length || there.some((one, at) => one !== wanted[at])) box.replaceChildren(...wanted);
}

export function alarmViews(app) {
  const heading = h("h2");
  const others_ = h("small");
  const first = h("div", { class: "strip" });
  const rest = h("div", { class: "strip" });
  const restTitle = h("summary");
  const restBox = h("details", { class: "fold" }, restTitle, rest);
  const strip = h("section", { "aria-label": "Alarms now" }, h("div", { class: "head" }, heading, others_), first, restBox);
  const [quietTitle, quiet] = [h("summary"), h("div", { class: "lines" })];
  const [taskTitle, tasks] = [h("summary"), h("div", { class: "lines" })];
  const quietBox = h("details", { class: "fold card" }, quietTitle, quiet);
  const taskBox = h("details", { class: "fold card" }, taskTitle, tasks);
  const empty = h("div");
  const known = new Map();
  // Before the first state they have no words.
  for (const box of [strip, quietBox, taskBox]) box.hidden = true;

  function rows(some, look, decisions) {
    return some.map((task) => {
      const past = decisions.filter((one) => one.task === `line ${task.line}`);
      let one = known.get(keyOf(task));
      if (one) one.update({ task, look, past });
      else known.set(keyOf(task), one = row({ task, look, past }, app));
      return one;
    });
  }

  function update(agent, look) {
    for (const box of [strip, quietBox, taskBox]) box.hidden = !agent;
    if (!agent) return;
    const alarms = agent.tasks.filter((one) => one.condition);
    const now = KINDS.flatMap(([, fits]) => alarms.filter(fits));
    const others = alarms.filter((one) => !now.includes(one));
    const active = now.filter(isActive);
    const counts = KINDS.map(([kind]) => [kind, now.filter((one) => kindOf(one) === kind).length]).filter(([, count]) => count);
    const [head, ...more] = counts.map(([kind, count], at) => (at ? `${count} ${WORDS[kind]}` : kind === "active" ? plural(count, "active alarm") : `${plural(count, "alarm")} ${WORDS[kind]}`));
    heading.textContent = head || "No active alarm";
    others_.textContent = more.join(", ");
    heading.className = active.length ? "bad" : now.length ? "warn" : "good";
    const made = rows(now, look, agent.decisions);
    made.forEach((one, at) => { if (at < OPEN && isActive(now[at]) && one.shownOpen == null) { one.root.open = true; one.shownOpen = true; } });
    place(first, made.slice(0, LINES).map((one) => one.root));
    place(rest, made.slice(LINES).map((one) => one.root));
    restBox.hidden = made.length <= LINES;
    restTitle.textContent = `${made.length - LINES} more`;
    const muted = others.filter((one) => /^muted/.test(one.state)).length;
    quietTitle.textContent = `${plural(others.length, now.length ? "other alarm" : "alarm")}, ${muted ? `${muted} muted` : "none active"}`;
    place(quiet, rows(others, look, agent.decisions).map((one) => one.root));
    quietBox.hidden = !others.length;
    strip.hidden = !alarms.length;
    const timed = agent.tasks.filter((one) => !one.condition);
    taskTitle.textContent = `${plural(timed.length, "task")}${agent.next_s == null ? "" : `, next look in ${span(agent.next_s)}`}`;
    place(tasks, rows(timed, look, agent.decisions).map((one) => one.root));
    taskBox.hidden = !timed.length;
    empty.replaceChildren(...(agent.tasks.length ? [] : [h("p", { class: "card" }, "HEARTBEAT.md has no tasks. ", h("a", { href: "#heartbeat" }, "Write the first one"), ", such as ",
      h("code", null, "- (every 5m; when room.temperature > 30; notify) It is hot."))]));
  }

  return { strip, folded: [empty, quietBox, taskBox], update };
}

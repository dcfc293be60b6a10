// Now, by what matters: active alarms, the owner's sensors, and the rest folded.
import { addSensor } from "./addsensor.js";
import { h } from "./dom.js";
import { alarmViews } from "./alarms.js";
import { filesCard } from "./files.js";
import { isSwitch } from "./line.js";
import { follow, isActive, refresh } from "./live.js";
import { limitsOf, sensorCard } from "./sensors.js";
import { offerTelegram } from "./steps.js";
import { vitals } from "./vitals.js";
import { isVital, parse } from "./words.js";

export const title = "Now";

export async function show(place, app) {
  const problems = h("div");
  const sensors = h("div", { class: "grid sensors" });
  const files = h("div", { class: "files" });
  const next = h("div", { class: "files" });
  const alarms = alarmViews({ refresh });
  const board = vitals();
  place.className = "now";
  const more = app.offers.includes("sensors") && !app.guest ? addSensor(refresh) : "";
  place.append(problems, alarms.strip, h("h2", null, "Sensors"), sensors, more, files, ...alarms.folded, board.root, next);
  let offered = null;
  let drawn = "";
  let stepped = false;

  function draw(found) {
    const { agent, problem } = found;
    const now = agent && agent.at > 1e9 ? agent.at : Date.now() / 1000;
    const known = new Map(found.sensors.map((one) => [one.name, { value: one.value, unit: one.unit, isSwitch: isSwitch(one) }]));
    const look = (name) => known.get(name) || {};
    const tasks = agent ? agent.tasks : [];
    problems.replaceChildren(...[problem && h("p", { class: "bad", role: "alert" }, problem), ...((agent && agent.status.failing) || []).map((one) => h("p", { class: "bad" }, `Failing: ${one}`))].filter(Boolean));
    alarms.update(agent, look);
    const limits = limitsOf(tasks);
    const loud = new Set(tasks.filter(isActive).flatMap((one) => (parse(one.condition)?.terms || []).map((term) => term.name)));
    const own = found.sensors.filter((one) => !isVital(one.name));
    // Drawn only after a change, so that a focused link stays.
    const state = JSON.stringify([own, [...limits], [...loud], Math.floor(now / 30)]);
    if (state !== drawn) {
      drawn = state;
      const focused = sensors.contains(document.activeElement) && document.activeElement.hash;
      sensors.replaceChildren(...(own.length ? own.map((one) => sensorCard(one, limits.get(one.name) || [], loud.has(one.name), now)) : [empty(more)]));
      if (focused) [...sensors.querySelectorAll("a")].find((one) => one.hash === focused)?.focus();
    }
    board.update(agent, found.sensors.filter((one) => isVital(one.name)), now);
    if (!stepped && own.length && tasks.length && found.files_at && !app.guest) {
      stepped = true;
      offerTelegram(next);
    }
    if (offered !== Boolean(found.files_at)) {
      offered = Boolean(found.files_at);
      files.replaceChildren(...(offered ? [] : [filesCard(app, refresh)]));
    }
  }

  return follow(draw);
}

const empty = (more) => h("p", { class: "soft wide" }, `No values yet. ${more ? "Add the first sensor below" : "Name the first sensor in SENSORS.json"}, or ask in `, h("a", { href: "#chat" }, "Chat"), ": ", h("q", null, "Which chips are on the bus?"));

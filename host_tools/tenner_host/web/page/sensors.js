// A card for each of the owner's values: its name, value, age and last day.
import { h } from "./dom.js";
import { isSwitch, sparkline } from "./line.js";
import { ago, friendly, number, parse, shown } from "./words.js";

// The numbers of the alarms on a value.
export function limitsOf(tasks) {
  const found = new Map();
  for (const { condition } of tasks) {
    for (const { name, op, low, high } of (condition && parse(condition)?.terms) || []) {
      const numbers = /^(changes|rises|drops)/.test(op) ? [] : [low, high].filter((one) => one != null).map(Number).filter(Number.isFinite);
      found.set(name, [...(found.get(name) || []), ...numbers]);
    }
  }
  return found;
}

export function sensorCard(one, limits, isAlarm, now) {
  const steps = isSwitch(one);
  const value = shown(one.value, one.unit, one.name, steps);
  const age = ago(now - one.at);
  const values = one.points.map((point) => point[1]);
  const range = values.length > 1 && !steps && !/^(s|B)$/.test(one.unit) ? `${number(Math.min(...values))} to ${number(Math.max(...values))}` : "";
  const name = friendly(one.name);
  const label = `${name} over the last day${range ? `, ${range}` : ""}, ${one.old ? "last" : "now"} ${value}`;
  return h("section", { class: `card sensor${one.old ? " old" : ""}${isAlarm ? " alarm" : ""}`, "aria-label": name },
    h("a", { href: `#plots=${encodeURIComponent(one.name)}`, title: one.name }, name), h("p", { class: "reading" }, h("span", { class: "value" }, value), h("small", null, age)),
    sparkline(one, label, limits, now), range && h("small", { class: "range" }, range));
}

// What a text would have done on the stored readings: its values with the alarms, and its messages.
import { get } from "./api.js";
import { h, table } from "./dom.js";
import { plot } from "./plot.js";

const ALL_H = 8760;
const CARD = 36;
const MOST = 200;

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
const at = (message) => Date.parse(message.time) / 1000;

// [{line, first, last, text}] of the alarms; one without an end goes on to the end of the readings.
function alarmsOf(messages, end) {
  const found = [];
  for (const one of messages) {
    if (one.kind === "alarm") found.push({ line: one.line, first: at(one), last: null, text: `Line ${one.line}: ${one.text.split("\n")[0]}` });
    if (one.kind !== "end") continue;
    const open = found.filter((alarm) => alarm.line === one.line && alarm.last == null).pop();
    if (open) open.last = at(one);
  }
  const next = (alarm) => found.find((one) => one.line === alarm.line && one.first > alarm.first)?.first ?? end;
  return found.map((one) => ({ ...one, last: one.last ?? next(one) }));
}

async function pictures(answer, lines, width) {
  const { series } = await get(`/readings?hours=${ALL_H}`);
  const named = series.filter((one) => one.points.length && lines.some((line) => line.includes(one.name)));
  if (!named.length) return [];
  const range = [Math.min(...named.map((one) => one.points[0][0])), Math.max(...named.map((one) => one.points[one.points.length - 1][0]))];
  const alarms = alarmsOf(answer.messages, range[1]);
  const groups = new Map();
  for (const one of named) groups.set(one.unit || one.name, [...(groups.get(one.unit || one.name) || []), one]);
  return [...groups].map(([unit, some]) => {
    const spans = alarms.filter((one) => some.some(({ name }) => lines[one.line - 1]?.includes(name)));
    const made = plot(unit, some, { range, spans, width: width - CARD, told: "alarms" });
    made.querySelector("h2").append(h("small", null, ` ${count(spans.length, "alarm")}`));
    return made;
  });
}

// `box` gets it.
export async function showReplay(box, answer, text) {
  box.replaceChildren(h("h2", null, "On the stored readings"),
    h("p", null, [count(answer.messages.length, "message"), count(answer.model_calls, "model call"), `about ${count(answer.tokens, "token")}`].join(", ") + "."));
  const drawn = await pictures(answer, text.split("\n"), box.clientWidth);
  if (drawn.some((one) => one.querySelector(".span"))) box.append(h("p", { class: "soft" }, "Red: from an alarm to its end."));
  box.append(...drawn, answer.messages.length ? table("Messages of the replay", ["When", "Line", "Kind", "Text"],
    answer.messages.slice(0, MOST).map((one) => [one.time.slice(0, 16).replace("T", " "), one.line || "", one.kind, one.text])) : "");
}

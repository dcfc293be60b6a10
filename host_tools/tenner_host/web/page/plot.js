// One picture: lines of a unit over time, gaps where readings are missing, marks at messages, shades where an
// alarm's limit is passed.
import { h, s } from "./dom.js";
import { gapOf, isSwitch, path, withLimits } from "./line.js";
import { number } from "./words.js";

const LEFT = 52;
const BOTTOM = 24;
const HEIGHT = 220;

// The left and right edges of the curves in a picture so wide.
export const edges = (width) => [LEFT, Math.max(width - 24, LEFT + 100)];

// `series`: [{name, unit, points, before}], `before` with the points of the day before; `marks`: [{at, text}];
// `spans`: [{first, last, text}], as `told`; `limits`: numbers.
export function plot(unit, series, { range: [first, last], marks = [], spans = [], limits = [], width, told = "times beyond the limit of an alarm" }) {
  const [, right] = edges(width);
  const drawn = series.map((one) => ({ ...one, points: inside(one.points, first, last), before: inside(one.before || [], first, last) }));
  const values = drawn.flatMap((one) => [...one.points, ...one.before].map((point) => point[1]));
  let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  if (low === high) [low, high] = [low - 1, high + 1];
  [low, high] = withLimits(low, high, limits);
  const margin = (high - low) * 0.06;
  [low, high] = [low - margin, high + margin];
  const x = (at) => LEFT + ((at - first) / (last - first || 1)) * (right - LEFT);
  const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - BOTTOM - 8);
  const shown = spans.filter((one) => one.last >= first && one.first <= last);
  const label = drawn.map((one) => describe(one)).join("; ") + (shown.length ? `; ${shown.length} ${told}` : "");
  const picture = s("svg", { class: "plot", width: right + 24, height: HEIGHT, role: "img", "aria-label": label });
  for (const one of shown) {
    const [from, to] = [x(Math.max(one.first, first)), x(Math.min(one.last, last))];
    picture.append(s("rect", { class: "span", x: from, width: Math.max(to - from, 2), y: 8, height: HEIGHT - BOTTOM - 8 }, s("title", null, one.text)));
  }
  const switches = drawn.every(isSwitch);
  for (const value of switches ? [0, 1].filter((one) => one > low && one < high) : ticks(low, high, 5)) {
    picture.append(s("line", { class: "axis", x1: LEFT, x2: right, y1: y(value), y2: y(value) }),
      s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, switches ? ["off", "on"][value] : number(value)));
  }
  for (const at of times(first, last, Math.max(2, Math.floor((right - LEFT) / 110)))) {
    picture.append(s("line", { class: "axis", x1: x(at), x2: x(at), y1: 8, y2: HEIGHT - BOTTOM }),
      s("text", { x: x(at), y: HEIGHT - 6, "text-anchor": "middle" }, moment(at, last - first)));
  }
  for (const one of limits) if (one > low && one < high && !switches) picture.append(s("line", { class: "mark limit", x1: LEFT, x2: right, y1: y(one), y2: y(one) }, s("title", null, `limit ${one}`)));
  for (const mark of marks) {
    if (mark.at < first || mark.at > last) continue;
    picture.append(s("line", { class: "mark", x1: x(mark.at), x2: x(mark.at), y1: 8, y2: HEIGHT - BOTTOM },
      s("title", null, `${mark.text}: ${new Date(mark.at * 1000).toLocaleString()}`)));
  }
  drawn.forEach((one, place) => {
    const line = (points, more) => s("path", { class: `line c${place % 6}${more}`, d: path(points, x, y, isSwitch(one), gapOf(points)) });
    if (one.before.length) picture.append(line(one.before, " before"));
    picture.append(line(one.points, ""));
  });
  const band = s("rect", { class: "band", y: 8, height: HEIGHT - BOTTOM - 8, width: 0, x: 0 });
  const cursor = s("line", { class: "cursor", y1: 8, y2: HEIGHT - BOTTOM, x1: -9, x2: -9 });
  picture.append(band, cursor);
  const readout = h("p", { class: "soft" }, "\u00a0");
  picture.addEventListener("pointermove", (event) => {
    const here = event.clientX - picture.getBoundingClientRect().left;
    cursor.setAttribute("x1", here);
    cursor.setAttribute("x2", here);
    const at = first + ((here - LEFT) / (right - LEFT)) * (last - first);
    const parts = drawn.filter((one) => one.points.length).map((one) => `${one.name} ${number(nearest(one.points, at)[1])} ${one.unit}${one.before.length ? ` (${number(nearest(one.before, at)[1])})` : ""}`);
    readout.textContent = `${new Date(at * 1000).toLocaleString()}: ${parts.join(", ")}`;
  });
  const legend = h("p", { class: "row" }, drawn.map((one, place) => h("span", null, h("span", { class: `key c${place % 6}` }), " " + one.name)));
  return h("section", { class: "card", "aria-label": unit }, h("h2", null, unit), legend, picture, readout);
}

function inside(points, first, last) {
  const start = points.findIndex((one) => one[0] >= first);
  if (start < 0) return [];
  const behind = points.findIndex((one) => one[0] > last);
  return points.slice(start, behind < 0 ? points.length : behind);
}

function nearest(points, at) {
  return points.reduce((best, one) => (Math.abs(one[0] - at) < Math.abs(best[0] - at) ? one : best));
}

function describe(one) {
  if (!one.points.length) return `${one.name}: no readings`;
  const values = one.points.map((point) => point[1]);
  return `${one.name}: ${values.length} readings from ${number(Math.min(...values))} to ${number(Math.max(...values))} ${one.unit}`.trim();
}

function ticks(low, high, count) {
  const rough = (high - low) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Number(value.toPrecision(10)));
  return found;
}

function times(first, last, count) {
  const steps = [60, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];
  const step = steps.find((one) => (last - first) / one <= count) || 7776000;
  const offset = new Date(first * 1000).getTimezoneOffset() * 60;
  const found = [];
  for (let at = Math.ceil((first - offset) / step) * step + offset; at <= last; at += step) found.push(at);
  return found;
}

function moment(at, wide) {
  const day = { day: "numeric", month: "short" };
  const hour = { hour: "2-digit", minute: "2-digit" };
  const form = wide > 4 * 86400 ? day : wide > 86400 ? { ...day, ...hour } : hour;
  return new Date(at * 1000).toLocaleString([], form);
}

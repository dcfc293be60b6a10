// Plots: the stored readings, a picture for each unit, with alarms and the times of messages.
import { blob, get } from "./api.js";
import { button, h } from "./dom.js";
import { filesCard } from "./files.js";
import { isSwitch } from "./line.js";
import { latest } from "./live.js";
import { edges, plot } from "./plot.js";
import { download, png, rowsBetween } from "./save.js";
import { beyond } from "./spans.js";
import { isVital } from "./words.js";
import { zoomable } from "./zoom.js";

export const title = "Plots";
const SPANS = [[1, "an hour"], [6, "6 hours"], [24, "a day"], [72, "3 days"], [168, "a week"], [720, "30 days"], [8760, "all"]];
const DAY_S = 86400;
// A card's padding and border.
const CARD = 36;
let hours = 24;
let isCompared = false;
// The names that are not shown; null: those of the board itself.
let hidden = null;

export async function show(place, app) {
  const pictures = h("div", { class: "pictures", tabindex: "0", role: "group", "aria-label": "Plots: arrow keys move through time, + and - zoom, 0 is for all of it" });
  const choice = h("select", { onchange: () => { hours = Number(choice.value); again(); } },
    SPANS.map(([value, text]) => h("option", { value, selected: value === hours }, text)));
  const compared = h("input", { type: "checkbox", checked: isCompared, onchange: () => { isCompared = compared.checked; again(); } });
  const chips = h("div", { class: "row chips", role: "group", "aria-label": "Values" });
  const count = h("summary", null, "Values");
  const more = h("p", { class: "soft" });
  let range = null;
  let series = [];
  let marks = [];
  let end = 0;
  let drawing = 0;
  let loading = null;
  const wanted = decodeURIComponent(location.hash.split("=")[1] || "");

  function again() {
    range = null;
    loading = load().catch((problem) => app.note(problem.message));
  }

  // From the first reading on, or so far back as is asked for.
  function extent() {
    const firsts = series.flatMap((one) => one.points.slice(0, 1).map((point) => point[0]));
    return [Math.max(end - hours * 3600, Math.min(...firsts, end - 60)), end];
  }

  const current = () => range || extent();
  const width = () => Math.max(pictures.clientWidth - CARD, 0);
  const picked = () => series.filter((one) => !hidden.has(one.name));

  function draw() {
    cancelAnimationFrame(drawing);
    const groups = new Map();
    for (const one of picked()) {
      const key = one.unit || (isSwitch(one) ? "on or off" : one.name.split(".").pop());
      groups.set(key, [...(groups.get(key) || []), one]);
    }
    const tasks = latest()?.agent?.tasks || [];
    let shades = 0;
    pictures.replaceChildren(...[...groups].map(([unit, some]) => {
      const { spans, limits } = beyond(some, tasks);
      shades += spans.length;
      return plot(unit, some.map((one) => ({ ...one, before: isCompared ? one.points.map(([at, value]) => [at + DAY_S, value]) : [] })), { range: current(), marks, spans, limits, width: width() });
    }));
    if (!groups.size) pictures.replaceChildren(h("p", { class: "soft" }, series.length ? "Choose a value above." : "There are no readings in this time."));
    count.textContent = `Values: ${picked().length} of ${series.length}`;
    more.textContent = [shades && "Red shades: beyond the limit of an alarm.", marks.length && "Dashed upright lines: messages.", isCompared && "Dashed curves: the day before."].filter(Boolean).join(" ");
  }

  function soon() {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(draw);
  }

  function pick(names) {
    hidden = new Set(names);
    chips.querySelectorAll("input").forEach((box, at) => { box.checked = !hidden.has(series[at].name); });
    draw();
  }

  async function load() {
    const found = await get(`/readings?hours=${hours + (isCompared ? 24 : 0)}`);
    const isFirst = !series.length;
    ({ series } = found);
    const names = series.map((one) => one.name);
    const vitals = names.filter(isVital);
    if (wanted && isFirst && names.includes(wanted)) hidden = new Set(names.filter((one) => one !== wanted));
    hidden ??= new Set(vitals.length < names.length ? vitals : []);
    end = Date.now() / 1000;
    const { runs } = await get("/log");
    marks = runs.filter((one) => one.t && one.sent).map((one) => ({ at: one.t, text: `message, ${one.job || `line ${one.n ?? "?"}`}` }));
    chips.replaceChildren(...(series.length > 2 ? [button("All", () => pick([])), button("None", () => pick(names))] : []), ...series.map((one) => {
      const box = h("input", { type: "checkbox", checked: !hidden.has(one.name), onchange: () => { if (box.checked) hidden.delete(one.name); else hidden.add(one.name); draw(); } });
      return h("label", { class: "chip" }, box, one.name);
    }));
    draw();
  }

  async function csv() {
    await loading;
    const names = picked().map((one) => one.name);
    const text = await (await blob(`/readings.csv?hours=${hours}${names.map((one) => `&name=${encodeURIComponent(one)}`).join("")}`)).text();
    download(new Blob([rowsBetween(text, current(), names)], { type: "text/csv" }), "readings.csv");
  }

  const picture = async () => {
    await loading;
    download(await png([...pictures.querySelectorAll("section")]), "readings.png");
  };
  const zoom = zoomable(pictures, { range: current, extent, edges: () => edges(width()), change: (chosen) => { range = chosen; soon(); } });
  const controls = h("div", { class: "row" }, h("label", null, "Show", choice),
    button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), button("Earlier", () => zoom(1, -0.5)),
    button("Later", () => zoom(1, 0.5)), h("label", null, compared, "Compare with the day before"), button("CSV", csv), button("PNG", picture),
    button("Read again", async () => { await app.readFiles(); await load(); }));
  const values = h("details", { class: "card values-of-plots", open: innerWidth > 640 }, count, chips);
  place.append(controls, values, more, pictures);
  try {
    await load();
  } catch (problem) {
    if (problem.status !== 422) throw problem;
    for (const one of [controls, values, more, pictures]) one.remove();
    place.append(filesCard(app, () => app.show()));
    return null;
  }
  addEventListener("resize", soon);
  return () => { cancelAnimationFrame(drawing); removeEventListener("resize", soon); };
}

// Plots: the stored readings, a picture for each unit, with the times of messages.
import { blob, get } from "./api.js";
import { button, h } from "./dom.js";
import { filesCard } from "./files.js";
import { isSwitch } from "./line.js";
import { plot } from "./plot.js";

export const title = "Plots";
const SPANS = [[6, "6 hours"], [24, "a day"], [168, "a week"], [720, "a month"], [8760, "all"]];
// A card's padding and border.
const CARD = 36;
let hours = 24;

export async function show(place, app) {
  const pictures = h("div");
  const choice = h("select", { onchange: () => { hours = Number(choice.value); window_ = null; load().catch((problem) => app.note(problem.message)); } },
    SPANS.map(([value, text]) => h("option", { value, selected: value === hours }, text)));
  const sensors = h("div", { class: "row", role: "group", "aria-label": "Sensors" });
  let window_ = null;
  let series = [];
  let marks = [];
  let end = 0;
  const wanted = decodeURIComponent(location.hash.split("=")[1] || "");
  let hidden = new Set();

  function zoom(factor, shift = 0) {
    const [first, last] = current();
    const middle = (first + last) / 2 + shift * (last - first);
    const half = ((last - first) * factor) / 2;
    window_ = [Math.max(extent()[0], middle - half), Math.min(end, middle + half)];
    draw();
  }

  function extent() {
    const firsts = series.map((one) => one.points[0][0]);
    return [Math.max(end - hours * 3600, Math.min(...firsts)), end];
  }

  const current = () => window_ || extent();

  function draw() {
    const groups = new Map();
    for (const one of series) {
      if (hidden.has(one.name)) continue;
      const key = one.unit || (isSwitch(one) ? "on or off" : one.name.split(".").pop());
      groups.set(key, [...(groups.get(key) || []), one]);
    }
    pictures.replaceChildren(...[...groups].map(([unit, some]) => plot(unit, some, current(), marks, pictures.clientWidth - CARD,
      (chosen) => { window_ = chosen; draw(); })));
    if (!groups.size) pictures.replaceChildren(h("p", { class: "soft" }, "No readings to show."));
  }

  async function load() {
    const found = await get(`/readings?hours=${hours}`);
    series = found.series;
    if (wanted && !pictures.children.length) hidden = new Set(series.map((one) => one.name).filter((one) => one !== wanted));
    end = Date.now() / 1000;
    const { runs } = await get("/log");
    marks = runs.filter((one) => one.t && one.sent).map((one) => ({ at: one.t, text: one.job || `line ${one.n ?? "?"}` }));
    const all = (names) => () => { hidden = new Set(names); choose(); draw(); };
    function choose() {
      const boxes = sensors.querySelectorAll("input");
      series.forEach((one, at) => { boxes[at].checked = !hidden.has(one.name); });
    }
    sensors.replaceChildren(...(series.length > 2 ? [button("All", all([])), button("None", all(series.map((one) => one.name)))] : []), ...series.map((one) => {
      const box = h("input", { type: "checkbox", checked: !hidden.has(one.name), onchange: () => { if (box.checked) hidden.delete(one.name); else hidden.add(one.name); draw(); } });
      return h("label", null, box, one.name);
    }));
    draw();
  }

  async function csv() {
    const link = h("a", { href: URL.createObjectURL(await blob(`/readings.csv?hours=${hours}`)), download: "readings.csv" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  const controls = h("div", { class: "row" }, h("label", null, "Show", choice),
    button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), button("Earlier", () => zoom(1, -0.5)),
    button("Later", () => zoom(1, 0.5)), button("CSV", csv), button("Read again", async () => { await app.readFiles(); await load(); }));
  const values = h("details", { open: innerWidth > 640 }, h("summary", null, "Values"), sensors);
  place.append(controls, values, pictures);
  try {
    await load();
  } catch (problem) {
    if (problem.status !== 422) throw problem;
    controls.remove();
    values.remove();
    pictures.append(filesCard(app, () => app.show()));
    return null;
  }
  addEventListener("resize", draw);
  return () => removeEventListener("resize", draw);
}

// Log: the board's lines as they come, and the stored runs.
import { events, get } from "./api.js";
import { clock, h, table } from "./dom.js";
import { filesCard } from "./files.js";
import { latest } from "./live.js";

export const title = "Log";
const KEPT = 500;

export async function show(place, app) {
  const lines = h("div", { class: "log", tabindex: "0", role: "log", "aria-label": "The board's log" });
  const area = h("select", { id: "area", onchange: filter }, h("option", { value: "" }, "all areas"));
  const runs = h("div");
  const missing = app.guest ? "A guest sees no lines of the log: one may have a code for pairing." : app.missing.lines;
  place.append(...(missing ? [h("p", { class: "soft" }, missing)] : [h("p", { class: "row" }, h("label", null, "Show", area)), lines]), h("h2", null, "Heartbeats and jobs"), runs);
  const known = new Set();
  let last = 0;

  function filter() {
    for (const line of lines.children) line.hidden = Boolean(area.value) && line.dataset.area !== area.value;
    lines.scrollTop = lines.scrollHeight;
  }

  function add(event) {
    if (event.id <= last) return;
    last = event.id;
    if (event.area && !known.has(event.area)) {
      known.add(event.area);
      area.append(h("option", { value: event.area }, event.area));
    }
    const atEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 40;
    const text = event.area ? `${event.when} ${event.area.padEnd(9)} ${event.text}` : event.text;
    const line = h("p", { "data-area": event.area }, text);
    line.hidden = Boolean(area.value) && event.area !== area.value;
    lines.append(line);
    if (lines.children.length > KEPT) lines.firstChild.remove();
    if (atEnd) lines.scrollTop = lines.scrollHeight;
  }

  async function load() {
    const found = await get("/log");
    const filesAt = latest()?.files_at || app.filesAt;
    found.lines.forEach(add);
    const rows = found.runs.slice(-50).reverse().map((one) => [one.t ? clock(one.t) : `+${one.up || 0} s`,
      one.job || (one.k === "beat" ? "heartbeat" : `line ${one.n ?? "?"}`),
      [one.r, one.why, one.sent && `sent: ${one.sent}`, one.tokens && `${one.tokens} tokens`].filter(Boolean).join(", ")]);
    runs.replaceChildren(rows.length ? table("Heartbeats and jobs", ["When", "Task", "Outcome"], rows)
      : filesAt ? h("p", { class: "soft" }, "Nothing has run yet.") : filesCard(app, load));
  }

  const onLog = (event) => add(event.detail);
  const onOpen = () => load().catch(() => {});
  const onRenumbered = () => { last = 0; };
  await load();
  const all = [["renumbered", onRenumbered], ["log", onLog], ["open", onOpen]];
  all.forEach(([name, work]) => events.addEventListener(name, work));
  return () => all.forEach(([name, work]) => events.removeEventListener(name, work));
}

// HEARTBEAT.md: an editor with the firmware's own check, and the replay.
import { call, get, post } from "./api.js";
import { action, button, h, note } from "./dom.js";
import { filesCard } from "./files.js";

export const title = "HEARTBEAT.md";
const TYPING_MS = 300;

export async function show(place, app) {
  let found;
  try {
    found = await get("/heartbeat");
  } catch (problem) {
    if (problem.status !== 422) throw problem;
    place.append(filesCard(app, () => app.show()));
    return null;
  }
  const text = h("textarea", { "aria-label": "HEARTBEAT.md", spellcheck: "false", autocapitalize: "off", readonly: app.guest, "aria-describedby": "problems" });
  const problems = h("ul", { id: "problems", "aria-live": "polite" });
  const outcome = h("div");
  let version = found.version;
  let saved = found.text;
  let timer = 0;
  let checks = 0;
  let shown = [];
  text.value = found.text;

  function list({ problems: wrong, readings = shown }) {
    shown = readings;
    const row = (name) => (one) => h("li", { class: name || (one.kind === "off" ? "bad" : one.kind === "background" ? "soft" : "") },
      h("button", { type: "button", onclick: () => select(one.line) }, `Line ${one.line}`), " " + one.text);
    // A line that is off says why in its reading.
    const off = new Set(readings.filter((one) => one.kind === "off").map((one) => one.line));
    const others = wrong.filter((one) => !off.has(one.line)).map(row("bad"));
    problems.replaceChildren(...others, ...(wrong.length ? [] : [h("li", { class: "good" }, "The board understands every line.")]),
      ...readings.map(row()));
  }

  function select(line) {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] || "").length);
  }

  async function check() {
    const turn = ++checks;
    const answer = await post("/heartbeat/check", { text: text.value });
    // An older answer may come last.
    if (turn === checks) list(answer);
  }

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => check().catch((problem) => note(problem.message)), TYPING_MS);
  });

  async function save() {
    const answer = await call("PUT", "/heartbeat", { text: text.value, version });
    ({ version, text: saved } = answer);
    list(answer);
    note("The board has it.");
  }

  async function reload() {
    await app.readFiles();
    const answer = await get("/heartbeat");
    ({ version, text: saved } = answer);
    text.value = saved;
    list(answer);
  }

  async function replay() {
    const answer = await post("/heartbeat/replay", { text: text.value });
    list(answer);
    outcome.replaceChildren(h("h2", null, "On the stored readings"),
      h("p", null, `${answer.messages.length} messages, ${answer.model_calls} model calls, about ${answer.tokens} tokens.`),
      answer.messages.length ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Messages of the replay" },
        h("table", null, h("thead", null, h("tr", null, ["When", "Line", "Kind", "Text"].map((one) => h("th", { scope: "col" }, one)))),
          h("tbody", null, answer.messages.slice(0, 200).map((one) => h("tr", null, h("td", null, one.time.slice(0, 16).replace("T", " ")),
            h("td", null, one.line || ""), h("td", null, one.kind), h("td", null, one.text)))))) : "");
  }

  const stops = app.board.restarts_for_files && !app.guest ? h("p", { class: "soft" }, "Saving stops the agent and starts it again.") : null;
  place.append(text, problems, h("div", { class: "row" }, action("Save on the board", save, { class: "main" }),
    app.offers.includes("replay") && action("What would it do?", replay), button("Read it again", reload)), stops || "", outcome);
  list(found);
  const warn = (event) => { if (text.value !== saved) event.preventDefault(); };
  addEventListener("beforeunload", warn);
  return () => { clearTimeout(timer); removeEventListener("beforeunload", warn); };
}

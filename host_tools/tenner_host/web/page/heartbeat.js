// HEARTBEAT.md: an editor with the firmware's own check, its draft, and the replay.
import { call, get, post } from "./api.js";
import { completion } from "./complete.js";
import { conflict } from "./conflict.js";
import { COOKBOOK } from "./cookbook.js";
import { action, button, h, note } from "./dom.js";
import { drop, keep, kept } from "./drafts.js";
import { filesCard } from "./files.js";
import { latest } from "./live.js";
import { paper } from "./paper.js";
import { beside, dayOf, hasTasks } from "./readings.js";
import { showReplay } from "./replay.js";
import { ago } from "./words.js";

export const title = "HEARTBEAT.md";
const FIELD = "HEARTBEAT.md";
const TYPING_MS = 300;
const EXAMPLE = "# Heartbeat\n\n- (every 5m; when room.temperature > 30; notify) It is {room.temperature} in the room.\n- (daily 07:30) Say good morning, and how warm it is.\n";


// Files to begin with; those for the board's own sensors come first.
function starters(names, start) {
  const fits = ([, text]) => names.filter((one) => text.includes(one)).length;
  const sorted = [...COOKBOOK].sort((one, other) => fits(other) - fits(one));
  return h("section", { class: "card starters", "aria-labelledby": "begin" }, h("p", { id: "begin" }, "The file has no tasks yet. Begin with one of these, and put in the names of your sensors:"),
    h("div", { class: "row" }, button("an example", () => start(EXAMPLE), { class: "main" }), sorted.map((one) => button(one[0], () => start(one[1])))));
}

export async function show(place, app) {
  let found;
  try {
    found = await get("/heartbeat");
  } catch (problem) {
    if (problem.status !== 422) throw problem;
    place.append(filesCard(app, () => app.show()));
    return null;
  }
  const sheet = paper({ "aria-label": "HEARTBEAT.md", readonly: app.guest, "aria-describedby": "sum" });
  const { text } = sheet;
  const notes = beside(sheet, app.guest);
  const page = h("div", { class: "editor" }, sheet.box, notes.list);
  const outcome = h("div");
  const bar = h("div", { role: "status" });
  const controls = h("div");
  let { version, text: saved } = found;
  let begin = h("div");
  let timer = 0;
  let checks = 0;
  let shown = found.readings;
  let savedDay = dayOf(shown);

  const isDirty = () => text.value !== saved;

  // Those of SENSORS.json, and those with readings, which a chip has alone.
  const names = () => [...new Set([...(found.names || []), ...(latest()?.sensors || []).map((one) => one.name)])].sort();

  function tell(sentence, ...buttons) {
    bar.replaceChildren(...(sentence ? [h("div", { class: "card row told" }, h("span", null, sentence), ...buttons)] : []));
  }

  // A replay has no readings.
  function list({ problems, readings = shown }) {
    shown = readings;
    begin.hidden = hasTasks(text.value);
    notes.show({ problems, readings }, savedDay);
  }

  async function check() {
    const turn = ++checks;
    const answer = await post("/heartbeat/check", { text: text.value });
    // An older answer may come last.
    if (turn === checks) list(answer);
  }

  function typed() {
    if (isDirty()) keep(FIELD, { text: text.value, version, at: Date.now() });
    else drop(FIELD);
    sheet.draw();
    notes.place();
    begin.hidden = hasTasks(text.value);
    clearTimeout(timer);
    timer = setTimeout(() => check().catch((problem) => note(problem.message)), TYPING_MS);
  }

  // Show another text; the one before is a press away.
  function replace(next, sentence) {
    const before = text.value;
    sheet.write(0, before.length, next);
    text.setSelectionRange(0, 0);
    if (sentence) tell(sentence, button("Undo", () => { replace(before); tell(""); }));
  }

  function take(answer) {
    ({ version, text: saved } = answer);
    drop(FIELD);
    savedDay = dayOf(answer.readings);
    // The caret and the steps of Ctrl-Z stay.
    if (text.value !== saved) text.value = saved;
    list(answer);
  }

  // The file has changed below an unsaved text: both are shown.
  function choose(mine, answer, sentence) {
    const there = answer.text;
    ({ version, text: saved } = answer);
    savedDay = dayOf(answer.readings);
    const done = (work) => () => { bar.replaceChildren(); page.hidden = controls.hidden = false; work(); };
    page.hidden = controls.hidden = begin.hidden = true;
    bar.replaceChildren(conflict(sentence, mine, there,
      done(() => { text.value = mine; typed(); tell("Your text is in the editor. Saving it replaces the board's."); }),
      done(() => { text.value = mine; replace(there, "The board's text is in the editor."); })));
    list(answer);
  }

  async function save() {
    const mine = text.value;
    try {
      const answer = await call("PUT", "/heartbeat", { text: mine, version });
      if (text.value === mine) take(answer);
      else {
        ({ version, text: saved } = answer);
        savedDay = dayOf(answer.readings);
        typed();
      }
      tell("");
      note("The board has it.");
    } catch (problem) {
      if (problem.status !== 409) throw problem;
      await app.readFiles();
      choose(mine, await get("/heartbeat"), "Not saved: the file has changed on the board since you began.");
    }
  }

  async function reload() {
    await app.readFiles();
    const answer = await get("/heartbeat");
    const mine = text.value;
    if (!isDirty() || mine === answer.text) {
      take(answer);
      tell("");
    } else if (answer.text !== saved) choose(mine, answer, "The file has changed on the board.");
    else {
      ({ version } = answer);
      tell("You have unsaved text; the board's file is as it was.", button("Throw mine away", () => replace(saved, "Your text is thrown away.")), button("Keep mine", () => tell("")));
    }
  }

  async function replay() {
    const answer = await post("/heartbeat/replay", { text: text.value });
    list(answer);
    await showReplay(outcome, answer, text.value);
  }

  const stops = app.board.restarts_for_files && !app.guest ? h("p", { class: "soft" }, "Saving stops the agent and starts it again.") : "";
  controls.append(h("div", { class: "row" }, action("Save on the board", save, { class: "main" }),
    app.offers.includes("replay") ? action("What would it do?", replay) : "", button("Read it again", reload)), stops);
  if (!app.guest) begin = starters(names(), (text) => replace(text, "Change it as you like, then save."));
  place.append(bar, begin, page, notes.sum, controls, outcome);
  text.addEventListener("input", typed);
  completion(sheet, names);
  document.addEventListener("selectionchange", notes.follow);
  text.value = saved;
  list(found);
  const draft = app.guest ? null : kept(FIELD);
  if (draft && draft.text !== saved) {
    const age = ago((Date.now() - draft.at) / 1000);
    if (draft.version === version) {
      text.value = draft.text;
      typed();
      tell(`Your unsaved text is back (${age}).`, button("Throw it away", () => replace(saved, "Your text is thrown away.")));
    } else choose(draft.text, found, `The file has changed on the board since you typed (${age}).`);
  }
  return () => {
    clearTimeout(timer);
    notes.leave();
    document.removeEventListener("selectionchange", notes.follow);
  };
}

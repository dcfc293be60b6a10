// Settings: each key of the board, never a secret.
import { call, get } from "./api.js";
import { action, button, h, note, table } from "./dom.js";
import { drop, keep, kept } from "./drafts.js";
import { filesCard } from "./files.js";

export const title = "Settings";

// A text without its quotes, anything else as it is.
function plain(value) {
  try {
    const found = JSON.parse(value);
    return typeof found === "string" ? found : value;
  } catch {
    return value;
  }
}

export async function show(place, app) {
  const box = h("div");
  const filter = h("input", { type: "search", id: "filter", placeholder: "telegram", oninput: narrow });
  const only = h("input", { type: "checkbox", checked: true, onchange: narrow });
  place.append(box);
  let rows = [];

  function narrow() {
    const word = filter.value.trim().toLowerCase();
    for (const { row, one, draft } of rows) {
      row.hidden = (word && !(one.key + one.about).toLowerCase().includes(word)) || (!word && only.checked && one.value == null && !draft);
    }
  }

  async function change(key, text) {
    const { agent } = await call("PATCH", "/settings", { changes: { [key]: text } });
    drop(field(key));
    note(agent.running ? "The board has it; its agent runs again." : `The agent does not start: ${agent.text}`);
    await app.restarted();
    await load();
  }

  const field = (key) => `setting ${key}`;

  function edit(one, cell, typed) {
    const start = one.value == null ? "" : plain(one.value);
    const input = h("input", { "aria-label": one.key, value: typed ?? start, oninput: () => keep(field(one.key), { text: input.value }) });
    const cancel = async () => { drop(field(one.key)); await load(); };
    const buttons = h("div", { class: "row" }, button("Save", () => change(one.key, input.value), { class: "main" }), button("Cancel", cancel));
    cell.replaceChildren(input, buttons, typed == null ? "" : h("small", null, "Not saved yet."));
    if (typed == null) input.focus();
  }

  async function load() {
    let found;
    try {
      found = await get("/settings");
    } catch (problem) {
      if (problem.status !== 422) throw problem;
      box.replaceChildren(filesCard(app, load));
      return;
    }
    rows = found.settings.map((one) => {
      const cell = h("div", { class: "setting" }, one.value == null ? h("span", { class: "soft" }, "default") : plain(one.value), " ");
      if (!one.secret && one.about) cell.append(action("Change", () => edit(one, cell), { "aria-label": `Change ${one.key}` }));
      const draft = one.secret || !one.about || app.guest ? null : kept(field(one.key));
      if (draft) edit(one, cell, draft.text);
      return { one, draft, cell };
    });
    const made = table("Settings", ["Key", "Value", "Meaning"], rows.map(({ one, cell }) => [one.key, cell, one.about]));
    [...made.tBodies[0].rows].forEach((row, at) => { rows[at].row = row; });
    const stops = app.board.restarts_for_files ? "A change stops the agent and starts it again." : "A change restarts the agent.";
    box.replaceChildren(app.guest ? "" : h("p", { class: "soft" }, `${stops} An empty value brings the default back. `, h("code", null, "tenner setup"), " asks for secrets and tries them."),
      h("p", { class: "row" }, h("label", { for: "filter" }, "Find"), filter, h("label", null, only, "only those that are set")),
      made);
    narrow();
  }

  await load();
  return null;
}

// Settings: each key of the board, never a secret.
import { call, get } from "./api.js";
import { action, button, h, note } from "./dom.js";
import { drop, keep, kept } from "./drafts.js";
import { filesCard } from "./files.js";

export const title = "Settings";

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
    let start = one.value == null ? "" : one.value;
    try {
      if (typeof JSON.parse(start) === "string") start = JSON.parse(start);
    } catch { /* It is shown as it is. */ }
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
      const cell = h("td", null, one.value ?? h("span", { class: "soft" }, "default"), " ");
      if (!one.secret && one.about) cell.append(action("Change", () => edit(one, cell), { "aria-label": `Change ${one.key}` }));
      const draft = one.secret || !one.about || app.guest ? null : kept(field(one.key));
      if (draft) edit(one, cell, draft.text);
      return { one, draft, row: h("tr", null, h("th", { scope: "row" }, one.key), cell, h("td", { class: "soft" }, one.about)) };
    });
    const stops = app.board.restarts_for_files ? "A change stops the agent and starts it again." : "A change restarts the agent.";
    box.replaceChildren(app.guest ? "" : h("p", { class: "soft" }, `${stops} An empty value brings the default back. `, h("code", null, "tenner setup"), " asks for secrets and tries them."),
      h("p", { class: "row" }, h("label", { for: "filter" }, "Find"), filter, h("label", null, only, "only those that are set")),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings" }, h("table", null,
        h("thead", null, h("tr", null, ["Key", "Value", "Meaning"].map((one) => h("th", { scope: "col" }, one)))), h("tbody", null, rows.map(({ row }) => row)))));
    narrow();
  }

  await load();
  return null;
}

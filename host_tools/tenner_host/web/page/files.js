// The card in place of what needs the board's files, before they were read.
import { action, h } from "./dom.js";

export function filesCard(app, after) {
  if (app.guest) return h("div", { class: "card" }, h("p", null, "Stored readings, HEARTBEAT.md and settings are there once the owner has read the board's files."));
  const stops = app.board.restarts_for_files
    ? "Stored readings, HEARTBEAT.md and settings are files of the board. Its agent stops while they are read, and starts again: some seconds."
    : "Stored readings, HEARTBEAT.md and settings are files of the board. Its agent runs on while they are read.";
  return h("div", { class: "card" }, h("p", null, stops),
    action("Read the files", async () => { await app.readFiles(); await after(); }, { class: "main" }));
}

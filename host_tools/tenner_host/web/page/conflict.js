// Two texts of one file, the person's and the board's, and the choice between them.
import { button, h } from "./dom.js";

// The lines of `mine` or `there` that the other has not are marked.
function pane(label, own, other) {
  const known = new Set(other.split("\n"));
  return h("section", { class: "card", "aria-label": label }, h("h2", null, label),
    h("pre", { tabindex: "0", role: "region", "aria-label": `${label}: text` }, own.split("\n").map((line) => (known.has(line) ? line + "\n" : h("mark", null, line + "\n")))));
}

export function conflict(sentence, mine, there, keepMine, takeTheirs) {
  return h("div", { role: "alert" }, h("p", { class: "warn" }, sentence, " Which one goes on?"),
    h("div", { class: "row" }, button("Keep mine", keepMine, { class: "main" }), button("Take the board's", takeTheirs)),
    h("div", { class: "grid both" }, pane("Yours", mine, there), pane("The board's", there, mine)));
}

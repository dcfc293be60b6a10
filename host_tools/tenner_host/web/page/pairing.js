// Pairing: by the code in the link of the terminal, or by one that a person types.
import { pair } from "./api.js";
import { button, h } from "./dom.js";

const main = document.getElementById("main");

export function askForCode(sentence, start) {
  document.getElementById("nav").replaceChildren();
  const input = h("input", { id: "code", autocomplete: "one-time-code", autocapitalize: "characters", spellcheck: "false", required: true, maxlength: 40 });
  const problem = h("p", { class: "bad", role: "alert" }, sentence);
  const form = h("form", { class: "card", onsubmit: send }, h("h1", null, "Pair this browser"),
    h("p", null, h("label", { for: "code" }, "Enter the code that ", h("code", null, "tenner web"), " shows in its terminal, or a board in its answer to ", h("code", null, "/web"), ".")),
    h("p", { class: "row" }, input, h("button", { class: "main" }, "Pair")), problem);
  main.replaceChildren(form);
  input.focus();
  async function send(event) {
    event.preventDefault();
    try {
      await pair(input.value);
      await start();
    } catch (failed) {
      problem.textContent = failed.message.charAt(0).toUpperCase() + failed.message.slice(1);
    }
  }
}

// Call `start`, after pairing where that is needed; `stop` ends what is shown.
export async function begin(start, stop) {
  const code = location.hash.startsWith("#code=") ? decodeURIComponent(location.hash.slice(6)) : "";
  let sentence = "";
  if (code) {
    // The code stays in no history.
    history.replaceState(null, "", location.pathname);
    try {
      await pair(code);
    } catch (problem) {
      sentence = problem.message;
    }
  }
  try {
    await start();
  } catch (problem) {
    if (problem.status === 401) {
      stop();
      askForCode(sentence, start);
    } else main.replaceChildren(h("p", { class: "bad" }, problem.message), button("Try again", () => begin(start, stop)));
  }
}

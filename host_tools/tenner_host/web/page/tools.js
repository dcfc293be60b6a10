// The tool calls behind an answer in plain words: one line that opens.
import { h } from "./dom.js";

// By tool: what it did, what it was to do, and the argument that it did it with.
const WORDS = {
  append_file: ["added to", "add to", "path"],
  chart: ["drew a chart of", "draw a chart of", "value"],
  edit_file: ["changed", "change", "path"],
  exec: ["ran", "run", "command"],
  find_skills: ["looked for skills for", "look for skills for", "query"],
  install_skill: ["installed the skill", "install the skill", "name"],
  list_dir: ["looked into", "look into", "path"],
  message: ["sent", "send", "text"],
  read_file: ["read", "read", "path"],
  search_memory: ["looked in its memory for", "look in its memory for", "query"],
  sensor: ["read", "read", "name"],
  spawn: ["began", "begin", "task"],
  web_fetch: ["read", "read", "url"],
  web_search: ["searched the web for", "search the web for", "query"],
  write_file: ["wrote", "write", "path"],
};
const HEAD = /^\[[^\]]*: data, not instructions\](?: \|)? ?/;
const DENIED = /^error: not approved/;

// Arguments are `key value, key value`; a value may have spaces.
const argument = (text, key) => text.match(new RegExp(`(?:^|, ?)${key} (.*?)(?=, ?\\w+ |,\\w+$|$)`))?.[1];

export function told({ call, result }) {
  const [name] = call.split(" ", 1);
  const given = call.slice(name.length + 1);
  const failed = result.startsWith("error: ");
  const isHistory = name === "sensor" && /\bhistory\b/.test(given);
  if (name === "sensor" && !failed && !isHistory) {
    if (/\blist\b/.test(given)) return "listed the sensors";
    // `room: temperature 31.5 °C (now)`, or several values.
    return "read " + result.replace(HEAD, "").replace(/ \((?:now|\d\d? s ago)\)$/, "").replace(/^(\S+): (\w+) (?=\S+( \S+)?( \(.*\))?$)/, "$1.$2: ");
  }
  const [did, todo, key] = isHistory ? ["looked at the history of", "look at the history of", "name"] : Object.hasOwn(WORDS, name) ? WORDS[name] : ["used", "use"];
  const about = (key && argument(given, key)) || `${name}${given ? ": " + given : ""}`;
  if (DENIED.test(result)) return `was not allowed to ${todo} ${about}`;
  return failed ? `could not ${todo} ${about}` : `${did} ${about}`;
}

export function tools(calls) {
  const words = calls.map(told);
  const all = words.length > 1 ? `${words.length} steps: ${words.join(", ")}` : words[0];
  return h("details", { class: words.length > 1 ? "did many" : "did" }, h("summary", null, all), h("ul", null, calls.map((one, at) => h("li", null, words.length > 1 && words[at] + "\n", h("code", null, one.call), one.result && `: ${one.result.replace(HEAD, "")}`))));
}

// What the agent does now, by a line of its log; it is about a call that has ended or those that begin.
export function doing({ area, text }) {
  const ended = area === "tool" && text.match(/^(.*?) -> (.*), \d+ ms$/);
  const begun = area === "llm" && text.match(/: calls (.+)$/);
  return ended ? told({ call: ended[1], result: ended[2] }) : begun ? `uses ${begun[1]} …` : `${area}: ${text}`;
}

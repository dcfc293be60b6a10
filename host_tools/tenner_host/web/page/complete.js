// Names of values and words of clauses to choose from, below the caret.
import { h } from "./dom.js";

// Each clause with what it does; the first part of a condition comes from the names.
export const CLAUSES = [["every 10m", "again and again"], ["daily 07:30", "at a time of day"], ["weekdays 09:00", "Monday to Friday"], ["weekends 09:00", "Saturday and Sunday"],
  ["hourly", "once an hour"], ["at sunset", "or sunrise - 30m"], ["tomorrow 08:00", "once"], ["cron 0 9 * * 1-5", "five fields"], ["hours 08:00-20:00", "only then"],
  ["when ", "a condition"], ["notify", "send the text; no model"], ["urgent", "in quiet hours too"], ["resolve", "tell the end too"], ["repeat 1h", "until it is over"],
  ["escalate 15m to ", "to another person"], ["chart 6h", "with a picture"], ["model ", "of this task"]];
// Behind the name of a value.
const TERMS = [["outside 17-26", "below or above"], ["changes", "at each change"], ["rises by 5 within 1h", ""], ["drops by 5 within 1h", ""], ["for 10m", "so long"], ["reset 28", "over at"], ["and ", ""], ["or ", ""]];
const MOST = 8;

// The part of the line before the caret: {word, isText, options: [[text, hint]]}.
function context(before, names) {
  const named = names.map((one) => [one, ""]);
  const word = before.match(/[\p{L}\p{N}_.]*$/u)[0];
  const bracket = Math.max(before.lastIndexOf("("), -1);
  if (before.lastIndexOf("{") > before.lastIndexOf("}")) return { word, isText: true, options: named };
  if (bracket <= before.lastIndexOf(")")) return { word, options: word.length > 1 ? named : [] };
  const clause = before.slice(Math.max(bracket, before.lastIndexOf(";")) + 1, before.length - word.length).trimStart();
  if (!clause) return { word, options: CLAUSES };
  if (!/^when\b/.test(clause)) return { word, options: [] };
  return { word, options: /\b(when|and|or) $/.test(clause) ? named : TERMS };
}

// `names`: gives the values that a line may name.
export function completion(paper, names) {
  const { text, box } = paper;
  const list = h("ul", { class: "pick card", id: "pick", role: "listbox", "aria-label": "Words to choose from", hidden: true });
  const told = h("p", { class: "unseen", role: "status" });
  box.append(list, told);
  text.setAttribute("aria-autocomplete", "list");
  text.setAttribute("aria-controls", "pick");
  let found = [];
  let word = "";
  let isText = false;
  let at = -1;

  function close() {
    list.hidden = true;
    found = [];
    told.textContent = "";
    text.removeAttribute("aria-activedescendant");
  }

  function mark(next) {
    at = next;
    [...list.children].forEach((one, place) => one.setAttribute("aria-selected", place === at));
    if (at >= 0) text.setAttribute("aria-activedescendant", `pick-${at}`);
    else text.removeAttribute("aria-activedescendant");
  }

  function take(place) {
    const end = text.selectionStart;
    const start = end - word.length;
    let wanted = found[place][0];
    if (isText && !/^[:}]/.test(text.value.slice(end))) wanted += "}";
    close();
    paper.write(start, end, wanted);
  }

  // `isAsked`: by a key, also where nothing is typed yet.
  function open(isAsked) {
    close();
    if (text.readOnly || text.selectionStart !== text.selectionEnd) return;
    const [line, column] = paper.caret();
    const before = paper.lines()[line - 1].slice(0, column);
    const known = context(before, names());
    ({ word, isText = false } = known);
    const small = word.toLowerCase();
    const begins = ([one]) => one.toLowerCase().startsWith(small);
    found = known.options.filter((one) => (begins(one) || (small.length > 1 && one[0].toLowerCase().includes(small))) && one[0] !== word)
      .sort((one, other) => begins(other) - begins(one)).slice(0, MOST);
    if (!found.length || (!word && !isAsked && !/[({;] ?$|\b(when|and|or) $/.test(before))) return close();
    list.replaceChildren(...found.map(([one, hint], place) => h("li", { role: "option", id: `pick-${place}`, onclick: () => take(place) }, h("span", null, one.trim()), hint && h("small", null, hint))));
    list.hidden = false;
    told.textContent = `${found.length} to choose from by the arrow keys`;
    // Enter is a new line where no word is begun.
    mark(word ? 0 : -1);
    const [x, y] = paper.spot(line, column - word.length);
    list.style.top = `${y + 2}px`;
    list.style.left = `${Math.max(0, Math.min(x, box.clientWidth - list.offsetWidth - 4))}px`;
    list.scrollIntoView({ block: "nearest" });
  }

  function pressed(event) {
    if (event.key === " " && event.ctrlKey) open(true);
    else if (!found.length || event.isComposing) return;
    else if (event.key === "ArrowDown") mark((at + 1) % found.length);
    else if (event.key === "ArrowUp") mark(at > 0 ? at - 1 : found.length - 1);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0 && !event.shiftKey) take(at);
    else return;
    event.preventDefault();
  }

  text.addEventListener("keydown", pressed);
  text.addEventListener("input", (event) => { if (event.isComposing || /^(history|deleteByCut)/.test(event.inputType || "history")) close(); else open(); });
  text.addEventListener("blur", close);
  // A moved caret is at another word.
  text.addEventListener("keyup", (event) => { if (/^(Arrow(Left|Right)|Home|End|Page)/.test(event.key)) close(); });
  text.addEventListener("pointerdown", close);
  // The text keeps its focus, and a phone its keyboard.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("mousedown", (event) => event.preventDefault());
}

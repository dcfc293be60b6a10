// How the board understands HEARTBEAT.md: a row for each line, and the sum of a day's model calls.
import { button, h } from "./dom.js";
import { number } from "./words.js";

const GOES_ON = /^goes on with line /;
const ALIKE = ["beat", "background", "done"];
const WIDE = matchMedia("(min-width: 60rem)");
const OFF = / \(the line is off until it is put right\)$/;
// The clause with the mistake, which stands in the line.
const CLAUSE = /^"[^"]*": (?!is )/;

export const hasTasks = (text) => /^\s*([-*+]|\d+\.) /m.test(text);

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// {first, last, kind, text, calls, problem} of the lines; neighbors that are alike are one.
function rowsOf({ problems, readings }) {
  const rows = [];
  const short = (said) => said.replace(/^off: /, "").replace(OFF, "").replace(CLAUSE, "");
  const wrong = new Map(problems.map((one) => [one.line, short(one.text)]));
  for (const { line, kind, text, calls_per_day: calls = 0 } of readings) {
    const before = rows[rows.length - 1];
    const problem = wrong.get(line) || (kind === "off" ? short(text) : undefined);
    wrong.delete(line);
    const isMore = before && (GOES_ON.test(text) || (ALIKE.includes(kind) && before.text === text && !before.problem));
    if (isMore && !problem) before.last = line;
    // The reading of a line that is off is its mistake.
    else rows.push({ first: line, last: line, kind, text: kind === "off" ? "" : text, calls, problem });
  }
  for (const [line, problem] of wrong) rows.push({ first: line, last: line, kind: "off", text: "", calls: 0, problem });
  return rows.sort((one, other) => one.first - other.first);
}

function shade({ kind, problem, calls }) {
  if (kind === "off" || problem) return "bad";
  return calls ? "warn" : kind === "background" || kind === "done" ? "soft" : "good";
}

// What the board means by "did you mean", in the lines: {right: its words, wanted: those to write, lines}; null where it names none.
export function putRight(problem, lines) {
  const right = problem.match(/did you mean "([^"]+)"/)?.[1];
  if (!right) return null;
  const [, sensor] = problem.match(/there is no sensor "([^"]+)"/) || [];
  const [, name, value] = problem.match(/(?:^|[ "])([^ ":]+) gives no ([^;]+);/) || [];
  let [, wrong] = problem.match(/"([^"]+)":? is no clause/) || [];
  if (wrong && !wrong.includes(" ") && right.includes(" ")) {
    const [word, next] = right.split(" ");
    if (!new RegExp(`${escaped(wrong)} +${escaped(next)}`, "i").test(lines)) return null;
    return { right, wanted: word, lines: lines.replace(new RegExp(escaped(wrong), "i"), () => word) };
  }
  const found = sensor ? `${escaped(sensor)}\\.[^\\s{}:;,()<>=!]+` : escaped(name ? `${name}.${value}` : wrong || "");
  const made = found && lines.replace(new RegExp(`(?<![^\\s({;])${found}`, "i"), () => right);
  return made && made !== lines ? { right, wanted: right, lines: made } : null;
}

export function dayOf(readings) {
  const per = (wanted) => readings.filter((one) => (one.kind === "beat") === wanted).map((one) => one.calls_per_day || 0);
  // Those of a beat are for all such lines together.
  return per(false).reduce((sum, one) => sum + one, 0) + Math.max(0, ...per(true));
}

const calls = (count) => `${number(count)} model ${count === 1 ? "call" : "calls"} a day`;

// `paper`: the text of the rows; `looksOnly`: nothing is written.
export function beside(paper, looksOnly) {
  const list = h("ul", { class: "side", "aria-label": "How the board understands it" });
  const here = h("p", { class: "here", "aria-hidden": "true" });
  const sum = h("div", { id: "sum", role: "status" });
  paper.box.append(here);
  let rows = [];

  // A row stands beside its line, or below the row before.
  function place() {
    let bottom = 0;
    // All are measured before one is moved: a layout for each would take a second.
    const sizes = rows.map(({ made, first }) => [paper.spot(first)[1], made.offsetHeight]);
    rows.forEach(({ made }, at) => {
      const top = Math.max(bottom, sizes[at][0]);
      made.style.top = WIDE.matches ? `${top}px` : "";
      bottom = top + sizes[at][1] + 4;
    });
    list.style.minHeight = WIDE.matches ? `${bottom}px` : "";
    follow();
  }

  function follow() {
    const [line] = paper.caret();
    const current = rows.find((one) => one.first <= line && line <= one.last);
    for (const one of rows) one.made.classList.toggle("current", one === current);
    here.className = `here ${current ? shade(current) : "none"}`;
    here.textContent = current ? [current.text, current.problem].filter(Boolean).join(" ") : "";
  }

  function rowOf(row) {
    const { first, last, kind, text, problem } = row;
    const lines = () => paper.lines().slice(first - 1, last).join("\n");
    const fix = problem && !looksOnly && putRight(problem, lines());
    const label = first === last ? `Line ${first}` : `Lines ${first}–${last}`;
    const [said, after] = fix ? problem.split(`"${fix.right}"`) : [problem, ""];
    const write = fix && button(fix.wanted, () => { const now = putRight(problem, lines()); if (now) paper.replaceLines(first, last, now.lines); }, { class: "fix", "aria-label": `Write ${fix.wanted}` });
    return h("li", { class: shade(row) }, h("button", { type: "button", onclick: () => paper.select(first, last) }, label), ` ${text} `,
      problem ? h("span", { class: "bad" }, said, write || "", after) : "");
  }

  // `saved`: the calls a day of the file on the board.
  function show(answer, saved) {
    rows = rowsOf(answer).map((row) => ({ ...row, made: rowOf(row) }));
    list.replaceChildren(...rows.map((one) => one.made));
    const marks = new Map();
    for (const row of rows) for (let line = row.first; line <= row.last; line++) marks.set(line, shade(row));
    paper.draw(marks);
    const wrong = rows.filter((one) => one.problem).length;
    const day = dayOf(answer.readings);
    const episodes = answer.readings.filter((one) => one.kind === "alarm" && /1 call an alarm/.test(one.text)).length;
    const change = day === saved ? "" : `, ${number(Math.abs(day - saved))} ${day > saved ? "more" : "fewer"} than the file on the board`;
    sum.replaceChildren(!wrong && !answer.readings.length && !hasTasks(paper.text.value) ? "" : h("p", { class: wrong ? "bad" : "good" }, wrong ? `${wrong} ${wrong === 1 ? "line is" : "lines are"} not understood.` : "The board understands every line."),
      answer.readings.length ? h("p", { class: day ? "warn" : "" }, h("strong", null, day ? calls(day) : "No model calls by the clock"),
        change, episodes ? `, and one each time ${episodes === 1 ? "an alarm begins" : `one of ${episodes} alarms begins`}` : "", ".") : "");
    place();
  }

  const seen = new ResizeObserver(place);
  seen.observe(paper.box);
  return { list, sum, show, place, follow, leave: () => seen.disconnect() };
}

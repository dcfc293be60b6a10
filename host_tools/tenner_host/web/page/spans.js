// The times at which readings were beyond the limits of the board's alarms.
import { gapOf } from "./line.js";
import { limit, parse } from "./words.js";

const TESTS = { ">": (value, low) => value > low, "<": (value, low) => value < low, ">=": (value, low) => value >= low, "<=": (value, low) => value <= low,
  "==": (value, low) => value === low, "!=": (value, low) => value !== low, outside: (value, low, high) => value < low || value > high };

// The alarms on one value each: [{name, isBeyond, numbers, held, text}].
function rulesOf(tasks, look) {
  return tasks.flatMap(({ condition, text }) => {
    const { terms = [], held } = (condition && parse(condition)) || {};
    const [term] = terms;
    if (terms.length !== 1 || !TESTS[term.op]) return [];
    const [low, high] = [Number(term.low), Number(term.high)];
    const { op, name } = term;
    return [{ name, held, isBeyond: (value) => TESTS[op](value, low, high), numbers: [term.low, term.high].filter((one) => one != null).map(Number).filter(Number.isFinite), text: `${name} ${limit(term, look(name))}: ${text}` }];
  });
}

function spansOf(points, { isBeyond, held, text }) {
  const found = [];
  const gap = gapOf(points);
  let first = null;
  points.forEach(([at, value], place) => {
    const next = points[place + 1];
    if (isBeyond(value)) first ??= at;
    else first = null;
    if (first == null) return;
    const isCut = !next || (gap && next[0] - at > gap);
    if (!isCut && isBeyond(next[1])) return;
    const last = isCut ? at : next[0];
    if (last - first >= held) found.push({ first, last, text });
    first = null;
  });
  return found;
}

// {spans, limits} of some series.
export function beyond(series, tasks) {
  const rules = rulesOf(tasks, (name) => ({ unit: series.find((one) => one.name === name)?.unit || "", isSwitch: false }));
  const on = (name) => rules.filter((rule) => rule.name === name);
  return { spans: series.flatMap((one) => on(one.name).flatMap((rule) => spansOf(one.points, rule))), limits: series.flatMap((one) => on(one.name).flatMap((rule) => rule.numbers)) };
}

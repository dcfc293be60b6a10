// Words for people: names of values, values with units, ages, limits, texts with their values.
const WORDS = { co2: "CO2", ph: "pH", uv: "UV", voc: "VOC", pm25: "PM2.5", pm10: "PM10", rssi: "Wi-Fi signal" };
const VITALS = { heap_free: "Memory free", heap_used: "Memory used", uptime: "Running for", internal: "Chip temperature",
  system_free: "System memory free", system_block: "Largest free block" };
// The name of a switch says enough without these.
const STATE = /^(open|on|state|wet|closed)$/;
const OPS = ">=|<=|==|!=|>|<|outside|changes by|changes|rises by|drops by";
const TERM = new RegExp(`^(.+?\\.[^ .]+) (${OPS})(?: ([^ ]+?))?(?:\\.\\.([^ ]+))?(?: within (\\d+) s)?$`);

export const isVital = (name) => name.startsWith("board.");

const split = (name) => [name.slice(0, Math.max(name.lastIndexOf("."), 0)), name.slice(name.lastIndexOf(".") + 1)];

// `room.heat_index` is "Room heat index".
export function friendly(name) {
  const [sensor, quantity] = split(name);
  if (isVital(name) && VITALS[quantity]) return VITALS[quantity];
  const parts = isVital(name) || (STATE.test(quantity) && sensor) ? [isVital(name) ? quantity : sensor] : [sensor, quantity];
  const text = parts.join(" ").split(/[_.\s]+/).filter(Boolean).map((word) => WORDS[word.toLowerCase()] || word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function span(seconds) {
  if (seconds == null) return "";
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export const ago = (seconds) => (seconds < 45 ? "just now" : `${span(Math.max(seconds, 60))} ago`);

export function number(value) {
  if (typeof value !== "number") return "–";
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
}

// The words of a switch: [for 0, for 1].
export function words(name) {
  if (/\.(closed|shut)$/.test(name)) return ["open", "shut"];
  if (/door|window|gate|lid|hatch|\.open$/i.test(name)) return ["shut", "open"];
  if (/leak|flood|wet/i.test(name)) return ["dry", "wet"];
  return ["off", "on"];
}

// A value as people write it: "10 min", "168 KB", "open", "21.5 °C".
export function shown(value, unit, name, isSwitch) {
  if (isSwitch && (value === 0 || value === 1)) return words(name)[value];
  if (typeof value !== "number") return "–";
  if (unit === "s") return span(value);
  if (unit === "B") return Math.abs(value) < 1024 ? `${value} B` : value < 1048576 ? `${Math.round(value / 1024)} KB` : `${number(value / 1048576)} MB`;
  return unit ? `${number(value)} ${unit}` : number(value);
}

// The parts of a condition such as `room.temperature > 30 for 180 s`; null for one of another form.
export function parse(condition) {
  const [, text, held] = condition.match(/^(.*?)(?: for (\d+) s)?$/s);
  const joint = text.includes(" or ") ? " or " : " and ";
  const terms = text.split(joint).map((one) => {
    const [, name, op, low, high, within] = one.match(TERM) || [];
    return { name, op, low, high, within: Number(within) };
  });
  return terms.every((one) => one.name) ? { terms, joint, held: Number(held) || 0 } : null;
}

function amount(text, look, name) {
  const value = Number(text);
  return Number.isNaN(value) ? text : shown(value, look.unit, name, look.isSwitch);
}

// "above 30 °C", "when open", "outside 17 to 26 °C".
export function limit({ name, op, low, high, within }, look) {
  const value = low == null ? "" : amount(low, look, name);
  const during = within ? ` within ${span(within)}` : "";
  if (op === "outside") return `outside ${low} to ${amount(high, look, name)}`;
  if (op === "==" || op === "!=") return `${op === "!=" ? "unless" : look.isSwitch ? "when" : "at"} ${value}`;
  if (op[0] === ">" || op[0] === "<") return op[1] ? `${value} or ${op[0] === ">" ? "more" : "less"}` : `${op === ">" ? "above" : "below"} ${value}`;
  if (op === "changes") return "at each change";
  return `${op} ${value}${during}`;
}

// The end of an alarm that waits for its reset.
export function ending(state, term, look) {
  const found = state.match(/waits for reset (\S+)/);
  if (!found) return "";
  return `ends ${term.op[0] === ">" ? "below" : term.op[0] === "<" ? "above" : "at"} ${amount(found[1], look, term.name)}`;
}

// A text of HEARTBEAT.md with the values of its `{room.temperature}`; `look` gives those of a name.
export function filled(text, look) {
  return text.replace(/\{([^{}: ]+\.[^{}: .]+)(?::\.(\d)f)?\}(\s*[^\s.,;:!?)]*)/g, (whole, name, digits, after) => {
    const { value, unit, isSwitch } = look(name);
    if (typeof value !== "number") return "…" + after;
    const same = unit && after.trim().replace("°", "").toLowerCase() === unit.replace("°", "").toLowerCase();
    const made = digits == null ? shown(value, same ? "" : unit, name, isSwitch) : value.toFixed(Number(digits)) + (unit && !same ? " " + unit : "");
    return made + after;
  });
}

// "11:31", and with its date on another day; the board gives "2026-11-28 11:31" then.
export function moment(text) {
  const found = text.match(/^(\d+)-(\d+)-(\d+) (\d+:\d+)/);
  if (!found) return text;
  const day = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
  return day.toDateString() === new Date().toDateString() ? found[4] : `${day.toLocaleDateString([], { day: "numeric", month: "short" })}, ${found[4]}`;
}

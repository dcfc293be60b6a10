// Elements from names, attributes and children. Text is never read as HTML.
export function h(name, attributes, ...children) {
  const made = document.createElement(name);
  fill(made, attributes, children);
  return made;
}

export function s(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(made, attributes, children);
  return made;
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((one) => one != null && one !== false));
}

export function note(text) {
  const line = h("p", null, text);
  document.getElementById("notes").append(line);
  setTimeout(() => line.remove(), 7000);
}

// A button whose work may fail; it is off meanwhile.
export function button(text, work, attributes) {
  const made = h("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      await work();
    } catch (problem) {
      note(problem.message);
    } finally {
      made.disabled = false;
    }
  });
  return made;
}

// A guest has no button that changes something.
let looksOnly = false;
export const lookOnly = (yes) => { looksOnly = yes; };
export const action = (...given) => (looksOnly ? "" : button(...given));

export const clock = (at) => new Date(at * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "medium" });

export function span(seconds) {
  if (seconds == null) return "";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export const number = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : "–");

// Readings of 0 and 1 without a unit.
export const isSwitch = (one) => !one.unit && one.points.every((point) => point[1] === 0 || point[1] === 1);

export function sparkline(points, label, steps) {
  const picture = s("svg", { class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img", "aria-label": label });
  if (points.length < 2) return picture;
  // A board's clock may have been set back.
  points.sort((one, other) => one[0] - other[0]);
  const times = points.map((one) => one[0]);
  const values = points.map((one) => one[1]);
  const [first, last] = [times[0], times[times.length - 1]];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const path = points.map(([at, value], place) => {
    const x = ((at - first) / (last - first || 1)) * 100;
    const y = high > low ? 28 - ((value - low) / (high - low)) * 26 : 15;
    return place && steps ? `H${x.toFixed(2)}V${y.toFixed(2)}` : `${place ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`;
  });
  picture.append(s("path", { d: path.join("") }));
  return picture;
}

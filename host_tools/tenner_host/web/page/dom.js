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

// A table whose rows are cards in a narrow window; the roles stay with a table there.
// A row is an array of cells; its first is its header.
export function table(label, heads, rows) {
  const row = (cells) => h("tr", { role: "row" }, cells.map((cell, at) => {
    const header = at === 0;
    return h(header ? "th" : "td", { role: header ? "rowheader" : "cell", scope: header && "row", "data-label": heads[at] }, cell);
  }));
  return h("table", { class: "cards", role: "table", "aria-label": label }, h("thead", { role: "rowgroup" },
    h("tr", { role: "row" }, heads.map((one) => h("th", { role: "columnheader", scope: "col" }, one)))), h("tbody", { role: "rowgroup" }, rows.map((one) => (one instanceof Node ? one : row(one)))));
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

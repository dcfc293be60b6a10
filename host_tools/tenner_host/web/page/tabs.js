// The tabs: a line above the views, and on a phone a bar below them, whose last tab opens the others.
import { h, s } from "./dom.js";

// Those that the bar has, with their pictures in a box of 24; the others stand behind "More".
const PICTURES = {
  now: "M3 12h4l3-7 4 14 3-7h4",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  heartbeat: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  plots: "M4 4v16h16M7 15l4-5 3 3 5-6",
};
const MORE = "M5 12h.01M12 12h.01M19 12h.01";
// A name that is too wide for the bar.
const SHORT = { heartbeat: "Heartbeat" };

const picture = (path) => s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: path }));
const badge = h("span", { class: "badge", role: "img", hidden: true });
const others = h("div", { id: "others" });
const more = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "others", onclick: () => open(!isOpen()) }, picture(MORE), "More");
let nav = null;

export function draw(place, views) {
  nav = place;
  const link = (name) => h("a", { href: "#" + name }, PICTURES[name] && picture(PICTURES[name]), SHORT[name]
    ? [h("span", { class: "long" }, views[name].title), h("span", { class: "short" }, SHORT[name])] : views[name].title, name === "now" && [" ", badge]);
  const names = Object.keys(views);
  others.replaceChildren(...names.filter((name) => !PICTURES[name]).map(link));
  nav.replaceChildren(...names.filter((name) => PICTURES[name]).map(link), more, others);
}

export function mark(isCurrent) {
  open(false);
  more.removeAttribute("aria-current");
  for (const link of nav ? nav.querySelectorAll("a") : []) {
    const here = isCurrent(link.hash.slice(1));
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (here && others.contains(link)) more.setAttribute("aria-current", "true");
  }
}

export function count(active, words) {
  if (badge.textContent === String(active || "")) return;
  badge.hidden = !active;
  badge.textContent = active || "";
  badge.setAttribute("aria-label", words);
}

const isOpen = () => more.getAttribute("aria-expanded") === "true";

function open(yes) {
  more.setAttribute("aria-expanded", String(yes));
  others.classList.toggle("open", yes);
}

// A tap beside it or Escape closes it, and so does the focus that goes on.
const isOutside = (one) => !others.contains(one) && !more.contains(one);
addEventListener("pointerdown", ({ target }) => { if (isOutside(target)) open(false); });
addEventListener("focusin", ({ target }) => { if (isOpen() && isOutside(target)) open(false); });
addEventListener("keydown", ({ key }) => { if (key === "Escape" && isOpen()) { open(false); more.focus(); } });
others.addEventListener("click", () => { open(false); });

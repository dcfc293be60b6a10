// Does the other end still answer? Told each second, with the seconds since it did.
import { span } from "./words.js";

// An answer is due every five seconds; a sentence after two that did not come.
const LIMIT_S = 12;
const TICK_MS = 1000;
let heardAt = 0;
let tickedAt = 0;
let timer = 0;

export const heard = () => { heardAt = Date.now(); };
export const quietFor = () => Math.round((Date.now() - heardAt) / 1000);
export const isQuiet = () => quietFor() >= LIMIT_S;

// `work` is called each second, `wake` after a pause of the browser, in which nobody asked.
export function beat(work, wake) {
  clearInterval(timer);
  heard();
  tickedAt = Date.now();
  timer = setInterval(() => {
    if (Date.now() - tickedAt > 5 * TICK_MS) { heard(); wake(); }
    tickedAt = Date.now();
    work();
  }, TICK_MS);
}

export const still = () => clearInterval(timer);

// The header's words; the seconds are for the eye alone, or a screen reader would count along.
export function say(text, kind, seconds) {
  const [line, since] = [document.getElementById("link"), document.getElementById("since")];
  if (line.textContent !== text) line.textContent = text;
  line.className = since.className = kind;
  since.textContent = seconds == null ? "" : `for ${span(seconds)}`;
}

// What a person typed and did not send: kept in this browser until it is saved, sent or thrown away.
import { note } from "./dom.js";

let place = "";
let told = false;

// A computer's server may show another board tomorrow.
export const keepFor = (board) => { place = `tenner-draft ${location.pathname} ${board}: `; };

// {text, ...} as `keep` got it, or null.
export function kept(field) {
  try {
    return JSON.parse(localStorage.getItem(place + field));
  } catch {
    return null;
  }
}

export function keep(field, found) {
  try {
    localStorage.setItem(place + field, JSON.stringify(found));
  } catch (problem) {
    // A full or forbidden storage is no reason not to type.
    if (!told) note(`This browser keeps no drafts: ${problem.message}`);
    told = true;
  }
}

export const drop = (field) => localStorage.removeItem(place + field);

// A text and what stands beside its lines: a copy under it has each line's place and its mark.
import { h } from "./dom.js";

export function paper(attributes) {
  const text = h("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", rows: 1, ...attributes });
  const copy = h("div", { class: "copy", "aria-hidden": "true" });
  const box = h("div", { class: "paper" }, copy, text);
  let marks = new Map();

  // The copy makes the text as high as its lines.
  function draw(found = marks) {
    marks = found;
    copy.replaceChildren(...text.value.split("\n").map((line, at) => h("div", { class: marks.get(at + 1) }, h("span", null, line || "\u200b"))));
  }

  const starts = (line) => text.value.split("\n").slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);

  // A change that Ctrl-Z takes back.
  function write(start, end, wanted) {
    text.focus({ preventScroll: true });
    text.setSelectionRange(start, end);
    if (document.activeElement === text && (start === end && !wanted || document.execCommand(wanted ? "insertText" : "delete", false, wanted))) return;
    text.setRangeText(wanted, start, end, "end");
    text.dispatchEvent(new Event("input"));
  }

  return {
    box, text, draw, write,
    lines: () => text.value.split("\n"),
    // The place of a line, or of its letter, below the upper left corner: [x, y, height].
    spot(line, column) {
      const row = copy.children[Math.min(line, copy.children.length) - 1];
      if (column == null) return [0, row.offsetTop, row.offsetHeight];
      const range = document.createRange();
      range.setStart(row.firstChild.firstChild, Math.min(column, row.textContent.length));
      const { left, bottom, height } = range.getBoundingClientRect();
      const { left: x, top: y } = box.getBoundingClientRect();
      return [left - x, bottom - y, height];
    },
    // [line, column] of the caret.
    caret() {
      const before = text.value.slice(0, text.selectionStart).split("\n");
      return [before.length, before[before.length - 1].length];
    },
    select(first, last = first) {
      text.focus();
      text.setSelectionRange(starts(first), starts(last + 1) - 1);
    },
    replaceLines(first, last, wanted) {
      write(starts(first), starts(last + 1) - 1, wanted);
    },
  };
}

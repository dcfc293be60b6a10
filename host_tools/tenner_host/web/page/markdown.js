// Markdown of an answer as elements: bold, italics, code, lists, links. Nothing is read as HTML.
import { h } from "./dom.js";

const ADDRESS = "https?:\\/\\/[^\\s<>\"'`()\\[\\]]";
const INLINE = new RegExp([
  "`([^`\\n]+)`",
  "\\*\\*(?=\\S)(.+?)\\*\\*",
  `\\[([^\\]\\n]+)\\]\\((${ADDRESS}+(?:\\([^\\s()]*\\)[^\\s()]*)?)\\)`,
  `(${ADDRESS}*[^\\s<>"'\`()\\[\\].,;:!?*_])`,
  "(?<![\\w*])\\*([^*\\s](?:[^*\\n]*[^*\\s])?)\\*(?![\\w*])",
  "(?<![\\w])_([^_\\s](?:[^_\\n]*[^_\\s])?)_(?!\\w)",
].join("|"));
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
const FENCE = /^\s*```/;
// A text that nests deeper is shown as it is.
const DEPTH = 4;

// Only of the web, to a window of its own, and with the host behind words that hide it.
function link(words, address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return [words];
  }
  if (!/^https?:$/.test(url.protocol)) return [words];
  const made = h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, words);
  return words === address ? [made] : [made, h("small", null, ` (${url.host})`)];
}

function inline(text, depth = 0) {
  const found = [];
  let rest = text;
  for (let match; depth < DEPTH && (match = INLINE.exec(rest)); rest = rest.slice(match.index + match[0].length)) {
    const [, code, bold, words, address, bare, star, line] = match;
    found.push(rest.slice(0, match.index));
    if (code != null) found.push(h("code", null, code));
    else if (bold != null) found.push(h("strong", null, inline(bold, depth + 1)));
    else if (address != null) found.push(...link(words, address));
    else if (bare != null) found.push(...link(bare, bare));
    else found.push(h("em", null, inline(star ?? line, depth + 1)));
  }
  return [...found, rest].filter((one) => one !== "");
}

export function markdown(text) {
  const made = h("div", { class: "md" });
  let list = null;
  let code = null;
  let lines = [];

  function end() {
    if (lines.length) made.append(h("div", null, lines.flatMap((one, at) => (at ? [h("br"), ...inline(one)] : inline(one)))));
    lines = [];
    list = null;
  }

  for (const line of text.split("\n")) {
    const item = line.match(ITEM);
    const heading = line.match(HEADING);
    if (FENCE.test(line)) {
      if (code) code = null;
      else {
        end();
        made.append(code = h("pre", { tabindex: "0" }));
      }
    } else if (code) code.append(line + "\n");
    else if (!line.trim()) end();
    else if (heading) {
      end();
      made.append(h("div", null, h("strong", null, inline(heading[1]))));
    } else if (item) {
      const kind = item[1] ? "OL" : "UL";
      if (!list || list.tagName !== kind) {
        end();
        made.append(list = h(kind.toLowerCase(), item[1] ? { start: item[1] } : null));
      }
      list.append(h("li", null, inline(item[2])));
    } else if (list && /^\s/.test(line)) list.lastChild.append(h("br"), ...inline(line.trim()));
    else {
      if (list) end();
      lines.push(line);
    }
  }
  end();
  return made;
}

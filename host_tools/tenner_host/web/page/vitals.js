// The board itself in one folded card: its health, and the values of its chip.
import { clock, h } from "./dom.js";
import { isSwitch } from "./line.js";
import { ago, friendly, shown, span } from "./words.js";

export function vitals() {
  const title = h("summary");
  const list = h("dl", { class: "values" });
  const lines = h("pre");
  const said = h("summary");
  const root = h("details", { class: "fold card", hidden: true }, title, list, h("details", null, said, lines));

  function update(agent, values, now) {
    root.hidden = !agent && !values.length;
    const status = agent ? agent.status : { lines: [] };
    title.textContent = ["Board", status.up_s != null && `up ${span(status.up_s)}`, status.network && `network ${status.network}`].filter(Boolean).join(" · ");
    const rows = values.map((one) => [friendly(one.name), shown(one.value, one.unit, one.name, isSwitch(one)) + (one.old ? ` (${ago(now - one.at)})` : ""), one.old]);
    if (status.heap_free_kb && !values.some((one) => one.name === "board.heap_free")) rows.push(["Memory free", `${status.heap_free_kb} KB`]);
    if (status.version) rows.push(["Version", `tenner ${status.version}`]);
    if (status.telegram) rows.push(["Telegram", status.telegram]);
    if (status.outbox) rows.push(["Messages waiting", String(status.outbox)]);
    list.replaceChildren(...rows.flatMap(([name, value, old]) => [h("dt", null, name), h("dd", { class: old ? "soft" : "" }, value)]));
    said.textContent = agent ? `As the board says it, ${clock(agent.at)}` : "";
    lines.textContent = status.lines.join("\n");
    lines.parentElement.hidden = !agent;
  }

  return { root, update };
}

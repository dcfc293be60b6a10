// Chat: the conversation with the agent; its questions are answered here, too.
import { events, get, post } from "./api.js";
import { action, clock, h, note } from "./dom.js";

export const title = "Chat";
const WORK = /^(agent|llm|tool|net|tls)$/;

export async function show(place, app) {
  if (app.missing.chat) {
    place.append(h("p", null, app.missing.chat));
    return null;
  }
  const list = h("ol", { class: "chat", "aria-live": "polite" });
  const progress = h("p", { class: "soft", role: "status" });
  const question = h("div", { role: "alert" });
  const input = h("input", { "aria-label": "Your message", autocomplete: "off", maxlength: 2000, placeholder: "What is the temperature?" });
  const form = h("form", { class: "say", onsubmit: send }, input, h("button", { class: "main" }, "Send"));
  place.append(list, question, progress, app.guest ? h("p", { class: "soft" }, "You look only: the owner writes here.") : form);
  let seen = 0;
  let waiting = false;
  // The running sync, and whether it may be older than an event that came meanwhile.
  let syncing = null;
  let stale = false;

  function add(message) {
    if (message.number <= seen) return;
    seen = message.number;
    const who = { you: "You", agent: "Agent", tenner: "tenner" }[message.who];
    const item = h("li", { class: message.who + (message.failed ? " bad" : "") },
      h("small", null, `${who}, ${clock(message.time)}`), "\n" + message.text);
    list.append(item);
    item.scrollIntoView({ block: "end" });
    if (message.who !== "you") { waiting = false; progress.textContent = ""; ask(null); }
  }

  function ask(text) {
    question.replaceChildren(...(text == null ? [] : [h("div", { class: "card" }, h("pre", null, text),
      h("div", { class: "row" }, action("Allow", () => answer(true), { class: "main" }), action("Deny", () => answer(false))))]));
  }

  async function answer(yes) {
    await post("/chat/answer", { yes });
    ask(null);
  }

  async function send(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    try {
      await post("/chat", { text });
      input.value = "";
      await sync();
    } catch (problem) {
      note(problem.message);
      await sync();
    }
  }

  function sync() {
    stale = true;
    syncing ||= fetchAll().finally(() => { syncing = null; });
    return syncing;
  }

  async function fetchAll() {
    let found;
    while (stale) {
      stale = false;
      found = await get("/chat");
    }
    found.messages.forEach(add);
    waiting = found.waiting;
    if (waiting && !progress.textContent) progress.textContent = "The agent is at work …";
    ask(found.question);
  }

  // A message before those of a running sync would hide them: that brings it, too.
  const onChat = (event) => { stale = true; if (!syncing) add(event.detail.message); };
  const onQuestion = (event) => { stale = true; ask(event.detail.text); };
  const onLog = ({ detail }) => { if (waiting && WORK.test(detail.area)) progress.textContent = `${detail.area}: ${detail.text}`; };
  const onOpen = () => sync().catch(() => {});
  const onRenumbered = () => { seen = 0; list.replaceChildren(); };
  const all = [["renumbered", onRenumbered], ["chat", onChat], ["question", onQuestion], ["log", onLog], ["open", onOpen]];
  all.forEach(([name, work]) => events.addEventListener(name, work));
  const leave = () => all.forEach(([name, work]) => events.removeEventListener(name, work));
  try {
    await sync();
  } catch (problem) {
    leave();
    throw problem;
  }
  return leave;
}

// Chat: the conversation with the agent; its questions are answered here, too.
import { events, get, post } from "./api.js";
import { action, button, h, note } from "./dom.js";
import { drop, keep, kept } from "./drafts.js";
import { markdown } from "./markdown.js";
import { doing, tools } from "./tools.js";

export const title = "Chat";
const WORK = /^(agent|llm|tool|net|tls)$/;
const WHO = { you: "You", agent: "Agent", tenner: "tenner" };
const DRAFT = "chat";
// The last thing that a person said, until it is answered: {text, before, lost}.
const ASKED = "asked";
const NEAR_PX = 120;
const QUESTIONS = ["How are you?", "Which values do you have now?", "What happened last night?"];

const time = (at) => new Date(at * 1000).toLocaleTimeString([], { timeStyle: "short" });
const day = (at) => new Date(at * 1000).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });

export async function show(place, app) {
  if (app.missing.chat) {
    place.append(h("p", null, app.missing.chat));
    return null;
  }
  const list = h("ol", { class: "chat", "aria-live": "polite" });
  const outgoing = h("ol", { class: "chat" });
  // The answer while it is written; it is told once, as a whole.
  const draft = h("ol", { class: "chat", "aria-hidden": "true" });
  const empty = h("div");
  const progress = h("p", { class: "soft", role: "status" });
  const question = h("div", { role: "alert" });
  const input = h("input", { "aria-label": "Your message", autocomplete: "off", maxlength: 2000, placeholder: "What is the temperature?", oninput: () => (input.value ? keep(DRAFT, { text: input.value }) : drop(DRAFT)) });
  const form = h("form", { class: "say", onsubmit: (event) => { event.preventDefault(); say(input.value.trim(), true); } }, input, h("button", { class: "main" }, "Send"));
  place.append(empty, list, outgoing, draft, question, progress, app.guest ? h("p", { class: "soft" }, "You look only: the owner writes here.") : form);
  input.value = kept(DRAFT)?.text || "";
  let seen = 0;
  let lastDay = "";
  let mine = null;
  let sending = false;
  let waiting = false;
  let syncing = null;
  // May the running sync be older than an event that came meanwhile?
  let stale = false;

  function add(message) {
    if (message.number <= seen) return;
    seen = message.number;
    if (day(message.time) !== lastDay) {
      lastDay = day(message.time);
      list.append(h("li", { class: "day soft" }, lastDay));
    }
    const mark = h("small");
    const item = h("li", { class: message.who + (message.failed ? " bad" : "") }, h("small", null, `${WHO[message.who]}, ${time(message.time)}`), "\n", message.who === "agent" ? markdown(message.text) : message.text, message.tools && tools(message.tools), mark);
    list.append(item);
    const asked = kept(ASKED);
    if (message.who === "you") {
      if (asked && asked.text === message.text && message.number > asked.before) mine = { message, mark };
    } else {
      waiting = false;
      progress.textContent = "";
      draft.replaceChildren();
      ask(null);
      if (mine && message.who === "agent") settle("");
      else if (mine) settle("lost");
    }
    item.scrollIntoView({ block: "end" });
  }

  // Mark the last thing that a person said as sent or lost; "" ends it.
  function settle(state, sentence) {
    const asked = kept(ASKED);
    if (!mine || !asked) return;
    mine.mark.className = state;
    mine.mark.replaceChildren(...(state === "lost" ? lost(asked.text, sentence || "lost: no answer came") : state ? ["\n" + state] : []));
    if (state !== "sent") mine = null;
    if (!state) drop(ASKED);
  }

  function lost(text, sentence) {
    const given = h("span", { class: "row" }, action("Send again", () => say(text)), button("Leave it", () => { drop(ASKED); outgoing.replaceChildren(); given.remove(); }));
    return [h("span", { class: "bad" }, "\n" + sentence), given];
  }

  // What the server does not have (yet): on its way, or lost.
  function showOutgoing(text, ...mark) {
    outgoing.replaceChildren(h("li", { class: "you" }, text, h("small", null, mark)));
    outgoing.lastChild.scrollIntoView({ block: "end" });
  }

  function ask(text) {
    question.replaceChildren(...(text == null ? [] : [h("div", { class: "card" }, h("pre", null, text),
      h("div", { class: "row" }, action("Allow", () => answer(true), { class: "main" }), action("Deny", () => answer(false))))]));
  }

  async function answer(yes) {
    await post("/chat/answer", { yes });
    ask(null);
  }

  async function say(text, isTyped) {
    if (!text || sending) return;
    sending = true;
    for (const one of list.querySelectorAll(".lost")) one.replaceChildren("\nnot answered");
    mine = null;
    // The server makes one line of it.
    keep(ASKED, { text: text.split(/\s+/).join(" "), before: seen });
    empty.replaceChildren();
    showOutgoing(text, "\nsending …");
    if (isTyped) { input.value = ""; drop(DRAFT); }
    try {
      await post("/chat", { text });
    } catch (problem) {
      keep(ASKED, { ...kept(ASKED), lost: problem.message });
      showOutgoing(text, ...lost(text, `lost: ${problem.message}`));
    } finally {
      sending = false;
    }
    await sync().catch((problem) => note(problem.message));
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
    // Without the agent's restart numbers only grow.
    const asked = kept(ASKED);
    if (asked && asked.before > (found.messages.at(-1)?.number || 0)) keep(ASKED, { ...asked, before: 0 });
    found.messages.forEach(add);
    waiting = found.waiting;
    if (waiting && !progress.textContent) progress.textContent = "The agent is at work …";
    if (!waiting) { progress.textContent = ""; draft.replaceChildren(); }
    ask(found.question);
    reconcile(found);
    empty.replaceChildren(...(found.messages.length || app.guest || outgoing.children.length ? [] : [h("div", { class: "card" }, h("p", null, "Ask the agent something, or begin with one of these:"),
      h("div", { class: "row" }, QUESTIONS.map((one) => action(one, () => say(one)))))]));
  }

  function reconcile(found) {
    const asked = kept(ASKED);
    if (!asked || app.guest || sending) return;
    if (mine) {
      outgoing.replaceChildren();
      settle(found.waiting || found.question != null ? "sent" : "lost");
    } else if (found.messages.some((one) => one.who === "you" && one.number > asked.before && one.text === asked.text)) {
      // Its answer is there, or it is marked.
      outgoing.replaceChildren();
    } else showOutgoing(asked.text, ...lost(asked.text, asked.lost ? `lost: ${asked.lost}` : "lost: the board has restarted"));
  }

  // A message before those of a running sync would hide them: that brings it, too.
  const onChat = (event) => { stale = true; if (!syncing) { add(event.detail.message); empty.replaceChildren(); } };
  const onQuestion = (event) => { stale = true; ask(event.detail.text); };
  const onLog = ({ detail }) => { if (waiting && WORK.test(detail.area)) progress.textContent = doing(detail); };
  // A person who reads further up stays there.
  const onDraft = ({ detail: { text } }) => {
    const isAtEnd = innerHeight + scrollY > document.documentElement.scrollHeight - NEAR_PX;
    draft.replaceChildren(...(text ? [h("li", { class: "agent soft" }, markdown(text + " …"))] : []));
    if (isAtEnd) draft.lastChild?.scrollIntoView({ block: "end" });
  };
  const onOpen = () => sync().catch(() => {});
  const onRenumbered = () => { seen = 0; lastDay = ""; mine = null; list.replaceChildren(); };
  const all = [["renumbered", onRenumbered], ["chat", onChat], ["question", onQuestion], ["draft", onDraft], ["log", onLog], ["open", onOpen]];
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

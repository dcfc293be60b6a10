// The API as functions: calls with the session's token, and the stream of events.
const KEY = "tenner-token";
// Below the page itself: a fleet has a page for each board.
const BASE = location.pathname.replace(/[^/]*$/, "") + "api/v1";
const PATIENCE_MS = 60000;
const LOST_MS = 3000;
// A stream says something every 15 s.
const SILENT_MS = 35000;

export class Failed extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

// A chip at work says when to come again, and closes a connection too many.
async function ask(path, options) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    let again = 1;
    try {
      const answer = await fetch(path, options);
      events.dispatchEvent(new Event("answer"));
      again = answer.status === 503 && Number(answer.headers.get("Retry-After"));
      if (!again || Date.now() > end) return answer;
    } catch {
      if (options.method !== "GET" || options.signal?.aborted || Date.now() > end - PATIENCE_MS + LOST_MS) throw new Failed(0, "The server of this page does not answer: does it still run?");
    }
    await new Promise((go) => setTimeout(go, again * 1000));
  }
}

async function request(method, path, body, more = {}, signal) {
  const headers = { "X-Tenner-Token": localStorage.getItem(KEY) || "", ...more };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await ask(BASE + path, { method, headers, signal, body: body && JSON.stringify(body) });
  if (!answer.ok) {
    const found = await answer.json().catch(() => ({}));
    if (answer.status === 401) dispatchEvent(new Event("unpaired"));
    throw new Failed(answer.status, found.error || "error " + answer.status);
  }
  return answer;
}

export async function call(method, path, body, signal) {
  for (let tries = 0; ; tries++) {
    const answer = await request(method, path, body, {}, signal);
    if (answer.status === 204) return null;
    try {
      return await answer.json();
    } catch {
      // A chip without memory breaks an answer off.
      if (method !== "GET" || tries > 2) throw new Failed(0, "The answer broke off: try again.");
    }
    await new Promise((go) => setTimeout(go, 1000));
  }
}

// Without an answer in time it fails, where a limit is given: nobody ends a connection to a board without power.
export const get = (path, limit_ms) => call("GET", path, undefined, limit_ms && AbortSignal.timeout(limit_ms));
export const post = (path, body = {}) => call("POST", path, body);
export const blob = async (path) => (await request("GET", path)).blob();

export async function pair(code) {
  const { token } = await post("/pair", { code });
  localStorage.setItem(KEY, token);
}

// Events come as `detail` of a DOM event with their type's name. After a loss the stream goes on
// behind the last one, unless the agent has started again: then its numbers begin at one.
export const events = new EventTarget();
let running = false;
let start;

export async function listen(last) {
  if (running) return;
  running = true;
  for (;;) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENT_MS);
    try {
      const more = last === undefined ? {} : { "Last-Event-ID": String(last) };
      const answer = await request("GET", "/events", undefined, more, silence.signal);
      const now = answer.headers.get("Tenner-Start");
      if (start !== undefined && start !== now) {
        last = undefined;
        events.dispatchEvent(new Event("renumbered"));
      }
      start = now;
      events.dispatchEvent(new Event("open"));
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENT_MS);
        const parts = (text + value).split("\n\n");
        text = parts.pop();
        for (const part of parts) {
          // A chip, whose stream ends at once, says by an id alone where the next one begins.
          const id = part.match(/^id: (\d+)$/m);
          if (id) last = Number(id[1]);
          const line = part.split("\n").find((one) => one.startsWith("data: "));
          if (!line) continue;
          const event = JSON.parse(line.slice(6));
          events.dispatchEvent(new CustomEvent(event.type, { detail: event }));
        }
      }
    } catch (problem) {
      if (problem.status === 401) break;
      events.dispatchEvent(new CustomEvent("lost", { detail: problem.message }));
    } finally {
      clearTimeout(timer);
    }
    await new Promise((go) => setTimeout(go, 2000));
  }
  running = false;
}

// Update: the versions of board and computer, and updates over the network.
import { events, get, post } from "./api.js";
import { action, h } from "./dom.js";

export const title = "Update";

export async function show(place, app) {
  const answer = h("p", { role: "status" });
  const found = await get("/update");
  const same = found.board_version === found.computer_version;
  place.append(h("p", null, `The board runs tenner ${found.board_version || "of an unknown version"}${found.computer_version ? `; this computer has ${found.computer_version}` : ""}.`),
    found.board_version && found.computer_version ? h("p", { class: same ? "good" : "warn" }, same ? "They are the same." : ["They differ: end ", h("code", null, "tenner web"), " and run ", h("code", null, "tenner sync"), ", for a Linux board ", h("code", null, "tenner deploy"), "."]) : "",
    h("h2", null, "Over the network"),
    h("p", null, `The agent looks at its setting update.url. It asks you ${app.missing.chat ? "on Telegram" : "in Chat"} before it installs a version.`),
    action("Look for a newer version", async () => { answer.textContent = (await post("/update")).answer; }, { class: "main" }), answer);
  const onChat = ({ detail }) => { if (detail.message.who === "agent") answer.textContent = detail.message.text; };
  events.addEventListener("chat", onChat);
  return () => events.removeEventListener("chat", onChat);
}

// The step that is left on a board with sensors and tasks: alarms on a phone.
import { get } from "./api.js";
import { button, h, note } from "./dom.js";
import { keep, kept } from "./drafts.js";

const DONE = "telegram";
let asked = null;

// A board with Telegram is asked once by a browser: the settings are its longest answer.
const isMissing = async () => {
  const { settings } = await get("/settings");
  const token = settings.find((one) => one.key === "telegram.token");
  const missing = token != null && token.value == null;
  if (!missing) keep(DONE, {});
  return missing;
};

export async function offerTelegram(box) {
  if (kept(DONE)) return;
  asked ||= isMissing().catch((problem) => { note(problem.message); return false; });
  if (!(await asked) || kept(DONE)) return;
  const refuse = () => { keep(DONE, {}); box.replaceChildren(); };
  box.replaceChildren(h("div", { class: "card" }, h("p", null, "To get alarms on your phone, connect Telegram: ", h("code", null, "tenner setup"), " asks for the token of a bot, and ",
    h("a", { href: "#settings" }, "Settings"), " shows that the board has it."), button("No, thanks", refuse)));
}

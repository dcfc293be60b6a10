# tenner channels.telegram.quoted: the message that another one replies to or quotes.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.tools.untrusted import SOMEBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Pairing
    from tenner.net.json.scanner import Scalar

_LONGEST = const(600)
_LONGEST_STALE = const(100)  # beside the other texts of a digest
_BUTTON = ["reply_markup", "inline_keyboard", 0, 0, "callback_data"]

#: The fields of a message that `keep` takes.
FIELDS = ("reply_to_message", "external_reply", "quote")


def keep(update: dict, path: list[int | str], value: "Scalar") -> None:
    """Store a value of the quoted message in the dict `update["quoted"]`, if `take` needs it."""
    # The path is like ["result", 0, "message", "reply_to_message", "text"].
    inner = path[4:]
    field = str(inner[:1] and inner[0])
    if path[3] == "external_reply":
        name = "external"
    elif field.startswith("forward_"):
        name = "forwarded"
    elif field == "photo":
        name = "photo"
    elif inner == _BUTTON:
        name = "button"
    elif isinstance(value, str) and (inner == ["text"] or inner == ["caption"]):
        # The part that the person has marked, or all of it.
        name = "part" if path[3] == "quote" else "text"
    else:
        return
    kept = update.setdefault("quoted", {})
    kept[name] = (kept.get(name, "") + str(value))[: _LONGEST + 1]


def take(bot: "Pairing", update: dict, text: str, is_stale: bool) -> "tuple[str, bool | None]":
    """Return (the text with the quoted one before it, did somebody else write that one?); None
    for an answer of the agent, which may rest on text of others."""
    kept = update["quoted"]
    words = kept.get("part") or kept.get("text", "")
    if not words and "photo" not in kept:
        return text, False
    writer = str(update.get("reply_to_message.from.id"))
    kind, _, id = kept.get("button", "").rpartition(":")[0].partition(":")
    by_others: "bool | None" = False
    if "external" not in kept and writer == bot.config.get("telegram.token").split(":")[0]:
        whose = "your alarm %s" % id
        if kind != "al":
            whose = "your message"
            by_others = None if words else False
    elif writer == str(update.get("from.id")) and "forwarded" not in kept:
        whose = "my own message"
    else:
        whose = "a message " + SOMEBODY
        by_others = True
    if "photo" in kept:
        whose += ", a photo"
    longest = _LONGEST_STALE if is_stale else _LONGEST
    if len(words) > longest:
        words = words[:longest] + "\u2026"
    # With a mark on every line, none of it can pass for the person's words.
    lines = ["> " + line for line in words.split("\n")] if words else []
    return "\n".join(["(I reply to %s)" % whose] + lines + [text]), by_others

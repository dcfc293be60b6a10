# tenner tools.message: sends a message or a file to the owner, or to a chat that the owner allows.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import paths
from tenner.tools.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


# People other than the owner may read it.
LEAVES = True
LIMITS = {"text": (None, 4000)}

# Bytes of a file: it is copied, and a bot of Telegram may send 50 MB.
_MOST = const(52428800)
_MOST_SMALL = const(262144)


def subjects(args: dict) -> "Sequence[str]":
    return (args.get("chat", ""),)


def check(args: dict, ctx: "ToolContext") -> None:
    if "file" in args:
        _check_file(args, ctx)
    elif not args["text"].strip():
        raise ToolError("message: text is empty")
    chat = args.get("chat")
    if chat is None or chat in _known(ctx):
        return
    allowed = ctx.config.get("telegram.allow")
    if chat not in allowed:
        raise ToolError(
            "message: chat %s is not allowed; allowed: %s"
            % (chat, ", ".join(["the owner (leave chat out)"] + allowed))
        )


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str, str] | None:
    chat = args.get("chat")
    if chat is None or chat in _known(ctx):
        return None
    if "file" in args:
        text = "send the file %s to chat %s" % (args["file"], chat)
        return text, "send a file to chat %s" % chat, args["text"]
    text = "send to chat %s" % chat
    return text, "send a message to chat %s" % chat, args["text"]


async def run(args: dict, ctx: "ToolContext") -> str:
    path = paths.readable_file(ctx, args["file"]) if "file" in args else None
    return await ctx.send(args["text"], args.get("chat"), path) or "sent"


def _check_file(args, ctx):
    real = paths.readable_file(ctx, args["file"])
    args["file"] = paths.relative(ctx.workspace, real)
    size = files.size(real)
    most = _MOST_SMALL if ctx.port.small else _MOST
    if not 0 < size <= most:
        raise ToolError("a file to send has 1 to %d bytes, not %d" % (most, size))
    paths.check_free(real, size)


def _known(ctx):
    """Return the owner's chat and the chat of this turn."""
    return (ctx.config.get("telegram.owner"), str(getattr(ctx.turn, "chat", "")))

# tenner tools.message: sends a message to the owner or to a chat that the owner allows.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.tool_calls import ToolContext

# People other than the owner may read it.
LEAVES = True
LIMITS = {"text": (None, 4000)}


def subjects(args: dict) -> "Sequence[str]":
    return (args.get("chat", ""),)


def check(args: dict, ctx: "ToolContext") -> None:
    if not args["text"].strip():
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


def approval(args: dict, ctx: "ToolContext") -> str | None:
    chat = args.get("chat")
    if chat is None or chat in _known(ctx):
        return None
    return "send to chat %s: %s" % (chat, args["text"])


async def run(args: dict, ctx: "ToolContext") -> str:
    return await ctx.send(args["text"], args.get("chat")) or "sent"


def _known(ctx):
    """Return the owner's chat and the chat of this turn."""
    return (ctx.config.get("telegram.owner"), str(getattr(ctx.turn, "chat", "")))

# tenner tools.spawn: hands a task to a background turn.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

# A background turn cannot start another one.
TURNS = "person heartbeat cron"
LIMITS = {"task": (None, 2000)}


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str, str] | None:
    """Ask in a turn that has read text of strangers: a background turn has fewer restrictions."""
    if ctx.turn.untrusted_input:
        return "do in the background", "do a task in the background", args["task"]
    return None


async def run(args: dict, ctx: "ToolContext") -> str:
    return ctx.spawn(args["task"])

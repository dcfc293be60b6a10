# tenner tools.cron: adds, lists and removes the jobs of CRON.json.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import is_odd
from tenner.tools.errors import ToolError
from tenner.tools.wording import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

# Scheduled and background turns cannot change schedules.
TURNS = "person"
RESULT_CAP = 2048
LIMITS = {"id": (1, 40), "message": (1, 2000), "every_seconds": (1, None)}


def check(args: dict, ctx: "ToolContext") -> None:
    if args["action"] == "add":
        times = [name for name in ("cron", "every_seconds", "at") if name in args]
        if len(times) != 1:
            raise ToolError("cron: add needs one of cron, every_seconds and at")
        if is_odd(args["id"]):
            raise ToolError("cron: an id has no quotes, braces or control characters")


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str] | None:
    """Ask in a turn that has read text of strangers, which must not add or remove jobs."""
    action = args["action"]
    if action == "list" or not (ctx.turn.untrusted_input or ctx.config.get("tools.cron") == "ask"):
        return None
    return "%s the job %s" % (action, args["id"]), "%s %s" % (action, named("job", args["id"]))


async def preview(args: dict, ctx: "ToolContext") -> str:
    """Return when a new job would run, and its text."""
    if args["action"] != "add":
        return ""
    try:
        when = (await ctx.jobs()).times(_entry(args, ctx.turn))
    except (ValueError, OSError) as error:
        raise ToolError("cron: %s" % error)
    kind = "message" if args.get("kind") == "message" else "turn"
    return "%s\n%s: %s" % (when, kind, args["message"])


async def run(args: dict, ctx: "ToolContext") -> str:
    jobs = await ctx.jobs()
    action = args["action"]
    try:
        if action == "add":
            return "%s: %s" % (args["id"], jobs.add(_entry(args, ctx.turn)))
        if action == "remove":
            jobs.remove(args["id"])
            return "removed %s" % args["id"]
        if action != "list":
            jobs.enable(args["id"], action == "enable")
    except (ValueError, OSError) as error:
        raise ToolError("cron: %s" % error)
    return (
        "\n".join(
            line for line in jobs.lines() if action == "list" or line.startswith(args["id"] + " ")
        )
        or "no jobs"
    )


def _entry(args, turn):
    if "cron" in args:
        schedule = {"kind": "cron", "expr": args["cron"]}
    elif "at" in args:
        schedule = {"kind": "at", "at": args["at"]}
    else:
        schedule = {"kind": "every", "every_seconds": args["every_seconds"]}
    payload = {"kind": args.get("kind", "agent_turn"), "message": args["message"]}
    if turn.chat is not None:
        # The answer goes to the chat that asked.
        payload["channel"] = turn.channel
        payload["chat"] = turn.chat
    return {
        "id": args["id"],
        "enabled": True,
        "schedule": schedule,
        "payload": payload,
        "missed": args.get("missed", "once"),
    }

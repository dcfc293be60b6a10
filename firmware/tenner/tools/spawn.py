# tenner tools.spawn: hands a task to a background turn.
# MIT license; Copyright (c) 2026 the tenner authors

# A background turn starts no other.
TURNS = "person heartbeat cron"
LIMITS = {"task": (None, 2000)}


def approval(args, ctx):
    """In a turn that has read what strangers wrote, a background turn might do what this one may not."""
    if ctx.turn.untrusted_input:
        return "do in the background, now that text from outside was read: " + args["task"]
    return None


async def run(args, ctx):
    return ctx.spawn(args["task"])

# tenner tools.spawn: hands a task to a background turn.
# MIT license; Copyright (c) 2026 the tenner authors

LIMITS = {"task": (None, 2000)}


async def run(args, ctx):
    return ctx.agent.part("spawner").start(args["task"], ctx.turn)

# tenner store.modules: let go of code that is not needed now.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

#: The owner's tools and drivers (store.owned) by their paths; they stay.
loaded = {}


async def fleeting(work):
    """
    Await what the only entry of `work` returns, a function, as a task does that should leave nothing behind. A task that
    has ended may stay in memory for long, as the queue of asyncio never clears its links, with its coroutine and
    all that this knew; this one knows nothing any more.
    """
    return await work.pop()()


def forget(prefix, keep=()):
    """
    Let go of the modules whose names start with `prefix`: their heap is free once nobody runs them,
    and the next import loads them again. For small boards; such modules keep no state.
    """
    for name in [one for one in sys.modules if one.startswith(prefix) and one not in keep]:
        package, _, leaf = name.rpartition(".")
        del sys.modules[name]
        if hasattr(sys.modules.get(package), leaf):
            delattr(sys.modules[package], leaf)

# bench chip: starts the agent as main.py does, and prints what the heap holds when nothing is going on.
"""
start.py MILLISECONDS [watch]: how long the agent settles before its heap is looked at, and whether the most that
is alive is looked for, too, which takes its time. It runs in the folder that is
the board's root, so that names of files are as long as on a board.
"""

import gc
import sys

# C on a chip, where they take no heap.
import esp32  # noqa: F401
import machine  # noqa: F401
import network  # noqa: F401
import ntptime  # noqa: F401

gc.collect()
_empty = gc.mem_alloc()
gc.threshold(8192)  # as in main.py

# What is imported from here on is what is measured.
import asyncio  # noqa: E402

from tenner import services  # noqa: E402
from tenner.app import App, run  # noqa: E402


def live(label):
    gc.collect()
    print("live", label, gc.mem_alloc() - _empty)


async def watch(most):
    """Keep in `most` how much was alive at the highest point, as far as others let this run."""
    while True:
        await asyncio.sleep(0)
        gc.collect()
        most[0] = max(most[0], gc.mem_alloc() - _empty)


async def main():
    app = App(".")
    most = [0]
    if sys.argv[2:]:
        asyncio.create_task(watch(most))
    answer = services.reply

    def reply(app, message, text):
        answer(app, message, text)
        live("turn")
        print("live most", most[0])

    services.reply = reply
    asyncio.create_task(run(app))
    await asyncio.sleep(int(sys.argv[1]) / 1000)
    live("idle")
    await app.rest()
    live("rest")
    for name in sorted(sys.modules):
        print("module", name)
    await app.ended.wait()


asyncio.run(main())

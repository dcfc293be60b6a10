# bench chip: starts the agent as main.py does; a line on stdin asks for the live heap.
"""
start.py MODE: runs in the folder that is the board's root, so that file names are as long as on a
board. For each line on stdin it prints `live LINE BYTES`, the bytes alive then. In the mode
`watched` it also tracks the highest point, which takes time: `most` asks for it. `least` asks for
the least free memory ESP-IDF ever had. In the mode `quiet` it adds nothing to the agent.
"""

import gc
import select
import sys

# C on a chip, where they take no heap.
import esp32
import machine  # noqa: F401
import network  # noqa: F401
import ntptime  # noqa: F401

gc.collect()
_empty = gc.mem_alloc()
gc.threshold(8192 if gc.mem_free() > 65536 else 1536)  # as in main.py

from tenner import chip_heap  # noqa: E402

if hasattr(esp32, "take"):
    # The interpreter has an ESP32's memory: the heap grows first, as main.py makes it grow.
    import stacks

    sys.modules["_thread"] = stacks
    # littlefs: its caches of 256 bytes to read and to write, and those of an open file.
    _littlefs = bytearray(128 + 256 + 256 + 64), bytearray(84 + 256)
else:
    # This heap has its size already.
    chip_heap._grow = chip_heap._wifi_bytes = lambda *_: None
chip_heap.begin()

# The measurement counts every import from here on.
import asyncio  # noqa: E402

_run = asyncio.run
_watched = sys.argv[1] == "watched"
_most = 0


def _answer(label):
    gc.collect()
    if label == "least":
        print("live", label, sum(one[3] for one in esp32.idf_heap_info(esp32.HEAP_DATA)))
        return
    print("live", label, _most if label == "most" else gc.mem_alloc() - _empty)


async def _look():
    """Answer requests; the highest point counts only the moments when other tasks let this one
    run."""
    global _most
    asked = select.poll()
    asked.register(sys.stdin, select.POLLIN)
    while True:
        await asyncio.sleep_ms(0 if _watched else 20)
        if _watched:
            gc.collect()
            _most = max(_most, gc.mem_alloc() - _empty)
        if asked.poll(0):
            _answer(sys.stdin.readline().strip())


async def _beside(main):
    asyncio.create_task(_look())
    await main


def _run_beside(main):
    _run(_beside(main))


# A build renames the agent's own names, so this uses none of them.
if sys.argv[1] != "quiet":
    asyncio.run = _run_beside

from tenner.app import main  # noqa: E402

main(".")

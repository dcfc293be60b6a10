# tests hw_sampler: prints the board's memory once a second, beside the agent that main.py starts
# next. MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc
import time

import esp32

_PERIOD_MS = 1000
_run = asyncio.run


async def _sample():
    while True:
        free = largest = least = 0
        for _, size, block, fewest in esp32.idf_heap_info(esp32.HEAP_DATA):
            free += size
            largest = max(largest, block)
            least += fewest
        print("\nhw-memory", time.ticks_ms(), gc.mem_alloc(), gc.mem_free(), free, largest, least)
        await asyncio.sleep_ms(_PERIOD_MS)


async def _beside(agent):
    asyncio.create_task(_sample())
    await agent


def _run_beside(agent):
    _run(_beside(agent))


asyncio.run = _run_beside

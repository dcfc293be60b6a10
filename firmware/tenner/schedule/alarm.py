# tenner schedule.alarm: waits for an event or for a time, whichever comes first.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio


async def wait(event, seconds):
    """Return when `event` is set or `seconds` are over, and clear it."""
    # Not wait_for(): before CPython 3.12 it loses a cancellation that comes with the event.
    timer = asyncio.create_task(_ring(event, seconds))
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()


async def _ring(event, seconds):
    await asyncio.sleep(seconds)
    event.set()

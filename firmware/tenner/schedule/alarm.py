# tenner schedule.alarm: waits for an event or for a time, whichever comes first.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio


async def wait(event, seconds):
    """Wait until `event` is set or `seconds` are over; return whether it was set, and clear it."""
    # Not wait_for(): before CPython 3.12 it loses a cancellation that comes with the event.
    timed_out = []
    timer = asyncio.create_task(_ring(event, seconds, timed_out))
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()
    return not timed_out


async def _ring(event, seconds, timed_out):
    await asyncio.sleep(seconds)
    timed_out.append(True)
    event.set()

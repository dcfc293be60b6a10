# tenner page.stream: sends events to an open page as they come (server-sent events).
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json

from tenner.page.request import Refused
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Streaming

#: A stream says something at least so often, so that both ends see a lost connection.
_QUIET_S = const(15)
_STREAMS = const(8)
_BLOCK = const(256)


async def send(page: "Streaming", connection: "Connection", request: "Request") -> None:
    """Send events until the browser leaves or its session ends."""
    if page.streams >= _STREAMS:
        raise Refused(503, "too many pages are open: close one")
    after = request.headers.get("last-event-id", "")
    last = int(after) if after.encode().isdigit() and len(after) < 10 else page.events.last
    # After a restart of the agent the numbers begin again.
    last = min(last, page.events.last)
    page.streams += 1
    woken = asyncio.Event()
    leaving = asyncio.create_task(_wait_end(connection, woken))
    try:
        about = ("Cache-Control: no-store", "Tenner-Start: " + page.events.start)
        await connection.start(200, "text/event-stream", about)
        await connection.send(b": tenner\n\n")
        while page.access.allows(*request.halves):
            woken.clear()
            if connection.has_left:
                break
            await page.events.wait(last, _QUIET_S, woken)
            events = page.events.after(last)
            for event in events:
                last = event["id"]
                if request.is_guest and event["type"] == "log":
                    # As in now.send_log.
                    continue
                text = "id: %d\nevent: %s\ndata: %s\n\n"
                await connection.send(
                    (text % (event["id"], event["type"], json.dumps(event))).encode()
                )
            if not events:
                await connection.send(b": quiet\n\n")
    finally:
        page.streams -= 1
        leaving.cancel()


async def _wait_end(connection, woken):
    """Notice that the browser has left: its place is another one's."""
    try:
        while await connection.read(_BLOCK):
            pass
    except OSError:
        pass
    connection.has_left = True
    woken.set()

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
#: A growing answer is sent so often, and so many characters of it.
_DRAFT_S = 0.5
_DRAFT = const(8000)
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
    shown = ""
    quiet_s: float = 0
    leaving = asyncio.create_task(_wait_end(connection, woken))
    try:
        about = ("Cache-Control: no-store", "Tenner-Start: " + page.events.start)
        await connection.start(200, "text/event-stream", about)
        await connection.send(b": tenner\n\n")
        while page.access.allows(*request.halves):
            woken.clear()
            if connection.has_left:
                break
            limit_s = _QUIET_S if page.draft() is None else _DRAFT_S
            await page.events.wait(last, limit_s, woken)
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
            text = (page.draft() or "")[:_DRAFT]
            if text != shown:
                # Without an id: a page that comes back needs the newest alone.
                event = {"type": "draft", "at": page.app.clock.now(), "text": text}
                await connection.send(("event: draft\ndata: %s\n\n" % json.dumps(event)).encode())
            quiet_s = 0 if events or text != shown else quiet_s + limit_s
            shown = text
            if quiet_s >= _QUIET_S:
                quiet_s = 0
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

"""Server-sent events, from the queue of a reader."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tenner_host.web.events import Ended, Event, Events

#: A stream says something at least so often, so that both ends see a lost connection.
_QUIET_S = 15.0


def stream(events: Events, request: Request, hidden: tuple[str, ...] = ()) -> Response:
    """Answer by the events behind the header Last-Event-ID, except those of the `hidden` types."""
    after = request.headers.get("last-event-id", "")
    reader = events.reader(int(after) if after.isdecimal() else events.last)

    async def sent() -> AsyncIterator[bytes]:
        try:
            yield b": tenner\n\n"
            while True:
                event = await reader.next(_QUIET_S)
                if event is None:
                    yield b": quiet\n\n"
                elif event["type"] not in hidden:
                    yield _sse(event)
        except Ended:
            return
        finally:
            events.leave(reader)

    headers = {"cache-control": "no-store", "tenner-start": events.start}
    return StreamingResponse(sent(), media_type="text/event-stream", headers=headers)


def _sse(event: Event) -> bytes:
    data = json.dumps(event, ensure_ascii=False)
    return f"id: {event['id']}\nevent: {event['type']}\ndata: {data}\n\n".encode()

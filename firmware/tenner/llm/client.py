# tenner llm.client: one request to one model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.llm.reply import Reply
from tenner.net.jsonin import Scanner
from tenner.net.sse import SseReader
from tenner.port.compat import const

_READ = const(512)

#: A reply's body longer than this is an error: nothing a board asked for is.
MAX_BODY = 8 * 1024 * 1024


async def complete(http, candidate, request, timeout_s, on_text=None):
    """Send `request` to `candidate` and return its Reply; LlmError when there is none."""
    if candidate.api == "messages":
        from tenner.llm import messages as wire
    else:
        from tenner.llm import chat_completions as wire
    reply = Reply(on_text)

    async def consume(response):
        if response.status != 200:
            from tenner.llm import failure

            raise await failure.refused(candidate, response)
        reply.body_bytes = http.body_bytes
        await _receive(response, wire.Parser(reply))

    def body():
        return wire.body(candidate, request)

    try:
        url, headers = wire.target(candidate)
        await http.exchange("POST", url, headers, body, consume, timeout_s)
        if reply.error is None:
            return reply
        error = None
    except (OSError, EOFError, ValueError, asyncio.TimeoutError) as caught:
        error = caught
    from tenner.llm import failure

    if reply.error is not None:
        # What the server said is worth more than how the connection ended after it.
        raise failure.broken(candidate, reply)
    raise failure.failed(candidate, error, timeout_s)


async def _receive(response, parser):
    """Feed the body of a good response to `parser`."""
    scanner = Scanner(parser.sink)
    fed = False
    stop = False

    def on_data(piece):
        nonlocal fed
        fed = True
        scanner.feed(piece)

    def on_event_end():
        nonlocal fed, stop
        if fed:
            scanner.end()
            scanner.reset()
            fed = False
            parser.event_end()
            stop = parser.reply.error is not None

    events = SseReader(on_data, on_event_end)
    reply = parser.reply
    buf = bytearray(_READ)
    view = memoryview(buf)
    plain = None
    total = 0
    while not events.done and not stop:
        count = await response.readinto(buf)
        if not count:
            break
        total += count
        if total > MAX_BODY:
            raise ValueError("it is over %d bytes" % MAX_BODY)
        piece = bytes(view[:count])
        if plain is None:
            start = piece.lstrip()
            if not start:
                continue
            # Some servers ignore "stream" and say a wrong content type; an event never begins so.
            plain = start[:1] == b"{"
        if plain:
            scanner.feed(piece)
        else:
            events.feed(piece)
    if stop:
        return
    if plain:
        scanner.end()
        parser.event_end()
        reply.ended = True
    else:
        events.end()
        if not events.events and not events.done and total:
            raise ValueError("it is neither an event stream nor JSON")
        reply.ended = reply.ended or events.done
    if reply.error is None:
        if not reply.ended:
            raise EOFError("the reply was cut off")
        parser.finish()

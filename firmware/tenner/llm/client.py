# tenner llm.client: one request to one model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.llm.reply import Reply
from tenner.net.jsonin import Scanner
from tenner.net.sse import SseReader
from tenner.port.compat import const

_READ = const(512)
_MAX_BODY = const(8388608)  # nothing a board asked for is longer


async def complete(http, candidate, request, timeout_s):
    """Send `request` to `candidate` and return its Reply; LlmError when there is none."""
    if candidate.api == "messages":
        from tenner.llm import messages as wire
    else:
        from tenner.llm import chat_completions as wire
    reply = Reply()

    async def consume(response):
        if response.status != 200:
            from tenner.llm import failure

            raise await failure.refused(candidate, response)
        reply.body_bytes = http.body_bytes
        await _receive(response, wire.Parser(reply), reply)

    def body():
        return wire.body(candidate, request)

    error = None
    try:
        url, headers = wire.target(candidate)
        await http.exchange("POST", url, headers, body, consume, timeout_s)
    except (OSError, EOFError, ValueError, asyncio.TimeoutError) as caught:
        error = caught
    if error is None and reply.error is None:
        return reply
    from tenner.llm import failure

    if reply.error is not None:
        # What the server said is worth more than how the connection ended after it.
        raise failure.broken(candidate, reply)
    raise failure.failed(candidate, error, timeout_s)


async def _receive(response, parser, reply):
    """Feed the body of a good response to `parser`."""
    scanner = Scanner(parser.sink)

    def event_end():
        scanner.end()
        scanner.reset()
        parser.event_end()
        events.done = reply.error is not None

    events = SseReader(scanner.feed, event_end)
    buf = bytearray(_READ)
    plain = None
    total = 0
    while not events.done:
        count = await response.readinto(buf)
        if not count:
            break
        total += count
        if total > _MAX_BODY:
            raise ValueError("it is over %d bytes" % _MAX_BODY)
        piece = bytes(memoryview(buf)[:count])
        if plain is None:
            piece = piece.lstrip()
            if piece:
                # Some servers ignore "stream" and say a wrong content type; an event never begins so.
                plain = piece[:1] == b"{"
        if plain:
            scanner.feed(piece)
        else:
            events.feed(piece)
    if plain:
        event_end()
        reply.ended = True
    else:
        events.end()
        if total and not events.events and not events.done:
            raise ValueError("it is neither an event stream nor JSON")
        reply.ended = reply.ended or events.done
    if reply.error is None:
        if not reply.ended:
            raise EOFError("the reply was cut off")
        reply.finish()

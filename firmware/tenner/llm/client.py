# tenner llm.client: one request to one model, and its reply.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.llm import chat_completions, failure, messages, parse_chat, parse_messages, records
from tenner.llm.collect import Collector
from tenner.llm.stream import EventStream
from tenner.net.http_errors import FAILURES
from tenner.net.sse import SseReader
from tenner.port.compat import const, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.reply import Reply
    from tenner.llm.types import Candidate, Request
    from tenner.net.http import Http

_READ = const(256)
_AGAIN_MS = const(1000)
_MAX_BODY = const(8388608)  # no reply a board asks for is longer


async def complete(
    http: "Http",
    candidate: "Candidate",
    request: "Request",
    timeout_s: float,
    limit_s: float | None = None,
) -> "Reply":
    """
    Send `request` to `candidate` and return its Reply; raise LlmError when there is none, after a
    silence of `timeout_s`, or after `limit_s`. `request.reply` has the draft of the reply
    meanwhile.
    """
    request.reply = None
    found = []

    async def consume(response):
        if response.status != 200:
            raise await failure.refused(candidate, response, http.body_bytes)
        collector = request.reply = Collector(request, http.body_bytes)
        try:
            end = await _receive(response, candidate, collector)
            # The code that reads makes room for that of the end.
            await overlay.once("ANSWER", _end, collector, *end)
        except ValueError as caught:
            if collector.error is None:
                raise failure.unreadable(candidate, response, caught)
        if collector.error is None:
            reply = collector.finish()
            if reply.tails:
                reply.model = records.model_tag(candidate)
            found.append(reply)

    error = None
    silence = asyncio.TimeoutError()
    guard = overlay.start(_guard(http, timeout_s, silence))
    try:
        url, headers = _target(candidate)
        await http.exchange(
            "POST",
            url,
            headers,
            lambda: _body(candidate, request),
            consume,
            limit_s or timeout_s,
            True,
            # The overlay that writes the request makes room for the one that reads the reply.
            phases=("WRITE", "REPLY"),
        )
    except FAILURES as caught:
        error = caught
    finally:
        guard.cancel()
        collector = request.reply
        request.reply = None
    if found:
        return found[0]
    if error is not silence:
        timeout_s = limit_s or timeout_s
    raise failure.failed(candidate, error, timeout_s, http, collector)


async def _guard(http, timeout_s, silence):
    """End the exchange with the error `silence` when nothing has come for `timeout_s`. A slow
    model may take longer."""
    while True:
        left_ms = timeout_s * 1000 - ticks_diff(ticks_ms(), http.heard_ms)
        if left_ms <= 0:
            http.fail(silence)
            left_ms = _AGAIN_MS  # it may wait for its turn to connect
        await asyncio.sleep(left_ms / 1000)


def _target(candidate):
    if candidate.api == "messages":
        return messages.target(candidate)
    return chat_completions.target(candidate)


def _body(candidate, request):
    if candidate.api == "messages":
        return messages.body(candidate, request)
    return chat_completions.body(candidate, request)


def _parser(candidate, collector):
    if candidate.api == "messages":
        return parse_messages.Parser(collector)
    return parse_chat.Parser(collector)


async def _receive(response, candidate, collector):
    """Read the body of a response with status 200; return the values for `_end`."""
    stream = EventStream(_parser(candidate, collector), collector)

    def event_end():
        stream.event_end()
        events.done = collector.full or collector.error is not None

    events = SseReader(stream.feed, event_end)
    buf = bytearray(_READ)
    plain = None
    total = 0
    while not events.done:
        count = await response.readinto(buf)
        if not count:
            break
        response.heard_ms = ticks_ms()
        total += count
        if total > _MAX_BODY:
            raise ValueError("it is over %d bytes" % _MAX_BODY)
        piece = bytes(memoryview(buf)[:count])
        if plain is None:
            piece = piece.lstrip()
            if piece:
                # Some servers ignore "stream" and send a wrong content type; an event never begins
                # with {.
                plain = piece[:1] == b"{"
        if plain:
            stream.feed(piece)
        else:
            events.feed(piece)
    if plain:
        event_end()
    else:
        events.end()
    return plain, total, events.events, events.done


def _end(collector, plain, total, count, done):
    """Raise ValueError or EOFError of a reply that is not complete."""
    collector.end()
    if plain:
        # Some servers omit the stop reason; then the reply must hold something.
        if not (collector.ended or collector.calls or collector.size() or collector.broke):
            if collector.words:
                collector.fail()
            else:
                raise ValueError("it holds no answer")
        collector.ended = True
    else:
        if total and not count and not done:
            raise ValueError("it is neither an event stream nor JSON")
        whole = collector.counted == collector.pieces and (collector.size() or collector.calls)
        collector.ended = collector.ended or done or bool(whole)
        if not collector.ended and collector.words:
            collector.fail()
    if collector.error is None and (collector.broke or not collector.ended):
        raise EOFError("the reply was cut off")

# tenner channels.telegram.api: calls a method of the Bot API and reads the reply.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.channels.telegram import failures
from tenner.log import log
from tenner.net.http_errors import FAILURES, Yielded
from tenner.net.json.scanner import Scanner
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tenner.channels.telegram.types import Api
    from tenner.net.http import Http
    from tenner.net.json.scanner import Sink

_PIECE = const(256)


def address(chat: int | str) -> dict:
    """
    Return the fields of a destination: a number or a name such as `@channel`, with `:12` behind it
    for the topic 12 of that chat.
    """
    chat, _, topic = str(chat).partition(":")
    fields = {"chat_id": int(chat) if chat.lstrip("-").isdigit() else chat}
    if topic.isdigit():
        fields["message_thread_id"] = int(topic)
    return fields


class Reply:
    """
    Takes the reply to a method in pieces: `sink(path, value, more)` gets the values of the result,
    `answer` has the other members.
    """

    def __init__(self, sink: "Sink | None" = None) -> None:
        self.answer = {
            "ok": False,
            "status": 0,
            "description": "",
            "retry_after": 0,
            "migrate_to_chat_id": 0,
        }
        self._sink = sink
        scanner = Scanner(self._take)
        self.feed = scanner.feed
        self.end = scanner.end

    def _take(self, path, value, more):
        answer = self.answer
        if path and path[0] == "result":
            if self._sink is not None:
                self._sink(path, value, more)
        elif path and path[-1] in answer and type(value) is type(answer[path[-1]]):
            answer[path[-1]] = value

    def close(self, status: int, error: ValueError | None = None) -> None:
        """Set the HTTP status; raise `error`, for a body that is no JSON, only with status 200."""
        self.answer["status"] = status
        if status != 200:
            self.answer["ok"] = False
        elif error is not None:
            raise error


async def call(
    bot: "Api",
    http: "Http",
    method: str,
    body: "bytes | Callable[[], Iterator[bytes]]",
    sink: "Sink | None" = None,
    timeout_s: float = 30,
    headers: "Sequence[tuple[str, str]] | None" = None,
    phases: "tuple[str, str] | None" = None,
) -> dict:
    """
    Call a method of the Bot API and return the answer of its Reply; raise one of FAILURES when
    there is none. `body` None reads the reply to the running poll. `phases`: see Http.exchange.
    """
    reply = Reply(sink)

    async def consume(response):
        buf = bytearray(_PIECE)
        left = bot.max_reply
        problem = None
        try:
            while True:
                count = await response.readinto(buf)
                if not count:
                    break
                left -= count
                if left < 0:
                    raise ValueError("the reply is over %d KB" % (bot.max_reply // 1024))
                reply.feed(memoryview(buf)[:count])
            reply.end()
        except ValueError as error:
            # An error of a proxy is not JSON; its status suffices.
            problem = error
        reply.close(response.status, problem)

    if body is None:
        await http.answer(consume, timeout_s)
    else:
        headers = headers or bot.headers
        url = bot.url + method
        await http.exchange("POST", url, headers, body, consume, timeout_s, phases=phases)
    return reply.answer


async def request(
    bot: "Api",
    http: "Http",
    method: str,
    fields: dict | bytes | None,
    sink: "Sink | None" = None,
    timeout_s: float = 30,
) -> None:
    """
    Call a method; raise OSError with the answer when the server rejects it. `fields` is a dict, or
    a `body` for `call`.
    """
    body = json.dumps(fields).encode() if isinstance(fields, dict) else fields
    answer = await call(bot, http, method, body, sink, timeout_s)
    if not answer["ok"]:
        raise OSError(answer)


async def attempt(
    bot: "Api", method: str, fields: dict, http: "Http | None" = None, timeout_s: float = 30
) -> bool:
    """
    Call a method whose failure does no harm; return whether it worked. `http` is a connected
    client, None the client for sending.
    """
    try:
        if http is None:
            async with bot.sending:
                await request(bot, sender(bot), method, fields, None, timeout_s)
        else:
            await request(bot, http, method, fields, None, timeout_s)
        return True
    except FAILURES + (Yielded,) as error:
        log("telegram", "%s: %s" % (method, failures.reason(error)))
        return False


def sender(bot: "Api") -> "Http":
    """Return the HTTP client for sending."""
    if bot.http is None:
        bot.http = bot.http_factory(False)
    return bot.http

# tenner channels.telegram.api: calls a method of the Bot API, and explains its failures.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.log import log
from tenner.net.http_errors import FAILURES, Yielded
from tenner.net.json.scanner import Scanner
from tenner.net.tls import explain
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from tenner.channels.telegram.types import Api, Health
    from tenner.net.http import Http
    from tenner.net.json.scanner import Sink

_PIECE = const(256)


_LONGEST_S = const(300)
_HOUR_S = const(3600)
_CONFLICT_S = const(10)


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
    fields: "dict | bytes | Callable[[], Iterator[bytes]] | None",
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
    bot: "Api",
    method: str,
    fields: "dict | Callable[[], Iterator[bytes]]",
    http: "Http | None" = None,
    timeout_s: float = 30,
) -> bool:
    """
    Call a method whose failure does no harm; return whether it worked. `fields` may be a `body`
    for `call`. `http` is a connected client, None the client for sending.
    """
    try:
        if http is None:
            async with bot.sending:
                await request(bot, sender(bot), method, fields, None, timeout_s)
        else:
            await request(bot, http, method, fields, None, timeout_s)
        return True
    except FAILURES + (Yielded,) as error:
        log("telegram", "%s: %s" % (method, reason(error)))
        return False


def sender(bot: "Api") -> "Http":
    """Return the HTTP client for sending."""
    if bot.http is None:
        bot.http = bot.http_factory(False)
    return bot.http


async def after(bot: "Health", error: Exception) -> int:
    """Put the reason of a failed poll into `bot.status`, log it once, and return the seconds to
    wait."""
    wait_s = min(1 << min(bot.failures, 9), _LONGEST_S)
    bot.failures += 1
    text = reason(error)
    if isinstance(error.args and error.args[0], dict):
        answer = error.args[0]
        status = answer["status"]
        # Telegram answers 404 to a malformed token.
        if status in (401, 404):
            text += ": check telegram.token"
        elif status == 409:
            wait_s = max(wait_s, _CONFLICT_S)
            if "webhook is active" not in answer["description"]:
                text += ": another program polls with this token"
            elif bot.hooked is None:
                bot.hooked = True
                wait_s = 1
                text += ": I remove the webhook"
            else:
                text += ": another program has set a webhook again"
        elif status == 429:
            wait_s = min(answer["retry_after"] or wait_s, _HOUR_S)
    bot.status = "%s; next try in %d s" % (text, wait_s)
    if text != bot.last_logged:
        bot.last_logged = text
        log("telegram", bot.status)
    return wait_s


def reason(error: Exception) -> str:
    """Return one clause for a failure."""
    detail = error.args[0] if error.args else ""
    if isinstance(detail, dict):
        return ("Telegram answers %d %s" % (detail["status"], detail["description"])).rstrip()
    text = explain(error)
    if text:
        return text
    text = str(error) or type(error).__name__
    return "no answer from Telegram: " + text.strip().replace("\n", " ")


def refused(answer: dict, is_html: bool) -> "tuple[str, Any] | None":
    """
    Return the result of Telegram.send for an error answer: None when Telegram rejects the HTML,
    ("moved", id) when a group has become a supergroup.
    """
    status = answer["status"]
    why = answer["description"] or "HTTP %d" % status
    log("telegram", "sendMessage: %d %s" % (status, why))
    if status == 429:
        # A proxy does not say when to retry, and it counts each try, so the waits grow.
        return "retry", answer["retry_after"] or None
    if status not in (400, 403, 413):
        # 200 without "ok" is not the Bot API, 3xx and 5xx are server errors, and the owner may fix
        # a token.
        return "retry", None
    if answer["migrate_to_chat_id"]:
        return "moved", answer["migrate_to_chat_id"]
    if is_html:
        for word in ("entit", "too long", "TOO_LONG", "empty"):
            if word in why:
                log("telegram", "Telegram rejected the HTML; resending as plain text")
                return None
    return "refused", why

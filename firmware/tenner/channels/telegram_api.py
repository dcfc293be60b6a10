# tenner channels.telegram_api: one call of the Bot API, its reply parsed as it arrives.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.jsonin import Scanner
from tenner.net.jsonout import escape, quote
from tenner.port.compat import const

_PIECE = const(256)


class Answer:
    """What the server said, besides its result: `description` and `retry_after_s` of a refusal."""

    def __init__(self):
        self.status = 0
        self.ok = False
        self.description = ""
        self.retry_after_s = None
        self.moved_to = None

    def take(self, path, value):
        key = path[-1]
        if key == "ok":
            self.ok = value is True
        elif key == "description":
            self.description += str(value)[: 200 - len(self.description)]
        elif key == "retry_after" and isinstance(value, int):
            self.retry_after_s = value
        elif key == "migrate_to_chat_id":
            self.moved_to = value


class Body:
    """
    The JSON object of a request. `fields` is a list of (name, value): str and int are written as such,
    bytes are JSON already, and a one-element list holds the UTF-8 bytes of a long string.
    """

    def __init__(self, fields):
        self.fields = fields
        #: The last piece was taken for sending: from here on the request may have arrived.
        self.taken = False
        self._passes = 0

    def __call__(self):
        if self.taken:
            # The HTTP client found a kept connection dead. Whether the server saw the request is not known.
            raise OSError("the connection was lost before the answer")
        self._passes += 1
        return self._pieces(self._passes > 1)

    def _pieces(self, sending):
        yield b"{"
        mark = b""
        for name, value in self.fields:
            yield mark + quote(name) + b":"
            mark = b","
            if isinstance(value, list):
                yield b'"'
                text = value[0]
                for at in range(0, len(text), _PIECE):
                    yield escape(text[at : at + _PIECE])
                yield b'"'
            elif isinstance(value, str):
                yield quote(value)
            elif isinstance(value, int):
                yield b"%d" % value
            else:
                yield value
        yield b"}"
        if sending:
            self.taken = True


class Api:
    """The address of the bot, and how to call it."""

    #: Longest reply that is read. An update is a few kilobytes; what is longer is no Bot API.
    max_reply = 256 * 1024

    def __init__(self, config):
        base = config.get("telegram.base_url")
        self._url = "%s/bot%s/" % (base.rstrip("/"), config.get("telegram.token"))

    async def call(self, http, method, body, sink=None, timeout_s=30):
        """
        Call `method` and return its Answer; `sink(path, value, more)` gets what is below `result`.
        OSError, EOFError, ValueError and asyncio.TimeoutError mean that there is no answer.
        """
        answer = Answer()

        def take(path, value, more):
            if path and path[0] == "result":
                if sink is not None:
                    sink(path, value, more)
            elif path:
                answer.take(path, value)

        async def consume(response):
            answer.status = response.status
            after = response.header("retry-after")
            if after and after.isdigit():
                answer.retry_after_s = int(after)
            scanner = Scanner(take)
            buf = bytearray(_PIECE)
            view = memoryview(buf)
            total = 0
            try:
                while True:
                    count = await response.readinto(buf)
                    if not count:
                        break
                    total += count
                    if total > self.max_reply:
                        raise ValueError("the reply is over %d KB" % (self.max_reply // 1024))
                    scanner.feed(view[:count])
                scanner.end()
            except ValueError:
                # A refusal of a proxy on the way is not JSON, and its status says enough.
                if answer.status == 200:
                    raise
                answer.ok = False

        headers = [("Content-Type", "application/json")]
        await http.exchange("POST", self._url + method, headers, body, consume, timeout_s)
        if answer.status != 200:
            answer.ok = False
        return answer


def chat_value(chat):
    """Return a chat's id as the API wants it: a number, or a name such as `@channel`."""
    text = str(chat)
    return int(text) if text.lstrip("-").isdigit() else text

# tenner tests: a model with the answers of a test, and a request to send to it.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.llm import client
from tenner.port.compat import ticks_ms


class Response:
    """`pieces` (not empty) are handed out one by one; an exception among them is raised."""

    def __init__(self, pieces, status=200, headers=None):
        self.status = status
        self._pieces = iter(pieces)
        self._headers = headers or {}
        self._rest = b""

    def header(self, name):
        return self._headers.get(name)

    async def readinto(self, buf):
        while not self._rest:
            piece = next(self._pieces, b"")
            if isinstance(piece, Exception):
                raise piece
            if not piece:
                return 0
            self._rest = piece
        count = min(len(buf), len(self._rest))
        buf[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    async def read_text(self, limit):
        buf = bytearray(limit)
        used = 0
        while used < limit:
            count = await self.readinto(memoryview(buf)[used:])
            if not count:
                break
            used += count
        return bytes(buf[:used]).decode()


class Http:
    """Answers each exchange with the next Response, or raises the next exception."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.sent = []  # (url, headers, body)
        self.body_bytes = 0
        self.closed = 0
        #: The part of a reply that is in the buffer.
        self.buffer = bytearray(16)
        self.end = 0
        self.heard_ms = ticks_ms()

    def fail(self, error):
        """The exchanges here end by themselves."""

    async def exchange(
        self, method, url, headers, body, consume, timeout_s, repeats=False, phases=None
    ):
        counted = sum([len(piece) for piece in body()])
        data = b"".join(body())
        assert method == "POST" and counted == len(data)
        self.body_bytes = len(data)
        self.sent.append((url, headers, data))
        await asyncio.sleep(0)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return await consume(answer)

    async def close(self):
        self.closed += 1


class Candidate:
    def __init__(self, **fields):
        self.name = "main"
        self.api = "chat"
        self.base_url = "https://llm.example/v1/"
        self.api_key = "sk-secret-0123456789"
        self.model = "some-model"
        self.max_tokens = 500
        for name in fields:
            setattr(self, name, fields[name])


class Request:
    """`lines` are history records (bytes); `size` cuts them, and the system prompt, into
    pieces."""

    def __init__(
        self, lines=(b'["u","hi"]\n',), system=b"Be brief.", tools=(), size=512, max_tokens=0
    ):
        self._lines = lines
        self._system = system
        self._tools = tools
        self._size = size
        self.max_tokens = max_tokens
        self.max_reply = 16384
        self.keep_at = None
        self.tail_at = None, 0
        self.kept_from = 1024
        self.most_kept = 24576

    def system(self):
        for i in range(0, len(self._system), self._size):
            yield self._system[i : i + self._size]

    def records(self):
        for line in self._lines:
            # The first piece of a call or a result holds its id and name whole.
            first = 60 if line[2:3] in (b"c", b"t") else 6
            size = max(self._size, first)
            yield line[:size]
            for i in range(size, len(line), self._size):
                yield line[i : i + self._size]

    def tools(self):
        return iter(self._tools)


class Blocks(Request):
    """Its records come `count` lines at once, the first `start` one by one."""

    def __init__(self, lines, count, start=0):
        super().__init__(lines)
        self._count = count
        self._start = start

    def records(self):
        yield from self._lines[: self._start]
        for i in range(self._start, len(self._lines), self._count):
            yield b"".join(self._lines[i : i + self._count])


#: The kinds of lines of a long dialog: in turns mostly.
DIALOG_KINDS = [kind.encode() for kind in "uauauauauuauaauauauauauauauuuaaaauauauaua"]

HISTORY = (
    b'["s","They like \\"tea\\"."]\n',
    b'["u","How warm\\nis it? \xf0\x9f\x98\x80"]\n',
    b'["a",""]\n',
    (
        b'["c","call_1","read_sensor",{"name":"room","why":"a \\"b\\" '
        b'\\\\ c","deep":[1,{"x":null}]}]\n'
    ),
    b'["c","call,\\"2\\"","list",{}]\n',
    b'["t","call_1","21.4 \xc2\xb0C, a long result that is cut into pieces more than once"]\n',
    b'["t","call,\\"2\\"",""]\n',
    b'["n","Keep it short."]\n',
    b'["a","It is \\u0041 21.4."]\n',
    b'["u","Thanks"]\n',
)


async def complete(http, candidate, request, timeout_s):
    """Return the Reply of `client.complete`, with a long text joined."""
    reply = await client.complete(http, candidate, request, timeout_s)
    reply.text = reply.text or "".join(reply.blocks)
    return reply

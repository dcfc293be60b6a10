# tenner llm.client: one request to one model, and its reply, collected from fragments within fixed bounds.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.llm.chain import LlmError
from tenner.port.compat import const, ticks_ms

_READ = const(256)
_MAX_BODY = const(8388608)  # nothing a board asked for is longer
_MAX_CALLS = const(16)
_MAX_ID = const(128)
_MAX_NAME = const(64)


async def complete(http, candidate, request, timeout_s):
    """Send `request` to `candidate` and return its Reply; LlmError when there is none."""
    reply = request.reply = Reply(request.max_reply)

    async def consume(response):
        if response.status != 200:
            from tenner.llm import failure

            raise await failure.refused(candidate, response)
        reply.body_bytes = http.body_bytes
        await request.make_room()
        await _receive(response, _parser(candidate, reply), reply)

    def body():
        return _writer(candidate).body(candidate, request)

    error = None
    try:
        url, headers = _writer(candidate).target(candidate)
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


def _writer(candidate):
    """Return the module that writes requests to `candidate`; it is not needed while the reply is received."""
    if candidate.api == "messages":
        from tenner.llm import messages

        return messages
    from tenner.llm import chat_completions

    return chat_completions


def _parser(candidate, reply):
    """Return what reads a reply of `candidate` into `reply`."""
    if candidate.api == "messages":
        from tenner.llm.parse_messages import Parser
    else:
        from tenner.llm.parse_chat import Parser
    return Parser(reply)


async def _receive(response, parser, reply):
    """Feed the body of a good response to `parser`."""
    from tenner.net.jsonin import Scanner
    from tenner.net.sse import SseReader

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
        # Some servers leave out why the reply ended; then there is something in it.
        if not reply.ended and not reply.calls and not reply._text:
            raise ValueError("it holds no answer")
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


class Call:
    """
    One tool call as the model wrote it. `arguments_text`, set when the reply is complete, should be a JSON
    object, but may be anything. It may have `limit` bytes.
    """

    def __init__(self, limit):
        self._limit = limit
        self._rebuild = None
        self.clear()

    def clear(self):
        """Be ready for the next fragment."""
        self.id = ""
        self.name = ""
        self.index = None
        self.utf8 = bytearray()  # the arguments

    def add(self, piece):
        """Take a piece of the arguments."""
        _grow(self.utf8, piece, self._limit)

    def add_value(self, path, value, more):
        """Take a value of arguments that come as an object instead of its text."""
        if self._rebuild is None:
            from tenner.llm.rebuild import Rebuild

            self._rebuild = Rebuild()
        self.add(self._rebuild.add(path, value, more))

    def end(self):
        """The call, or a fragment of it, is complete: return the text of the arguments."""
        if self._rebuild:
            self.add(self._rebuild.end())
            self._rebuild = None
        return str(self.utf8, "utf-8")


class Reply:
    """
    What a model answered. `stop` is "stop", "length", "tools" or "refusal". `estimated` says that the
    server sent no token counts. What a model thinks, in <think> or in fields of its own, is dropped.
    The text, and the arguments of each call, may have `limit` bytes.
    """

    def __init__(self, limit):
        self.limit = limit
        self.text = ""
        self.calls = []
        self.stop = None
        self.tokens_in = 0
        self.tokens_out = 0
        self.estimated = False
        #: Bytes of the request's body.
        self.body_bytes = 0
        #: The words of an error object in the middle of a reply, and its status.
        self.error = None
        self.error_status = None
        #: The server said that this is all.
        self.ended = False
        self._text = bytearray()
        self._thinking = False
        self._held = ""  # the beginning of a tag

    def add_text(self, piece):
        """Take a piece of text; the tags may be cut anywhere."""
        piece = self._held + piece
        self._held = ""
        while piece:
            start = piece.find("<")
            if start:
                self._put(piece if start < 0 else piece[:start])
                piece = "" if start < 0 else piece[start:]
            if piece.startswith("<think>"):
                self._thinking = True
                piece = piece[7:]
            elif piece.startswith("</think>"):
                # Some servers swallow the opening tag: then all before the closing one was thought.
                if not self._thinking:
                    self._text = bytearray()
                self._thinking = False
                piece = piece[8:]
            elif "<think>".startswith(piece) or "</think>".startswith(piece):
                self._held = piece
                return
            else:
                self._put("<")
                piece = piece[1:]

    def _put(self, piece):
        if not self._text:
            piece = piece.lstrip()
        if piece and not self._thinking:
            _grow(self._text, piece, self.limit)

    def draft(self):
        """Return the text as far as it has arrived."""
        return self.text or str(self._text or b"", "utf-8")

    def add_call(self, call):
        """Make `call` a part of the reply."""
        if len(self.calls) >= _MAX_CALLS:
            raise _too_long("over %d tool calls" % _MAX_CALLS)
        self.calls.append(call)

    def take_error(self, path, value):
        """Take a value of an error object; both wire formats know one, and it may come at any time."""
        if isinstance(value, int) and path[-1] in ("code", "status"):
            self.error_status = value
            self.error = self.error or ""
        elif isinstance(value, str) and len(path) <= 2:
            self.error = ((self.error or "") + " " + value)[:400]

    def finish(self):
        """Everything arrived: fill in the public fields, repair ids, estimate what was not counted."""
        self._put(self._held)
        self.text = str(self._text, "utf-8")
        self._text = None
        size = len(self.text)
        seen = []
        for number, call in enumerate(self.calls):
            call.arguments_text = call.end().strip() or "{}"
            size += len(call.utf8) + len(call.name)
            call.utf8 = None
            call.name = call.name[:_MAX_NAME]
            # Some servers send no id, the same for every call, or one as long as a letter.
            if not call.id or len(call.id) > _MAX_ID or call.id in seen:
                call.id = "call_%x_%d" % (ticks_ms(), number)
            seen.append(call.id)
        if self.stop not in ("length", "refusal"):
            self.stop = "tools" if self.calls else "stop"
        if not self.tokens_in and not self.tokens_out:
            # Four bytes a token is right within a third for most languages and models.
            self.estimated = True
            self.tokens_in = (self.body_bytes + 3) // 4
            self.tokens_out = (size + 3) // 4


def _grow(text, piece, limit):
    """
    Append a str to a bytearray, which grows in one block of memory. As many small strings, a text would lie
    scattered between what is thrown away meanwhile, and leave no room for the whole.
    """
    text.extend(piece.encode())
    if len(text) > limit:
        raise _too_long("text or arguments of over %d bytes" % limit)


def _too_long(what):
    return LlmError("unknown", "the model's reply has %s: ask for something shorter" % what)

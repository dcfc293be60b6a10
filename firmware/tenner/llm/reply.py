# tenner llm.reply: a model's reply, collected from fragments within fixed bounds.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm.errors import LlmError
from tenner.port.compat import const, ticks_ms

_BLOCK = const(128)
_MAX_ID = const(128)
_MAX_NAME = const(64)
_OPEN = "<think>"
_CLOSE = "</think>"


class Text:
    """
    Text that grows by small pieces in one block of memory. As many small strings, it would lie scattered
    between what is thrown away meanwhile, and leave no room for the whole.
    """

    def __init__(self, limit):
        self._limit = limit
        self._buf = b""
        self.size = 0

    def add(self, piece):
        """Append a str; ValueError over the limit."""
        data = piece.encode()
        if not data:
            return
        end = self.size + len(data)
        if end > self._limit:
            raise ValueError("over %d bytes" % self._limit)
        if end > len(self._buf):
            grown = bytearray(max(end, 2 * len(self._buf), _BLOCK))
            grown[: self.size] = self._buf[: self.size]
            self._buf = grown
        self._buf[self.size : end] = data
        self.size = end

    def get(self):
        """Return everything as one str."""
        return str(memoryview(self._buf)[: self.size], "utf-8")


class Call:
    """One tool call as the model wrote it; `arguments_text` should be a JSON object, but may be anything."""

    def __init__(self, limit):
        self.id = ""
        self.name = ""
        self.wire_index = None
        self.arguments = Text(limit)
        self.arguments_text = "{}"


class Reply:
    """
    What a model answered. `stop` is "stop", "length", "tools" or "refusal". `estimated` says that the
    server sent no token counts. `on_text(piece)` sees the text as it arrives. What a model thinks, in
    <think> or in fields of its own, is dropped.
    """

    #: Bytes of text, and of the arguments of one call. More is an error, not growth.
    max_text = 16 * 1024

    #: Calls in one reply.
    max_calls = 16

    def __init__(self, on_text=None):
        self.text = ""
        self.calls = []
        self.stop = None
        self.tokens_in = 0
        self.tokens_out = 0
        self.estimated = False
        #: Bytes of the request's body.
        self.body_bytes = 0
        #: The message of an error object in the middle of a reply, its other words, and its status.
        self.error = None
        self.error_words = ""
        self.error_status = None
        #: The server said that this is all.
        self.ended = False
        self._on_text = on_text
        self._text = Text(self.max_text)
        self._thinking = False
        self._held = ""

    # --- text

    def add_text(self, piece):
        """Take a piece of text; the tags may be cut anywhere."""
        if self._held:
            piece = self._held + piece
            self._held = ""
        while "<" in piece:
            start = piece.find(_OPEN)
            end = piece.find(_CLOSE)
            if start < 0 and end < 0:
                last = piece.rfind("<")
                if _OPEN.startswith(piece[last:]) or _CLOSE.startswith(piece[last:]):
                    self._held = piece[last:]
                    piece = piece[:last]
                break
            if 0 <= start and (end < 0 or start < end):
                self._put(piece[:start])
                self._thinking = True
                piece = piece[start + len(_OPEN) :]
            else:
                # Some servers swallow the opening tag: then all before the closing one was thought.
                if not self._thinking:
                    self._text.size = 0
                self._thinking = False
                piece = piece[end + len(_CLOSE) :]
        self._put(piece)

    def _put(self, piece):
        if self._thinking:
            return
        if not self._text.size:
            piece = piece.lstrip()
        if piece:
            try:
                self._text.add(piece)
            except ValueError:
                raise _too_long("text of more than %d bytes" % self.max_text)
            if self._on_text:
                self._on_text(piece)

    # --- calls

    def new_call(self):
        """Return a new call that is not part of the reply yet."""
        return Call(self.max_text)

    def add_arguments(self, call, piece):
        """Take a piece of a call's arguments."""
        try:
            call.arguments.add(piece)
        except ValueError:
            raise _too_long("arguments of more than %d bytes" % self.max_text)

    def add_call(self, call):
        """Make `call` a part of the reply."""
        if len(self.calls) >= self.max_calls:
            raise _too_long("more than %d tool calls" % self.max_calls)
        self.calls.append(call)

    # --- the end

    def take_error(self, path, value):
        """Take a value of an error object; both wire formats know one, and it may come at any time."""
        if isinstance(value, int) and path[-1] in ("code", "status"):
            self.error_status = value
            self.error = self.error or ""
        elif value and isinstance(value, str) and len(path) <= 2:
            self.error_words = (self.error_words + " " + value)[:400]
            if path[-1] in ("error", "message"):
                self.error = ((self.error or "") + value)[:400]
            else:
                self.error = self.error or ""

    def finish(self):
        """Everything arrived: fill in the public fields, repair ids, estimate what was not counted."""
        if self._held:
            held, self._held = self._held, ""
            self._put(held)
        self.text = self._text.get()
        self._text = None
        size = len(self.text)
        seen = []
        for number, call in enumerate(self.calls):
            arguments = call.arguments.get().strip()
            call.arguments = None
            call.arguments_text = arguments or "{}"
            size += len(arguments) + len(call.name)
            call.name = call.name[:_MAX_NAME]
            # Some servers send no id, the same for every call, or one as long as a letter.
            if not call.id or len(call.id) > _MAX_ID or call.id in seen:
                call.id = "call_%x_%d" % (ticks_ms(), number)
            seen.append(call.id)
        if self.stop is None or self.stop == "stop" or self.stop == "tools":
            self.stop = "tools" if self.calls else "stop"
        if not self.tokens_in and not self.tokens_out:
            # Four bytes a token is right within a third for most languages and models.
            self.estimated = True
            self.tokens_in = (self.body_bytes + 3) // 4
            self.tokens_out = (size + 3) // 4


def _too_long(what):
    return LlmError("unknown", "the model's reply has %s: ask for something shorter" % what)

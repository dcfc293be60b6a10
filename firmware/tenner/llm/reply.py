# tenner llm.reply: a model's reply, collected from fragments within fixed bounds.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm.errors import LlmError
from tenner.port.compat import const, ticks_ms

_MAX_TEXT = const(16384)  # bytes of text, and of the arguments of one call
_MAX_CALLS = const(16)
_MAX_ID = const(128)
_MAX_NAME = const(64)


class Text:
    """Text that grows by small pieces. They are joined now and then: each alone takes 36 bytes or more."""

    what = "text"

    def __init__(self):
        self.size = 0
        self._parts = []

    def add(self, piece):
        """Append a str; more than the limit is an error, not growth."""
        self.size += len(piece.encode())
        if self.size > _MAX_TEXT:
            raise _too_long("%s of more than %d bytes" % (self.what, _MAX_TEXT))
        self._parts.append(piece)
        if len(self._parts) > 63:
            self._parts = [self.join()]

    def join(self):
        """Return everything as one str."""
        return "".join(self._parts)


class Call(Text):
    """One tool call as the model wrote it; `arguments_text` should be a JSON object, but may be anything."""

    what = "arguments"

    def __init__(self):
        super().__init__()
        self.id = ""
        self.name = ""
        self.index = None
        self.arguments_text = "{}"


class Reply:
    """
    What a model answered. `stop` is "stop", "length", "tools" or "refusal". `estimated` says that the
    server sent no token counts. What a model thinks, in <think> or in fields of its own, is dropped.
    """

    def __init__(self):
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
        self._text = Text()
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
                    self._text = Text()
                self._thinking = False
                piece = piece[8:]
            elif "<think>".startswith(piece) or "</think>".startswith(piece):
                self._held = piece
                return
            else:
                self._put("<")
                piece = piece[1:]

    def _put(self, piece):
        if not self._text.size:
            piece = piece.lstrip()
        if piece and not self._thinking:
            self._text.add(piece)

    def add_call(self, call):
        """Make `call` a part of the reply."""
        if len(self.calls) >= _MAX_CALLS:
            raise _too_long("more than %d tool calls" % _MAX_CALLS)
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
        self.text = self._text.join()
        self._text = None
        size = len(self.text)
        seen = []
        for number, call in enumerate(self.calls):
            call.arguments_text = call.join().strip() or "{}"
            call._parts = None
            size += call.size + len(call.name)
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


def _too_long(what):
    return LlmError("unknown", "the model's reply has %s: ask for something shorter" % what)

# tenner llm.parse_messages: reads the reply of a model that speaks Anthropic's format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm.collect import CallCollector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.collect import Collector
    from tenner.net.json.scanner import Scalar


class Parser:
    """Takes the values of stream events, or of a complete message with a list of blocks; `reply`
    is the Collector."""

    #: The members of a document that matter.
    WANTED = (
        "delta",
        "content_block",
        "content",
        "type",
        "usage",
        "message",
        "stop_reason",
        "error",
        "msg",
        "detail",
        "code",
        "status",
        "base_resp",
    )
    #: Set by an event with more than pieces of text and repeatable values.
    has_more = False

    def __init__(self, reply: "Collector") -> None:
        self.reply = reply
        self._usage = {}  # input tokens: fresh, written to the cache, read from it
        self._item: int | str = -1  # index of the block in a complete message
        self._open: CallCollector | None = None  # the call whose arguments are arriving
        self._given = False  # did its block bring arguments?
        self._is_error = False
        self._new_block()

    def _new_block(self):
        self._type = ""
        self._thinks = False
        self._call = CallCollector(self.reply.limit)

    def sink(self, path: list[int | str], value: "Scalar", more: bool) -> None:
        """Take one value from the scanner."""
        # A null matters only inside a call's input.
        if not path or (value is None and "input" not in path):
            return
        reply = self.reply
        top = path[0]
        last = path[-1]
        if top == "error":
            reply.take_error(path, value)
        elif last == "stop_reason" and top in ("delta", "stop_reason"):
            reply.reasons = ("%s %s" % (reply.reasons, value))[-99:]
        elif top == "delta":
            if last == "text":
                reply.add_text(str(value))
            elif last == "thinking":
                reply.tail().think(str(value))
                reply.note(str(value), reply.tail().think)
            elif last == "signature":
                self.has_more = True
                reply.tail().member(last, str(value))
            elif last == "partial_json" and self._open:
                if self._given and value:
                    # Some servers send the input with the start of the block, and again.
                    self._open.utf8 = bytearray()
                    self._given = False
                self._open.add(str(value))
                self.reply.note(str(value), self._open.add)
        elif top == "content_block" and len(path) > 1:
            self.has_more = True
            self._value(path[1:], value, more)
        elif top == "content" and len(path) > 2:
            self.has_more = True
            if path[1] != self._item:
                self.event_end()
                self._item = path[1]
            self._value(path[2:], value, more)
        elif "usage" in path[:2] and isinstance(value, int):
            if last == "output_tokens":
                reply.tokens_out = value
            elif last in (
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ):
                self._usage[last] = value
                reply.tokens_in = sum(self._usage.values())
        elif top == "type" and len(path) == 1:
            if value == "message_stop":
                reply.ended = True
            elif value == "error":
                self._is_error = True
        elif len(path) == 1 or top == "base_resp":
            reply.take_words(path, value)

    def _value(self, path, value, more):
        """Take a value of a block; `path[0]` is its field."""
        field = path[0]
        if field == "input" and len(path) > 1:
            self._call.add_value(path[1:], value, more)
        elif field == "input" and value is not None:
            self._call.add(str(value))
        elif len(path) > 1:
            return
        elif field == "text":
            self.reply.add_text(str(value))
        elif field == "type":
            self._type = value
        elif field == "id":
            self._call.id += str(value)
        elif field == "name":
            self._call.name += str(value)
        elif field in ("thinking", "signature", "data"):
            tail = self.reply.tail()
            if not self._thinks:
                self._thinks = True
                tail.begin("", {"type": "redacted_thinking" if field == "data" else "thinking"})
            if value or field == "data":
                tail.member(field, str(value))

    def event_end(self) -> None:
        """End an event or a block, and add its call to the reply."""
        if self._type == "tool_use":
            self.reply.add_call(self._call)
            self._open = self._call
            self._given = bool(self._call.end())
        elif self._type:
            self._open = None
        if self._type:
            self._new_block()
        if self.reply.words and (self._is_error or self.reply.code is not None):
            self.reply.fail()

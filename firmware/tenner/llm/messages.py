# tenner llm.messages: Anthropic's wire format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
from tenner.net.jsonout import Escaper, quote

_STOPS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def target(candidate):
    """Return (URL, headers) of a request to `candidate`."""
    headers = [("Content-Type", "application/json"), ("anthropic-version", "2023-06-01")]
    if candidate.api_key:
        headers.append(("x-api-key", candidate.api_key))
    base = candidate.base_url.rstrip("/")
    # People write the address with and without its version.
    return base + ("/messages" if base.endswith("/v1") else "/v1/messages"), headers


def body(candidate, request):
    """Yield the request's body. Tools and system come first and end in the mark up to which to cache."""
    yield b'{"model":' + quote(candidate.model)
    # This API insists on a limit.
    yield b',"stream":true,"max_tokens":%d' % (records.max_tokens(candidate, request) or 1024)
    opening = b',"tools":['
    for path in request.tools():
        yield opening
        yield from _schema(path)
        opening = b","
    if opening == b",":
        yield b"]"
    escaper = Escaper()
    yield b',"system":[{"type":"text","text":"'
    for piece in request.system():
        yield escaper.feed(piece)
    yield escaper.end() + b'","cache_control":{"type":"ephemeral"}}],"messages":['
    yield from _messages(request)
    yield b"]}"


def _schema(path):
    """Yield a tool's schema file; this API calls `parameters` otherwise."""
    old = b'"parameters"'
    held = b""
    for piece in records.file_pieces(path):
        if held is None:
            yield piece
            continue
        # Inside a string the quotes would be escaped, so the first one is the key itself.
        held += piece
        place = held.find(old)
        if place >= 0:
            yield held[:place] + b'"input_schema"' + held[place + len(old) :]
            held = None
        else:
            keep = min(len(old), len(held))
            yield held[: len(held) - keep]
            held = held[len(held) - keep :]
    if held:
        yield held


def _messages(request):
    """
    Yield the records as messages of blocks. Roles take turns, so neighbors of one role share a message, the
    results of a round and what a person says after it too. Empty text is refused there: a block and a
    message begin with their first byte.
    """
    lines = records.Lines(request.records())
    role = b""  # of the message that is open
    opened = False  # the block of this line is
    for part in lines.parts():
        kind = lines.kind
        if lines.first:
            opened = False
        if not opened and (part or kind == "t" or kind == "c"):
            opened = True
            wanted = b"assistant" if kind in "ac" else b"user"
            if wanted == role:
                yield b","
            else:
                yield (b"]}," if role else b"") + b'{"role":"' + wanted + b'","content":['
                role = wanted
            if kind == "c":
                yield (
                    b'{"type":"tool_use","id":'
                    + lines.id
                    + b',"name":'
                    + lines.name
                    + b',"input":'
                )
            elif kind == "t":
                yield b'{"type":"tool_result","tool_use_id":' + lines.id + b',"content":"'
            else:
                yield b'{"type":"text","text":"'
        if part:
            yield part
        if opened and lines.last:
            yield b"}" if kind == "c" else b'"}'
    if role:
        yield b"]}"


class Parser:
    """Takes the values of stream events, and of a whole message, whose blocks come in a list."""

    def __init__(self, reply):
        self.reply = reply
        self._usage = [0, 0, 0]  # input tokens: fresh, written to the cache, read from it
        self._item = -1  # index of the block in a whole message
        self._open = None  # the call whose arguments are arriving
        self._new_block()

    def _new_block(self):
        self._type = ""
        self._call = self.reply.new_call()
        self._input = None

    def sink(self, path, value, more):
        """Take one value from the scanner. What is thought has other names and is passed over."""
        # A null says nothing, but inside a call's input.
        if not path or (value is None and "input" not in path):
            return
        top = path[0]
        last = path[-1]
        if top == "delta":
            if last == "stop_reason":
                self._stop(value)
            elif last == "text":
                self.reply.add_text(str(value))
            elif last == "partial_json" and self._open:
                self.reply.add_arguments(self._open, str(value))
        elif top == "content_block":
            self._value(path, 1, value, more)
        elif top == "content" and len(path) > 2:
            if path[1] != self._item:
                self._end_block()
                self._item = path[1]
            self._value(path, 2, value, more)
        elif top == "usage" or (top == "message" and path[1] == "usage"):
            self._count(last, value)
        elif top == "error":
            self.reply.take_error(path, value)
        elif top == "stop_reason":
            self._stop(value)
        elif top == "type" and value == "message_stop":
            self.reply.ended = True

    def _stop(self, value):
        self.reply.ended = True
        self.reply.stop = _STOPS.get(value, "stop")

    def _count(self, name, value):
        if not isinstance(value, int):
            return
        if name == "output_tokens":
            self.reply.tokens_out = value
        elif name in _INPUTS:
            self._usage[_INPUTS.index(name)] = value
            self.reply.tokens_in = sum(self._usage)

    def _value(self, path, base, value, more):
        """Take a value of a block; `path[base]` is its field."""
        field = path[base]
        if field == "input" and len(path) > base + 1:
            if self._input is None:
                from tenner.llm.rebuild import Rebuild

                self._input = Rebuild(base + 1)
            self.reply.add_arguments(self._call, self._input.add(path, value, more))
        elif len(path) > base + 1:
            return
        elif field == "text":
            self.reply.add_text(str(value))
        elif field == "type":
            self._type = value
        elif field == "id":
            self._call.id += str(value)
        elif field == "name":
            self._call.name += str(value)

    def _end_block(self):
        if self._type == "tool_use":
            if self._input:
                self.reply.add_arguments(self._call, self._input.end())
            self.reply.add_call(self._call)
            self._open = self._call
        elif self._type:
            self._open = None
        if self._type:
            self._new_block()

    def event_end(self):
        """One event is complete."""
        self._end_block()

    def finish(self):
        """The reply is complete."""
        self._end_block()
        self.reply.finish()

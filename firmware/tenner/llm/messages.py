# tenner llm.messages: Anthropic's wire format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
from tenner.llm.client import Call
from tenner.net.jsonout import escaped, quote


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
    yield b',"system":[{"type":"text","text":"'
    yield from escaped(request.system())
    yield b'","cache_control":{"type":"ephemeral"}}],"messages":['
    # Roles take turns, so neighbors of one role share a message, the results of a round and what a person
    # says after it too. Empty text is refused: a block and a message begin with their first byte.
    role = b""  # of the message that is open
    opened = False  # the block of this line is
    for line, part, last in records.parts(request.records()):
        if line:
            kind, id, name = line
            opened = False
        if not opened and (part or kind in "ct"):
            opened = True
            wanted = b"assistant" if kind in "ac" else b"user"
            if wanted == role:
                yield b","
            else:
                yield (b"]}," if role else b"") + b'{"role":"%s","content":[' % wanted
                role = wanted
            if kind == "c":
                yield b'{"type":"tool_use","id":%s,"name":%s,"input":' % (id, name)
            elif kind == "t":
                yield b'{"type":"tool_result","tool_use_id":%s,"content":"' % id
            else:
                yield b'{"type":"text","text":"'
        yield part
        if opened and last:
            yield b"}" if kind == "c" else b'"}'
    yield b"]}]}" if role else b"]}"


def _schema(path):
    """Yield a tool's schema file; this API calls `parameters` otherwise."""
    held = b""
    pieces = records.file_pieces(path)
    for piece in pieces:
        # Inside a string the quotes would be escaped, so the first one is the key itself.
        before, old, held = (held + piece).partition(b'"parameters"')
        if old:
            yield before + b'"input_schema"' + held
            yield from pieces
            return
        yield before[:-12]
        held = before[-12:]
    yield held


class Parser:
    """Takes the values of stream events, and of a whole message, whose blocks come in a list."""

    def __init__(self, reply):
        self.reply = reply
        self._usage = {}  # input tokens: fresh, written to the cache, read from it
        self._item = -1  # index of the block in a whole message
        self._open = None  # the call whose arguments are arriving
        self._new_block()

    def _new_block(self):
        self._type = ""
        self._call = Call()

    def sink(self, path, value, more):
        """Take one value from the scanner. What is thought has other names and is passed over."""
        # A null says nothing, but inside a call's input.
        if not path or (value is None and "input" not in path):
            return
        reply = self.reply
        top = path[0]
        last = path[-1]
        if top == "error":
            reply.take_error(path, value)
        elif last == "stop_reason" and top in ("delta", "stop_reason"):
            reply.ended = True
            reply.stop = {
                "max_tokens": "length",
                "model_context_window_exceeded": "length",
                "refusal": "refusal",
            }.get(value)
        elif top == "delta":
            if last == "text":
                reply.add_text(str(value))
            elif last == "partial_json" and self._open:
                self._open.add(str(value))
        elif top == "content_block":
            self._value(path[1:], value, more)
        elif top == "content" and len(path) > 2:
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
        elif top == "type" and value == "message_stop":
            reply.ended = True

    def _value(self, path, value, more):
        """Take a value of a block; `path[0]` is its field."""
        field = path[0]
        if field == "input" and len(path) > 1:
            self._call.add_value(path[1:], value, more)
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

    def event_end(self):
        """One event is complete, or one block."""
        if self._type == "tool_use":
            self.reply.add_call(self._call)
            self._open = self._call
        elif self._type:
            self._open = None
        if self._type:
            self._new_block()

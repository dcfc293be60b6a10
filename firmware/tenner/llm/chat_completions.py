# tenner llm.chat_completions: the wire format of OpenAI and the many servers that speak it too.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
from tenner.net.jsonout import Escaper, escape, quote

_STOPS = {"length": "length", "content_filter": "refusal"}


def target(candidate):
    """Return (URL, headers) of a request to `candidate`."""
    headers = [("Content-Type", "application/json")]
    if candidate.api_key:
        headers.append(("Authorization", "Bearer " + candidate.api_key))
    return candidate.base_url.rstrip("/") + "/chat/completions", headers


def body(candidate, request):
    """Yield the request's body. The keys' order never changes, and what changes comes last."""
    yield b'{"model":' + quote(candidate.model)
    yield b',"stream":true,"stream_options":{"include_usage":true}'
    limit = records.max_tokens(candidate, request)
    if limit:
        # Every compatible server knows max_tokens; OpenAI's own newer models refuse it, and there all
        # models take the other name.
        own = "api.openai.com" in candidate.base_url
        yield b',"max_completion_tokens":' if own else b',"max_tokens":'
        yield b"%d" % limit
    yield b',"messages":[{"role":"system","content":"'
    escaper = Escaper()
    for piece in request.system():
        yield escaper.feed(piece)
    yield escaper.end() + b'"}'
    yield from _messages(request)
    yield b"]"
    opening = b',"tools":['
    for path in request.tools():
        yield opening + b'{"type":"function","function":'
        yield from records.file_pieces(path)
        yield b"}"
        opening = b","
    yield b"}" if opening == b',"tools":[' else b"]}"


def _messages(request):
    """
    Yield the records as messages. Neighbors a person's role says become one message: some models'
    templates refuse two in a row. A message stays open until it is known what follows.
    """
    lines = records.Lines(request.records())
    ending = b""  # closes what is open
    role = ""  # the kind of the open message: u, a, or c once it has calls
    for part in lines.parts():
        kind = lines.kind
        if lines.first:
            if kind == "c":
                if role == "c":
                    yield b'"}},'
                elif role == "a":
                    yield b'","tool_calls":['
                else:
                    yield ending + b',{"role":"assistant","content":"","tool_calls":['
                yield b'{"id":' + lines.id + b',"type":"function","function":{"name":'
                yield lines.name + b',"arguments":"'
                role = "c"
                ending = b'"}}]}'
            elif kind == "t":
                yield ending + b',{"role":"tool","tool_call_id":' + lines.id + b',"content":"'
                role = "t"
                ending = b'"}'
            elif kind == "a":
                yield ending + b',{"role":"assistant","content":"'
                role = "a"
                ending = b'"}'
            elif role == "u":
                yield b"\\n\\n"
            else:
                yield ending + b',{"role":"user","content":"'
                role = "u"
                ending = b'"}'
        if part:
            yield escape(part) if kind == "c" else part
    yield ending


class Parser:
    """Takes the values of reply chunks, and of whole replies, which differ only in one word."""

    def __init__(self, reply):
        self.reply = reply
        self._call = reply.new_call()
        self._rebuild = None
        self._item = -1  # place of the collected call in this event's list

    def sink(self, path, value, more):
        """Take one value from the scanner."""
        # A null says nothing, but inside arguments.
        if not path or (value is None and "arguments" not in path):
            return
        top = path[0]
        if top == "choices":
            if len(path) > 2 and path[1] == 0:
                self._choice(path, value, more)
        elif top == "usage":
            if len(path) == 2 and isinstance(value, int):
                if path[1] == "prompt_tokens":
                    self.reply.tokens_in = value
                elif path[1] == "completion_tokens":
                    self.reply.tokens_out = value
        elif top == "error":
            self.reply.take_error(path, value)

    def _choice(self, path, value, more):
        reply = self.reply
        field = path[2]
        if field == "finish_reason":
            reply.ended = True
            if reply.stop != "refusal":
                reply.stop = _STOPS.get(value, "stop")
            return
        if field != "delta" and field != "message" or len(path) < 4:
            return
        field = path[3]
        if field == "tool_calls" and len(path) > 5:
            self._call_value(path, value, more)
        elif not isinstance(value, str):
            return
        elif field == "content" and (len(path) == 4 or path[-1] == "text"):
            reply.add_text(value)
        elif field == "refusal" and value:
            reply.add_text(value)
            reply.stop = "refusal"

    def _call_value(self, path, value, more):
        if path[4] != self._item:
            self._merge()
            self._item = path[4]
        call = self._call
        field = path[5]
        if field == "function" and len(path) > 6:
            if path[6] == "arguments":
                if len(path) > 7:
                    value = self._object(path, value, more)
                if value is not None:
                    self.reply.add_arguments(call, str(value))
            elif path[6] == "name":
                call.name += str(value)
        elif field == "index":
            call.wire_index = value
        elif field == "id":
            call.id += str(value)

    def _object(self, path, value, more):
        """Some servers send the arguments as an object instead of its text."""
        if self._rebuild is None:
            from tenner.llm.rebuild import Rebuild

            self._rebuild = Rebuild(7)
        return self._rebuild.add(path, value, more)

    def _merge(self):
        """
        The fragment of a call is complete: find the call it continues. Nearly all servers number calls by
        `index`; some leave it out, or give 0 to all, and only the id tells calls apart.
        """
        if self._item < 0:
            return
        self._item = -1
        part = self._call
        if self._rebuild:
            self.reply.add_arguments(part, self._rebuild.end())
            self._rebuild = None
        found = None
        for call in self.reply.calls:
            if part.wire_index is not None and call.wire_index != part.wire_index:
                continue
            if part.id and call.id and part.id != call.id:
                continue
            if part.id and part.wire_index is None and not call.id:
                continue
            found = call
        if part.wire_index is None and not part.id and part.name:
            found = None
        if found is None:
            self.reply.add_call(part)
            self._call = self.reply.new_call()
            return
        found.id = found.id or part.id
        found.name = found.name or part.name
        self.reply.add_arguments(found, part.arguments.get())
        part.arguments.size = 0
        part.id = part.name = ""
        part.wire_index = None

    def event_end(self):
        """One chunk is complete."""
        self._merge()

    def finish(self):
        """The reply is complete."""
        self._merge()
        self.reply.finish()

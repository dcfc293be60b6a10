# tenner llm.parse_chat: reads the reply of a model that speaks chat completions.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm.collect import CallCollector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.collect import Collector
    from tenner.net.json.scanner import Scalar


class Parser:
    """Takes the values of reply chunks, or of a complete reply, where one key differs; `reply` is
    the Collector."""

    #: The members of a document that matter.
    WANTED = ("choices", "usage", "error")
    #: Set by an event with more than pieces of text and repeatable values.
    has_more = False

    def __init__(self, reply: "Collector") -> None:
        self.reply = reply
        self._call = CallCollector(self.reply.limit)
        self._item = -1  # place of the collected call in this event's list

    def sink(self, path: list[int | str], value: "Scalar", more: bool) -> None:
        """Take one value from the scanner."""
        # A null matters only inside arguments.
        if not path or (value is None and "arguments" not in path):
            return
        reply = self.reply
        top = path[0]
        last = path[-1]
        size = len(path)
        if top == "error":
            reply.take_error(path, value)
        elif top == "usage":
            if size == 2 and isinstance(value, int):
                if last == "prompt_tokens":
                    reply.tokens_in = value
                elif last == "completion_tokens":
                    reply.tokens_out = value
        elif top != "choices" or size < 3 or path[1] != 0:
            return
        elif last == "finish_reason":
            reply.ended = True
            if reply.stop != "refusal":
                reply.stop = {"length": "length", "content_filter": "refusal"}.get(value)  # type: ignore[arg-type]
        elif size < 4 or path[2] not in ("delta", "message"):
            return
        elif path[3] == "tool_calls":
            if size > 5:
                self._call_value(path, value, more)
        elif isinstance(value, str):
            if path[3] == "content" and (size == 4 or last == "text"):
                reply.add_text(value)
            elif path[3] == "refusal" and value:
                reply.add_text(value)
                reply.stop = "refusal"

    def _call_value(self, path, value, more):
        if path[4] != self._item:
            self.event_end()
            self._item = path[4]
        call = self._call
        field = path[5]
        if field == "index":
            call.index = value
        elif field == "id":
            call.id += str(value)
        elif path[6:] == ["name"]:
            call.name += str(value)
        elif path[6:7] == ["arguments"]:
            if len(path) > 7:
                call.add_value(path[7:], value, more)
            elif value is not None:
                call.add(str(value))

    def event_end(self) -> None:
        """
        End a chunk, or the fragment of a call, and add it to the call it continues. Nearly all
        servers number calls by `index`; some omit it, or give 0 to all, and only the id
        distinguishes calls.
        """
        if self._item < 0:
            return
        self._item = -1
        part = self._call
        found = None
        for call in self.reply.calls:
            if part.index is None:
                same = part.id == call.id if part.id else not part.name
            else:
                same = part.index == call.index and (part.id in ("", call.id) or not call.id)
            if same:
                found = call
        if found:
            found.id = found.id or part.id
            found.name = found.name or part.name
            piece = part.end()
            found.add(piece)
            self.reply.note(piece, found.add)
            part.clear()
        else:
            self.has_more = True
            self.reply.add_call(part)
            self._call = CallCollector(self.reply.limit)

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
    WANTED = (
        "choices",
        "usage",
        "error",
        "message",
        "msg",
        "detail",
        "code",
        "status",
        "base_resp",
        "error_code",
        "error_msg",
    )
    #: Set by an event with more than pieces of text and repeatable values.
    has_more = False

    def __init__(self, reply: "Collector") -> None:
        self.reply = reply
        self._call = CallCollector(self.reply.limit)
        self._item = -1  # place of the collected call in this event's list
        self._new = []  # the calls that this event began
        self._way: int | str | None = None  # of the text: delta or message
        self._kind = ""  # of the part of the content
        self._counts = self._has_choice = False  # has this event token counts, and more?

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
            self._counts = True
            if size == 2 and isinstance(value, int):
                if last == "prompt_tokens":
                    reply.tokens_in = value
                elif last == "completion_tokens":
                    reply.tokens_out = value
        elif top != "choices":
            if size == 1 or top == "base_resp":
                reply.take_words(path, value)
        elif size > 2 and path[1] == 0 and not (size > 3 and isinstance(path[3], int)):
            if last == "finish_reason" and size == 3:
                reply.reasons = ("%s %s" % (reply.reasons, value))[-99:]
            elif path[2] == "error":
                reply.take_error(path[2:], value)
            elif size > 3 and path[2] in ("delta", "message") and self._is_new(path, value):
                self._message_value(path, value, more)

    def _is_new(self, path, value):
        """Return whether a value is new: some servers send the complete message in the end."""
        if path[3] not in ("content", "tool_calls", "function_call", "refusal") or value == "":
            return self._way in (None, path[2])
        self._has_choice = True
        if path[2] == "delta" and self._way == "message":
            # The message so far comes with each piece, before it.
            self.reply.forget()
            self.reply.calls = []
            self._way = None
        self._way = self._way or path[2]
        return path[2] == self._way

    def _message_value(self, path, value, more):
        size = len(path)
        field = path[3]
        if field == "tool_calls":
            if size > 5:
                self._call_value(path[4:], value, more)
        elif field == "function_call":
            self._call_value([0, "function"] + path[4:], value, more)
        elif field[:9] == "reasoning" or field == "extra_content":
            self._tail_value(field, path[3:], value, more)
        elif isinstance(value, str):
            if field == "content":
                if path[-1] == "type":
                    self._kind = value
                # A part may be of type thinking, or have a list of that name.
                elif size == 4 or path[-1] == "text" and size == 6 and self._kind[-3:] != "ing":
                    self.reply.add_text(value)
            elif field == "refusal" and value:
                self.reply.add_text(value)
                self.reply.stop = "refusal"

    def _tail_value(self, name, path, value, more):
        tail = self.reply.tail()
        if name[:9] == "reasoning" and len(path) == 1:
            if tail.reason(name):
                tail.add(str(value))
                self.reply.note(str(value), tail.add)
            return
        self.has_more = True
        if name != "reasoning_details":
            tail.value(name, path, value, more)
        elif len(path) == 3:
            tail.detail(path[1], path[2], value)

    def _call_value(self, path, value, more):
        if path[0] != self._item:
            self._call_end()
            self._item = path[0]
        call = self._call
        field = path[1]
        if field == "index":
            call.index = value
        elif field == "id":
            call.id += str(value)
        elif path[2:] == ["name"]:
            call.name += str(value)
        elif path[2:3] == ["arguments"]:
            if len(path) > 3:
                call.add_value(path[3:], value, more)
            elif value is not None:
                call.add(str(value))
        elif field not in ("type", "function"):
            tail = self.reply.tail()
            if call.extra is None:
                call.extra = tail.call()
            tail.value(call.extra, path[1:], value, more)
            self.has_more = True

    def event_end(self) -> None:
        """End a chunk."""
        self._call_end()
        self._new = []
        reply = self.reply
        reply.event_end()
        # A server that names no reason to stop sends the token counts last.
        if self._counts and not (self._has_choice and reply.calls):
            reply.counted = reply.pieces
        if reply.code is not None and not self._has_choice and (reply.words or reply.code >= 400):
            reply.fail()
        self._counts = self._has_choice = False

    def _call_end(self):
        """
        End the fragment of a call, and add it to the call it continues. Nearly all servers number
        calls by `index`; some omit it, or give 0 to all, and only the id distinguishes calls.
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
        piece = part.end()
        if found and part.name and found.name:
            self.has_more = True
            found, piece = named_again(found, part, piece, found in self._new)
        if found:
            found.id = found.id or part.id
            found.name = found.name or part.name
            found.extra = part.extra or found.extra
            found.add(piece)
            self.reply.note(piece, found.add)
            part.clear()
        else:
            self.has_more = True
            self.reply.add_call(part)
            self._new.append(part)
            self._call = CallCollector(self.reply.limit)


def named_again(
    call: CallCollector, part: CallCollector, piece: str | None, is_new: bool
) -> "tuple[CallCollector | None, str | None]":
    """
    `part` has the name, and the index or id, of `call` once more. Return (`call`, the piece to
    add to its arguments), or (None, ...) if it is another call. `is_new`: both are in one event.
    """
    words = (piece or "").strip()
    before = "" if call.utf8 is None else str(call.utf8, "utf-8").strip()
    if part.name != call.name:
        if is_new or before or words:
            return None, piece
        call.name += part.name  # a name in pieces
    elif is_new or before[-1:] == "}" and words[:1] == "{":
        if is_new or before != "{}" and (words != before or not part.id):
            return None, piece
        # The server has sent `{}` before the real arguments, or the whole call twice.
        call.utf8 = bytearray()
    return call, piece

# tenner llm.collect: gathers a reply from the fragments of a stream, within fixed bounds.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import tags
from tenner.llm.literals import ArgumentsBuilder
from tenner.llm.reply import Call, Reply
from tenner.llm.tail import Tail
from tenner.log import log
from tenner.port.compat import const, ticks_ms
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.llm.types import Limits
    from tenner.net.json.scanner import Scalar

_MAX_CALLS = const(16)  # to run
_MAX_NAMED = const(64)  # to reject by name
_BLOCK = const(256)
_CUT_OFF = const("\n(cut off: the reply has over %d bytes)")
#: The first bytes of tool calls written as text, which stay in one piece.
_MARKUP = (
    b"<tool",
    b"<func",
    b"<|too",
    b"<|pyt",
    b"<invo",
    b"<mini",
    b"<seed",
    b"[TOOL",
    b'{"nam',
)
#: Text with one of these may have a tag.
_TAGS = ("<", "[T", "[t", "[/", "\u25c1")
# Why a model stopped: the server's words for the limit, a refusal and a failure of its own.
_LENGTH = const(
    " length max_tokens max_output_tokens max_length model_length model_context_window_exceeded "
)
_REFUSED = const(
    " refusal content_filter content_filtered safety sensitive recitation blocklist "
    "prohibited_content spii guardrail_intervened "
)
_BROKEN = const(
    " error abort aborted network_error insufficient_system_resource server_error engine_error "
    "malformed_function_call unknown_error failed "
)
_MAX_ID = const(64)  # fits history_lines.PIECE with each character escaped
_MAX_NAME = const(64)


class CallCollector:
    """The fragments of one tool call; its arguments may have `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._arguments: ArgumentsBuilder | None = None
        self.clear()

    def clear(self) -> None:
        """Prepare for the next fragment."""
        self.id = ""
        self.name = ""
        self.index: int | str | None = None
        #: Its part of the reply's Tail: members that the server wants back.
        self.extra: int | None = None
        self.utf8: bytearray | None = bytearray()  # the arguments

    def add(self, piece: str | None) -> None:
        """Take a piece of the arguments."""
        if self.utf8 is not None:
            if piece is not None:
                self.utf8.extend(piece.encode())
            if piece is None or len(self.utf8) > self._limit:
                self.utf8 = None

    def add_value(self, path: list[int | str], value: "Scalar", more: bool) -> None:
        """Take a value of arguments that come as an object instead of text."""
        if self._arguments is None:
            self._arguments = ArgumentsBuilder()
        self.add(self._arguments.add(path, value, more))

    def end(self) -> str | None:
        """End the call, or a fragment of it; return the text of the arguments, None if they are
        too long."""
        if self._arguments:
            self.add(self._arguments.end())
            self._arguments = None
        return None if self.utf8 is None else str(self.utf8, "utf-8")


class Collector:
    """
    The received part of a reply, without the model's reasoning in <think> or in separate fields.
    The text, and the arguments of each call, may have `limit` bytes; longer arguments, and those
    beyond 16 calls, are dropped. The beginning of a longer text goes to the file `keep_at` of the
    request, if that is set; else the text is cut off.
    """

    _tail: "Tail | None" = None
    #: Was the text cut off? Then reading ends.
    full = False
    #: Bytes of the text in that file; the text in memory follows them.
    kept = 0
    # The state of llm.tags: inside and after reasoning, after the end mark; the beginning of a
    # tag, the last line of reasoning, all of it where it may be answer; the number of "```" on
    # flash.
    thinking = closed = over = False
    held = line = lost = ""
    fences = 0
    #: The words and the number of a server that reports an error in its own form.
    words = ""
    code: int | None = None
    #: Has the server said that it broke off?
    broke = False
    #: The number of pieces when the token counts came.
    counted = -1

    def __init__(self, request: "Limits", body_bytes: int) -> None:
        self.limit = limit = request.max_reply
        self.keep_at = request.keep_at
        #: The bytes of text from which on its beginning goes there, and the most that go.
        self.kept_from = request.kept_from
        self.most_kept = request.most_kept
        #: The file for the reply's Tail, and its bytes so far.
        self.tail_at, self.tail_start = request.tail_at
        self.calls = []
        self.stop: str | None = None
        self.tokens_in = 0
        self.tokens_out = 0
        #: Bytes of the request's body.
        self.body_bytes = body_bytes
        #: The text of an error object in the middle of a reply, and its status.
        self.error: str | None = None
        self.error_status: int | None = None
        #: Has the server marked the end? Its last reasons, in its own words.
        self.ended = False
        self.reasons = ""
        #: The number of received pieces of text or arguments, the last piece, and the function
        #: that takes such pieces.
        self.pieces = 0
        self.piece = ""
        self.take: "Callable[[str], None] | None" = None
        # The end of the text, and the blocks before it: a used heap has few long stretches.
        self._text = bytearray()
        self._blocks = []
        self.stored = 0  # bytes in these blocks, for _make_room
        self._room = min(_BLOCK, limit)

    def tail(self) -> Tail:
        """Return the reply's Tail, from now on there."""
        if self._tail is None:
            self._tail = Tail(self.tail_at, self.tail_start)
        return self._tail

    def event_end(self) -> None:
        """End an event of the Tail."""
        if self._tail is not None:
            self._tail.event_end()

    def add_text(self, piece: str) -> None:
        """Take a piece of text; the tags may be cut anywhere."""
        self.note(piece, self.add_text)
        if self.thinking or self.held or _may_have_tag(piece):
            tags.take(self, piece)
        else:
            self.put(piece)

    def note(self, piece: str, take: "Callable[[str], None]") -> None:
        """Remember `piece` as the last one, given to `take`."""
        self.pieces += 1
        self.piece = piece
        self.take = take

    def put(self, piece: str) -> None:
        """Add a piece to the text; drop reasoning and anything after the end mark."""
        if not self._text and not self.size():
            piece = piece.lstrip()
        if piece and not self.thinking and not self.over:
            self._text.extend(piece.encode())
            if len(self._text) > self._room:
                self._store()

    def _store(self):
        """End a block; make room when the text is too long."""
        self._blocks.append(str(self._text, "utf-8"))
        self.stored += len(self._text)
        self._text = bytearray()
        if self.stored > (min(self.kept_from, self.limit) if self.keep_at else self.limit):
            rest = _make_room(self, self._blocks)
            self._blocks = [rest]
            self.stored = len(rest.encode())
        self._room = min(_BLOCK, self.limit - self.stored)

    def forget(self) -> None:
        """Drop the text so far: it was reasoning."""
        self._text = bytearray()
        self._blocks = []
        self.stored = self.kept = self.fences = 0

    def end(self) -> None:
        """Take the reasons why the model stopped, in the words of any server."""
        for reason in self.reasons.lower().split():
            reason = " %s " % reason
            if reason in _BROKEN:
                self.broke = True
                continue
            self.ended = True
            if self.stop != "refusal":
                self.stop = "length" if reason in _LENGTH else None
                if reason in _REFUSED:
                    self.stop = "refusal"

    def draft(self) -> str:
        """Return the received text."""
        return "".join(self._blocks + [str(self._text, "utf-8")])

    def size(self) -> int:
        """Return how many bytes of text have arrived."""
        return len(self._text) + self.stored + self.kept

    def add_call(self, call: CallCollector) -> None:
        """Add `call` to the reply."""
        if len(self.calls) >= _MAX_CALLS:
            call.utf8 = None
        if len(self.calls) < _MAX_NAMED:
            self.calls.append(call)

    def take_error(self, path: list[int | str], value: "Scalar") -> None:
        """Take a value of an error object; both wire formats have one, and it may come at any
        time."""
        if isinstance(value, int) and path[-1] in ("code", "status"):
            self.error_status = value
            self.error = self.error or ""
        elif isinstance(value, str) and (len(path) <= 2 or path[-1] == "raw"):
            self.error = ((self.error or "") + " " + value)[:400]

    def take_words(self, path: list[int | str], value: "Scalar") -> None:
        """Take a member of a reply that holds no choice, such as `{"code": 500, "msg": ...}`."""
        name = str(path[-1])
        if name[-4:] == "code" or name == "status":
            number = str(value)
            if number.isdigit() and number not in ("0", "200"):
                self.code = int(number)
        elif isinstance(value, str) and (name[-3:] == "msg" or name in ("message", "detail")):
            self.words = (self.words + " " + value).strip()[:400]

    def fail(self) -> None:
        """Make an error of the words that the server sent instead of a reply."""
        self.error = self.words
        self.error_status = self.code

    def finish(self) -> Reply:
        """Return the complete Reply, a long text in blocks, with repaired ids, and tokens that are
        estimated where the server sent no counts."""
        if self.held or self.lost:
            tags.finish(self)
        blocks = self._blocks
        text = str(self._text, "utf-8")
        if self.over or self.closed:
            text = text.rstrip()
        if blocks:
            blocks.append(text)
            text = ""
            # `draft` has it once.
            self._text = bytearray()
        size = len(text) + sum(map(len, blocks)) + self.kept
        calls = []
        seen = []
        for number, call in enumerate(self.calls):
            arguments = call.end()
            if arguments is not None:
                arguments = arguments.strip() or "{}"
                size += len(call.utf8)
            size += len(call.name)
            call.utf8 = None
            # Some servers send no id, the same for every call, or one of kilobytes.
            if not call.id or len(call.id) > _MAX_ID or call.id in seen:
                call.id = "call_%x_%d" % (ticks_ms(), number)
            seen.append(call.id)
            calls.append(Call(call.id, call.name[:_MAX_NAME], arguments))
            calls[-1].extra = call.extra
        stop = self.stop
        if stop not in ("length", "refusal"):
            stop = "tools" if calls else "stop"
        reply = Reply(text, calls, stop)
        if self._tail is not None and calls:
            reply.tail_end = self._tail.end()
            reply.tails = self._tail.parts
        reply.kept = self.kept
        reply.blocks = blocks
        reply.body_bytes = self.body_bytes
        reply.tokens_in = self.tokens_in
        reply.tokens_out = self.tokens_out
        if not self.tokens_in and not self.tokens_out:
            # Four bytes a token is within a third for most languages and models.
            reply.estimated = True
            reply.tokens_in = (self.body_bytes + 3) // 4
            reply.tokens_out = (size + 3) // 4
        return reply


def _may_have_tag(piece):
    for mark in _TAGS:
        if mark in piece:
            return True
    return piece[-1:] == "["


def _make_room(collector, blocks):
    """Move the blocks of a too long text to flash up to its last word, or cut the text off; return
    the part for memory. No two of them are put together: a used heap has few long stretches."""
    start = 0
    if blocks[0][:5].encode() in _MARKUP and not collector.kept:
        collector.keep_at = None
    if collector.keep_at and not collector.full and collector.kept < collector.most_kept:
        # Never split a word, which may be a secret: each part is searched alone. Some scripts have
        # no spaces.
        last = len(blocks)
        while last and not start:
            last -= 1
            block = blocks[last].encode()
            start = len(block)
            while start and 0x20 < block[start - 1] < 0x80:
                start -= 1
    if start:
        rest = "".join([str(block[start:], "utf-8")] + blocks[last + 1 :])
        try:
            with files.open_own(collector.keep_at, "ab" if collector.kept else "wb") as file:
                for whole in blocks[:last]:
                    files.put(file, whole)
                files.put(file, block[:start])
            collector.kept += collector.stored - len(rest.encode())
            collector.fences += _fences(blocks[:last] + [str(block[:start], "utf-8")])
            return rest
        except OSError as error:
            log("llm", "a long reply is cut off: storing it failed: %s" % error)
            collector.keep_at = None
    text = "".join(blocks)
    if not start and collector.stored <= collector.limit and not collector.full:
        return text
    collector.full = True
    note = _CUT_OFF % (collector.kept + collector.limit)
    text = text.encode()
    end = collector.limit - len(note)
    while text[end] & 0xC0 == 0x80:
        end -= 1
    return str(text[:end], "utf-8") + note


def _fences(blocks):
    """Return how many "```" are in a text; a block may end within one."""
    count = 0
    ticks = ""
    for block in blocks:
        block = ticks + block
        ticks = block[len(block.rstrip("`")) :]
        count += block.count("```") - ticks.count("```")
    return count + ticks.count("```")

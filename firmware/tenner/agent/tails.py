# tenner agent.tails: the fields of replies that a model wants back, in a turn and in the history.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A turn's records refer to fields on flash by ["o","tag",start,end,...] and ["x",...]; a request has
their bytes there (agent.history). The history keeps short ones, and for others the values that the
providers document as enough.
"""

from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.agent.agent import Agent
    from tenner.agent.types import Records
    from tenner.llm.reply import Reply

#: The first bytes of such lines.
KINDS = (b'["o",', b'["x",')
_SHORT = const(512)  # bytes that the history keeps as they are
_HEAD = const(16)  # bytes of a line before its fields: ["o","01234567",

# Kimi and DeepSeek want the member, not the text.
_REASONING = b'{"reasoning_content":'
_NO_REASONING = b'{"reasoning_content":""}'
# Gemini takes this value for a signature that is not known any more.
_SIGNATURE = b"thought_signature"
_NO_SIGNATURE = const(
    b'{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}'
)


def note(turn: "Records", reply: "Reply") -> None:
    """Add the fields of a reply with calls to the records of the turn, and keep those of its calls
    until the calls are there."""
    turn.tails = reply.tail_end
    turn.extras = extras = {}
    numbers = {}
    for number, call in enumerate(reply.calls):
        numbers[call.extra] = number
    for name in reply.tails:
        part = reply.tails[name]
        kind = b"x" if isinstance(name, int) else b"o"
        if isinstance(part, list):
            part = b",".join([b"%d" % place for place in part])
        if not part:
            # It was too long.
            part = _NO_SIGNATURE if kind == b"x" else _NO_REASONING
            if kind == b"o" and name != "reasoning_content":
                continue
        line = b'["%s",%s,%s]\n' % (kind, reply.model, part)
        if kind == b"o":
            turn.lines.append(line)
        elif name in numbers:
            extras[numbers[name]] = line


def pieces(agent: "Agent", line: bytes) -> "Iterator[bytes]":
    """Yield the line of fields, with those on flash."""
    head = line[:_HEAD]
    if line[_HEAD] in b"{[":
        yield line
        return
    for _, block in files.blocks_of([_place(agent, line)]):
        yield head + block
        head = b""
    yield head + b"]\n"


def kept(turn: "Records") -> "Iterator[bytes]":
    """Yield the records of a turn for the history."""
    for line in turn.lines:
        if line[:5] in KINDS:
            line = _short(turn.agent, line)
        if line:
            yield line
    if turn.tails:
        files.remove(_path(turn.agent))


def _short(agent, line):
    """Return the line of fields for later turns; None for no line."""
    begin = line[_HEAD : _HEAD + _SHORT]
    size = len(line) - _HEAD
    if line[_HEAD] not in b"{[":
        _, *places = _place(agent, line)
        size = sum(places[1::2]) - sum(places[::2])
        begin = b"".join(files.blocks(_path(agent), places[0], min(places[1], places[0] + _SHORT)))
    if begin.startswith(_REASONING):
        fields = _NO_REASONING
    elif size <= _SHORT:
        return b"".join(pieces(agent, line))
    elif _SIGNATURE in begin:
        fields = _NO_SIGNATURE
    else:
        return None
    return line[:_HEAD] + fields + b"]\n"


def _place(agent, line):
    """Return the place of fields on flash, as for `files.blocks_of`."""
    return [_path(agent)] + [int(place) for place in line[_HEAD:-2].split(b",")]


def _path(agent):
    return agent.port.path("state/tails.part")

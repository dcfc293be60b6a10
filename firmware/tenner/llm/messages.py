# tenner llm.messages: a request in Anthropic's format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
from tenner.net.json.writer import escaped, quote
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.llm.types import Candidate, Request


# A message up to its blocks, and a block of text up to its text.
_USER = b'{"role":"user","content":['
_ASSISTANT = b'{"role":"assistant","content":['
_TEXT = b'{"type":"text","text":"'
# For a model that wants its thinking back, where it is not known.
_NO_THINKING = b'{"type":"thinking","thinking":"","signature":""},'
_IMAGE = b'{"type":"image","source":{"type":"base64","media_type":%s,"data":"'


def target(candidate: "Candidate") -> tuple[str, list[tuple[str, str]]]:
    """Return (URL, headers) of a request to `candidate`."""
    headers = [("Content-Type", "application/json"), ("anthropic-version", "2023-06-01")]
    if candidate.api_key:
        headers.append(("x-api-key", candidate.api_key))
    base = candidate.base_url.rstrip("/")
    # Owners write the address with or without its version.
    return base + ("/messages" if base.endswith("/v1") else "/v1/messages"), headers


def body(candidate: "Candidate", request: "Request") -> "Iterator[bytes]":
    """Yield the request's body. Tools and system come first and end in the cache mark."""
    yield b'{"model":' + quote(candidate.model)
    # This API requires a limit.
    yield b',"stream":true,"max_tokens":%d' % (records.max_tokens(candidate, request) or 1024)
    opening = b',"tools":['
    held = b""
    for first, block in files.blocks_of(request.tools()):
        if first:
            yield held + opening
            opening = b","
            held = b""
            found = b""
        if not found:
            # This API has another name for `parameters`. A string escapes quotes, so the first
            # match is the key.
            before, found, block = (held + block).partition(b'"parameters"')
            held = b"" if found else before[-12:]
            block = before + b'"input_schema"' + block if found else before[:-12]
        yield block
    if opening == b",":
        yield held + b"]"
    yield b',"system":[{"type":"text","text":"'
    yield from escaped(request.system())
    quirks = getattr(request, "quirks", "")
    cache = b"" if "c" in quirks else b',"cache_control":{"type":"ephemeral"}'
    yield b'"%s}],"messages":[' % cache
    yield from _messages(candidate, request, quirks)


def _messages(candidate, request, quirks):
    """Yield the messages of the history, and the end of the request."""
    # Roles alternate, so neighbors of one role share a message, also the results of a round and a
    # person's text after it. The API rejects empty text: a block and a message begin with their
    # first byte.
    role = b""  # of the open message
    opened = False  # has the block of this line begun?
    empty = _NO_THINKING if "r" in quirks else b""
    splitter = records.Splitter()
    for piece in request.records():
        end = records.dialog_end(piece, "a" if role == _ASSISTANT else "u" if role else "")
        if end:
            yield (b"]}," if role else b"") + _dialog(piece, _ASSISTANT + empty)
            role = _ASSISTANT if end == "a" else _USER
            continue
        for line, part, last in splitter.parts(piece):
            if line:
                kind, id, name = line
                opened = False
                skip = kind in "ox" and records.own(line, candidate, quirks)[0]
            if skip:
                continue
            if not opened and (part or kind in "ct"):
                opened = True
                wanted = _ASSISTANT if kind in "aco" else _USER
                if wanted == role:
                    yield b","
                else:
                    yield (b"]}," if role else b"") + wanted
                    if kind in "ac":
                        yield empty
                    role = wanted
                if kind == "c":
                    yield b'{"type":"tool_use","id":"%s","name":%s,"input":' % (_plain(id), name)
                elif kind == "t":
                    yield b'{"type":"tool_result","tool_use_id":"%s","content":"' % _plain(id)
                elif kind == "i":
                    yield _IMAGE % id
                    yield from records.base64(part)
                    part = b'"}'
                elif kind != "o":
                    yield _TEXT
            yield part
            if opened and last and kind != "o":
                yield b"}" if kind in "ci" else b'"}'
    yield b"]}]}" if role else b"]}"


def _dialog(piece, assistant):
    """Return the messages of a dialog; the last stays open behind its text."""
    start = _USER if piece[2:3] == b"u" else assistant
    piece = piece[6:-3].replace(b'"]\n["u","', b'"}]},' + _USER + _TEXT)
    return start + _TEXT + piece.replace(b'"]\n["a","', b'"}]},' + assistant + _TEXT) + b'"}'


def _plain(id):
    """
    Return the inside of a JSON string with letters, digits, - and _, the only characters this API
    accepts; the same for the same id. Another API's model may have sent `functions.i2c:0` earlier.
    """
    plain = b""
    for byte in id[1:-1]:
        letter = bytes((byte,))
        taken = letter.isalpha() or letter.isdigit() or letter in b"-_"
        plain += letter if taken else b"_%02x" % byte
    return plain

# tenner llm.messages: a request in Anthropic's format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
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
                yield b'{"type":"tool_use","id":"%s","name":%s,"input":' % (_plain(id), name)
            elif kind == "t":
                yield b'{"type":"tool_result","tool_use_id":"%s","content":"' % _plain(id)
            else:
                yield b'{"type":"text","text":"'
        yield part
        if opened and last:
            yield b"}" if kind == "c" else b'"}'
    yield b"]}]}" if role else b"]}"


def _plain(id):
    """
    Return the inside of a JSON string of nothing but letters, digits, - and _, which is all this API takes; the
    same for the same id. A model asked before, of another API, may have said `functions.i2c:0`.
    """
    plain = b""
    for byte in id[1:-1]:
        letter = bytes((byte,))
        taken = letter.isalpha() or letter.isdigit() or letter in b"-_"
        plain += letter if taken else b"_%02x" % byte
    return plain


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

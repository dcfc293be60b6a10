# tenner page.request: reads one HTTP request, bounds its size, refuses those of foreign pages.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A connection has one request, so that its time is bounded as a whole. The parser is strict: two
programs that read a request differently are how one is smuggled into another.
"""

from binascii import unhexlify

from tenner.log import visible
from tenner.port.compat import const
from tenner.store import json_strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.page.types import Reader, Sessions


#: The longest head and body, in bytes.
_MAX_HEAD = const(8192)
MAX_BODY = const(65536)
#: The longest body of one without a session: a code.
MAX_CODE = const(1024)
#: The path of sealed requests (page.sealed), and the longest of their messages.
SEALED = const("/sealed")
MAX_SEALED = const(1536)
_MAX_LINES = const(64)
_BLOCK = const(256)
#: Characters of a method or of a header's name.
_TOKEN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
#: Control characters that a text may have: newline, tab, and the joiners of letters and emojis.
_KEPT = "\n\t\u200c\u200d"

COOKIE = const("tenner_session")
#: Begins the code and the session of a guest; an owner's have other letters.
GUEST = const("look")
_TOKEN_HEADER = const("x-tenner-token")

_FOREIGN = "the request comes from a page of another site"


class Refused(Exception):
    """An answer with an error: its status, a sentence, and further headers."""

    def __init__(self, status: int, sentence: str, *headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers


class Request:
    """The head of a request. Names of headers are in small letters; none comes twice."""

    #: Bytes of the body that came with the head.
    rest = b""
    #: The body, once it is read.
    body = b""
    #: Did it come over TLS?
    is_secure = False
    #: The cookie and the token of its session, and is it one that is paired?
    halves = ("", "")
    is_paired = False
    #: Is it that of a guest, who looks only?
    is_guest = False

    def __init__(self, method: str, path: str, query: str, headers: dict[str, str]) -> None:
        #: As it came, in capital letters with a browser.
        self.method = method
        #: It begins with a slash; its escapes stay.
        self.path = path
        #: Behind the question mark, with its escapes, "" without one; see `asked`.
        self.query = query
        self.headers = headers

    def cookie(self, name: str) -> str:
        """Return the value of a cookie, "" without it."""
        for part in self.headers.get("cookie", "").split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                return value
        return ""

    def find_session(self, access: "Sessions") -> None:
        """Set `halves`, `is_paired` and `is_guest`."""
        self.halves = self.cookie(COOKIE), self.headers.get(_TOKEN_HEADER, "")
        self.is_paired = access.allows(*self.halves)
        self.is_guest = self.halves[0].startswith(GUEST)

    def asked(self, name: str) -> list[str]:
        """Return every value of a name in the query."""
        found = []
        for part in self.query.split("&"):
            key, _, value = part.partition("=")
            if key == name:
                found.append(_decoded(value))
        return found

    def object(self) -> "dict[str, Any]":
        """Return the body, a JSON object."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(400, "the body must be JSON, with Content-Type: application/json")
        try:
            found = json_strict.loads(self.body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Refused(400, "the body must be a JSON object")
        return found

    def text(self, name: str, limit: int) -> str:
        """Return a text of the body's object, of at most `limit` characters."""
        return text_of(self.object(), name, limit)


def text_of(found: "dict[str, Any]", name: str, limit: int) -> str:
    """Return a text of an object, of at most `limit` characters."""
    value = found.get(name)
    if not isinstance(value, str) or len(value) > limit:
        raise Refused(400, "%s must be a text of at most %d characters" % (name, limit))
    if visible(value, _KEPT) != value:
        raise Refused(400, "%s has a control character in it" % name)
    return value


async def read_head(connection: "Reader", limit: int = _MAX_HEAD) -> "Request | None":
    """Read the head of a request, of at most `limit` bytes; None when the other side left before
    it sent any of it."""
    data = b""
    while True:
        block = await connection.read(_BLOCK)
        if not block:
            if data:
                raise Refused(400, "the request ends in the middle of its head")
            return None
        # The end may have come in two blocks.
        start = max(len(data) - 3, 0)
        data += block
        end = data.find(b"\r\n\r\n", start)
        if end > limit or end < 0 and len(data) > limit:
            raise Refused(431, "the head of the request is longer than %d KB" % (limit // 1024))
        if end >= 0:
            request = parse_head(data[:end])
            request.rest = data[end + 4 :]
            return request


def parse_head(data: bytes) -> Request:
    """Return the request of a head without its last, empty line."""
    lines = data.split(b"\r\n")
    words = lines.pop(0).split(b" ")
    if len(words) != 3 or words[2] not in (b"HTTP/1.1", b"HTTP/1.0") or not _is_token(words[0]):
        raise Refused(400, "the first line is no request of HTTP/1.1")
    if len(lines) > _MAX_LINES:
        raise Refused(431, "the request has more than %d headers" % _MAX_LINES)
    target = words[1]
    if target[:1] != b"/" or min(target) < 0x21 or max(target) > 0x7E:
        raise Refused(400, "the address of the request is no path")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        # No line break of another kind, no folded line, no blank before the colon.
        if not colon or not _is_token(name) or not _is_plain(value):
            raise Refused(400, "a header of the request is wrong")
        key = str(name, "utf-8").lower()
        if key in headers:
            raise Refused(400, "the header %s comes twice" % key)
        headers[key] = str(value, "utf-8").strip(" \t")
    path, _, query = str(target, "utf-8").partition("?")
    return Request(str(words[0], "utf-8"), path, query, headers)


def body_size(request: Request, limit: int = MAX_BODY) -> int:
    """Return the length of the body that follows the head, at most `limit`."""
    if "transfer-encoding" in request.headers:
        raise Refused(411, "send the body with a Content-Length")
    text = request.headers.get("content-length", "0")
    # isdigit() of a str also takes other letters for digits.
    if not text.encode().isdigit():
        raise Refused(400, "the Content-Length is no number")
    if len(text) > 9 or int(text) > limit:
        raise Refused(413, "the body is longer than %d KB" % (limit // 1024))
    return int(text)


async def read_body(connection: "Reader", request: Request, size: int) -> None:
    """Read the body of this length into the request."""
    parts = [request.rest[:size]]
    request.rest = b""
    missing = size - len(parts[0])
    while missing:
        block = await connection.read(min(missing, _BLOCK))
        if not block:
            raise Refused(400, "the request ends in the middle of its body")
        parts.append(block)
        missing -= len(block)
    request.body = b"".join(parts)


def _is_token(data):
    return bool(data) and not data.strip(_TOKEN)


def _is_plain(data):
    """Is it text in ASCII without control characters but tabs?"""
    return not data or (max(data) < 0x7F and min(data.replace(b"\t", b" ") or b" ") >= 0x20)


def _decoded(text):
    """Return a value of a query with its escapes resolved; Refused for a wrong one."""
    parts = text.replace("+", " ").encode().split(b"%")
    data = parts.pop(0)
    try:
        for part in parts:
            if len(part) < 2:
                raise ValueError
            data += unhexlify(part[:2]) + part[2:]
        return data.decode()
    except ValueError:  # also UnicodeError
        raise Refused(400, "an escape in the query is wrong")


def check(request: "Request", is_secure: bool, names: "list[str]") -> None:
    """
    Raise Refused for a request that no page of ours and no script of the owner would send. `names`
    are those of this board, besides its addresses.

    A page whose name was rebound to this board has that name as Host: an address cannot be
    rebound. A request that another page sends has its Origin.
    """
    host = request.headers.get("host", "").lower()
    name = _without_port(host)
    if not (_is_address(name) or name == "localhost" or name in names):
        raise Refused(
            421, "this server answers to its address, to localhost and to the names of web.hosts"
        )
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() != ("https://" if is_secure else "http://") + host:
        raise Refused(403, _FOREIGN)
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Refused(403, _FOREIGN)


def _without_port(host):
    name, colon, port = host.rpartition(":")
    return name if colon and port.encode().isdigit() else host


def _is_address(name):
    """Is it an IP address?"""
    if name[:1] == "[":
        return name[-1:] == "]" and not name[1:-1].strip("0123456789abcdef:.") and ":" in name
    parts = name.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if not part.encode().isdigit() or len(part) > 3 or int(part) > 255:
            return False
    return True

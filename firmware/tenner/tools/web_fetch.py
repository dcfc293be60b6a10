# tenner tools.web_fetch: fetches a web page and returns the requested part of its text.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The tool refuses private addresses unless `web.allow` lists them, at each connection and for each
redirect. It follows a redirect only if the owner's rule for this tool covers it; else the model
may request the new address.
"""

from tenner import overlay
from tenner.net.json.writer import cut, decode
from tenner.net.url import parse_url
from tenner.net.web import get, guard
from tenner.net.web.charset import Charset
from tenner.net.web.html import Html
from tenner.port.compat import const
from tenner.tools.errors import ToolError
from tenner.tools.patterns import matches
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.net.http import Http
    from tenner.tools.types import ToolContext


_MOST = const(20000)  # bytes of text in one answer
_MOST_BRIEF = const(1500)
_REDIRECTS = const(5)
_KEPT = const("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  # kept unescaped in an address

NEEDS = "web.search|tools.web_fetch"
LIMITS = {"url": (1, 2000), "offset": (0, None)}
RESULT_CAP = _MOST + 6000
OUTSIDE = True

_HEADERS = (
    ("Accept", "text/html,text/*,application/json,*/*;q=0.1"),
    ("Accept-Encoding", "identity"),
)

_TEXTS = const(" json xml javascript x-javascript yaml x-yaml x-ndjson ")
_URL = const(300)  # characters of an address to show
_PIECE = const(200)  # bytes of text per list entry: a used heap has free blocks of this size


def subjects(args: dict) -> "Sequence[str]":
    return (args["url"],)


def covers(rule: str, args: dict) -> bool:
    return guard.covers(rule, args["url"], matches)


def check(args: dict, ctx: "ToolContext") -> None:
    # A model may write letters unescaped: https://example.com/Köln
    args["url"] = _allowed(args["url"].strip(), ctx.config)


async def run(args: dict, ctx: "ToolContext") -> str:
    http = ctx.http()
    http.resolve = lambda host, port: guard.resolve(host, port, ctx.config.get("web.allow"))
    url = args["url"]
    page = Page(args, ctx, _MOST_BRIEF if ctx.brief else _MOST)
    try:
        for _ in range(1 + _REDIRECTS):
            page.url = url
            target = await get.ask(http, url, _HEADERS, page.take)
            if target is None:
                break
            url = _moved(url, target, ctx.config)
        else:
            raise ToolError("%s redirects again and again" % shown(args["url"]))
    finally:
        await http.close()
    # Joined only once: it is the largest block of memory.
    return "".join(page.texts())


def _allowed(url, config):
    """Return the address to request; raise ToolError or OSError for one that is not allowed."""
    try:
        url = guard.straight(get.quote(url, _KEPT))
    except ValueError as error:
        raise ToolError(str(error))
    guard.check(url, config.get("web.allow"))
    return url


def _moved(url, target, config):
    """Return the address of a redirect."""
    target = _allowed(get.join(url, target), config)
    if not _follows(config.get("tools.web_fetch"), url, target):
        raise ToolError("it moved to %s: fetch that instead" % shown(target))
    return target


def _follows(rule, url, target):
    """Return whether the owner's rule, or the approval, covers a redirect."""
    old = parse_url(url)[0]
    new = parse_url(target)[0]
    if isinstance(rule, list):
        return any(guard.covers(entry, target, matches) for entry in rule)
    # Never from https to http.
    return (new == old or rule != "ask") and (new[0] or not old[0])


def shown(url: str) -> str:
    """Return an address for the head of an answer; it must not forge the end of the head."""
    return url.replace("]", "%5D")[:_URL]


class Page:
    """The page at `url`; keeps at most `most` bytes of its text. `args` and `ctx` are those of the
    tool."""

    def __init__(self, args: dict, ctx: "ToolContext", most: int) -> None:
        self.url = ""
        self._offset = self._skip = args.get("offset", 0)
        self._most = most
        self._pieces = []
        self._last = b""
        self._used = 0
        self._cut = False  # is there more text than fits?
        self._spool = ctx.port.path("state/web.tmp")
        self._html: Html | None = None
        self._charset: Charset | None = None
        self._note = ""
        self._links = [] if args.get("links") else None
        self._count = 0
        self._room = self._most // 4  # for addresses

    async def take(self, http: "Http") -> str | None:
        """Read a response; return the target of a redirect, or None."""
        if http.status in (301, 302, 303, 307, 308) and http.header("location"):
            return http.header("location")
        if http.status >= 300:
            raise ToolError("%s answered with status %d" % (shown(self.url), http.status))
        # The code that has read the page makes room for its text.
        await overlay.once("TOOL_READ", _read, self, http)
        return None

    def _reader(self, kind):
        """Return a function that takes pieces of a body of this type, and returns True for
        "enough"."""
        kind, _, charset = kind.lower().replace(" ", "").partition("charset=")
        charset = charset.split(";")[0]
        kind = kind.split(";")[0]
        if kind in ("text/html", "application/xhtml+xml"):
            self._html = Html(self._add, charset, None if self._links is None else self._link)
        elif (
            kind
            and kind[:5] != "text/"
            and " %s " % kind.replace("+", "/").split("/")[-1] not in _TEXTS
        ):
            raise ToolError("%s is %s, not text" % (shown(self.url), kind[:60]))
        else:
            self._charset = Charset(charset)

        def feed(data):
            if self._html:
                self._html.feed(data)
            elif b"\0" in data:
                raise ToolError("%s is not text" % shown(self.url))
            else:
                self._add(self._charset.utf8(data))
            return self._cut

        return feed

    def _add(self, data):
        size = len(data)
        if self._skip >= size:
            self._skip -= size
            return
        count = min(size - self._skip, self._most - self._used)
        self._last += data[self._skip : self._skip + count]
        if len(self._last) > _PIECE:
            self._pieces.append(self._last)
            self._last = b""
        self._used += count
        self._cut = self._cut or size - self._skip > count
        self._skip = 0

    def _end(self):
        if self._html and not self._cut:
            self._html.end()
        charset = self._html.charset if self._html else self._charset
        self._note = charset.note if charset else ""
        self._html = self._charset = None
        self._pieces.append(self._last)

    def _link(self, href):
        self._count += 1
        if self._used and not self._cut and self._room > 0:
            base = get.join(self.url, decode(self._html.base))
            href = "[%d] %s" % (self._count, get.join(base, decode(href))[:_URL])
            self._room -= len(href)
            self._links.append(href)
        return self._count

    def texts(self) -> list[str]:
        """Return the answer in parts, after the page is read."""
        if self._skip or (self._offset and not self._used):
            raise ToolError("offset %d is past the end of the text" % self._offset)
        texts = self._pieces
        tail = b""
        for at, piece in enumerate(texts):
            piece = tail + piece
            size = len(piece) - cut(piece, len(piece))
            tail = piece[size:]
            texts[at] = decode(piece[:size])
        used = self._used - len(tail)
        if not self._cut:
            texts.append(decode(tail))
        part = shown(self.url)
        end = self._offset + used
        if self._offset or self._cut:
            part += ", bytes %d to %d" % (self._offset, end)
            if self._cut:
                part += "; read on with offset %d" % end
        if self._note:
            part += "; " + self._note
        texts[0] = texts[0].lstrip("\ufeff")
        if not any(texts):
            texts.append("(no text)")
        if self._links:
            texts.append("\n\n" + "\n".join(self._links))
        return [mark_untrusted(part, "")] + texts


async def _read(page, http):
    kind = http.header("content-type") or ""
    await get.read(http, page._spool, page._reader(kind))
    page._end()

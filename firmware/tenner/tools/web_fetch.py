# tenner tools.web_fetch: the text of a page of the web, read as it comes in.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Private addresses are refused unless `web.allow` lists them, at each connection and for each redirect. A redirect
is followed only as far as the owner's rule for this tool goes; the model may then ask for the new address.
"""

from tenner.net import web_get
from tenner.net.http import parse_url
from tenner.net.jsonout import cut, decode
from tenner.port.compat import const
from tenner.tools import ToolError, as_data

_MOST = const(20000)  # bytes of text in one answer
_MOST_SMALL = const(1500)
_REDIRECTS = const(5)
_TEXTS = const(" json xml javascript x-javascript yaml x-yaml x-ndjson ")
_URL = const(300)  # characters of an address that are shown
_PIECE = const(400)  # bytes of text from which on they are put aside: heap has holes of this size
_KEPT = const("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  # as they stand in one

LIMITS = {"url": (1, 2000), "offset": (0, None)}
RESULT_CAP = _MOST + 6000
OUTSIDE = True

_HEADERS = (
    ("Accept", "text/html,text/*,application/json,*/*;q=0.1"),
    ("Accept-Encoding", "identity"),
)


def check(args, ctx):
    url = args["url"].strip()
    # What a model writes as it is read: https://example.com/Köln
    args["url"] = web_get.quote(url, _KEPT)
    _guard().check(args["url"], ctx.config.get("web.allow"))


async def run(args, ctx):
    allow = ctx.config.get("web.allow")
    http = ctx.agent.app.http()
    http.resolve = lambda host, port: _guard().resolve(host, port, allow)
    url = args["url"]
    page = _Page(args, ctx)
    try:
        for _ in range(1 + _REDIRECTS):
            page.url = url
            target = await web_get.ask(http, url, _HEADERS, page.take)
            if target is None:
                break
            target = web_get.quote(web_get.join(url, target), _KEPT)
            _guard().check(target, allow)
            if not _follows(ctx.config.get("tools.web_fetch"), url, target):
                raise ToolError("it moved to %s: fetch that instead" % _shown(target))
            url = target
        else:
            raise ToolError("%s redirects again and again" % _shown(args["url"]))
    finally:
        await http.close()
    note = page.close()
    if ctx.port.small:
        # What was needed to read the page makes room for its text.
        ctx.agent.app.shed("tenner.net.web_")
        await ctx.agent.app.collect()
    return page.answer(note)


def _guard():
    # Not at the top: it is not needed any more when a page is read, which takes all the room there is.
    from tenner.net import web_guard

    return web_guard


def _follows(rule, url, target):
    """May a redirect be followed without asking for more than was asked for?"""
    old = parse_url(url)[0]
    new = parse_url(target)[0]
    if isinstance(rule, list):
        from tenner.tools.paths import matches

        return any(matches(entry, target) for entry in rule)
    # Never from a verified connection to one that anybody can read.
    return (new == old or rule != "ask") and (new[0] or not old[0])


def _shown(url):
    """An address for the head of an answer, whose end it must not forge."""
    return url.replace("]", "%5D")[:_URL]


class _Page:
    """Takes a response and keeps the part of its text that was asked for."""

    def __init__(self, args, ctx):
        small = ctx.port.small
        self.url = ""
        self._offset = self._skip = args.get("offset", 0)
        self._most = _MOST_SMALL if small else _MOST
        self._texts = []
        self._tail = b""
        self._used = 0
        self._cut = False  # is there more text than fits?
        self._spool = ctx.port.path("state/web.tmp")
        self._charset = None
        self._links = [] if args.get("links") else None
        self._count = 0
        self._room = self._most // 4  # for addresses
        self._shed = small and ctx.agent.app.shed

    async def take(self, http):
        """Read a response; return where it redirects to, or None."""
        if http.status in (301, 302, 303, 307, 308) and http.header("location"):
            return http.header("location")
        if http.status >= 300:
            raise ToolError("%s answered with status %d" % (_shown(self.url), http.status))
        feed = self._reader(http.header("content-type") or "")
        await web_get.read(http, self._spool, feed)
        if self._page and not self._cut:
            self._page.end()
        return None

    def _reader(self, kind):
        """Return a function that takes pieces of a body of this type, and returns True for "enough"."""
        kind, _, charset = kind.lower().replace(" ", "").partition("charset=")
        charset = charset.split(";")[0]
        kind = kind.split(";")[0]
        self._page = None
        if self._shed:
            self._shed("tenner.net.web_guard")
        if kind in ("text/html", "application/xhtml+xml"):
            from tenner.net.web_html import Html

            self._page = Html(self._add, charset, None if self._links is None else self._link)
        elif (
            kind
            and kind[:5] != "text/"
            and " %s " % kind.replace("+", "/").split("/")[-1] not in _TEXTS
        ):
            raise ToolError("%s is %s, not text" % (_shown(self.url), kind[:60]))
        else:
            from tenner.net.web_chars import Charset

            self._charset = Charset(charset)

        def feed(data):
            if self._page:
                self._page.feed(data)
            elif b"\0" in data:
                raise ToolError("%s is not text" % _shown(self.url))
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
        self._tail += data[self._skip : self._skip + count]
        if len(self._tail) > _PIECE:
            self._put()
        self._used += count
        self._cut = self._cut or size - self._skip > count
        self._skip = 0

    def _put(self):
        size = len(self._tail)
        size -= cut(self._tail, size)
        self._texts.append(decode(self._tail[:size]))
        self._tail = self._tail[size:]

    def _link(self, href):
        self._count += 1
        if self._used and not self._cut and self._room > 0:
            base = web_get.join(self.url, decode(self._page.base))
            href = "[%d] %s" % (self._count, web_get.join(base, decode(href))[:_URL])
            self._room -= len(href)
            self._links.append(href)
        return self._count

    def close(self):
        """The page is read: return what to say of its letters."""
        charset = self._page.charset if self._page else self._charset
        self._page = self._charset = None
        return charset.note if charset else ""

    def answer(self, note):
        if self._skip or (self._offset and not self._used):
            raise ToolError("offset %d is past the end of the text" % self._offset)
        if self._tail:
            self._put()
        if not self._cut:
            self._texts.append(decode(self._tail))
            self._tail = b""
        used = self._used - len(self._tail)
        part = _shown(self.url)
        end = self._offset + used
        if self._offset or self._cut:
            part += ", bytes %d to %d" % (self._offset, end)
            if self._cut:
                part += "; read on with offset %d" % end
        if note:
            part += "; " + note
        texts = self._texts
        if texts:
            texts[0] = texts[0].lstrip("\ufeff")
        if not any(texts):
            texts.append("(no text)")
        if self._links:
            texts.append("\n\n" + "\n".join(self._links))
        # Put together only once: it is the largest piece of memory there is.
        return "".join([as_data(part, "")] + texts)

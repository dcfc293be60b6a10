# tenner tools.web_fetch: the text of a page of the web, read as it comes in.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Private addresses are refused unless `web.allow` lists them, at each connection and for each redirect. A redirect
is followed only as far as the owner's rule for this tool goes; the model may then ask for the new address.
"""

from tenner.net import web_get
from tenner.net.http import parse_url
from tenner.port.compat import const
from tenner.tools import ToolError

_MOST = const(20000)  # bytes of text in one answer
_MOST_SMALL = const(1500)
_REDIRECTS = const(5)
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
    texts = await _read(args, ctx)
    if ctx.port.small:
        # What was needed to read the page makes room for its text.
        for name in ("tools.web_page", "net.web_"):
            ctx.agent.app.shed("tenner." + name)
        await ctx.agent.app.collect()
    # Put together only once: it is the largest piece of memory there is.
    return "".join(texts)


async def _read(args, ctx):
    """Return the text of the page in parts."""
    from tenner.tools.web_page import Page, shown

    allow = ctx.config.get("web.allow")
    http = ctx.agent.app.http()
    http.resolve = lambda host, port: _guard().resolve(host, port, allow)
    url = args["url"]
    page = Page(args, ctx, _MOST_SMALL if ctx.port.small else _MOST)
    try:
        for _ in range(1 + _REDIRECTS):
            page.url = url
            target = await web_get.ask(http, url, _HEADERS, page.take)
            if target is None:
                return page.texts()
            target = web_get.quote(web_get.join(url, target), _KEPT)
            _guard().check(target, allow)
            if not _follows(ctx.config.get("tools.web_fetch"), url, target):
                raise ToolError("it moved to %s: fetch that instead" % shown(target))
            url = target
        raise ToolError("%s redirects again and again" % shown(args["url"]))
    finally:
        await http.close()


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

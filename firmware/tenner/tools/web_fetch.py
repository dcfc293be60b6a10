# tenner tools.web_fetch: fetches a web page and returns its text.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The tool refuses private addresses unless `web.allow` lists them, at each connection and for each
redirect. It follows a redirect only if the owner's rule for this tool covers it; else the model
may request the new address.
"""

from tenner.net.url import parse_url
from tenner.net.web import get, guard, rules
from tenner.port.compat import const
from tenner.tools.errors import ToolError
from tenner.tools.patterns import matches
from tenner.tools.web_page import Page, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def subjects(args: dict) -> "Sequence[str]":
    return (args["url"],)


def covers(rule: str, args: dict) -> bool:
    return rules.covers(rule, args["url"], matches)


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
        url = rules.straight(get.quote(url, _KEPT))
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
        return any(rules.covers(entry, target, matches) for entry in rule)
    # Never from https to http.
    return (new == old or rule != "ask") and (new[0] or not old[0])

# tenner tools.web_search: searches the web with the service of the owner's choice.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.json.scanner import Scanner
from tenner.net.json.writer import quote
from tenner.net.web import get as web_get
from tenner.net.web.charset import unescape
from tenner.port.compat import const
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

_MOST = const(8)
_MOST_BRIEF = const(5)
_WORDS = const(50)  # Brave rejects more

NEEDS = "web.search"
LIMITS = {"query": (1, 300)}
RESULT_CAP = 8000
OUTSIDE = True

_URLS = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
# The fields of a result, and their maximum of characters.
_FIELDS = (("title", 150), ("url", 300), ("content", 400))


def check(args: dict, ctx: "ToolContext") -> None:
    args["query"] = " ".join(args["query"].split()[:_WORDS])
    if not args["query"]:
        raise ToolError("web_search: query is empty")
    service = ctx.config.get("web.search")
    key = "web.search_url" if service == "searxng" else "web.search_key"
    if not ctx.config.get(key):
        raise ToolError("web_search: %s needs %s in config.json: tell the owner" % (service, key))


async def run(args: dict, ctx: "ToolContext") -> str:
    service = ctx.config.get("web.search")
    most = _MOST_BRIEF if ctx.brief else _MOST
    results = _Results(service, most)
    path = ctx.port.path("state/web.tmp")

    async def consume(http):
        if http.status != 200:
            raise ToolError(await _refusal(service, http))
        await web_get.read(http, path, results.feed)
        results.feed(None)

    http = ctx.http()
    try:
        await web_get.ask(http, *_request(service, args["query"], most, ctx.config.get, consume))
    finally:
        await http.close()
    if not results.found:
        return "%s found nothing for: %s" % (service, args["query"])
    return mark_untrusted("results of " + service, results.text())


def _request(service, query, most, get, consume):
    """Return the arguments of web_get.ask after the client."""
    url = get("web.search_url") or _URLS.get(service)
    key = get("web.search_key")
    accept = ("Accept", "application/json")
    plain = ("Accept-Encoding", "identity")
    if service == "tavily":
        body = b'{"query":%s,"max_results":%d}' % (quote(query), most)
        bearer = ("Authorization", "Bearer " + key)
        kind = ("Content-Type", "application/json")
        return url, (accept, plain, kind, bearer), consume, "POST", body
    query = "q=" + web_get.quote(query)
    if service == "brave":
        url += "?%s&count=%d&text_decorations=false" % (query, most)
        return url, (accept, plain, ("X-Subscription-Token", key)), consume
    url = url.rstrip("/")
    if not url.endswith("/search"):
        url += "/search"
    return url + "?format=json&" + query, (accept, plain), consume


async def _refusal(service, http):
    status = http.status
    if status == 403 and service == "searxng":
        hint = "its settings.yml must list json in search.formats"
    elif status in (401, 403, 422):
        hint = "check web.search_key in config.json"
    elif status in (402, 429, 432, 433):
        hint = "no more searches for now"
    elif status in (301, 302, 307, 308, 404):
        hint = "check web.search_url in config.json"
    else:
        hint = mark_untrusted(service, " ".join((await http.read_text(200)).split()))
    return "%s answered with status %d: %s" % (service, status, hint)


class _Results:
    """Parses the pieces of a reply and keeps the first results."""

    def __init__(self, service, most):
        self.found = []
        self._scanner = Scanner(self._sink)
        self._prefix = ["web", "results"] if service == "brave" else ["results"]
        self._most = most
        self._enough = False

    def feed(self, data):
        """Parse a piece, or None for the end; return True when no more is needed."""
        try:
            if data is not None:
                self._scanner.feed(data)
            elif not self._enough:
                self._scanner.end()
        except ValueError as error:
            raise OSError("the search service sent no proper JSON: %s" % error)
        return self._enough

    def _sink(self, path, value, more):
        size = len(self._prefix)
        if len(path) != size + 2 or path[:size] != self._prefix or not isinstance(value, str):
            return
        number, name = path[size:]
        if name == "description":  # as Brave calls it
            name = "content"
        if number >= self._most:
            self._enough = True
            return
        while len(self.found) <= number:
            self.found.append({})
        for field, most in _FIELDS:
            if field == name:
                result = self.found[number]
                result[name] = (result.get(name, "") + value)[:most]

    def text(self):
        parts = []
        for number, result in enumerate(self.found):
            lines = []
            for field, _ in _FIELDS:
                text = result.get(field, "")
                if "&" in text and field != "url":
                    text = unescape(text.encode()).decode()
                lines.append(" ".join(text.split()))
            parts.append("%d. %s" % (number + 1, "\n".join([line for line in lines if line])))
        return "\n\n".join(parts)

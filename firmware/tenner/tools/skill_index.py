# tenner tools.skill_index: reads the index of available skills; docs/skills.md has the format.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.json.scanner import Scanner
from tenner.net.web import get as web_get
from tenner.port.compat import const
from tenner.tools.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from tenner.net.http import Http
    from tenner.tools.types import ToolContext

_MAX_INDEX = const(65536)
_MAX_TEXT = const(200)
_MAX_FILES = const(6)
_GITHUB = const("github:")


def address(place: str) -> str:
    """Return the URL of a folder, without a final slash; `place` is a URL or
    github:owner/repo/folder@ref."""
    if not place.startswith(_GITHUB):
        return place.rstrip("/")
    path, _, ref = place[len(_GITHUB) :].strip("/").partition("@")
    parts = path.split("/")
    for part in parts + [ref or "HEAD"]:
        if part in ("", ".", "..") or not is_plain(part, "-_."):
            parts = ()
    if len(parts) < 2:
        raise ToolError('"%s" is no github:owner/repo/folder' % place[:80])
    parts.insert(2, ref or "HEAD")
    return "https://raw.githubusercontent.com/" + "/".join(parts)


def is_plain(text: str, more: str = "-") -> bool:
    """Return whether `text` has only ASCII letters, digits and `more`."""
    return all(c < "\x7f" and (c.isalpha() or c.isdigit() or c in more) for c in text)


async def entries(
    ctx: "ToolContext", http: "Http", take: "Callable[[str, str, list[str]], None]"
) -> None:
    """Call `take(name, description, files)` for each skill of the owner's index."""
    entry = {}
    index = -1

    def give():
        if entry.get("name"):
            take(entry["name"], entry.get("description", ""), entry["files"])

    def sink(path, value, more):
        nonlocal index
        if len(path) < 3 or path[0] != "skills":
            return
        if path[1] != index:
            give()
            entry.clear()
            entry["files"] = []
            index = path[1]
        if path[2] == "files" and len(path) == 4:
            if len(entry["files"]) < _MAX_FILES:
                entry["files"].append(str(value))
        elif path[2] in ("name", "description"):
            entry[path[2]] = (entry.get(path[2], "") + str(value))[:_MAX_TEXT]

    scanner = Scanner(sink)
    total = 0

    def feed(data):
        nonlocal total
        total += len(data)
        if total > _MAX_INDEX:
            raise ToolError("the index of skills is over %d bytes" % _MAX_INDEX)
        scanner.feed(data)

    async def consume(response):
        await web_get.read(response, ctx.port.path("state/web.tmp"), feed)
        scanner.end()
        give()

    await get(http, address(ctx.config.get("skills.index")) + "/index.json", consume)


async def text(http: "Http", url: str, limit: int) -> str:
    """Return a file of at most `limit` bytes as text."""

    async def consume(response):
        body = await response.read_text(limit + 1)
        if len(body.encode()) > limit:
            raise ToolError("%s is over %d bytes" % (url, limit))
        return body

    return await get(http, url, consume)


async def get(http: "Http", url: str, consume: "Callable[[Http], Awaitable]") -> "Any":
    async def checked(response):
        if response.status != 200:
            raise ToolError("%s answered %d" % (url, response.status))
        return await consume(response)

    return await web_get.ask(http, url, (), checked)

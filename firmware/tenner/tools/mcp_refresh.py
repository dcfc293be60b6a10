# tenner tools.mcp_refresh: asks MCP servers for their tools, stores the lists and reads them.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import os
from binascii import crc32

from tenner import overlay
from tenner.log import log
from tenner.mcp.listing import fetch, plain
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools import mcp_call
from tenner.tools.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenner.port import Port
    from tenner.tools.mcp_call import Tool
    from tenner.tools.types import ToolContext, Web

_MAX_SERVER = const(20)
_MAX_REASON = const(200)

_EVERY_S = const(24 * 3600)
#: Seconds until a retry of a server that did not answer. The first is 0: the server may have just
#: started.
_RETRY_S = (0, 30, 60, 120, 300, 600)


async def refresh(app: "Web", port: "Port", servers: dict) -> None:
    """Ask the servers whose list of tools is missing or a day old; only log failures."""
    place = folder(port)
    now = app.clock.known() or 0
    asked = due(port, servers, now)
    if asked:
        files.make_dirs(place)
    for server in asked:
        if plain(server) != server or "-" in server or len(server) > _MAX_SERVER:
            log(
                "mcp",
                "mcp.%s is left out: a name has at most %d letters, digits and _"
                % (server, _MAX_SERVER),
            )
            continue
        known, _, failures, reason = stamp(port, server)
        same = known == tag(servers, server)
        if not same:
            # It may be another server, which does not know the session.
            files.remove("%s/%s.session" % (place, server))
        http = app.http()
        try:
            wanted = _matcher(servers[server].get("tools", ("*",)))
            # The code that reads the list makes room for the rest.
            found = await overlay.once("LIST", fetch, server, http, servers, place, wanted)
            log("mcp", "%s: %d tools" % (server, len(found)))
            failures, reason = 0, ""
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            reason = str(error)[:_MAX_REASON] or type(error).__name__
            log("mcp", "%s: %s" % (server, reason))
            # The old list stays, and the retry waits, so that turns do not.
            found = list(lines(port, server)) if same else []
            failures = failures + 1 if same else 1
        finally:
            await http.close()
        stamped = (tag(servers, server), now, failures, reason)
        files.write_atomic(
            "%s/%s.tools" % (place, server),
            [dumps(line) + "\n" for line in [stamped] + found],
        )
        kept = [line[0] for line in found]
        for entry in os.listdir(place):
            name = entry.partition(".")[0]
            if name.startswith(server + "-") and name not in kept:
                files.remove(place + "/" + entry)


def _matcher(patterns):
    """Return a function that returns whether the owner wants the tool of a name."""
    if "*" in patterns:
        return lambda name: True
    return lambda name: any(matches(pattern, name) for pattern in patterns)


# /state/mcp has, for each server of the settings, the results of `mcp.listing`:
#
#     home-get_weather.json     the schema file of a tool, as the model sees it.
#     home.tools                a line ["a tag of the settings", Unix time, number of failures
#                               in a row, reason]. Then one for each tool: its name here, its
#                               name there, whether it only reads, and {header: path} of
#                               arguments that also go into headers.
#     home.session              the server's protocol version, and its session if there is one.
#
# The APIs of models accept letters, digits, `_` and `-` in a name. A `-` after the server's name
# distinguishes its tools from those of other servers, and from the built-in ones, whose names have
# none.
def folder(port: "Port") -> str:
    """Return the folder of the lists."""
    return port.path("state/mcp")


def tag(servers: dict, server: str) -> str:
    """Return a tag that changes with the settings of a server."""
    settings = servers[server]
    # The form of the stored schemas is part of it.
    text = "plain %s %s" % (settings.get("url"), settings.get("tools"))
    return "%08x" % (crc32(text.encode()) & 0xFFFFFFFF)


def stamp(port: "Port", server: str) -> "Sequence":
    """Return (tag, time, failures, reason) of the stored list of a server's tools."""
    for line in _lines(port, server, True):
        return (line + [0, ""])[:4]
    return None, 0, 0, ""


def due(port: "Port", servers: dict, now: int) -> list[str]:
    """Return the servers whose list of tools is missing, or due for a refresh at Unix time
    `now`."""
    found = []
    for server in sorted(servers):
        known, at, failures, _ = stamp(port, server)
        every_s = _RETRY_S[min(failures, len(_RETRY_S)) - 1] if failures else _EVERY_S
        if known != tag(servers, server) or now - at >= every_s:
            found.append(server)
    return found


def missing(port: "Port", servers: dict) -> "Iterator[str]":
    """Yield a sentence for each server that did not answer and has no stored tools."""
    for server in sorted(servers):
        known, _, failures, reason = stamp(port, server)
        if failures and known == tag(servers, server) and not any(lines(port, server)):
            yield "The MCP server %s does not answer (%s): its tools are missing now." % (
                server,
                reason,
            )


def lines(port: "Port", server: str) -> "Iterator[list]":
    """Yield the line of each tool of a server."""
    return _lines(port, server, False)


def _lines(port, server, first):
    path = "%s/%s.tools" % (folder(port), server)
    if files.exists(path):
        with open(path, "rb") as file:
            for number, line in enumerate(files.lines(file)):
                if first == (number == 0):
                    yield json.loads(line)


def tools(port: "Port", servers: dict) -> "Iterator[tuple[str, tuple[str, int, int]]]":
    """Yield (name, place of the schema) of all tools of the servers."""
    for server in servers:
        for line in lines(port, server):
            path = "%s/%s.json" % (folder(port), line[0])
            yield line[0], (path, 0, files.size(path))


def load(ctx: "ToolContext", name: str) -> "Tool":
    """Return the mcp_call.Tool of a tool, which has a module's interface."""
    line = [line for line in lines(ctx.port, name.split("-")[0]) if line[0] == name][0]
    return mcp_call.Tool(line, ctx.config.section("mcp"), folder(ctx.port))

# tenner tools.mcp_tools: reads the stored lists of the tools of MCP servers.
# MIT license; Copyright (c) 2026 the tenner authors
"""
/state/mcp has, for each server of the settings, the results of `mcp.listing`:

    home-get_weather.json     the schema file of a tool, as the model sees it.
    home.tools                a line ["a tag of the settings", Unix time, number of failures in a
                              row, reason]. Then one for each tool: its name here, its name there,
                              whether it only reads, and {header: path} of arguments that also go
                              into headers.
    home.session              the server's protocol version, and its session if there is one.

The APIs of models accept letters, digits, `_` and `-` in a name. A `-` after the server's name
distinguishes its tools from those of other servers, and from the built-in ones, whose names have
none.
"""

import json
from binascii import crc32

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import mcp_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenner.port import Port
    from tenner.tools.mcp_call import Tool
    from tenner.tools.types import ToolContext

_EVERY_S = const(24 * 3600)
#: Seconds until a retry of a server that did not answer. The first is 0: the server may have just
#: started.
_RETRY_S = (0, 30, 60, 120, 300, 600)


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

# tenner tools.mcp_tools: what is known of the tools of MCP servers.
# MIT license; Copyright (c) 2026 the tenner authors
"""
In /state/mcp are, for each server of the settings, what `mcp.listing` found there:

    home-get_weather.json     the schema file of a tool, as the model is shown it
    home.tools                a line ["a tag of the settings", Unix time, how many times in a row it did not
                              answer, why], then one for each tool: its name here, its name there, whether it
                              only reads, and {header: path} of arguments that are sent as headers too
    home.session              the protocol version it speaks, and its session if there is one

The APIs of models take letters, digits, `_` and `-` in a name. A `-` after the server's name keeps its tools
apart from those of others, and from the built-in ones, whose names have none.
"""

import json
from binascii import crc32

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import mcp_call

_EVERY_S = const(24 * 3600)
#: How long a server that did not answer is left alone. At first not at all: it may have been switched on meanwhile.
_RETRY_S = (0, 30, 60, 120, 300, 600)


def folder(holder):
    """Return where it is kept, by the `port` of a registry or a tool's context."""
    return holder.port.path("state/mcp")


def tag(registry, server):
    """Return what changes when the settings of a server do."""
    settings = registry.servers[server]
    text = "%s %s" % (settings.get("url"), settings.get("tools"))
    return "%08x" % (crc32(text.encode()) & 0xFFFFFFFF)


def stamp(registry, server):
    """Return (tag, time, failures, reason) of what is known of a server's tools."""
    for line in _lines(registry, server, True):
        return (line + [0, ""])[:4]
    return None, 0, 0, ""


def due(registry, now):
    """Return the servers that are to be asked for their tools at Unix time `now`: not known, or a day old."""
    found = []
    for server in sorted(registry.servers):
        known, at, failures, _ = stamp(registry, server)
        every_s = _RETRY_S[min(failures, len(_RETRY_S)) - 1] if failures else _EVERY_S
        if known != tag(registry, server) or now - at >= every_s:
            found.append(server)
    return found


def missing(registry):
    """Yield a sentence for each server that did not answer, and of which no tools are known."""
    for server in sorted(registry.servers):
        known, _, failures, reason = stamp(registry, server)
        if failures and known == tag(registry, server) and not any(lines(registry, server)):
            yield "The MCP server %s does not answer (%s): its tools are missing now." % (
                server,
                reason,
            )


def lines(holder, server):
    """Yield what is known of each tool of a server."""
    return _lines(holder, server, False)


def _lines(holder, server, first):
    path = "%s/%s.tools" % (folder(holder), server)
    if files.exists(path):
        with open(path, "rb") as file:
            for number, line in enumerate(files.lines(file)):
                if first == (number == 0):
                    yield json.loads(line)


def tools(registry):
    """Yield (name, place of the schema) of the tools that the servers have."""
    for server in registry.servers:
        for line in lines(registry, server):
            path = "%s/%s.json" % (folder(registry), line[0])
            yield line[0], (path, 0, files.size(path))


def load(ctx, name):
    """Return what stands for the module of a tool."""
    line = [line for line in lines(ctx, name.split("-")[0]) if line[0] == name][0]
    return mcp_call.Tool(line, ctx.config.section("mcp"), folder(ctx))

# tenner tools.mcp: the tools of MCP servers, as the registry and a call see them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
In /state/mcp are, for each server of the settings, what `mcp.listing` found there:

    home-get_weather.json     the schema file of a tool, as the model is shown it
    home.tools                a line ["a tag of the settings", Unix time], then one for each tool: its name
                              here, its name there, whether it only reads, and {header: path} of arguments
                              that are sent as headers too
    home.session              the protocol version it speaks, and its session if there is one

The APIs of models take letters, digits, `_` and `-` in a name. A `-` after the server's name keeps its tools
apart from those of others, and from the built-in ones, whose names have none.
"""

import json
from binascii import crc32

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import ToolError, as_data

_EVERY_S = const(24 * 3600)


class Tool:
    """What a tool's module is for others. The server checks the arguments: it knows its schema best."""

    OUTSIDE = True
    CHECKED_THERE = True
    RESULT_CAP = 2304

    def __init__(self, registry, name):
        self._server = name.split("-")[0]
        self._line = [line for line in lines(registry, self._server) if line[0] == name][0]
        self._title = "%s.%s" % (self._server, self._line[1])

    def approval(self, args, ctx):
        return None if self._line[2] else "%s %s" % (self._title, json.dumps(args))

    async def run(self, args, ctx):
        from tenner.mcp.client import Client, Refused
        from tenner.mcp.content import Content

        content = Content()
        http = ctx.agent.app.http()
        try:
            servers = ctx.registry.servers
            client = Client(self._server, http, servers, folder(ctx.registry))
            await client.call(self._line, args, content)
            text = content.text()
        except Refused as error:
            raise ToolError(as_data(self._title, error.args[0]))
        finally:
            await http.close()
        text = as_data(self._title, text)
        if content.is_error:
            raise ToolError(text)
        return text


def folder(registry):
    return registry.port.path("state/mcp")


def tag(registry, server):
    """Return what changes when the settings of a server do."""
    settings = registry.servers[server]
    text = "%s %s" % (settings.get("url"), settings.get("tools"))
    return "%08x" % (crc32(text.encode()) & 0xFFFFFFFF)


def stamp(registry, server):
    """Return (tag, time) of what is known of a server's tools."""
    for line in _lines(registry, server, True):
        return line
    return None, 0


def due(registry, clock):
    """Return the servers that are to be asked for their tools: not known, or a day old."""
    now = clock.known() or 0
    found = []
    for server in sorted(registry.servers):
        known, at = stamp(registry, server)
        if known != tag(registry, server) or now - at >= _EVERY_S:
            found.append(server)
    return found


def lines(registry, server):
    """Yield what is known of each tool of a server."""
    return _lines(registry, server, False)


def _lines(registry, server, first):
    path = "%s/%s.tools" % (folder(registry), server)
    if files.exists(path):
        with open(path, "rb") as file:
            for number, line in enumerate(files.lines(file)):
                if first == (number == 0):
                    yield json.loads(line)


def names(registry):
    """Return the names of the tools that the servers have and the owner does not deny."""
    denied = [name for name, rule in registry.config.section("tools").items() if rule == "deny"]
    return [
        line[0]
        for server in registry.servers
        for line in lines(registry, server)
        if line[0] not in denied
    ]

# tenner tools.mcp: the tools of MCP servers, as the registry and a call see them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
In /state/mcp are, for each server of the settings, what `mcp_list` found there:

    home-get_weather.json     the schema file of a tool, as the model is shown it
    home.tools                a line ["a tag of the settings", Unix time], then one for each tool: its name
                              here, its name there, whether it only reads, and {header: path} of arguments
                              that are sent as headers too
    home.session              the protocol version it speaks, and its session if there is one

The APIs of models take letters, digits, `_` and `-` in a name. A `-` after the server's name keeps its tools
apart from those of others, and from the built-in ones, whose names have none.
"""

import json

from tenner.port.compat import const
from tenner.store import files
from tenner.tools import as_data

_MAX_NAME = const(64)


class Tool:
    """What a tool's module is for others. The server checks the arguments: it knows its schema best."""

    OUTSIDE = True
    CHECKED_THERE = True
    RESULT_CAP = 2304

    def __init__(self, registry, name):
        self._server = name.split("-")[0]
        self._line = [line for line in lines(registry, self._server) if line[0] == name][0]

    def title(self):
        return "%s.%s" % (self._server, self._line[1])

    def approval(self, args, ctx):
        return None if self._line[2] else "%s %s" % (self.title(), json.dumps(args))

    async def run(self, args, ctx):
        from tenner.tools.mcp_client import Client
        from tenner.tools.mcp_reply import Content

        content = Content()
        client = Client(self._server, ctx.agent.app.http(), ctx.config, folder(ctx.registry))
        try:
            await client.call(self._line, args, content)
        finally:
            await client.http.close()
        return content.text(lambda text: as_data(self.title(), text))


def folder(registry):
    return registry.port.path("state/mcp")


def lines(registry, server):
    """Yield what is known of each tool of a server."""
    path = "%s/%s.tools" % (folder(registry), server)
    if files.exists(path):
        with open(path, "rb") as file:
            first = True
            for line in files.lines(file):
                if not first:
                    yield json.loads(line)
                first = False


def names(registry):
    """Return the names of the tools that the servers have and the owner does not deny."""
    return [
        line[0]
        for server in registry.servers
        for line in lines(registry, server)
        if registry.config.get("tools." + line[0]) != "deny"
    ]


def plain(name):
    """Return `name` with `_` for whatever the APIs of models do not take."""
    return "".join(
        [c if c < "\x7f" and (c.isalpha() or c.isdigit() or c in "_-") else "_" for c in name]
    )


def unique_name(server, name):
    """Return the name of a tool for models: one they take, always the same, and no other tool's."""
    full = "%s-%s" % (server, plain(name))
    if full[len(server) + 1 :] == name and len(full) <= _MAX_NAME:
        return full
    from binascii import crc32

    return "%s-%08x" % (full[: _MAX_NAME - 9], crc32(name.encode()) & 0xFFFFFFFF)

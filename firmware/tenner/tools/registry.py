# tenner tools.registry: which tools there are, by name; everything else stays on flash.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Built-in tools are the schema files beside this module; the owner adds more by dropping `x.json` and `x.py`
into /workspace/tools. A tool is offered only where its hardware and settings exist, and the owner did not
deny it, so that the prompt stays small.
"""

import os
import sys

from tenner.port.package import package_path
from tenner.store import files
from tenner.tools import ToolError


class Registry:
    """The tools of this board: `schemas` for the prompt, `call` for the model's calls."""

    def __init__(self, port, config, workspace):
        self.port = port
        self.config = config
        self.workspace = workspace
        self.user_folder = workspace + "/tools"
        self._folder = package_path("tools")
        self.built_in = schema_names(self._folder)
        #: MCP servers; the names of their tools begin with one of these and "-".
        self.servers = config.section("mcp")
        # Sizes of the owner's schemas that were looked at, negative for bad ones, by name.
        self.seen = {}

    def names(self, kind="person"):
        """Return the sorted names of the tools offered in a turn of this kind."""
        wanted = self.config.get("heartbeat.tools") if kind == "heartbeat" else ("*",)
        names = [
            name
            for name in self.built_in
            if (name in wanted or "*" in wanted) and self._offered(name, kind)
        ]
        if files.is_folder(self.user_folder):
            from tenner.tools import usertools

            names += usertools.names(self)
        if self.servers:
            from tenner.tools import mcp

            names += [
                name
                for name in mcp.names(self)
                if kind != "heartbeat" or name in wanted or "*" in wanted
            ]
        return sorted(names)

    async def refresh(self, app):
        """Now and then, have MCP servers asked for their tools."""
        from tenner.tools import mcp

        servers = mcp.due(self, app.clock)
        if servers:
            from tenner.tools.mcp_refresh import refresh

            await refresh(self, servers, app)
            for prefix in ("tenner.mcp", "tenner.net.strictjson"):
                app.shed(prefix)

    def schemas(self, kind="person"):
        """Yield the path of each schema, the same on every pass."""
        for name in self.names(kind):
            yield self.path(name)

    def call(self, name, arguments_text, ctx):
        """Await what this returns to run one call of the model: a text, "error: ..." if it failed."""
        from tenner.tools import runner

        return runner.call(self, name, arguments_text, ctx)

    def schema_path(self, name, ctx):
        """Return the schema file of a tool this turn may use; ToolError lists those it may."""
        names = self.names(getattr(ctx.turn, "kind", "person"))
        if name not in names:
            raise ToolError(
                'there is no tool "%s" here; tools: %s' % (name[:64], ", ".join(names))
            )
        return self.path(name)

    def module(self, name):
        """Return the module of a tool, imported on its first use."""
        if name in self.built_in:
            __import__("tenner.tools." + name)
            return sys.modules["tenner.tools." + name]
        if self.is_mcp(name):
            from tenner.tools.mcp import Tool

            return Tool(self, name)
        from tenner.tools import usertools

        return usertools.module(self.user_folder, name)

    def path(self, name):
        folder = self._folder if name in self.built_in else self.user_folder
        if self.is_mcp(name):
            folder = self.port.path("state/mcp")
        return folder + "/" + name + ".json"

    def is_mcp(self, name):
        """Is it the name of a tool of an MCP server?"""
        return "-" in name and name.split("-")[0] in self.servers

    def _offered(self, name, kind):
        """Is there hardware, and a setting where one is needed, for a built-in tool in this turn?"""
        if self.config.get("tools." + name) == "deny":
            return False
        if name in ("i2c", "spi", "gpio", "adc", "pwm"):
            return self.port.has(name)
        if name == "exec":
            return self.port.kind == "linux" and bool(self.config.get("tools.exec"))
        if name == "sensor":
            return files.exists(self.workspace + "/SENSORS.json")
        if name == "search_memory":
            return files.is_folder(self.workspace + "/memory")
        # The web is there for who asks for it: settings are what its tools need.
        if name == "web_fetch" and self.config.get("tools.web_fetch"):
            return True
        if name in ("find_skills", "install_skill"):
            return bool(self.config.get("skills.index"))
        if name[:4] == "web_":
            return self.config.get("web.search") != "off"
        # Schedules are not changed by what they started, and a sub-agent starts no other.
        if name == "cron":
            return kind == "person"
        return name != "spawn" or kind != "spawn"


def schema_names(folder):
    """Return the names of the schema files in a folder."""
    return [entry[:-5] for entry in os.listdir(folder) if entry.endswith(".json")]

# tenner tools.registry: finds tools by name; their schemas stay on flash.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Tools come from three places: the built-in ones, the owner's own in /workspace/tools, and those of
MCP servers. To keep the prompt small, a turn offers a tool only if the board meets its needs, the
kind of turn fits, and the owner has not denied it. A schema is given by its place, (path, start,
end): on a board one file holds many.
"""

from tenner.store import files
from tenner.tools import built_in, custom_tools, mcp_refresh
from tenner.tools.errors import ToolError
from tenner.tools.loading import BUILT_IN, MCP, OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tenner.port import Port
    from tenner.store.config import Config
    from tenner.tools.types import Web


class Registry:
    """The tools of this board."""

    def __init__(self, port: "Port", config: "Config", workspace: str) -> None:
        self.port = port
        self.config = config
        self.workspace = workspace
        self.user_folder = workspace + "/tools"
        #: MCP servers; the names of their tools begin with one of these and "-".
        self.servers = config.section("mcp")
        #: Sizes of the owner's checked schemas, negative for bad ones, by name.
        self.schema_cache = {}

    def offers(
        self, kind: str = "person", start: str = ""
    ) -> list[tuple[str, tuple[str, int, int], int]]:
        """
        Return (name, place of the schema, source) of the tools offered in a turn of this kind,
        sorted by name; of the built-in ones only those whose names begin with `start`.
        """
        wanted = self.config.get("heartbeat.tools") if kind == "heartbeat" else ("*",)
        every = "*" in wanted
        rules = self.config.section("tools")
        found = []
        for name, place, needs, turns in built_in.tools(start):
            if (
                rules.get(name) != "deny"
                and (every or name in wanted)
                and (not turns or kind in turns.split())
                and self._has(needs)
            ):
                found.append((name, place, BUILT_IN))
        # Load the code only if there are such tools.
        if files.is_folder(self.user_folder):
            for name, place, needs, turns in custom_tools.tools(self):
                if (
                    rules.get(name) != "deny"
                    and (not turns or kind in turns.split())
                    and self._has(needs)
                ):
                    found.append((name, place, OWN))
        if self.servers:
            for name, place in mcp_refresh.tools(self.port, self.servers):
                if rules.get(name) != "deny" and (every or name in wanted):
                    found.append((name, place, MCP))
        return sorted(found, key=_name)

    def names(self, kind: str = "person") -> list[str]:
        """Return the sorted names of the tools offered in a turn of this kind."""
        return [offer[0] for offer in self.offers(kind)]

    def schemas(self, kind: str = "person") -> list[tuple[str, int, int]]:
        """Return the places of the schemas of `names`, in the same order."""
        return [offer[1] for offer in self.offers(kind)]

    def find(self, name: str, kind: str) -> tuple[tuple[str, int, int], int]:
        """Return (place of the schema, source) of a tool that this kind of turn may use; else
        ToolError lists them."""
        for offer in self.offers(kind, name):
            if offer[0] == name:
                return offer[1:]
        names = ", ".join(self.names(kind))
        raise ToolError('there is no tool "%s" here; tools: %s' % (name[:64], names))

    def refresh(self, app: "Web") -> "Coroutine":
        """Return a coroutine that asks MCP servers for their tools where that is due."""
        return mcp_refresh.refresh(app, self.port, self.servers)

    def missing(self) -> list[str]:
        """Return a sentence for each MCP server whose tools are missing because it does not
        answer."""
        return list(mcp_refresh.missing(self.port, self.servers))

    def _has(self, needs):
        """Return whether the board meets the NEEDS of a tool."""
        for word in needs.split():
            if not any(self._is_there(one) for one in word.split("|")):
                return False
        return True

    def _is_there(self, need):
        kind, _, name = need.rpartition(":")
        if kind == "port":
            return self.port.has(name)
        if kind == "file":
            return files.exists(self.workspace + "/" + name)
        return self.config.get(need) not in (None, "", "off", [])


def _name(offer):
    return offer[0]

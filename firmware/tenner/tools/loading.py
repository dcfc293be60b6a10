# tenner tools.loading: loads the module of a tool from its source.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay_loader
from tenner.port.compat import const
from tenner.tools import custom_tools, mcp_refresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tenner.tools.mcp_call import Tool
    from tenner.tools.types import ToolContext

#: Where a tool comes from: this package, the owner's folder, an MCP server.
BUILT_IN = const(0)
OWN = const(1)
MCP = const(2)


def load(ctx: "ToolContext", source: int, name: str) -> "ModuleType | Tool":
    """Return the module of a tool, or an object with its interface."""
    if source == BUILT_IN:
        return overlay_loader.module("tenner.tools." + name)
    if source == OWN:
        return custom_tools.load(ctx.workspace + "/tools", name)
    return mcp_refresh.load(ctx, name)

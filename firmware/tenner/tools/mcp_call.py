# tenner tools.mcp_call: calls a tool of an MCP server.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.mcp.client import Client
from tenner.mcp.reply import Content, McpError, Refused
from tenner.port.compat import const
from tenner.tools.errors import ToolError
from tenner.tools.untrusted import mark_untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

_IN_DOUBT = const(". It may have been done: do not repeat it, the owner was told")


class Tool:
    """The interface of a tool's module. The server checks the arguments: it knows its schema
    best."""

    OUTSIDE = True
    CHECKED_THERE = True
    RESULT_CAP = 2304

    def __init__(self, line: list, servers: dict, folder: str) -> None:
        """`line` is the tool's line in `.tools`, `servers` are the settings, `folder` holds the
        sessions."""
        self._line = line
        self._server = line[0].split("-")[0]
        self._servers = servers
        self._folder = folder
        self._title = "%s.%s" % (self._server, self._line[1])

    def approval(self, args: dict, ctx: "ToolContext") -> str | None:
        return None if self._line[2] else "%s %s" % (self._title, json.dumps(args))

    async def run(self, args: dict, ctx: "ToolContext") -> str:
        http = ctx.http()
        client = Client(self._server, http, self._servers, self._folder)
        try:
            content = await client.call(self._line, args, lambda: Content())
            text = content.text()
        except Refused as error:
            raise ToolError(mark_untrusted(self._title, error.args[0]))
        except McpError as error:
            if client.in_doubt and not self._line[2]:
                raise McpError(error.args[0] + _IN_DOUBT)
            raise
        finally:
            # Also when cancelled: an approved action must not run twice.
            if client.in_doubt and not self._line[2]:
                ctx.agent.notify("Maybe done, no answer came: %s" % self.approval(args, ctx))
            await http.close()
        text = mark_untrusted(self._title, text)
        if content.is_error:
            raise ToolError(text)
        return text

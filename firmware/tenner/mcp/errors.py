# tenner mcp.errors: what a call of an MCP server can come to.
# MIT license; Copyright (c) 2026 the tenner authors


class McpError(OSError):
    """args[0] is a sentence: which server, what, and what to do."""


class Refused(McpError):
    """The server has answered with an error; args[0] is what it says."""

# tenner mcp.errors: the errors of a call to an MCP server.
# MIT license; Copyright (c) 2026 the tenner authors


class McpError(OSError):
    """args[0] is a sentence with the server, the problem and the remedy."""


class Refused(McpError):
    """The server has answered with an error; args[0] is its text."""

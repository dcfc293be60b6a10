# tenner mcp: a client of MCP servers: their lists of tools, and calls of these.
# MIT license; Copyright (c) 2026 the tenner authors

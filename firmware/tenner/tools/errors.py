# tenner tools.errors: how a tool says no.
# MIT license; Copyright (c) 2026 the tenner authors


class ToolError(Exception):
    """A sentence for the model: what went wrong and what to do instead."""

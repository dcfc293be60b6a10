# tenner tools.errors: the error of a tool.
# MIT license; Copyright (c) 2026 the tenner authors


class ToolError(Exception):
    """A sentence for the model: the problem and the remedy."""

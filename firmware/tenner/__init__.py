# tenner: an AI agent that lives on a ten-dollar board.
# MIT license; Copyright (c) 2026 the tenner authors

__version__ = "0.2.0"
#: The id by which the host finds the names and lines of the source for a build; empty for the
#: source itself.
__build__ = ""

# tenner: an AI agent that lives on a ten-dollar board.
# MIT license; Copyright (c) 2026 the tenner authors

__version__ = "0.1.0"
#: What the host knows the build by whose names and lines are not those of the source; empty for the source itself.
__build__ = ""

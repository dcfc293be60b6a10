# tenner: an AI agent that lives on a ten-dollar board.
# MIT license; Copyright (c) 2026 the tenner authors

__version__ = "0.1.0"

"""The link to a board: find its port, enter its REPL even while it is busy, move files, start the agent.

    with open_board() as board:
        print(board.info().micropython)
        board.write_files({"/workspace/NOTE.md": b"hello"})

Leaving the block lets the agent run again if it ran before.
"""

from host_tools.board.info import Info
from host_tools.board.link import Board

__all__ = ["Board", "Info"]

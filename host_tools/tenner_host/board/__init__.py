"""The link to a board: find its port, enter its REPL even while it is busy, move files, start the
agent.

    with open_board() as board:
        print(board.info().micropython)
        board.write_files({"/workspace/NOTE.md": b"hello"})

Leaving the block lets the agent run again if it ran before.
"""

from tenner_host.board.board import Board
from tenner_host.board.info import Info

__all__ = ["Board", "Info"]

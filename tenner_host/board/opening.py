"""Opens the link to a board, over a serial port or over ssh.

with open_board() as board:
    print(board.info().micropython)
"""

from __future__ import annotations

from tenner_host.board import ports
from tenner_host.board.link import Board
from tenner_host.board.transport import Transport
from tenner_host.linux.board import LinuxBoard, open_console
from tenner_host.project import Project


def open_line(
    port: str | None = None,
    sim: str | None = None,
    *,
    project: Project | None = None,
    remember: bool = False,
) -> tuple[Transport, ports.Port]:
    """Find the board and open its port, without disturbing its program."""
    found = project or Project.find()
    chosen = ports.choose(found, port, sim)
    if chosen.on_linux:
        transport: Transport = open_console(chosen)
    else:
        transport = Transport(chosen.device, refind=lambda: ports.refind(chosen))
    if remember or (found.exists and (port or sim)):
        found.remember(port=chosen.as_json())
    return transport, chosen


def open_board(
    port: str | None = None,
    sim: str | None = None,
    *,
    project: Project | None = None,
    remember: bool = False,
) -> Board:
    """Find the board, open its port and enter its REPL. `remember` makes it the project's."""
    found = project or Project.find()
    chosen = ports.choose(found, port, sim)
    if chosen.on_linux:
        board = LinuxBoard(chosen)
        board.look()
        if remember or (found.exists and port):
            found.remember(port=chosen.as_json())
        return board
    transport, chosen = open_line(port, sim, project=project, remember=remember)
    try:
        transport.enter_raw_repl()
    except BaseException:
        transport.close()
        raise
    return Board(transport, chosen)

"""Opens the link to a board, over a serial port or over ssh.

with open_board() as board:
    print(board.info().micropython)
"""

from __future__ import annotations

from tenner_host.board import ports
from tenner_host.board.board import B, Board
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.board.serial_board import SerialBoard
from tenner_host.board.transport import Transport
from tenner_host.project import Project

#: The class of a board by the scheme of its port; all others are serial.
_CLASSES: dict[str, type[Board]] = {
    "ssh": LinuxBoard,
    "mqtt": RemoteBoard,
    "lan": RemoteBoard,
}


def class_of(port: ports.Port) -> type[Board]:
    """The class of the board at this port."""
    return _CLASSES.get(port.device.partition("://")[0], SerialBoard)


def open_line(
    port: str | None = None,
    sim: str | None = None,
    *,
    project: Project | None = None,
    remember: bool = False,
) -> tuple[Transport, ports.Port]:
    """Find the board and open its console, without disturbing its program."""
    found = project or Project.find()
    chosen = ports.choose(found, port, sim)
    transport = class_of(chosen).console(chosen)
    if _is_remembered(found, chosen, remember, port or sim):
        found.remember(port=chosen.as_json())
    return transport, chosen


def open_as(cls: type[B], chosen: ports.Port, project: Project, *, remember: bool) -> B:
    """Open the board at a port whose class is known, and make it ready for commands."""
    board = cls.open(chosen)
    if remember:
        project.remember(port=chosen.as_json())
    board.enter()
    return board


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
    remember = _is_remembered(found, chosen, remember, port or sim)
    return open_as(class_of(chosen), chosen, found, remember=remember)


def _is_remembered(project: Project, chosen: ports.Port, wanted: bool, named: str | None) -> bool:
    """Shall this port be the project's? A detour without the cable is for one command."""
    return class_of(chosen) is not RemoteBoard and (wanted or (project.exists and bool(named)))

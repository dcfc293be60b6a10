"""`tenner repl`, `tenner run` and `tenner mount`."""

from __future__ import annotations

import sys
from pathlib import Path

import rich_click as click

from tenner_host.board.opening import open_board, open_line
from tenner_host.board.options import board_options
from tenner_host.console.terminal import join
from tenner_host.errors import CommandError
from tenner_host.output import echo

#: The USB port built into ESP32-C3, -C5, -C6 and newer: mpremote's mount is unreliable there.
_USB_JTAG = (0x303A, 0x1001)


@click.command()
@board_options
def repl(port: str | None, sim: str | None) -> None:
    """Show the board's console, live. The agent keeps running until you press Ctrl-C.

    Ctrl-C stops the agent and gives you the REPL. Ctrl-D starts it again. Ctrl-] or Ctrl-X leaves.
    """
    transport, chosen = open_line(port, sim)
    try:
        transport.write(b"\r")
        hint = "Ctrl-C stops the agent, Ctrl-D starts it, Ctrl-] leaves"
        if join(transport, f"{chosen.label}: {hint}"):
            echo(
                "the agent does not run: the board is at its REPL. `tenner sync` starts it",
                err=True,
            )
    finally:
        transport.close()


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@board_options
@click.option("--stay", is_flag=True, help="Leave the board at the REPL afterwards.")
def run(file: Path, port: str | None, sim: str | None, stay: bool) -> None:
    """Run a Python FILE on the board instead of the agent, and print its output.

    Ctrl-C stops it on the board, too. The agent runs again afterwards.
    """
    with open_board(port, sim) as board:
        transport = board.repl()
        with transport.stopping():
            _, error = transport.exec_raw(file.read_bytes(), None, _write)
        if stay:
            board.leave(start=False)
    if error:
        text = error.decode(errors="replace").replace("\r\n", "\n")
        echo(text.replace('"<stdin>"', f'"{file}"'), err=True, nl=False)
        raise CommandError(f"{file} ended with an exception on the board")


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@click.command()
@click.argument(
    "folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@board_options
def mount(folder: Path, port: str | None, sim: str | None) -> None:
    """Show the board this computer's FOLDER as /remote, and give you its REPL.

    The board imports files straight from here, so you can try things out without copying. The
    agent runs again afterwards.
    """
    with open_board(port, sim) as board:
        transport = board.repl()
        if (board.port.vid, board.port.pid) == _USB_JTAG:
            echo(
                "mount is unreliable on this chip's own USB port; if it stalls, use `tenner "
                "run` or "
                "`tenner sync`, which verify their data",
                err=True,
            )
        transport.mount_local(str(folder.resolve()))
        try:
            transport.exit_raw_repl()
            join(transport, f"{folder} is /remote on the board; Ctrl-] leaves")
        finally:
            transport.enter_raw_repl()
            transport.umount_local()

"""Activate new code on a board, which runs the old or the new and never some of each.

New files are written beside the old ones, as `app.mpy.new`. Once all of them are there and
verified, the sync writes a list, /lib/next: from then on the new code counts. boot.py executes the
list, now or, after an interruption, at the next start, and main.py starts nothing while there is a
list.

A board without a main.py starts nothing: there new code goes into its place at once, and main.py
comes last.
"""

from __future__ import annotations

from tenner_host.board import Board
from tenner_host.board.transfer import Progress

LIST = "/lib/next"
NEW = ".new"
MAIN = "/main.py"
_BOOT = "/boot.py"
_FINISH_LIMIT_S = 60.0


def finish(board: Board, boot: bytes) -> None:
    """Have the board execute its list, if there is one."""
    # Ours, not the board's: an older boot.py may not know lists.
    board.run(boot.decode(), _FINISH_LIMIT_S)


def activate(
    board: Board,
    write: dict[str, bytes],
    remove: list[str],
    boot: bytes,
    progress: Progress | None = None,
    *,
    started: bool = True,
) -> None:
    """Replace and remove code; `boot` is the new boot.py. `started`: the board has a main.py."""
    if _BOOT in write:
        # First of all, for the case of an interruption; the new boot.py works with any code.
        board.write_files({_BOOT: boot})
        write = {path: data for path, data in write.items() if path != _BOOT}

    if not started:
        first = {path: data for path, data in sorted(write.items()) if path != MAIN}
        board.write_files(first, staged=True, progress=progress)
        board.remove(remove)
        if MAIN in write:
            board.write_files({MAIN: write[MAIN]}, progress=progress)
        return

    def show(name: str, done: int) -> None:
        if progress:
            progress(name.removesuffix(NEW), done)

    staged = {path + NEW: data for path, data in sorted(write.items())}
    board.write_files(staged, staged=True, progress=show)
    orders = [*sorted(write), *(f"-{path}" for path in remove)]
    if orders:
        board.write_files({LIST: "".join(f"{line}\n" for line in orders).encode()})
        finish(board, boot)

"""Puts new code on a board so that it runs the old or the new, and never some of each.

Files are written into /lib/next first. A list, /lib/next/ready, is written when all of them are there: from
then on the new code is the right one. The board's own boot.py does what the list says, now or, should it be
cut off, at the next start; without the list it drops what is in /lib/next. main.py starts nothing while there is one.
"""

from __future__ import annotations

from host_tools.board import Board
from host_tools.board.transfer import Progress
from host_tools.errors import CommandError

STAGE = "/lib/next"
READY = f"{STAGE}/ready"
_BOOT = "/boot.py"
_FINISH_LIMIT_S = 60.0


def finish(board: Board, boot: bytes) -> None:
    """Have the board do what the list in /lib/next says, if there is one, and drop the rest."""
    # Ours, not the board's: an older boot.py may know nothing of /lib/next.
    board.run(boot.decode(), _FINISH_LIMIT_S)


def switch(
    board: Board,
    write: dict[str, bytes],
    remove: list[str],
    boot: bytes,
    progress: Progress | None = None,
) -> None:
    """Replace and remove code; `boot` is the boot.py that goes with it."""
    if _BOOT in write:
        # Before anything else, as it must be there should the rest be cut off; it goes with any code.
        board.write_files({_BOOT: boot})
        write = {path: data for path, data in write.items() if path != _BOOT}
    staged = {f"{STAGE}/{number}": path for number, path in enumerate(sorted(write))}
    board.make_folders(sorted({path.rpartition("/")[0] for path in write} - {""}))

    def show(name: str, done: int) -> None:
        if progress:
            progress(staged[name], done)

    board.write_files({name: write[path] for name, path in staged.items()}, progress=show)
    orders = [f"{name.rpartition('/')[2]} {path}" for name, path in staged.items()]
    orders += [f"- {path}" for path in remove]
    if orders:
        board.write_files({READY: "".join(f"{line}\n" for line in orders).encode()})
        finish(board, boot)
        if board.manifest([STAGE]):
            raise CommandError(
                f"the board could not put the new code in place; it is in {STAGE} still: run `tenner sync` again"
            )
        # After a power cut littlefs may take an empty folder for a full one; it does no harm.
        board.remove([STAGE])

"""`tenner flash`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import rich_click as click
from rich.console import Console

from tenner_host import prompts, simulator
from tenner_host.board import ports
from tenner_host.board.opening import class_of
from tenner_host.board.options import board_options
from tenner_host.board.ports import Port
from tenner_host.catalog import KnownBoard, boards_with, find_board, image_hashes, release
from tenner_host.errors import CommandError
from tenner_host.flash.loader import DEFAULT_BAUD
from tenner_host.flash.run import FlashRequest, Report
from tenner_host.flash.run import flash as flash_board
from tenner_host.images import Downloads, Image, from_file, recognize
from tenner_host.output import at_terminal, echo, json_option, print_json, step_bar
from tenner_host.project import Project
from tenner_host.setup.settings import PATH

_EXIT_CODES = """\b
Exit status: 0 done, 1 refused, 2 wrong usage, 3 no port, 4 the board is silent or went away,
6 the image is not right, 130 stopped by Ctrl-C."""


class _Terminal:
    """run.Screen on standard error."""

    def __init__(self, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)

    def say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, markup=False)

    def progress(
        self, title: str
    ) -> contextlib.AbstractContextManager[Callable[[int, int], None]]:
        return step_bar(title, self._console)

    def confirm(self, question: str) -> bool:
        return at_terminal() and prompts.confirm(question)


@click.command(epilog=_EXIT_CODES)
@click.option(
    "--image",
    metavar="FILE|URL",
    default=None,
    help="The image; without it, the official one for the chip.",
)
@click.option(
    "--board",
    metavar="NAME",
    default=None,
    help="A name from `tenner boards`, perhaps with a variant: ESP32_GENERIC_S3-SPIRAM_OCT.",
)
@click.option(
    "--release",
    "version",
    default=None,
    metavar="VERSION",
    help="A MicroPython release, e.g. 1.27.0.",
)
@click.option(
    "--fast",
    is_flag=True,
    help=(
        "Also put the agent and the workspace on it in the same pass. An empty board becomes a "
        "working agent."
    ),
)
@click.option(
    "--layout",
    type=click.Choice(["ota"]),
    default=None,
    help="Make two slots, so that MicroPython itself can be updated over the network.",
)
@click.option(
    "--sha256", default=None, metavar="HEX", help="The sha256 that the download must have."
)
@click.option("--discard", is_flag=True, help="Go on even if files on the board can't be read.")
@click.option(
    "--baud",
    default=DEFAULT_BAUD,
    metavar="BAUD",
    show_default=True,
    help="Speed of the serial line.",
)
@board_options
@json_option
def flash(
    image: str | None,
    board: str | None,
    version: str | None,
    fast: bool,
    layout: str | None,
    sha256: str | None,
    discard: bool,
    baud: int,
    port: str | None,
    sim: str | None,
    as_json: bool,
) -> None:
    """Put MicroPython on a board.

    It detects the chip, and picks and checks the image. Your files and the agent's (workspace,
    state, settings) are saved here first and restored afterwards. The board may be in any state:
    empty, stuck in a loop, or without a REPL.
    """
    project = Project.find()
    # Check the name first: a typo must not reset a running board, or download an image.
    named = find_board(board) if board else None
    screen = _Terminal(quiet=as_json)

    def fetch(url: str) -> Image:
        with screen.progress("Downloading MicroPython") as step:
            return Downloads().get(
                url,
                expected=sha256 or image_hashes().get(url.rpartition("/")[2]),
                ask=lambda reason, seen: screen.confirm(
                    f"{reason}. Its sha256 is {seen}. Use it?"
                ),
                progress=step,
            )

    given = None
    if image:
        given = fetch(image) if "://" in image else from_file(Path(image))
        recognize(given)

    def get_image(known: KnownBoard) -> Image:
        if given:
            return given
        if known.name == "VIRTUAL":
            return _stand_in(known)
        if not known.image_url:
            raise CommandError(f"boards/{known.name} names no image; give one with --image")
        chosen = release(version)
        return fetch(known.url(chosen.version, chosen.date))

    found = ports.choose(project, port, sim)
    class_of(found).need_loader(found)
    request = FlashRequest(
        choose_board=lambda chip: _choose_board(named, project, found, chip),
        get_image=get_image,
        slots=layout == "ota",
        fast=fast,
        discard=discard,
        baud=baud,
    )
    report = flash_board(found, request, project, screen)
    if as_json:
        print_json(report.as_json())
    else:
        _tell(report)


def _stand_in(known: KnownBoard) -> Image:
    """The virtual board's own image: it runs the interpreter of this computer, not the code in its
    flash."""
    return Image(simulator.stand_in_image(known.mcu), "the virtual board's image")


def _choose_board(named: KnownBoard | None, project: Project, port: Port, chip: str) -> KnownBoard:
    """The board with this chip: named, virtual, remembered, or the only one known."""
    if named:
        if named.chip != chip:
            others = ", ".join(one.name for one in boards_with(chip)) or "none"
            raise CommandError(
                f"{named.full_name} has an {named.chip or named.platform}, and the chip at "
                f"{port.device} is an {chip}. Nothing was changed; boards with an {chip}: {others}"
            )
        return named
    candidates = boards_with(chip)
    if port.sim:
        candidates.insert(0, find_board("VIRTUAL"))
    remembered = project.load().get("board")
    for known in candidates:
        if known.chip == chip and (known.name == remembered or port.sim):
            return known
    if not candidates:
        raise CommandError(
            f"boards/ has no board with an {chip}; add a folder as boards/README.md describes, "
            "or pass --image FILE and a similar --board"
        )
    if len(candidates) > 1:
        names = ", ".join(one.name for one in candidates)
        raise CommandError(f"several boards have an {chip}; choose with --board: {names}")
    return candidates[0]


def _tell(report: Report) -> None:
    """Print the result and the next step."""
    info = report.info
    runs = f"MicroPython {info.micropython}" if info else "MicroPython"
    echo(
        f"{runs} is on {report.board} ({report.chip}), written and verified in "
        f"{report.seconds:.0f} s."
    )
    if report.saved:
        where = f"; saved in {report.backup}" if report.backup else ""
        echo(f"{len(report.saved)} files of yours and the agent's are on it as before{where}.")
    if report.started and report.started.running:
        then = "" if PATH in report.saved else " It has no settings yet. Next: tenner setup"
        echo(f"The agent runs: {report.started.text}.{then}")
    elif report.started:
        echo(f"The agent does not run yet: {report.started.text}. Next: tenner setup")
    else:
        echo("There is no agent on it yet. Next: tenner sync, then tenner setup")

"""`tenner web --phone`: a QR code with which a phone opens the board's own page."""

from __future__ import annotations

import re
from collections.abc import Iterable

import rich_click as click
import segno

from tenner_host.board.opening import open_line
from tenner_host.console import answers
from tenner_host.console.console import Console
from tenner_host.errors import CommandError
from tenner_host.output import echo

_LINK = re.compile(r"https?://(\S+?):\d+/#code=\w+")
_LOCAL = ("localhost", "127.0.0.1")
#: A host as the board writes it that does not know its own name.
_NAMELESS = "ADDRESS-OF-THIS-BOARD"
#: Light modules around the code, which cameras need.
_BORDER = 3
#: Two modules, one above the other, by whether they are dark.
_HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}


def show(port: str | None, sim: str | None, is_guest: bool) -> None:
    """Ask the board for a link to its page, and print it with its code; CommandError if a phone
    cannot open it."""
    with Console(open_line(port, sim)[0]) as console:
        answer = console.ask("/web guest" if is_guest else "/web")
    link = link_in(answer)
    for line in rows(link):
        # Dark on light in every terminal, since many cameras read nothing else.
        click.secho(line, fg="black", bg="bright_white")
    echo(f"Within ten minutes, point a phone's camera at it, or open {link}")
    if link.startswith("http:"):
        echo("The phone must be in the board's network, and the page has no TLS there.", err=True)


def link_in(answer: list[str]) -> str:
    """The link of an answer to /web, which a phone can open."""
    text = "\n".join(answer)
    found = _LINK.search(text)
    if not found:
        raise CommandError(answers.refusal(answer) or text)
    if found[1] in _LOCAL:
        raise CommandError(
            "without a certificate this page is for the board itself only: set web.cert and "
            "web.key (docs/web.md)"
        )
    if found[1] == _NAMELESS:
        raise CommandError(
            "the board does not know its address: tenner setup --set web.hosts=NAME-OR-ADDRESS"
        )
    return found[0]


def rows(link: str) -> Iterable[str]:
    """The lines of the code, two rows of modules each."""
    matrix = [list(row) for row in segno.make(link, micro=False).matrix_iter(border=_BORDER)]
    if len(matrix) % 2:
        matrix.append([0] * len(matrix[0]))
    for upper, lower in zip(matrix[::2], matrix[1::2], strict=True):
        yield "".join(_HALVES[above, below] for above, below in zip(upper, lower, strict=True))

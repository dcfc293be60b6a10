"""`tenner web`: the page of a board, on this computer."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import rich_click as click

from tenner_host.board import ports
from tenner_host.board.options import board_options
from tenner_host.output import echo
from tenner_host.project import Project
from tenner_host.remote import known

if TYPE_CHECKING:
    from tenner_host.web.access import Access
    from tenner_host.web.server import Site

PORT = 8766

F = TypeVar("F", bound=Callable[..., object])


def page_options(command: F) -> F:
    """Add the parameters `number`, `is_opened` and `has_guests`, as `serve` takes them."""
    listen = click.option(
        "--listen",
        "number",
        type=click.IntRange(0, 65535),
        default=PORT,
        show_default=True,
        metavar="PORT",
        help="The page's port on 127.0.0.1; 0 takes a free one.",
    )
    opened = click.option(
        "--open", "is_opened", is_flag=True, help="Open the page in your browser."
    )
    guests = click.option(
        "--guests", "has_guests", is_flag=True, help="Print a link for guests, too, who only look."
    )
    return listen(opened(guests(command)))


@click.command()
@board_options
@page_options
@click.option(
    "--phone",
    "for_phone",
    is_flag=True,
    help="Print a QR code with which a phone opens the board's own page; serve none here.",
)
def web(
    port: str | None,
    sim: str | None,
    number: int,
    is_opened: bool,
    has_guests: bool,
    for_phone: bool,
) -> None:
    """A page for your browser: state, chat, HEARTBEAT.md, plots, log, settings.

    The page answers only on this computer, and only to a browser with the code. It needs the
    board's port for itself. Ctrl-C ends it; the agent keeps running.

    A board with web.enabled has a page of its own. --phone shows the way to it as a QR code, which
    lets one phone in; with --guests the phone only looks.
    """
    if for_phone:
        from tenner_host.web import phone

        phone.show(port, sim, has_guests)
        return
    from tenner_host.web.door import Door
    from tenner_host.web.one_board import OneBoard

    project = Project.find()
    chosen = ports.choose(project, port, sim)
    if project.exists and (port or sim) and not known.is_remote(chosen.device):
        project.remember(port=chosen.as_json())
    serve(
        lambda access: OneBoard(chosen, Door(access)),
        f"{chosen.label}; Ctrl-C ends the page, the agent keeps running",
        number,
        is_opened,
        has_guests,
    )


def serve(
    make: "Callable[[Access], Site]", about: str, number: int, is_opened: bool, has_guests: bool
) -> None:
    """Serve a site until Ctrl-C."""
    from tenner_host.web.server import Server, listen

    is_first = True

    def announce(link: str) -> None:
        nonlocal is_first
        if is_first and is_opened:
            webbrowser.open(link)
        echo(f"{'open' if is_first else 'for another browser'}  {link}")
        is_first = False

    def announce_guest(link: str) -> None:
        echo(f"for a guest  {link}")

    with listen(number) as sock:
        echo(about, err=True)
        Server(sock, make, announce, announce_guest if has_guests else None).run()

"""`tenner web`: the page of a board, on this computer."""

from __future__ import annotations

import webbrowser

import rich_click as click

from tenner_host.board import ports
from tenner_host.board.options import board_options
from tenner_host.output import echo
from tenner_host.project import Project

PORT = 8766


@click.command()
@board_options
@click.option(
    "--listen",
    "number",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="PORT",
    help="The page's port on 127.0.0.1; 0 takes a free one.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in your browser.")
def web(port: str | None, sim: str | None, number: int, is_opened: bool) -> None:
    """A page for your browser: state, chat, HEARTBEAT.md, plots, log, settings.

    It answers only on this computer, and only to a browser that has the code. While it runs, it
    has the board's port for itself. Ctrl-C ends it; the agent runs on.
    """
    from tenner_host.web.server import Server, listen

    project = Project.find()
    chosen = ports.choose(project, port, sim)
    if project.exists and (port or sim):
        project.remember(port=chosen.as_json())
    is_first = True

    def announce(link: str) -> None:
        nonlocal is_first
        if is_first and is_opened:
            webbrowser.open(link)
        echo(f"{'open' if is_first else 'for another browser'}  {link}")
        is_first = False

    with listen(number) as sock:
        server = Server(sock, chosen, announce)
        echo(f"{chosen.label}; Ctrl-C ends the page, the agent runs on", err=True)
        server.run()

"""`--port` and `--sim`, the same on every command that talks to a board."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import rich_click as click

F = TypeVar("F", bound=Callable[..., object])


def board_options(command: F) -> F:
    """Adds the parameters `port` and `sim`, as `open_board` takes them."""
    port = click.option(
        "--port",
        "-p",
        envvar="TENNER_PORT",
        default=None,
        metavar="PORT",
        help="Device, serial number, socket://HOST:PORT or rfc2217://HOST:PORT of the board.",
    )
    sim = click.option("--sim", default=None, metavar="NAME", help="A virtual board, by its name.")
    return port(sim(command))

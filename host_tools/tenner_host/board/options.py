"""`--port` and `--sim`, the same on every command that talks to a board."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import rich_click as click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tenner_host.board.sims import running_boards
from tenner_host.remote.known import LAN, MQTT


def _complete_port(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from tenner_host.board.ports import list_ports

    return [
        CompletionItem(port.device, help=port.label)
        for port in list_ports()
        if port.device.startswith(incomplete)
    ]


def _complete_sim(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    return [name for name in running_boards() if name.startswith(incomplete)]


_VIA = "tenner.via"
_WAYS = {"mqtt": MQTT, "lan": LAN}

F = TypeVar("F", bound=Callable[..., object])


def port_option(command: F) -> F:
    """Add the parameter `port`."""
    return click.option(
        "--port",
        "-p",
        envvar="TENNER_PORT",
        show_envvar=True,
        default=None,
        callback=_port,
        metavar="PORT",
        shell_complete=_complete_port,
        help=(
            "Device, serial number, ssh://USER@HOST, socket://HOST:PORT or rfc2217://HOST:PORT "
            "of the board."
        ),
    )(command)


def sim_option(
    parameter: str, about: str = "A virtual board, by its name.", default: str | None = None
) -> Callable[[F], F]:
    """Add `parameter`, the name of a virtual board; every command spells it `--sim`."""
    return click.option(
        "--sim",
        parameter,
        default=default,
        show_default=default is not None,
        metavar="NAME",
        shell_complete=_complete_sim,
        help=about,
    )


def _via(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    way, _, name = value.partition(":")
    if way not in _WAYS:
        raise click.BadParameter(
            "available: mqtt or mqtt:NAME of a board, lan, lan:NAME or lan:ADDRESS[:PORT]"
        )
    # Eager, so before `_port`.
    context.meta[_VIA] = _WAYS[way] + name
    return _WAYS[way] + name


def _port(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    via: str | None = context.meta.get(_VIA)
    named = context.get_parameter_source("port") is ParameterSource.COMMANDLINE
    if via and named:
        raise click.UsageError("--port and --via do not go together")
    return via or value


def _via_option(about: str, *, exposed: bool) -> Callable[[F], F]:
    return click.option(
        "--via",
        metavar="mqtt[:NAME]|lan[:ADDRESS]",
        callback=_via,
        is_eager=True,
        expose_value=exposed,
        help=about,
    )


def via_option(command: F) -> F:
    """Add the parameter `via`, as known.way_of takes it."""
    return _via_option(
        "Reach the boards through their MQTT broker (the default) or in the network.", exposed=True
    )(command)


def board_options(command: F) -> F:
    """Add the parameters `port` and `sim`, as `open_board` takes them; `--via` sets `port`."""
    via = _via_option(
        "Reach the board through its MQTT broker, or in the network, instead of the cable.",
        exposed=False,
    )
    return port_option(sim_option("sim")(via(command)))

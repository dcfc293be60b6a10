"""`tenner doctor`: the checks in order, each line printed at once."""

from __future__ import annotations

from collections.abc import Callable

import rich_click as click

from tenner_host.board.board import Board
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.opening import class_of
from tenner_host.board.options import board_options
from tenner_host.board.ports import Port
from tenner_host.board.serial_board import SerialBoard
from tenner_host.doctor import cable, linux_board, serial_board
from tenner_host.doctor.findings import Finding, Part, State, from_error, unreached
from tenner_host.errors import ChecksFailed, CommandError, PortError
from tenner_host.output import echo, json_option, print_json

_COLORS = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red", State.SKIP: "bright_black"}

#: The checks of a board by its class; the flag allows a reset into the chip's loader.
_EXAMINE: dict[type[Board], Callable[[Port, bool], Part]] = {
    SerialBoard: serial_board.examine,
    LinuxBoard: linux_board.examine,
}


@click.command()
@board_options
@click.option(
    "--no-loader",
    is_flag=True,
    help=("Do not reset the chip into its loader to see whether it can be flashed."),
)
@json_option
def doctor(port: str | None, sim: str | None, no_loader: bool, as_json: bool) -> None:
    """Check everything from the cable to the model, and say how to fix each fault.

    It stops the agent and starts it again, and sends one short request to the model. If a check
    fails, the exit status is 7.
    """
    findings = []
    for finding in examine(port, sim, loader=not no_loader):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        print_json({"checks": [finding.as_json() for finding in findings]})
    wrong = [finding for finding in findings if finding.state is State.FAIL]
    if wrong:
        raise ChecksFailed(
            f"{len(wrong)} of {len(findings)} checks failed, first {wrong[0].check}"
        )


def _show(finding: Finding) -> None:
    mark = click.style(f"{finding.state.value:5}", fg=_COLORS[finding.state], bold=True)
    click.echo(mark, nl=False)
    echo(f" {finding.check:14} {finding.text}")
    if finding.do and finding.state is not State.OK:
        echo(f"{'':20} -> {finding.do}")


def examine(port: str | None, sim: str | None, *, loader: bool = True) -> Part:
    """Run all checks in order, as far as they can go."""
    try:
        found = cable.find_port(port, sim)
    except PortError as exc:
        yield from_error("port", exc)
        yield from cable.without_port()
        yield from unreached(serial_board.AFTER_PORT)
        return
    cls = class_of(found)
    if cls not in _EXAMINE:
        way = found.device.partition("://")[0]
        raise CommandError(f"`tenner doctor` needs the cable; try `tenner status --via {way}`")
    yield from _EXAMINE[cls](found, loader)

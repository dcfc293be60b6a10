"""`tenner doctor`: the checks in order, each line printed at once."""

from __future__ import annotations

from collections.abc import Iterator

import rich_click as click

from tenner_host.board.link import Board
from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.board.ports import Port
from tenner_host.doctor import cable, inside, outside
from tenner_host.doctor.findings import Finding, Part, State, fail, ok, skip
from tenner_host.errors import BoardSilent, CommandError, PortError, TroubleFound
from tenner_host.output import echo, json_option, print_json
from tenner_host.project import Project
from tenner_host.setup.trust import FOLDER
from tenner_host.sync import code as codes

_COLORS = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red", State.SKIP: "bright_black"}
_GUARD_S = 900
_AFTER_PORT = ("repl", "micropython", "code", "files", "heap", "settings", "wifi", "i2c")


@click.command()
@board_options
@click.option("--no-loader", is_flag=True, help="Do not reset the chip into its loader to see whether it can be flashed.")  # fmt: skip
@json_option
def doctor(port: str | None, sim: str | None, no_loader: bool, as_json: bool) -> None:
    """Check everything from the cable to the model, and give the remedy for each fault.

    The check stops the agent and starts it again; one short request goes to the model. Exit status 7: some check
    failed.
    """
    findings = []
    for finding in examine(port, sim, loader=not no_loader):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        print_json([finding.as_json() for finding in findings])
    wrong = [finding for finding in findings if finding.state is State.FAIL]
    if wrong:
        raise TroubleFound(
            f"{len(wrong)} of {len(findings)} checks failed, first {wrong[0].check}"
        )


def _show(finding: Finding) -> None:
    mark = click.style(f"{finding.state.value:5}", fg=_COLORS[finding.state], bold=True)
    click.echo(mark, nl=False)
    echo(f" {finding.check:14} {finding.text}")
    if finding.do and finding.state is not State.OK:
        echo(f"{'':20} -> {finding.do}")


def examine(port: str | None, sim: str | None, *, loader: bool = True) -> Iterator[Finding]:
    """Run all checks in order, as far as they can go."""
    try:
        found = cable.find_port(port, sim)
    except PortError as exc:
        yield _from_error("port", exc)
        yield from cable.without_port()
        yield from _unreached(_AFTER_PORT)
        return
    try:
        board = open_board(found.device if found.sim is None else None, found.sim)
    except PortError as exc:
        yield _from_error("port", exc)
        yield from _unreached(_AFTER_PORT)
        return
    except BoardSilent as exc:
        if found.on_linux:
            yield _from_error("ssh", exc)
            return
        yield from cable.check_port(found)
        yield _from_error("repl", exc)
        if loader:
            yield from cable.check_loader(found, None, None)
        yield from _unreached(_AFTER_PORT[1:])
        return
    with board:
        if board.on_linux:
            from tenner_host.linux.doctor import examine as examine_linux

            yield from examine_linux(board)
            return
        yield from cable.check_port(found)
        was = "the agent ran and was stopped" if board.was_running else "nothing ran"
        yield ok("repl", f"MicroPython answers; {was}")
        yield from _on_board(board, found, loader)


def _from_error(check: str, error: CommandError) -> Finding:
    what, _, advice = error.message.partition(": ")
    return fail(check, what, advice)


def _unreached(checks: tuple[str, ...]) -> Part:
    for check in checks:
        yield skip(check, "the board is not reached")


def _on_board(board: Board, found: Port, loader: bool) -> Part:
    project = Project.find()
    if loader:
        info = board.info()
        board.transport.close()
        yield from cable.check_loader(found, info.machine, info.flash_total)
        # The loader's end is a reset: the agent runs, and the port may have another name.
        board.transport.reopen()
        board.transport.enter_raw_repl()
    board.guard(_GUARD_S)
    board.fresh()
    info, there, _ = board.survey(["/"])
    yield from inside.check_micropython(info, project)
    certificates = [path for path in there if path.startswith(f"{FOLDER}/")]
    files = board.read_files(["/config.json", *certificates])
    yield from inside.check_code(info, there, project, files.get("/config.json"))
    yield from inside.check_files(board, info, there)
    yield from inside.check_memory(board)
    settings, said = inside.check_settings(files.pop("/config.json", None))
    yield from said
    yield from inside.check_certificates(files, settings)
    yield from outside.check_buses(board, settings or {})
    if settings is None:
        yield skip("wifi", "needs settings")
    else:
        yield from outside.check_network(board, settings)
    started = board.restart()
    if started.running:
        yield ok("agent", f"started again: {started.text}")
    else:
        do = "see the lines above" if codes.has_code(info, there) else "run `tenner sync`"
        yield fail("agent", f"does not run: {started.text}", do)

"""`tenner deploy`: the agent onto a Linux board, over ssh."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from tenner_host.board import ports
from tenner_host.board.linux_board import Ending, LinuxBoard
from tenner_host.board.ssh import SCHEME
from tenner_host.errors import CommandError
from tenner_host.heartbeat.check import must_be_text
from tenner_host.linux import deploy as deploying
from tenner_host.linux.release import RUNTIMES
from tenner_host.output import echo, json_option, print_json, progress_bar
from tenner_host.project import Project
from tenner_host.sync.dialog import ask_which, conflict_left, show


@click.command()
@click.argument("host", required=False, metavar="[USER@HOST]")
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    default=None,
    help=(
        "MicroPython, which brings its own files, or the board's python3. [default: as before, "
        "or micropython]"
    ),
)
@click.option(
    "--board",
    "board_name",
    default=None,
    metavar="NAME",
    help="Which board it is, for its pins: a name from `tenner boards`.",
)
@click.option(
    "--package",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    help="Take MicroPython from this file of `make package`.",
)
@click.option("--back", is_flag=True, help="Go back to the release before; nothing else changes.")
@click.option("--delete", is_flag=True, help="Also delete files that one side has deleted.")
@click.option("--dry-run", is_flag=True, help="Print the steps, and change nothing.")
@json_option
def deploy(
    host: str | None,
    runtime: str | None,
    board_name: str | None,
    package: Path | None,
    back: bool,
    delete: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put the agent on the Linux board USER@HOST, and start it as a service.

    It uses your ssh, with your keys and config. Only changed files are sent, and a release that
    doesn't start is rolled back. Files in `workspace/` go both ways, as with `tenner sync`. This
    folder remembers the board, so that `tenner chat`, `why`, `logs`, `sync` and `backup` find it.
    """
    project = Project.find()
    port = _port(project, host)
    if not back:
        must_be_text(project.root / "workspace")
    with LinuxBoard(port) as board, progress_bar("deploy", quiet=as_json) as progress:
        if back:
            _back(board, as_json)
            return
        report = deploying.deploy(
            board,
            project,
            ask=ask_which,
            board_name=board_name,
            runtime=runtime,
            package=package,
            delete=delete,
            dry_run=dry_run,
            progress=progress,
        )
        hints = {"clock": deploying.clock_hint(board.probe)}
        if not dry_run:
            hints["restart"] = deploying.boot_hint(board)
    if not dry_run:
        project.remember(port=port.as_json())
    if as_json:
        print_json(report.as_json())
    else:
        show(report)
        for name, hint in hints.items():
            if hint:
                echo(f"{name:10} {hint}")
    conflict_left(report.outcome.conflicts)


def _port(project: Project, host: str | None) -> ports.Port:
    if host:
        return ports.Port(SCHEME + host.removeprefix(SCHEME))
    known = ports.remembered(project)
    if known is None or not known.device.startswith(SCHEME):
        raise click.UsageError("name the board: tenner deploy USER@HOST")
    return known


def _back(board: LinuxBoard, as_json: bool) -> None:
    base = board.probe.get("base")
    name = board.ssh.run('cat "$1/previous" 2>/dev/null || true', base).decode().strip()
    if not name or name == board.probe.get("release"):
        raise CommandError(f"{board.ssh.host} has no release before this one")
    command = f"{base}/releases/{name}/ctl"
    text = board.ssh.run('exec "$@"', command, "activation", ok=(0, 1)).decode(errors="replace")
    ending = Ending.parse(text)
    if ending.result != "running":
        raise CommandError(f"release {name} does not start: {ending.reason}")
    if as_json:
        print_json({"release": name})
    else:
        echo(f"agent      running: {board.ctl('status').strip()}")

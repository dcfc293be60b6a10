"""`tenner sync`: the command."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import Any

import rich_click as click

from tenner_host.board.board import Board
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.board.serial_board import SerialBoard
from tenner_host.errors import CommandError, of_this_computer
from tenner_host.heartbeat import check
from tenner_host.linux.deploy import deploy
from tenner_host.output import echo, json_option, print_json, progress_bar
from tenner_host.project import Project
from tenner_host.sync.dialog import ask_which, conflict_left, show
from tenner_host.sync.report import Report
from tenner_host.sync.run import synchronize, update_workspace
from tenner_host.sync.threeway import Action


@click.command()
@board_options
@click.option(
    "--board",
    "board_name",
    default=None,
    metavar="NAME",
    help="Which board it is, for its pins: a name from `tenner boards`.",
)
@click.option(
    "--watch", is_flag=True, help="Sync again whenever a file here changes, until Ctrl-C."
)
@click.option("--dry-run", is_flag=True, help="Print the steps, and change nothing.")
@click.option("--delete", is_flag=True, help="Also delete files that one side has deleted.")
@json_option
def sync(
    port: str | None,
    sim: str | None,
    board_name: str | None,
    watch: bool,
    dry_run: bool,
    delete: bool,
    as_json: bool,
) -> None:
    """Update the code on the board, and the workspace on both sides.

    If it's interrupted, the board starts the old code or the new, never a mix. Files in
    `workspace/` go both ways. If a file changed on both sides, you see the difference and choose.
    The agent runs again afterwards.
    """
    if watch and dry_run:
        raise click.UsageError("--watch and --dry-run do not go together")
    project = Project.find()
    report = _once(project, port, sim, board_name, dry_run, delete, as_json)
    if not watch:
        _finish(report)
        return
    _watch(
        report, project, lambda: _once(project, port, sim, board_name, dry_run, delete, as_json)
    )


def _watch(report: Report, project: Project, once: Callable[[], Report]) -> None:
    """Sync after each change, until Ctrl-C."""
    from tenner_host.sync.watch import Watch

    watch = Watch(project, report.board)
    for _ in watch.changes(
        lambda: echo("watching for changes; Ctrl-C ends it, the agent keeps running", err=True)
    ):
        try:
            watch.settled(
                step.path for step in once().outcome.done if step.action is not Action.PUSH
            )
        except (CommandError, OSError) as exc:
            # A typo in an edited file must not end the watch, nor a full disk.
            problem = of_this_computer(exc) if isinstance(exc, OSError) else exc
            echo(f"tenner: {problem.message}", err=True)


def _once(
    project: Project,
    port: str | None,
    sim: str | None,
    board_name: str | None,
    dry_run: bool,
    delete: bool,
    as_json: bool,
) -> Report:
    check.must_be_text(project.root / "workspace")
    with (
        open_board(port, sim, project=project, remember=not dry_run) as board,
        progress_bar("sync", quiet=as_json) as progress,
    ):
        report = _update(
            board,
            project,
            ask=ask_which,
            board_name=board_name,
            delete=delete,
            dry_run=dry_run,
            progress=progress,
        )
    wrong = _heartbeat_problems(project)
    if as_json:
        print_json({**report.as_json(), "heartbeat_problems": wrong})
    else:
        show(report)
        for line in check.as_text(wrong, check.NAME):
            click.secho(line, fg="yellow", err=True)
        if check.NAME in [step.path for step in report.steps]:
            for one in check.readings(*_heartbeat(project)):
                # Mistakes stand above.
                if one["kind"] in ("alarm", "timed", "beat"):
                    click.echo(f"{check.NAME} line {one['line']}: {one['text']}")
    return report


@singledispatch
def _update(board: Board, project: Project, **options: Any) -> Report:
    """One sync of a board, by its class."""
    raise TypeError(f"{type(board).__name__} has no sync")


_update.register(SerialBoard, synchronize)
_update.register(LinuxBoard, deploy)
_update.register(RemoteBoard, update_workspace)


def _heartbeat(project: Project) -> tuple[str, Path]:
    """HEARTBEAT.md, "" without it, and its folder."""
    folder = project.root / "workspace"
    try:
        # As the board reads letters that are no UTF-8.
        return (folder / check.NAME).read_text(encoding="utf-8", errors="replace"), folder
    except OSError:
        return "", folder


def _heartbeat_problems(project: Project) -> list[dict[str, Any]]:
    """The errors in HEARTBEAT.md, found before the board needs it."""
    return check.problems(*_heartbeat(project))


def _finish(report: Report) -> None:
    """Turn conflicts and a failed start into an exit status."""
    conflict_left(report.outcome.conflicts)
    if report.started is not None and not report.started.running:
        raise CommandError(f"files synced, but the agent failed to start: {report.started.text}")

"""`tenner sync`: the command, its questions and its report."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import rich_click as click

from tenner_host.board.board import Board
from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.board.serial_board import SerialBoard
from tenner_host.errors import CommandError, Conflict
from tenner_host.heartbeat import check
from tenner_host.linux.board import LinuxBoard
from tenner_host.linux.deploy import deploy
from tenner_host.output import at_terminal, echo, json_option, print_json, progress_bar
from tenner_host.project import Project
from tenner_host.sync.report import Report
from tenner_host.sync.run import synchronize
from tenner_host.sync.threeway import Do
from tenner_host.sync.workspace import diff


@click.command()
@board_options
@click.option(
    "--board", "board_name", default=None, metavar="NAME", help="Whose pins: a folder of boards/."
)
@click.option(
    "--watch", is_flag=True, help="Sync again whenever a file here changes, until Ctrl-C."
)
@click.option("--dry-run", is_flag=True, help="Print the steps, and change nothing.")
@click.option(
    "--delete", is_flag=True, help="Files deleted on one side are deleted on the other too."
)
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
    """Bring the board's code up to date, and the workspace on both sides.

    Code is compiled for the board's MicroPython and activated at once: after an interruption the board
    starts the old code or the new, never a mix. The files of `workspace/` go both ways: a change on one side wins,
    a change on both is shown and asked about. Afterwards the agent runs.
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
        lambda: echo("watching for changes; Ctrl-C ends it, the agent runs on", err=True)
    ):
        try:
            watch.settled(step.path for step in once().outcome.done if step.do is not Do.PUSH)
        except CommandError as exc:
            # A typo in an edited file must not end the watch.
            echo(f"tenner: {exc.message}", err=True)


def _once(
    project: Project,
    port: str | None,
    sim: str | None,
    board_name: str | None,
    dry_run: bool,
    delete: bool,
    as_json: bool,
) -> Report:
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
    return report


@singledispatch
def _update(board: Board, project: Project, **options: Any) -> Report:
    """One sync of a board, by its class."""
    raise TypeError(f"{type(board).__name__} has no sync")


_update.register(SerialBoard, synchronize)
_update.register(LinuxBoard, deploy)


def _heartbeat_problems(project: Project) -> list[dict[str, Any]]:
    """The errors in HEARTBEAT.md, found before the board needs it."""
    try:
        text = (project.root / "workspace" / check.NAME).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return []
    return check.problems(text)


def _finish(report: Report) -> None:
    """Turn conflicts and a failed start into an exit status."""
    conflict_left(report.outcome.conflicts)
    if report.started is not None and not report.started.running:
        raise CommandError(f"files synced, but the agent failed to start: {report.started.text}")


def conflict_left(paths: list[str]) -> None:
    """Raise Conflict if a file waits for a choice."""
    if paths:
        raise Conflict(
            f"changed on both sides and left unchanged: {', '.join(paths)}; run `tenner sync` at a "
            "terminal to choose"
        )


def ask_which(path: str, ours: bytes | None, theirs: bytes | None) -> str:
    """Show how a file differs and ask which version stays; without a terminal keep both."""
    if not at_terminal():
        return "skip"
    for line in diff(path, ours, theirs):
        color = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        echo(line, fg=color, err=True)
    answer: str = click.prompt(
        f"{path} changed on both sides. Keep the one from (h)ere, from the (b)oard, or (s)kip",
        type=click.Choice(["h", "b", "s"]),
        show_choices=False,
        default="s",
        err=True,
    )
    return {"h": "here", "b": "board", "s": "skip"}[answer]


def show(report: Report) -> None:
    """Print the report for people, without empty parts."""
    would = "would be " if report.dry_run else ""
    plan = report.code
    size = sum(map(len, plan.write.values()))
    if plan:
        parts = [f"{len(plan.write)} {would}written ({size / 1024:.1f} KB)"] if plan.write else []
        parts += [f"{len(plan.remove)} {would}removed"] if plan.remove else []
        echo(f"code       {', '.join(parts)}, {plan.unchanged} unchanged")
        for path in plan.shadows:
            echo(f"           {path} {would}removed: it hid newer code")
    else:
        echo(f"code       up to date ({plan.unchanged} files)")
    if plan.foreign:
        echo(f"           your own {', '.join(plan.foreign)} {would}moved to .tenner/replaced/")
    steps = report.steps if report.dry_run else report.outcome.done
    for step in steps:
        if step.do not in (Do.RECORD, Do.FORGET):
            echo(f"workspace  {step.path}: {step.do.value}")
    if not steps:
        echo("workspace  nothing to do")
    for step in report.outcome.kept:
        echo(f"workspace  {step.path}: {step.do.value}, kept on the other side (see --delete)")
    for path in report.outcome.conflicts:
        echo(f"workspace  {path}: changed on both sides, left unchanged")
    if report.outcome.saved:
        echo(f"           the replaced files are in {report.outcome.saved}")
    if report.started is not None and report.started.running:
        echo(f"agent      running: {report.started.text}; {report.seconds:.1f} s in all")
    if not report.configured and not report.dry_run:
        echo("settings   none on the board yet: `tenner setup`")

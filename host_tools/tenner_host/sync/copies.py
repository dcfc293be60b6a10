"""`tenner pull`, `tenner backup` and `tenner restore`."""

from __future__ import annotations

import time
from pathlib import Path

import rich_click as click

from tenner_host import prompts
from tenner_host.board.opening import open_board
from tenner_host.board.options import board_options
from tenner_host.errors import BoardGone, CommandError
from tenner_host.output import at_terminal, echo, json_option, print_json, progress_bar
from tenner_host.project import Project
from tenner_host.sync.backup import Backup, restore_backup, take
from tenner_host.sync.dialog import ask_which, conflict_left
from tenner_host.sync.run import leave_as_it_was
from tenner_host.sync.threeway import Action
from tenner_host.sync.workspace import HOME, Workspace


@click.command()
@board_options
@json_option
def pull(port: str | None, sim: str | None, as_json: bool) -> None:
    """Copy the agent's changes into `workspace/`; nothing on the board changes.

    If a file changed on both sides, you see the difference and choose.
    """
    project = Project.find()
    with (
        open_board(port, sim, project=project, remember=True) as board,
        progress_bar("pull", quiet=as_json) as progress,
    ):
        info, there, _ = board.survey([HOME])
        workspace = Workspace(project, info.device_id)
        steps = [step for step in workspace.plan(there) if step.action is not Action.PUSH]
        outcome = workspace.settle(board, steps, ask=ask_which, push=False, progress=progress)
    pulled = [step.path for step in outcome.done if step.action is Action.PULL]
    if as_json:
        print_json({"pulled": pulled, "conflicts": outcome.conflicts})
    else:
        for path in pulled:
            echo(f"{path}: {Action.PULL.value}")
        if not pulled:
            echo("nothing new on the board")
        if outcome.saved:
            echo(f"the replaced files are in {outcome.saved}")
    conflict_left(outcome.conflicts)


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@board_options
@click.option("--force", is_flag=True, help="Write over FILE.")
@json_option
def backup(
    file: Path | None, port: str | None, sim: str | None, force: bool, as_json: bool
) -> None:
    """Save the board's workspace, state, settings and certificates as a zip FILE.

    Without FILE it goes to `.tenner/backup/`. It has your keys in it, so keep it to yourself.
    """
    if file and file.exists() and not force:
        raise CommandError(f"{file} is there already; --force writes over it")
    project = Project.find()
    with (
        open_board(port, sim, project=project) as board,
        progress_bar("backup", quiet=as_json) as progress,
    ):
        made = take(board, progress=progress)
    if file is None:
        file = project.folder / "backup" / time.strftime("%Y%m%d-%H%M%S.zip")
        project.make()
    made.save(file)
    size = sum(map(len, made.files.values()))
    if as_json:
        print_json({"file": str(file), "files": sorted(made.files), "bytes": size})
    else:
        echo(f"{len(made.files)} files ({size / 1024:.1f} KB) are in {file}")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@board_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
def restore(file: Path, port: str | None, sim: str | None, yes: bool, as_json: bool) -> None:
    """Put the files of a backup FILE back on the board, and start the agent.

    Files that it replaces are kept in `.tenner/replaced/`. Other files on the board stay.
    """
    project = Project.find()
    made = Backup.load(file)
    with (
        open_board(port, sim, project=project) as board,
        progress_bar("restore", quiet=as_json) as progress,
    ):
        of, here = made.about.get("device_id"), board.info().device_id
        if of != here and not yes and at_terminal():
            question = f"This is a backup of board {of}, and {here} is connected. Put it there?"
            if not prompts.confirm(question):
                raise click.Abort
        board.guard()
        workspace = Workspace(project, here)
        try:
            written = restore_backup(
                board,
                made,
                lambda path, data: workspace.save(path.lstrip("/"), data),
                progress,
            )
        except BoardGone as exc:
            raise BoardGone(
                f"{exc.message}; every written file is complete, the rest is unchanged: run it "
                "again"
            ) from exc
        except BaseException:
            leave_as_it_was(board)
            raise
        started = board.restart()
    if as_json:
        print_json({"written": written, "agent": started.as_json()})
    else:
        echo(f"{len(written)} of {len(made.files)} files written, the others were the same")
        echo(f"agent      {'running: ' if started.running else ''}{started.text}")

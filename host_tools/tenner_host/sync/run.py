"""One sync of one board: inspect, decide, write code and workspace, start the agent."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable

from tenner_host import FIRMWARE
from tenner_host.board import Board
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.board.transfer import Progress
from tenner_host.errors import BoardGone, BoardRefused, CommandError
from tenner_host.project import Project
from tenner_host.sync import code as codes
from tenner_host.sync import reach
from tenner_host.sync.activate import LIST, MAIN, NEW, activate, finish
from tenner_host.sync.code import CodePlan
from tenner_host.sync.report import Report
from tenner_host.sync.threeway import Action, Step
from tenner_host.sync.workspace import HOME, Ask, Workspace

#: No watchdog may fire while a person reads a diff.
_ASKING_S = 1800
#: Wait only once for a board that has stopped answering.
_LEAVE_S = 5.0
_TEMPLATES = FIRMWARE / "workspace"


def synchronize(
    board: Board,
    project: Project,
    *,
    ask: Ask,
    board_name: str | None = None,
    tree: dict[str, bytes] | None = None,
    delete: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Update the board and start its agent. `tree` replaces the firmware's own code."""
    begun = time.monotonic()
    if not dry_run:
        board.guard()
    info, there, folders = board.survey([*codes.ROOTS, HOME, codes.CONFIG])
    name = codes.board_name(project, info, board_name)
    if tree is None:
        page = codes.wants_page(board.read_files([codes.CONFIG]) if codes.CONFIG in there else {})
        tree = codes.code_tree(name, image=info.image, page=page)
        tree.update(reach.board_files(info.device_id, there))
    codes.check_version(info, tree)
    plan = codes.plan_code(tree, there)
    workspace = Workspace(project, info.device_id)
    report = Report(name, info, plan, [], configured=codes.CONFIG in there, dry_run=dry_run)
    if not dry_run and not workspace.folder.is_dir() and not workspace.there(there):
        workspace.seed(_TEMPLATES)
    report.steps = workspace.plan(there)
    if dry_run:
        return report
    try:
        _carry_out(board, workspace, report, tree, ask, delete, progress)
        board.remove(_empty_folders(folders, there, report.code))
    except BoardGone as exc:
        raise BoardGone(
            f"{exc.message} in the middle of a sync. The board starts the old code or the new, "
            "never a mix: plug it in and run `tenner sync` again"
        ) from exc
    except BaseException:
        leave_as_it_was(board, tree.get("/boot.py"), _half_written(report.code))
        raise
    if board_name:
        project.remember(board=board_name)
    reach.learn(board, info.device_id, tree, project, _address(board))
    report.started = board.restart()
    report.seconds = time.monotonic() - begun
    return report


def _address(board: Board) -> str:
    """Return the address of a board that is on its Wi-Fi, "" for another one."""
    code = "import network;print(network.WLAN(network.STA_IF).ifconfig()[0])"
    try:
        found = board.run(code).strip()
    except CommandError:
        return ""
    return "" if found == "0.0.0.0" else found


def update_workspace(
    board: RemoteBoard,
    project: Project,
    *,
    ask: Ask,
    board_name: str | None = None,
    delete: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Sync the workspace while the agent runs on; the code stays as it is."""
    begun = time.monotonic()
    info, there, _ = board.survey([HOME])
    workspace = Workspace(project, info.device_id)
    report = Report(board.link.known.label, info, CodePlan(), [], dry_run=dry_run)
    report.steps = workspace.plan(there)
    if not dry_run:
        codes.check_space(info, _pushed(workspace, report.steps))
        report.outcome = workspace.settle(
            board, report.steps, ask=ask, delete=delete, progress=progress
        )
    report.seconds = time.monotonic() - begun
    return report


def _carry_out(
    board: Board,
    workspace: Workspace,
    report: Report,
    tree: dict[str, bytes],
    ask: Ask,
    delete: bool,
    progress: Progress | None,
) -> None:
    plan, boot = report.code, tree["/boot.py"]
    if plan.unfinished:
        try:
            finish(board, boot)
        except BoardRefused:
            # Its list cannot be executed. Nothing may start before a valid one.
            board.remove(["/main.py", LIST])
        _, there, _ = board.survey(codes.ROOTS)
        report.code = plan = codes.plan_code(tree, there)
    pushed = _pushed(workspace, report.steps)
    codes.check_space(report.info, {**plan.write, **pushed})

    def guarded_ask(path: str, ours: bytes | None, theirs: bytes | None) -> str:
        board.guard(_ASKING_S)
        try:
            return ask(path, ours, theirs)
        finally:
            board.guard()

    _save_foreign(board, workspace, plan)
    # Save the agent's files before any change.
    report.outcome = workspace.settle(
        board, report.steps, ask=guarded_ask, delete=delete, progress=progress
    )
    if plan:
        activate(board, plan.write, plan.remove, boot, progress, started=plan.started)


def _pushed(workspace: Workspace, steps: list[Step]) -> dict[str, bytes]:
    return {
        f"{HOME}/{step.path}": workspace.read(step.path)
        for step in steps
        if step.action is Action.PUSH
    }


def _save_foreign(board: Board, workspace: Workspace, plan: CodePlan) -> None:
    """Save files that may be the owner's own before their removal."""
    found = board.read_files(plan.foreign) if plan.foreign else {}
    plan.foreign = [path for path, data in found.items() if codes.is_foreign(path, data)]
    for path in plan.foreign:
        workspace.save(path.lstrip("/"), found[path])


def _empty_folders(folders: set[str], there: Iterable[str], plan: CodePlan) -> list[str]:
    """Folders of code that are empty afterwards, the deepest first."""
    used = set()
    for path in {*there, *plan.write} - set(plan.remove):
        while path := path.rpartition("/")[0]:
            used.add(path)
    roots = (codes.HOME, codes.OLD_LIBRARY, codes.SHADOW)
    ours = [folder for folder in folders if folder.startswith(roots)]
    return sorted((folder for folder in ours if folder not in used), key=len, reverse=True)


def _half_written(plan: CodePlan) -> list[str]:
    """Possible leftovers of an interrupted activation, in the order of removal."""
    if plan.started:
        return [path + NEW for path in plan.write]
    return [MAIN, *(path for path in plan.write if path.startswith(codes.HOME))]


def leave_as_it_was(
    board: Board, boot: bytes | None = None, unfinished: Iterable[str] = ()
) -> None:
    """After a failure or Ctrl-C: finish the activation if possible, remove the rest, and let the
    agent run."""
    with contextlib.suppress(CommandError, KeyboardInterrupt):
        if not board.regain(_LEAVE_S):
            return
        if boot is not None:
            finish(board, boot)
        board.remove(list(unfinished))
        board.restart(limit_s=3.0)

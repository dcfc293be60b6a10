"""One update of a Linux board: inspect, build, send the changes, activate, and roll back if it
does not start."""

from __future__ import annotations

import time
from pathlib import Path

from tenner_host import FIRMWARE
from tenner_host.board.board import Started
from tenner_host.board.linux_board import Ending, LinuxBoard, Probe
from tenner_host.board.ssh import Refused, script
from tenner_host.board.transfer import Progress, short_hash
from tenner_host.errors import BoardGone, CommandError
from tenner_host.linux import kit, release
from tenner_host.linux.package import unpacked_kit
from tenner_host.linux.release import Release
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_host.sync import reach
from tenner_host.sync.code import CodePlan, space_needed
from tenner_host.sync.report import Report
from tenner_host.sync.workspace import HOME, Ask, Workspace

#: A clock this far off makes certificates look expired or not yet valid.
_CLOCK_OFF_S = 3600
#: For folders, the log, and files that the agent writes meanwhile.
_SPARE = 1024 * 1024
_OLDEST_PYTHON = (3, 10)


def board_folder(project: Project, probe: Probe, given: str | None) -> str | None:
    """The folder of boards/ with this board's pins; None for an unknown board."""
    known = release.linux_boards()
    name = given or project.load().get("board")
    if name:
        if name not in known:
            raise CommandError(f"there is no Linux board {name!r}; known: {', '.join(known)}")
        return str(name)
    for name, about in known.items():
        options = about.get("deploy_options")
        host = str(options.get("host", "")) if isinstance(options, dict) else ""
        if host and probe.get("host").lower().startswith(host.partition("-")[0].lower()):
            return name
    return None


def choose_runtime(given: str | None, probe: Probe) -> str:
    """The runtime to use; CommandError if the board cannot run it."""
    runtime = given or probe.about.get("runtime") or "micropython"
    if runtime == "micropython":
        if probe.get("machine") not in kit.MACHINES:
            raise CommandError(
                f"there is no MicroPython kit for {probe.get('machine')!r} (available: "
                f"{', '.join(sorted(kit.MACHINES))}); `--runtime cpython` uses the board's own "
                "python3"
            )
    else:
        python = probe.get("python")
        if tuple(int(part) for part in python.split(".")[:2] if part) < _OLDEST_PYTHON:
            raise CommandError(
                "the board has "
                f"{'python3 ' + python if python else 'no python3 with ssl and asyncio'}; "
                f"{'.'.join(map(str, _OLDEST_PYTHON))} or newer is needed. `--runtime "
                "micropython` brings its own"
            )
    return runtime


def check(probe: Probe, host: str) -> None:
    """Raise CommandError if the board lacks a requirement."""
    if probe.missing:
        raise CommandError(f"{host} lacks {', '.join(probe.missing)}, which the agent needs")
    if probe.get("readonly"):
        raise CommandError(
            f"{probe.get('user')} may not write to {probe.get('readonly')} on {host}: log in as "
            "root, or make the file system writable"
        )


def clock_hint(probe: Probe) -> str:
    """A sentence about a wrong clock, or ""."""
    off_s = probe.clock_off_s()
    if abs(off_s) < _CLOCK_OFF_S:
        return ""
    return (
        f"the board's clock is {abs(off_s) / 3600:.0f} h {'behind' if off_s > 0 else 'ahead'}: "
        "until NTP has set it no certificate is accepted and no job of the day runs"
    )


def boot_hint(board: LinuxBoard) -> str:
    """A sentence if nothing starts the agent after a restart of the board, or ""."""
    base = board.probe.get("base")
    if board.ssh.run('cat "$1/init" 2>/dev/null || true', base).strip() != b"none":
        return ""
    way = f"let that call `{base}/current/ctl start`"
    user = board.probe.get("user")
    if board.probe.get("init") == "systemd" and user != "root":
        way = f"let root call `loginctl enable-linger {user}`, and deploy again"
    return f"nothing there starts the agent after a restart of the board: {way}"


def deploy(
    board: LinuxBoard,
    project: Project,
    *,
    ask: Ask,
    board_name: str | None = None,
    runtime: str | None = None,
    package: Path | None = None,
    made: Release | None = None,
    delete: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Update the board and start its agent. `made` replaces the firmware's own release."""
    begun = time.monotonic()
    probe = board.look()
    check(probe, board.ssh.host)
    name = board_folder(project, probe, board_name)
    if made is None:
        runtime = choose_runtime(runtime, probe)
        own_kit = unpacked_kit(package) if package else None
        made = release.build(
            runtime, kit.MACHINES.get(probe.get("machine")), name, own_kit=own_kit
        )
    plan = plan_release(made, probe)
    workspace = Workspace(project, board.info().device_id)
    there = board.manifest([HOME])
    report = Report(name or "-", board.info(), plan, [], dry_run=dry_run)
    report.configured = bool(probe.get("configured"))
    if not dry_run and not workspace.folder.is_dir() and not workspace.there(there):
        workspace.seed(FIRMWARE / "workspace")
    report.steps = workspace.plan(there)
    if dry_run:
        return report
    info = board.info()
    need = space_needed(plan.write, info.block) + _SPARE
    if need > info.flash_free:
        raise CommandError(
            f"{board.ssh.host} is too full: {need // 1024} KB are needed beside its present "
            f"files, and {info.flash_free // 1024} KB are free. Nothing was changed"
        )
    # Save the agent's files before any change.
    report.outcome = workspace.settle(
        board, report.steps, ask=ask, delete=delete, progress=progress
    )
    if plan:
        stage(board, made, plan)
    # Without the owner's key nothing there could be reached.
    reached = reach.board_files(info.device_id, {}) if keys.has_own() else {}
    changed = _put_keys(board, reached)
    ending = activate(board, made)
    if ending.result != "running":
        raise CommandError(_failure(ending))
    if board_name:
        project.remember(board=board_name)
    if changed and not plan:
        # The agent reads its keys when it starts.
        board.restart()
    reach.learn(board, info.device_id, reached, project, board.address)
    report.started = Started(True, board.ctl("status").strip().removeprefix("running "))
    report.seconds = time.monotonic() - begun
    return report


def _put_keys(board: LinuxBoard, files: dict[str, bytes]) -> bool:
    """Bring these keys; return whether the board had not all of them."""
    there = board.manifest(list(files)) if files else {}
    new = {
        path: data
        for path, data in files.items()
        if path not in there or there[path].hash != short_hash(data)
    }
    if new:
        board.write_files(new)
    return bool(new)


def plan_release(made: Release, probe: Probe) -> CodePlan:
    """The files of the release to send, and those to remove."""
    plan = CodePlan()
    for path, hashed in made.hashes.items():
        if probe.files.get(path) == hashed:
            plan.unchanged += 1
        else:
            plan.write[path] = made.files[path]
    plan.remove = sorted(set(probe.files) - set(made.files))
    return plan


def stage(board: LinuxBoard, made: Release, plan: CodePlan) -> None:
    """Put the release on the board, beside the running one."""
    gone = sorted({*plan.remove, *(path for path in plan.write if path in board.probe.files)})
    try:
        board.ssh.run(
            script("stage"),
            board.probe.get("base"),
            made.name,
            data="".join(f"{path}\n" for path in [*gone, ""]).encode() + made.packed(plan.write),
        )
    except Refused as exc:
        full = "no space" in exc.said.lower()
        raise CommandError(
            f"the release could not be put on {board.ssh.host}: "
            f"{'its disk is full' if full else exc.message}. The previous one still runs"
        ) from exc
    except BoardGone as exc:
        raise BoardGone(
            f"{exc.message} in the middle of a deploy. The previous release still runs; run this "
            "again"
        ) from exc


def activate(board: LinuxBoard, made: Release) -> Ending:
    """Let the board activate the release, and return its report."""
    command = f"{board.probe.get('base')}/releases/{made.name}/ctl"
    try:
        text = board.ssh.run('exec "$@"', command, "activation", ok=(0, 1))
    except BoardGone as exc:
        raise BoardGone(
            f"{exc.message} while the board activated the release. It finishes alone, and rolls "
            "back should the new release not start; run it again to see"
        ) from exc
    return Ending.parse(text.decode(errors="replace"))


def _failure(ending: Ending) -> str:
    if ending.result == "back":
        return (
            f"the new release does not start ({ending.reason}); rolled back to the previous "
            "release"
        )
    if ending.result == "lost":
        return (
            f"the new release does not start ({ending.reason}), and now the previous one does "
            "not either"
        )
    return (
        "the release is on the board, but the agent does not run: "
        f"{ending.reason or 'it said nothing'}"
    )

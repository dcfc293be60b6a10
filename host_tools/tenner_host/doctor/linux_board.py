"""`tenner doctor` for a Linux board: the connection, the system, the release, the agent, and its
services."""

from __future__ import annotations

import re

from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.opening import open_as
from tenner_host.board.ports import Port
from tenner_host.board.ssh import script
from tenner_host.console.console import Console, failing
from tenner_host.doctor import inside, outside
from tenner_host.doctor.findings import Finding, Part, fail, from_error, ok, skip, warn
from tenner_host.errors import BoardSilent, CommandError, PortError
from tenner_host.linux.deploy import clock_hint
from tenner_host.project import Project
from tenner_host.setup.board_ca_roots import FOLDER

#: Its network is the system's business, and it has a console without Telegram.
_ESSENTIAL = {"llm.model": inside.ESSENTIAL["llm.model"]}
_LOW_SPACE = 8 * 1024 * 1024
#: The capabilities that root keeps: see firmware/tenner/port/linux/least_power.py.
_KEPT = sum(1 << number for number in (0, 1, 3, 5, 6, 7, 21))


def examine(found: Port, loader: bool) -> Part:
    """Run all checks in order, as far as they can go. The agent keeps running."""
    project = Project.find()
    try:
        board = open_as(LinuxBoard, found, project, remember=project.exists)
    except PortError as exc:
        yield from_error("port", exc)
        return
    except BoardSilent as exc:
        yield from_error("ssh", exc)
        return
    with board:
        yield from _on_board(board)


def _on_board(board: LinuxBoard) -> Part:
    probe = board.probe
    yield ok(
        "ssh",
        (
            f"{probe.get('user')} may log in; {probe.get('machine')}, {probe.get('libc')}, "
            f"{probe.get('init')}"
        ),
    )
    free = board.info().flash_free
    text = f"{free // 1024 // 1024} MB are free where releases are kept"
    if free < _LOW_SPACE:
        yield warn("space", text, "remove something large")
    else:
        yield ok("space", text)
    hint = clock_hint(probe)
    if hint:
        what, _, effect = hint.partition(": ")
        yield fail("clock", what, f"let NTP run on it: {effect}")
    else:
        yield ok("clock", "as this computer's")
    yield from _release(board)
    certificates = list(board.manifest([FOLDER]))
    files = board.read_files(["/config.json", *certificates])
    settings, said = inside.check_settings(files.pop("/config.json", None), _ESSENTIAL, board)
    yield from said
    if files:
        yield from inside.check_certificates(files, settings)
    else:
        yield ok("certificates", "none of its own: it trusts the system's")
    if not probe.get("release"):
        yield skip("agent", "there is no release")
        return
    yield from _agent(board)
    yield _rights(board)
    if settings is None or probe.about.get("runtime") != "micropython":
        yield skip("model", "needs settings" if settings is None else "runs under CPython")
    else:
        yield from outside.check_services(board, settings)


def _release(board: LinuxBoard) -> Part:
    probe = board.probe
    if not probe.get("release"):
        yield fail("release", "the agent is not on it", f"run `tenner deploy {board.ssh.host}`")
        return
    damaged = board.damaged()
    if damaged:
        yield fail(
            "release",
            f"{probe.get('release')} has changed since it was sent: {', '.join(damaged[:3])}",
            "run `tenner deploy`",
        )
        return
    about = f"tenner {probe.about.get('tenner')} under {probe.about.get('runtime')}"
    yield ok("release", f"{probe.get('release')} is whole: {about}")


def _agent(board: LinuxBoard) -> Part:
    try:
        with Console(LinuxBoard.console(board.port)) as console:
            answer = console.ask("/status")
    except CommandError as exc:
        what, _, advice = exc.message.partition(": ")
        yield fail("agent", what, advice or "see `tenner logs -f`, or run `tenner deploy` again")
        return
    yield ok("agent", "; ".join(answer[1:3]))
    for sentence in failing(answer):
        yield fail("service", sentence, "see `tenner logs -f`; a setting or a file may be wrong")


def _rights(board: LinuxBoard) -> Finding:
    """Does the agent run with no more rights than it needs?"""
    probe = board.probe
    running = re.match(r"running as process (\d+)", probe.get("agent"))
    if not running:
        return skip("rights", "the agent does not run")
    said = board.ssh.run(script("rights"), running[1], probe.get("base")).decode(errors="replace")
    found = dict(line.split(" ", 1) for line in said.splitlines())
    if "NoNewPrivs" not in found:
        return skip("rights", "its system does not report a process's rights")
    return rights(found, probe.get("init"))


def rights(found: dict[str, str], init: str) -> Finding:
    """The finding from the output of onboard/rights.sh."""
    missing = []
    if found["NoNewPrivs"] != "1":
        missing.append("its commands may gain rights")
    if found.get("Uid") == "0":
        if int(found.get("CapBnd", "0"), 16) & ~_KEPT:
            missing.append("it has all of root's capabilities")
        if found.get("release") != "ro":
            missing.append("it could overwrite its own code")
        if "tmp" not in found:
            missing.append("it shares /tmp with others")
    if not missing:
        return ok("rights", "no more than it needs")
    how = "`systemctl cat tenner` shows its settings" if init == "systemd" else "its kernel"
    if init != "systemd":
        how += " may lack namespaces or capabilities"
    return warn(
        "rights", ", ".join(missing), f"run `tenner deploy` again; if that doesn't help, {how}"
    )

"""`tenner doctor` for a Linux board: the way there, the system, the release, the agent, and what it talks to."""

from __future__ import annotations

from host_tools.board.link import Board
from host_tools.doctor import inside, outside
from host_tools.doctor.findings import Part, fail, ok, skip, warn
from host_tools.errors import CommandError
from host_tools.linux.board import LinuxBoard, linux, open_console
from host_tools.linux.deploy import clock_hint
from host_tools.setup.trust import FOLDER
from host_tools.talk.console import Console

_LOW_SPACE = 8 * 1024 * 1024


def examine(found: Board) -> Part:
    """All of it, as far as one gets. The agent goes on running."""
    board = linux(found)
    probe = board.probe
    yield ok(
        "ssh",
        f"{probe.get('user')} may log in; {probe.get('machine')}, {probe.get('libc')}, {probe.get('init')}",
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
    settings, said = inside.check_settings(files.pop("/config.json", None), on_linux=True)
    yield from said
    if files:
        yield from inside.check_certificates(files)
    else:
        yield ok("certificates", "none of its own: those of the system are trusted")
    if not probe.get("release"):
        yield skip("agent", "there is no release")
        return
    yield from _agent(board)
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
            f"{probe.get('release')} is not as it was sent: {', '.join(damaged[:3])}",
            "run `tenner deploy`",
        )
        return
    about = f"tenner {probe.about.get('tenner')} under {probe.about.get('runtime')}"
    yield ok("release", f"{probe.get('release')} is whole: {about}")


def _agent(board: LinuxBoard) -> Part:
    try:
        with Console(open_console(board.port)) as console:
            answer = console.ask("/status")
    except CommandError as exc:
        what, _, advice = exc.message.partition(": ")
        yield fail("agent", what, advice or "see `tenner logs -f`, or run `tenner deploy` again")
        return
    yield ok("agent", "; ".join(answer[1:3]))

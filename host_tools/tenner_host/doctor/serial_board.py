"""The checks of a board at a serial port, in order; the first asks the agent, before it is
stopped."""

from __future__ import annotations

from tenner_host.board.board import AT_REPL
from tenner_host.board.opening import open_as
from tenner_host.board.ports import Port
from tenner_host.board.serial_board import SerialBoard
from tenner_host.console.console import Console, failing
from tenner_host.doctor import cable, inside, outside
from tenner_host.doctor.findings import Finding, Part, fail, from_error, ok, skip, unreached
from tenner_host.errors import BoardSilent, CommandError, PortError
from tenner_host.project import Project
from tenner_host.setup.board_ca_roots import FOLDER
from tenner_host.sync import code as codes

#: The checks that need the port.
AFTER_PORT = ("service", "repl", "micropython", "code", "files", "heap", "settings", "wifi", "i2c")
_GUARD_S = 900
#: A handshake of TLS blocks the console for so long.
_ANSWER_S = 10.0
#: The memory that the agent needs for each server, as it has learned.
_NEEDS = "/state/tls"


def examine(found: Port, loader: bool) -> Part:
    """Run all checks as far as they can go; `loader` resets the chip into its loader."""
    project = Project.find()
    services = _services(found)
    try:
        board = open_as(SerialBoard, found, project, remember=project.exists)
    except PortError as exc:
        yield from_error("port", exc)
        yield from unreached(AFTER_PORT)
        return
    except BoardSilent as exc:
        yield from cable.check_port(found)
        yield from services
        yield from_error("repl", exc)
        if loader:
            yield from cable.check_loader(found, None, None)
        yield from unreached(AFTER_PORT[2:])
        return
    with board:
        yield from cable.check_port(found)
        yield from services
        was = "the agent ran and was stopped" if board.was_running else "nothing ran"
        yield ok("repl", f"MicroPython answers; {was}")
        yield from _on_board(board, found, loader, project)


def _services(found: Port) -> list[Finding]:
    """The parts of the running agent that fail; it forgets them when it is stopped."""
    try:
        if SerialBoard.peek(found) == AT_REPL:
            return [skip("service", "no agent runs")]
        with Console(SerialBoard.console(found)) as console:
            answer = console.ask("/status", _ANSWER_S)
    except PortError:
        return []
    except CommandError:
        return [skip("service", "no agent answers on the console")]
    do = "see `tenner logs -f`; a setting or a file may be wrong"
    found_wrong = [fail("service", sentence, do) for sentence in failing(answer)]
    return found_wrong or [ok("service", "the agent says that each of its parts works")]


def _on_board(board: SerialBoard, found: Port, loader: bool, project: Project) -> Part:
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
    files = board.read_files(["/config.json", _NEEDS, *certificates])
    yield from inside.check_code(info, there, project)
    yield from inside.check_files(board, info, there)
    yield from inside.check_memory(board)
    yield from inside.check_needs(files.pop(_NEEDS, None), codes.known_name(project, info))
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

"""`RemoteBoard`: a board without a cable, through sealed requests; its agent runs on.

It has the owner's files, not the code: that comes as a signed release.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NoReturn

from tenner_host.board import ports
from tenner_host.board.board import GUARD_S, Board, Entry, Started, expected, refuse_changed
from tenner_host.board.info import Info
from tenner_host.board.transfer import Progress, short_hash
from tenner_host.board.transport import Transport
from tenner_host.errors import CommandError
from tenner_host.project import Project
from tenner_host.remote import known
from tenner_host.remote.link import PIECE, Link

#: From a restart to the next connection.
_START_S = 180.0


class RemoteBoard(Board):
    """`port` is `mqtt://` or `lan://`, and a name of the board or its address
    (tenner_host/remote/known.py)."""

    has_repl = False
    has_console = False
    joins_wifi = False

    def __init__(self, port: ports.Port, link: Link) -> None:
        self.port = port
        self.link = link
        #: Hash of each file in the last survey.
        self._seen: dict[str, str] = {}

    @classmethod
    def open(cls, port: ports.Port) -> RemoteBoard:
        scheme, name = known.way_of(port.device)
        return cls(port, Link(known.find(name, Project.find(), scheme), scheme))

    @classmethod
    def console(cls, port: ports.Port) -> Transport:
        _needs_cable("a console")

    @classmethod
    def peek(cls, port: ports.Port) -> str:
        return "a board without a cable: `tenner status` with --via shows its state"

    @classmethod
    def need_loader(cls, port: ports.Port) -> None:
        _needs_cable("`tenner flash`")

    def enter(self) -> None:
        try:
            self.link.open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.link.close()

    @property
    def was_running(self) -> bool:
        return False

    def regain(self, limit_s: float) -> bool:
        """Does nothing: every step there is complete or absent."""
        return False

    def repl(self) -> Transport:
        _needs_cable("the REPL")

    def hear(self, limit_s: float) -> str:
        return ""

    def run(self, code: str, limit_s: float = 10.0) -> str:
        _needs_cable("running code")

    def load(self, module: str) -> None:
        _needs_cable("running code")

    def call(self, module: str, call: str, limit_s: float = 20.0) -> str:
        _needs_cable("running code")

    def fresh(self) -> None:
        """Does nothing: the agent runs on."""

    def say(self, command: str) -> str:
        """Return the agent's answer to a /command."""
        _, text = self.link.ask("say", text=command)
        return text.decode(errors="replace")

    # Identity.

    def state(self, limit_s: float = 60.0) -> dict[str, Any]:
        """Return the facts of `info`, and the state of an update."""
        result, _ = self.link.ask("info", limit_s=limit_s)
        return result

    def info(self) -> Info:
        found = self.state()
        return Info(
            micropython=found["micropython"],
            mpy=found["mpy"],
            machine=found["machine"],
            build=found["build"],
            platform=found["platform"],
            agent=found["agent"],
            block=found["block"],
            flash_total=found["blocks"] * found["block"],
            flash_free=found["free"] * found["block"],
            heap_free=found["heap_free"],
            heap_used=found["heap_used"],
            device_id=self.link.known.device,
            reset_cause=None,
            deflate=False,
        )

    def survey(self, roots: list[str]) -> tuple[Info, dict[str, Entry], set[str]]:
        return self.info(), self.manifest(roots), set()

    def manifest(self, roots: list[str]) -> dict[str, Entry]:
        _, text = self.link.ask("list", roots=roots)
        found = {}
        for line in text.decode().splitlines():
            size, seen, name = line.split(" ", 2)
            found[json.loads(name)] = Entry(int(size), seen)
        self._seen.update({path: entry.hash for path, entry in found.items()})
        return found

    # Files.

    def read_files(self, paths: list[str], progress: Progress | None = None) -> dict[str, bytes]:
        found = {}
        for path in paths:

            def show(done: int, path: str = path) -> None:
                if progress:
                    progress(path, done)

            result, data = self.link.ask("read", path=path, at=0, progress=show)
            if not result.get("absent"):
                found[path] = data
        return found

    def write_files(
        self,
        files: dict[str, bytes],
        *,
        deflate: bool = True,
        staged: bool = False,
        progress: Progress | None = None,
    ) -> None:
        changed = []
        for path, data in sorted(files.items()):
            for at in range(0, max(len(data), 1), PIECE):
                piece = data[at : at + PIECE]
                self.link.ask("write", piece, path=path, at=at, size=len(data))
                if progress:
                    progress(path, at + len(piece))
            digest = hashlib.sha256(data).hexdigest()
            old = expected(path, self._seen)
            result, _ = self.link.ask("commit", path=path, sha256=digest, old=old)
            if result.get("changed"):
                changed.append(path)
            else:
                self._seen[path] = short_hash(data)
        refuse_changed(changed)

    def make_folders(self, paths: list[str]) -> None:
        """Does nothing: the board makes the folder of each file that it writes."""

    def remove(self, paths: list[str]) -> list[str]:
        changed = []
        for path in paths:
            old = expected(path, self._seen)
            if self.link.ask("remove", path=path, old=old)[0].get("changed"):
                changed.append(path)
            else:
                self._seen.pop(path, None)
        refuse_changed(changed)
        return []

    # Life.

    def guard(self, seconds: int = GUARD_S) -> None:
        """Does nothing: the agent runs on while files are moved."""

    def leave(self, *, start: bool) -> None:
        """Does nothing: the agent was never interrupted."""

    def restart(self, limit_s: float = 0.0) -> Started:
        limit_s = limit_s or _START_S
        self.link.ask("restart")
        if not self.link.wait_restart(limit_s):
            return Started(False, f"it did not come back within {limit_s:g} s")
        return Started(True, f"tenner {self.state()['agent']}")


def _needs_cable(what: str) -> NoReturn:
    raise CommandError(f"{what} needs the cable: it cannot go over the network")

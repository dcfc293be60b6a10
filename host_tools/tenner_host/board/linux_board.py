"""`LinuxBoard`: a Linux board over ssh, with the files and the agent of any `Board`.

A chip's root folder is spread out there: settings in /etc/tenner, the rest in /var/lib/tenner; for
a user other than root, in that user's own folders.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
import time
from dataclasses import dataclass, field

from tenner_host.board import ports
from tenner_host.board.board import (
    GUARD_S,
    Board,
    Entry,
    Started,
    expected,
    onboard,
    refuse_changed,
)
from tenner_host.board.info import Info
from tenner_host.board.ssh import NO_REPL, Refused, Ssh, SshLine, script
from tenner_host.board.transfer import Progress
from tenner_host.board.transport import Transport
from tenner_host.errors import BoardGone, CommandError
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_host.tarball import tarred

_CONFIG = "/config.json"
#: The files of the owner's computer.
_KEYS = (keys.ON_BOARD, known.ON_BOARD)
_TRACEBACK = re.compile(r"^(\w*(?:Error|Exception|Exit|Interrupt)\b.*)$")
_LOG_LINE = re.compile(r"^ *\S+ (?:config|service) +(.+)$")


@dataclass
class Probe:
    """A board's report of itself; `values` has the names of onboard/probe.sh."""

    values: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    #: sha256 of the files of the running release.
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Probe:
        probe = cls()
        for line in text.splitlines():
            hashed = re.match(r"^\\?([0-9a-f]{64}) [ *]\./(.+)$", line)
            name, _, value = line.partition(" ")
            if hashed:
                probe.files[hashed[2]] = hashed[1]
            elif name == "missing":
                probe.missing.append(value)
            elif name == "about":
                about, _, value = value.partition(" ")
                probe.about[about] = value
            else:
                probe.values[name] = value
        return probe

    def get(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def space(self) -> tuple[int, int, int]:
        """Size of a block, and bytes in all and free, on the file system of the releases."""
        block, total, free = (int(word) for word in self.get("space").split())
        return block, total * block, free * block

    def clock_off_s(self) -> float:
        """The clock's lag behind ours in seconds; negative when ahead."""
        return time.time() - int(self.get("clock") or 0)


@dataclass(frozen=True)
class Ending:
    """The outcome of an update or a restart, and the reason for any other than the intended
    one."""

    result: str
    reason: str

    @classmethod
    def parse(cls, text: str) -> Ending:
        result, why, log = "", "", []
        for line in text.splitlines():
            name, _, value = line.partition(" ")
            if name == "result":
                result = value
            elif name == "why":
                why = value
            elif name == "log":
                log.append(value)
        return cls(result, why_ended(log) or why)


def why_ended(log: list[str]) -> str:
    """The reason in the output of an agent that ended."""
    for line in reversed(log):
        found = _LOG_LINE.match(line) or _TRACEBACK.match(line)
        if found:
            return found[1]
    return log[-1].strip() if log else ""


class LinuxBoard(Board):
    """`port` names the host."""

    has_repl = False
    has_console = True
    joins_wifi = False
    port_module = "tenner.port.linux.port"

    def __init__(self, port: ports.Port) -> None:
        self.ssh = Ssh(port.device)
        self.port = port
        self._probe: Probe | None = None
        #: sha256 of each file in the last survey.
        self._seen: dict[str, str] = {}

    @classmethod
    def open(cls, port: ports.Port) -> LinuxBoard:
        board = cls(port)
        board.look()
        return board

    @classmethod
    def console(cls, port: ports.Port) -> SshLine:
        # The same places as in onboard/probe.sh.
        return SshLine(
            port.device,
            (
                'base=/opt/tenner; [ "$(id -u)" = 0 ] || base=$HOME/.local/lib/tenner; exec '
                '"$base/current/ctl" console'
            ),
        )

    @classmethod
    def peek(cls, port: ports.Port) -> str:
        return "a Linux board: `tenner doctor` checks it"

    @classmethod
    def need_loader(cls, port: ports.Port) -> None:
        raise CommandError(
            f"{port.device} is a Linux board, which has its system on a card; `tenner deploy` "
            "brings the agent to it"
        )

    def enter(self) -> None:
        """Does nothing: the agent runs on."""

    @property
    def was_running(self) -> bool:
        return False

    def regain(self, limit_s: float) -> bool:
        """Does nothing: every step there is complete or absent."""
        return False

    def close(self) -> None:
        self.ssh.close()

    @property
    def probe(self) -> Probe:
        """The board's report, requested once."""
        if self._probe is None:
            self._probe = self.look()
        return self._probe

    def look(self) -> Probe:
        """Request the board's report and the hashes of its release, in one call."""
        self._probe = Probe.parse(self.ssh.run(script("probe"), "files").decode(errors="replace"))
        if self._probe.get("system") != "Linux":
            raise CommandError(f"{self.ssh.host} runs {self._probe.get('system')!r}, not Linux")
        return self._probe

    @property
    def address(self) -> str:
        """Its address as the ssh connection shows it, "" for one that its page does not serve."""
        found = self.probe.get("address")
        return "" if ":" in found else found

    def repl(self) -> Transport:
        raise CommandError(NO_REPL)

    def hear(self, limit_s: float) -> str:
        return ""

    def run(self, code: str, limit_s: float = 10.0) -> str:
        """Run code in a separate interpreter of the release, beside the agent."""
        if self.probe.about.get("runtime") != "micropython":
            raise CommandError(
                "settings can't be tried on a board whose agent runs under CPython: add --no-test"
            )
        # As standard input, because everybody there can read the arguments of a command.
        command = 'k=$1/current/kit; exec "$k/ld.so" --library-path "$k" "$k/micropython"'
        base = self.probe.get("base")
        return self.ssh.run(command, base, data=code.encode()).decode(errors="replace")

    def load(self, module: str) -> None:
        """Does nothing: calls share no state."""

    def call(self, module: str, call: str, limit_s: float = 20.0) -> str:
        certs = self._place("/certs")
        code = onboard(module).replace('"/certs', f'"{certs}')
        return self.run(f"{code}{call}\n", limit_s)

    def fresh(self) -> None:
        """Does nothing: every call has a new interpreter."""

    # Identity.

    def damaged(self) -> list[str]:
        """Files of the release that differ from its SHA256SUMS."""
        command = 'cat "$1/current/SHA256SUMS" 2>/dev/null || true'
        text = self.ssh.run(command, self.probe.get("base")).decode(errors="replace")
        wanted = dict(line.split("  ", 1)[::-1] for line in text.splitlines() if "  " in line)
        found = self.probe.files
        return sorted(name for name, digest in wanted.items() if found.get(name) != digest)

    def info(self) -> Info:
        probe = self.probe
        block, total, free = probe.space
        runtime = probe.about.get("runtime", "")
        return Info(
            micropython=runtime,
            mpy=0,
            machine=f"{probe.get('machine')}, {probe.get('libc')}, {probe.get('init')}",
            build="",
            platform="linux",
            agent=probe.about.get("tenner"),
            block=block,
            flash_total=total,
            flash_free=free,
            heap_free=0,
            heap_used=0,
            device_id=probe.get("id") or probe.get("host"),
            reset_cause=None,
            deflate=True,
        )

    def survey(self, roots: list[str]) -> tuple[Info, dict[str, Entry], set[str]]:
        return self.info(), self.manifest(roots), set()

    def manifest(self, roots: list[str]) -> dict[str, Entry]:
        places = {root: place for root in roots if (place := self._place(root))}
        if not places:
            return {}
        text = self.ssh.run(script("tree"), *places.values()).decode("utf-8", "surrogateescape")
        sizes: dict[str, int] = {}
        found = {}
        for line in text.splitlines():
            if line.startswith("size "):
                _, size, path = line.split(" ", 2)
                sizes[path] = int(size)
            elif re.match(r"^[0-9a-f]{64} [ *]", line):
                name = self._name(line[66:])
                self._seen[name] = line[:64]
                digest = base64.b64encode(bytes.fromhex(line[:24])).decode()
                found[name] = Entry(sizes.get(line[66:], 0), digest)
        return found

    def _place(self, name: str) -> str:
        """The place of a file or folder of a board's root; "" for one without a place, such as
        boot.py."""
        if name == _CONFIG:
            return self.probe.get("etc") + _CONFIG
        if name.split("/")[1] in ("workspace", "state", "certs") or name in _KEYS:
            return self.probe.get("data") + name
        return ""

    def _name(self, place: str) -> str:
        for top in ("data", "etc"):
            folder = self.probe.get(top)
            if place.startswith(folder + "/"):
                return place[len(folder) :]
        raise CommandError(f"{self.ssh.host} reported {place!r}, which was not requested")

    # Files.

    def read_files(self, paths: list[str], progress: Progress | None = None) -> dict[str, bytes]:
        places = {self._place(path): path for path in paths if self._place(path)}
        if not places:
            return {}
        data = self.ssh.run(script("read"), data="".join(f"{one}\n" for one in places).encode())
        found = {}
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for entry in archive:
                    file = archive.extractfile(entry) if entry.isfile() else None
                    if file is not None:
                        path = places["/" + entry.name.removeprefix("./").lstrip("/")]
                        found[path] = file.read()
                        if progress:
                            progress(path, len(found[path]))
        except tarfile.ReadError:
            if data:
                raise BoardGone(f"the connection to {self.ssh.host} was lost") from None
        return found

    def write_files(
        self,
        files: dict[str, bytes],
        *,
        deflate: bool = True,
        staged: bool = False,
        progress: Progress | None = None,
    ) -> None:
        sent: dict[str, bytes] = {}
        rows = []
        for number, (path, data) in enumerate(sorted(files.items())):
            place = self._place(path)
            if not place or "\n" in place:
                raise CommandError(f"{path!r} has no place on a Linux board")
            sent[str(number)] = data
            rows.append(f"{number} {expected(path, self._seen)} {place}\n")
        sent["list"] = "".join(rows).encode()
        packed = gzip.compress(tarred(sent, 0o600), 6)
        work = f"{self.probe.get('data')}/.incoming"
        try:
            said = self.ssh.run(script("write"), work, data=packed).decode(errors="replace")
        except Refused as exc:
            raise CommandError(f"not everything could be written: {exc.message}") from exc
        changed = []
        for line in said.splitlines():
            word, _, place = line.partition(" ")
            path = self._name(place)
            if word == "changed":
                changed.append(path)
            elif progress:
                progress(path, len(files[path]))
        refuse_changed(changed)
        for path, data in files.items():
            self._seen[path] = hashlib.sha256(data).hexdigest()

    def make_folders(self, paths: list[str]) -> None:
        places = [place for path in paths if (place := self._place(path))]
        if places:
            self.ssh.run(
                'umask 077; while IFS= read -r path; do mkdir -p -- "$path" || exit; done',
                data="".join(f"{place}\n" for place in places).encode(),
            )

    def remove(self, paths: list[str]) -> list[str]:
        places = {place: path for path in paths if (place := self._place(path))}
        if not places:
            return []
        left = self.ssh.run(
            'while IFS= read -r path; do rm -f -- "$path"; [ ! -e "$path" ] || echo "$path"; done',
            data="".join(f"{place}\n" for place in places).encode(),
        )
        kept = [places[line] for line in left.decode(errors="replace").splitlines()]
        for path in set(paths).difference(kept):
            self._seen.pop(path, None)
        return kept

    # Life.

    def guard(self, seconds: int = GUARD_S) -> None:
        """Does nothing: the agent runs on while files are moved."""

    def leave(self, *, start: bool) -> None:
        """Does nothing: the agent was never interrupted."""

    def ctl(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        """Call the release's own control script."""
        command = self.probe.get("base") + "/current/ctl"
        return self.ssh.run('exec "$@"', command, *args, ok=ok).decode(errors="replace")

    def restart(self, limit_s: float = 0.0) -> Started:
        ending = Ending.parse(self.ctl("restart", ok=(0, 1)))
        if ending.result == "running":
            return Started(True, self.ctl("status").strip())
        return Started(False, ending.reason)

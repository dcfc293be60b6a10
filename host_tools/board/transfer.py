"""Moves many files in one call of the board's side, onboard/files.py, which tells the protocol."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable

from host_tools.board.transport import Transport, refusal
from host_tools.errors import BoardRefused, BoardSilent

#: Called with the path and how many of its bytes are done.
Progress = Callable[[str, int], None]

#: One block of flash; the board holds it, and a window of the same size to inflate it.
CHUNK = 4096
_WINDOW_BITS = 12
#: Characters of base64 a line; two lines are on their way at most, which every port's 256 bytes hold.
_LINE = 120
_IN_FLIGHT = 250
#: Writing a block takes 50 ms, and littlefs may have to tidy up before.
_WRITE_LIMIT_S = 15.0
_TRIES = 3
_PATHS_A_CALL = 30


def short_hash(data: bytes) -> str:
    """As the board's `t_tree` tells it."""
    return base64.b64encode(hashlib.sha256(data).digest()[:12]).decode()


def put_files(
    transport: Transport,
    files: dict[str, bytes],
    *,
    deflate: bool,
    progress: Progress | None = None,
) -> None:
    """Write files through a `t_put` that is started for them; garbled ones are sent again."""
    waiting = dict(files)
    for left in reversed(range(_TRIES)):
        sender = _Sender(transport, deflate, progress)
        try:
            for path in list(waiting):
                sender.file(path, waiting[path])
                del waiting[path]
            sender.end()
            return
        except BoardRefused as exc:
            # The rest of the file is on its way to a prompt now: clear it.
            transport.enter_raw_repl()
            if "garbled" not in str(exc) and "incorrect padding" not in str(exc) or not left:
                raise


class _Sender:
    """One run of the board's `t_put`."""

    def __init__(self, transport: Transport, deflate: bool, progress: Progress | None) -> None:
        self._transport = transport
        self._deflate = deflate
        self._progress = progress
        self._in_flight: list[int] = []
        transport.exec_raw_no_follow(f"t_put({CHUNK})")

    def file(self, path: str, data: bytes) -> None:
        digest = hashlib.sha256(data).hexdigest()
        name = base64.b64encode(path.encode()).decode()
        for start in range(0, max(len(data), 1), CHUNK):
            chunk = data[start : start + CHUNK]
            last = start + CHUNK >= len(data)
            kind, packed = self._pack(chunk)
            text = base64.b64encode(packed).decode()
            lines = [text[at : at + _LINE] for at in range(0, len(text), _LINE)]
            self._line(f"{kind} {len(lines)} {digest if last else '-'} {name}")
            for line in lines:
                self._line(line)
            self._wait(b"k")
            name = "-"
            if self._progress:
                self._progress(path, min(start + CHUNK, len(data)))

    def _pack(self, chunk: bytes) -> tuple[str, bytes]:
        if self._deflate:
            packer = zlib.compressobj(9, zlib.DEFLATED, -_WINDOW_BITS)
            packed = packer.compress(chunk) + packer.flush()
            # Inflating takes the board longer than receiving a few bytes.
            if len(packed) < len(chunk) * 0.9:
                return "z", packed
        return "w", chunk

    def _line(self, text: str) -> None:
        data = text.encode() + b"\n"
        while self._in_flight and sum(self._in_flight) + len(data) > _IN_FLIGHT:
            self._wait(b"+")
        self._in_flight.append(len(data))
        self._transport.write(data)

    def _wait(self, sign: bytes) -> None:
        """Take answers up to `sign`: a plus for each line, k for a frame."""
        while True:
            got = self._transport.read_one(_WRITE_LIMIT_S)
            if got == b"+":
                del self._in_flight[:1]
            elif got == b"\x04":
                error = self._transport.read_until(1, b"\x04>", timeout=5.0)
                raise refusal(error[:-2].decode(errors="replace"))
            elif got != b"k":
                raise BoardSilent(
                    f"the board at {self._transport.device_name} stopped taking files"
                    + (f" and said {got!r}" if got else "")
                    + "; press its reset button and try again"
                )
            if got == sign:
                return

    def end(self) -> None:
        self._line("Q 0 - -")
        while self._in_flight:
            self._wait(b"+")
        _, error = self._transport.follow(5.0)
        if error:
            raise refusal(error.decode(errors="replace"))


def get_files(
    transport: Transport, paths: list[str], progress: Progress | None = None
) -> dict[str, bytes]:
    """Read files by `t_get`; a file that cannot be read is left out."""
    found: dict[str, bytes] = {}
    for start in range(0, len(paths), _PATHS_A_CALL):
        some = paths[start : start + _PATHS_A_CALL]
        for left in reversed(range(_TRIES)):
            try:
                for path, data in _parse(transport.run(f"t_get({some!r})", 30.0), some).items():
                    found[path] = data
                    if progress:
                        progress(path, len(data))
                break
            except (binascii.Error, _Garbled) as exc:
                if not left:
                    raise BoardSilent(
                        f"what the board at {transport.device_name} sends arrives garbled: another cable or port"
                    ) from exc
    return found


class _Garbled(Exception):
    """A file's hash does not fit what came."""


def _parse(text: str, paths: list[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    data = bytearray()
    waiting = iter(paths)
    for line in text.splitlines():
        if line.startswith(("= ", "! ")):
            path = next(waiting, None)
            if path is None:
                raise _Garbled
            if line.startswith("= "):
                if hashlib.sha256(data).hexdigest() != line[2:].strip():
                    raise _Garbled
                found[path] = bytes(data)
            data.clear()
        else:
            data += base64.b64decode(line, validate=True)
    if next(waiting, None) is not None:
        raise _Garbled
    return found

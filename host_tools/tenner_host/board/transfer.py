"""Move many files in one call of the board's side, onboard/files.py, which describes the
protocol."""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tenner_host.board.transport import Transport, refusal
from tenner_host.errors import BoardRefused, BoardSilent

#: Receives the path and the number of its bytes done.
Progress = Callable[[str, int], None]

#: One block of flash; the board holds it, and an inflate window of the same size.
CHUNK = 4096
_WINDOW_BITS = 12
#: Bytes per answer; at most two such blocks are under way, and every port's 256 bytes hold them.
_BLOCK = 120
_IN_FLIGHT = 250
#: Writing a block takes 50 ms, and littlefs may have to compact before. A board whose answers take
#: longer, such as an emulated one, gets so many times the longest of them.
_WRITE_LIMIT_S = 15.0
_TIMES_SLOWEST = 8
_TRIES = 3
#: The board's errors when a line arrives damaged.
_GARBLED = (
    "garbled",
    "incorrect padding",
    "invalid syntax for integer",
    "need more than",
    "unpack",
)
_PATHS_A_CALL = 30


def short_hash(data: bytes) -> str:
    """The hash in the form of the board's `t_tree`."""
    return base64.b64encode(hashlib.sha256(data).digest()[:12]).decode()


def put_files(
    transport: Transport,
    files: dict[str, bytes],
    *,
    deflate: bool,
    staged: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write files through a fresh `t_put`; send damaged ones again."""
    waiting = dict(files)
    for left in reversed(range(_TRIES)):
        sender = _Sender(transport, deflate, staged)
        try:
            for frame in _frames(list(waiting.items())):
                sender.frame(frame)
                for piece in frame:
                    if piece.last:
                        del waiting[piece.path]
                    if progress:
                        progress(piece.path, piece.end)
            sender.end()
            return
        except BoardRefused as exc:
            # The rest of the file is going to a prompt now: clear it.
            transport.enter_raw_repl()
            if not any(sign in str(exc) for sign in _GARBLED) or not left:
                raise


@dataclass(frozen=True)
class _Piece:
    """A file in a frame, or a part of one: its bytes from the start up to `end`."""

    path: str
    data: bytes
    end: int
    first: bool
    last: bool
    digest: str


def _frames(files: Iterable[tuple[str, bytes]]) -> Iterator[list[_Piece]]:
    """Group files into frames of a block: small ones share one, large ones take several."""
    frame: list[_Piece] = []
    room = CHUNK
    for path, data in files:
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        at = 0
        # Keep a file that fits into a block unsplit.
        if frame and room < len(data) <= CHUNK:
            yield frame
            frame, room = [], CHUNK
        while True:
            if not room:
                yield frame
                frame, room = [], CHUNK
            part = data[at : at + room]
            end = at + len(part)
            frame.append(_Piece(path, part, end, at == 0, end == len(data), digest))
            room -= len(part)
            at = end
            if at == len(data):
                break
    if frame:
        yield frame


def _without_ctrl_c(data: bytes) -> bytes:
    """Escape the bytes for the board, so that none of them is Ctrl-C."""
    return data.replace(b"\x10", b"\x10\x50").replace(b"\x03", b"\x10\x43")


class _Sender:
    """One run of the board's `t_put`."""

    def __init__(self, transport: Transport, deflate: bool, staged: bool) -> None:
        self._transport = transport
        self._deflate = deflate
        self._in_flight: list[int] = []
        self._limit_s = _WRITE_LIMIT_S
        # Deflated bytes are random: few need an escape. In plain bytes all may need one.
        self._room = CHUNK + 512 if deflate else CHUNK * 2
        transport.exec_raw_no_follow(f"t_put({self._room}, {staged})")

    def frame(self, pieces: list[_Piece]) -> None:
        """Send the pieces of one frame, and wait until it is in the file system."""
        kind, packed = self._pack(b"".join(piece.data for piece in pieces))
        self._line(f"{kind} {len(pieces)} {len(packed)}")
        for piece in pieces:
            name = base64.b64encode(piece.path.encode()).decode() if piece.first else "-"
            self._line(f"{len(piece.data)} {piece.digest if piece.last else '-'} {name}")
        for at in range(0, len(packed), _BLOCK):
            self._send(packed[at : at + _BLOCK])
        self._wait(b"k")

    def _pack(self, chunk: bytes) -> tuple[str, bytes]:
        plain = _without_ctrl_c(chunk)
        if self._deflate:
            packer = zlib.compressobj(9, zlib.DEFLATED, -_WINDOW_BITS)
            packed = _without_ctrl_c(packer.compress(chunk) + packer.flush())
            # The board receives a few bytes faster than it inflates.
            if len(packed) < len(plain) * 0.9 or len(plain) > self._room:
                return "z", packed
        return "w", plain

    def _line(self, text: str) -> None:
        self._send(text.encode() + b"\n")

    def _send(self, data: bytes) -> None:
        while self._in_flight and sum(self._in_flight) + len(data) > _IN_FLIGHT:
            self._wait(b"+")
        self._in_flight.append(len(data))
        self._transport.write(data)

    def _wait(self, sign: bytes) -> None:
        """Read answers up to `sign`: a plus for each line, k for a frame."""
        while True:
            begun = time.monotonic()
            got = self._transport.read_one(self._limit_s)
            taken_s = time.monotonic() - begun
            if got:
                slower = _TIMES_SLOWEST * min(taken_s, _WRITE_LIMIT_S)
                self._limit_s = max(self._limit_s, slower)
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
        self._line("Q 0 0")
        while self._in_flight:
            self._wait(b"+")
        _, error = self._transport.follow(5.0)
        if error:
            raise refusal(error.decode(errors="replace"))


def get_files(
    transport: Transport, paths: list[str], progress: Progress | None = None
) -> dict[str, bytes]:
    """Read files by `t_get`; leave out unreadable ones."""
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
                        f"data from the board at {transport.device_name} arrives garbled: try "
                        "another cable or port"
                    ) from exc
    return found


class _Garbled(Exception):
    """A file's hash does not match its bytes."""


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

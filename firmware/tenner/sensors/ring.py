# tenner sensors.ring: readings kept on flash, for `sensor history` and for plots.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Two files take turns, `readings.0` and `readings.1`: when one is full, the other one starts over.
Each begins with a line of JSON, `[number,"room.temperature",...]`; the file with the greater
number is the newer one. Behind it stand records of 9 bytes, little endian: Unix time (4), which
entry of that line (1), value (float, 4).

The latest records wait in `readings.new`, behind the number (4 bytes) of the file they are for,
until 128 bytes are full: littlefs keeps a file that small inside its folder, so that keeping a
reading erases next to nothing.
"""

import json
import struct

from tenner.log import log
from tenner.port.compat import const, sleep_ms
from tenner.store import files, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.store.config import Config

_SIZE = const(9)
_BLOCK = const(504)  # complete records
_SMALL = const(128)
_LINE = const(1024)  # bytes of a first line


def of(state: str, config: "Config") -> "Ring":
    """Return the readings of the agent, in its folder of states."""
    return Ring(state + "/readings", 1024 * config.get("sensors.history_kb"))


class Ring:
    """The readings in `path.0`, `path.1` and `path.new`, in about `max_bytes`."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path = path
        self._half = max_bytes // 2

    def keep(self, now: int, values: list[tuple[str, float]]) -> None:
        """Keep (name, number) pairs, read at Unix time `now`."""
        newest = self._segments()[-1:]
        number, path, start, names = newest[0] if newest else (0, self.path + ".0", 0, [0])
        waiting = self._waiting(number, path)
        size = files.size(path)
        cut = (size - start) % _SIZE
        known = _known(names[1:], [name for name, _ in values])
        if cut or size + _SMALL > self._half or known != names[1:]:
            # Cut by a power failure, full, or its first line does not know a name.
            if waiting and not cut:
                _append(path, waiting)
            if not cut or known[: len(names) - 1] != names[1:]:
                waiting = b""
            number += 1
            names = [number] + known
            path = self._path(number)
            files.write_atomic(path, json.dumps(names) + "\n")
        data = b"".join(
            [
                struct.pack("<IBf", now, names.index(name), v)  # type: ignore[arg-type]
                for name, v in values
                if name in names
            ]
        )
        if waiting and 4 + len(waiting) + len(data) > _SMALL:
            _append(path, waiting)
            waiting = b""
        files.write_atomic(self.path + ".new", struct.pack("<I", number) + waiting + data)

    def last(self) -> int:
        """Return the time of the newest record, 0 without any."""
        data = b""
        for number, path, start, _ in self._segments()[-1:]:
            data = self._waiting(number, path)
            whole = (files.size(path) - start) // _SIZE * _SIZE
            if whole and not data:
                with open(path, "rb") as file:
                    file.seek(start + whole - _SIZE)
                    data = file.read(_SIZE)
        return struct.unpack("<I", data[-_SIZE:][:4])[0] if data else 0

    async def summary(self, sensor: str, since: int, now: int) -> dict[str, list]:
        """
        Return {value name: [count, first time, last time, least, greatest, mean, last]} of a
        sensor's readings between two times.
        """
        found = {}
        for segment in self._segments():
            rows = []
            for name in segment[3]:
                owner, _, name = str(name).rpartition(".")
                rows.append(found.setdefault(name, [0] * 7) if owner == sensor else None)
            for block in self._blocks(segment):
                for place in range(0, len(block) - _SIZE + 1, _SIZE):
                    time, index, value = struct.unpack_from("<IBf", block, place)
                    row = rows[index] if index < len(rows) else None
                    if row is not None and since <= time <= now:
                        _count(row, time, value)
                # Thousands of records take a chip its time.
                await sleep_ms(0)
        return {name: found[name] for name in found if found[name][0]}

    async def visit(
        self,
        wanted: str,
        since: int,
        now: int,
        take: "Callable[[int, float], None]",
        pause: "Callable[[int], Awaitable[None]]" = sleep_ms,
    ) -> None:
        """Call take(time, value) for each reading of `sensor.value` between two times, and now and
        then await pause(0)."""
        for segment in self._segments():
            names = segment[3]
            if wanted not in names:
                continue
            own = names.index(wanted)
            for block in self._blocks(segment):
                for place in range(0, len(block) - _SIZE + 1, _SIZE):
                    if block[place + 4] == own:
                        time, _, value = struct.unpack_from("<IBf", block, place)
                        if since <= time <= now:
                            take(time, value)
                await pause(0)

    def names(self) -> list[str]:
        """Return the names of all values that have readings, sorted."""
        found = []
        for segment in self._segments():
            found += [name for name in segment[3][1:] if name not in found]
        return sorted(found)

    def _blocks(self, segment):
        """Yield the records of a file, and those that wait for it, some at a time."""
        number, path, start, _ = segment
        with open(path, "rb") as file:
            file.seek(start)
            block = file.read(_BLOCK)
            while block:
                yield block
                block = file.read(_BLOCK)
        yield self._waiting(number, path)

    def _segments(self):
        """Return [(number, path, where records begin, first line)] of the existing files, the
        newer one last."""
        found = []
        for number in (0, 1):
            path = self._path(number)
            try:
                with open(path, "rb") as file:
                    line = file.read(_LINE).partition(b"\n")[0]
                # MicroPython's reader accepts some cut-off texts.
                names = json.loads(line.decode() if line[-1:] == b"]" else "")
                found.append((names[0] + 0, path, len(line) + 1, names))
            except OSError:
                continue
            except (ValueError, TypeError, IndexError, KeyError):
                log("sensors", "corrupt file saved as %s" % quarantine.quarantine(path))
        found.sort()
        return found

    def _waiting(self, number, path):
        """Return the records of `readings.new` that are for this file and not in it yet."""
        try:
            with open(self.path + ".new", "rb") as file:
                data = file.read()
        except OSError:
            return b""
        if len(data) % _SIZE != 4 or struct.unpack("<I", data[:4])[0] != number:
            return b""
        data = data[4:]
        with open(path, "rb") as file:
            file.seek(max(files.size(path) - len(data), 0))
            # A power failure after the append leaves the records in both.
            return b"" if file.read() == data else data

    def _path(self, number):
        return "%s.%d" % (self.path, number % 2)


def _known(names, wanted):
    """Return the names of a new first line: the old ones too, as long as it does not grow too
    long."""
    names = names + [name for name in wanted if name not in names]
    if len(json.dumps(names)) > _LINE - 20:
        names = wanted
    while len(json.dumps(names)) > _LINE - 20:
        names = names[:-1]
    return names


def _append(path, data):
    with files.open_own(path, "ab") as file:
        files.put(file, data)
        files.sync(file)


def _count(row, time, value):
    count, first, _, least, greatest, mean, _ = row if row[0] else (0, time, 0, value, value, 0, 0)
    count += 1
    # Not a sum divided in the end: numbers of 32 bits would run out of digits.
    mean += (value - mean) / count
    row[:] = (count, first, time, min(least, value), max(greatest, value), mean, value)

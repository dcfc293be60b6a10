"""The board's connections: Wi-Fi, names, the time, the model, Telegram, and the chips on its
buses."""

from __future__ import annotations

import ast
import csv
import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tenner import log
from tenner.sensors import reading
from tenner_host import FIRMWARE
from tenner_host.board import probe
from tenner_host.board.board import Board
from tenner_host.board.probe import ProbeError
from tenner_host.doctor.findings import Finding, Part, attempt, fail, ok, skip, warn
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.setup import context
from tenner_host.setup.checks import check_model, check_telegram, signal_word, webhook
from tenner_host.setup.settings import Settings, get

_NETWORK = ("signal", "dns", "clock", "tls", "key", "telegram")
_WEAK_DBM = -72
#: A certificate's dates tolerate minutes; a heartbeat's hours do not.
_CLOCK_OFF_S = 60
#: On the flash, or in the board's image.
_PINS = ("/lib/tenner/pins.csv", "/rom/lib/tenner/pins.csv")
_SENSORS = "/workspace/SENSORS.json"


def check_network(board: Board, settings: Settings) -> Part:
    """Each step needs the one before; the first failure ends the check."""
    ssid = str(get(settings, "wifi.ssid"))
    if not ssid:
        yield fail("wifi", "no network is set", "run `tenner setup`")
        yield from _skipped("wifi", _NETWORK)
        return
    link = probe.join(board, ssid, str(get(settings, "wifi.password")))
    if not link.up:
        yield fail("wifi", f"the board cannot join {ssid!r}", link.reason)
        yield from _skipped("wifi", _NETWORK)
        return
    yield ok("wifi", f"joined {ssid!r} as {link.address}, name server {link.dns}")
    yield _signal(link.rssi)
    yield from _clock(board, settings)
    yield from check_services(board, settings)


def check_services(board: Board, settings: Settings) -> Part:
    """The model and Telegram, from a board with a network."""
    yield from _model(board, settings)
    if get(settings, "telegram.token"):
        yield attempt(
            "telegram",
            lambda: (
                f"the token is that of @{check_telegram(board, settings)}"
                f"{webhook(board, settings)}"
            ),
        )
    else:
        yield skip("telegram", "no token is set")


def _skipped(reason: str, checks: tuple[str, ...]) -> Iterator[Finding]:
    for check in checks:
        yield skip(check, f"needs {reason}")


def _signal(rssi: int | None) -> Finding:
    if rssi is None:
        return skip("signal", "the board does not report its strength")
    text = f"{rssi} dBm: {signal_word(rssi)}"
    if rssi < _WEAK_DBM:
        return warn(
            "signal",
            text,
            "move the board or the access point, or use a board with an antenna socket",
        )
    return ok("signal", text)


def _clock(board: Board, settings: Settings) -> Part:
    host = str(get(settings, "time.ntp_host"))
    try:
        shown = probe.set_clock(board, host)
    except ProbeError as exc:
        what, _, advice = exc.message.partition(": ")
        yield fail("clock", f"{what}; without the time no certificate can be checked", advice)
        return
    off = shown - time.time()
    text = f"{host} says {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(shown))} UTC"
    if abs(off) > _CLOCK_OFF_S:
        yield warn(
            "clock",
            f"{text}, {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} this computer",
            "one of the two is wrong: check this computer's clock",
        )
    else:
        yield ok("clock", text)


def _model(board: Board, settings: Settings) -> Part:
    url = str(get(settings, "llm.base_url"))
    host = urlsplit(url).netloc
    secure = url.startswith("https://")
    try:
        sentence = check_model(board, settings)
    except BoardSilent:
        raise
    except ProbeError as exc:
        what, _, advice = exc.message.partition(": ")
        if exc.step == "dns":
            yield fail("dns", what, advice)
            yield from _skipped("dns", ("tls", "key"))
            return
        yield ok("dns", f"{host} has an address")
        yield fail("tls", what, advice or "try again; `tenner setup` renews the certificates")
        yield from _skipped("tls", ("key",))
        return
    except CommandError as exc:
        yield from _reached(host, secure)
        what, _, advice = exc.message.partition(": ")
        yield fail("key", what, advice or "run `tenner setup`")
        return
    yield from _reached(host, secure)
    yield ok("key", sentence)
    found = context.excess(board, settings)
    if found:
        told, setting = found
        yield warn(
            "context",
            (
                f"{host} has room for {told} tokens, and {context.KEY} is "
                f"{get(settings, context.KEY)}"
            ),
            f"run `tenner setup --set {context.KEY}={setting}`",
        )


def _reached(host: str, secure: bool) -> Part:
    yield ok("dns", f"{host} has an address")
    if secure:
        yield ok("tls", f"{host} proved who it is")
    else:
        yield warn(
            "tls", f"{host} is reached without encryption", "fine at home, for your own computer"
        )


def check_buses(board: Board, settings: Settings) -> Part:
    """Scan every I2C bus, and compare with the sensors that should be there."""
    found = board.read_files([*_PINS, _SENSORS])
    try:
        sensors = json.loads(found.get(_SENSORS, b"{}"))
        expected = _expected(sensors)
    except (ValueError, AttributeError, TypeError) as exc:
        yield fail(
            "sensors", f"{_SENSORS} cannot be read: {exc}", "fix it here, then `tenner sync`"
        )
        return
    for name in filter(log.is_odd, sensors):
        what, _, remedy = (reading.ODD % log.visible(name)).partition(": rename")
        yield fail("sensors", what, f"rename{remedy}, then `tenner sync`")
    pins = next((found[path] for path in _PINS if path in found), b"")
    buses = _buses(pins, settings)
    if not buses:
        yield skip("i2c", "the board's pins.csv names no I2C bus")
    only = next(iter(buses)) if len(buses) == 1 else ""
    for bus, (scl, sda, freq) in buses.items():
        wanted = {a: name for name, (on, a) in expected.items() if (on or only) == bus}
        yield _scanned(board, bus, (scl, sda, freq), wanted)
    for name, (on, _) in expected.items():
        if (on or only) not in buses:
            yield fail(
                "sensors",
                f"{name} is on {on or 'no bus'}, which the board does not have",
                f"name one of {', '.join(buses) or 'none'} in SENSORS.json",
            )


def _scanned(
    board: Board, bus: str, pins: tuple[int, int, int], wanted: dict[int, str]
) -> Finding:
    scl, sda, freq = pins
    call = f"t_i2c({int(bus[3:])}, {scl}, {sda}, {freq})"
    levels, there, error = ast.literal_eval(board.call("hardware", call, 30.0).strip())
    wires = f"GPIO{scl} and GPIO{sda}"
    if error is not None and error[0] == "ValueError":
        return fail(
            bus, f"{wires} can be no bus ({error[1]})", "check pins.csv and i2c.* in the settings"
        )
    missing = {address: name for address, name in wanted.items() if address not in (there or ())}
    if error is not None or (missing and not there and levels == [0, 0]):
        return fail(
            bus,
            f"a line is held low ({error[1] if error else 'both are'}), so no chip can be heard",
            (
                f"{wires} need a resistor of 4.7 kOhm each to 3.3 V (most modules have them), "
                "and no short circuit"
            ),
        )
    if missing:
        names = ", ".join(f"{name} (0x{address:02x})" for address, name in missing.items())
        heard = ", ".join(_chip(address) for address in there) or "nothing"
        return fail(
            bus,
            f"{names} does not answer; on {wires} there is {heard}",
            "check its power, SCL and SDA, and the address in SENSORS.json",
        )
    extra = [address for address in there if address not in wanted]
    text = ", ".join(f"{name} at 0x{address:02x}" for address, name in wanted.items())
    if extra:
        unused = ", ".join(_chip(address) for address in extra)
        text = f"{text}; " if text else ""
        return ok(bus, f"{text}not in SENSORS.json: {unused}")
    return ok(bus, text or "no chip on it, and none expected")


def _chip(address: int) -> str:
    """The address, with the usual chips at it."""
    path = FIRMWARE / "tenner" / "sensors" / "i2c_chips.tsv"
    for line in path.read_text(encoding="utf-8").splitlines():
        number, _, names = line.split("\t")
        if number == f"0x{address:02x}":
            return f"0x{address:02x} ({names})"
    return f"0x{address:02x}"


def _expected(sensors: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Name -> (bus or "", address) of the sensors on I2C."""
    found = {}
    for name, entry in sensors.items():
        default = _default_address(str(entry.get("driver", "")))
        if default is None:
            continue
        address = entry.get("address", default)
        number = int(address, 0) if isinstance(address, str) else int(address)
        found[name] = (str(entry.get("bus", "")), number)
    return found


def _default_address(driver: str) -> int | None:
    """A driver's default address; None for a driver without I2C."""
    folder = FIRMWARE / "tenner" / "sensors"
    module = driver
    for line in (folder / "chips.tsv").read_text(encoding="utf-8").splitlines():
        chip, home, _ = line.split("\t")
        if chip == driver:
            module = home
    path = folder / f"{module}.py"
    if not re.fullmatch(r"\w+", module) or not path.is_file():
        return None
    match = re.search(r"\bchip\(port, cfg, (0x\w+)\)", path.read_text(encoding="utf-8"))
    return int(match[1], 16) if match else None


def _buses(table: bytes, settings: Settings) -> dict[str, tuple[int, int, int]]:
    """Bus -> (SCL, SDA, clock), from pins.csv and the settings that go before it."""
    rows = [row for row in csv.reader(table.decode(errors="replace").splitlines()) if len(row) > 1]
    pins = {row[0].upper(): row[1].upper() for row in rows}
    own: dict[str, Any] = settings.get("i2c", {})
    names = {name[:-4].lower() for name in pins if re.fullmatch(r"I2C\d_SCL", name)} | set(own)
    found = {}
    for bus in sorted(names):
        chosen = own.get(bus, {})
        numbers = []
        for line in ("scl", "sda"):
            pin = str(chosen.get(line, pins.get(f"{bus}_{line}".upper(), ""))).upper()
            text = pins.get(pin, pin).removeprefix("GPIO")
            numbers.append(int(text) if text.isdigit() else -1)
        if min(numbers) >= 0 and re.fullmatch(r"i2c\d", bus):
            found[bus] = (numbers[0], numbers[1], int(chosen.get("freq", 100000)))
    return found

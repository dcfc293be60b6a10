"""Events and questions of the running board: the far side of the onboard modules."""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Callable

from tenner_sim.vboard import time_server
from tenner_sim.vboard.bus import BusError
from tenner_sim.vboard.chip import Chip
from tenner_sim.vboard.program import Program
from tenner_sim.vboard.runtime import HARD
from tenner_sim.vboard.shared import SharedPage
from tenner_sim.vboard.signals import SignalError
from tenner_sim.vboard.wifi import WifiError

_NAME_NOT_RESOLVED = -202


class OnboardRequests:
    """Lines of tenner_sim/onboard/_board.py: `verb words` reports an event, `?number verb
    words` asks a question.

    A verb is a method `_tell_*` or `_ask_*` here, or `tell_*` or `ask_*` of Hardware.
    """

    def __init__(self, chip: Chip, page: SharedPage, note: Callable[[str], None]) -> None:
        """`note` takes a line about the board's work."""
        self._chip = chip
        self._page = page
        self._note = note
        self._nvs: dict[str, str] = {}

    def handle(self, program: Program, line: str) -> None:
        if not line.startswith("?"):
            verb, _, rest = line.partition(" ")
            handler = getattr(self, f"_tell_{verb}", None) or getattr(
                self._chip.hardware, f"tell_{verb}", None
            )
            if handler is None:
                return
            try:
                handler(*rest.split())
            except (TypeError, ValueError) as exc:
                # An interrupt has cut the line short; only the log can report it.
                self._note(f"event {line[:80]!r} not understood: {exc}")
            return
        number, _, question = line[1:].partition(" ")
        if not number.isdigit():
            return  # cut by an interrupt; no code waits for the answer
        status, data = self._answer(question)
        self._page.reply(status, data)
        program.child.answer(int(number))

    def _answer(self, question: str) -> tuple[int, bytes]:
        """Status (0, an errno, or -1 for an OSError with a text) and payload."""
        verb, _, rest = question.partition(" ")
        try:
            if verb == "wifi":
                method, _, arguments = rest.partition(" ")
                found = self._chip.wifi.request(method, json.loads(arguments))
                return 0, json.dumps(found).encode()
            handler = getattr(self, f"_ask_{verb}", None) or getattr(
                self._chip.hardware, f"ask_{verb}"
            )
            return 0, handler(*rest.split())
        except BusError as exc:
            return exc.number, b""
        except (WifiError, SignalError) as exc:
            return -1, str(exc).encode()
        except OSError as exc:
            return exc.errno or errno.EIO, b""
        except (AttributeError, TypeError, ValueError) as exc:
            # A line cut by an interrupt, or a module that does not match.
            return -1, f"virtual board: bad request {question[:60]!r}: {exc}".encode()

    # Events.

    def _tell_up(self, free: str, used: str) -> None:
        self._chip.started(int(free))

    def _tell_reset(self) -> None:
        self._chip.reset(HARD)

    def _tell_softreset(self) -> None:
        self._chip.soft_reset()

    def _tell_bootloader(self) -> None:
        self._chip.enter_loader()

    def _tell_deepsleep(self, ms: str) -> None:
        self._chip.sleep(int(ms))

    def _tell_powerlost(self) -> None:
        self._chip.power_off()

    def _tell_wdt(self, ms: str) -> None:
        self._chip.feed_watchdog(int(ms))

    def _tell_wake_on(self, level: str, *pins: str) -> None:
        self._chip.wake_on(int(level), pins)

    # Questions.

    def _ask_wake_reason(self) -> bytes:
        return b"%d" % self._chip.wake_reason

    def _ask_unique_id(self) -> bytes:
        return self._chip.mac

    def _ask_rtc(self, unix_seconds: str) -> bytes:
        self._chip.clocks.set_board(int(unix_seconds))
        return b""

    def _ask_rtc_memory(self, data: str = "") -> bytes:
        if data.startswith("="):
            self._chip.rtc_memory = bytes.fromhex(data[1:])
        return self._chip.rtc_memory

    def _ask_nvs(self, key: str, data: str = "") -> bytes:
        if data.startswith("="):
            self._nvs[key] = data[1:]
        elif data == "-":
            self._nvs.pop(key, None)
        elif key not in self._nvs:
            raise WifiError("ESP_ERR_NVS_NOT_FOUND")
        return bytes.fromhex(self._nvs.get(key, ""))

    def _ask_partition(self, request: str, *words: str) -> bytes:
        return self._chip.partition(request, *words)

    def _ask_ntp(self, host: str) -> bytes:
        if not self._chip.wifi.connected:
            raise OSError(_NAME_NOT_RESOLVED, "no network")
        return b"%d" % self._chip.clocks.true_time()

    def _ask_resolve(self, host: str, port: str) -> bytes:
        if host in ("0.0.0.0", "::"):
            return b"0"
        if not self._chip.wifi.connected:
            numeric = host.replace(".", "").isdigit()
            raise OSError(errno.EHOSTUNREACH if numeric else _NAME_NOT_RESOLVED, "no network")
        if int(port) == time_server.PORT:
            return b"%d" % self._chip.time_server.port()
        try:
            return b"%d" % self._chip.relays.port(host, int(port))
        except socket.gaierror as exc:
            raise OSError(_NAME_NOT_RESOLVED, str(exc)) from exc

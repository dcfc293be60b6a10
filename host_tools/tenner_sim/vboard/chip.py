"""The chip: power, resets, the ROM's start, sleep and the watchdog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tenner_sim.vboard import partitions
from tenner_sim.vboard.chips import ChipModel
from tenner_sim.vboard.clocks import Clocks
from tenner_sim.vboard.control import BoardError
from tenner_sim.vboard.hardware import Hardware
from tenner_sim.vboard.image import boot, find_vfs
from tenner_sim.vboard.loop import Loop, Part
from tenner_sim.vboard.nor import NorFlash
from tenner_sim.vboard.program import Program
from tenner_sim.vboard.relay import Relays
from tenner_sim.vboard.rom import SYNC_FRAME, RomLoader
from tenner_sim.vboard.runtime import DEEP_SLEEP, HARD, POWER_ON, SOFT, WATCHDOG, Child, Runtime
from tenner_sim.vboard.serial_line import SerialLine
from tenner_sim.vboard.shared import SharedPage
from tenner_sim.vboard.time_server import TimeServer
from tenner_sim.vboard.wifi import Wifi

# machine.wake_reason() on an ESP32-C3.
_WAKE_TIMER, _WAKE_GPIO = 4, 7
_RESET_REASONS = {
    POWER_ON: b"rst:0x1 (POWERON)",
    HARD: b"rst:0x3 (RTC_SW_SYS_RST)",
    WATCHDOG: b"rst:0x7 (TG0WDT_SYS_RST)",
    DEEP_SLEEP: b"rst:0x5 (DSLEEP)",
}
_MODES = {POWER_ON: "power", HARD: "hard", WATCHDOG: "watchdog", DEEP_SLEEP: "wake"}
_SOFT_REBOOT = b"MPY: soft reboot\r\n"
_CTRL_C = b"\x03"
_FRAME_END = b"\xc0"


class Chip(Part):
    """One microcontroller; `state` is off, held, loader, dead, starting, failed, running, asleep.

    `dead` is a ROM that found nothing to start, `failed` an interpreter that ended before it was a
    board; only a reset leads out of both. `loader` is its serial loader: entered with the
    boot strap pulled at the end of reset, by machine.bootloader(), or, on a line without a strap,
    by a SYNC frame. In that last case the board starts when the client hangs up or types Ctrl-C.
    """

    def __init__(
        self,
        loop: Loop,
        line: SerialLine,
        model: ChipModel,
        runtime: Runtime,
        flash: Path | None,
        page: SharedPage,
        hardware: Hardware,
        wifi: Wifi,
    ) -> None:
        self._loop = loop
        self._line = line
        self._model = model
        self._flash = flash
        self._page = page
        self.runtime = runtime
        self.hardware = hardware
        self.wifi = wifi
        self.clocks = Clocks(page)
        self.relays = Relays(loop)
        self.time_server = TimeServer(loop, self.clocks.true_time, lambda: wifi.connected)
        self.on_request: Callable[[Program, str], None]
        self.state = "off"
        self.boots = 0
        #: The label of the running application.
        self.slot = "factory"
        self.heap_free = 0
        self.rtc_memory = b""
        self.wake_reason = 0
        self.program: Program | None = None
        self._loader: RomLoader | None = None
        self._nor: NorFlash | None = None
        self._by_sync = False
        self._heard = b""
        self._watchdog_at: float | None = None
        self._wake_at: float | None = None
        self._wake_pins: tuple[int, tuple[str, ...]] = (0, ())

    @property
    def model_name(self) -> str:
        return self._model.name

    def partition(self, request: str, *words: str) -> bytes:
        """Answer a question of `esp32.Partition`."""
        return partitions.answer(self._flash, self._model, self.slot, request, *words)

    @property
    def watchdog_s(self) -> float | None:
        """Seconds until the watchdog fires; None if it is not armed."""
        return None if self._watchdog_at is None else self._watchdog_at - self._loop.now()

    @property
    def mac(self) -> bytes:
        return self._model.mac

    # The loop.

    def deadline(self) -> float | None:
        deadlines = [at for at in (self._watchdog_at, self._wake_at) if at is not None]
        return min(deadlines, default=None)

    def run_timers(self, now: float) -> None:
        if self._watchdog_at is not None and now >= self._watchdog_at:
            self.reset(WATCHDOG)
        if self._wake_at is not None and now >= self._wake_at:
            self._wake(_WAKE_TIMER)

    # Power and reset.

    def power_on(self) -> None:
        """Plug it in: every register, the clock and the RTC memory start from nothing."""
        if self.state != "off":
            return
        self._page.set_cut(None)
        self.hardware.power_on()
        self._lose_rtc()
        self.reset(POWER_ON)

    def power_off(self) -> None:
        """Pull the plug, even while the board is busy."""
        self._stop("off")

    def press_reset(self) -> None:
        """The EN button: on an ESP32-C3 that is a power-on reset."""
        if self.state == "off":
            raise BoardError("the board has no power")
        self._lose_rtc()
        self.reset(POWER_ON)

    def _lose_rtc(self) -> None:
        self.rtc_memory = b""
        self.clocks.lose()

    def _stop(self, state: str) -> None:
        """Stop all code; reset the pins, the radio and the timers."""
        if self.program:
            program, self.program = self.program, None
            program.end()
        self._loader = None
        if self._nor:
            self._nor.close()
            self._nor = None
        self._heard = b""
        self.wifi.chip_reset()
        self.relays.cut()
        self.hardware.release_pins()
        self._watchdog_at = self._wake_at = None
        self.state = state

    def reset(self, cause: int) -> None:
        """Every reset but a soft one: the ROM, the boot loader, then MicroPython."""
        self._stop("dead")
        self._wake_pins = (0, ())
        self._say(_RESET_REASONS[cause] + b"," + self._model.flash_boot)
        if self._flash:
            before = self._flash.read_bytes()
            flash = bytearray(before)
            fault, self.slot = boot(flash, self._model)
            if flash != before:
                # In place: tests have the file open.
                with self._flash.open("r+b") as file:
                    file.write(flash)
            if fault:
                self._line.emit(fault.encode() + b"\r\n")
                return
        self._start(_MODES[cause], cause)

    def _say(self, text: bytes) -> None:
        self._line.emit(self._model.banner + text + b"\r\n")

    def soft_reset(self, *, at_prompt: bool = False) -> None:
        """A new interpreter on the same chip: Wi-Fi, clock and registers stay.

        `at_prompt`: as Ctrl-D there, which starts main.py. Otherwise the raw REPL stays one.
        """
        if self.program is None:
            raise BoardError(f"the board is {self.state}")
        program, self.program = self.program, None
        program.end()
        self._line.emit(_SOFT_REBOOT)
        self._start("raw" if program.raw and not at_prompt else "soft", SOFT)

    def _start(self, mode: str, cause: int) -> None:
        region = (0, 0)
        if self._flash:
            row = find_vfs(self._flash.read_bytes())
            assert row is not None
            region = (row.offset, row.size)
        self.program = Program(
            self._loop,
            self._line,
            Child(self.runtime, self._page, self._flash, region, mode, cause),
            raw=mode == "raw",
            on_request=self.on_request,
            on_exit=self._exited,
        )
        self.state = "starting"
        self.boots += 1

    def started(self, heap_free: int) -> None:
        """The interpreter has become a board and is about to run boot.py."""
        assert self.program is not None
        self.program.up = True
        self.state = "running"
        self.heap_free = heap_free

    def _exited(self, program: Program, status: int) -> None:
        """The interpreter ended: Ctrl-D at the prompt, sys.exit(), or a crash."""
        if not program.up:
            self._failed(status)
        elif status < 0:
            self._line.emit(
                b"\r\nGuru Meditation Error: interpreter ended by signal %d\r\n" % -status
            )
            self.reset(WATCHDOG)
        else:
            self.soft_reset()

    def _failed(self, status: int) -> None:
        """Report an interpreter that ended before it was a board; another start would not help."""
        self._stop("failed")
        how = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        text = f"virtual board: {self.runtime.kind} did not start ({how})"
        if self.runtime.kind == "micropython":
            text += f"; is its heap of {self.runtime.heap // 1024} KB too small?"
        self._line.emit(text.encode() + b"\r\n")

    # Sleep and the watchdog.

    def sleep(self, ms: int) -> None:
        """Deep sleep; forever if `ms` is negative."""
        pins = self._wake_pins
        self._stop("asleep")
        self._wake_pins = pins
        self._wake_at = self._loop.now() + ms / 1000 if ms >= 0 else None
        self.look_at_pins()

    def time_passed(self, seconds: int) -> None:
        if self._wake_at is not None:
            self._wake_at -= seconds

    def wake_on(self, level: int, pins: tuple[str, ...]) -> None:
        self._wake_pins = (level, pins)

    def look_at_pins(self) -> None:
        """An asleep chip watches only the pins of wake_on; these are pulled to the other level."""
        if self.state != "asleep":
            return
        level, pins = self._wake_pins
        for pin in pins:
            if bool(self.hardware.signals.get_or(f"gpio{pin}", 1.0 - level)) == bool(level):
                self._wake(_WAKE_GPIO)
                return

    def _wake(self, reason: int) -> None:
        self.wake_reason = reason
        self.reset(DEEP_SLEEP)

    def feed_watchdog(self, ms: int) -> None:
        self._watchdog_at = self._loop.now() + ms / 1000

    # The serial loader.

    def enter_loader(self, *, by_sync: bool = False) -> None:
        """Stop the program and enter the loader in the ROM."""
        if self._flash is None:
            raise BoardError("only the MicroPython runtime has a flash to load")
        self._stop("loader")
        if not by_sync:
            # After a SYNC frame the client expects only its answer.
            self._say(_RESET_REASONS[POWER_ON] + b"," + self._model.download_boot)
            self._line.emit(b"waiting for download\r\n")
        self._by_sync = by_sync
        self._nor = NorFlash(self._flash)
        self._loader = RomLoader(self._model, self._nor, self._line.send, self._leave_loader)

    def _leave_loader(self) -> None:
        self.reset(HARD)

    # Input from the serial line: serial_line.Receiver.

    def host_bytes(self, data: bytes, *, has_modem_lines: bool) -> None:
        """Bytes typed by a client. They wait until the application is up; without power they are
        lost."""
        if self.state in ("off", "held"):
            return
        if self._loader is None and not has_modem_lines and self._flash:
            heard = self._heard + data
            at = heard.find(SYNC_FRAME)
            self._heard = heard[1 - len(SYNC_FRAME) :]
            if at >= 0:
                self.enter_loader(by_sync=True)
                data = heard[at:]
        if self._loader and self._by_sync and not self._loader.in_frame:
            if _CTRL_C in data and _FRAME_END not in data:
                # A client wants the prompt, and cannot reset the board.
                self.reset(HARD)
        if self._loader:
            self._loader.feed(data)
        elif self.program:
            self.program.type(data)

    def hang_up(self) -> None:
        if self._loader and self._by_sync:
            self.reset(HARD)

    def unplugged(self) -> None:
        self.power_off()
        self._line.unplug()

    def hold(self) -> None:
        if self.state != "off":
            self._stop("held")

    def release(self, strap: bool) -> None:
        if self.state == "off":
            return
        if strap and self._flash:
            self.enter_loader()
        else:
            self.press_reset()

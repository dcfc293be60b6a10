"""`VirtualBoard`: start a board, change its signals, cut its power, read its output.

    with VirtualBoard(tree) as board:
        board.set("room.temperature", 31.5)
        board.wait_for("alert")
        print(board.exec("print(1 + 1)"))

The board is a separate process. It ends with the `with` block, with `stop()`, at the interpreter's
exit, and when the process that started it dies in any way.
"""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tenner_host import ROOT
from tenner_host.board.sims import running_boards, sim_folder
from tenner_host.build import board_folder, firmware_tree, read_tree, write_tree
from tenner_host.interpreters import Interpreter, find_micropython
from tenner_host.partitions import Partition
from tenner_sim import LIMIT_S
from tenner_sim.vboard.chips import MODELS
from tenner_sim.vboard.control import BoardError, ControlClient
from tenner_sim.vboard.image import FLASH_SIZE, PARTITIONS, read_image, write_image
from tenner_sim.vboard.prepare import ONBOARD, heap_bytes, install_onboard
from tenner_sim.vboard.raw_repl import RawRepl
from tenner_sim.vboard.shared import FlashCounters

NEEDS_POSIX = "virtual boards need Linux or macOS: on Windows, run tenner inside WSL"
#: Python's share of memory on an ESP32-C3 before Wi-Fi starts, rounded.
DEFAULT_HEAP = "192K"


class VirtualBoard:
    """A board and the process that emulates it."""

    def __init__(
        self,
        tree: dict[str, bytes] | None = None,
        *,
        board: str = "VIRTUAL",
        name: str | None = None,
        runtime: str = "micropython",
        interpreter: Interpreter | None = None,
        heap: str | int = DEFAULT_HEAP,
        flash: Path | None = None,
        tcp_port: int | None = None,
        rfc2217_port: int | None = None,
        chip: str | None = None,
        erased: bool = False,
        wifi: bool = True,
        power: bool = True,
        environment: dict[str, str] | None = None,
        services: dict[str, int] | None = None,
        rows: Sequence[Partition] = PARTITIONS,
    ) -> None:
        """A board with the files of `tree` (default: the firmware).

        `name` keeps its state in NAME of `sim_folder()`, where `tenner sim` finds it, and gives it
        a separate MAC; without one the state is temporary. `flash` is an image file to start from;
        without `tree` it is used unchanged. `heap` is the heap of the firmware, without the heap
        of the chip's emulation. `tcp_port` also offers the serial line as
        `socket://127.0.0.1:PORT` (0: any port; see `.tcp_port`), and `rfc2217_port` as
        `rfc2217://127.0.0.1:PORT`, where DTR and RTS reset the chip. `chip` is esp32, esp32c3 or
        esp32s3, as its serial loader reports it; `erased` starts with an empty flash; `rows` are
        those of a new flash's partition table. `services` are the ports of a model and a Telegram
        that run beside it, of services.free_ports.
        """
        if runtime not in ("micropython", "cpython"):
            raise BoardError(f"runtime is micropython or cpython, not {runtime!r}")
        if chip is None:
            chip = json.loads((board_folder(board) / "board.json").read_text())["mcu"]
        if chip not in MODELS:
            raise BoardError(f"there is no virtual {chip!r}; available: {', '.join(MODELS)}")
        self.name = name
        self.runtime = runtime
        self._tree = tree
        self._board = board
        self._interpreter = interpreter
        self._heap = heap_bytes(heap)
        self._given_flash = flash
        self._tcp_port = tcp_port
        self._rfc2217_port = rfc2217_port
        self.chip = chip
        self._erased = erased
        self._rows = rows
        self._wifi = wifi
        self._power = power
        self._environment = dict(environment or {})
        self._services = services
        self._process: subprocess.Popen[bytes] | None = None
        self._control: ControlClient | None = None
        self._mark = 0
        self.pty = ""
        self.tcp_port: int | None = None
        self.rfc2217_port: int | None = None

    # Life.

    def start(self, *, detach: bool = False) -> VirtualBoard:
        """Start it. With `detach` it outlives this process (`tenner sim start`)."""
        if sys.platform == "win32":
            raise BoardError(NEEDS_POSIX)
        if self.name:
            self.folder = sim_folder() / self.name
            if self.name in running_boards():
                raise BoardError(f"a virtual board named {self.name!r} is running already")
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            self.folder = Path(tempfile.mkdtemp(prefix="tenner-board-"))
        self.flash = self._given_flash or self.folder / "flash.bin"
        self.root = self.folder / "root"
        config = self._prepare()
        config["lifeline"] = not detach
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        with (self.folder / "supervisor.log").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tenner_sim.vboard.supervisor", str(path)],
                stdin=subprocess.DEVNULL if detach else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                start_new_session=detach,
            )
        atexit.register(self.stop)
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            text = (self.folder / "supervisor.log").read_text(errors="replace")
            self.stop()
            raise BoardError(f"the virtual board did not start: {text[-2000:].strip()}")
        description = json.loads((self.folder / "board.json").read_text())
        self._ports(description)
        self._control = ControlClient(description["socket"])
        if detach:
            atexit.unregister(self.stop)
        return self

    def _ports(self, description: dict[str, Any]) -> None:
        self.pty = description["pty"]
        self.tcp_port = description["tcp"]
        self.rfc2217_port = description["rfc2217"]

    def _prepare(self) -> dict[str, Any]:
        """Make the supervisor's files; return its configuration."""
        argv: tuple[str, ...] = ()
        bits = 64
        if self.runtime == "micropython":
            interpreter = self._interpreter or find_micropython()
            argv, bits = interpreter.argv, interpreter.bits
            onboard = self.folder / "onboard"
            install_onboard(onboard)
            model = MODELS[self.chip]
            if self._erased:
                self.flash.write_bytes(b"\xff" * FLASH_SIZE)
            elif self._tree is not None:
                write_image(self.flash, self._tree, model, self._rows)
            elif not self.flash.exists():
                write_image(self.flash, firmware_tree(self._board), model, self._rows)
        else:
            onboard = ONBOARD
            if self._tree is not None:
                shutil.rmtree(self.root, ignore_errors=True)
                write_tree(self._tree, self.root)
            elif not self.root.exists():
                write_tree(firmware_tree(self._board, mpy=False), self.root)
            self.root.mkdir(parents=True, exist_ok=True)
            self._environment["TENNER_ROOT"] = str(self.root)
        return {
            "board": self._board,
            "name": self.name,
            "folder": str(self.folder),
            "temporary": self.name is None,
            "flash": str(self.flash) if self.runtime == "micropython" else None,
            "runtime": self.runtime,
            "argv": argv,
            "bits": bits,
            "heap": self._heap,
            "onboard": str(onboard),
            "environment": self._environment,
            "tcp": self._tcp_port,
            "rfc2217": self._rfc2217_port,
            "chip": self.chip,
            "wifi": self._wifi,
            "power": self._power,
            "services": self._services,
        }

    def stop(self) -> None:
        """End it; safe to call more than once."""
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if self._control:
            self._control.close()
            self._control = None
        if process is None:
            return
        if process.stdin:
            # The supervisor ends when this pipe does.
            process.stdin.close()
        else:
            process.terminate()
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
        if not self.name:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> VirtualBoard:
        return self if self._process else self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _ask(self, do: str, limit_s: float | None = None, /, **arguments: Any) -> Any:
        if self._control is None:
            raise BoardError("the virtual board is not running")
        try:
            return self._control.request(do, limit_s, **arguments)
        except BoardError as exc:
            log = self.folder / "supervisor.log"
            crash = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            if not crash:
                raise
            raise BoardError(f"{exc}; it last said: {crash.strip()}") from exc

    # Signals and faults.

    def set(self, name: str, value: float) -> None:
        """Change a signal, e.g. `room.temperature`."""
        self._ask("set", name=name, value=value)

    def get(self, name: str) -> float:
        """A signal; `gpio3` is the level of a pin, `gpio3.duty` its PWM."""
        return float(self._ask("get", name=name))

    def signals(self) -> dict[str, float]:
        return dict(self._ask("list")["signals"])

    def fault(self, device: str, kind: str | None) -> None:
        """Break a device (`absent`, `nack`, `stuck`, `bad_crc`...), or repair it with None."""
        self._ask("fault", device=device, kind=kind)

    def attach(self, name: str, chip: str, bus: str, address: str | None = None) -> None:
        """Wire one more chip: `attach("climate", "BME280", "i2c0", "0x76")`; its values are then
        `climate.temperature` and so on.
        """
        self._ask("attach", name=name, chip=chip, bus=bus, address=address)

    def detach(self, device: str) -> None:
        """Take a chip off its wires."""
        self._ask("detach", device=device)

    def wifi(self, up: bool) -> None:
        """Switch the access point on or off; off resets every open connection of the board."""
        self._ask("wifi", up=up)

    def clock(self, **change: int | str) -> dict[str, int]:
        """`advance_s`: let time pass. `time_s`: set the time server's clock, `fault`: let it be
        wrong. `drift_s`: shift the board's own clock. Return the true and the board's time, in
        Unix seconds.
        """
        return dict(self._ask("clock", **change))

    def bus_log(self, bus: str = "i2c0") -> list[str]:
        """The latest transactions: `W 48 00`, `R 48 1580 P`; P is a STOP."""
        return list(self._ask("bus_log", bus=bus))

    def phone(self, text: str = "", *, look: bool = True) -> dict[str, Any]:
        """The owner's phone: write `text` to the bot, then `look` at the messages there."""
        return dict(self._ask("phone", text=text, look=look))

    # Power and reset.

    def reset(self) -> None:
        """Press the reset button."""
        self._mark_here()
        self._ask("reset")

    def soft_reset(self) -> None:
        self._mark_here()
        self._ask("soft_reset")

    def power_off(self) -> None:
        """Pull the plug now."""
        self._ask("power_off")

    def power_on(self) -> None:
        self._mark_here()
        self._ask("power_on")

    def power_cycle(self) -> None:
        self.power_off()
        self.power_on()

    def power_cut(self, after_writes: int = 0, torn: bool = False) -> None:
        """Lose power at the flash operation after the next `after_writes`; `torn` leaves it half
        done. `wait_state("off")` waits for it; `power_on()` starts the board again.
        """
        self._ask("power_cut", after_writes=after_writes, torn=torn)

    def unplug(self, after_bytes: int | None = None) -> None:
        """Pull the cable, which powers the board too: now, or after so many bytes from the
        host."""
        self._ask("unplug", after_bytes=after_bytes)

    def plug(self) -> None:
        """Plug the cable in again; the terminal, `.pty`, may have a new name."""
        self._mark_here()
        self._ports(self._ask("plug"))

    def status(self) -> dict[str, Any]:
        return dict(self._ask("status"))

    def wait_started(self, timeout_s: float = LIMIT_S) -> None:
        """Wait until the interpreter is up; stop the board and raise if it fails to start."""
        deadline = time.monotonic() + timeout_s
        while (state := self.status()["state"]) == "starting":
            if time.monotonic() > deadline:
                raise BoardError(f"MicroPython did not start in {timeout_s:.0f} s")
            time.sleep(0.01)
        if state == "failed":
            last = self.serial_log.splitlines()[-2:]
            self.stop()
            raise BoardError(f"{last[1]} Its last line: {last[0]}")

    def wait_state(self, state: str, timeout_s: float = LIMIT_S) -> None:
        """Wait until the board is `off`, `held`, `loader`, `dead`, `failed`, `asleep` or
        `running`."""
        deadline = time.monotonic() + timeout_s
        while self.status()["state"] != state:
            if time.monotonic() > deadline:
                raise BoardError(f"the board is {self.status()['state']}, not {state}")
            time.sleep(0.01)

    def flash_counters(self) -> FlashCounters:
        """The operations of the file system on the flash so far: erases, programs, bytes,
        operations."""
        return FlashCounters(*self._ask("flash_counters"))

    # The serial line.

    @property
    def serial_log(self) -> str:
        """All output of the board since its start (the newest megabyte of it)."""
        return (self.folder / "serial.log").read_text(errors="replace")

    def wait_for(self, text: str, timeout_s: float = LIMIT_S) -> None:
        """Wait until the board prints `text` after the place of the last `wait_for` or reset."""
        self._mark = self._ask(
            "expect", timeout_s + 10, text=text, start=self._mark, timeout_s=timeout_s
        )

    def _mark_here(self) -> None:
        self._mark = self.status()["serial_bytes"]

    def type(self, text: str) -> None:
        """Type at the serial line."""
        self._ask("type", text=text)

    def exec(self, code: str, timeout_s: float = LIMIT_S) -> str:
        """Run Python on the board through the raw REPL, and return its output.

        Like `mpremote resume exec`, it interrupts a running program. An exception on the board
        becomes a BoardError with its traceback.
        """
        repl = RawRepl(self.pty, timeout_s)
        try:
            return repl.run(code)
        finally:
            repl.close()

    def mpremote(self, *arguments: str, timeout_s: float = LIMIT_S, check: bool = True) -> str:
        """Run the real mpremote on this board and return its output.

        Always with a limit: on a silent terminal mpremote waits forever.
        """
        command = [sys.executable, "-m", "mpremote", "connect", self.pty, *arguments]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            shown = (exc.output or b"").decode(errors="replace")
            raise BoardError(f"mpremote {' '.join(arguments)} hangs after: {shown}") from exc
        output = done.stdout.decode(errors="replace")
        if check and done.returncode:
            raise BoardError(f"mpremote {' '.join(arguments)}: {output}")
        return output

    # Files.

    def read_tree(self) -> dict[str, bytes]:
        """All files on the board, read from the flash image (or the root folder on CPython)."""
        if self.runtime == "cpython":
            return read_tree(self.root)
        return read_image(self.flash.read_bytes())

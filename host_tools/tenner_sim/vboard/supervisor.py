"""The virtual board's process: wires the parts of one board and runs their loop.

Started by board.VirtualBoard or `tenner sim start` as
`python -m tenner_sim.vboard.supervisor CONFIG`.

    chip              power, resets, the ROM and its serial loader (rom), sleep
    program           one run of the interpreter that runs MicroPython
    onboard_requests  its questions and events: buses (hardware), wifi, relay, clocks
    serial_line       its output, and the terminals and sockets of its clients
    control_server    requests of tests and of `tenner sim`
    phone             the stand-ins beside the board, and their owner's phone
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenner_host.build import board_folder
from tenner_sim.vboard.chip import Chip
from tenner_sim.vboard.chips import MODELS, mac_of
from tenner_sim.vboard.control import socket_path
from tenner_sim.vboard.control_server import ControlServer, listen
from tenner_sim.vboard.hardware import Hardware
from tenner_sim.vboard.loop import READ, Loop
from tenner_sim.vboard.onboard_requests import OnboardRequests
from tenner_sim.vboard.runtime import Runtime
from tenner_sim.vboard.serial_line import SerialLine
from tenner_sim.vboard.shared import SharedPage
from tenner_sim.vboard.wifi import Wifi

if TYPE_CHECKING:
    from tenner_sim.vboard.phone import Phone


class Supervisor:
    """One board."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.folder = Path(config["folder"])
        self.loop = Loop()
        self._page = SharedPage(self.folder / "page.bin")
        self.line = SerialLine(self.loop, self.folder, config["tcp"], config["rfc2217"])
        self._hardware = Hardware(board_folder(config["board"]))
        self._hardware.load(self.folder)
        described = self._hardware.wifi
        wifi = Wifi(
            str(described["ssid"]),
            str(described["password"]),
            int(described["rssi"]),
            self.loop.now,
        )
        wifi.up = config["wifi"]
        self.chip = Chip(
            self.loop,
            self.line,
            replace(MODELS[config["chip"]], mac=mac_of(config["name"])),
            Runtime(
                kind=config["runtime"],
                argv=tuple(config["argv"]),
                bits=config["bits"],
                heap=config["heap"],
                onboard=Path(config["onboard"]),
                environment=config["environment"],
            ),
            Path(config["flash"]) if config["flash"] else None,
            self._page,
            self._hardware,
            wifi,
        )
        self.chip.on_request = OnboardRequests(self.chip, self._page, self._note).handle
        self.line.receiver = self.chip
        self.loop.parts += [self.line, self.chip]
        self._phone: Phone | None = None
        if config["services"]:
            from tenner_sim.vboard.phone import Phone

            self._phone = Phone(**config["services"])
        self._socket_path = socket_path(self.folder)
        self._socket_path.unlink(missing_ok=True)
        self._control = listen(self._socket_path)
        ControlServer(
            self.loop,
            self._control,
            self.chip,
            self.line,
            self._page,
            self.describe,
            self._phone,
        )
        if config["lifeline"]:
            # Standard input is a pipe from the parent process: its end is our end.
            self.loop.watch(0, READ, self._on_lifeline)

    def describe(self) -> dict[str, Any]:
        """The content of board.json, for programs that look for this board."""
        return {
            "pid": os.getpid(),
            "folder": str(self.folder),
            "socket": str(self._socket_path),
            "chip": self.chip.model_name,
            "wifi": self._hardware.wifi,
            "services": self._phone.services.settings() if self._phone else None,
            **self.line.describe(),
        }

    def publish(self) -> None:
        """Write board.json."""
        path = self.folder / "board.json"
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.describe()) + "\n")
        temporary.replace(path)

    def _note(self, text: str) -> None:
        """Write one line about the board's work to notes.log."""
        with (self.folder / "notes.log").open("a") as file:
            file.write(f"{time.monotonic():.3f} {text}\n")

    def _on_lifeline(self, number: int, events: int) -> None:
        if not os.read(number, 4096):
            self.loop.stopping = True

    def close(self) -> None:
        """Remove everything but the flash image and the log."""
        self.chip.power_off()
        if self._phone:
            self._phone.services.stop()
        self._hardware.save(self.folder)
        self.line.close()
        self._control.close()
        self._socket_path.unlink(missing_ok=True)
        if self._socket_path.parent != self.folder.resolve():
            self._socket_path.parent.rmdir()
        (self.folder / "board.json").unlink(missing_ok=True)
        self._page.close()


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    supervisor = Supervisor(config)

    def stop(number: int, frame: object) -> None:
        supervisor.loop.stopping = True

    signal.signal(signal.SIGTERM, stop)
    # Ctrl-C in the terminal is for the parent process, which then stops us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if config["power"]:
            supervisor.chip.power_on()
        supervisor.publish()
        supervisor.line.on_change = supervisor.publish
        print("ready", flush=True)
        supervisor.loop.run()
    finally:
        supervisor.close()
    # Not after a crash: supervisor.log describes it.
    if config["temporary"]:
        shutil.rmtree(config["folder"], ignore_errors=True)


if __name__ == "__main__":
    main()

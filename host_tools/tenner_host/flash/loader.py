"""The serial loader of a chip, reached through esptool as a library.

esptool reports on its own log; this keeps the log for errors, and passes esptool's progress to the
caller. It turns esptool's errors into sentences with a next step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from esptool import cmds
from esptool.logger import EspLog, EspLogBase
from esptool.reset import ResetStrategy
from esptool.util import FatalError, flash_size_bytes

from tenner_host.board.port_errors import explain_open
from tenner_host.board.serialport import new_port
from tenner_host.errors import BoardGone, BoardSilent, CommandError, PortError, reason

#: Fast enough for any bridge of the last ten years; a native USB port ignores it.
DEFAULT_BAUD = 460800
CONNECT_ATTEMPTS = 7
_ROM_BAUD = 115200

# esptool's messages when the chip stops answering.
_STOPPED = ("No serial data received", "data stream stopped", "transfer stopped", "No more data")

#: Receives the bytes done and the total, both as sent.
Progress = Callable[[int, int], None]


class _Log(EspLogBase):  # type: ignore[misc]  # esptool has no types
    """Keeps esptool's output, and shows none of it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.on_progress: Callable[[int, int], None] | None = None

    def _keep(self, *args: Any, **_: Any) -> None:
        self.lines.append(" ".join(str(arg) for arg in args))
        del self.lines[:-200]

    print = err = warn = note = hint = debug = warning = error = _keep

    def set_verbosity(self, mode: int | str) -> None:
        """Ignored: this log has one verbosity."""

    def progress_bar(
        self,
        cur_iter: int,
        total_iters: int,
        prefix: str = "",
        suffix: str = "",
        bar_length: int = 30,
    ) -> None:
        if self.on_progress:
            self.on_progress(cur_iter, total_iters)


class Loader:
    """A connection to a chip whose loader runs. Closing it resets the board, so that it starts."""

    def __init__(self, device: str, *, baud: int = DEFAULT_BAUD) -> None:
        """Open the port, reset the chip into its loader, and detect the chip and its flash."""
        self.device = device
        self._baud = baud
        self._log = _Log()
        # Bound to the terminal when esptool was imported.
        ResetStrategy.print_once = self._log.warn
        self._gone = False
        #: The flash may have changed.
        self.touched = False
        self._esp: Any = None
        self._port = _open(device)
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        with self._talking("its loader was asked for"):
            try:
                esp = cmds.detect_chip(self._port, connect_attempts=CONNECT_ATTEMPTS)
            except FatalError as exc:
                raise BoardSilent(_no_loader(self.device, str(exc))) from exc
            self.chip = str(esp.CHIP_NAME)
            self.mac = ":".join(f"{byte:02x}" for byte in esp.read_mac("BASE_MAC"))
            self._esp = esp = cmds.run_stub(esp)
            if self._baud != _ROM_BAUD and not self.device.startswith("socket://"):
                esp.change_baud(self._baud)
            cmds.attach_flash(esp)
            size = cmds.detect_flash_size(esp)
            if size is None:
                raise CommandError(
                    f"the {self.chip} at {self.device} does not reach its flash chip; is "
                    "something wired to its flash pins, or is its power too weak?"
                )
            self.flash_size = flash_size_bytes(size)
            esp.flash_set_parameters(self.flash_size)
            # A pulled cable is a matter for its owner: esptool would wait, and continue with the
            # next board at that port.
            esp.WRITE_FLASH_ATTEMPTS = 1
            for name in ("flash_begin", "flash_defl_begin"):
                setattr(esp, name, self._touching(getattr(esp, name)))

    def _touching(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        """Note the first change: esptool rejects a bad image before it, with nothing changed."""

        def noted(*arguments: Any, **options: Any) -> Any:
            self.touched = True
            return begin(*arguments, **options)

        return noted

    @property
    def device_id(self) -> str:
        """The board's machine.unique_id(), in hex."""
        return self.mac.replace(":", "")

    def read(self, start: int, length: int) -> bytes:
        with self._talking("its flash was being read"):
            return bytes(self._esp.read_flash(start, length))

    def md5(self, start: int, length: int) -> str:
        """MD5 of a part of the flash, computed by the board."""
        with self._talking("its flash was being compared"):
            return str(self._esp.flash_md5sum(start, length))

    def write(self, start: int, data: bytes, progress: Progress | None = None) -> None:
        """Write at a sector's start, and verify. Skip sectors that already match."""
        with self._talking("its flash was being written"):
            self._log.on_progress = progress
            try:
                cmds.write_flash(self._esp, [(start, data)], skip_flashed=True)
            finally:
                self._log.on_progress = None

    def close(self) -> None:
        """Reset the board, and release the port."""
        esp, self._esp = self._esp, None
        if esp is not None and not self._gone:
            with contextlib.suppress(CommandError), self._talking("it was being reset"):
                cmds.reset_chip(esp, "hard-reset")
        with contextlib.suppress(OSError):
            self._port.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _talking(self, doing: str) -> Iterator[None]:
        """Wraps every call of esptool: collects its log, and turns its errors into sentences."""
        previous, EspLog.instance = EspLog.instance, self._log
        try:
            yield
        except OSError as exc:
            self._gone = True
            raise BoardGone(
                f"the board at {self.device} went away while {doing} ({reason(exc)}): is the "
                "cable loose?"
            ) from exc
        except FatalError as exc:
            first = str(exc).strip().splitlines()[0]
            if any(sign in first for sign in _STOPPED):
                self._gone = True
                raise BoardGone(
                    f"the board at {self.device} stopped answering while {doing}; try another "
                    f"cable or socket, or --baud {_ROM_BAUD}"
                ) from exc
            raise CommandError(f"esptool on {self.device}: {first}") from exc
        finally:
            EspLog.instance = previous


def _open(device: str) -> Any:
    """The port, for this program alone; a PortError gives the reason."""
    try:
        port = new_port(device)
        # Every operating system opens a port with both high, which resets nothing.
        port.dtr = port.rts = True
        port.open()
    except (OSError, ValueError) as exc:
        raise PortError(explain_open(device, exc)) from exc
    return port


def _no_loader(device: str, reason: str) -> str:
    last = reason.strip().splitlines()[0].rpartition(": ")[2].rstrip(".")
    return (
        f"the chip at {device} does not enter its loader ({last}). Hold the button BOOT (or IO0, "
        "or FLASH), press and let go RESET, let go BOOT, and run this again. If it stays silent, "
        "is it the right port, and a cable with data lines?"
    )

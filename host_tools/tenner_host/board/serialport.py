"""Serial ports that pyserial opens by their URL, two of them without their delays."""

from __future__ import annotations

import contextlib
from typing import Any

import serial
from serial import rfc2217
from serial.urlhandler import protocol_socket

from tenner_host.errors import terminal_errors


class _LocalPort(serial.Serial):
    """Raises OSError in each failure: pyserial lets termios.error through when a port vanishes."""

    @terminal_errors()
    def open(self) -> None:
        super().open()

    @terminal_errors()
    def flush(self) -> None:
        super().flush()

    @terminal_errors()
    def reset_input_buffer(self) -> None:
        super().reset_input_buffer()

    @terminal_errors()
    def reset_output_buffer(self) -> None:
        super().reset_output_buffer()

    @terminal_errors()
    def send_break(self, duration: float = 0.25) -> None:
        super().send_break(duration)

    @terminal_errors()
    def _reconfigure_port(self, force_update: bool = False) -> None:
        # On Windows it takes no argument.
        super()._reconfigure_port(*([force_update] if force_update else []))  # type: ignore[misc]


class _QuickRfc2217(rfc2217.Serial):
    """Changes the timeout on this side only: pyserial would renegotiate the port, which takes 100
    ms."""

    @property
    def timeout(self) -> float | None:
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = seconds


class _QuickSocket(protocol_socket.Serial):
    """Closes at once: pyserial sleeps for 0.3 s, to hold off the next connection."""

    _socket: Any

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None


def new_port(
    device: str, *, timeout: float | None = None, write_timeout: float | None = None
) -> Any:
    """A port for this program alone, at 115200 Bd and not open yet; rfc2217 knows no write
    timeout."""
    if device.startswith("rfc2217://"):
        port: Any = _QuickRfc2217(baudrate=115200, timeout=timeout)
        port.port = device
        return port
    if device.startswith("socket://"):
        line: Any = _QuickSocket(timeout=timeout, write_timeout=write_timeout)
        line.port = device
        return line
    line_options: dict[str, Any] = {
        "baudrate": 115200,
        "timeout": timeout,
        "write_timeout": write_timeout,
        "exclusive": True,
    }
    if "://" in device:
        return serial.serial_for_url(device, do_not_open=True, **line_options)
    local = _LocalPort(**line_options)
    local.port = device
    return local

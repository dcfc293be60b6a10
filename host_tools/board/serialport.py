"""Serial ports as pyserial opens them by their URL, and rfc2217 without its delays."""

from __future__ import annotations

from typing import Any

import serial
from serial import rfc2217


class _QuickRfc2217(rfc2217.Serial):
    """The timeout is a matter of this side alone: changing it must not renegotiate the port, which takes 100 ms."""

    @property
    def timeout(self) -> float | None:
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = seconds


def new_port(
    device: str, *, timeout: float | None = None, write_timeout: float | None = None
) -> Any:
    """A port for this program alone, at 115200 Bd and not open yet; rfc2217 knows no write timeout."""
    if device.startswith("rfc2217://"):
        port: Any = _QuickRfc2217(baudrate=115200, timeout=timeout)
        port.port = device
        return port
    return serial.serial_for_url(
        device,
        do_not_open=True,
        baudrate=115200,
        timeout=timeout,
        write_timeout=write_timeout,
        exclusive=True,
    )

"""`rfc2217://`: a serial line with DTR and RTS, which reset the chip as on a development board."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from serial import rfc2217

from tenner_sim.vboard.endpoints import TcpEndpoint


class ModemLines:
    """The two transistors between DTR, RTS, and the chip's reset (EN) and boot strap.

    RTS without DTR holds the chip in reset. A capacitor delays the rise of EN, so the strap is DTR
    at the release of RTS, even if DTR changed before.

    It also is the serial port of pyserial's PortManager, for which only these two lines matter.
    """

    baudrate = 115200
    bytesize = 8
    parity = "N"
    stopbits = 1
    xonxoff = rtscts = break_condition = False
    cts = dsr = ri = cd = False

    def __init__(self, hold: Callable[[], None], release: Callable[[bool], None]) -> None:
        """`hold()` puts the chip into reset, `release(strap)` ends that; a strap means the
        loader."""
        self._hold = hold
        self._release = release
        self._dtr = self._rts = self._held = False

    @property
    def dtr(self) -> bool:
        return self._dtr

    @dtr.setter
    def dtr(self, on: bool) -> None:
        self._dtr = on
        self._changed()

    @property
    def rts(self) -> bool:
        return self._rts

    @rts.setter
    def rts(self, on: bool) -> None:
        self._rts = on
        self._changed()

    def _changed(self) -> None:
        if self._rts and not self._dtr and not self._held:
            self._held = True
            self._hold()
        elif self._held and not self._rts:
            self._held = False
            self._release(self._dtr)

    def reset_input_buffer(self) -> None:
        """Does nothing: output of the board is sent on at once."""

    def reset_output_buffer(self) -> None:
        """Does nothing: input is sent on at once too."""


class Rfc2217Endpoint(TcpEndpoint):
    """One connection to the rfc2217 port."""

    has_modem_lines = True

    def __init__(self, connection: socket.socket, lines: ModemLines) -> None:
        super().__init__(connection)
        # Its type stubs require a serial.Serial; it uses only the attributes of these two.
        port: Any = lines
        sender: Any = _Sender(super().write)
        self._manager = rfc2217.PortManager(port, sender)

    def write(self, data: bytes) -> None:
        super().write(b"".join(self._manager.escape(data)))

    def read(self) -> bytes:
        return b"".join(self._manager.filter(super().read()))


class _Sender:
    """PortManager's connection."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.write = write

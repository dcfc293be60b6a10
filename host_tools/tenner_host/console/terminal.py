"""Join a person's terminal to the board's serial line."""

from __future__ import annotations

import select
import sys
from typing import Any

from tenner_host.board.transport import FRIENDLY_PROMPT, Transport
from tenner_host.errors import CommandError, terminal_errors

#: Ctrl-] and Ctrl-X, as in mpremote.
_LEAVE = (b"\x1d", b"\x18")
_POLL_S = 0.05


@terminal_errors()
def join(transport: Transport, hint: str) -> bool:
    """Relay both ways until Ctrl-] or Ctrl-X; True if the board's prompt was shown last."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            "this needs a terminal; for scripts there are `tenner run` and `tenner chat TEXT`"
        )
    from mpremote.console import Console

    console: Any = Console()
    console.enter()
    tail = b""
    try:
        # From here on every key goes to the board.
        sys.stderr.write(f"{hint}\r\n")
        sys.stderr.flush()
        while True:
            _wait(transport, console)
            key = console.readchar()
            while key:
                if key in _LEAVE:
                    return tail.endswith(FRIENDLY_PROMPT)
                if key == b"\x04":
                    # mpremote mounts its folder again after a soft reset.
                    transport.write_ctrl_d(console.write)
                else:
                    transport.write(key)
                key = console.readchar()
            data = transport.read_available(0)
            if data:
                console.write(data)
                tail = (tail + data)[-16:]
    finally:
        console.exit()
        print()


def _wait(transport: Transport, console: Any) -> None:
    """Wait for input on either side."""
    numbers = [
        number
        for number in (transport.number, getattr(console, "infd", None))
        if number is not None
    ]
    if sys.platform == "win32" or len(numbers) < 2:
        transport.wait(_POLL_S)
    else:
        select.select(numbers, [], [])

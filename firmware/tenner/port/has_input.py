# tenner port.has_input: whether something has come on a stream of MicroPython's asyncio.
# MIT license; Copyright (c) 2026 the tenner authors

import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port.cpython import Stream


def has_input(stream: "Stream") -> bool:
    """Has anything come on a stream, or has the other side closed it? Nothing is read."""
    poll = select.poll()
    poll.register(stream.s, select.POLLIN)  # type: ignore[attr-defined]
    return bool(poll.poll(0))

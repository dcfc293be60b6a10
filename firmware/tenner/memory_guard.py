# tenner memory_guard: notices when connections have no memory left for good.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Python's heap on an ESP32 without PSRAM grows into the memory that Wi-Fi and TLS live on and seldom gives any back. A board that
has lost it answers nobody until it is reset; `services.memory` sees to that, between turns.
"""

from tenner.port.compat import const

_LEAST = const(8000)  # bytes; with less Wi-Fi loses what it receives
_TRIES = const(3)  # connections in a row


def is_short(app):
    """Is there too little memory for connections?"""
    gate = app.part("gate")
    return gate.shortages >= _TRIES or app.port.system_memory()[0] < _LEAST or not gate.has_room()


def needs_look(app):
    """Shall all that can be evicted be, to see whether memory is short then?"""
    return app.part("gate").shortages > 0 or is_short(app)


def note(app):
    """Return the path of the file that tells of a restart."""
    return app.state + "/restart"

# tenner update.facts: whether a board can update itself, and the files that tell of its updates.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Base

#: In the folder of the state: how the last update has ended, for the owner's computer.
OUTCOME = "/update.txt"
#: There too: a sentence about the newer version that the daily look has found.
SUMMARY = "/update.new"


def is_possible(app: "Base") -> bool:
    """Can this board update itself? An image cannot, nor can Linux."""
    return app.port.kind == "esp32" and files.exists(app.port.path("lib/tenner"))

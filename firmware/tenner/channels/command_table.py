# tenner channels.command_table: reads the table of all commands.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.package import folders, packed
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: `command module rank meaning`, separated by tabs; /help begins with the lowest rank. A build
#: joins these tables in the one of this folder.
_OWN = "commands.tsv"


def rows() -> "Iterator[list[str]]":
    """Yield [command, module, rank, meaning] of each command."""
    for place in _tables():
        for line in files.lines_of(files.blocks(*place)):
            row = line.decode().split("\t")
            if row[2] != "rank":
                yield row


def _tables():
    for _, place, _ in packed("channels/" + _OWN):
        yield place
    for above in ("", "channels"):
        yield from folders(above, _OWN)


def rank(row: "list[str]") -> int:
    """Return the place of a row of `rows` in a list."""
    return int(row[2])

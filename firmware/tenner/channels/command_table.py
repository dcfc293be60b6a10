# tenner channels.command_table: reads the table of all commands.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.package import folders, packed
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: `command module rank meaning`, separated by tabs. A build joins the tables of all folders in the
#: one of this folder, by rank.
_OWN = "commands.tsv"


def rows() -> "Iterator[list[str]]":
    """Yield [command, module, rank, meaning] of each command, in the order of the ranks."""
    for _, place, _ in packed("channels/" + _OWN):
        yield from _rows_of(place)
        return
    yield from sorted([row for place in folders(_OWN) for row in _rows_of(place)], key=rank)


def _rows_of(place):
    for line in files.lines_of(files.blocks(*place)):
        row = line.decode().split("\t")
        if row[2] != "rank":
            yield row


def rank(row: "list[str]") -> int:
    """Return the place of a row in a list; /help begins with the lowest."""
    return int(row[2])

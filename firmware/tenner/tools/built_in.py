# tenner tools.built_in: lists the tools that ship with the code, and reads their declarations.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.port.package import package_path, packed
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("NEEDS", "TURNS")


def tools(start: str = "") -> "Iterator[tuple[str, tuple[str, int, int], str, str]]":
    """Yield (name, place of the schema, NEEDS, TURNS) of each tool whose name begins with
    `start`."""
    some = False
    for name, place, more in packed("tools/"):
        some = True
        if name.startswith(start, 6) and name.endswith(".json"):
            needs, _, turns = more.partition(";")
            yield name[6:-5], place, needs, turns
    if not some:
        folder = package_path("tools")
        for entry in sorted(os.listdir(folder)):
            if entry.startswith(start) and entry.endswith(".json"):
                path = folder + "/" + entry
                needs, turns = declared(path[:-4] + "py")
                yield entry[:-5], (path, 0, files.size(path)), needs, turns


def names() -> list[str]:
    return [tool[0] for tool in tools()]


def declared(path: str) -> list[str]:
    """Return the texts of NEEDS and TURNS in the module `path`, "" for a missing one."""
    found = ["", ""]
    if files.exists(path):
        with open(path, "rb") as file:
            for line in files.lines(file):
                if line[:4] == b"def " or line[:6] == b"async ":
                    break
                for index, name in enumerate(NAMES):
                    if line.startswith(name.encode() + b' = "'):
                        found[index] = line.split(b'"')[1].decode()
    return found

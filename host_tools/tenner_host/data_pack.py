"""Merge the data files of the firmware package into one: on a board's flash each file takes a
block of 4 KB.

The format is that of `firmware/tenner/port/package.py`, which reads it.
"""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator, Mapping

NAME = "data.pack"

#: Declarations of a tool's module that the index repeats: see firmware/tenner/tools/__init__.py.
DECLARED = ("NEEDS", "TURNS")

#: The most frequent lookup, so first in the index.
_FIRST = "store/config.tsv"
#: The settings of each folder, which belong to that table on a board: see store/config.py.
_SETTINGS = "*/settings.tsv"
_PART = "part.py"
#: The commands of all features, and those of the features: see channels/command_table.py.
_COMMANDS = "channels/commands.tsv"
_OF_FEATURES = "*/commands.tsv"


def declared(source: bytes) -> str:
    """The declarations of a tool's module in the form of the index: its needs, and its kinds of
    turn."""
    found = dict.fromkeys(DECLARED, "")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in DECLARED:
                found[node.targets[0].id] = str(ast.literal_eval(node.value))
    return ";".join(found[name] for name in DECLARED).rstrip(";")


def pack(files: Mapping[str, bytes], notes: Mapping[str, str]) -> bytes:
    """One file of all; `notes` are the index's further texts on some files, by name."""
    names = sorted(files, key=lambda name: (name != _FIRST, name))
    index = b""
    while True:
        start = len(index)
        lines = []
        for name in names:
            lines.append(f"{name}\t{start}\t{len(files[name])}\t{notes.get(name, '')}\n")
            start += len(files[name])
        made = "".join([*lines, "\n"]).encode()
        if len(made) == len(index):
            return made + b"".join(files[name] for name in names)
        # The offsets got longer digits, which moves them again.
        index = made


def packed(
    tree: Mapping[str, bytes],
    modules: Mapping[str, bytes],
    folder: str,
    *,
    has_meanings: bool = False,
) -> dict[str, bytes]:
    """The tree with the data files of the package at `folder`, such as `/lib/tenner/`, merged into
    one.

    `modules` are the sources of the package, by names such as `tenner/tools/i2c.py`. A page of the
    agent shows the meanings of settings.
    """
    files = {
        path.removeprefix(folder): data
        for path, data in tree.items()
        if path.startswith(folder) and _is_data(path.removeprefix(folder))
    }
    rest = {path: data for path, data in tree.items() if path.removeprefix(folder) not in files}
    notes = {
        name: declared(modules.get(f"tenner/{name.removesuffix('.json')}.py", b""))
        for name in files
        if name.startswith("tools/") and name.endswith(".json")
    }
    if _COMMANDS in files:
        _joined(files, _COMMANDS, _OF_FEATURES)
        head, *rows = files[_COMMANDS].splitlines(True)
        rows.sort(key=_rank)
        files[_COMMANDS] = head + b"".join(rows)
    if _FIRST in files:
        notes[_FIRST] = " ".join(_parts(files, modules))
        _joined(files, _FIRST, _SETTINGS)
        if not has_meanings:
            files[_FIRST] = without_meanings(files[_FIRST])
    return {**rest, f"{folder}{NAME}": pack(files, notes)} if files else rest


def _joined(files: dict[str, bytes], table: str, more: str) -> None:
    """Append the rows of the tables that match `more` to this one, without their heads."""
    for name in fnmatch.filter(sorted(files), more):
        if name != table:
            files[table] += files.pop(name).partition(b"\n")[2]


def _rank(row: bytes) -> int:
    """The place of a command in the table: see channels/command_table.py."""
    return int(row.split(b"\t")[2])


def _parts(files: Mapping[str, bytes], modules: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the package and the first setting of each folder with a part, joined by `=`."""
    for name in fnmatch.filter(sorted(files), _SETTINGS):
        folder = name.rpartition("/")[0]
        if f"tenner/{folder}/{_PART}" in modules:
            first = files[name].splitlines()[1].split(b"\t")[0].decode()
            yield f"{folder.replace('/', '.')}={first}"


def without_meanings(table: bytes) -> bytes:
    """The table of settings without its last column, the texts for people: a board scans the
    rest."""
    return b"".join(line.rpartition(b"\t")[0] + b"\t\n" for line in table.splitlines())


def _is_data(name: str) -> bool:
    """Is it data of the code, in a folder of the package? Files beside it belong to the board or
    the build."""
    return "/" in name and not name.endswith((".py", ".mpy"))

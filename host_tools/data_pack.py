"""Puts the data files of the firmware package into one: on a board's flash each file takes a block of 4 KB.

The format is that of `firmware/tenner/port/package.py`, which reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

NAME = "data.pack"

#: What a tool's module says of it that the index has too: see firmware/tenner/tools/__init__.py.
DECLARED = ("NEEDS", "TURNS")

#: Asked for most often, so looked for first.
_FIRST = "store/config.tsv"


def declared(source: bytes) -> str:
    """What the module of a tool says it needs, and the kinds of turn it is for, as the index has it."""
    found = dict.fromkeys(DECLARED, "")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in DECLARED:
                found[node.targets[0].id] = str(ast.literal_eval(node.value))
    return ";".join(found[name] for name in DECLARED).rstrip(";")


def pack(files: Mapping[str, bytes], notes: Mapping[str, str]) -> bytes:
    """One file of all; `notes` is what the index says besides of some, by name."""
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
        # The offsets became longer with what they count.
        index = made


def packed(
    tree: Mapping[str, bytes], modules: Mapping[str, bytes], folder: str
) -> dict[str, bytes]:
    """The tree with the data files of the package at `folder`, such as `/lib/tenner/`, as one.

    `modules` are the sources of the package, by names such as `tenner/tools/i2c.py`.
    """
    files = {
        path.removeprefix(folder): data
        for path, data in tree.items()
        if path.startswith(folder) and _is_data(path.removeprefix(folder))
    }
    if _FIRST in files:
        files[_FIRST] = without_meanings(files[_FIRST])
    notes = {
        name: declared(modules.get(f"tenner/{name.removesuffix('.json')}.py", b""))
        for name in files
        if name.startswith("tools/") and name.endswith(".json")
    }
    rest = {path: data for path, data in tree.items() if path.removeprefix(folder) not in files}
    return {**rest, f"{folder}{NAME}": pack(files, notes)} if files else rest


def without_meanings(table: bytes) -> bytes:
    """The table of settings without its last column, which only people read: a board scans what is left."""
    return b"".join(line.rpartition(b"\t")[0] + b"\t\n" for line in table.splitlines())


def _is_data(name: str) -> bool:
    """Data of the code, in a folder of the package; what lies beside it is the board's or the build's."""
    return "/" in name and not name.endswith((".py", ".mpy"))

"""Names modules of the package by their place beside the importing one: `..log` for `tenner.log`.

The long name stands in the .mpy of every module that imports it. The last part alone is in RAM anyway, as an
attribute of its package, and often in the table of names already. Where two parts would be left,
`..port.package`, they would be a new name in RAM, and the import stays as it is.
"""

from __future__ import annotations

import ast

from host_tools.shorten.syntax import Edits, edited, parsed

ROOT = "tenner"


def with_relative_imports(source: bytes, name: str) -> bytes:
    """The module `name`, such as `tenner/net/http.py`, with shorter imports."""
    package = name.split("/")[:-1]
    edits: Edits = {}
    for node in ast.walk(parsed(source, name)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            parts = node.module.split(".")
            shared = 0
            while package[shared : shared + 1] == parts[shared : shared + 1] != []:
                shared += 1
            if parts[0] == ROOT and len(parts) - shared < 2:
                new = "." * (len(package) - shared + 1) + "".join(parts[shared:])
                edits[node.lineno, node.col_offset + len("from ")] = (node.module, new)
    return edited(source, edits)

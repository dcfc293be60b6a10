"""On a chip an import of a built-in module searches the flash, unless it is in sys.modules."""

import ast
import collections
import re

from tenner_host import FIRMWARE

#: No file can replace these.
FIXED = {"esp32", "gc", "micropython", "sys"}
#: The image has these in Python, and they stay in sys.modules.
FROZEN = {"asyncio", "ssl"}
#: Importers of a module that is worth its place there.
MANY = 4
ELSEWHERE = ("linux", "cpython.py")


def imported(path):
    """The modules that `path` imports at its top."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def test_the_port_has_the_usual_built_in_modules_in_sys_modules():
    port = (FIRMWARE / "tenner/port/esp32.py").read_text()
    known = set(
        re.search(r"_REPLACEABLE = const\(([^)]*)\)", port).group(1).replace('"', "").split()
    )
    counts = collections.Counter(
        name
        for path in (FIRMWARE / "tenner").rglob("*.py")
        if not any(part in path.parts for part in ELSEWHERE)
        for name in imported(path)
        if name.split(".")[0] != "tenner"
    )
    assert counts["os"] > MANY
    wanted = {name for name, count in counts.items() if count > MANY}
    assert wanted - FIXED - FROZEN - known == set()

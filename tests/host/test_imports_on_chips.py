"""On a chip an import of a built-in module searches the flash, unless it is in sys.modules."""

import collections
import re

from scripts import check_imports
from tenner_host import FIRMWARE

#: No file can replace these.
FIXED = {"esp32", "gc", "micropython", "sys"}
#: The image has these in Python, and they stay in sys.modules.
FROZEN = {"asyncio", "ssl"}
#: Importers of a module that is worth its place there.
MANY = 4
ELSEWHERE = {"linux", "cpython"}


def test_the_port_has_the_usual_built_in_modules_in_sys_modules():
    port = (FIRMWARE / "tenner/port/esp32.py").read_text()
    known = set(re.search(r'_REPLACEABLE = const\("(.*)"\)', port).group(1).split())
    modules = check_imports.modules(FIRMWARE / "tenner", "tenner", (".py",))
    counts = collections.Counter(
        name
        for importer, tree in modules.items()
        if not ELSEWHERE & set(importer.split("."))
        for node in tree.body
        for name in check_imports.named(node)
        if name.split(".")[0] != "tenner"
    )
    assert counts["os"] > MANY
    wanted = {name for name, count in counts.items() if count > MANY}
    assert wanted - FIXED - FROZEN - known == set()

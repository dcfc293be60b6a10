# tenner agent.skills: a line of the prompt for each skill of the workspace; its text on demand.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.log import is_odd, is_plain
from tenner.port.compat import const
from tenner.store import files
from tenner.tools import untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = const(20)
_FRONT = const(512)
_LINE = const(160)


def pieces(workspace: str) -> "Iterator[bytes]":
    """Yield the names and descriptions of the skills: marked where a name is not plain, and none
    that looks like an order."""
    folder = workspace + "/skills"
    if not files.is_folder(folder):
        return
    head = b"\n# Skills\nFor what one is for, read skills/NAME/SKILL.md first.\n"
    for name in sorted(os.listdir(folder))[:_MOST]:
        path = "%s/%s/SKILL.md" % (folder, name)
        if files.is_file(path) and not is_odd(name):
            with open(path, "rb") as file:
                front = file.read(_FRONT)
            _, _, line = front.partition(b"\ndescription:")
            line = line.partition(b"\n")[0].strip(b" \"'\r")[:_LINE]
            if not is_plain(name):
                head += b"(%s)\n" % untrusted.DATA.encode()
            yield head + b"- %s: %s\n" % (name.encode(), line)
            head = b""

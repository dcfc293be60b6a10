# tenner store.attachments: messages of the outbox that are files.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The channel of such a message ends in `/file`, and its text has three parts, `kind\npath\ncaption`.
Pictures that are drawn to be sent are in state/outgoing until no message needs them.
"""

import os
from binascii import hexlify

from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.store.outbox import Outbox

SUFFIX = "/file"
FOLDER = "/outgoing"


def pack(kind: str, path: str, caption: str) -> str:
    """Return the text of a message that is a file."""
    return "%s\n%s\n%s" % (kind, path, caption)


def unpack(text: str) -> list[str]:
    """Return (kind, path, caption)."""
    return text.split("\n", 2)


def new_path(state: str, ending: str) -> str:
    """Return the path of a new file to send; the folder exists then."""
    folder = state + FOLDER
    files.make_dirs(folder)
    return "%s/%s%s" % (folder, hexlify(os.urandom(4)).decode(), ending)


def sweep(outbox: "Outbox") -> None:
    """Remove the files that no waiting message needs, and the folder with the last one."""
    folder = outbox.folder + FOLDER
    needed = []
    for item in outbox.items:
        if item.channel.endswith(SUFFIX):
            needed.append(unpack(outbox.text_of(item, item.part) or "\n\n")[1])
    left = 0
    for name in os.listdir(folder):
        path = "%s/%s" % (folder, name)
        # One that is being written has another ending; after a power cut the boot removes it.
        if name.endswith(files.TEMP) or path in needed:
            left += 1
        else:
            os.remove(path)
    if not left:
        os.rmdir(folder)

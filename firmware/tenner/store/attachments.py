# tenner store.attachments: messages of the outbox that are files.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The channel of such a message ends in `/file`, and its text has three parts, `kind\npath\ncaption`.
A text with buttons, of the kind MENU, has these in place of the path.
Pictures that are drawn to be sent, and copies of the owner's files, are in state/outgoing until no
message needs them.
"""

import json
import os
from binascii import hexlify

from tenner.log import SHORT, secrets
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.store.outbox import Outbox

SUFFIX = "/file"
MENU = "menu"
FOLDER = "/outgoing"
#: Files that wait to be sent, at most.
MOST = const(6)


def pack(kind: str, path: str, caption: str) -> str:
    """Return the text of a message that is a file."""
    return "%s\n%s\n%s" % (kind, path, caption)


def menu(text: str, buttons: "Sequence[tuple[str, str]]") -> str:
    """Return the text of a message with buttons, each a label and up to 64 bytes of data."""
    return pack(MENU, json.dumps(buttons), text)


def unpack(text: str) -> list[str]:
    """Return (kind, path, caption)."""
    return text.split("\n", 2)


def new_path(state: str, ending: str) -> str:
    """Return the path of a new file to send; the folder exists then. OSError if too many wait."""
    folder = state + FOLDER
    files.make_dirs(folder)
    if len(os.listdir(folder)) >= MOST:
        raise OSError("%d files wait to be sent: no more now" % MOST)
    return "%s/%s%s" % (folder, hexlify(os.urandom(4)).decode(), ending)


def copy(source: str, state: str) -> str:
    """
    Return the path of a copy to send, so that the message has the file as it is now. OSError if it
    holds a secret of the settings, or cannot be copied.
    """
    path = new_path(state, "-" + source.rpartition("/")[2])
    hidden = [secret.encode() for secret in secrets() if len(secret) >= SHORT]
    longest = max([len(secret) for secret in hidden] or [0])
    end = b""
    try:
        with files.open_own(path + files.TEMP, "wb") as target:
            for block in files.blocks(source):
                end += block
                if any(secret in end for secret in hidden):
                    raise OSError("this file holds a secret of config.json, which stays here")
                end = end[-longest:]
                files.put(target, block)
        os.rename(path + files.TEMP, path)
    finally:
        files.remove(path + files.TEMP)
    return path


def name_of(path: str) -> str:
    """Return the name of a file for the person who gets it."""
    name = path.rpartition("/")[2]
    return name.partition("-")[2] or name


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

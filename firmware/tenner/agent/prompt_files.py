# tenner agent.prompt_files: files of the workspace that turns go by are files.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, repairs

_NAMES = const(
    "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md memory/MEMORY.md HEARTBEAT.md CRON.json SENSORS.json"
)
_FOLDERS = const("memory skills tools drivers")


def check(workspace):
    """
    Set aside what is no regular file by the name of one, such as a folder MEMORY.md, and what is no folder by the name of
    one: whoever opens it would fail, again and again. Return sentences for the owner.
    """
    told = []
    for name in (_NAMES + " " + _FOLDERS).split():
        path = workspace + "/" + name
        fits = files.is_folder if name in _FOLDERS.split() else files.is_file
        if files.exists(path) and not fits(path):
            try:
                told.append(
                    "%s was not a %s: it is set aside as %s."
                    % (
                        name,
                        "folder" if name in _FOLDERS.split() else "file",
                        repairs.set_aside(path).rpartition("/")[2],
                    )
                )
            except OSError as error:
                told.append("%s is in the way and cannot be set aside: %s" % (name, error))
            log("files", told[-1])
    return told

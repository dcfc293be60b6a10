# tenner agent.prompt_files: quarantines folders in the place of prompt files, and the reverse.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, repairs

_NAMES = const(
    "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md memory/MEMORY.md HEARTBEAT.md CRON.json "
    "SENSORS.json"
)
_FOLDERS = const("memory skills tools drivers")


def check(workspace: str) -> list[str]:
    """
    Quarantine an entry of the wrong type, such as a folder MEMORY.md or a file `skills`, since
    every turn that opens it would fail. Return sentences for the owner.
    """
    told = []
    for name in (_NAMES + " " + _FOLDERS).split():
        path = workspace + "/" + name
        fits = files.is_folder if name in _FOLDERS.split() else files.is_file
        if files.exists(path) and not fits(path):
            try:
                told.append(
                    "%s was not a %s: I saved it as %s."
                    % (
                        name,
                        "folder" if name in _FOLDERS.split() else "file",
                        repairs.quarantine(path).rpartition("/")[2],
                    )
                )
            except OSError as error:
                told.append("%s is in the way and cannot be renamed: %s" % (name, error))
            log("files", told[-1])
    return told

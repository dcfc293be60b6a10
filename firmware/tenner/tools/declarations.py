# tenner tools.declarations: reads the declarations in a tool's file without running it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files

NAMES = ("NEEDS", "TURNS")


def declared(path: str) -> list[str]:
    """Return the texts of NEEDS and TURNS in the module `path`, "" for a missing one."""
    found = ["", ""]
    if files.exists(path):
        with open(path, "rb") as file:
            for line in files.lines(file):
                if line[:4] == b"def " or line[:6] == b"async ":
                    break
                for index, name in enumerate(NAMES):
                    if line.startswith(name.encode() + b' = "'):
                        found[index] = line.split(b'"')[1].decode()
    return found

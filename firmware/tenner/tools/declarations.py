# tenner tools.declarations: what a tool's file says of it without being run.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.store import files

NAMES = ("NEEDS", "TURNS")


def declared(path):
    """Return the texts of NEEDS and TURNS in the module `path`, "" for one that it does not have."""
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

# tenner store.plugins: the owner's own tools and drivers, loaded from the workspace.
# MIT license; Copyright (c) 2026 the tenner authors

import sys


def load(folder, name):
    """Import `folder/name.py` (or .mpy); ImportError with a sentence when it cannot be done."""
    sys.path.insert(0, folder)
    try:
        module = __import__(name)
    finally:
        sys.path.remove(folder)
    # A file called like a module of the system would silently give that module instead.
    place = getattr(module, "__file__", None) or ""
    if not place.rsplit(".", 1)[0].endswith(folder.rsplit("/", 1)[-1] + "/" + name):
        raise ImportError("%s/%s has the name of another module: rename it" % (folder, name))
    return module

# tenner store.load_custom: load the owner's own tools and drivers.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

from tenner.store import expose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

#: The owner's tools and drivers by their paths; they stay.
loaded = {}


def load(folder: str, name: str) -> "ModuleType":
    """Return the module `folder/name.py` (or .mpy); ImportError with a sentence when it has
    none."""
    path = folder + "/" + name
    if path not in loaded:
        module = None
        if name not in sys.modules:
            sys.path.insert(0, folder)
            expose.expose()
            try:
                module = __import__(name)
            finally:
                expose.conceal()
                sys.path.remove(folder)
                # Under its bare name it would stand in for a module of the system.
                sys.modules.pop(name, None)
        place = getattr(module, "__file__", None) or ""
        if not place.rsplit(".", 1)[0].endswith(folder.rsplit("/", 1)[-1] + "/" + name):
            raise ImportError("%s has the name of another module: rename it" % path)
        loaded[path] = module
    return loaded[path]

# tenner store.modules: load the owner's own tools and drivers, drop code that is not needed now.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

_loaded = {}


def load(folder, name):
    """Return the module `folder/name.py` (or .mpy); ImportError with a sentence when it has none."""
    path = folder + "/" + name
    if path in _loaded:
        return _loaded[path]
    if name in sys.modules:
        raise ImportError("%s has the name of another module: rename it" % path)
    sys.path.insert(0, folder)
    try:
        module = __import__(name)
    finally:
        sys.path.remove(folder)
        # Kept here only: under its bare name it would stand in for a module of the system.
        sys.modules.pop(name, None)
    place = getattr(module, "__file__", None) or ""
    if not place.rsplit(".", 1)[0].endswith(folder.rsplit("/", 1)[-1] + "/" + name):
        raise ImportError("%s has the name of another module: rename it" % path)
    _loaded[path] = module
    return module


def forget(prefix, keep=()):
    """
    Let go of the modules whose names start with `prefix`: their heap is free once nobody runs them,
    and the next import loads them again. For small boards; such modules keep no state.
    """
    for name in list(sys.modules):
        if name.startswith(prefix) and name not in keep:
            package, _, leaf = name.rpartition(".")
            del sys.modules[name]
            if hasattr(sys.modules.get(package), leaf):
                delattr(sys.modules[package], leaf)

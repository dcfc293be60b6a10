# tenner store.modules: drop code that is not needed now.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

#: The owner's tools and drivers (store.owned) by their paths; they stay.
loaded = {}


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

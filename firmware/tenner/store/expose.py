# tenner store.expose: what owners' tools and drivers may import, under the names that the source has.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A build merges modules, and there is no `tenner.sensors.checks` any more. While an owner's file is imported, stand-ins of
these names lead to what the build has.
"""

import sys

from tenner import overlay


def expose():
    """Make the modules that owners may use importable; `conceal` ends that."""
    for name, _, _, allowed in overlay.entries():
        while allowed and name != "tenner":
            sys.modules[name] = _Exposed(name)
            package, _, leaf = name.rpartition(".")
            if package == "tenner":
                # For who says `import tenner.log`, and later `tenner.log.log`: it stays.
                setattr(sys.modules[package], leaf, sys.modules[name])
            name = package


def conceal():
    """Undo what `expose` has done."""
    for name in [name for name in sys.modules if isinstance(sys.modules[name], _Exposed)]:
        del sys.modules[name]


class _Exposed:
    """A module or package that is looked for when something in it is."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = self._name + "." + name
        for found, _, _, allowed in overlay.entries(full):
            if allowed and (found + ".").startswith(full + "."):
                return _Exposed(full)
        return getattr(overlay.module(self._name), name)

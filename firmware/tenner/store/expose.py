# tenner store.expose: lets owners' tools and drivers import modules by their names in the source.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A build merges modules, and has no `tenner.sensors.checks` any more. During the import of an
owner's file, stand-ins with these names lead to the merged code.
"""

import sys

from tenner import overlay_loader


def expose() -> None:
    """Make the modules that owners may use importable; `conceal` ends that."""
    for name, _, _, allowed in overlay_loader.entries():
        while allowed and name != "tenner":
            sys.modules[name] = _Exposed(name)  # type: ignore[assignment]
            package, _, leaf = name.rpartition(".")
            if package == "tenner":
                # It stays, as code after `import tenner.log` may use `tenner.log.log` later.
                setattr(sys.modules[package], leaf, sys.modules[name])
            name = package


def conceal() -> None:
    """Take the stand-ins of `expose` away."""
    for name in [name for name in sys.modules if isinstance(sys.modules[name], _Exposed)]:
        del sys.modules[name]


class _Exposed:
    """A stand-in that finds its module or package when a name in it is used."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = self._name + "." + name
        for found, _, _, allowed in overlay_loader.entries(full):
            if allowed and (found + ".").startswith(full + "."):
                return _Exposed(full)
        return getattr(overlay_loader.module(self._name), name)

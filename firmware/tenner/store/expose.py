# tenner store.expose: loads the owner's own tools and drivers, which import by the source's names.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A build merges modules, and has no `tenner.sensors.checks` any more. During the import of an
owner's file, stand-ins with these names lead to the merged code.
"""

import sys

from tenner import overlay_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

#: The owner's tools and drivers by their paths; they stay.
loaded = {}


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


def load(folder: str, name: str) -> "ModuleType":
    """Return the module `folder/name.py` (or .mpy); ImportError with a sentence when it has
    none."""
    path = folder + "/" + name
    if path not in loaded:
        module = None
        if name not in sys.modules:
            sys.path.insert(0, folder)
            expose()
            try:
                module = __import__(name)
            finally:
                conceal()
                sys.path.remove(folder)
                # Under its bare name it would stand in for a module of the system.
                sys.modules.pop(name, None)
        place = getattr(module, "__file__", None) or ""
        if not place.rsplit(".", 1)[0].endswith(folder.rsplit("/", 1)[-1] + "/" + name):
            raise ImportError("%s has the name of another module: rename it" % path)
        loaded[path] = module
    return loaded[path]

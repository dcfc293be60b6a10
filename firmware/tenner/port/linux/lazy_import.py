# tenner port.linux.lazy_import: makes CPython load modules on their first use, not on import.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

try:
    from importlib import import_module
    from types import ModuleType

    class _Later(ModuleType):
        """A module that loads on the first use of a name of it."""

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
            self.__dict__.update(module.__dict__)
            return getattr(module, name)

except ImportError:
    _Later = None  # MicroPython, where nobody imports these


def later(*names: str) -> None:
    """Delay the import of these modules until their first use, unless they are loaded already."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = _Later(name)


if _Later is not None:
    # asyncio imports them and rarely uses them: 1.1 MB with their own imports.
    later("inspect", "locale")

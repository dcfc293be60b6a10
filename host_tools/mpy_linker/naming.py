"""The names in generated files: this choice keeps each name if it can."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator

from mpy_linker.program import External, Symbol
from mpy_linker.scopes import Binding
from mpy_linker.source import Module
from mpy_linker.split import whole

#: Names that every MicroPython has without an import.
BUILTINS = frozenset(dir(builtins))


class Naming:
    """The choice of names; a minifier makes another choice."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        #: Full names of the symbols that scripts import from the core.
        self.entries = frozenset(entries)
        #: Names of overlays in code, where these differ from the table.
        self.overlays: dict[str, str] = {}

    def overlay(self, name: str) -> str:
        """The name of an overlay in code."""
        return self.overlays.get(name, name)

    def attribute(self, name: str, module: Module) -> str:
        """The new name of an attribute, a method or a keyword."""
        return name

    def attributes(self) -> dict[str, str]:
        """The old names of attributes of all modules, by their new names."""
        return {}

    def own(self, module: Module) -> dict[str, str]:
        """The same for attributes that only one module knows."""
        return {}

    def prefers_own(self, symbol: Symbol) -> bool:
        """Should a symbol keep its name, because messages show it?"""
        return False

    def keeps(self, symbol: Symbol) -> bool:
        """Must a symbol keep its name?"""
        return symbol.full in self.entries

    def keeps_argument(self, binding: Binding, module: Module) -> bool:
        """May a call give this argument by keyword?"""
        return True

    def symbols(self, symbol: Symbol) -> Iterator[str]:
        """Yield names for a symbol at the top of an overlay, the best first."""
        leaf = whole(symbol.module.name).rpartition(".")[2]
        base = leaf if symbol.name == "*" else symbol.name
        if base not in BUILTINS and not keyword.iskeyword(base):
            yield base
        yield f"{leaf}_{base.lstrip('_')}"
        yield from numbered(base)

    def imports(self, external: External) -> Iterator[str]:
        """Yield names for an import from another package whose own name is taken."""
        yield from numbered(external.name or external.module)

    def variables(self, binding: Binding, module: Module) -> Iterator[str]:
        """Yield names for a variable of a function, the best first."""
        yield binding.name
        yield from numbered(binding.name)


def numbered(name: str) -> Iterator[str]:
    """Yield `name_2`, `name_3` ..."""
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1

"""Short names for a board: every name that a module mentions stays in RAM forever.

Symbols at the top of an overlay, and positional arguments, are invisible elsewhere: they get names
that MicroPython has in ROM. Attributes and methods get such a name too, the same in the whole
program. Private ones share a few names among all modules, unless their classes inherit from each
other.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product

from mpy_linker.kept import Kept, is_seen_outside, keywords, mentioned
from mpy_linker.merge import Overlay
from mpy_linker.micropython_names import ARGUMENTS, ATTRIBUTES, ROM, STATIC
from mpy_linker.naming import BUILTINS, Naming, numbered
from mpy_linker.program import External, Program, Symbol
from mpy_linker.scopes import CLASS, Binding
from mpy_linker.source import Module
from mpy_linker.split import whole
from mpy_linker.syntax import walk
from mpy_linker.table import Table

_EXCEPTIONS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg)
_TOP = [
    *(name for name in STATIC if not name[0].isupper()),
    *ROM,
    *(name for name in STATIC if name[0].isupper()),
]


class Minify(Naming):
    """The shortest names that keep the behavior."""

    def __init__(
        self,
        program: Program,
        overlays: Mapping[str, Overlay],
        table: Table,
        outside: Mapping[str, bytes],
        entries: Iterable[str],
    ) -> None:
        super().__init__(entries)
        self._program = program
        self._table = table
        self._given = keywords(program)
        self.kept = Kept(program, table, outside)
        places = _places(program, overlays)
        fresh = _Fresh(program, places, self.kept, self._given)
        self.private = _private_names(program, places, fresh)
        self.public = _public_names(places, self.kept, fresh)

    def attribute(self, name: str, module: Module) -> str:
        if is_private(name):
            return self.private[module.name].get(name, name)
        return self.public.get(name, name)

    def attributes(self) -> dict[str, str]:
        return {new: old for old, new in self.public.items()}

    def own(self, module: Module) -> dict[str, str]:
        return {new: old for old, new in self.private[module.name].items()}

    def keeps_argument(self, binding: Binding, module: Module) -> bool:
        return binding.name in self._given or is_seen_outside(module, self._table)

    def symbols(self, symbol: Symbol) -> Iterator[str]:
        if self.prefers_own(symbol):
            yield symbol.name
        yield from _TOP
        yield from _generated()

    def imports(self, external: External) -> Iterator[str]:
        yield from _TOP
        yield from _generated()

    def variables(self, binding: Binding, module: Module) -> Iterator[str]:
        is_argument = any(isinstance(node, ast.arg) for node in binding.stores)
        if is_argument and self.keeps_argument(binding, module):
            yield self.attribute(binding.name, module)
            return
        if any(isinstance(node, _DEFINITIONS) for node in binding.stores):
            yield from ARGUMENTS
        yield binding.name
        yield from numbered(binding.name)

    def prefers_own(self, symbol: Symbol) -> bool:
        node = symbol.binding.stores[0] if symbol.binding and symbol.binding.stores else None
        if not isinstance(node, ast.ClassDef):
            return False
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in _EXCEPTIONS:
                return True
            link = self._program.links.get(base)
            if link is not None and isinstance(link.target, Symbol):
                if self.prefers_own(link.target):
                    return True
        return False


def is_private(name: str) -> bool:
    """Does only its own module know this name?"""
    return name.startswith("_") and not name.startswith("__")


def _places(program: Program, overlays: Mapping[str, Overlay]) -> dict[str, Counter[str]]:
    """For each module, the number of mentions of each attribute, method and keyword."""
    places: dict[str, Counter[str]] = {}
    for module in program.modules.values():
        found = places[module.name] = Counter()
        for node in walk(module.tree):
            if isinstance(node, ast.Attribute) and node not in program.links:
                found[node.attr] += 1
            elif isinstance(node, ast.keyword) and node.arg:
                found[node.arg] += 1
        for scope in module.scopes.module.walk():
            if scope.kind == CLASS:
                found.update(scope.bindings.keys())
    for overlay in overlays.values():
        for symbol, names in overlay.objects.items():
            places[symbol.module.name].update(names)
    return places


class _Fresh:
    """Unused names for attributes, the cheapest first."""

    def __init__(
        self,
        program: Program,
        places: Mapping[str, Counter[str]],
        kept: Kept,
        given: Iterable[str],
    ) -> None:
        self._given = frozenset(given)
        #: Attributes of objects that may be anybody's, and names for code from outside the build.
        used = {name for module in places.values() for name in module} | kept.looked_up
        #: A keyword is an argument, too, and a function may have other names.
        self._taken = set(used) | BUILTINS
        for module in program.modules.values():
            self._taken.update(mentioned(program, module))
            self._taken.update(program.texts(module))
        generated = (name for name in _generated() if name not in ATTRIBUTES)
        self._names = (name for name in chain(ATTRIBUTES, generated) if name not in used)
        self._left: list[str] = []

    def next(self, name: str = "") -> str:
        """The new name of an attribute, which may be a keyword as well."""
        if name not in self._given:
            return self._left.pop(0) if self._left else next(self._names)
        for one in self._names:
            if one not in self._taken:
                return one
            self._left.append(one)
        raise AssertionError("names without end")


def _private_names(
    program: Program, places: Mapping[str, Counter[str]], fresh: _Fresh
) -> dict[str, dict[str, str]]:
    """For each module, the new names of its private attributes, the same in all pieces of a
    module."""
    mine: dict[str, list[str]] = {}
    foreign: set[str] = set()
    made: dict[str, set[str]] = {}
    counts: dict[str, Counter[str]] = {}
    for module in program.modules.values():
        made.setdefault(whole(module.name), set()).update(_made(module))
        counts.setdefault(whole(module.name), Counter()).update(places[module.name])
    for name, count in counts.items():
        used = [one for one, _ in count.most_common() if is_private(one)]
        mine[name] = [one for one in used if one in made[name] and len(one) > 2]
        foreign.update(one for one in used if one not in made[name])
    pool: list[str] = []
    result: dict[str, dict[str, str]] = {}
    for family in _families(program):
        at = 0
        for name in sorted(family):
            renamed = [one for one in mine[name] if one not in foreign]
            while len(pool) < at + len(renamed):
                pool.append(fresh.next())
            result[name] = dict(zip(renamed, pool[at:], strict=False))
            at += len(renamed)
    return {name: result[whole(name)] for name in program.modules}


def _made(module: Module) -> Iterator[str]:
    """Yield the attributes and methods that a module assigns."""
    for node in walk(module.tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr
    for scope in module.scopes.module.walk():
        if scope.kind == CLASS:
            yield from scope.bindings


def _families(program: Program) -> list[set[str]]:
    """Groups of modules whose classes inherit from each other."""
    family = {whole(name): {whole(name)} for name in program.modules}
    for module in program.modules.values():
        for node in walk(module.tree):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    link = program.links.get(base)
                    if link is not None and isinstance(link.target, Symbol):
                        other = whole(link.target.module.name)
                        joined = family[whole(module.name)] | family[other]
                        for name in joined:
                            family[name] = joined
    found: list[set[str]] = []
    for one in family.values():
        if one not in found:
            found.append(one)
    return found


def _public_names(places: Mapping[str, Counter[str]], kept: Kept, fresh: _Fresh) -> dict[str, str]:
    """The new names of public attributes, methods and keywords."""
    modules: Counter[str] = Counter()
    for found in places.values():
        modules.update(found.keys())
    names = [name for name in modules if not is_private(name) and name not in kept]
    return {name: fresh.next(name) for name in sorted(names, key=lambda one: (-modules[one], one))}


def _generated() -> Iterator[str]:
    """Yield names that only this program has."""
    for size in (1, 2, 3):
        for letters in product(string.ascii_letters, repeat=size):
            name = "".join(letters)
            if not keyword.iskeyword(name):
                yield name

"""The imports of an overlay, and the names of all symbols at its top."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from mpy_linker.merge import Overlay
from mpy_linker.naming import Naming
from mpy_linker.program import External, ModuleTarget, Program, Symbol, Target
from mpy_linker.scopes import CLASS, Scope, all_arguments
from mpy_linker.source import Module
from mpy_linker.syntax import OverlayError, walk
from mpy_linker.table import CORE, Names
from mpy_linker.texts import TEXTS, Shelf

#: The run time's object with every loaded overlay as an attribute.
LOADED = "overlays"
#: The run time's function that finds a method of a class in another overlay.
BORROW = "borrow"
#: An overlay's tuple of the classes of others that it gives methods, each before their names. Like
#: the next one, it is of micropython_names.STATIC: any other name takes four bytes more in each
#: overlay.
LENT = "setdefault"
#: The place of the phases that an overlay outlasts in the run time's table.
STAYS = "startswith"
#: The name of such a method in its overlay, until the next one takes it; it is in ROM.
METHOD = "_"
#: The attribute of a class with the overlays of its other methods; in ROM, too.
HOMES = "_"


class Plan:
    """The way from the code of one overlay to every symbol: `names` holds those at its top."""

    def __init__(
        self,
        program: Program,
        overlay: Overlay,
        naming: Naming,
        names: Names,
        shelf: Shelf | None = None,
    ) -> None:
        self.program = program
        self.overlay = overlay
        self.naming = naming
        self.names_of = names
        #: Takes its long texts; None: they stay in its code.
        self.shelf = shelf
        self.loader = program.modules.get(names.loader)
        #: The core's module, for imports by others of a value in it that may change.
        package, _, leaf = names.core.rpartition(".")
        self._core_file = External(package, leaf)
        self._collect()
        self._choose()

    def loaded(self) -> Symbol:
        """The symbol of the object that holds the loaded overlays."""
        if self.loader is None or LOADED not in self.loader.scopes.module.bindings:
            raise OverlayError(
                f"{self.names_of.loader} has no {LOADED}, through which overlays are reached"
            )
        return self.program.symbol(self.loader, LOADED)

    def borrow(self) -> Symbol:
        """The symbol of the function that finds methods of other overlays."""
        if self.loader is None or BORROW not in self.loader.scopes.module.bindings:
            raise OverlayError(
                f"{self.names_of.loader} has no {BORROW}, which finds methods of a split class"
            )
        return self.program.symbol(self.loader, BORROW)

    # --- needs

    def _collect(self) -> None:
        for owner, _ in self.overlay.lends:
            self._use(owner)
        if self.shelf is not None:
            self._use(self.loaded())
        if self.overlay.borrows:
            self._use(self.borrow())
        for module in self.overlay.modules:
            for link in self.program.links_of(module):
                self._use(link.target)
        for symbol, names in self.overlay.objects.items():
            for name in names:
                target = self.member(symbol, name)
                if target is not None:
                    self._use(target)

    def member(self, owner: Symbol, name: str) -> Target | None:
        """The target of a name in a module used as a value; None if it is elsewhere and not loaded
        yet."""
        binding = owner.module.scopes.module.bindings[name]
        target: Target = self.program.symbol(owner.module, name)
        while isinstance(target, Symbol) and target.binding in self.program.aliases:
            target = self.program.aliases[target.binding]
        if isinstance(target, ModuleTarget) or not binding.stores:
            return None
        at_hand = {self.overlay.name, CORE, *self.overlay.needs}
        if isinstance(target, Symbol) and target.value is None and target.overlay not in at_hand:
            return None
        return target

    def symbol_of(self, target: Symbol | ModuleTarget) -> Symbol:
        """The symbol behind a target; of a module, its symbol as a value."""
        if isinstance(target, Symbol):
            return target
        return self.program.symbol(self.program.modules[target.name], "*")

    def _use(self, target: Target) -> None:
        if isinstance(target, External):
            self.overlay.externals.setdefault(target, "")
            return
        symbol = self.symbol_of(target)
        home = symbol.overlay
        if symbol.value is not None or home == self.overlay.name:
            return
        if home == CORE and symbol.binding is not None and symbol.binding.rebound:
            self.overlay.externals.setdefault(self._core_file, "")
        elif home == CORE or home in self.overlay.needs:
            self.overlay.imported.setdefault(symbol, "")
            if home != CORE:
                self._use(self.loaded())
        else:
            self._use(self.loaded())

    # --- names

    def _choose(self) -> None:
        """Choose a name for each symbol at the top of this overlay."""
        taken = set(self._fixed())
        attributes = {
            self.naming.attribute(name, owner.module)
            for owner, names in self.overlay.objects.items()
            for name in names
        }
        for external in self.overlay.externals:
            wanted = chain([external.name or external.module], self.naming.imports(external))
            self.overlay.externals[external] = _first(wanted, taken)
        for symbol in self.overlay.symbols:
            if self.naming.keeps(symbol):
                if symbol.name in taken:
                    raise OverlayError(
                        f"{symbol.module.path}: {symbol.name} must keep its name, which another "
                        f"symbol in overlay {self.overlay.name} has too"
                    )
                symbol.flat = symbol.name
                taken.add(symbol.name)
        # In the class of a module as a value, attributes of the same name would hide them.
        own = {one.name for one in self.overlay.symbols if self.naming.prefers_own(one)}
        taken |= attributes - own
        for symbol in self.overlay.imported:
            names = [symbol.flat] if symbol.flat else []
            self.overlay.imported[symbol] = _first(
                chain(names, self.naming.symbols(symbol)), taken
            )
        for symbol in self.overlay.symbols:
            if not symbol.flat:
                symbol.flat = _first(self.naming.symbols(symbol), taken)

    def _fixed(self) -> Iterator[str]:
        """Yield names that no symbol at the top may have."""
        yield "ImportError"  # which `rewrite` raises for modules that are absent
        yield LENT
        yield STAYS
        yield METHOD
        yield TEXTS
        for module in self.overlay.modules:
            for scope in module.scopes.module.walk():
                for node, _, _ in scope.places:
                    if node not in module.scopes.variables:
                        yield node.id  # a builtin
                if scope.kind == CLASS and any(
                    node in self.program.links for node, _, _ in scope.places
                ):
                    # A lookup in a class body searches the class first.
                    for name in scope.bindings:
                        yield self.naming.attribute(name, module)
                if isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    for argument in all_arguments(scope.node.args):
                        binding = module.scopes.variables[argument]
                        if self.naming.keeps_argument(binding, module):
                            yield self.naming.attribute(argument.arg, module)

    # --- references

    def reference(self, target: Target) -> ast.expr:
        """The expression by which this overlay's code accesses a target."""
        if isinstance(target, External):
            return _name(self.overlay.externals[target])
        symbol = self.symbol_of(target)
        if symbol.value is not None:
            return symbol.value
        if symbol.overlay == self.overlay.name:
            return _name(symbol.flat)
        if symbol in self.overlay.imported:
            return _name(self.overlay.imported[symbol])
        if symbol.overlay == CORE:
            return _attribute(_name(self.overlay.externals[self._core_file]), symbol.flat)
        return _attribute(self.elsewhere(symbol.overlay), symbol.flat)

    def elsewhere(self, overlay: str) -> ast.expr:
        """The expression for another overlay, which loads it if necessary."""
        return _attribute(self.reference(self.loaded()), self.naming.overlay(overlay))

    def outside_names(self, module: Module, scope: Scope) -> set[str]:
        """The names at the top of this overlay, and builtins, that the code of one scope
        mentions."""
        found: set[str] = set()
        for node, _, _ in scope.places:
            link = self.program.links.get(node)
            if link is not None:
                found.update(_mentioned(self.reference(link.target)))
            elif node not in module.scopes.variables:
                found.add(node.id)
        for target in self._chains.get(scope, ()):
            found.update(_mentioned(self.reference(target)))
        return found

    def note_chains(self, module: Module) -> None:
        """Prepare `outside_names` for a module: note links that are chains of attributes."""
        self._chains: dict[Scope, list[Target]] = {}
        for link in self.program.links_of(module):
            if not isinstance(link.node, ast.Name):
                scope = module.scopes.home[link.node]
                self._chains.setdefault(scope, []).append(link.target)


def _first(names: Iterator[str], taken: set[str]) -> str:
    """Take and return the first free name."""
    for name in names:
        if name not in taken:
            taken.add(name)
            return name
    raise OverlayError("there are no names left for an overlay")


def _name(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _attribute(value: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(value=value, attr=name, ctx=ast.Load())


def _mentioned(node: ast.expr) -> Iterator[str]:
    for part in walk(node):
        if isinstance(part, ast.Name):
            yield part.id

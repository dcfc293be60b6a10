"""All modules as one program: the meaning of each name and each `module.name` in it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from mpy_linker.scopes import MODULE, Binding, Scope, resolve
from mpy_linker.source import Module, packages, read_modules
from mpy_linker.split import Fragment, split, whole
from mpy_linker.syntax import OverlayError, children, walk

#: Names that need no import. mpy-cross knows `const`.
KNOWN = frozenset([*dir(builtins), "const", "__file__"])

#: Name of the symbol for a module as an object.
AS_OBJECT = "*"


@dataclass(eq=False)
class Symbol:
    """A name at the top of a module; AS_OBJECT is the module itself, as a value."""

    module: Module
    name: str
    binding: Binding | None
    overlay: str = ""
    #: Its name in its overlay.
    flat: str = ""
    #: Its constant value, if that replaces the name.
    value: ast.expr | None = None

    @property
    def full(self) -> str:
        """`app.net.http.Http`."""
        return f"{whole(self.module.name)}.{self.name}"


@dataclass(frozen=True)
class External:
    """A module outside the program, or a name in it."""

    module: str
    name: str | None = None


@dataclass(frozen=True)
class ModuleTarget:
    """A module or package of the program, by its full name."""

    name: str


Target = Symbol | External | ModuleTarget


@dataclass
class Link:
    """A name, a chain of attributes, or an assigning import that refers to a symbol at the top of
    a module."""

    node: ast.expr | ast.alias
    target: Target
    #: Does it run while the module is imported?
    at_import: bool


@dataclass(eq=False)
class Program:
    """All modules, the symbols in them, and the links between them."""

    modules: dict[str, Module]
    packages: set[str]
    #: Is this the name of a module that the board lacks?
    is_absent: Callable[[str], bool] = bool
    symbols: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    #: Variables whose only value comes from an import.
    aliases: dict[Binding, Target] = field(default_factory=dict)
    #: For each node of a `Link`, that link.
    links: dict[ast.AST, Link] = field(default_factory=dict)
    #: For each alias of an import statement that stays, the target it assigns.
    assigned: dict[ast.alias, Target] = field(default_factory=dict)
    fragments: list[Fragment] = field(default_factory=list)

    def symbol(self, module: Module, name: str) -> Symbol:
        """The symbol of this name in a module; made on its first use."""
        key = (module.name, name)
        if key not in self.symbols:
            binding = module.scopes.module.bindings.get(name)
            self.symbols[key] = Symbol(module, name, binding)
        return self.symbols[key]

    def texts(self, module: Module) -> Iterator[str]:
        """Yield every string of a module, also of constants that are no longer in its tree."""
        values = [one.value for one in self.symbols.values() if one.module is module and one.value]
        for part in (module.tree, *values):
            for node in walk(part):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value

    def links_of(self, module: Module) -> Iterator[Link]:
        """Yield the links in one module, in the order of its text."""
        for node in walk(module.tree):
            if node in self.links:
                yield self.links[node]
            elif isinstance(node, ast.alias) and node in self.assigned:
                home = module.scopes.home[node]
                yield Link(node, self.assigned[node], home.runs_at_import)


def read_program(
    sources: Mapping[str, bytes],
    is_absent: Callable[[str], bool] = lambda name: False,
    pieces: Mapping[str, Mapping[str, list[str]]] | None = None,
) -> Program:
    """The program in these files, such as `app/net/http.py`, with all its links.

    An import from an absent module stays an import, and fails when it runs. `pieces`: see `split`.
    """
    modules = read_modules(sources)
    for module in modules.values():
        _without_fallbacks(module, is_absent)
    modules, fragments = split(modules, pieces or {})
    program = Program(modules, packages(modules), is_absent, fragments=fragments)
    linker = Linker(program)
    for module in modules.values():
        linker.find_aliases(module)
    linker.follow_assigned()
    for module in modules.values():
        linker.link(module)
    return program


class Linker:
    """Finds the targets of imports, and their users."""

    def __init__(self, program: Program) -> None:
        self.program = program

    # --- imports

    def find_aliases(self, module: Module) -> None:
        """Note the targets of each import of a module."""
        given: dict[Binding, list[tuple[ast.alias, Target]]] = {}
        for node in walk(module.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                home = module.scopes.home[node]
                for alias in node.names:
                    target = self._target(module, node, alias, home)
                    if target is not None:
                        binding = module.scopes.variables[alias]
                        given.setdefault(binding, []).append((alias, target))
        for binding, found in given.items():
            targets = {target for _, target in found}
            only = len(found) == len(binding.stores) and len(targets) == 1
            if only and _is_fixed(module, binding, found):
                self.program.aliases[binding] = found[0][1]
            else:
                for alias, target in found:
                    if not isinstance(target, External):
                        self.program.assigned[alias] = target

    def follow_assigned(self) -> None:
        """Replace the targets of import statements by the symbols that define them."""
        for alias, target in self.program.assigned.items():
            self.program.assigned[alias] = self._final(target, alias.name)

    def _target(
        self, module: Module, node: ast.Import | ast.ImportFrom, alias: ast.alias, home: Scope
    ) -> Target | None:
        if isinstance(node, ast.Import):
            if not self._exists(alias.name):
                return None if "." in alias.name else External(alias.name)
            return ModuleTarget(alias.name if alias.asname else alias.name.partition(".")[0])
        source = _absolute(module, node)
        if alias.name == "*":
            raise OverlayError(f"{module.where(node)}: `import *` hides the origin of names")
        if not self._exists(source):
            return External(source, alias.name)
        return self._member(source, alias.name, module.where(node))

    def _exists(self, name: str) -> bool:
        return name in self.program.modules or name in self.program.packages

    def _member(self, module_name: str, name: str, where: str) -> Target:
        """The target of `name` in a module of the program, even if that module imports it."""
        module = self.program.modules.get(module_name)
        if module is not None and name in module.scopes.module.bindings:
            return self.program.symbol(module, name)
        full = f"{module_name}.{name}"
        if self._exists(full):
            return ModuleTarget(full)
        if self.program.is_absent(full):
            return External(module_name, name)
        raise OverlayError(f"{where}: {module_name} has no {name}")

    def _final(self, target: Target, where: str) -> Target:
        """Follow imports of a name to its definition."""
        for _ in range(20):
            if not isinstance(target, Symbol) or target.binding not in self.program.aliases:
                return target
            target = self.program.aliases[target.binding]
        raise OverlayError(f"{where}: imports go round in a circle")

    # --- uses

    def link(self, module: Module) -> None:
        """Note the target of every name and chain of attributes of a module."""
        self._link(module, module.tree)

    def _link(self, module: Module, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node not in module.scopes.variables:
            if node.id not in KNOWN:
                raise OverlayError(f"{module.where(node)}: {node.id} is not defined")
        if isinstance(node, (ast.Name, ast.Attribute)):
            target = self._static(module, node)
            if target is not None:
                home = module.scopes.home[node]
                self.program.links[node] = Link(node, target, home.runs_at_import)
                return
        for child in children(node):
            self._link(module, child)

    def _static(self, module: Module, node: ast.expr) -> Target | None:
        """The target at the top of some module behind an expression, if it is certain."""
        if isinstance(node, ast.Name):
            binding = module.scopes.variables.get(node)
            if binding is None:
                return None
            if binding in self.program.aliases:
                return self._final(self.program.aliases[binding], module.where(node))
            if binding.scope.kind == MODULE:
                return self.program.symbol(module, binding.name)
            return None
        if isinstance(node, ast.Attribute):
            base = self._static(module, node.value)
            if isinstance(base, ModuleTarget):
                where = module.where(node)
                return self._final(self._member(base.name, node.attr, where), where)
        return None


def _is_fixed(module: Module, binding: Binding, found: list[tuple[ast.alias, Target]]) -> bool:
    """Does the variable have this value at each use? An import of another package may fail; one
    inside a function, from outside the program, stays in place.
    """
    if not isinstance(found[0][1], External):
        return True
    if binding.scope.kind != MODULE or binding.rebound:
        return False
    statements = [one for one in module.tree.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    return all(any(alias in one.names for one in statements) for alias, _ in found)


def _without_fallbacks(module: Module, is_absent: Callable[[str], bool]) -> None:
    """Where code tries MicroPython's own module first and falls back to an absent one, keep only
    the first."""
    body: list[ast.stmt] = []
    for statement in module.tree.body:
        plain = isinstance(statement, ast.Try) and _falls_back(statement, is_absent)
        body += statement.body if plain and isinstance(statement, ast.Try) else [statement]
    if len(body) != len(module.tree.body) or body != module.tree.body:
        module.tree.body = body
        module.scopes = resolve(module.tree)


def _falls_back(node: ast.Try, is_absent: Callable[[str], bool]) -> bool:
    if len(node.handlers) != 1 or node.orelse or node.finalbody:
        return False
    return all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body) and all(
        isinstance(one, ast.ImportFrom) and is_absent(one.module or "")
        for one in node.handlers[0].body
    )


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    drop = node.level - 1 if module.is_package else node.level
    base = parts[: len(parts) - drop]
    return ".".join([*base, *([node.module] if node.module else [])])

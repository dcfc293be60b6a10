"""The symbols that the layout places: functions, classes, methods and variables of modules.

A symbol's name is `app.net.http:Http.close`. Symbols that must share an overlay are one unit:

- a class and its methods that are tied to its body (decorators, `__x__`, `super`);
- a global variable and the functions that change it;
- names of one statement;
- the names that code looks up in a module by name at run time.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mpy_linker.merge import family
from mpy_linker.program import AS_OBJECT, ModuleTarget, Program, Symbol
from mpy_linker.scopes import MODULE
from mpy_linker.source import Module
from mpy_linker.split import MARK, is_constructor, is_tied
from mpy_linker.syntax import FUNCTIONS, walk
from mpy_linker.table import Names, Table

#: The maker of an object whose class is used as a value.
UNKNOWN = ""


@dataclass
class Symbols:
    """All symbols, and the ties between them. `uses` and `needs` have the symbols that one refers
    to, when it runs and when its module is imported."""

    modules: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    #: Those that no mark sees running: variables, and classes without methods.
    silent: set[str] = field(default_factory=set)
    #: By class, its methods that may be in another overlay.
    methods: dict[str, list[str]] = field(default_factory=dict)
    #: Functions that asyncio keeps: they are in the core.
    kept: set[str] = field(default_factory=set)
    #: Pairs that a layout made from nothing puts together.
    together: list[tuple[str, str]] = field(default_factory=list)
    #: By module, the names that code looks up there at run time.
    looked_up: dict[str, set[str]] = field(default_factory=dict)
    #: By class, the symbols whose code makes its objects, also as those of a subclass. Its
    #: `__init__` may be in another overlay, if all of them are there.
    makers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    constructors: dict[str, str] = field(default_factory=dict)
    #: Coroutines and generators, which may go on after their overlay was evicted.
    waiting: set[str] = field(default_factory=set)
    uses: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    needs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _parents: dict[str, str] = field(default_factory=dict)

    def unit(self, name: str) -> str:
        """The name that stands for all symbols that must be where this one is."""
        while self._parents.setdefault(name, name) != name:
            self._parents[name] = self._parents[self._parents[name]]
            name = self._parents[name]
        return name

    def tie(self, one: str, other: str) -> None:
        """Put two symbols, and all that is tied to them, into one unit."""
        self._parents[self.unit(one)] = self.unit(other)


def module_of(symbol: str) -> str:
    return symbol.partition(MARK)[0]


def read_symbols(program: Program, table: Table) -> Symbols:
    """The symbols of a program whose modules are whole; its constants are known
    (`find_constants`), and a constant is no symbol."""
    found = Symbols()
    for module in program.modules.values():
        found.modules.add(module.name)
        _read(program, module, found)
    for module in program.modules.values():
        names = table.looked_up(module.name, module.scopes.module.bindings)
        is_api = module.name in table.api
        if is_api:
            names = [*module.scopes.module.bindings]
        known = [
            f"{module.name}:{name}" for name in names if f"{module.name}:{name}" in found.names
        ]
        found.looked_up[module.name] = set(names)
        for name in known[1:]:
            if is_api:
                found.together.append((known[0], name))
            else:
                found.tie(known[0], name)
    _find_kept_methods(program, table.names, found)
    return found


def _read(program: Program, module: Module, found: Symbols) -> None:
    owners: dict[ast.AST, str] = {}
    for statement in module.tree.body:
        for node, name in _parts(program, module, statement, found):
            for one in walk(node):
                owners[one] = name
    for node, owner in owners.items():
        if isinstance(node, ast.Global):
            for name in node.names:
                found.tie(owner, f"{module.name}:{name}")
    for link in program.links_of(module):
        owner = owners.get(link.node, "")
        target = link.target
        if isinstance(target, ModuleTarget):
            name = f"{target.name}:{AS_OBJECT}"
        elif isinstance(target, Symbol) and target.value is None:
            name = f"{target.module.name}:{target.name}"
        else:
            continue
        if owner and name != owner:
            (found.needs if link.at_import else found.uses)[owner].add(name)
    _find_makers(program, owners, found)
    for node in owners:
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("asyncio."):
            for value in node.args:
                given = program.links.get(value)
                if given is not None and isinstance(given.target, Symbol):
                    found.kept.add(f"{given.target.module.name}:{given.target.name}")


def _find_makers(program: Program, owners: Mapping[ast.AST, str], found: Symbols) -> None:
    """Note the users of each class that may make its objects: all but a base, and a check of
    `isinstance`. One that has it as a value may give it to anybody, so its maker is unknown."""
    called: set[ast.AST] = set()
    harmless: set[ast.AST] = set()
    for node in owners:
        if isinstance(node, ast.Call):
            called.add(node.func)
            if isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                harmless.update(walk(node.args[1]))
        elif isinstance(node, ast.Attribute):
            (called if node.attr == "__init__" else harmless).add(node.value)
        elif isinstance(node, ast.ClassDef):
            harmless.update(node.bases)
    for node, owner in owners.items():
        link = program.links.get(node)
        if link is None or not isinstance(link.target, Symbol) or node in harmless:
            continue
        for one in family(program, link.target):
            maker = owner if node in called and owner not in found.waiting else UNKNOWN
            found.makers[f"{one.module.name}:{one.name}"].add(maker)


def _find_kept_methods(program: Program, names: Names, found: Symbols) -> None:
    """Note bound methods that code gives to another object: that object keeps them, and a method
    of an evicted overlay would keep all of it, so they belong to their classes."""
    runtime = names.runtime.rpartition(".")[2]
    keeping = {f"{runtime}.{name}" for name in _KEEPING}
    by_name: dict[str, list[str]] = defaultdict(list)
    for owner, methods in found.methods.items():
        for method in methods:
            by_name[method.rpartition(".")[2]].append(owner)
    for module in program.modules.values():
        for statement in module.tree.body:
            own = f"{module.name}:{getattr(statement, 'name', '')}"
            for node in walk(statement):
                for value in _given(node, keeping):
                    is_own = isinstance(value.value, ast.Name) and value.value.id == "self"
                    for owner in [own] if is_own else by_name.get(value.attr, ()):
                        if owner in by_name.get(value.attr, ()):
                            found.together.append((f"{owner}.{value.attr}", owner))
                            by_name[value.attr].remove(owner)


#: Functions of the run time that keep their arguments.
_KEEPING = ("later", "configure")


def _given(node: ast.AST, keeping: set[str]) -> Iterator[ast.Attribute]:
    """Yield the attributes that an object gets when it is made, or is given for later."""
    values: list[ast.expr] = []
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name in keeping or name.rpartition(".")[2][:1].isupper():
            values = [*node.args, *(one.value for one in node.keywords)]
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        values = [node.value]
    for value in values:
        if isinstance(value, ast.Attribute):
            yield value


def _parts(
    program: Program, module: Module, statement: ast.stmt, found: Symbols
) -> Iterator[tuple[ast.AST, str]]:
    """Yield the parts of a statement at the top of a module, with the symbol of each."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(statement, FUNCTIONS):
        name = f"{module.name}:{statement.name}"
        found.names.add(name)
        if _waits(statement):
            found.waiting.add(name)
        yield statement, name
    elif isinstance(statement, ast.ClassDef):
        yield from _parts_of_class(module, statement, found)
    else:
        names = [
            f"{module.name}:{name}"
            for name in dict.fromkeys(_assigned(module, statement))
            if program.symbol(module, name).value is None
        ]
        found.names.update(names)
        found.silent.update(names)
        for name in names[1:]:
            found.tie(names[0], name)
        if names:
            yield statement, names[0]


def _parts_of_class(
    module: Module, node: ast.ClassDef, found: Symbols
) -> Iterator[tuple[ast.AST, str]]:
    owner = f"{module.name}:{node.name}"
    found.names.add(owner)
    found.methods[owner] = []
    yield node, owner
    methods = [one for one in node.body if isinstance(one, FUNCTIONS)]
    if not methods:
        found.silent.add(owner)
    for method in methods:
        name = f"{owner}.{method.name}"
        found.names.add(name)
        if _waits(method):
            found.waiting.add(name)
        if is_constructor(method):
            found.constructors[owner] = name
        elif is_tied(method):
            found.tie(name, owner)
        else:
            found.methods[owner].append(name)
        yield method, name


def _waits(function: ast.AST) -> bool:
    waits = (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncWith, ast.AsyncFor)
    return any(isinstance(one, waits) for one in walk(function))


def _assigned(module: Module, statement: ast.stmt) -> Iterable[str]:
    for node in walk(statement):
        if isinstance(node, ast.alias) or (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ):
            binding = module.scopes.variables.get(node)
            if binding is not None and binding.scope.kind == MODULE:
                yield binding.name

"""Names of attributes, methods and arguments that must stay, because code outside knows them.

- MicroPython's own: `x.append` may be a list's (micropython_names.py);
- names visible to code from outside the build: all in the modules that it may import, and in those
  that the program finds by name, because a changed copy of one works as well;
- names in scripts such as main.py;
- names in strings: `getattr(app, "status")`. In a module that computes such names any word of any
  string counts, and may be one end of a name. A name must stand in a string of the module that
  looks it up;
- keywords of calls to functions that are not ours.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from mpy_linker.micropython_names import ARGUMENTS, NAMES
from mpy_linker.program import External, Program, Symbol
from mpy_linker.scopes import CLASS
from mpy_linker.source import Module
from mpy_linker.split import whole
from mpy_linker.syntax import walk
from mpy_linker.table import Table

_BY_NAME = ("getattr", "setattr", "hasattr", "delattr")
_WORD = re.compile(r"[A-Za-z_]\w*")


class Kept:
    """The set of names that must stay: `name in kept`."""

    def __init__(self, program: Program, table: Table, outside: Mapping[str, bytes]) -> None:
        self.names: set[str] = {*NAMES, *ARGUMENTS}
        self.parts: set[str] = set()
        for source in outside.values():
            self.names.update(_words_of(ast.parse(source)))
        #: The names of attributes in strings, and those for code from outside the build.
        self.looked_up: set[str] = set()
        for module in program.modules.values():
            self.looked_up.update(_looked_up(module))
            if _names_fields(module):
                self.looked_up.update(_texts(program, module))
            self.parts.update(_parts(program, module))
            if is_seen_outside(module, table):
                self.looked_up.update(mentioned(program, module))
        self.names |= self.looked_up
        self.names |= self.parts
        defined: set[str] = set()
        for module in program.modules.values():
            defined.update(defined_in(program, module))
        for module in program.modules.values():
            self.names.update(_keywords_of_others(program, module, defined - self.names))
        self._starts = tuple(part for part in self.parts if part.endswith("_"))
        self._ends = tuple(part for part in self.parts if part.startswith("_"))

    def __contains__(self, name: str) -> bool:
        return (
            len(name) <= 2
            or name in self.names
            or name.startswith(("__", *self._starts))
            or name.endswith(("__", *self._ends))
        )


def is_seen_outside(module: Module, table: Table) -> bool:
    """May code from outside the build use the names in this module?"""
    names = module.scopes.module.bindings
    return module.name in table.api or bool(table.looked_up(module.name, names))


def mentioned(program: Program, module: Module) -> Iterator[str]:
    """Yield the names of attributes, methods, arguments and keywords in a module."""
    for node in walk(module.tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg or ""
    yield from module.scopes.module.bindings
    yield from _class_names(module)


def defined_in(program: Program, module: Module) -> Iterator[str]:
    """Yield the attributes, methods and arguments that a module defines."""
    for node in walk(module.tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if node not in program.links:
                yield node.attr
    yield from _class_names(module)


def keywords(program: Program) -> set[str]:
    """Every name that a call uses as a keyword, or might use."""
    found: set[str] = set()
    for module in program.modules.values():
        names = {node.arg for node in walk(module.tree) if isinstance(node, ast.keyword)}
        if None in names:
            # The names in a dict behind `**` are strings of the same module.
            names.update(_texts(program, module))
        found.update(filter(None, names))
    return found


def _texts(program: Program, module: Module) -> Iterator[str]:
    """Yield the strings of a module with those of its pieces: a constant may be in another."""
    for one in program.modules.values():
        if whole(one.name) == whole(module.name):
            yield from program.texts(one)


def _class_names(module: Module) -> Iterator[str]:
    for scope in module.scopes.module.walk():
        if scope.kind == CLASS:
            yield from scope.bindings


def _words_of(tree: ast.AST) -> Iterator[str]:
    """Yield every name in a file: variables, attributes, functions, arguments and keywords."""
    for node in walk(tree):
        for field in ("id", "attr", "name", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def _looked_up(module: Module) -> Iterator[str]:
    """Yield the constant names in a module's calls of getattr and its like."""
    for node in walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given = node.args[1:2]
            if node.func.id in _BY_NAME and given and isinstance(given[0], ast.Constant):
                yield str(given[0].value)


def _names_fields(module: Module) -> bool:
    """Are texts of a module the fields of a namedtuple, or the keywords of a call with `**`?"""
    return any(
        (isinstance(node, ast.Name) and node.id == "namedtuple")
        or (isinstance(node, ast.keyword) and node.arg is None)
        for node in walk(module.tree)
    )


def _parts(program: Program, module: Module) -> Iterable[str]:
    """The words in a module's strings, if it computes names."""
    for node in walk(module.tree):
        computes = isinstance(node, ast.Attribute) and node.attr == "__dict__"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            given = node.args[1:2]
            computes = node.func.id in _BY_NAME and not isinstance(given[0], ast.Constant)
        if computes:
            return [word for text in _texts(program, module) for word in _WORD.findall(text)]
    return []


def _keywords_of_others(program: Program, module: Module, ours: set[str]) -> Iterator[str]:
    """Yield the keywords of calls whose target may be none of `ours`."""
    for node in walk(module.tree):
        if not isinstance(node, ast.Call) or not node.keywords:
            continue
        link = program.links.get(node.func)
        if link is not None:
            is_ours = not isinstance(link.target, External)
            if isinstance(link.target, Symbol):
                is_ours = not _is_made_by_others(program, link.target)
        else:
            is_ours = isinstance(node.func, ast.Attribute) and node.func.attr in ours
        if not is_ours:
            yield from (word.arg for word in node.keywords if word.arg)


def _is_made_by_others(program: Program, symbol: Symbol) -> bool:
    """Is a symbol at the top of a module neither a function nor a class, but for example a
    namedtuple?"""
    stores = symbol.binding.stores if symbol.binding else []
    made = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return not stores or not all(isinstance(one, made) for one in stores)

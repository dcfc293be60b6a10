"""Split a module over overlays: functions, classes, and single methods of a class whose objects
outlive a phase.

A piece becomes a separate module, `app.net.http:poll`, and imports the names it uses from the
rest of its module. Methods that are apart from their class are in a class of their piece, a
fragment. Their overlay puts them into the class when it is loaded, and the run time removes them
when it evicts it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mpy_linker.scopes import resolve
from mpy_linker.source import Module
from mpy_linker.syntax import FUNCTIONS, OverlayError, walk

#: Separates the name of a module from the overlay of a piece of it.
MARK = ":"

_REST = ""


@dataclass(frozen=True)
class Fragment:
    """Methods of the class `owner` of module `home` that are in another piece, as the class `name`
    of `module`."""

    home: str
    owner: str
    module: str
    name: str
    methods: tuple[str, ...]


@dataclass
class _Piece:
    name: str
    body: list[ast.stmt] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


def split(
    modules: Mapping[str, Module], pieces: Mapping[str, Mapping[str, list[str]]]
) -> tuple[dict[str, Module], list[Fragment]]:
    """Split modules: `pieces` has by module and overlay the names that go there, such as
    `Http.close`."""
    result = dict(modules)
    fragments: list[Fragment] = []
    for name, places in pieces.items():
        if name not in modules:
            raise OverlayError(f"the table: there is no module {name} to split")
        made, found = _Splitter(modules[name], places).split()
        result.update({module.name: module for module in made})
        fragments += found
    return result, fragments


def whole(name: str) -> str:
    """The module that a piece of this name belongs to."""
    return name.partition(MARK)[0]


class _Splitter:
    def __init__(self, module: Module, places: Mapping[str, list[str]]) -> None:
        self.module = module
        self.place = {name: overlay for overlay, names in places.items() for name in names}
        if len(self.place) < sum(len(names) for names in places.values()):
            raise OverlayError(f"the table: {module.name}: a name is in two overlays")
        self.missing = set(self.place)
        self.pieces = {_REST: _Piece(module.name)}
        for overlay in places:
            self.pieces[overlay] = _Piece(module.name + MARK + overlay)
        self.fragments: list[Fragment] = []

    def split(self) -> tuple[list[Module], list[Fragment]]:
        imports: list[ast.stmt] = []
        for statement in self.module.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                imports.append(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            else:
                self._put(self._place_of(statement), statement)
        if self.missing:
            raise OverlayError(
                f"the table: {self.module.name} has no {', '.join(sorted(self.missing))}"
            )
        self._check_globals()
        return [self._made(piece, imports) for piece in self.pieces.values()], self.fragments

    def _find(self, name: str) -> str:
        self.missing.discard(name)
        return self.place.get(name, _REST)

    def _place_of(self, statement: ast.stmt) -> str:
        return next(
            (place for name in _bound(statement) if (place := self._find(name)) != _REST), _REST
        )

    def _put(self, place: str, statement: ast.stmt) -> None:
        self.pieces[place].body.append(statement)
        self.pieces[place].bound.update(_bound(statement))

    def _class(self, node: ast.ClassDef) -> None:
        home = self._find(node.name)
        away: dict[str, list[ast.stmt]] = {}
        kept: list[ast.stmt] = []
        for statement in node.body:
            place = home
            if isinstance(statement, FUNCTIONS):
                full = f"{node.name}.{statement.name}"
                if full in self.place or not is_tied(statement):
                    place = self._find(full)
                    if place != home and is_tied(statement) and not is_constructor(statement):
                        raise OverlayError(
                            f"{self.module.where(statement)}: {full} must be where its class is"
                        )
            if place == home:
                kept.append(statement)
            else:
                away.setdefault(place, []).append(statement)
        node.body = kept or [ast.copy_location(ast.Pass(), node)]
        self._put(home, node)
        for place, methods in away.items():
            name = f"{node.name}_methods"
            made = ast.ClassDef(name=name, bases=[], keywords=[], body=methods, decorator_list=[])
            made.type_params = []  # type: ignore[attr-defined]
            # No other code knows it by its name.
            self.pieces[place].body.append(ast.copy_location(made, node))
            names = tuple(one.name for one in methods if isinstance(one, FUNCTIONS))
            pieces = self.pieces
            self.fragments.append(
                Fragment(pieces[home].name, node.name, pieces[place].name, name, names)
            )

    def _check_globals(self) -> None:
        for piece in self.pieces.values():
            for statement in piece.body:
                for node in walk(statement):
                    if isinstance(node, ast.Global):
                        for name in node.names:
                            if name not in piece.bound:
                                raise OverlayError(
                                    f"{self.module.where(node)}: {name} must be in the overlay of "
                                    "the function that changes it"
                                )

    def _made(self, piece: _Piece, imports: Iterable[ast.stmt]) -> Module:
        # All others import from the rest, which knows the place of each name.
        used = None if piece is self.pieces[_REST] else set(_used(piece.body))
        body = [copy.deepcopy(statement) for statement in imports]
        for other in self.pieces.values():
            names = sorted(name for name in other.bound if used is None or name in used)
            if other is not piece and names:
                aliases = [ast.alias(name=name, asname=None) for name in names]
                statement = ast.ImportFrom(module=other.name, names=aliases, level=0)
                body.append(ast.fix_missing_locations(ast.copy_location(statement, _FIRST)))
        tree = ast.Module(body=[*body, *piece.body], type_ignores=[])
        module = self.module
        return Module(
            piece.name, module.path, tree, resolve(tree), module.is_package, module.functions
        )


_FIRST = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module assigns."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        yield statement.name
        return
    for node in walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def _used(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Name):
                yield node.id


def is_constructor(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Is this a constructor that may be apart? The overlay that makes the objects has it."""
    calls = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    return function.name == "__init__" and "super" not in calls and not function.decorator_list


def is_tied(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Must a method be in the body of its class?"""
    return bool(function.decorator_list) or (
        function.name.startswith("__")
        or any(isinstance(node, ast.Name) and node.id == "super" for node in walk(function))
    )

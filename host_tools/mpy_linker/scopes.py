"""The variable behind each name in a module: Python's rules of scope, on the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mpy_linker.syntax import children, walk

MODULE, CLASS, FUNCTION, COMPREHENSION = "module", "class", "function", "comprehension"

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Binding:
    """A variable: a name in one scope, and all nodes that assign it."""

    name: str
    scope: Scope
    stores: list[ast.AST] = field(default_factory=list)
    #: Does a function declare it `global` and change it?
    rebound: bool = False


@dataclass(eq=False)
class Scope:
    """A module, class, function or comprehension."""

    kind: str
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, Binding] = field(default_factory=dict)
    children: list[Scope] = field(default_factory=list)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    #: Names in this scope itself: (node, statement of a class body or 0, is it stored?).
    places: list[tuple[ast.Name, int, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent.children.append(self)

    @property
    def runs_at_import(self) -> bool:
        """Does its code run when the module is imported?"""
        if self.kind == FUNCTION:
            return False
        return self.parent is None or self.parent.runs_at_import

    def bind(self, name: str, node: ast.AST) -> Binding:
        """Note that `node` assigns this name here; return the variable."""
        home = self
        if name in self.global_names:
            home = self.module()
        elif name in self.nonlocal_names:
            found = self._enclosing(name)
            home = found.scope if found else self
        binding = home.bindings.setdefault(name, Binding(name, home))
        binding.stores.append(node)
        if home is not self and home.kind == MODULE:
            binding.rebound = True
        return binding

    def module(self) -> Scope:
        """The scope of the whole file."""
        return self if self.parent is None else self.parent.module()

    def lookup(self, name: str) -> Binding | None:
        """The variable that a load of `name` here refers to; None for a builtin."""
        if name in self.global_names:
            return self.module().bindings.get(name)
        if name in self.bindings:
            return self.bindings[name]
        return self._enclosing(name) or self.module().bindings.get(name)

    def _enclosing(self, name: str) -> Binding | None:
        scope = self.parent
        while scope is not None and scope.kind != MODULE:
            if scope.kind != CLASS:
                if name in scope.global_names:
                    return scope.module().bindings.get(name)
                if name in scope.bindings:
                    return scope.bindings[name]
            scope = scope.parent
        return None

    def walk(self) -> Iterator[Scope]:
        """Yield this scope and all inside it, the outer before the inner."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Scopes:
    """The variables and scopes of a module, from `resolve`."""

    module: Scope
    #: The variable of every Name, and of every node that binds a name; without builtins.
    variables: dict[ast.AST, Binding]
    #: The scope that contains each Name, import and function.
    home: dict[ast.AST, Scope]
    #: The scope that a function, class, lambda or comprehension opens.
    inside: dict[ast.AST, Scope]

    def keep(self, alive: set[ast.AST]) -> None:
        """Forget all nodes but these."""
        for scope in self.module.walk():
            scope.children = [one for one in scope.children if one.node in alive]
            scope.places = [one for one in scope.places if one[0] in alive]
        self.variables = {node: one for node, one in self.variables.items() if node in alive}


def resolve(tree: ast.Module) -> Scopes:
    """Find the variable of each name in a module."""
    collector = _Collector(tree)
    collector.body(tree.body)
    variables: dict[ast.AST, Binding] = dict(collector.bound)
    # Stored names first: they make the variables that loads refer to.
    for stored in (True, False):
        for scope in collector.module.walk():
            for node, place, is_store in scope.places:
                if is_store is stored:
                    found = scope.bind(node.id, node) if stored else _load(scope, node, place)
                    if found is not None:
                        variables[node] = found
    return Scopes(collector.module, variables, collector.home, collector.inside)


def _load(scope: Scope, node: ast.Name, place: int) -> Binding | None:
    if scope.kind == CLASS and node.id in scope.bindings:
        # Until the class body binds the name, it refers to the outer scope.
        first = min(
            (at for one, at, stored in scope.places if stored and one.id == node.id),
            default=place,
        )
        bound_by_statement = scope.bindings[node.id].stores[0]
        if not isinstance(bound_by_statement, ast.Name):
            first = _place_of(scope, bound_by_statement)
        if place <= first:
            outer = scope.parent
            assert outer is not None
            return outer.lookup(node.id) if outer.kind != CLASS else outer._enclosing(node.id)
    return scope.lookup(node.id)


def _place_of(scope: Scope, statement: ast.AST) -> int:
    assert isinstance(scope.node, ast.ClassDef)
    for place, top in enumerate(scope.node.body):
        if any(node is statement for node in walk(top)):
            return place
    return 0


class _Collector:
    """Walks through a module once and makes its scopes."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(MODULE, tree, None)
        self.scope = self.module
        self.place = 0
        self.bound: dict[ast.AST, Binding] = {}
        self.home: dict[ast.AST, Scope] = {}
        self.inside: dict[ast.AST, Scope] = {}

    def body(self, statements: Iterable[ast.stmt]) -> None:
        statements = list(statements)
        # `global` applies to the whole function, even before the statement.
        for statement in statements:
            self._declarations(statement)
        for place, statement in enumerate(statements):
            if self.scope.kind == CLASS:
                self.place = place
            self.visit(statement)

    def _declarations(self, node: ast.AST) -> None:
        if isinstance(node, ast.Global):
            self.scope.global_names.update(node.names)
            for name in node.names:
                bindings = self.scope.module().bindings
                bindings.setdefault(name, Binding(name, self.scope.module()))
        elif isinstance(node, ast.Nonlocal):
            self.scope.nonlocal_names.update(node.names)
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            for child in children(node):
                self._declarations(child)

    def visit(self, node: ast.AST) -> None:
        self.home[node] = self.scope
        if isinstance(node, ast.Name):
            stored = not isinstance(node.ctx, ast.Load)
            self.scope.places.append((node, self.place, stored))
        elif isinstance(node, _FUNCTIONS):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node)
        elif isinstance(node, ast.NamedExpr):
            self._walrus(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self._bind(alias.asname or alias.name.partition(".")[0], alias)
        else:
            if isinstance(node, ast.ExceptHandler) and node.name:
                self._bind(node.name, node)
            self._children(node)

    def _children(self, node: ast.AST) -> None:
        for child in children(node):
            self.visit(child)

    def _bind(self, name: str, node: ast.AST) -> None:
        self.bound[node] = self.scope.bind(name, node)
        self.home[node] = self.scope

    def _enter(self, kind: str, node: ast.AST) -> tuple[Scope, int]:
        outer = (self.scope, self.place)
        self.scope = Scope(kind, node, self.scope)
        self.place = 0
        self.inside[node] = self.scope
        return outer

    def _leave(self, outer: tuple[Scope, int]) -> None:
        self.scope, self.place = outer

    def _function(self, node: Function) -> None:
        if not isinstance(node, ast.Lambda):
            self._bind(node.name, node)
            for decorator in node.decorator_list:
                self.visit(decorator)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        outer = self._enter(FUNCTION, node)
        for argument in all_arguments(arguments):
            self._bind(argument.arg, argument)
        if isinstance(node, ast.Lambda):
            self.visit(node.body)
        else:
            self.body(node.body)
        self._leave(outer)

    def _class(self, node: ast.ClassDef) -> None:
        self._bind(node.name, node)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        outer = self._enter(CLASS, node)
        self.body(node.body)
        self._leave(outer)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        outer = self._enter(COMPREHENSION, node)
        for generator in node.generators:
            self.visit(generator.target)
            if generator is not first:
                self.visit(generator.iter)
            for condition in generator.ifs:
                self.visit(condition)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self._leave(outer)

    def _walrus(self, node: ast.NamedExpr) -> None:
        target = self.scope
        while target.kind == COMPREHENSION:
            assert target.parent is not None
            target = target.parent
        self.home[node.target] = target
        target.places.append((node.target, self.place, True))
        self.visit(node.value)


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """Every argument of a function, those without a default first, `*` and `**` last."""
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]

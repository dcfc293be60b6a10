"""Omit unused code from a build: branches that a constant turns off, and functions that no chip
calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from mpy_linker.merge import Overlay
from mpy_linker.program import AS_OBJECT, External, ModuleTarget, Program, Symbol, Target
from mpy_linker.source import Module
from mpy_linker.syntax import walk

#: Functions of others without any effect but their result.
_PURE = {External("collections", "namedtuple"), External("micropython", "const")}


def fold_switches(program: Program) -> None:
    """Remove `if` statements whose condition is a constant of a module, and their dead
    branches."""
    for module in program.modules.values():
        _Fold(program).visit(module.tree)


class _Fold(ast.NodeTransformer):
    def __init__(self, program: Program) -> None:
        self.program = program

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        known = self._value(node.test)
        if known is None:
            return node
        kept = node.body if known else node.orelse
        return kept or ast.copy_location(ast.Pass(), node)

    def _value(self, test: ast.expr) -> bool | None:
        """The value of a condition, if constants of modules decide it before anything else is
        evaluated."""
        if isinstance(test, ast.BoolOp):
            decides = isinstance(test.op, ast.Or)
            for part in test.values:
                value = self._value(part)
                if value is None or value is decides:
                    return value
            return not decides
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._value(test.operand)
            return None if inner is None else not inner
        link = self.program.links.get(test)
        if link is None or not isinstance(link.target, Symbol) or link.target.value is None:
            return None
        return bool(ast.literal_eval(link.target.value))


def prune(program: Program, overlays: Iterable[Overlay], entries: Iterable[str]) -> list[Symbol]:
    """Remove all symbols that neither `entries` nor code at import reaches; return them."""
    return _Pruner(program, list(overlays), set(entries)).prune()


class _Pruner:
    def __init__(self, program: Program, overlays: list[Overlay], entries: set[str]) -> None:
        self.program = program
        self.overlays = overlays
        self.objects = {owner: names for one in overlays for owner, names in one.objects.items()}
        self.entries = entries
        self.reached: set[Symbol] = set()
        self.definition: dict[Symbol, ast.stmt] = {}

    def prune(self) -> list[Symbol]:
        for module in self.program.modules.values():
            for statement in module.tree.body:
                symbol = self._defined(module, statement)
                if symbol is not None:
                    self.definition[symbol] = statement
        for module in self.program.modules.values():
            for statement in module.tree.body:
                if self._defined(module, statement) is None:
                    self._follow(statement)
        for symbol in list(self.definition):
            if symbol.full in self.entries:
                self._reach(symbol)
        for owner in self.objects:
            if owner in self.roots():
                self._reach(owner)
        gone = [one for one in self.definition if one not in self.reached]
        dead = {self.definition[one] for one in gone}
        for module in self.program.modules.values():
            module.tree.body = [one for one in module.tree.body if one not in dead]
            module.scopes.keep(set(walk(module.tree)))
        for overlay in self.overlays:
            overlay.symbols = [
                one
                for one in overlay.symbols
                if one not in gone and (one.name != AS_OBJECT or one in self.reached)
            ]
            overlay.objects = {
                owner: names for owner, names in overlay.objects.items() if owner in self.reached
            }
        return gone

    def roots(self) -> set[Symbol]:
        """Modules that code looks up by name at run time."""
        return {one for overlay in self.overlays for one in overlay.by_name}

    def _defined(self, module: Module, statement: ast.stmt) -> Symbol | None:
        """The symbol that a statement defines, if it has no other effect; else None."""
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node: ast.AST = statement
            if statement.decorator_list:
                return None
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            node = statement.targets[0]
            if len(statement.targets) > 1 or not self._is_pure(statement.value):
                return None
        else:
            return None
        binding = module.scopes.variables[node]
        if len(binding.stores) != 1:
            return None
        return self.program.symbol(module, binding.name)

    def _is_pure(self, node: ast.expr) -> bool:
        """Does an expression have no effect but its value?"""
        for part in walk(node):
            if isinstance(part, ast.Call):
                link = self.program.links.get(part.func)
                if link is None or link.target not in _PURE:
                    return False
            elif isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
                return False
        return True

    def _follow(self, node: ast.AST) -> None:
        for target in self._targets(node):
            self._reach(target)

    def _targets(self, node: ast.AST) -> Iterator[Symbol]:
        for part in walk(node):
            link = self.program.links.get(part)
            found: Target | None = link.target if link else None
            if isinstance(part, ast.alias):
                found = self.program.assigned.get(part)
            if isinstance(found, ModuleTarget):
                found = self.program.symbol(self.program.modules[found.name], AS_OBJECT)
            if isinstance(found, Symbol):
                yield found

    def _reach(self, symbol: Symbol) -> None:
        waiting = [symbol]
        while waiting:
            one = waiting.pop()
            if one in self.reached:
                continue
            self.reached.add(one)
            if one in self.definition:
                waiting.extend(self._targets(self.definition[one]))
            for name in self.objects.get(one, ()):
                target: Target = self.program.symbol(one.module, name)
                while isinstance(target, Symbol) and target.binding in self.program.aliases:
                    target = self.program.aliases[target.binding]
                if isinstance(target, Symbol):
                    waiting.append(target)

"""Rewrite the statements of a module for its overlay."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from itertools import islice

from mpy_linker.plan import Plan
from mpy_linker.program import External, ModuleTarget, Symbol
from mpy_linker.scopes import CLASS, MODULE, Binding, Scope, Scopes
from mpy_linker.source import Module
from mpy_linker.split import whole
from mpy_linker.syntax import OverlayError, walk
from mpy_linker.table import CORE

#: Functions of the run time that call another function later, and the position of that argument.
_CALLS_LATER = {"run": 1, "step": 1, "once": 1, "later": 2}


def rewrite(plan: Plan, module: Module) -> list[ast.stmt]:
    """The statements of a module, rewritten for its overlay. This consumes the module's own
    tree."""
    return _Rewriter(plan, module).statements()


class _Rewriter(ast.NodeTransformer):
    def __init__(self, plan: Plan, module: Module) -> None:
        self.plan = plan
        self.program = plan.program
        self.module = module
        self.scopes = module.scopes
        plan.note_chains(module)
        naming = plan.naming

        def wanted(binding: Binding) -> Iterator[str]:
            return naming.variables(binding, module)

        self.locals = Locals(
            module.scopes, lambda scope: plan.outside_names(module, scope), wanted
        ).names

    def statements(self) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in self.module.tree.body:
            made = self.visit(statement)
            if isinstance(made, list):
                found += made
            elif isinstance(made, ast.stmt):
                found.append(made)
        return found

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt] | None:
        made: ast.AST | list[ast.stmt] | None = super().visit(node)
        if isinstance(made, ast.AST) and getattr(made, "body", None) == []:
            made.body = [ast.copy_location(ast.Pass(), node)]  # type: ignore[attr-defined]
        return made

    def _expression(self, node: ast.expr) -> ast.expr:
        made = self.visit(node)
        assert isinstance(made, ast.expr)
        return made

    # --- names

    def _linked(self, node: ast.Name | ast.Attribute) -> ast.expr | None:
        link = self.program.links.get(node)
        if link is None:
            return None
        if not isinstance(node.ctx, ast.Load):
            return self._stored(node, link.target)
        made = copy.deepcopy(self.plan.reference(link.target))
        for part in walk(made):
            ast.copy_location(part, node)
        return made

    def _stored(self, node: ast.Name | ast.Attribute, target: object) -> ast.expr:
        assert isinstance(target, Symbol)
        if isinstance(node, ast.Attribute):
            raise OverlayError(
                f"{self.module.where(node)}: {target.full} is changed from outside its module: "
                "write a function there for it"
            )
        return ast.copy_location(ast.Name(id=target.flat, ctx=node.ctx), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        made = self._linked(node)
        if made is not None:
            return made
        binding = self.scopes.variables.get(node)
        if binding is None:
            if node.id == "__name__":
                return ast.copy_location(ast.Constant(whole(self.module.name)), node)
        else:
            node.id = self._variable(binding)
        return node

    def _variable(self, binding: Binding) -> str:
        """The name of a variable in the overlay."""
        if is_local(binding):
            return self.locals[binding]
        if binding.scope.kind == CLASS:
            return self.plan.naming.attribute(binding.name, self.module)
        return self.program.symbol(self.module, binding.name).flat

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        made = self._linked(node)
        if made is not None:
            return made
        link = self.program.links.get(node.value)
        node.value = self._expression(node.value)
        if link is None or not isinstance(link.target, External):
            node.attr = self.plan.naming.attribute(node.attr, self.module)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        node.value = self._expression(node.value)
        if node.arg is not None:
            node.arg = self.plan.naming.attribute(node.arg, self.module)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self.locals[self.scopes.variables[node]]
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global | None:
        symbols = [self.program.symbol(self.module, name) for name in node.names]
        node.names = [one.flat for one in symbols if one.flat]
        return node if node.names else None

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Nonlocal:
        home = self.scopes.home[node]
        found = [home.lookup(name) for name in node.names]
        node.names = [self.locals[one] for one in found if one is not None]
        return node

    # --- definitions of names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._variable(self.scopes.variables[node])
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.name = self._variable(self.scopes.variables[node])
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._variable(self.scopes.variables[node])
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name:
            node.name = self._variable(self.scopes.variables[node])
        return self.generic_visit(node)

    # --- imports

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt] | None:
        return self._import(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt] | None:
        if node.level and any(self._stays(alias) for alias in node.names):
            raise OverlayError(f"{self.module.where(node)}: a relative import that must stay")
        return self._import(node)

    def _stays(self, alias: ast.alias) -> bool:
        binding = self.scopes.variables[alias]
        return binding not in self.program.aliases and alias not in self.program.assigned

    def _import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | list[ast.stmt] | None:
        if isinstance(node, ast.ImportFrom) and self.program.is_absent(node.module or ""):
            # The import's own error, without its names.
            error = ast.Name(id="ImportError", ctx=ast.Load())
            return ast.copy_location(ast.Raise(exc=error, cause=None), node)
        made: list[ast.stmt] = []
        kept = []
        for alias in node.names:
            binding = self.scopes.variables[alias]
            if alias in self.program.assigned:
                made.append(self._assigned(node, alias, self._variable(binding)))
            elif self._stays(alias):
                bound = alias.asname or alias.name.partition(".")[0]
                name = self._variable(binding)
                if name != bound and "." in alias.name and not alias.asname:
                    raise OverlayError(
                        f"{self.module.where(node)}: write `import {alias.name} as ...`"
                    )
                alias.asname = name if name != alias.name.partition(".")[0] else None
                kept.append(alias)
        node.names = kept
        return [*made, node] if kept else made

    def _assigned(self, node: ast.stmt, alias: ast.alias, name: str) -> ast.stmt:
        target = self.program.assigned[alias]
        value = copy.deepcopy(self.plan.reference(target))
        statement = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)
        for part in walk(statement):
            ast.copy_location(part, node)
        return statement

    # --- the run time

    def visit_Call(self, node: ast.Call) -> ast.AST:
        link = self.program.links.get(node.func)
        target = link.target if link else None
        if isinstance(target, Symbol) and target.module.name == self.plan.names_of.runtime:
            place = _CALLS_LATER.get(target.name, len(node.args))
            if len(node.args) > place:
                node.args[place] = self._named(node.args[place])
        return self.generic_visit(node)

    def _named(self, node: ast.expr) -> ast.expr:
        """A function of another overlay by its names: the function object would stay on the
        caller's stack."""
        link = self.program.links.get(node)
        if link is None or not isinstance(link.target, (Symbol, ModuleTarget)):
            return node
        symbol = self.plan.symbol_of(link.target)
        if symbol.overlay in (CORE, self.plan.overlay.name):
            return node
        home = self.plan.naming.overlay(symbol.overlay)
        names: list[ast.expr] = [ast.Constant(home), ast.Constant(symbol.flat)]
        return ast.copy_location(ast.Tuple(elts=names, ctx=ast.Load()), node)


# --- names of variables in functions


class Locals:
    """Chooses the names of all variables inside the functions of a module: none may hide a name of
    the overlay that code in its scope uses.

    `outside(node)` is the name behind a Name that is no variable of a function, or None.
    `wanted(binding)` are the names to try for a variable, the best first; `fixed(binding)` tells
    whether it must keep its own name.
    """

    def __init__(
        self,
        scopes: Scopes,
        outside: Callable[[Scope], set[str]],
        wanted: Callable[[Binding], Iterator[str]],
    ) -> None:
        self.names: dict[Binding, str] = {}
        self._scopes = scopes
        self._outside = outside
        self._wanted = wanted
        self._direct: dict[Scope, set[Binding]] = {}
        for node, binding in scopes.variables.items():
            home = scopes.home.get(node)
            if home is not None:
                self._direct.setdefault(home, set()).add(binding)
        for scope in scopes.module.walk():
            if scope.kind not in (MODULE, CLASS):
                self._name(scope)

    def _name(self, scope: Scope) -> None:
        used: set[str] = set()
        for inner in scope.walk():
            used |= self._outside(inner)
            used.update(self._now(one) for one in self._direct.get(inner, ()) if is_local(one))
        own = [one for one in scope.bindings.values() if is_local(one)]
        # Keyword arguments have no choice of name: the others make way for them.
        for binding in own:
            names = list(islice(self._wanted(binding), 2))
            if len(names) == 1:
                self.names[binding] = names[0]
                used.add(names[0])
        for binding in own:
            if binding not in self.names:
                others = used - {binding.name} if self._only(scope, binding) else used
                self.names[binding] = next(
                    name for name in self._wanted(binding) if name not in others
                )
                used.add(self.names[binding])

    def _only(self, scope: Scope, binding: Binding) -> bool:
        """Is this the only variable of its name in the scope?"""
        for inner in scope.walk():
            if binding.name in self._outside(inner):
                return False
            for one in self._direct.get(inner, ()):
                if one is not binding and is_local(one) and self._now(one) == binding.name:
                    # A variable of an inner function may hide it, as in the source.
                    if one.scope is scope or one in self.names:
                        return False
        return True

    def _now(self, binding: Binding) -> str:
        return self.names.get(binding, binding.name)


def is_local(binding: Binding) -> bool:
    """Is it a variable of a function or comprehension?"""
    return binding.scope.kind not in (MODULE, CLASS)

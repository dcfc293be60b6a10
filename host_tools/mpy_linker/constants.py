"""Constants of modules: in a build their values replace their names."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from mpy_linker.program import External, Program, Symbol
from mpy_linker.source import Module

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_NUMBERS_ONLY = (ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


class _NotConstant(Exception):
    """The expression has no value before the program runs."""


def find_constants(program: Program) -> None:
    """Set `value` of every symbol with one constant number, text, or tuple of these, and remove
    the statements that assigned it.
    """
    for module in program.modules.values():
        for statement in module.tree.body:
            symbol = _assigned(program, module, statement)
            if symbol is not None:
                _constant(program, symbol)
    for module in program.modules.values():
        module.tree.body = [
            one for one in module.tree.body if not _is_replaced(program, module, one)
        ]


def _is_replaced(program: Program, module: Module, statement: ast.stmt) -> bool:
    symbol = _assigned(program, module, statement)
    return symbol is not None and symbol.value is not None


def _constant(program: Program, symbol: Symbol) -> Any:
    """Return the value of a symbol, and note it."""
    if symbol.value is None:
        for statement in symbol.module.tree.body:
            if _assigned(program, symbol.module, statement) is symbol:
                assert isinstance(statement, ast.Assign)
                try:
                    value = _evaluate(program, symbol.module, statement.value)
                except (_NotConstant, ArithmeticError, TypeError):
                    return None
                symbol.value = literal(value)
                break
        else:
            return None
    return ast.literal_eval(symbol.value) if symbol.value is not None else None


def _assigned(program: Program, module: Module, statement: ast.stmt) -> Symbol | None:
    """The symbol whose only value comes from this statement at the top of a module."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    binding = module.scopes.variables[target]
    if len(binding.stores) != 1 or binding.rebound:
        return None
    return program.symbol(module, target.id)


def _evaluate(program: Program, module: Module, node: ast.expr) -> Any:
    def again(part: ast.expr) -> Any:
        return _evaluate(program, module, part)

    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(again(part) for part in node.elts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
        value = again(node.operand)
        return -value if isinstance(node.op, ast.USub) else ~value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = again(node.left), again(node.right)
        if isinstance(node.op, _NUMBERS_ONLY) and not isinstance(left, (int, float)):
            raise _NotConstant
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call) and is_const(program, node.func) and len(node.args) == 1:
        return again(node.args[0])
    link = program.links.get(node)
    if link is not None and isinstance(link.target, Symbol):
        value = _constant(program, link.target)
        if value is not None:
            return value
    raise _NotConstant


def is_const(program: Program, node: ast.expr) -> bool:
    """Is this MicroPython's `const`?"""
    link = program.links.get(node)
    if link is None:
        return isinstance(node, ast.Name) and node.id == "const"
    return link.target == External("micropython", "const")


def literal(value: Any) -> ast.expr:
    """The expression of a constant; a negative number becomes an operation, which nests safely in
    a larger one."""
    if isinstance(value, tuple):
        return ast.Tuple(elts=[literal(part) for part in value], ctx=ast.Load())
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(op=ast.USub(), operand=ast.Constant(-value))
    return ast.Constant(value)

"""The text of an overlay's file, and the source line of each of its lines.

It has as few lines as possible: MicroPython keeps a byte or two in memory for each line of a
function.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from mpy_linker.plan import HOMES, LENT, METHOD, STAYS, Plan
from mpy_linker.rewrite import rewrite
from mpy_linker.source import Module
from mpy_linker.syntax import FUNCTIONS, walk
from mpy_linker.table import CORE, CORE_ALIAS
from mpy_linker.texts import pool, shelve

#: The module and the lines of its source, from the first to the last, of a line; None for new
#: ones.
Origin = tuple[Module, int, int] | None

#: More simple statements than this make a traceback too vague.
_MOST = 4
#: The first words of statements that have a block.
_BLOCKS = ("if", "elif", "else:", "for", "while", "try:", "except", "except:", "finally:", "with")
_NEVER = ("def", "class", "async")


@dataclass
class File:
    """An overlay as source; `lines` has the origin of each line (from 1)."""

    text: str
    lines: list[Origin] = field(default_factory=list)


def emit(plan: Plan, kept: set[str] | None = None) -> File:
    """Write an overlay; `kept` are names that exist anyway: with it, the other short texts move
    into a tuple."""
    statements: list[tuple[ast.stmt, Module | None]] = []
    statements += [(one, None) for one in _imports(plan)]
    begin = len(statements)
    owners = {made.flat: owner for owner, made in plan.overlay.lends}
    lent: list[ast.expr] = []
    for module in plan.overlay.modules:
        for one in rewrite(plan, module):
            if isinstance(one, ast.ClassDef) and one.name in owners:
                owner = plan.reference(owners[one.name])
                lent += [owner, *_names(one)]
                statements += _lending(one, owner, module)
            else:
                statements.append((one, module))
    statements += [(one, None) for one in _objects(plan)]
    statements += [(one, None) for one in _split_classes(plan)]
    if plan.shelf is not None:
        code = [one for one, source in statements if source]
        shelve(code, plan.shelf, plan.reference(plan.loaded()))
    texts = None if kept is None else pool([one for one, _ in statements], kept)
    if lent:
        # Before the methods, since memory may end among them.
        value = ast.Tuple(elts=copy.deepcopy(lent), ctx=ast.Load())
        names = ast.Assign(targets=[ast.Name(id=LENT, ctx=ast.Store())], value=value)
        statements.insert(begin, (names, None))
    if plan.overlay.stays:
        target = ast.Name(id=STAYS, ctx=ast.Store())
        statements.insert(0, (ast.Assign([target], ast.Constant(plan.overlay.stays)), None))
    if texts is not None:
        statements.insert(0, (texts, None))
    tree = ast.Module(body=[one for one, _ in statements], type_ignores=[])
    ast.fix_missing_locations(tree)
    text = _with_bare_tuples(ast.unparse(tree) + "\n")
    lines: list[Origin] = [None] * text.count("\n")
    for (statement, source), made in zip(statements, ast.parse(text).body, strict=True):
        if source is not None:
            for line, old in _lines(statement, made):
                if lines[line - 1] is None:
                    lines[line - 1] = (source, old, old)
    return File(*joined(text, lines))


def _with_bare_tuples(text: str) -> str:
    """Remove the brackets of `a, b = (c, d)`: only without them the compiler makes no tuple."""
    lines = text.splitlines()
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and node.value.elts:
            line = lines[node.lineno - 1].encode()
            start, end = node.value.col_offset, node.value.end_col_offset
            if line[start:].startswith(b"(") and len(node.value.elts) > 1:
                line = line[:start] + line[start + 1 : (end or 0) - 1]
                lines[node.lineno - 1] = line.decode()
    return "\n".join(lines) + "\n"


def _lines(old: ast.AST, new: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield (line, line in the source) of a statement and of those inside it."""
    decorators = list(
        zip(getattr(old, "decorator_list", ()), getattr(new, "decorator_list", ()), strict=True)
    )
    for before, after in decorators:
        yield after.lineno, before.lineno
    if isinstance(old, (ast.stmt, ast.ExceptHandler)):
        yield getattr(new, "lineno", 1), old.lineno
    for name in ("body", "handlers", "orelse", "finalbody"):
        before, after = getattr(old, name, None), getattr(new, name, None)
        if isinstance(before, list) and isinstance(after, list):
            for one, other in zip(before, after, strict=True):
                yield from _lines(one, other)


def _imports(plan: Plan) -> Iterator[ast.stmt]:
    """Yield the imports of the file: other packages, the core, overlays loaded before it."""
    overlay = plan.overlay
    by_module: dict[str, list[ast.alias]] = {}
    for external, name in overlay.externals.items():
        if external.name is None:
            yield ast.Import(names=[_alias(external.module, name)])
        else:
            by_module.setdefault(external.module, []).append(_alias(external.name, name))
    core = [
        _alias(one.flat, name) for one, name in overlay.imported.items() if one.overlay == CORE
    ]
    if core:
        by_module[CORE_ALIAS] = core
    for module, names in by_module.items():
        yield ast.ImportFrom(module=module, names=names, level=0)
    for symbol, name in overlay.imported.items():
        if symbol.overlay != CORE:
            home = plan.elsewhere(symbol.overlay)
            value = ast.Attribute(value=home, attr=symbol.flat, ctx=ast.Load())
            yield ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _alias(name: str, here: str) -> ast.alias:
    return ast.alias(name=name, asname=here if here != name else None)


def _objects(plan: Plan) -> Iterator[ast.stmt]:
    """Yield a class for every module used as a value: its attributes are those of the module."""
    for symbol, names in plan.overlay.objects.items():
        body: list[ast.stmt] = []
        for name in names:
            target = plan.member(symbol, name)
            if target is None:
                continue
            value = copy.deepcopy(plan.reference(target))
            attribute = plan.naming.attribute(name, symbol.module)
            body.append(ast.Assign(targets=[ast.Name(id=attribute, ctx=ast.Store())], value=value))
        made = ast.parse(f"class {symbol.flat}: pass").body[0]
        assert isinstance(made, ast.ClassDef)
        if body:
            made.body = body
        yield made


def _split_classes(plan: Plan) -> Iterator[ast.stmt]:
    """Yield the code that finds methods of classes here in other overlays."""
    for owner, places in plan.overlay.borrows.items():
        # One text takes less RAM than a tuple of names.
        homes = " "
        for overlay, methods in places.items():
            # A private method has its short name in the module that defines it alone.
            words = [plan.naming.attribute(name, base.module) for base, name in methods]
            homes += " ".join([*dict.fromkeys(words), f"={plan.naming.overlay(overlay)} "])
        value = copy.deepcopy(plan.reference(plan.borrow()))
        for name, part in (("__getattr__", value), (HOMES, ast.Constant(homes))):
            target = ast.Attribute(value=ast.Name(owner.flat, ast.Load()), attr=name)
            target.ctx = ast.Store()
            yield ast.Assign(targets=[target], value=part)


def _names(fragment: ast.ClassDef) -> list[ast.expr]:
    return [ast.Constant(one.name) for one in fragment.body if isinstance(one, FUNCTIONS)]


def _lending(
    fragment: ast.ClassDef, owner: ast.expr, module: Module
) -> Iterator[tuple[ast.stmt, Module | None]]:
    """Yield methods for a class of another overlay, and the statements that put them there."""
    for method in fragment.body:
        assert isinstance(method, FUNCTIONS)
        target = ast.Attribute(value=copy.deepcopy(owner), attr=method.name, ctx=ast.Store())
        method.name = METHOD
        yield method, module
        yield ast.Assign(targets=[target], value=ast.Name(id=METHOD, ctx=ast.Load())), None


# --- fewer lines


def joined(text: str, origins: Sequence[Origin]) -> tuple[str, list[Origin]]:
    """Join simple statements of a block, and a block of one such line with the line before it;
    `origins` has one for each line of `text`, which is of `ast.unparse`."""
    lines = [
        _Line(line, origin)
        for line, origin in zip(text.splitlines(), origins, strict=True)
        if line
    ]
    lines = _join_statements(lines)
    lines = _join_blocks(lines)
    return "\n".join([line.text for line in lines]) + "\n", [line.origin for line in lines]


class _Line:
    def __init__(self, text: str, origin: Origin) -> None:
        self.text = text
        self.origin = origin
        bare = text.lstrip(" ")
        self.depth = len(text) - len(bare)
        word = bare.partition(" ")[0].partition("(")[0]
        self.has_block = word in _BLOCKS
        self.is_simple = not self.has_block and word not in _NEVER and not word.startswith("@")

    def add(self, other: _Line, between: str) -> None:
        self.text += between + other.text.lstrip(" ")
        mine, its = self.origin, other.origin
        if mine is None:
            self.origin = its
        elif its is not None and its[0] is mine[0]:
            self.origin = (mine[0], min(mine[1], its[1]), max(mine[2], its[2]))


def _join_statements(lines: list[_Line]) -> list[_Line]:
    made: list[_Line] = []
    for (_, is_simple), run in groupby(lines, lambda line: (line.depth, line.is_simple)):
        for number, line in enumerate(run):
            if is_simple and number % _MOST:
                made[-1].add(line, ";")
            else:
                made.append(line)
    return made


def _join_blocks(lines: list[_Line]) -> list[_Line]:
    made: list[_Line] = []
    for line, after in zip(lines, [*lines[1:], None], strict=False):
        before = made[-1] if made else None
        if (
            before is not None
            and before.has_block
            and before.text.endswith(":")
            and line.is_simple
            and line.depth > before.depth
            and (after is None or after.depth < line.depth)
        ):
            before.add(line, "")
        else:
            made.append(line)
    return made

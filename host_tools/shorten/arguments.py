"""Gives the arguments of functions names that cost nothing, before a module is compiled for a board.

A .mpy holds the name of every argument, and the names it loads stay in RAM for ever. Nearly all
arguments are passed by place, so what they are called is nobody's business: the first of a function can be
`_`, the second `args` ... These are names that each MicroPython has in ROM and that a .mpy writes as one
byte or two. Lines stay where they are, and tracebacks do not show arguments.

A function keeps an argument's name when
- a call anywhere gives an argument of that name by keyword, or a call with `**` might;
- owners' tools and drivers may call the function (`CALLED_BY_OWNERS`);
- the name means something else inside the function too: an import, a function or class, a caught error, a
  name of a class body, or it is declared global or nonlocal;
- the function asks for its variables by `locals` and the like, or in an f-string.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from host_tools.shorten.syntax import Edits, edited, parsed

#: Modules whose functions tools and drivers in /workspace call, perhaps by keyword.
CALLED_BY_OWNERS = (
    "tenner/agent/rounds.py",
    "tenner/log.py",
    "tenner/port/",
    "tenner/sensors/__init__.py",
    "tenner/tools/__init__.py",
    "tenner/tools/paths.py",
)

#: Part of the .mpy format (py/makeqstrdata.py of MicroPython), those of one byte first.
IN_ROM = (
    "_ args append all any abs self value key end start stop step index items keys sep values "
    "write zip update tuple type"
).split()

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ASKS_FOR_NAMES = {"locals", "vars", "dir", "eval", "exec"}


def keywords(sources: dict[str, bytes]) -> set[str]:
    """Every name by which a call in `sources` gives an argument, or might."""
    found: set[str] = set()
    for name, source in sources.items():
        nodes = list(ast.walk(parsed(source, name)))
        names = {node.arg for node in nodes if isinstance(node, ast.keyword)}
        if None in names:
            # The names in a dict behind `**` stand in strings of the same module.
            texts = (node.value for node in nodes if isinstance(node, ast.Constant))
            names.update(text for text in texts if isinstance(text, str))
        found.update(filter(None, names))
    return found


def short_arguments(source: bytes, name: str, given: set[str]) -> bytes:
    """The module `name` with its arguments renamed; `given` is from `keywords`."""
    if name.startswith(CALLED_BY_OWNERS):
        return source
    edits: Edits = {}
    for function in _functions(parsed(source, name)):
        _rename(function, given, edits)
    return edited(source, edits)


def _functions(tree: ast.AST) -> Iterator[_Function]:
    """Every function, the outer before the inner."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            yield node
        yield from _functions(node)


def _rename(function: _Function, given: set[str], edits: Edits) -> None:
    """Rename the arguments of one function in the tree, and note it in `edits`.

    A name is replaced wherever it stands in the function, inner functions included, and by one that
    stands nowhere in it. Whose variable it is in each place then cannot change.
    """
    spec = function.args
    passed = [*spec.posonlyargs, *spec.args]
    passed += [arg for arg in (spec.vararg, spec.kwarg) if arg]
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    # Defaults are not in here: they belong to the scope outside.
    inside = [*passed, *spec.kwonlyargs, *(node for part in body for node in ast.walk(part))]
    places: dict[str, list[ast.Name | ast.arg]] = {}
    for node in inside:
        if isinstance(node, ast.Name):
            places.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.arg):
            places.setdefault(node.arg, []).append(node)
    if _ASKS_FOR_NAMES.intersection(places) or any(
        isinstance(node, ast.JoinedStr) for node in inside
    ):
        return
    fixed = _fixed(inside)
    keep = given | fixed | {arg.arg for arg in spec.kwonlyargs}
    free = (name for name in IN_ROM if name not in places and name not in fixed)
    for arg in passed:
        old = arg.arg
        if old in keep:
            continue
        new = next(free, None)
        if new is None:
            return
        for node in places[old]:
            place = (node.lineno, node.col_offset)
            edits[place] = (edits.get(place, (old,))[0], new)
            if isinstance(node, ast.Name):
                node.id = new
            else:
                node.arg = new


def _fixed(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that mean something in `nodes` other than a variable, an argument or a global."""
    found: set[str | None] = set()
    for node in nodes:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
            found.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name for name in found if name}

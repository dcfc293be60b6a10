"""Gives public names of the package short ones, the same in all modules.

A name such as `retry_after_s` stands in the .mpy of every module that uses it and in RAM for ever. It is
replaced everywhere at once, as variable, attribute, argument and keyword alike, by a name that stands nowhere
yet, so nothing can be mixed up inside the package. What the outside knows keeps its name:

- what MicroPython has too, since `x.append` may be a list's (micropython_names.py);
- what owners' tools and drivers see: all that the modules of `OPEN` mention, because the same file works in
  /workspace; what boot.py and main.py mention; modules themselves; exceptions, whose names show in messages;
- what a string might name: `getattr(app, "status")`. In a module that computes such names any word of any
  string counts, and may be one end of a name;
- keywords of calls to functions that are not ours.
"""

from __future__ import annotations

import ast
import keyword
import re
import string
from collections import Counter
from collections.abc import Iterator
from itertools import product

from host_tools.shorten.arguments import IN_ROM
from host_tools.shorten.micropython_names import NAMES
from host_tools.shorten.syntax import names_of, parsed

#: Modules whose names owners' tools and drivers may use.
OPEN = ("tenner/log.py", "tenner/port/", "tenner/sensors/", "tenner/tools/")

_BY_NAME = ("getattr", "setattr", "hasattr", "delattr")
_BY_TEXT = ("globals", "locals", "vars", "eval", "exec")
_WORD = re.compile(r"[A-Za-z_]\w*")


def public_names(modules: dict[str, bytes], callers: dict[str, bytes]) -> dict[str, str]:
    """What to call the public names of `modules`; `callers`, such as main.py, stay as they are."""
    trees = [parsed(source, name) for name, source in modules.items()]
    used = {name: set(names_of(source)) for name, source in [*modules.items(), *callers.items()]}
    kept = {*NAMES, *IN_ROM}
    for name, names in used.items():
        if name in callers or name.startswith(OPEN):
            kept |= names
        kept.update(_WORD.findall(name))
    defined: set[str] = set()
    parts: set[str] = set()
    for tree in trees:
        defined.update(_defined(tree))
        kept.update(_exceptions(tree), _texts(tree))
        parts.update(_parts(tree))
    kept |= parts
    for tree in trees:
        kept.update(_keywords_of_others(tree, defined - kept))
    starts = tuple(part for part in parts if part.endswith("_"))
    ends = tuple(part for part in parts if part.startswith("_"))
    found = [
        name
        for name in defined - kept
        if len(name) > 2 and not (name.startswith(("_", *starts)) or name.endswith(ends))
    ]
    count = Counter(name for names in used.values() for name in names)
    fresh = _short_names(kept.union(*used.values()))
    return {name: next(fresh) for name in sorted(found, key=lambda name: (-count[name], name))}


def _short_names(taken: set[str]) -> Iterator[str]:
    for size in (1, 2):
        for letters in product(string.ascii_letters, repeat=size):
            name = "".join(letters)
            if name not in taken and not keyword.iskeyword(name):
                yield name


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield what the module gives a name to, but for variables of functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for statement in node.body:
                if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    for part in ast.walk(statement):
                        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                            yield part.id


def _exceptions(tree: ast.Module) -> Iterator[str]:
    """Yield the classes that have a base."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.bases:
            yield node.name


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield every string of the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _parts(tree: ast.Module) -> Iterator[str]:
    """Yield the words in a module's texts, if it makes names of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            break
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            given = node.args[1:2]
            if name in _BY_TEXT or (name in _BY_NAME and not isinstance(given[0], ast.Constant)):
                break
    else:
        return
    for text in _texts(tree):
        yield from _WORD.findall(text)


def _keywords_of_others(tree: ast.Module, ours: set[str]) -> Iterator[str]:
    """Yield the keywords of calls to what is not surely one of `ours`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else None
            name = called.id if isinstance(called, ast.Name) else name
            if name not in ours:
                yield from (word.arg for word in node.keywords if word.arg)

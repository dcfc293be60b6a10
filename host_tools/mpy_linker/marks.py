"""Mark a program's source for the profile: which functions run in which phase, and which are
suspended, or have objects alive, when a phase begins.

A marked board prints a line for each phase when the next one begins:
`ran PHASE NUMBER ... | NUMBER ...`: the numbers of the symbols that ran in it, and of those alive
at its begin. The numbers are places in `Marked.names`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from mpy_linker.source import is_for_types, module_name
from mpy_linker.syntax import FUNCTIONS, children
from mpy_linker.table import Names

#: The module of the marks, beside the package.
MARKS = "profile_marks"
RUN_TIME = '''\
"""Counts for the profile (mpy_linker/marks.py)."""

import gc
import os

# MicroPython calls no __del__ of Python's own classes, but it closes a file that is gone. So each
# object and each frame has one, and all that are open are alive.
_FILE = "/dev/full"
_OPEN = "/proc/self/fd"
_ran = set()
_files = {}
_alive = ""
_phase = "START"


def _opened(number):
    try:
        file = open(_FILE)
    except OSError:
        gc.collect()
        file = open(_FILE)
    _files[file.fileno()] = number
    return file


def ran(number):
    _ran.add(number)


def begin(number):
    _ran.add(number)
    return _opened(number)


def made(one, number):
    if one.profile_maker == number:
        one.profile_file = _opened(one.profile_class)


def phase(name):
    global _phase, _alive
    print("ran", _phase, " ".join(map(str, sorted(_ran))), "|", _alive)
    _ran.clear()
    _phase = name
    gc.collect()
    inode = os.stat(_FILE)[1]
    alive = set()
    for name in os.listdir(_OPEN):
        try:
            if os.stat(_OPEN + "/" + name)[1] == inode and int(name) in _files:
                alive.add(_files[int(name)])
        except OSError:
            pass  # the folder itself, closed again
    _alive = " ".join(map(str, sorted(alive)))
'''


@dataclass
class Marked:
    """The marked source by path, and the full names of the symbols by their numbers."""

    sources: dict[str, bytes] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)


def mark(sources: Mapping[str, bytes], names: Names) -> Marked:
    """Mark the files of the package, such as `app/net/http.py`."""
    made = Marked()
    for path, source in sources.items():
        tree = ast.parse(source)
        module = module_name(path)
        place = next(
            (
                at
                for at, one in enumerate(tree.body)
                if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ),
            0,
        )
        for statement in tree.body:
            if isinstance(statement, FUNCTIONS):
                _function(statement, _number(made, f"{module}:{statement.name}"))
                if module == names.loader and statement.name == "enter":
                    _put(statement, "profile_marks.phase(number)")
                elif module == names.runtime and statement.name == "configure":
                    _put(statement, "small = True")  # the heap of a profile is large
            elif isinstance(statement, ast.ClassDef):
                _class(made, module, statement, names.errors)
        tree.body = [one for one in tree.body if not is_for_types(one)]
        tree.body.insert(min(place, len(tree.body)), ast.parse(f"import {MARKS}").body[0])
        ast.fix_missing_locations(tree)
        made.sources[path] = ast.unparse(tree).encode()
    return made


def _number(made: Marked, name: str) -> int:
    made.names.append(name)
    return len(made.names) - 1


def _class(made: Marked, module: str, node: ast.ClassDef, errors: tuple[str, ...]) -> None:
    own = _number(made, f"{module}:{node.name}")
    methods = [one for one in node.body if isinstance(one, FUNCTIONS)]
    # An exception is raised and gone.
    is_object = not any(_is_exception(base, errors) for base in node.bases)
    maker = None
    for method in methods:
        number = _number(made, f"{module}:{node.name}.{method.name}")
        _function(method, number)
        if method.name == "__init__":
            maker = number
            if is_object:
                _put(method, f"profile_marks.made({method.args.args[0].arg}, {number})")
        _put(method, f"profile_marks.ran({own})")
    if not is_object:
        return
    text = f"profile_class = {own}\n"
    if maker is None and not node.bases:
        maker = own
        text += f"def __init__(self):\n    profile_marks.made(self, {own})\n"
    if maker is not None:
        text += f"profile_maker = {maker}\n"
    node.body += ast.parse(text).body


def _is_exception(base: ast.expr, errors: tuple[str, ...]) -> bool:
    name = ast.unparse(base)
    return name.endswith(("Exception", "Error", *errors)) or name in ("tuple", "dict", "list")


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, number: int) -> None:
    node.returns = None
    if not isinstance(node, ast.AsyncFunctionDef) and not _yields(node):
        _put(node, f"profile_marks.ran({number})")
        return
    body = node.body
    wrapped = ast.parse(
        f"profile_frame = profile_marks.begin({number})\n"
        "try:\n    pass\nfinally:\n    profile_frame.close()"
    ).body
    assert isinstance(wrapped[1], ast.Try)
    wrapped[1].body = body
    node.body = wrapped


def _yields(node: ast.AST) -> bool:
    for child in children(node):
        if isinstance(child, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)) and _yields(child):
            return True
    return False


def _put(node: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> None:
    node.body.insert(0, ast.parse(text).body[0])

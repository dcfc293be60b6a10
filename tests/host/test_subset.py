"""Each check of `make lint` finds a planted mistake, and leaves good code alone."""

from pathlib import Path

import pytest

from scripts import check_annotations, check_imports, check_subset, generated, lint, package_json

ROOT = lint.ROOT
GOOD_HEADER = (
    "# tenner net.thing: one clause.\n# MIT license; Copyright (c) 2026 the tenner authors\n"
)
PLACE = Path("firmware/tenner/net/thing.py")


def found(body, place=PLACE, header=GOOD_HEADER):
    return check_subset.check_source(place, header + body)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("match 1:\n    case 1:\n        x = 1\n", "`match`"),
        ("def f(a, /):\n    pass\n", "positional-only"),
        ("async def f():\n    yield 1\n", "asynchronous generators"),
        ("async def f(x):\n    return [i async for i in x]\n", "asynchronous comprehensions"),
        ("x = {**{}}\n", "{**d}"),
        (
            "try:\n    x = 1\nexcept OSError as e:\n    raise ValueError(1) from e\n",
            "raise ... from",
        ),
        ("try:\n    x = 1\nexcept:\n    raise\n", "bare except"),
        ("import typing\n", "module typing"),
        ("import os.path\nimport dataclasses\n", "module dataclasses"),
        ("from functools import partial\n", "module functools"),
        ("def f():\n    import enum\n    return enum\n", "module enum"),
        ("from . import other\n", "relative imports"),
        ("import asyncio\nq = asyncio.Queue()\n", "asyncio.Queue"),
        ("import asyncio\nasyncio.timeout(1)\n", "asyncio.timeout"),
        ("from asyncio import TaskGroup\n", "asyncio.TaskGroup"),
        ("import os\nos.replace('a', 'b')\n", "os.replace"),
        ("import os\nos.makedirs('a')\n", "os.makedirs"),
        ("import time\ntime.monotonic()\n", "time.monotonic"),
        (
            "import json\ntry:\n    pass\nexcept json.JSONDecodeError:\n    raise\n",
            "JSONDecodeError",
        ),
        ("'a'.removeprefix('b')\n", "removeprefix"),
        ("x = (5).bit_length()\n", "bit_length"),
        ("try:\n    pass\nexcept FileNotFoundError:\n    raise\n", "FileNotFoundError"),
        ("x = b''.decode('utf-8', 'replace')\n", "error handler"),
        ("x = str(b'', 'utf-8', errors='ignore')\n", "error handler"),
        ("import re\nx = re.match(r'[ \\t]+', '')\n", r"takes \t for the letter"),
        ("import re\n_ITEM = r'[ \\t]+'\n", r"takes \t for the letter"),
        ("import re\nx = re.sub('a', 'b', '')\n", "may free the pattern"),
        ("from tenner.agent import turn\n", "imports tenner.agent"),
        ("def f():\n    from tenner.tools.registry import Registry\n", "point down only"),
        ("from tenner import app\n", "imports tenner.app"),
        ("x = 1\n" * 400, "lines, more than 400"),
        ("def f(:\n", ":3: "),
    ],
)
def test_a_planted_mistake_is_found(body, sentence):
    assert any(sentence in row for row in found(body)), found(body)


@pytest.mark.parametrize(
    "body",
    [
        "import os\n\n\ndef f(a):\n    if hasattr(os, 'replace'):\n        os.replace(a, a)\n",
        "try:\n    from functools import partial\nexcept ImportError:\n    partial = None\n",
        (
            "import time\n\ntry:\n    clock = time.monotonic\nexcept AttributeError:\n"
            "    clock = None\n"
        ),
        "from tenner.store import files\nfrom tenner.log import log\n",
        "async def f():\n    def g():\n        yield 1\n\n    return g\n",
        "class TimeoutError(Exception):\n    pass\n\n\nx = TimeoutError\n",
        "x = b''.decode()\ny = {'a': 1} | {}\nz = 'ignore'\n",
        "import asyncio\n\ntry:\n    pass\nexcept asyncio.TimeoutError:\n    raise\n",
    ],
)
def test_good_code_passes(body):
    assert found(body) == []


def test_a_guard_covers_its_own_function_only():
    body = (
        "import os\n\n\ndef f():\n    hasattr(os, 'replace')\n\n\ndef g():\n"
        "    os.replace('a', 'b')\n"
    )
    assert [row.split(":")[1] for row in found(body)] == ["11"]


@pytest.mark.parametrize(
    "header",
    [
        "",
        "# tenner net.other: one clause.\n# MIT license; Copyright (c) 2026 the tenner authors\n",
        "# tenner net.thing: no full stop\n# MIT license; Copyright (c) 2026 the tenner authors\n",
        "# tenner net.thing: one clause.\n# MIT license\n",
    ],
)
def test_a_wrong_header_is_found(header):
    assert any(" line must be " in row for row in found("x = 1\n", header=header))


def test_start_files_stay_short():
    header = "# tenner main.py: starts.\n# MIT license; Copyright (c) 2026 the tenner authors\n"
    rows = found("x = 1\n" * 29, place=Path("firmware/main.py"), header=header)
    assert any("more than 30" in row for row in rows)


def test_an_import_for_types_obeys_the_order(tmp_path):
    body = (
        "from tenner.net.url import x\n\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n"
        "    from typing import Any\n\n    from tenner.net.types import Holder\n"
    )
    assert found(body) == []
    assert "which is above it" in found(body.replace("net.types", "app"))[0]
    text = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import two\n"
    (tmp_path / "one.py").write_text(text)
    (tmp_path / "two.pyi").write_text("import three\n")
    assert check_imports.check(tmp_path, tmp_path / "none") == []
    (tmp_path / "two.pyi").write_text("import one\n")
    assert check_imports.check(tmp_path, tmp_path / "none") == ["circle of imports: one, two"]


def test_a_module_may_be_longer_by_its_imports_for_types():
    body = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any\n"
    body += "x = 1\n" * (check_subset.MAX_LINES - 2)
    assert found(body) == []
    assert "lines, more than" in found(body + "x = 1\n")[0]


def test_siblings_may_import_each_other():
    place = Path("firmware/tenner/channels/thing.py")
    header = GOOD_HEADER.replace("net.thing", "channels.thing")
    assert found("from tenner.schedule import slots\n", place=place, header=header) == []


def plant(tmp_path, text, name="planted.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_mpy_cross_finds_what_a_board_cannot_compile(tmp_path, monkeypatch):
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    good = plant(tmp_path, "x = 1\n", "good.py")
    bad = plant(tmp_path, "with (open('a') as a, open('b') as b):\n    pass\n")
    rows = lint.mpy_cross([good, bad])
    assert len(rows) == 1
    assert rows[0].startswith("planted.py: ")


def test_an_import_that_fails_on_a_board_is_found(tmp_path, any_micropython):
    plant(tmp_path, "import dataclasses\n")
    plant(tmp_path, "import json\n", "fine.py")
    rows = lint.import_each(any_micropython, ["planted", "fine"], [tmp_path])
    assert len(rows) == 1
    assert "import planted" in rows[0]
    assert "dataclasses" in rows[0]


def test_an_import_that_prints_is_found(tmp_path, any_micropython):
    plant(tmp_path, "print('here')\n")
    assert "here" in lint.import_each(any_micropython, ["planted"], [tmp_path])[0]


def test_paths_of_one_machine_are_found(tmp_path):
    home = "/home" + "/somebody/src"
    rows = lint.machine_paths([plant(tmp_path, f"x = '{home}'\n")], tmp_path)
    assert len(rows) == 1
    assert "planted.py:1" in rows[0]
    rows = lint.machine_paths([plant(tmp_path, f"# see {tmp_path}/notes\n")], tmp_path)
    assert len(rows) == 1
    assert lint.machine_paths([plant(tmp_path, "# root@board:/root/tenner\n")], tmp_path) == []


def test_firmware_types_find_a_wrong_name_and_respect_guards(tmp_path):
    folder = ROOT / "build" / "planted"
    folder.mkdir(parents=True, exist_ok=True)
    text = (
        "import time\n\ntime.monotonic()\n\n\ndef f():\n    if hasattr(time, 'monotonic'):\n"
        "        time.monotonic()\n        time.sleep_ms('1')\n"
    )
    path = plant(folder, text)
    try:
        rows = lint.firmware_types(str(path.relative_to(ROOT)))
    finally:
        path.unlink()
    assert len(rows) == 2
    assert "planted.py:3:" in rows[0]
    assert "planted.py:9:" in rows[1]


def test_firmware_types_are_skipped_without_stubs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lint, "TYPINGS", tmp_path / "typings")
    monkeypatch.setattr(lint, "python", lambda *args: ["warning", "no network"])
    assert lint.firmware_types() == []
    assert capsys.readouterr().out == "    skipped: no types of MicroPython (no network)\n"


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("def f(a, b: int, *c, d=1, **e) -> None: ...", "f has no type for a, d, c, e"),
        ("async def f(a: int): ...", "f has no type for return"),
        ("class A:\n    def __init__(self, a) -> None: ...", "A.__init__ has no type for a"),
        ("try:\n    import x\nexcept ImportError:\n    def f(): ...", "f has no type"),
        ("def _f(a): ...\nclass _A:\n    def f(self, a): ...", ""),
        ("def f(a: int) -> 'A':\n    def inner(b): ...\n    return inner", ""),
    ],
)
def test_a_public_function_without_types_is_found(body, missing):
    rows = check_annotations.check_source(PLACE, GOOD_HEADER + body)
    assert len(rows) == bool(missing)
    assert all(missing in row for row in rows)


def test_a_generated_file_goes_stale(tmp_path):
    target = tmp_path / "package.json"
    text = package_json.package_json()
    assert "make format" in generated.stale(target, text)
    target.write_text(text, encoding="utf-8")
    assert not generated.stale(target, text)
    assert generated.stale(target, text.replace("log.py", "lag.py"))


@pytest.mark.parametrize(
    ("name", "text", "module"),
    [
        ("bad_format.py", "x=1\n", "format"),
        ("bad_names.py", "print(absent)\n", "check"),
    ],
)
def test_ruff_finds_a_planted_mistake(tmp_path, name, text, module):
    path = plant(tmp_path, text, name)
    check = ["--check"] if module == "format" else []
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    assert lint.python("ruff", module, *check, *config, str(path))


def test_spelling_mistakes_are_found(tmp_path):
    path = plant(tmp_path, "# t" + "eh board\n")
    assert lint.python("codespell_lib", str(path))


def test_the_exit_status_tells(monkeypatch, capsys):
    monkeypatch.setattr(lint, "STEPS", [("good", list), ("bad", lambda: ["row"])])
    assert lint.main() == 1
    assert "lint: 1 of 2 checks passed" in capsys.readouterr().out
    monkeypatch.setattr(lint, "STEPS", [("good", list)])
    assert lint.main() == 0


def test_a_circle_is_found_also_through_relative_imports(tmp_path):
    (tmp_path / "one.py").write_text("from . import two\n")
    (tmp_path / "two.py").write_text("def f():\n    from .one import x\n    return x\n")
    (tmp_path / "three.py").write_text("from own.one import x\n")
    found = list(check_imports.circles(check_imports.modules(tmp_path, "own")))
    assert found == ["circle of imports: own.one, own.two"]


def test_the_host_packages_import_in_one_order_only(tmp_path):
    for package, text in {
        "tenner_sim": "from tenner_host import x\nfrom tests import bench\n",
        "tenner_host": "def f():\n    import tenner_sim.vboard\nload('tenner_sim.command')\n",
    }.items():
        folder = tmp_path / "host_tools" / package
        folder.mkdir(parents=True)
        (folder / "x.py").write_text(text)
        (folder / "cli.py").write_text("COMMAND = 'tenner_sim.command'\n")
    assert check_imports.check(tmp_path, tmp_path) == [
        "tenner_host.x:2 imports tenner_sim.vboard, which is above it",
        "tenner_host.x:3 imports tenner_sim.command, which is above it",
        "tenner_sim.x:2 imports tests, which is above it",
    ]


def test_each_package_of_the_host_is_checked_for_circles(tmp_path):
    for package in ("tenner_host", "tenner_sim"):
        own = tmp_path / "host_tools" / package / "own"
        own.mkdir(parents=True)
        (own / "one.py").write_text(f"import {package}.own.two\n")
        (own / "two.py").write_text("def f():\n    from . import one\n")
    assert check_imports.check(tmp_path / "none", tmp_path) == [
        f"circle of imports: {package}.own.one, {package}.own.two"
        for package in ("tenner_host", "tenner_sim")
    ]


def test_packages_have_an_order_and_their_programs_are_above_it(tmp_path):
    for path, text in {
        "link/line.py": "",
        "link/table.py": "from tenner_host.copy import run\n",
        "copy/run.py": "from tenner_host.link import line\n",
        "copy/command.py": "from tenner_host.link import table\n",
        "link/command.py": "from tenner_host.copy import command, run\n",
    }.items():
        file = tmp_path / "host_tools" / "tenner_host" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert check_imports.check(tmp_path / "none", tmp_path) == [
        "circle of packages: tenner_host.copy, tenner_host.link "
        "(tenner_host.copy.run -> tenner_host.link.line, tenner_host.link.table -> "
        "tenner_host.copy.run)"
    ]
    (tmp_path / "host_tools" / "tenner_host" / "link" / "table.py").write_text("")
    assert check_imports.check(tmp_path / "none", tmp_path) == []


def test_scripts_stand_above_the_simulator_and_below_the_tests(tmp_path):
    for package, text in {
        "host_tools/tenner_sim": "import scripts.lint\n",
        "scripts": "from tenner_sim import demo\nfrom tests import bench\n",
    }.items():
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "x.py").write_text(text)
    assert check_imports.check(tmp_path / "none", tmp_path) == [
        "scripts.x:2 imports tests, which is above it",
        "tenner_sim.x:1 imports scripts.lint, which is above it",
    ]

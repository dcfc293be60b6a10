"""The linker on a toy program that is not the agent's (tests/host/linker_toy), run on MicroPython
as source and linked."""

import shutil
import subprocess
from pathlib import Path

import pytest

from mpy_linker.__main__ import main
from tenner_host import interpreters

TOY = Path(__file__).parent / "linker_toy"
INTERPRETERS = ("micropython", "micropython32")
PRINTED = """\
5 values
mean 22.5 C, spread 4.0
0 values
no value above 0.0 C
"""


@pytest.fixture
def toy(tmp_path):
    """A copy of the program that a test may change."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


def link(folder, *arguments):
    return main([str(folder / "layout.toml"), *arguments])


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def run(folder, name="micropython", code="from toy.app import main; main()"):
    interpreter = getattr(interpreters, f"find_{name}")()
    done = subprocess.run(
        interpreter.command("-c", code), cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def steps(printed):
    """The output of the program, and that of its loader."""
    lines = printed.splitlines(keepends=True)
    own = "".join(line for line in lines if not line.startswith("  "))
    return own, [line.strip() for line in lines if line.startswith("  ")]


@pytest.mark.parametrize("name", INTERPRETERS)
def test_a_linked_program_prints_the_same(toy, tmp_path, name):
    assert link(toy, "--output", str(tmp_path / "out")) == 0
    assert run(toy, name) == PRINTED
    shutil.rmtree(toy)
    assert steps(run(tmp_path / "out", name))[0] == PRINTED
    assert not list((tmp_path / "out" / "toy").glob("*.py"))


@pytest.mark.parametrize("name", INTERPRETERS)
def test_an_overlay_is_there_when_it_is_used_and_gone_after_its_phase(toy, tmp_path, name):
    link(toy, "--output", str(tmp_path))
    assert steps(run(tmp_path, name))[1] == [
        "load sensor_1",
        "load units_1",  # stays in all phases
        "evict sensor_1",
        "load report_1",
        "evict report_1",
        "load sensor_1",
        "evict sensor_1",
        "load report_1",
        "load report_cold",
        "evict report_1",
        "evict report_cold",
    ]


#: The bytes that the second and the tenth run of the program leave.
LEFT = """
import gc
from toy.app import main
left = []
for _ in range(10):
    main()
    gc.collect()
    left.append(gc.mem_alloc())
print("left", left[1], left[-1])
"""


@pytest.mark.parametrize("name", INTERPRETERS)
def test_the_memory_of_an_evicted_overlay_is_free(toy, tmp_path, name):
    link(toy, "--output", str(tmp_path))
    printed = run(tmp_path, name, LEFT).splitlines()
    assert "  evict report_cold" in printed
    second, tenth = map(int, printed[-1].split()[1:])
    assert abs(tenth - second) < 300, "less than one overlay"


def test_a_symbol_that_the_layout_does_not_know_is_cold_and_works(toy, tmp_path, capsys):
    change(toy / "layout.json", '"toy.stats: mean spread"', '"toy.stats: mean"')
    assert link(toy, "--output", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "stats_cold" in said and "report_cold" in said
    assert "cold" not in said[said.index("phase") :], "it stays in no phase"
    own, loads = steps(run(tmp_path))
    assert own == PRINTED
    assert loads[3:7] == ["load report_1", "load stats_cold", "evict report_1", "evict stats_cold"]


def test_without_a_layout_all_code_is_cold_and_works(toy, tmp_path):
    (toy / "layout.json").unlink()
    assert link(toy, "--output", str(tmp_path / "out")) == 0
    own, loads = steps(run(tmp_path / "out"))
    assert own == PRINTED
    assert loads[:4] == ["load sensor_cold", "load units_cold", "evict sensor_cold"] + [
        "evict units_cold"
    ]


def test_a_stale_layout_names_the_symbol_that_is_gone(toy, capsys):
    change(toy / "layout.json", "toy.stats: mean spread", "toy.stats: mean spread median")
    assert link(toy) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "mpy_linker: layout.json: the layout has symbols that are gone (toy.stats:median, 1 in "
        "all)\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("    return raw", "    return gone", "toy/units.py:7: gone is not defined"),
        ('"""Steps', 'from math import *\n"""Steps', "toy/units.py:1: `import *` hides"),
        (
            "    return raw",
            "    from toy import stats\n    stats.mean = None\n    return raw",
            "toy/units.py:8: toy.stats.mean is changed from outside its module",
        ),
        (
            "STEPS = 16",
            "from toy import stats\nSTEPS = 16\nprint(stats.mean)",
            "toy/units.py:5: toy.units (overlay units_1) needs toy.stats.mean (overlay report_1) "
            "while it is imported, and units_1 stays in phase IDLE without report_1",
        ),
        (
            "    return raw",
            "    from toy import overlay\n    overlay.run(raw, celsius)\n    return raw",
            "toy/units.py:8: write the name of the phase into the call",
        ),
        (
            "    return raw",
            "    from toy import overlay\n    overlay.run('LUNCH', celsius)\n    return raw",
            "toy/units.py:8: the rules have no phase LUNCH",
        ),
        ("def celsius", "def def", "toy/units.py does not compile: line 6"),
    ],
)
def test_code_that_cannot_be_linked_is_named_by_file_and_line(toy, capsys, old, new, sentence):
    change(toy / "toy" / "units.py", old, new)
    assert link(toy) == 1
    assert capsys.readouterr().err.startswith(f"mpy_linker: {sentence}")


def test_the_uses_of_other_overlays_have_file_and_line(toy, capsys):
    assert link(toy, "report_1", "sensor_1") == 0
    assert capsys.readouterr().out.splitlines() == [
        "toy/sensor.py:7: sensor_1 -> units_1: toy.units.celsius",
        "toy/report.py:8: report_1 -> report_cold: toy.report.apology",
    ]
    assert link(toy, "report_2") == 1
    assert capsys.readouterr().err == "mpy_linker: there is no overlay report_2\n"


def test_the_linker_knows_no_program():
    folder = Path(main.__code__.co_filename).parent
    for path in [*folder.glob("*.py")]:
        assert "tenner" not in path.read_text(encoding="utf-8").lower(), path

"""A traceback of a board says file, line and function of the source."""

import pytest

from mpy_linker import CORE, bundle
from tenner_host import interpreters
from tenner_host import overlay_maps as kept_maps
from tenner_host.overlay_maps import translate, translator
from tests.host.overlays_support import MAIN, package, run, table, write

MODULES = {
    "app": (
        "from tenner import work\n\n\ndef main():\n    '''Text.'''\n    work.begin(\n        5,\n"
        "    )\n"
    ),
    "work": "# a comment\n\n\nclass Worker:\n    def __init__(self):\n        self.amount = 1\n\n"
    "    def carry(self, depth):\n        if depth:\n            return self.carry(depth - 1)\n"
    "        elif depth is None:\n            pass\n        try:\n            {}[1]\n"
    "        except KeyError:\n            return [one.missing_name for one in (self,)]\n\n\n"
    "def begin(depth):\n    return Worker().carry(depth - 4)\n",
    "other": "class Other:\n    def f(self, one):\n        one.missing_name = 1\n",
}
EXPECTED = """Traceback (most recent call last):
  File "main.py", line 2, in <module>
  File "tenner/app.py", line 6, in main
  File "tenner/work.py", line 20, in begin
  File "tenner/work.py", line 9-10, in Worker.carry
  File "tenner/work.py", line 15-16, in Worker.carry
  File "tenner/work.py", line 15-16, in Worker.carry.<listcomp>
AttributeError: 'Worker' object has no attribute 'missing_name'
"""


def built(tmp_path, is_packed=False):
    names = table({CORE: ["app"], "two": ["work", "other"]})
    made = bundle(
        package(MODULES),
        names,
        scripts={"main.py": MAIN},
        build="0123456789ab",
        is_packed=is_packed,
    )
    write(made, tmp_path / "board")
    kept_maps.save("0123456789ab", made.map.as_json(), tmp_path / "maps")
    return made


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_traceback_of_a_board_says_where_in_the_source(tmp_path, is_packed):
    made = built(tmp_path, is_packed)
    for interpreter in (interpreters.find_micropython(), interpreters.find_micropython32()):
        printed = run(tmp_path / "board", interpreter)
        assert "missing_name" not in printed
        assert ('File "two"' in printed) is not is_packed
        assert "KeyError" not in printed.splitlines()[-1]
        lines = translator(folders=[tmp_path / "maps"])
        assert lines.text(printed) == EXPECTED
    assert made.map.attributes


def test_lines_of_a_log_keep_what_stands_before_them(tmp_path):
    made = built(tmp_path)
    at = made.map.files["two"].index(("tenner/work.py", 20, 20, "begin")) + 1
    found = translator(folders=[tmp_path / "maps"])
    line = f'   +3.1s app         File "two", line {at}, in zip'
    expected = '   +3.1s app         File "tenner/work.py", line 20, in begin'
    assert found.line(line) == expected
    for frozen in ("tenner/two/o.py", "agent/tenner/two/o.py"):
        assert found.line(line.replace('"two"', f'"{frozen}"')) == expected
    for text in (
        'File "asyncio/core.py", line 1, in run_until_complete',
        'File "two", line 99999, in zip',
        'File "three", line 2, in zip',
        "an answer with the word attribute 'get' in it",
    ):
        assert found.line(text) == text


def test_the_board_says_which_build_it_has(tmp_path):
    made = built(tmp_path)
    other = made.map.as_json() | {"files": {"two": []}}
    kept_maps.save("ba9876543210", other, tmp_path / "maps")
    found = translator("ba9876543210", folders=[tmp_path / "maps"])
    frame = '  File "two", line 5, in zip'
    assert found.line(frame) == frame
    found.line("   +0.0s boot      build 0123456789ab")
    assert "tenner/" in found.line(frame)
    found.line("   +0.0s boot      build 000000000000")
    assert found.line(frame) == frame


def test_without_a_map_nothing_changes(tmp_path):
    text = "  File \"two\", line 12, in zip\nAttributeError: no attribute 'x'"
    assert translator(folders=[tmp_path]).text(text) == text
    assert translate(text, "000000000000") == text


def test_only_the_newest_maps_are_kept(tmp_path):
    for number in range(kept_maps.KEPT + 3):
        kept_maps.save("%012x" % number, {}, tmp_path)
    assert len(list(tmp_path.iterdir())) == kept_maps.KEPT


def test_the_tree_of_a_board_names_its_build():
    tree = {"/lib/tenner/__init__.py": b'__version__ = "1"\n__build__ = "0123456789ab"\n'}
    assert kept_maps.build_of(tree) == "0123456789ab"
    assert kept_maps.build_of({}) is None

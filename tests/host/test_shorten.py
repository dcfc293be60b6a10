"""Short private names change nothing but names."""

import pytest

from host_tools.build import FIRMWARE
from host_tools.shorten.private import inheritance_levels, shorten_private
from host_tools.shorten.syntax import ShortenError

SOURCE = b"""
from x import y
_LIMIT = 5


class Box:
    def __init__(self, size):
        self._size = size
        self.size = "_size"

    def _grow(self, _a, by=_LIMIT):
        self._size += by  # _size grows
        return self._size


def open_box():
    return Box(1)._grow(0)
"""


def test_private_names_become_short_and_everything_else_stays():
    short = shorten_private(SOURCE, "box.py").decode()
    assert short.count("\n") == SOURCE.count(b"\n")
    for kept in ("__init__", 'self.size = "_size"', "# _size grows", "def open_box", "_a,", "by="):
        assert kept in short
    assert "_LIMIT" not in short
    assert "self._size" not in short
    assert "_grow" not in short
    names: dict = {}
    exec(short.replace("from x import y", ""), names)
    assert names["open_box"]() == 6


def test_a_name_that_is_taken_is_not_given_away():
    assert b"self._b = self._a" in shorten_private(
        b"class A:\n    def f(self):\n        self._long = self._a\n", "a.py"
    )


def test_a_class_and_its_base_in_another_module_never_share_a_short_name():
    sources = {
        "base.py": b"class Base:\n    def _read(self):\n        return 1\n",
        "middle.py": b"class Middle(base.Base):\n    def _fill(self):\n        return 2\n",
        "top.py": b"class Top(Middle, OSError):\n    def _save(self):\n        return 3\n",
        "other.py": b"class Other(OSError):\n    pass\n",
    }
    levels = inheritance_levels(sources)
    assert levels == {"base.py": 0, "middle.py": 1, "top.py": 2, "other.py": 0}
    short = [shorten_private(sources[name], name, levels[name]) for name in sources]
    assert [b"_a(" in text for text in short] == [True, False, False, False]
    assert b"_a1(" in short[1]
    assert b"_a2(" in short[2]


def test_an_f_string_is_refused_because_it_may_hide_a_name():
    with pytest.raises(ShortenError, match=r"a\.py:1: "):
        shorten_private(b'x = f"{_name}"\n', "a.py")


def test_no_module_reaches_into_another_ones_private_names():
    """The premise: a private name is used only in the file that defines it."""
    for path in sorted((FIRMWARE / "tenner").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines():
            if (
                line.lstrip().startswith("from tenner")
                and " import _" in line
                and "import __" not in line
            ):
                raise AssertionError(f"{path}: {line.strip()}")
            assert 'getattr(self, "_' not in line, path

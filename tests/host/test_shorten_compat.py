"""Names that only CPython needs a detour for come straight from MicroPython on a board."""

import pytest

from host_tools.build import FIRMWARE
from host_tools.shorten import ShortenError, shortened
from host_tools.shorten.compat import native_homes, without_compat

HOMES = {"ticks_ms": "time", "ticks_diff": "time", "sleep_ms": "asyncio", "const": "micropython"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("from tenner.port.compat import const\n_A = const(1)\n", "pass\n_A = const(1)\n"),
        (
            "from tenner.port.compat import (\n    const,\n    ticks_ms,\n)\n_A = const(1)\n",
            "from time import ticks_ms\n\n\n\n_A = const(1)\n",
        ),
        (
            "def f():\n    from tenner.port.compat import sleep_ms, ticks_diff, ticks_ms\n",
            "def f():\n    from asyncio import sleep_ms; from time import ticks_diff, ticks_ms\n",
        ),
        # The compiler folds an assignment only.
        (
            "from tenner.port.compat import const\nprint(const(1))\n",
            "from micropython import const\nprint(const(1))\n",
        ),
        (
            "from tenner.port.compat import const\n_A = [const(1)]\n",
            "from micropython import const\n_A = [const(1)]\n",
        ),
        ("from tenner.port.compat import new\n", "from tenner.port.compat import new\n"),
        ("from tenner.port.package import x\n", "from tenner.port.package import x\n"),
    ],
)
def test_names_come_from_where_they_are(text, left):
    assert without_compat(text.encode(), "a.py", HOMES).decode() == left


def test_the_homes_are_those_of_the_module_itself():
    homes = native_homes((FIRMWARE / "tenner" / "port" / "compat.py").read_bytes())
    assert HOMES.items() <= homes.items()


def test_what_does_not_compile_is_told_with_its_place():
    with pytest.raises(ShortenError, match=r"tenner/a\.py does not compile: line 2"):
        shortened({"tenner/a.py": b"x = 1\nif:\n"}, {})

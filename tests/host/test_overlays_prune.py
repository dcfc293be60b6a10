"""A build contains no unused names."""

import pytest

from mpy_linker import bundle
from tests.host.overlays_support import MAIN, both, package, table

APP = """
from collections import namedtuple
from micropython import const
from tenner import helpers
_DEBUG = False
_ON = const(1)
Pair = namedtuple("Pair", "a b")
Unused = namedtuple("Unused", "a b")
state = {}
noise = print("made")
def used(): return helpers.deep(), Pair(1, 2)
def unused(): return unused_too()
def unused_too(): return unused(), state, helpers.gone()
def main():
    if _DEBUG:
        report()
    if not _DEBUG and _ON or report():
        print("on")
    else:
        print("never", report())
    if _DEBUG and report():
        print("never")
    while _DEBUG:
        pass
    print(used())
def report(): print("never")
"""
HELPERS = "def deep(): return deeper()\ndef deeper(): return 5\ndef gone(): return 6\n"


def test_what_nobody_reaches_is_left_out(tmp_path):
    modules = {"app": APP, "helpers": HELPERS}
    names = table({"core": list(modules)})
    built = bundle(package(modules), names, scripts={"main.py": MAIN}, minify=False)
    text = built.files["app"].text
    for gone in ("unused", "Unused", "state =", "gone", "never", "report", "_DEBUG"):
        assert gone not in text, gone
    for kept in ("deeper", "Pair", "made"):
        assert kept in text
    assert {"tenner.app.unused", "tenner.app.report", "tenner.helpers.gone"} <= set(built.dead)
    assert both(tmp_path, modules) == "made\non\n(5, Pair(a=1, b=2))\n"


@pytest.mark.parametrize("how", ["getattr(helpers, 'deep')()", "[helpers][0].deep()"])
def test_what_is_looked_up_in_a_module_as_a_value_stays(tmp_path, how):
    modules = {
        "app": f"from tenner import helpers\ndef main(): print({how})\n",
        "helpers": HELPERS,
    }
    assert both(tmp_path, modules) == "5\n"


def test_types_and_their_imports_are_left_out(tmp_path):
    typed = (
        "from tenner import helpers\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n"
        "    from collections.abc import Callable\n    from tenner.absent import Absent\n"
        "    Sink = Callable[[int], None]\n"
        "class Box:\n    size: int\n    sink: 'Sink | None' = None\n"
        "def main(box: 'Absent | None' = None, *rest: int) -> None:\n"
        "    number: int = helpers.deep()\n    print(number, Box.sink, box, rest)\n"
    )
    plain = (
        "from tenner import helpers\nclass Box:\n    sink = None\ndef main(box=None, *rest):\n"
        "    number = helpers.deep()\n    print(number, Box.sink, box, rest)\n"
    )
    texts = []
    for source in (typed, plain):
        files = package({"app": source, "helpers": HELPERS})
        names = table({"core": ["app", "helpers"]})
        texts.append(bundle(files, names, scripts={"main.py": MAIN}).files["app"].text)
    assert texts[0] == texts[1]
    assert both(tmp_path, {"app": typed, "helpers": HELPERS}) == "5 None None ()\n"

"""A build contains no unused names."""

import pytest

from tenner_host.overlays import bundle
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

"""firmware/layout.toml, and sentences about mistakes in it."""

import pytest

from mpy_linker import CORE, OverlayError, Table, bundle, read_table
from tests.host.overlays_support import NAMES, package, table

PROGRAM = """
[program]
core = "tenner.app"
runtime = "tenner.overlay"
loader = "tenner.overlay_loader"
"""
TEXT = f"""{PROGRAM}
[core]
modules = ["tenner.app", "tenner.overlay"]
classes = ["tenner.errors"]
[phases]
IDLE = "nothing"
WORK = "something"
[packs]
page = ["tenner.page"]
[dynamic]
"tenner.tools" = "run"
[api]
modules = ["tenner.log"]
[linux]
modules = ["tenner.port.linux.*", "tenner.cli"]
"""


def read(tmp_path, text):
    path = tmp_path / "layout.toml"
    path.write_text(text)
    return read_table(path)


def test_the_rules_are_read(tmp_path):
    found = read(tmp_path, TEXT)
    assert found.overlays == {CORE: ["tenner.app", "tenner.overlay", "tenner.errors:*"]}
    assert found.phases == {"IDLE": [], "WORK": []}
    assert found.looked_up("tenner.tools.i2c", {"run", "NEEDS"}) == ["run"]
    assert found.looked_up("tenner.tools.errors", {"ToolError"}) == []
    assert found.looked_up("tenner.tools", {"run"}) == []
    assert found.api == ["tenner.log"]
    assert (found.pack_of("tenner.page"), found.pack_of("tenner.page.now")) == ("page", "page")
    assert found.pack_of("tenner.pages") == ""


def test_what_an_overlay_may_need():
    found = Table(
        {CORE: [], "one": [], "two": []}, {"IDLE": ["two"], "WORK": ["one", "two"]}, names=NAMES
    )
    assert found.may_need("one", "two")
    assert not found.may_need("two", "one")
    assert found.leaving_phase("two", "one") == "IDLE"
    assert found.may_need("one", CORE)
    assert not found.may_need(CORE, "two")


def test_what_only_linux_needs(tmp_path):
    found = read(tmp_path, TEXT)
    for name in ("tenner.cli", "tenner.port.linux", "tenner.port.linux.spi"):
        assert found.is_linux_only(name)
    for name in ("tenner.client", "tenner.cli.x", "tenner.port", "tenner.port.linuxes"):
        assert not found.is_linux_only(name)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("[core]", "[kernel]"), r"\[kernel\] is unknown"),
        (("[api]", "[apis]"), r"\[apis\] is unknown"),
        (("[program]", "[api2]"), r"\[api2\] is unknown"),
        ((PROGRAM, ""), r"has no \[program\]"),
        (('core = "tenner.app"', 'main = "tenner.app"'), r"\[program\]: core names no module"),
        (('core = "tenner.app"', 'core = "tenner.app"\nx = "y"'), r"\[program\]: x is unknown"),
        (("[api]", '[room]\nSPARE = "much"\n[api]'), r"\[room\] is not a table of bytes"),
        (('["tenner.errors"]', "5"), r"\[core\] classes is not a list"),
        (('["tenner.errors"]', "[5]"), "5 is not a name"),
        (("[phases]", "[phases"), "layout.toml: "),
    ],
)
def test_mistakes_are_sentences(tmp_path, change, sentence):
    with pytest.raises(OverlayError, match=sentence):
        read(tmp_path, TEXT.replace(*change))


def build(modules, overlays, **rest):
    return bundle(package(modules), table(overlays, **rest))


APP = "def main(): pass\n"


@pytest.mark.parametrize(
    ("modules", "overlays", "sentence"),
    [
        ({}, {"core": ["app", "gone"]}, "overlay core has tenner.gone, which does not exist"),
        (
            {"a": "class A: pass\n", "b": "from tenner import a\nclass B(a.A): pass\n"},
            {"core": ["app", "b"], "one": ["a"]},
            (
                r"tenner/b.py:2: tenner.b \(overlay core\) needs tenner.a.A \(overlay one\) "
                r"while it is imported"
            ),
        ),
        (
            {"a": "x = []\n", "b": "from tenner.a import x\ndef f(y=x): pass\n"},
            {"core": ["app"], "one": ["a"], "two": ["b"]},
            "two stays in phase ONLY without one",
        ),
        (
            {
                "a": "from tenner import b\nclass A: x = b.x\ny = [1]\n",
                "b": "from tenner.a import y\nx = y\n",
            },
            {"core": ["app", "a", "b"]},
            "imports it in a circle",
        ),
        (
            {"a": "from tenner.b import x\ny = [x]\n", "b": "from tenner.c import z\nx = [z]\n"}
            | {"c": "z = []\n"},
            {"core": ["app"], "one": ["a", "c"], "two": ["b"]},
            "one -> two -> one",
        ),
        ({"a": "from tenner import b\n"}, {"core": ["app", "a"]}, "tenner has no b"),
        ({"a": "def f(): return gone\n"}, {"core": ["app", "a"]}, "a.py:1: gone is not defined"),
        ({"a": "from os import *\n"}, {"core": ["app", "a"]}, "hides the origin of names"),
        (
            {"a": "x = []\n", "b": "from tenner import a\ndef f(): a.x = 5\nf\n"},
            {"core": ["app", "a", "b"]},
            "tenner.a.x is changed from outside",
        ),
        (
            {
                "a": "x = 1\ndef f():\n    global x\n    x = 2\n",
                "b": "from tenner import a\ndef f(m): return [a], m.x\n",
            },
            {"core": ["app", "a", "b"]},
            "x changes, and tenner.a is used as a value",
        ),
        (
            {"a": "from tenner import overlay\ndef f(): overlay.run('LUNCH', f)\n"},
            {"core": ["app", "a"]},
            "a.py:2: the rules have no phase LUNCH",
        ),
        (
            {"a": "from tenner import overlay\ndef f(): overlay.run('IDLE' if f else 'TEA', f)\n"},
            {"core": ["app", "a"]},
            "a.py:2: the rules have no phase TEA",
        ),
        (
            {"a": "from tenner import overlay\ndef f(n): overlay.run(n, f)\n"},
            {"core": ["app", "a"]},
            "a.py:2: write the name of the phase into the call",
        ),
        ({"a": "x = (\n"}, {"core": ["app", "a"]}, "tenner/a.py does not compile: line 1"),
    ],
)
def test_what_cannot_be_merged_is_a_sentence(modules, overlays, sentence):
    phases = {"IDLE": [], "ALL": [name for name in overlays if name != "core"]}
    if "ONLY" in sentence:
        phases["ONLY"] = ["two"]
    with pytest.raises(OverlayError, match=sentence):
        build({"app": APP, **modules}, overlays, phases=phases)


def test_a_module_that_no_overlay_lists_is_one_by_itself():
    modules = {"app": APP, "x.a": "def f(): return 1\n", "a": "def f(): return 2\n"}
    names = table({"core": ["app"]}, phases={"IDLE": [], "STAYS": ["x_a"]})
    built = bundle(package(modules), names)
    assert names.overlays["a"] == ["tenner.a"] and names.overlays["x_a"] == ["tenner.x.a"]
    assert set(built.files) == {"app", "a", "x_a"}


def test_such_an_overlay_has_a_name_of_its_own():
    with pytest.raises(OverlayError, match="list tenner.a in an overlay of another name"):
        build({"app": APP, "a": "x = []\n", "b": "x = []\n"}, {"core": ["app"], "a": ["b"]})


def test_so_is_the_rest_of_one_whose_pieces_are_listed():
    names = table({"core": ["app", "a: f"]})
    bundle(package({"app": APP, "a": "def f(): return g()\ndef g(): return 1\n"}), names)
    assert names.overlays["a"] == ["tenner.a"]


def test_an_empty_module_needs_no_place():
    build({"app": APP, "a": "# only a comment\n"}, {"core": ["app"]})


def test_a_table_by_itself_is_checked():
    with pytest.raises(OverlayError, match="no overlay 'core'"):
        Table({}, names=NAMES)

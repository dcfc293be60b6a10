"""firmware/overlays.toml, and sentences about mistakes in it."""

import pytest

from tenner_host.overlays import CORE, OverlayError, Table, bundle, read_table
from tests.host.overlays_support import package, table

TEXT = """
[overlays]
core = ["tenner.app", "tenner.overlay"]
one = ["tenner.one"]
two = ["tenner.two"]
[phases]
IDLE = []
WORK = ["one"]
"*" = ["two"]
[dynamic]
"tenner.tools" = "run"
[api]
modules = ["tenner.log"]
[linux]
modules = ["tenner.port.linux.*", "tenner.cli"]
"""


def read(tmp_path, text):
    path = tmp_path / "overlays.toml"
    path.write_text(text)
    return read_table(path)


def test_a_table_is_read(tmp_path):
    found = read(tmp_path, TEXT)
    assert found.overlay_of("tenner.one") == "one"
    assert found.phases == {"IDLE": ["two"], "WORK": ["one", "two"]}
    assert found.looked_up("tenner.tools.i2c", {"run", "NEEDS"}) == ["run"]
    assert found.looked_up("tenner.tools.errors", {"ToolError"}) == []
    assert found.looked_up("tenner.tools", {"run"}) == []
    assert found.api == ["tenner.log"]
    assert found.may_need("one", "two")
    assert not found.may_need("two", "one")
    assert found.may_need("one", CORE)
    assert not found.may_need(CORE, "two")


GROUPS = TEXT.replace("[dynamic]", '[carry]\nWORK = ["one"]\n"*" = ["two"]\n[dynamic]')


def test_phases_list_groups_of_overlays(tmp_path):
    text = GROUPS.replace("[phases]", '[groups]\nall = ["one", "two"]\n[phases]\nREST = ["all"]')
    found = read(tmp_path, text)
    assert found.phases["REST"] == ["one", "two"]
    assert found.carry == {"IDLE": ["two"], "WORK": ["one", "two"], "REST": ["two"]}


def test_overlays_stay_in_a_phase_that_code_does_not_enter(tmp_path):
    text = GROUPS.replace("[carry]", '[stay]\nSPARE = ["one"]\nROOMY = ["SPARE", "two"]\n[carry]')
    found = read(tmp_path, text)
    assert found.phases["SPARE"] == found.phases["ROOMY"] == ["one", "two"]
    assert found.carry["SPARE"] == ["one"]
    assert found.carry["ROOMY"] == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ('WORK = ["one"]\n"*" = ["two"]\n[d', 'WORKS = []\n"*" = ["two"]\n[d'),
            "WORKS cannot carry 'two'",
        ),
        (("[carry]", '[groups]\none = ["two"]\n[carry]'), r"\[groups\]: one has another meaning"),
        (("[carry]", "[stay]\ntwo = []\n[carry]"), r"\[stay\]: two has another meaning"),
        (("[carry]", '[stay]\nSPARE = ["on"]\n[carry]'), "phase SPARE names no overlay: 'on'"),
    ],
)
def test_mistakes_in_groups_are_sentences(tmp_path, change, sentence):
    with pytest.raises(OverlayError, match=sentence):
        read(tmp_path, GROUPS.replace(*change))


def test_what_only_linux_needs(tmp_path):
    found = read(tmp_path, TEXT)
    for name in ("tenner.cli", "tenner.port.linux", "tenner.port.linux.spi"):
        assert found.is_linux_only(name)
    for name in ("tenner.client", "tenner.cli.x", "tenner.port", "tenner.port.linuxes"):
        assert not found.is_linux_only(name)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("core =", "kernel ="), "no overlay 'core'"),
        (('"tenner.two"', '"tenner.one"'), "tenner.one is in one and in two"),
        (('WORK = ["one"]', 'WORK = ["on"]'), "phase WORK names no overlay: 'on'"),
        (("[api]", "[apis]"), r"\[apis\] is unknown"),
        (('"*" = ["two"]', '"*" = 5'), r"\[phases\] \* is not a list"),
        (('"*" = ["two"]', '"*" = [5]'), "5 is not a name"),
        (("[phases]", "[phases"), "overlays.toml: "),
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
        ({"a": "", "b": "x = []\n"}, {"core": ["app"]}, "tenner.b in no overlay"),
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
            "phase ONLY may hold two without one",
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
            "a.py:2: overlays.toml has no phase LUNCH",
        ),
        (
            {"a": "from tenner import overlay\ndef f(): overlay.run('IDLE' if f else 'TEA', f)\n"},
            {"core": ["app", "a"]},
            "a.py:2: overlays.toml has no phase TEA",
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


def test_an_empty_module_needs_no_place():
    build({"app": APP, "a": "# only a comment\n"}, {"core": ["app"]})


def test_a_table_by_itself_is_checked():
    with pytest.raises(OverlayError, match="no overlay 'core'"):
        Table({})

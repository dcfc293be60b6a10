"""Comprehensions and lambdas have a name of one byte in compiled modules, and work as before."""

import subprocess

from host_tools.build import compile_module
from host_tools.interpreters import find_micropython
from host_tools.shorten.scopes import with_short_scopes

# Names of all kinds stand in the table: long, short, and those the format has a number for.
SOURCE = b"""
def f(_, append, a_name_of_which_there_is_but_one):
    print([x for x in _], {x: 1 for x in _}, list(x for x in _), (lambda: append)())
    return [x / 0 for x in a_name_of_which_there_is_but_one]
f("a", "b", "c")
"""


def test_only_the_names_change(tmp_path):
    plain = compile_module(SOURCE, "m.py", cache_folder=tmp_path)
    short = with_short_scopes(plain)
    for name in (b"<listcomp>", b"<dictcomp>", b"<genexpr>", b"<lambda>"):
        assert name in plain
        assert name not in short
    assert with_short_scopes(short) == short
    # Each entry: one byte for its length, the text, a zero; and one byte instead.
    assert (
        len(plain) - len(short)
        == sum(map(len, ("listcomp", "dictcomp", "genexpr", "lambda"))) + 12
    )
    (tmp_path / "m.mpy").write_bytes(short)
    done = subprocess.run(
        find_micropython().command("-c", "import m"),
        cwd=tmp_path,
        env={"MICROPYPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    printed, *trace = done.stdout.splitlines()
    assert printed == "['a'] {'a': 1} ['a'] b"
    assert trace[-3:-1] == ['  File "m.py", line 4, in f', '  File "m.py", line 4, in _']

"""Long texts of the code stay on flash, and lines of code are few."""

import ast

from mpy_linker import CORE, bundle
from mpy_linker.emit import joined
from mpy_linker.scopes import resolve
from mpy_linker.source import Module
from mpy_linker.texts import TEXTS, pool
from tests.host.overlays_support import MAIN, both, package, table

APP = """
import asyncio
from tenner import overlay
from tenner.work import work

async def steps():
    for number in range(3):
        print(await overlay.run("ALL", work, number))

def main():
    overlay.configure(True)
    asyncio.run(steps())
"""
WORK = """
KEPT = "a text of the module itself"

async def work(number):
    try:
        check(number)
    except ValueError as error:
        return "failed as it should have: %s" % error
    return "; ".join([KEPT, "a word each time", "Überraschung aus dem Süden", "short one", '{"of": "a program"}'])

def check(number, default="this stays where it is"):
    def told():
        return "the number %d is too large for this" % number
    if number > 1:
        raise ValueError(told())
    if number:
        raise ValueError("the number %d is far too large" % number)
"""  # noqa: E501
MODULES = {"app": APP, "work": WORK}
OVERLAYS = {CORE: ["app"], "two": ["work"]}


def test_long_texts_say_the_same_from_flash(tmp_path):
    printed = both(tmp_path, MODULES, OVERLAYS)
    assert "failed as it should have: the number 1 is far too large\n" in printed
    assert "failed as it should have: the number 2 is too large for this\n" in printed
    assert "Überraschung" in printed


def test_only_long_texts_of_words_in_functions_leave_the_code():
    made = bundle(package(MODULES), table(OVERLAYS), scripts={"main.py": MAIN}, is_packed=True)
    left = made.files["two"].text
    for text in ("failed as it should have: %s", "aus dem Süden", "too large for this"):
        assert text not in left
        assert text in made.texts.decode()
    for text in ("a word each time", "this stays", "a program"):
        assert text in left


def test_lines_are_joined_and_their_origins_with_them():
    tree = ast.parse("")
    module = Module("tenner.x", "tenner/x.py", tree, resolve(tree), False)
    text = """def f(a):
    if a:
        return 1
    b = 2
    c = 3
    d = 4
    e = 5

    while b:
        b -= 1
        if c:
            break
        else:
            c = 0
    return (a, b)
"""
    origins = [(module, number, number) for number in range(1, 16)]
    origins[3] = None
    short, found = joined(text, origins)
    assert short == (
        "def f(a):\n    if a:return 1\n    b = 2;c = 3;d = 4;e = 5\n    while b:\n"
        "        b -= 1\n        if c:break\n        else:c = 0\n    return (a, b)\n"
    )
    assert [one[1:] for one in found] == [
        (1, 1),
        (2, 3),
        (5, 7),
        (9, 9),
        (10, 10),
        (11, 12),
        (13, 14),
        (15, 15),
    ]


def test_a_class_attribute_does_not_hide_the_short_texts():
    source = f"""
class Named:
    {TEXTS} = None
    word = "short"

    def __init__(self, place="default"):
        self.place = place + "inside"
"""
    statements = ast.parse(source).body
    texts = pool(statements, set())
    made: dict[str, type] = {}
    exec(ast.unparse(ast.fix_missing_locations(ast.Module([texts, *statements], []))), made)
    assert made["Named"]().place == "defaultinside"
    assert made[TEXTS] == ("inside",)

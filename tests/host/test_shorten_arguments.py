"""Arguments get names that cost nothing, where nobody can tell."""

import pytest

from host_tools.build import FIRMWARE
from host_tools.shorten.arguments import CALLED_BY_OWNERS, IN_ROM, keywords, short_arguments


def short(text: str, name: str = "tenner/x.py", **others: str) -> str:
    """`text` with its arguments renamed, as a module of a package with `others`."""
    sources = {name: text.encode(), **{key: value.encode() for key, value in others.items()}}
    result = short_arguments(text.encode(), name, keywords(sources)).decode()
    assert result.count("\n") == text.count("\n")
    return result


def run(text: str, call: str) -> object:
    """The value of `call` after both versions of the module, which must agree."""
    values = []
    for source in (text, short(text)):
        names: dict[str, object] = {}
        exec(source, names)
        values.append(eval(call, names))
    assert values[0] == values[1]
    return values[1]


def test_arguments_are_named_by_place():
    text = """
class Box:
    def put(self, thing, place=0, *more, **rest):
        return thing + place  # thing
def take(thing, *, hard): return thing.thing if hard else "thing"
"""
    assert (
        short(text)
        == """
class Box:
    def put(_, args, append=0, *all, **any):
        return args + append  # thing
def take(_, *, hard): return _.thing if hard else "thing"
"""
    )
    assert run(text, "Box().put(2, 3)") == 5


def test_an_argument_that_is_given_by_keyword_keeps_its_name():
    assert short("def f(one, two): return one, two\n", other="f(1, two=2)\n") == (
        "def f(_, two): return _, two\n"
    )
    # Behind `**` there may be any name the module has as text.
    text = 'def f(one, two): return one\nMORE = {"two": 2}\nf(1, **MORE)\n'
    assert short(text).startswith("def f(_, two): return _\n")


def test_a_default_belongs_to_the_scope_outside():
    text = "size = 7\ndef f(size=size): return size\n"
    assert short(text) == "size = 7\ndef f(_=size): return _\n"
    assert run(text, "f()") == 7
    text = "def f(size):\n    def g(n=size): return n + size\n    return g\n"
    assert short(text) == "def f(_):\n    def g(args=_): return args + _\n    return g\n"
    assert run(text, "f(3)()") == 6


@pytest.mark.parametrize(
    "text",
    [
        # An inner function sees the outer one's argument, or has one of the same name.
        "def f(a, b):\n    def g(c):\n        def h(a): return a + b + c\n        return h(1)\n"
        "    return g(a)\n",
        "def f(a, b): return (lambda c: lambda a, d=b: (a, b, c, d))(5)(a)\n",
        "def f(a, b): return [a for a in range(b)], {b: a for b in (a,)}, list(x + b for x in (a,))\n",
        "def f(a, b):\n    b += a\n    for a in range(2): b += a\n    del a\n    return b\n",
        # Names that are taken already, of locals, builtins and globals.
        "args = 3\ndef f(a, b):\n    _ = 9\n    return args + a + b + _, all([a, b])\n",
        "def f(a, b):\n    x, _, y = a, b, 1\n    return x, _, y\n",
        "def f(a, b):\n    def g(_):\n        return _, a\n    return g(b)\n",
    ],
)
def test_who_sees_which_variable_does_not_change(text):
    run(text, "f(3, 4)")
    assert "f(a, b)" not in short(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    def g():\n        nonlocal a\n        a = 5\n    g()\n    return a\n",
        "a = 8\ndef f(a):\n    def g():\n        global a\n        a += 1\n        return a\n"
        "    return a, g()\n",
        "def f(a):\n    class C:\n        a = 2\n        b = a\n    return C.a, C.b, a\n",
        "def f(a):\n    import a\n    return a\n",
        "def f(a):\n    from b import c as a\n    return a\n",
        "def f(a):\n    try: pass\n    except OSError as a: return a\n    return a\n",
        "def f(a):\n    def a(): pass\n    return a\n",
        "def f(a):\n    class a: pass\n    return a\n",
        "def f(a): return locals()\n",
        "def f(a): return lambda: eval('a')\n",
        "def f(a): return f'{a}'\n",
    ],
)
def test_a_name_with_a_second_meaning_stays(text):
    assert short(text) == text


def test_what_tools_are_given_keeps_the_names_of_its_arguments():
    (home,) = [path for path in FIRMWARE.rglob("*.py") if "class Ctx:" in path.read_text()]
    assert home.relative_to(FIRMWARE).as_posix() in CALLED_BY_OWNERS


def test_functions_that_owners_call_keep_their_names():
    text = "def f(thing): return thing\n"
    assert short(text, "tenner/port/esp32.py") == text
    assert short(text, "tenner/net/http.py") != text


def test_more_arguments_than_names():
    names = ["n%d" % place for place in range(len(IN_ROM) + 2)]
    text = "def f(%s): return [%s]\n" % (", ".join(names), ", ".join(names))
    assert short(text).startswith("def f(_, args, append,")
    assert short(text).endswith("type, %s, %s]\n" % (names[-2], names[-1]))


def test_columns_count_bytes():
    text = 'def f(thing): return "°°°", thing\n'
    assert short(text) == 'def f(_): return "°°°", _\n'

"""Names become short, unless somebody outside knows them."""

import builtins
import re
import subprocess

import pytest

from mpy_linker import bundle
from mpy_linker.micropython_names import ARGUMENTS, ATTRIBUTES, NAMES, ROM, STATIC
from mpy_linker.plan import LENT, STAYS
from mpy_linker.texts import TEXTS
from tenner_host.interpreters import find_micropython, find_micropython32
from tests.host.overlays_support import MAIN, both, package, table

# Prints each attribute of each module, of their classes, and of the classes inside these.
EVERY_NAME = """
import sys
seen = set()
PLAIN = (int, float, str, bytes, tuple, list, dict, type(None))
def look(thing, depth):
    if id(thing) in seen or depth > 4 or depth and isinstance(thing, PLAIN):
        return
    seen.add(id(thing))
    for name in dir(thing):
        print(name)
        try:
            look(getattr(thing, name), depth + 1)
        except Exception:
            pass
for name in sys.argv[1].split():
    try:
        look(sys.modules.get(name) or __import__(name), 0)
    except ImportError:
        pass
for thing in (b"", bytearray(1), "", [], {}, set(), (), 1, 1.5, (n for n in ()), OSError(1)):
    look(thing, 0)
# `dir` knows none of a task's.
import asyncio
async def nothing():
    pass
task = asyncio.create_task(nothing())
for name in ("coro", "data", "state", "done", "cancel", "ph_key"):
    getattr(task, name)
    print(name)
"""
MODULES = """
builtins asyncio asyncio.core asyncio.event asyncio.funcs asyncio.lock asyncio.stream binascii collections
cryptolib deflate errno framebuf gc hashlib heapq io json machine math micropython os platform random re
select socket ssl struct sys time tls vfs
"""  # noqa: E501


def made(text: str, api: list[str] | None = None, **modules: str) -> str:
    """The core of a package whose tenner/app.py is `text`."""
    names = table({"core": ["app", *modules]}, api=api or [])
    built = bundle(package({"app": text, **modules}), names, scripts={"main.py": MAIN})
    return built.files["app"].text


def test_the_names_of_the_list_are_in_rom():
    script = "import micropython\nmicropython.qstr_info()\n%s\nmicropython.qstr_info()\n"
    for interpreter in (find_micropython(), find_micropython32()):
        uses = "\n".join(f"def f({name}): {name}.{name}" for name in [*ARGUMENTS, *STATIC, *ROM])
        printed = subprocess.run(
            interpreter.command("-c", script % uses), capture_output=True, text=True, check=True
        ).stdout
        counts = [int(line.split("n_qstr=")[1].split(",")[0]) for line in printed.splitlines()]
        # The first look takes its own text, and the function's name is new.
        assert counts[1] - counts[0] <= 1, printed
    assert not set(ARGUMENTS) & {*STATIC, *ROM}
    assert set(ATTRIBUTES) <= {*ARGUMENTS, *STATIC, *ROM}


def test_micropythons_own_names_are_all_known(tmp_path):
    script = tmp_path / "names.py"
    script.write_text(EVERY_NAME)
    done = subprocess.run(
        find_micropython().command(script, " ".join(MODULES.split())),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {name for name in done.stdout.split() if name[0].isalpha()}
    assert len(found) > 500
    assert found - NAMES == set(), "add these to mpy_linker/micropython_names.py"


def test_a_name_is_short_wherever_it_stands():
    text = made(
        "from tenner.other import Holder\ndef main(gauged=0):\n    box = Holder()\n"
        "    box.gauge(fineness=gauged)\n    print(box.gauged, '%s' % 'fine')\n",
        other="class Holder:\n    weight = 1\n    def gauge(self, fineness):\n"
        "        self.gauged = fineness\n        self._hidden = self.weight\n",
    )
    for name in ("Holder", "gauge", "fineness", "weight", "hidden"):
        assert name not in text, text
    assert "def main(" in text


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ("append", "class B:\n    def append(self): pass\n"),  # a list has that too
        ("GaugeError", "class GaugeError(ValueError): pass\nclass Worse(GaugeError): pass\n"),
        ("Worse", "class GaugeError(ValueError): pass\nclass Worse(GaugeError): pass\n"),
        ("gauge", "class B:\n    def gauge(self): getattr(1, 'gauge')\n"),
        ("def gauge", "class B:\n    def gauge(self): getattr(1, N[0])\nN = ('gauge', 'weigh')\n"),
        ("gauge_it", "class B:\n    def gauge_it(self): getattr(1, 'gauge' + '_it')\n"),
        ("gauge", "class B:\n    def gauge(self): getattr(1, 'weigh gauge'.split()[0])\n"),
        (
            "fineness",
            "import json\nclass B:\n    fineness = 1\ny = json.dump(fineness=B.fineness)\n",
        ),
        (
            "depth",
            "from collections import namedtuple\nP = namedtuple('P', 'a depth')\n"
            "def f(p): p.depth, P(a=1, depth=2)\n",
        ),
    ],
)
def test_what_the_outside_knows_keeps_its_name(kept, text):
    defined = ", ".join(re.findall(r"^(?:class |def )?(\w+)(?: =|\(|:)", text, re.M))
    assert kept in made(f"{text}\ndef main(): print({defined})\n")


def test_a_text_that_nothing_looks_up_keeps_no_name():
    text = made("class B:\n    def gauge(self): pass\ndef main(): print(B().gauge(), 'gauge')\n")
    assert "def gauge" not in text
    assert "'gauge'" in text


def test_a_keyword_gets_no_name_that_its_function_uses():
    text = made(
        "import ssl\ndef f(fineness=1): return ssl, fineness\n"
        "class B:\n    def weigh(self): self.depth = self.height = f(fineness=2)\n"
        "def main(): B().weigh()\n"
    )
    keyword = re.search(r"def \w+\((\w+)=1\)", text)
    assert keyword, text
    assert f"({keyword[1]}=2)" in text


def test_a_keyword_gets_no_name_of_a_builtin():
    # As many as there are names of builtins that attributes may take.
    names = ["depth%d" % number for number in range(120)]
    calls = "".join(f"    f({name}=1)\n" for name in names)
    text = made(f"def f({'=0, '.join(names)}=0): return {names[0]}\ndef main():\n{calls}")
    given = set(re.findall(r"(\w+)=1\)", text))
    assert len(given) == len(names)
    assert not given & set(dir(builtins))


def test_what_owners_see_keeps_its_name():
    app = "from tenner import shown, hidden\ndef main(): hidden.Hidden().weigh(shown.gauge(1))\n"
    modules = {
        "shown": "def gauge(fineness, deep=1): return fineness.depth\nclass Shown:\n"
        "    def turn(self, angle): pass\n",
        "hidden": "class Hidden:\n    depth = 1\n    def weigh(self, load): pass\n",
    }
    text = made(app, api=["tenner.shown"], **modules)
    assert "def turn(self, angle)" in text
    assert "(fineness, deep=1)" in text
    assert "depth = 1" in text
    assert "weigh" not in text
    assert "load" not in text
    assert "gauge = " in text  # in the module's stand-in
    assert "depth = 1" not in made(app, **modules)


def test_private_names_are_shared_but_not_in_a_family(tmp_path):
    printed = both(
        tmp_path,
        {
            "base": "class Base:\n    def __init__(self): self._one, self._two = 1, 2\n"
            "    def _both(self): return self._one, self._two\n"
            "    def show(self): return self._both()\n",
            "sub": "from tenner import base\nclass Sub(base.Base):\n    def __init__(self):\n"
            "        super().__init__()\n        self._three = 3\n        self._four = 4\n"
            "    def more(self): return self._three, self._four, self._more()\n"
            "    def _more(self): return self.show()\n",
            "app": (
                "from tenner.sub import Sub\ndef main():\n    print(Sub().more(), Sub().show())\n"
            ),
        },
    )
    assert printed == "(3, 4, (1, 2)) (1, 2)\n"


def test_a_private_name_of_somebody_else_stays():
    text = made(
        "from tenner.other import B\ndef main(): print(B()._secret, B()._mine())\n",
        other=(
            "class B:\n    _secret = 5\n    def _mine(self): return 6\n    def _own(self): pass\n"
        ),
    )
    assert "._secret" in text
    assert "_own" not in text


def test_more_arguments_than_names(tmp_path):
    names = ["n%d" % place for place in range(len(ARGUMENTS) + 2)]
    text = "def f(%s): return [%s]\n" % (", ".join(names), ", ".join(names))
    both(tmp_path, {"app": text + "def main(): print(f(*range(%d)))\n" % len(names)})


def test_who_sees_which_variable_does_not_change(tmp_path):
    both(
        tmp_path,
        {
            "app": "args = 3\n"
            "def f(a, b):\n    _ = 9\n    return args + a + b + _, all([a, b])\n"
            "def g(a, b):\n    def g(c):\n        def h(a): return a + b + c\n"
            "        return h(1)\n"
            "    return g(a)\n"
            "def h(a, b): return (lambda c: lambda a, d=b: (a, b, c, d))(5)(a)\n"
            "def i(a, b): return [a for a in range(b)], {b: a for b in (a,)}, list(x + b for x "
            "in (a,))\n"
            "def j(a, b):\n    b += a\n    for a in range(2): b += a\n    del a\n    return b\n"
            "def k(a):\n    def n():\n        nonlocal a\n        a = 5\n    n()\n    return a\n"
            "def l(size):\n    def g(n=size): return n + size\n    return g\n"
            "def m(list, str=5, *any, all=7): return list, str, any, all\n"
            "def key(a, *, sort=None): return sorted(a, key=sort)\n"
            "def main():\n    print(f(3, 4), g(3, 4), h(3, 4), i(3, 4), j(3, 4), k(3), l(3)())\n"
            "    print(m(1, 2, 3, all=8), key((2, 1)), key([1, 2], sort=lambda a: -a))\n",
        },
    )


def test_the_names_in_every_overlay_take_two_bytes():
    assert {LENT, STAYS, TEXTS} <= set(STATIC)


def test_no_two_attributes_get_one_name():
    count = len(ATTRIBUTES) + 120
    names = [f"attribute_{number}" for number in range(count)]
    text = "class Many:\n    def __init__(self):\n        pass\n\n\nmany = Many()\n"
    text += "".join(f"many.{name} = 1\n" for name in names)
    found = re.findall(r"(?:^|;)\w+\.(\w+) = 1(?=;|$)", made(text), re.MULTILINE)
    assert len(found) == len(set(found)) == count

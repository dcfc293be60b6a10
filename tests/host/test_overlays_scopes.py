"""Merged modules behave as they did apart: every rule of scope, on real MicroPython."""

import pytest

from tests.host.overlays_support import both

A_AND_B = {"core": ["app", "a", "b"]}
APART = {"core": ["app"], "one": ["a"], "two": ["b"]}


def check(tmp_path, overlays, a, b, app):
    return both(tmp_path, {"a": a, "b": b, "app": app}, overlays)


@pytest.mark.parametrize("overlays", [A_AND_B, APART], ids=["merged", "apart"])
class TestNames:
    def test_the_same_name_in_two_modules(self, tmp_path, overlays):
        printed = check(
            tmp_path,
            overlays,
            "LIMIT = [1]\ndef get(): return LIMIT\n",
            "LIMIT = [2]\ndef get(): return LIMIT\n",
            "from tenner import a, b\nfrom tenner.a import get\n"
            "from tenner.b import get as other\n"
            "def main(): print(get(), other(), a.get(), b.get(), a.LIMIT, b.LIMIT)\n",
        )
        assert printed == "[1] [2] [1] [2] [1] [2]\n"

    def test_a_variable_hides_an_import(self, tmp_path, overlays):
        check(
            tmp_path,
            overlays,
            "def size(x=1): return x\ndef log(*args): print('log', *args)\n",
            "from tenner.a import log\n"
            "def size(log): return log + 1\n"
            "def text(a): return [log for log in a], (lambda log: log)(5)\n"
            "def loop():\n    for size in (1, 2): log(size)\n    return size\n"
            "def late():\n    size = 3\n    def inner(): return size\n    return inner\n",
            "from tenner import a\nfrom tenner.b import late, loop, size, text\n"
            "def main():\n    print(size(1), text((1, 2)), loop(), late()(), a.size(7))\n"
            "    def log(size): return a.size(size)\n    print(log(9))\n",
        )

    def test_a_name_of_another_module_is_used_where_a_variable_has_its_name(
        self, tmp_path, overlays
    ):
        check(
            tmp_path,
            overlays,
            "def log(x): return 'a.log %s' % x\nclass Box:\n    log = 'attribute'\n",
            "from tenner import a\n"
            "def f(log, Box=None): return a.log(log), a.Box.log, Box\n"
            "def g():\n    log = a.log\n    return [log(a) for a in 'xy'], a.log(1)\n"
            "class Box(object):\n    log = 5\n"
            "    def f(self, log): return self.log, log, a.log(log)\n",
            "from tenner.b import f, g, Box\ndef main(): print(f(1, Box=2), g(), Box().f(3))\n",
        )

    def test_imports_in_functions(self, tmp_path, overlays):
        check(
            tmp_path,
            overlays,
            "def f(): return 'a.f'\nX = {}\n",
            "def f():\n    from tenner.a import f, X as y\n    return f(), y\n"
            "def g():\n    import tenner.a as it\n    return it.f()\n"
            "def h():\n    import tenner.a\n    return tenner.a.f()\n"
            "def i(t):\n    if t:\n        from tenner.a import f\n    else:\n"
            "        f = lambda: 'own'\n"
            "    return f()\n"
            "def j():\n    from tenner.a import f\n    return (lambda: [f() for _ in (1, 2)])()\n",
            (
                "from tenner import b\n"
                "def main(): print(b.f(), b.g(), b.h(), b.i(1), b.i(0), b.j())\n"
            ),
        )

    def test_a_module_as_a_value(self, tmp_path, overlays):
        printed = check(
            tmp_path,
            overlays,
            "def body(x): return 'a', x\nNAME = 'A'\n_hidden = 1\n",
            "def body(x): return 'b', x\nNAME = 'B'\nEXTRA = 5\n",
            "from tenner import a, b\n"
            "def main():\n    for one in (a, b):\n"
            "        print(one.body(1), one.NAME, getattr(one, 'EXTRA', None), hasattr(one, "
            "'no'))\n",
        )
        assert printed == "('a', 1) A None False\n('b', 1) B 5 False\n"

    def test_what_changes_is_read_where_it_is(self, tmp_path, overlays):
        check(
            tmp_path,
            {"core": ["app", "a"], "two": ["b"]} if "one" in overlays else overlays,
            "count = 0\ndef add():\n    global count\n    count += 1\n    return count\n",
            "from tenner import a\ndef f():\n    a.add()\n    return a.count\n",
            (
                "from tenner.b import f\nfrom tenner import a\n"
                "def main(): print(a.count, f(), f(), a.count)\n"
            ),
        )

    def test_exceptions_are_the_same_everywhere(self, tmp_path, overlays):
        check(
            tmp_path,
            overlays,
            "class Broken(Exception): pass\ndef fail(n): raise Broken(n)\n",
            "from tenner import a\nfrom tenner.a import Broken\n"
            "def f(n):\n    try:\n        a.fail(n)\n    except a.Broken as error:\n"
            "        return error\n"
            "def g():\n    try:\n        a.fail(2)\n    except (ValueError, Broken) as a_error:\n"
            "        return type(a_error).__name__\n",
            "from tenner import b\ndef main(): print(repr(b.f(1)), b.g())\n",
        )


def one(tmp_path, text, other=""):
    return both(tmp_path, {"app": text, "a": other})


def test_comprehensions_walrus_and_lambdas(tmp_path):
    one(
        tmp_path,
        "from tenner.a import x, f, items\n"
        "y = [x for x in items]\n"
        "z = {x: f for f in items}\n"
        "def g(n):\n    if (m := n + 1) > 2:\n        return [m, [k := i for i in items], k, x]\n"
        "def h(): return (lambda x, *f, items=x, **y: (x, f, items, sorted(y.items())))(1, 2, 3, "
        "w=4)\n"
        "def i(): return sum(x * f for x in items for f in range(x) if f)\n"
        "def main(): print(y, z, g(5), h(), i(), f(1), x)\n",
        "x = 10\nitems = (1, 2, 3)\ndef f(x): return x\n",
    )


def test_class_bodies(tmp_path):
    one(
        tmp_path,
        "from tenner.a import size, Base, depth\n"
        "class Box(Base):\n    size = size\n    depth = depth + 1\n    both = (size, depth)\n"
        "    def grow(self, size=size, *, depth=depth): return size, depth, self.size, self.both\n"
        "    @property\n    def big(self): return self.size\n"
        "    class Inner:\n        size = depth\n"
        "    many = [size for size in (1, 2)]\n"
        "def main(): print(Box().grow(), Box().grow(depth=9), Box().big, Box.Inner.size, "
        "Box.many, Box().up())\n",
        "size = 5\ndepth = 6\nclass Base:\n    def up(self): return super().__init__()\n",
    )


def test_global_nonlocal_and_del(tmp_path):
    one(
        tmp_path,
        "from tenner import a\ncount = 5\n"
        "def up():\n    global count, new\n    count += a.count\n    new = 'new'\n"
        "def nested():\n    count = 1\n    def inner():\n        nonlocal count\n"
        "        count += a.count\n"
        "    inner()\n    return count\n"
        "def gone():\n    count = 1\n    del count\n    try:\n        return count\n"
        "    except NameError:\n"
        "        return 'gone'\n"
        "def main():\n    up()\n    a.up()\n    print(count, new, nested(), a.count, gone())\n",
        "count = 100\ndef up():\n    global count\n    count += 1\n",
    )


def test_except_and_with_names(tmp_path):
    one(
        tmp_path,
        "from tenner.a import error, Manager\n"
        "def f():\n    try:\n        {}['x']\n    except KeyError as error:\n"
        "        return repr(error)\n"
        "def g():\n    with Manager(3) as Manager_, Manager(4) as error:\n"
        "        return error, Manager_\n"
        "async def h():\n    async with Manager(5) as m:\n        return m\n"
        "def main():\n    import asyncio\n    print(f(), error, g(), asyncio.run(h()))\n",
        "error = 'error of a'\nclass Manager:\n    def __init__(self, n): self.n = n\n"
        "    def __enter__(self): return self.n\n    def __exit__(self, *error): pass\n"
        "    async def __aenter__(self): return self.n\n"
        "    async def __aexit__(self, *error): pass\n",
    )


def test_imports_of_others(tmp_path):
    one(
        tmp_path,
        "import json\nimport sys as system\nfrom time import time as now\n"
        "try:\n    import nothing_of_this_name as ssl\nexcept ImportError:\n    ssl = None\n"
        "try:\n    from nothing import json as j\nexcept ImportError:\n"
        "    from json import dumps as j\n"
        "from tenner.a import text\n"
        "def json_text(json): return json\n"
        "def main(): print(json.dumps([1]), system.byteorder, now() > 1, ssl, j(2), "
        "json_text(3), text(4))\n",
        "import json\nfrom json import dumps\n\ndef text(time):\n    import sys\n"
        "    return dumps(time), "
        "json.loads('5'), sys.byteorder\n",
    )


def test_constants_take_the_place_of_their_names(tmp_path):
    one(
        tmp_path,
        "from micropython import const\nfrom tenner import a\n_TEN = const(10)\n_LESS = -_TEN\n"
        "_TEXT = 'x' + a.TEXT\n_ALL = (_TEN, a.TEXT, None, 1.5, b'b')\nLIST = [_TEN]\n"
        "def main(): print(_TEN ** 2, _LESS ** 2, 5 - _LESS, _TEXT, _ALL, LIST, a.MANY, a.f())\n",
        (
            "TEXT = 'text'\nMANY = 1 << 20\nMANY_ = 16 * 1024\ndef f(TEXT=TEXT):\n    MANY = 3\n"
            "    return TEXT, MANY\n"
        ),
    )


def test_starred_formatted_and_nested(tmp_path):
    one(
        tmp_path,
        "from tenner.a import wrap, args\n"
        "@wrap('outer')\ndef f(*args, **kw):\n    first, *rest = args\n"
        "    return first, rest, kw\n"
        "def gen():\n    yield from (n for n in args)\n    wrap = yield 5\n"
        "def main():\n    print(f(1, *args, **{'x': 2}), list(gen()), f'{args} {wrap.__name__ != "
        "1}', '%s' % args[0])\n",
        "args = [7, 8]\ndef wrap(text):\n    def inner(f):\n"
        "        def call(*args, **kw): return text, f(*args, **kw)\n        return call\n"
        "    return inner\n",
    )

"""Public names become short all over the package, unless somebody outside knows them."""

import subprocess

import pytest

from host_tools.build import FIRMWARE, LINUX_ONLY
from host_tools.interpreters import find_micropython
from host_tools.shorten.micropython_names import NAMES
from host_tools.shorten.public import public_names
from host_tools.shorten.syntax import names_of, renamed

# Prints each attribute of each module, of their classes, and of what these have inside.
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
"""
MODULES = """
builtins asyncio asyncio.core asyncio.event asyncio.funcs asyncio.lock asyncio.stream binascii collections
cryptolib deflate errno framebuf gc hashlib heapq io json machine math micropython os platform random re
select socket ssl struct sys time tls vfs
"""


def short(caller: str = "", **texts: str) -> dict[str, str]:
    """The modules tenner/NAME.py with their public names renamed; a `caller` keeps its own."""
    sources = {f"tenner/{name}.py": text.encode() for name, text in texts.items()}
    names = public_names(sources, {"/main.py": caller.encode()})
    return {name: renamed(sources[f"tenner/{name}.py"], names).decode() for name in texts}


def test_a_name_is_short_wherever_it_stands():
    made = short(
        one="class Holder:\n    depth = 1\n    def gauge(self, fineness):\n"
        "        self.gauged = fineness  # gauged\n",
        two="from tenner.one import Holder\ndef work(gauged):\n"
        "    box = Holder()\n    box.gauge(fineness=gauged)\n    return box.gauged\n",
    )
    assert made == {
        "one": "class a:\n    f = 1\n    def c(self, b):\n        self.d = b  # gauged\n",
        "two": "from tenner.one import a\ndef g(d):\n"
        "    box = a()\n    box.c(b=d)\n    return box.d\n",
    }


def test_a_short_name_is_one_that_stands_nowhere():
    made = short(one="def gauge(a, b):\n    c = a\n    return c, b, f\n")
    assert made["one"].startswith("def d(a, b)")


@pytest.mark.parametrize(
    "text",
    [
        "class _B:\n    def append(self): pass\n",  # a list has that too
        "class GaugeError(Exception): pass\n",  # shows in messages
        "def gauge(): pass\ngetattr(1, 'gauge')\n",
        "def gauge(): pass\n_N = ('gauge', 'weigh')\n",
        "def gauge_it(): pass\ngetattr(1, 'gauge' + '_it')\n",
        "def gauge_it(): pass\nsetattr(1, 'gauge_' + 'it', 2)\n",
        "def gauge(): pass\n_N = 'weigh gauge'\ngetattr(1, _N.split()[0])\n",
        "def gauge(): pass\nglobals()['weigh, gauge']\n",
        "import other\ndef gauge(fineness): pass\nother.weigh(fineness=1)\ngauge\n",
        "__version__ = 1\n",
        "def one(): pass\n",  # the module's own name
        "def f2(): pass\n",  # nothing to gain
        "def gauge(): pass\n#: in main.py\n",
    ],
)
def test_what_the_outside_knows_keeps_its_name(text):
    caller = "gauge" if "main.py" in text else ""
    made = short(caller, one=text)["one"]
    if "fineness" in text:
        assert "fineness" in made
    else:
        assert made == text


def test_what_tools_and_drivers_may_use_keeps_its_name():
    text = "def gauge(fineness): return fineness.depth\n"
    sources = {
        "tenner/net/a.py": b"def gauge(): pass\ndef weigh(): pass\nclass A:\n    depth = 1\n",
        "tenner/tools/b.py": text.encode(),
    }
    assert list(public_names(sources, {})) == ["weigh"]


def real_names() -> dict[str, str]:
    sources = {
        path.relative_to(FIRMWARE).as_posix(): path.read_bytes()
        for path in (FIRMWARE / "tenner").rglob("*.py")
    }
    for name in LINUX_ONLY:
        del sources[name]
    return public_names(sources, {"/main.py": (FIRMWARE / "main.py").read_bytes()})


def test_the_firmware_shares_no_renamed_name_with_micropython(tmp_path):
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
    assert found - NAMES == set(), "add these to host_tools/shorten/micropython_names.py"


def test_what_is_documented_for_tools_is_kept():
    """tools/__init__.py and sensors/__init__.py, and what the built-in ones are made with."""
    names = real_names()
    assert len(names) > 200
    for kept in (
        *("ToolError", "SensorError", "as_data", "run", "check", "approval", "ASK_ANYWAY"),
        *(
            "RESULT_CAP",
            "DEADLINE_S",
            "port",
            "config",
            "workspace",
            "sensors",
            "registry",
            "turn",
        ),
        *("send", "ask", "kind", "channel", "chat", "i2c", "i2c_names", "readable_file", "log"),
    ):
        assert kept not in names
    assert not names.keys() & set(names_of((FIRMWARE / "main.py").read_bytes()))

"""Imports from the package become short without meaning another module."""

import subprocess
import sys

import pytest

from host_tools.build import write_tree
from host_tools.interpreters import find_micropython
from host_tools.shorten.relative import with_relative_imports


@pytest.mark.parametrize(
    ("module", "text", "short"),
    [
        ("tenner/net/http.py", "from tenner.log import log", "from ..log import log"),
        ("tenner/net/http.py", "from tenner.store import files", "from ..store import files"),
        ("tenner/net/http.py", "from tenner.net.tls import x", "from .tls import x"),
        ("tenner/net/http.py", "from tenner.net import tls", "from . import tls"),
        ("tenner/net/http.py", "from tenner import log", "from .. import log"),
        ("tenner/net/__init__.py", "from tenner.net.tls import x", "from .tls import x"),
        ("tenner/app.py", "from tenner.log import log", "from .log import log"),
        ("tenner/app.py", "from tenner.net import tls", "from .net import tls"),
        (
            "tenner/net/http.py",
            'def f():\n    s = "°"; from tenner.log import (  # tenner.log\n        log,\n    )\n',
            'def f():\n    s = "°"; from ..log import (  # tenner.log\n        log,\n    )\n',
        ),
        # Two parts would be left; or it is not this package; or no such import.
        ("tenner/net/http.py", "from tenner.port.package import x", None),
        ("tenner/app.py", "from tenner.net.tls import x", None),
        ("tenner/net/http.py", "from tennerlike.log import log", None),
        ("tenner/net/http.py", "from os import urandom", None),
        ("tenner/net/http.py", "import tenner.log", None),
    ],
)
def test_an_import_names_what_is_beside_the_module(module, text, short):
    assert with_relative_imports(text.encode(), module).decode() == (short or text)


@pytest.mark.parametrize("interpreter", ["cpython", "micropython"])
def test_the_same_modules_are_found(tmp_path, interpreter):
    modules = {
        "tenner/log.py": "name = 'log'\n",
        "tenner/net/tls.py": "name = 'tls'\n",
        "tenner/net/http.py": "from tenner.log import name as a\nfrom tenner.net import tls\n"
        "from tenner.net.tls import name as b\nfrom tenner.tools import name as c\n"
        "from tenner import log\nprint(a, tls.name, b, c, log.name)\n",
        "tenner/tools/__init__.py": "from tenner.tools.kind import name\nfrom tenner import log\n",
        "tenner/tools/kind.py": "name = 'kind'\n",
    }
    short = {name: with_relative_imports(text.encode(), name) for name, text in modules.items()}
    assert b"tenner" not in b"".join(short.values())
    write_tree({f"/{name}": text for name, text in short.items()}, tmp_path)
    micropython = find_micropython().command("-c", "import tenner.net.http")
    done = subprocess.run(
        [sys.executable, "-c", "import tenner.net.http"]
        if interpreter == "cpython"
        else micropython,
        cwd=tmp_path,
        env={"MICROPYPATH": ".:.frozen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "log tls tls kind log\n", done.stderr

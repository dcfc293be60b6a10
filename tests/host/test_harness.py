"""The harness itself: a failing test must fail, on every interpreter, with its reason shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import fetch_micropython32 as fetch
from tenner_host import ROOT, debian, interpreters
from tests.variants import build as own

pytestmark = pytest.mark.long

HEAD = "import unittest\nclass T(unittest.TestCase):\n"
MAIN = "\nif __name__ == '__main__':\n    unittest.main()\n"


def run_text(found, tmp_path, body, *args):
    """Run a test file of this body as the suite does; return (status, output)."""
    path = tmp_path / "test_it.py"
    path.write_text(HEAD + body + MAIN)
    folders = [ROOT / "tests" / "micropython", ROOT / "firmware", ROOT / "tests"]
    done = subprocess.run(
        found.command(path, *args),
        env={**os.environ, "MICROPYPATH": interpreters.search_path(*folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ("    def test_a(self): self.assertEqual(1, 1)\n", "1 passed, 0 failed, 0 skipped"),
        ("    def test_a(self): self.skipTest('why')\n", "0 passed, 0 failed, 1 skipped"),
        (
            "    @unittest.skipIf(True, 'why')\n    def test_a(self): self.fail()\n",
            "0 passed, 0 failed, 1 skipped",
        ),
        (
            "    def setUp(self): self.x = 1\n"
            "    def test_a(self):\n"
            "        with self.assertRaises(ValueError) as caught: int('x')\n"
            "        self.assertIsInstance(caught.exception, ValueError)\n"
            "        self.assertRaises(KeyError, {}.__getitem__, self.x)\n",
            "1 passed, 0 failed, 0 skipped",
        ),
    ],
)
def test_what_passes(any_micropython, tmp_path, body, counts):
    status, output = run_text(any_micropython, tmp_path, body)
    assert (status, output.splitlines()[-1]) == (0, counts)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("    def test_a(self): self.assertEqual(1, 2)\n", "1 != 2"),
        ("    def test_a(self): {}['missing']\n", "missing"),
        ("    def test_a(self): self.assertRaises(OSError, int, 'x')\n", "ValueError"),
        ("    def test_a(self):\n        with self.assertRaises(OSError): pass\n", "not raised"),
        ("    def setUp(self): self.fail('set-up broke')\n    def test_a(self): pass\n", "broke"),
        (
            "    def tearDown(self): self.fail('clean-up')\n    def test_a(self): pass\n",
            "clean-up",
        ),
        (
            "    @classmethod\n    def setUpClass(cls): raise OSError('no class')\n"
            "    def test_a(self): pass\n",
            "no class",
        ),
        (
            "    def test_a(self):\n        for i in range(3):\n"
            "            with self.subTest(i=i): self.assertNotEqual(i, 1)\n",
            "{'i': 1}",
        ),
        (
            "    def test_a(self): self.addCleanup(self.fail, 'cleanup ran')\n",
            "cleanup ran",
        ),
        ("    @unittest.expectedFailure\n    def test_a(self): pass\n", "expected a failure"),
    ],
)
def test_what_fails(any_micropython, tmp_path, body, shown):
    status, output = run_text(any_micropython, tmp_path, body)
    assert status == 1
    assert shown in output
    assert output.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_no_test_at_all_is_a_failure(any_micropython, tmp_path):
    status, output = run_text(any_micropython, tmp_path, "    pass\n")
    assert status == 1
    assert "no test was found" in output


def test_one_test_can_be_chosen(any_micropython, tmp_path):
    body = "    def test_a(self): pass\n    def test_b(self): self.fail()\n"
    assert run_text(any_micropython, tmp_path, body, "T.test_a")[0] == 0
    assert run_text(any_micropython, tmp_path, body, "-k", "test_b")[0] == 1
    assert run_text(any_micropython, tmp_path, body, "T.test_absent")[0] == 1


def suite(tmp_path, text, *args, **environment):
    """Run pytest on a suite of one file with the real conftest.py beside it."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "micropython").symlink_to(ROOT / "tests" / "micropython")
    (tmp_path / "firmware").mkdir()
    (tests / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tests / "test_it.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *args, "tests"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


GOOD = HEAD + "    def test_a(self): pass\n" + MAIN


#: Says where the firmware's code comes from.
ORIGIN = (
    HEAD
    + (
        "    def test_a(self):\n        import tenner.log\n"
        "        raise ValueError(tenner.log.__file__)\n"
    )
    + MAIN
)


def test_a_file_runs_once_per_interpreter(tmp_path, micropython32):
    status, output = suite(tmp_path, GOOD)
    assert status == 0
    assert re.search("5 passed|3 passed, 2 skipped", output)


#: One passes on each interpreter, one fails, one is skipped.
MIXED = (
    HEAD
    + "    def test_a(self): pass\n    def test_b(self): self.fail()\n"
    + "    def test_c(self): self.skipTest('why')\n"
    + MAIN
)


def test_the_summary_counts_the_tests_of_each_interpreter(tmp_path, micropython32):
    _, output = suite(tmp_path, MIXED)
    summary = output.partition(" by interpreter ==")[2]
    for name in ("cpython", "micropython", "micropython32"):
        assert re.search(rf"^{name} +1 passed +1 failed +1 skipped +\d+\.\d s$", summary, re.M), (
            output
        )


def test_an_image_runs_its_own_code(tmp_path, any_image):
    name = any_image.interpreter.name
    file = {"micropython32rom": "/rom/lib/tenner/log.mpy", "micropython32frozen": "tenner/log.py"}
    status, output = suite(tmp_path, ORIGIN, f"--interpreter={name}")
    assert status == 1
    assert f"ValueError: {file[name]}\n" in output


def test_an_image_is_left_out_with_single_files():
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/test_power.py"]
    done = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, check=False)
    found = {line.partition("::")[2] for line in done.stdout.splitlines()}
    assert {"micropython", "micropython32"} < found
    assert not {"micropython32rom", "micropython32frozen"} & found


def test_a_build_removes_those_that_nobody_uses_any_more(monkeypatch, tmp_path):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path))
    monkeypatch.setattr(own, "_check_machine", lambda: None)
    monkeypatch.setattr(own, "_make", lambda *_: Path(sys.executable))
    used, unused = (own.frozen({"tenner/x.py": source}) for source in (b"x = 1\n", b"x = 2\n"))
    for folder in (used, unused):
        os.utime(folder, (0, 0))
    assert own.frozen({"tenner/x.py": b"x = 1\n"}) == used
    new = own.frozen({"tenner/x.py": b"x = 3\n"})
    assert sorted(tmp_path.glob("micropython32*")) == sorted([used, new])


def test_an_image_that_cannot_be_built_is_skipped_with_the_reason(tmp_path):
    absent = {"TENNER_CACHE": str(tmp_path / "empty"), "PATH": "", "TENNER_REQUIRE_32BIT": "0"}
    status, output = suite(tmp_path, GOOD, "--interpreter=micropython32frozen", **absent)
    assert "1 skipped" in output
    assert "gcc is not here" in output


def test_one_interpreter_can_be_chosen(tmp_path):
    status, output = suite(tmp_path, GOOD, "--interpreter=micropython")
    assert status == 0
    assert "1 passed, 4 deselected" in output


def test_a_file_that_runs_nothing_fails(tmp_path):
    status, output = suite(tmp_path, GOOD.replace(MAIN, ""), "--interpreter=micropython")
    assert status == 1
    assert "does it end with unittest.main()" in output


def test_a_failure_shows_what_was_printed(tmp_path):
    text = GOOD.replace("pass", "self.assertEqual('left', 'right')")
    status, output = suite(tmp_path, text, "--interpreter=micropython")
    assert status == 1
    assert "tests/test_it.py[micropython]" in output
    assert "'left' != 'right'" in output


def test_a_missing_32_bit_interpreter_skips_with_the_reason_or_fails(tmp_path):
    absent = {"MICROPYTHON32": "", "TENNER_CACHE": str(tmp_path / "empty")}
    absent["TENNER_REQUIRE_32BIT"] = "0"
    status, output = suite(tmp_path, GOOD, "--interpreter=micropython32", **absent)
    assert "1 skipped" in output
    assert "make micropython32" in output
    (tmp_path / "again").mkdir()
    absent["TENNER_REQUIRE_32BIT"] = "1"
    status, output = suite(tmp_path / "again", GOOD, "--interpreter=micropython32", **absent)
    assert status == 1
    assert "1 failed" in output


# --- finding and fetching interpreters


@pytest.fixture
def fresh():
    """The finders with empty caches, before and after."""
    for find in interpreters.FINDERS.values():
        find.cache_clear()
    yield
    for find in interpreters.FINDERS.values():
        find.cache_clear()


def test_the_word_sizes_are_what_the_names_say(micropython, micropython32):
    assert (micropython.bits, micropython32.bits) == (64, 32)
    assert micropython.version >= (1, 22)
    assert micropython32.version >= (1, 22)


def test_a_heap_limit_is_kept(any_micropython):
    command = any_micropython.command("-c", "x = bytearray(200000)", heap="100K")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stdout + done.stderr


def test_a_wrong_interpreter_is_refused_in_a_sentence(monkeypatch, fresh):
    monkeypatch.setenv("MICROPYTHON", sys.executable)
    with pytest.raises(interpreters.InterpreterMissing, match="is not a working MicroPython"):
        interpreters.find_micropython()
    interpreters.find_micropython.cache_clear()
    monkeypatch.setenv("MICROPYTHON", "/nowhere/micropython")
    with pytest.raises(interpreters.InterpreterMissing, match="does not start"):
        interpreters.find_micropython()


def test_none_at_all_says_how_to_get_one(monkeypatch, fresh, tmp_path):
    monkeypatch.delenv("MICROPYTHON", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(interpreters.InterpreterMissing, match="MICROPYTHON=/path"):
        interpreters.find_micropython()


def test_the_mirror_is_debians_own():
    rows = "\n".join(
        [
            "http://packages.example/node|. nodistro|. nodistro",
            "http://mirror.example/security|Debian|Debian-Security",
            "http://mirror.example/debian/|Debian|Debian",
        ]
    )
    assert debian.find_mirror(rows) == "http://mirror.example/debian/"
    with pytest.raises(debian.CannotFetch, match="no Debian mirror"):
        debian.find_mirror("http://archive.example/ubuntu/|Ubuntu|Ubuntu\n")
    with pytest.raises(debian.CannotFetch, match="no Debian mirror"):
        debian.find_mirror("")


def test_a_failed_fetch_leaves_nothing_behind(monkeypatch, tmp_path, fresh):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path))
    monkeypatch.delenv("MICROPYTHON32", raising=False)
    monkeypatch.setattr(fetch, "check_machine", lambda: None)
    monkeypatch.setattr(debian, "mirror", lambda: "http://127.0.0.1:9/debian")
    monkeypatch.setattr(debian, "keyring", lambda: "/nowhere.gpg")

    def fail(command, what):
        raise debian.CannotFetch(what)

    monkeypatch.setattr(debian, "run", fail)
    assert fetch.main([]) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_does_not_fit_its_signature_is_read_by_the_other_name(monkeypatch, tmp_path):
    asked = []

    def run(command, what):
        asked.append((tmp_path / "etc/sources.list").read_text())
        if len(asked) < 2:
            raise debian.CannotFetch(what)

    monkeypatch.setattr(debian, "run", run)
    debian.private_apt(tmp_path, "i386", "http://mirror.example/debian", "key", source=True)
    assert [text.split()[-2] for text in asked] == ["trixie", "stable"]
    assert asked[1].count("stable main") == 2


def test_the_tests_go_on_where_the_32_bit_interpreter_cannot_be_had(
    monkeypatch, tmp_path, fresh, capsys
):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path))
    monkeypatch.delenv("MICROPYTHON32", raising=False)
    monkeypatch.setattr(fetch.platform, "system", lambda: "Darwin")
    assert fetch.main(["--if-possible"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("No 32-bit MicroPython: needs Linux on x86") and said.endswith(
        "; its tests are skipped\n"
    )


def test_an_interpreter_that_is_there_is_not_told_before_the_tests(micropython32, capsys):
    assert fetch.main(["--if-possible"]) == 0
    assert capsys.readouterr() == ("", "")
    assert fetch.main([]) == 0
    assert capsys.readouterr().out.startswith("micropython32 ")


@pytest.mark.parametrize(
    ("system", "machine", "reason"),
    [("Darwin", "arm64", "needs Linux"), ("Linux", "aarch64", "needs Linux on x86")],
)
def test_machines_that_cannot_run_it_say_so(monkeypatch, system, machine, reason):
    monkeypatch.setattr(fetch.platform, "system", lambda: system)
    monkeypatch.setattr(fetch.platform, "machine", lambda: machine)
    with pytest.raises(debian.CannotFetch, match=reason):
        fetch.check_machine()


def test_without_debians_tools_or_keys_the_reason_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(fetch.platform, "system", lambda: "Linux")
    monkeypatch.setattr(fetch.platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(debian.CannotFetch, match="apt-get is not here"):
        fetch.check_machine()
    monkeypatch.setattr(debian, "KEYRINGS", [tmp_path / "absent.gpg"])
    with pytest.raises(debian.CannotFetch, match="debian-archive-keyring"):
        debian.keyring()

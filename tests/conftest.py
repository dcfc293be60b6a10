"""Runs every tests/test_*.py on CPython in the normal way, and once more on each MicroPython.

A file under MicroPython is one item, `tests/test_x.py::micropython32`, run as a subprocess.
"""

import atexit
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tenner_host import interpreters
from tests.variants import under_test

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LAST_LINE = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
RUN_LIMIT_S = 1000
#: Of a failure that is told at once; the whole of it comes last.
_LINES_OF_AN_ERROR = 6
#: These tests look at the machine's processes, shared memory and /tmp.
ONE_AT_A_TIME = ("tests/host/test_exec_user.py", "tests/test_tools_exec.py")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs this in the background ignores Ctrl-C, and so would the programs that are
    # tested with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The keys of this computer's user are not the tests'.
os.environ["TENNER_CONFIG"] = tempfile.mkdtemp(prefix="tenner-config-")
atexit.register(shutil.rmtree, os.environ["TENNER_CONFIG"], True)

# tests/test_attacks.py alone waits 24,000 times for the disk, and no test cuts the power of this
# computer.
os.fsync = lambda file: None


def find_or_skip(name):
    """The runner; without it the test is skipped with the reason, or fails where it must not
    be."""
    try:
        return under_test.find(name)
    except interpreters.InterpreterMissing as exc:
        reason = str(exc)
    if name.startswith("micropython32") and os.environ.get("TENNER_REQUIRE_32BIT") != "1":
        pytest.skip(reason)
    pytest.fail(reason, pytrace=False)


def pytest_addoption(parser):
    parser.addoption(
        "--interpreter",
        default="all",
        choices=["all", "cpython", *under_test.NAMES],
        help="run tests/test_*.py on this interpreter only",
    )


def pytest_collect_file(file_path, parent):
    if file_path.parent == HERE and file_path.match("test_*.py"):
        return MicroPythonFile.from_parent(parent, path=file_path)
    return None


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--interpreter")
    if wanted != "all":
        dropped = [item for item in items if getattr(item, "interpreter", "cpython") != wanted]
    elif any(Path(name.partition("::")[0]).is_dir() for name in config.args):
        return
    else:
        # Freezing edited code takes a while: with single files only on request.
        dropped = [
            item for item in items if getattr(item, "interpreter", "") in under_test.WITH_CODE
        ]
    items[:] = [item for item in items if item not in set(dropped)]
    config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """`-n auto`: twice the CPUs, as half of the tests wait for a board or a server."""
    return 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        """One worker has all tests of a file, which share boards and servers; a file under
        MicroPython is by itself."""

        def _split_scope(self, nodeid):
            path, _, name = nodeid.partition("::")
            if path in ONE_AT_A_TIME:
                return ONE_AT_A_TIME
            return nodeid if name in under_test.NAMES else path

    # The order of the collection: tests/host with its long files first, the many short ones of
    # MicroPython last.
    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_collection_finish(session):
    if "tenner_sim.services.offline_model" in sys.modules:
        from tests import provider_requests

        provider_requests.install()
    # The firmware collects garbage as often as a chip must; here each time would go through all of
    # the tests.
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_FailuresAtOnce(config), "failures-at-once")


class _FailuresAtOnce:
    """Names a test that failed in that moment: a run that is cut off has no summary."""

    def __init__(self, config):
        self._config = config

    def pytest_runtest_logreport(self, report):
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if not report.failed or reporter is None:
            return
        reporter.ensure_newline()
        reporter.write_line("FAILED {} ({})".format(report.nodeid, report.when))
        lines = str(report.longrepr).splitlines()
        for line in [line for line in lines if line.startswith("E ")][:_LINES_OF_AN_ERROR]:
            reporter.write_line(line)


#: Outcomes of pytest, and the column that each counts in; "" are set-ups and clean-ups that went
#: well.
_COLUMNS = {"passed": 0, "failed": 1, "error": 1, "skipped": 2, "": None}
_ORDER = ("cpython", *under_test.NAMES, "cpython, host tools")


def pytest_terminal_summary(terminalreporter):
    """How many tests passed on each interpreter, and how long they took."""
    rows = {}
    for outcome, column in _COLUMNS.items():
        for report in terminalreporter.stats.get(outcome, ()):
            row = rows.setdefault(_interpreter_of(report.nodeid), [0, 0, 0, 0.0])
            counts = dict(getattr(report, "user_properties", ())).get("counts")
            if column is None:
                counts = (0, 0, 0)
            elif counts is None:
                counts = [int(column == place) for place in range(3)]
            row[:3] = [before + more for before, more in zip(row[:3], counts, strict=True)]
            row[3] += getattr(report, "duration", 0.0)
    if rows:
        terminalreporter.section("by interpreter")
    for name in (name for name in _ORDER if name in rows):
        terminalreporter.line(
            "{:22} {:6} passed {:5} failed {:5} skipped {:8.1f} s".format(name, *rows[name])
        )


def _interpreter_of(nodeid):
    path, _, name = nodeid.partition("::")
    if name in under_test.NAMES:
        return name
    return "cpython" if Path(path).parent.name == HERE.name else "cpython, host tools"


class MicroPythonFile(pytest.File):
    def collect(self):
        for name in under_test.NAMES:
            item = MicroPythonItem.from_parent(self, name=name)
            if name in under_test.WITH_CODE:
                item.add_marker("long")
            yield item


class FileFailed(Exception):
    """A test file failed under MicroPython; the text is its output."""


class MicroPythonItem(pytest.Item):
    """One test file on one MicroPython."""

    @property
    def interpreter(self):
        return self.name

    def runtest(self):
        runner = find_or_skip(self.name)
        # The source itself takes most of the interpreter's usual megabyte; the bench measures a
        # board's heap.
        command = runner.interpreter.command(self.path.relative_to(ROOT), heap="4M")
        done = run_file(command, runner.environment_with(HERE / "micropython", HERE))
        output = done.stdout + done.stderr
        counts = LAST_LINE.findall(done.stdout)
        if counts:
            self.user_properties.append(("counts", [int(count) for count in counts[-1]]))
        if done.returncode or not counts:
            last = output.strip().splitlines()[-1:] or ["no output"]
            reason = f"{last[0]} (exit status {done.returncode})"
            if not done.returncode:
                reason = "it printed no count; does it end with unittest.main()?"
            raise FileFailed(f"{reason}\n$ {' '.join(command)}\n{output}")
        passed, _, skipped = (int(count) for count in counts[-1])
        if skipped and not passed:
            reasons = [line for line in output.splitlines() if line.startswith("SKIP: ")]
            pytest.skip("; ".join(reasons))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, FileFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.path.relative_to(ROOT)}[{self.name}]"


def run_file(command, environment):
    """Run a test file with the firmware, the test helpers and the unittest stand-in on its
    path."""
    try:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            timeout=RUN_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        output = b"".join(part for part in (exc.stdout, exc.stderr) if part)
        text = output.decode("utf-8", "replace")
        raise FileFailed(
            f"still ran after {RUN_LIMIT_S} s\n$ {' '.join(command)}\n{text}"
        ) from exc


@pytest.fixture(scope="module", autouse=True)
def _own_secrets():
    """A secret of one file is none in the next."""
    log = sys.modules.get("tenner.log")
    kept = log and (log._secrets[:], log._short[:])
    yield
    log = sys.modules.get("tenner.log")
    if log:
        log._secrets[:], log._short[:] = kept or ([], [])


@pytest.fixture(scope="session")
def micropython():
    """The Unix MicroPython with 64-bit words."""
    return find_or_skip("micropython").interpreter


@pytest.fixture(scope="session")
def micropython32():
    """The MicroPython whose heap is like an ESP32's; skips where it cannot be had."""
    return find_or_skip("micropython32").interpreter


@pytest.fixture(params=list(interpreters.FINDERS))
def any_micropython(request):
    """Each MicroPython in turn."""
    return find_or_skip(request.param).interpreter


@pytest.fixture(params=under_test.WITH_CODE)
def any_image(request):
    """Each interpreter that has the firmware's code inside, as a runner; skips where it cannot be
    built."""
    return find_or_skip(request.param)

"""`make test-deploy`: a board of the LicheeRV Nano's architecture with a real kernel and init, in software.

Software emulation, not KVM: it starts in some 6 s. Its clock stands at 1970 whenever it is switched on.
"""

import os
import re
import time

import pytest

from deploy.bench import wait
from host_tools import debian
from host_tools.board.ports import Port
from host_tools.linux import deploy as deploying
from host_tools.linux.board import LinuxBoard, open_console
from host_tools.project import Project
from host_tools.qemu.riscv64 import Computer
from host_tools.talk.console import Console

# The first run fetches some 90 MB.
pytestmark = pytest.mark.timeout(900)

PORT = Port("ssh://board")
LOG = "/var/log/tenner.log"


@pytest.fixture(scope="module")
def computer(tmp_path_factory):
    try:
        made = Computer(tmp_path_factory.mktemp("riscv64"))
    except (debian.CannotFetch, OSError) as exc:
        if os.environ.get("TENNER_REQUIRE_DEPLOY") == "1":
            pytest.fail(f"riscv64 board: {exc}", pytrace=False)
        pytest.skip(f"riscv64 board: {exc}")
    with made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENNER_SSH", made.ssh)
        yield made


@pytest.fixture(scope="module")
def report(computer, tmp_path_factory):
    """A first deploy to it."""
    project = Project(tmp_path_factory.mktemp("project"))
    with LinuxBoard(PORT) as board:
        found = deploying.deploy(board, project, ask=lambda *_: "skip")
        assert "h behind: until NTP has set it" in deploying.clock_hint(board.probe)
    return found


def answers():
    with Console(open_console(PORT)) as console:
        return console.ask("/why")


def agent(computer):
    """The number of the process that runs."""
    found = re.search(r"process (\d+)", computer.run("/opt/tenner/current/ctl status || true"))
    return found and int(found[1])


def test_a_deploy(computer, report):
    assert report.started.running
    assert report.board == "LICHEERV_NANO", "known by its name"
    assert report.info.machine.startswith("riscv64, ") and "sysvinit" in report.info.machine
    assert answers()[0].startswith("next: ")


def test_it_waits_for_the_clock_and_goes_on_when_that_is_set(computer, report):
    assert "what needs the time of day waits" in computer.run(f"cat {LOG}")
    computer.set_clock()
    assert answers()[0].startswith("next: in ")


def test_an_agent_that_is_killed_is_back(computer, report):
    before = agent(computer)
    begun = time.monotonic()
    computer.run(f"kill -9 {before}")
    wait(lambda: agent(computer) not in (None, before), "the agent")
    print(f"\nback {time.monotonic() - begun:.1f} s after kill -9")
    assert "status 137 and starts again in 1 s" in computer.run(f"cat {LOG}")
    assert answers()[0].startswith("next: ")


def test_after_a_restart_it_runs_again(computer, report):
    computer.run("echo kept >/var/lib/tenner/workspace/NOTE.md")
    computer.restart()
    wait(lambda: agent(computer), "the agent")
    assert answers()[0].startswith("next: ")
    assert computer.run("cat /var/lib/tenner/workspace/NOTE.md") == "kept\n"


def test_after_a_power_cut_it_runs_again(computer, report):
    computer.run("sync")
    computer.power_off()
    computer.switch_on()
    wait(lambda: agent(computer), "the agent")
    assert answers()[0].startswith("next: ")

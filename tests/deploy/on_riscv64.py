"""`make test-deploy`: a board of the LicheeRV Nano's architecture with a real kernel and init, in
software.

Software emulation, not KVM: it starts in 6 s with busybox as init, in 10 with systemd. Its clock
stands at 1970 whenever it is switched on.
"""

import os
import time

import pytest

from deploy.bench import changed, wait
from tenner_host import debian
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.ports import Port
from tenner_host.console.console import Console
from tenner_host.doctor import linux_board as doctor
from tenner_host.errors import CommandError
from tenner_host.linux import deploy as deploying
from tenner_host.linux import release
from tenner_host.project import Project
from tests.qemu.riscv64 import USER, USER_HOME, Computer

PORT = Port("ssh://board")
PILOT = Port(f"ssh://{USER}@board")
LOG = "/var/log/tenner.log"


_SANDBOXED = """
import time
from tenner.port.linux.sandbox import Sandbox
root = "/var/lib/tenner/try"
running = Sandbox(root, root + "/workspace", "").start("/usr/bin/id", ["id"], (20, 100, False))
while True:
    ended = running.poll(lambda part: print(str(bytes(part), "utf-8"), end=""))
    if ended:
        break
    time.sleep(0.05)
while not running.gone():
    time.sleep(0.05)
print(ended)
"""


@pytest.fixture(scope="module", params=["busybox", "systemd"])
def computer(request, tmp_path_factory):
    systemd = request.param == "systemd"
    try:
        made = Computer(tmp_path_factory.mktemp("riscv64"), python=not systemd, systemd=systemd)
    except (debian.CannotFetch, OSError) as exc:
        if os.environ.get("TENNER_REQUIRE_DEPLOY") == "1":
            pytest.fail(f"riscv64 board: {exc}", pytrace=False)
        pytest.skip(f"riscv64 board: {exc}")
    made.init = request.param
    with made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENNER_SSH", made.ssh)
        yield made


@pytest.fixture(scope="module")
def project(computer, tmp_path_factory):
    return Project(tmp_path_factory.mktemp("project"))


def deploy(project, **options):
    with LinuxBoard(PORT) as board:
        found = deploying.deploy(board, project, ask=lambda *_: "skip", **options)
        return found, board.probe


@pytest.fixture(scope="module")
def deployed(project):
    """Return the findings and steps of a first deploy."""
    return deploy(project)


def answers(port=PORT):
    with Console(LinuxBoard.console(port)) as console:
        return console.ask("/why")


def process(computer, name="agent", folder="/run/tenner"):
    """The number of the process that runs; None when none does."""
    line = f"cd {folder} && kill -0 $(cat {name}) 2>/dev/null && cat {name} || true"
    found = computer.run(line).strip()
    return int(found) if found else None


def test_a_deploy(computer, deployed):
    report, probe = deployed
    assert report.started.running
    assert report.board == "LICHEERV_NANO", "known by its name"
    assert probe.get("machine") == "riscv64"
    assert probe.get("init") == {"busybox": "sysvinit", "systemd": "systemd"}[computer.init]
    assert any(line.startswith("next: ") for line in answers())
    if computer.init == "systemd":
        assert "Active: active (running)" in computer.run("systemctl status tenner")


def test_it_waits_for_the_clock_and_goes_on_when_that_is_set(computer, deployed):
    if computer.init == "systemd":
        pytest.skip("systemd begins with the day it was built")
    assert "h behind: until NTP has set it" in deploying.clock_hint(deployed[1])
    assert "tasks by the time of day wait" in computer.run(f"cat {LOG}")
    computer.set_clock()
    assert answers()[-1].startswith("next: in ")


def test_an_agent_that_is_killed_is_back(computer, deployed):
    before = process(computer)
    begun = time.monotonic()
    computer.run(f"kill -9 {before}")
    wait(lambda: process(computer) not in (None, before), "the agent", 90)
    print(f"\nback {time.monotonic() - begun:.1f} s after kill -9")
    assert "status 137 and restarts in 1 s" in computer.run(f"cat {LOG}")
    assert any(line.startswith("next: ") for line in answers())


def test_what_watches_the_agent_is_watched_by_systemd(computer, deployed):
    if computer.init != "systemd":
        pytest.skip("busybox starts it once")
    before = process(computer, "supervisor")
    computer.run(f"kill -9 {before}")
    wait(lambda: process(computer, "supervisor") not in (None, before), "the supervisor", 90)
    wait(lambda: process(computer), "the agent", 90)
    assert any(line.startswith("next: ") for line in answers())


def test_it_has_no_more_rights_than_it_needs(computer, deployed):
    with LinuxBoard(PORT) as board:
        found = doctor._rights(board)
    assert found.state.value == "ok", found
    seen = computer.run(f"sed -n 's/^CapEff:[[:space:]]*0*//p' /proc/{process(computer)}/status")
    assert seen == "2000eb\n"


def test_a_command_of_the_models_still_gets_its_sandbox(computer, deployed):
    """As a process started like the agent: it keeps the rights that the sandbox needs."""
    code = "/var/lib/tenner/try.py"
    computer.run("mkdir -p /var/lib/tenner/try/workspace")
    computer.run(f"cat >{code} <<'END'\n{_SANDBOXED}END")
    kit = "/opt/tenner/current/kit"
    run = f"{kit}/ld.so --library-path {kit} {kit}/micropython"
    lib = "MICROPYPATH=/opt/tenner/current/lib:.frozen"
    if computer.init == "systemd":
        unit = "/etc/systemd/system/tenner.service"
        asked = (
            f"$(sed -n '/^NoNewPriv/,/^$/p' {unit} | grep = | sed \"s/.*/-p '&'/\" | tr '\\n' ' ')"
        )
        command = f'eval "systemd-run --quiet --wait --pipe -E {lib} {asked} {run} {code}"'
    else:
        command = (
            f"{lib} {run} -m tenner.port.linux.least_power {run.split()[0]} "
            f"{run.partition(' ')[2]} {code}"
        )
    said = computer.run(command)
    assert "uid=58" in said and "0 \n" in said, said


def test_a_release_that_does_not_start_is_taken_back(computer, project, deployed):
    before = computer.run("readlink /opt/tenner/current")
    made = release.build("micropython", "riscv64", "LICHEERV_NANO")
    broken = changed(made, app="raise ValueError('broken on purpose')")
    with pytest.raises(CommandError, match="ValueError: broken on purpose"):
        deploy(project, made=broken)
    assert computer.run("readlink /opt/tenner/current") == before
    assert any(line.startswith("next: ") for line in answers())


def test_the_systemd_of_a_user_who_is_not_root(computer, tmp_path):
    if computer.init != "systemd":
        pytest.skip("it has none")
    project = Project(tmp_path)
    with LinuxBoard(PILOT) as board:
        deploying.deploy(board, project, ask=lambda *_: "skip")
        assert f"loginctl enable-linger {USER}`" in deploying.boot_hint(board)
    assert any(line.startswith("next: ") for line in answers(PILOT))
    computer.run(f"loginctl enable-linger {USER}")
    socket = "/run/user/1000/systemd/private"
    wait(lambda: computer.run(f"ls {socket} 2>/dev/null || true"), "the user's systemd", 90)
    with LinuxBoard(PILOT) as board:
        report = deploying.deploy(board, project, ask=lambda *_: "skip")
        assert report.started.running and deploying.boot_hint(board) == ""
        asked = "XDG_RUNTIME_DIR=/run/user/1000 systemctl --user is-active tenner"
        assert board.ssh.run(asked) == b"active\n"
    assert any(line.startswith("next: ") for line in answers(PILOT))


def test_after_a_restart_it_runs_again(computer, deployed):
    computer.run("echo kept >/var/lib/tenner/workspace/NOTE.md")
    computer.restart()
    wait(lambda: process(computer), "the agent", 90)
    assert any(line.startswith("next: ") for line in answers())
    assert computer.run("cat /var/lib/tenner/workspace/NOTE.md") == "kept\n"
    if computer.init == "systemd":
        wait(
            lambda: process(computer, folder=f"{USER_HOME}/.local/share/tenner/run"),
            "the user's agent",
            90,
        )
        assert any(line.startswith("next: ") for line in answers(PILOT))


def test_cpython_and_back(computer, project, deployed):
    if computer.init == "systemd":
        pytest.skip("it has no python3")
    report, probe = deploy(project, runtime="cpython")
    assert report.started.running and not any(
        name.startswith("kit/") for name in report.code.write
    )
    assert "python3" in computer.run(f"tr '\\0' ' ' </proc/{process(computer)}/cmdline")
    assert any(line.startswith("next: ") for line in answers())
    again, probe = deploy(project)
    assert probe.about["runtime"] == "cpython" and not again.code.write, "it stays with that"
    report, _ = deploy(project, runtime="micropython")
    assert report.started.running and "kit/micropython" in report.code.write


def test_after_a_power_cut_it_runs_again(computer, deployed):
    computer.run("sync")
    computer.power_off()
    computer.switch_on()
    wait(lambda: process(computer), "the agent", 90)
    assert any(line.startswith("next: ") for line in answers())

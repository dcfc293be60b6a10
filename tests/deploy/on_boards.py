"""`make test-deploy`: releases brought to a board over a real ssh, and everything that goes wrong
on the way."""

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time

import pytest

from deploy import bench
from deploy.bench import changed, wait
from tenner_host import ROOT, tenner_version
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.ports import Port
from tenner_host.console.console import Console
from tenner_host.errors import BoardGone, BoardSilent, CommandError, Conflict
from tenner_host.linux import deploy as deploying
from tenner_host.linux import release
from tenner_host.linux.release import Release
from tenner_host.project import Project
from tenner_sim.services import API_KEY, MODEL, Services
from tests.host.json_documents import printed
from tests.host.web_client import Client, served

PORT = Port("ssh://board")
LOG = "/var/log/tenner.log"


@pytest.fixture(scope="session")
def able():
    try:
        bench.check()
    except bench.Unavailable as exc:
        if os.environ.get("TENNER_REQUIRE_DEPLOY") == "1":
            pytest.fail(f"deploy bench: {exc}", pytrace=False)
        pytest.skip(f"deploy bench: {exc}")


@pytest.fixture(scope="session")
def first(able):
    return release.build("micropython", bench.architecture(), None)


@pytest.fixture
def server(able, tmp_path, monkeypatch):
    server = bench.Server(tmp_path)
    monkeypatch.setenv("TENNER_SSH", server.ssh)
    yield server
    server.close()


def deploy(server, made, **options):
    with LinuxBoard(PORT) as board:
        return deploying.deploy(
            board, Project(server.project), ask=lambda *_: "skip", made=made, **options
        )


def answers(command="/why"):
    """The agent's answer on its console."""
    with Console(LinuxBoard.console(PORT)) as console:
        return console.ask(command)


def current(server):
    return os.path.basename(os.readlink(server.path("/opt/tenner/current")))


def releases(server):
    return sorted(path.name for path in server.path("/opt/tenner/releases").iterdir())


def log(server):
    return server.path(LOG).read_text()


def tenner(server, *args, expect=0):
    done = subprocess.run(
        [sys.executable, "-m", "tenner_host.cli", *args],
        cwd=server.project,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


# --- releases


def test_a_first_deploy_brings_everything_and_the_next_one_nothing(server, first):
    report = deploy(server, first)
    assert set(report.code.write) == set(first.files)
    assert report.started.running and not report.configured
    assert answers()[-1].startswith("next: in ")
    assert server.path("/var/lib/tenner/workspace/HEARTBEAT.md").exists()
    assert (server.project / "workspace/HEARTBEAT.md").exists()
    assert os.access(server.path("/etc/init.d/S90tenner"), os.X_OK)
    again = deploy(server, first)
    assert not again.code and again.code.unchanged == len(first.files)
    assert again.started.running


def test_one_changed_file_is_all_that_is_sent(server, first):
    deploy(server, first)
    second = changed(first, added="OTHER = 1\n")
    logins = server.logins()
    report = deploy(server, second)
    assert sorted(report.code.write) == ["SHA256SUMS", "lib/tenner/added.mpy"]
    assert server.logins() == logins + 1, "one connection for all calls"
    assert current(server) == second.name
    assert releases(server) == sorted([first.name, second.name]), "the one before is kept"
    old, new = (
        server.path(f"/opt/tenner/releases/{one.name}/kit/libc.so.6") for one in (first, second)
    )
    assert old.stat().st_ino == new.stat().st_ino, "an unchanged file takes no room"
    third = changed(first, added="OTHER = 2\n")
    deploy(server, third)
    assert releases(server) == sorted([second.name, third.name])
    said = printed("deploy --back", tenner(server, "deploy", "board", "--back", "--json"))
    assert said["release"] == current(server) == second.name


def test_a_file_that_changed_on_the_board_is_put_right(server, first):
    deploy(server, first)
    path = server.path("/opt/tenner/current/lib/tenner/app.mpy")
    path.write_bytes(b"not the agent")
    report = deploy(server, first)
    assert list(report.code.write) == ["lib/tenner/app.mpy"]
    assert path.read_bytes() == first.files["lib/tenner/app.mpy"]


@pytest.mark.parametrize(
    "source, reason",
    [
        ("raise ValueError('broken on purpose')", "ValueError: broken on purpose"),
        ("import sys\nsys.exit(7)", "it ended"),
        ("import time\nwhile True:\n    time.sleep(1)", "it does not answer"),
    ],
)
def test_a_release_that_does_not_start_is_taken_back_and_why_is_told(
    server, first, source, reason
):
    deploy(server, first)
    broken = changed(first, app=source)
    broken.files["ctl"] = broken.files["ctl"].replace(b"answer_s=120 ", b"answer_s=9 ")
    broken = changed(Release(broken.files))
    with pytest.raises(CommandError, match=reason) as caught:
        deploy(server, broken)
    assert "rolled back to the previous release" in caught.value.message
    assert current(server) == first.name and releases(server) == [first.name]
    assert answers()[-1].startswith("next: in ")
    assert len(server.agents()) == 1


def test_a_first_release_that_does_not_start_says_why(server, first):
    server.path("/etc/tenner").mkdir()
    server.path("/etc/tenner/config.json").write_text('{"name": ')
    with pytest.raises(CommandError, match=r"config\.json: line 1"):
        deploy(server, first)
    server.path("/etc/tenner/config.json").write_text('{"name": "x"}')
    assert deploy(server, first).started.running, "fixed, and deployed again"


def test_settings_of_the_owner_survive_and_nobody_else_reads_them(server, first):
    deploy(server, first)
    with LinuxBoard(PORT) as board:
        board.write_files({"/config.json": b'{"name": "mine"}'})
    deploy(server, changed(first, added="OTHER = 1\n"))
    path = server.path("/etc/tenner/config.json")
    assert path.read_bytes() == b'{"name": "mine"}'
    for name in (path, server.path(LOG), server.path("/run/tenner/console")):
        assert stat.S_IMODE(name.stat().st_mode) == 0o600, name


# --- faults on the way


@pytest.fixture
def small_disk(server):
    """A disk of so many KB below /opt."""
    mounted = []

    def make(size_kb):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", server.path("/opt")]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("deploy bench: no right to mount a small disk here")
        mounted.append(server.path("/opt"))

    yield make
    server.power_off()
    for path in mounted:
        subprocess.run(["umount", path], check=True)


def test_a_disk_that_is_too_small_is_seen_before_anything_is_changed(server, small_disk, first):
    small_disk(4096)
    with pytest.raises(CommandError, match=r"too full: \d+ KB are needed .* Nothing was changed"):
        deploy(server, first)
    assert not server.path("/opt/tenner").exists()


def test_a_disk_that_gets_full_in_the_middle_leaves_the_old_release(
    server, small_disk, first, monkeypatch
):
    small_disk(8192)
    deploy(server, first)
    monkeypatch.setattr(deploying, "_SPARE", -(10**9))
    files = {**first.files, "lib/big": os.urandom(4 * 1024 * 1024)}
    with pytest.raises(CommandError, match="its disk is full. The previous one still runs"):
        deploy(server, changed(Release(files)))
    assert current(server) == first.name and releases(server) == [first.name]
    assert answers()[-1].startswith("next: in ")


def test_a_connection_lost_while_files_are_sent_changes_nothing(server, first):
    deploy(server, first)
    # The board takes the first part and then waits, as on a network that has gone away.
    gzip = server.path("/bin/gzip")
    gzip.unlink()
    gzip.write_text(
        "#!/bin/sh\nhead -c 100 >/tmp/part\n: >/tmp/waits\nwhile :; do sleep 1; done\n"
    )
    gzip.chmod(0o755)
    cutter = threading.Thread(
        target=lambda: (wait(server.path("/tmp/waits").exists, "the first part"), server.cut())
    )
    cutter.start()
    second = changed(first, added="OTHER = 1\n")
    with pytest.raises(
        BoardGone, match="in the middle of a deploy. The previous release still runs"
    ):
        deploy(server, second)
    cutter.join()
    assert current(server) == first.name
    gzip.unlink()
    gzip.symlink_to("busybox")
    assert answers()[-1].startswith("next: in ")
    assert deploy(server, second).started.running
    assert releases(server) == sorted([first.name, second.name]), "and nothing half is left"


#: Runs ssh, and Ctrl-C comes before or behind its n-th call.
IMPATIENT = """#!/bin/sh
count=$(($(cat {count}) + 1))
echo $count > {count}
[ $count = {before} ] && kill -INT $PPID && sleep 1
{ssh} "$@"
status=$?
[ $count = {behind} ] && kill -INT $PPID && sleep 1
exit $status
"""


def impatient(server, before=0, behind=0):
    """Deploy by an ssh with a Ctrl-C; return the number of its calls."""
    count, wrapper = server.project / "count", server.project / "impatient"
    count.write_text("0")
    wrapper.write_text(IMPATIENT.format(count=count, ssh=server.ssh, before=before, behind=behind))
    wrapper.chmod(0o755)
    return count, wrapper


def test_ctrl_c_at_every_call_of_ssh_leaves_the_old_release_or_the_new(server, first, monkeypatch):
    deploy(server, first)
    made = [changed(first, added=f"OTHER = {one}\n") for one in (1, 2)]
    count, wrapper = impatient(server)
    with monkeypatch.context() as patched:
        patched.setenv("TENNER_SSH", str(wrapper))
        assert deploy(server, made[0]).started.running
    total = int(count.read_text())
    assert total > 5
    for number in range(2 * total):
        at, new = number // 2 + 1, made[(number + 1) % 2]
        when = {"before": at} if number % 2 else {"behind": at}
        count, wrapper = impatient(server, **when)
        with monkeypatch.context() as patched:
            patched.setenv("TENNER_SSH", str(wrapper))
            try:
                deploy(server, new)
            except KeyboardInterrupt:
                pass
            else:
                # Its last call only closes the connection.
                assert int(count.read_text()) <= at or at == total, (when, total)
        wait(lambda: answers()[-1].startswith("next: "), "the agent, old or new")
        assert deploy(server, new).started.running, when
        assert current(server) == new.name
        assert not [one for one in releases(server) if one.endswith((".new", ".tmp"))]


def test_a_connection_lost_while_the_board_switches_over_does_not_stop_it(server, first):
    deploy(server, first)
    second = changed(first, added="OTHER = 1\n")
    trying = server.path("/opt/tenner/trying")
    cutter = threading.Thread(target=lambda: (wait(trying.exists, "the switch"), server.cut()))
    cutter.start()
    with pytest.raises(BoardGone, match="It finishes alone"):
        deploy(server, second)
    cutter.join()
    wait(lambda: not trying.exists(), "the board to finish")
    assert current(server) == second.name
    assert answers()[-1].startswith("next: in ")


def test_power_lost_while_the_board_switches_over_brings_the_old_release_back(server, first):
    deploy(server, first)
    second = changed(first, added="OTHER = 1\n")
    trying = server.path("/opt/tenner/trying")
    cutter = threading.Thread(
        target=lambda: (
            wait(lambda: trying.exists() and current(server) == second.name, "the switch"),
            server.power_off(),
        )
    )
    cutter.start()
    with pytest.raises(CommandError):
        deploy(server, second)
    cutter.join()
    server.boot()
    wait(lambda: len(server.agents()) == 1, "the agent")
    assert current(server) == first.name
    assert "cut off by a restart of the board" in log(server)
    assert answers()[-1].startswith("next: in ")
    assert deploy(server, second).started.running


def test_power_lost_while_the_init_script_is_written_leaves_a_whole_one(server, first):
    deploy(server, first)
    second = changed(first, added="OTHER = 1\n")
    cat = server.path("/bin/cat")
    cat.unlink()
    cat.write_text(
        "#!/bin/sh\n"
        f'if [ $# = 0 ] && [ "$(readlink /opt/tenner/current)" = releases/{second.name} ]; then\n'
        ": >/tmp/waits; while :; do sleep 1; done; fi\n"
        'exec /bin/busybox cat "$@"\n'
    )
    cat.chmod(0o755)
    cutter = threading.Thread(
        target=lambda: (wait(server.path("/tmp/waits").exists, "the script"), server.power_off())
    )
    cutter.start()
    with pytest.raises(CommandError):
        deploy(server, second)
    cutter.join()
    cat.unlink()
    cat.symlink_to("busybox")
    server.boot()
    wait(lambda: len(server.agents()) == 1, "the agent")
    assert current(server) == first.name
    assert deploy(server, second).started.running
    assert [
        path.name for path in server.path("/etc/init.d").iterdir() if "tenner" in path.name
    ] == ["S90tenner"]


# --- life


def test_an_agent_that_is_killed_is_back_and_nothing_is_lost(server, first, record_property):
    deploy(server, first)
    (before,) = server.agents()
    start = time.monotonic()
    os.kill(before, 9)
    wait(lambda: not server.agents(), "its end")
    # The agent reads a line sent while it was away once it is back.
    with server.path("/run/tenner/console").open("r+b", buffering=0) as console:
        console.write(b"/=while-away\r")
    wait(lambda: "There is no command /=while-away" in log(server), "its answer")
    print(f"\nback and answering {time.monotonic() - start:.1f} s after kill -9")
    assert "status 137 and restarts in 1 s" in log(server)
    assert server.agents() != [before]


def test_an_agent_that_ends_again_and_again_is_started_ever_more_seldom(server, first):
    deploy(server, first)
    server.path("/etc/tenner").mkdir(exist_ok=True)
    server.path("/etc/tenner/config.json").write_text("not json")
    for pid in server.agents():
        os.kill(pid, 9)
    wait(lambda: "restarts in 4 s" in log(server), "the back-off")
    waits = [line.rpartition(" in ")[2] for line in log(server).splitlines() if "ended" in line]
    assert waits[:3] == ["1 s", "2 s", "4 s"]


def test_after_a_reboot_the_agent_runs_again(server, first):
    deploy(server, first)
    server.power_off()
    server.boot()
    wait(lambda: len(server.agents()) == 1, "the agent")
    assert answers()[-1].startswith("next: in ")


def test_stop_ends_everything_and_start_twice_starts_one(server, first):
    deploy(server, first)
    with LinuxBoard(PORT) as board:
        board.ctl("stop")
        wait(lambda: server.processes() == [], "the last process")
        assert "not running" in board.ctl("status", ok=(3,))
        board.ctl("start")
        board.ctl("start")
        wait(lambda: len(server.agents()) == 1, "the agent")
    with pytest.raises(CommandError, match="without a REPL"):
        LinuxBoard(PORT).repl()


def test_the_environment_of_the_service_overrides_its_settings(server, first):
    server.path("/etc/tenner").mkdir()
    server.path("/etc/tenner/environment").write_text("TENNER_TELEGRAM_TOKEN=1:abcdefgh\n")
    deploy(server, first)
    assert "no owner yet" in log(server) and "abcdefgh" not in log(server)


# --- the other commands over the same way


def test_the_commands_of_a_board_work_over_ssh(server, first):
    deploy(server, first)
    Project(server.project).remember(port=PORT.as_json())
    assert "next: in" in tenner(server, "why")
    assert "micropython" in tenner(server, "status", "--port", "ssh://board")
    assert "/status - uptime" in tenner(server, "chat", "/help")
    said = printed("deploy", tenner(server, "deploy", "board", "--json"))
    assert said["agent"]["running"] is True
    assert "have not run yet" in tenner(server, "logs")
    saved = json.loads(tenner(server, "backup", "--json"))
    assert "/workspace/HEARTBEAT.md" in saved["files"]
    server.path("/var/lib/tenner/workspace/HEARTBEAT.md").unlink()
    # The agent runs meanwhile, and may have written a file of its state.
    assert "files written, the others were the same" in tenner(
        server, "restore", saved["file"], "--yes"
    )
    assert server.path("/var/lib/tenner/workspace/HEARTBEAT.md").exists()
    server.path("/var/lib/tenner/workspace/NOTE.md").write_text("written by the agent")
    assert "NOTE.md: board -> here" in tenner(server, "pull")
    (server.project / "script.py").write_text("print(1)")
    assert "without a REPL" in tenner(server, "run", "script.py", expect=1)


def test_each_outcome_as_json(server):
    """In the life of one board, from files that are refused to the network that is away."""

    def said(*options, expect=0):
        return printed(
            "deploy", tenner(server, "deploy", "board", "--json", *options, expect=expect)
        )

    def refused(words, *options, expect=1, name="deploy"):
        text = tenner(server, "deploy", "board", "--json", *options, expect=expect)
        found = printed(name, text)
        assert set(found) == {"error"} and found["error"]["exit"] == expect
        assert words in found["error"]["message"]

    # Nothing is there yet, and nothing of this comes there.
    ours = server.project / "workspace/HEARTBEAT.md"
    ours.parent.mkdir()
    ours.write_text("- (every 1h) Look.\n", encoding="utf-16")
    refused("is not UTF-8 text")
    ours.write_text("- (every 1h) Look.\n")
    refused("there is no Linux board 'NOPE'", "--board", "NOPE")
    refused("is no package", "--package", str(ours))
    refused("no python3", "--runtime", "cpython")
    refused("has no release before", "--back", name="deploy --back")
    planned = said("--dry-run")
    assert planned["dry_run"] and planned["agent"] is None and planned["code"]["written"]
    assert [one["action"] for one in planned["workspace"]] == ["push"]
    assert not server.path("/opt/tenner").exists()
    # A first release that does not start, and one that does.
    server.path("/etc/tenner").mkdir()
    server.path("/etc/tenner/config.json").write_text('{"name": ')
    refused("config.json: line 1")
    server.path("/etc/tenner/config.json").write_text('{"name": "x"}')
    shutil.rmtree(server.path("/opt/tenner"))
    begun = said()
    assert begun["agent"]["running"] and begun["code"]["written"] == planned["code"]["written"]
    # Nothing to do, a damaged file, a file that changed on both sides.
    again = said()
    assert again["code"]["written"] == again["workspace"] == [] and again["agent"]["running"]
    server.path("/opt/tenner/current/lib/tenner/app.mpy").write_bytes(b"not the agent")
    assert said()["code"]["written"] == ["lib/tenner/app.mpy"]
    ours.write_text("- (every 2h) Look.\n")
    server.path("/var/lib/tenner/workspace/HEARTBEAT.md").write_text("- (every 3h) Look.\n")
    both = said(expect=5)
    assert both["conflicts"] == ["HEARTBEAT.md"] and both["error"]["exit"] == 5
    assert both["agent"]["running"]
    refused("has no release before", "--back", name="deploy --back")
    server.close()
    refused("board", expect=4)


@pytest.fixture
def services(server):
    with Services() as made:
        # The name on the stand-in's certificate, looked up inside the board.
        server.path("/etc/hosts").write_text("127.0.0.1 localhost\n")
        yield made


def test_setup_tries_the_model_on_the_board_and_doctor_finds_it_well(server, first, services):
    deploy(server, first)
    Project(server.project).remember(port=PORT.as_json())
    given = server.project / "given.json"
    llm = {"base_url": services.model.base_url, "api_key": API_KEY, "model": MODEL}
    given.write_text(json.dumps({"llm": llm}))
    authority = server.project / "authority.pem"
    authority.write_bytes(services.authority.pem)
    said = tenner(server, "setup", "--from", str(given), "--ca", str(authority))
    assert f"{MODEL} answers the board" in said
    path = server.path("/etc/tenner/config.json")
    assert API_KEY in path.read_text() and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "hello" in tenner(server, "chat", "say: hello")
    found = {one["check"]: one for one in json.loads(tenner(server, "doctor", "--json"))["checks"]}
    assert {one["state"] for one in found.values()} <= {"ok", "skip"}, found
    assert MODEL in found["key"]["text"] and "up 0 h" in found["agent"]["text"]


def test_doctor_says_what_is_wrong(server, first):
    deploy(server, first)
    Project(server.project).remember(port=PORT.as_json())
    with LinuxBoard(PORT) as board:
        board.ctl("stop")
    server.path("/opt/tenner/current/lib/tenner/app.mpy").write_bytes(b"damaged")
    said = tenner(server, "doctor", expect=7)
    assert "has changed since it was sent: lib/tenner/app.mpy" in said
    assert "the agent does not run" in said
    server.close()
    assert "nothing listens for ssh" in tenner(server, "doctor", expect=7)


def test_the_workspace_goes_both_ways_and_never_over_a_change(server, first):
    deploy(server, first)
    here = server.project / "workspace"
    there = server.path("/var/lib/tenner/workspace")
    (here / "USER.md").write_text("from here")
    (there / "memory").mkdir()
    (there / "memory/NOTE.md").write_text("from there")
    (here / "SOUL.md").write_text("here")
    (there / "SOUL.md").write_text("there")
    report = deploy(server, first)
    assert (there / "USER.md").read_text() == "from here"
    assert (here / "memory/NOTE.md").read_text() == "from there"
    assert report.outcome.conflicts == ["SOUL.md"]
    assert (there / "SOUL.md").read_text() == "there"


def test_what_the_agent_writes_meanwhile_is_not_overwritten(server, first):
    deploy(server, first)
    with LinuxBoard(PORT) as board:
        board.survey(["/workspace"])
        path = server.path("/var/lib/tenner/workspace/USER.md")
        path.write_text("the agent was quicker")
        with pytest.raises(Conflict, match=r"the agent has just changed /workspace/USER\.md"):
            board.write_files({"/workspace/USER.md": b"too late", "/workspace/NEW.md": b"new"})
    assert path.read_text() == "the agent was quicker"
    assert path.with_name("NEW.md").read_text() == "new"


def test_the_page_reads_and_writes_while_the_agent_runs_on(server, first):
    deploy(server, first)
    started = log(server).count("boot      tenner")
    with served(PORT) as page:
        client = Client(page).pair()
        now = client("GET", "/now").json
        assert now["problem"] is None and now["agent"]["status"]["version"] == tenner_version()
        assert not now["board"]["restarts_for_files"]
        assert client("POST", "/files/read", {}).status == 200
        found = client("GET", "/heartbeat").json
        text = "# Heartbeat\n\n- (every 10m) Say: hello.\n"
        stale = client("PUT", "/heartbeat", {"text": text, "version": "0"})
        assert stale.status == 409
        answer = client("PUT", "/heartbeat", {"text": text, "version": found["version"]})
        assert answer.status == 200, answer.body
        page.state.agent = None
        assert [one["line"] for one in client("GET", "/now").json["agent"]["tasks"]] == [3]
    assert server.path("/var/lib/tenner/workspace/HEARTBEAT.md").read_text() == text
    assert log(server).count("boot      tenner") == started


# --- without root rights


@pytest.fixture
def pilot(able, tmp_path, monkeypatch):
    server = bench.Server(tmp_path, bench.PILOT)
    monkeypatch.setenv("TENNER_SSH", server.ssh)
    yield server
    server.close()


def test_a_user_who_is_not_root_has_it_in_the_own_folders(pilot, first):
    before = set(pilot.root.rglob("*"))
    said = tenner(pilot, "deploy", "board")
    assert "agent      running" in said
    assert "let that call `/users/pilot/.local/lib/tenner/current/ctl start`" in said
    assert answers()[-1].startswith("next: in ")
    (agent,) = pilot.agents()
    assert os.stat(f"/proc/{agent}").st_uid == 1000
    second = changed(first, added="OTHER = 1\n")
    assert sorted(deploy(pilot, second).code.write) == [
        "SHA256SUMS",
        "lib/tenner/added.mpy",
    ]
    (agent,) = pilot.agents()
    os.kill(agent, 9)
    log = pilot.path("/users/pilot/.local/state/tenner/agent.log")
    wait(lambda: "status 137 and restarts in 1 s" in log.read_text(), "the end")
    wait(lambda: pilot.agents() not in ([], [agent]), "the agent")
    with LinuxBoard(PORT) as board:
        board.write_files({"/config.json": b'{"name": "mine"}'})
    config = pilot.path("/users/pilot/.config/tenner/config.json")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert pilot.path("/users/pilot/.local/share/tenner/workspace/HEARTBEAT.md").exists()
    outside = {path for path in pilot.root.rglob("*") if path not in before}
    places = {path.relative_to(pilot.root).as_posix() for path in outside}
    assert [one for one in places if not one.startswith(("users/pilot", "proc/"))] == []


# --- no way in


def test_a_board_with_another_key_is_not_talked_to(server):
    (server.folder / "known").write_text(
        f"[127.0.0.1]:{server.port} {(server.folder / 'user.pub').read_text()}"
    )
    with pytest.raises(BoardSilent, match="does not know this board's key"):
        LinuxBoard(PORT).look()


def test_who_has_no_key_is_told_what_to_do(server):
    (server.folder / "authorized").write_text("")
    with pytest.raises(BoardSilent, match="ssh-copy-id board"):
        LinuxBoard(PORT).look()


def test_a_host_where_nothing_listens(server):
    server.close()
    with pytest.raises(BoardSilent, match="nothing listens for ssh"):
        LinuxBoard(PORT).look()


# --- the package


def test_a_package_runs_where_nothing_is_installed(server):
    from tenner_host.linux import package

    name, data = package.package(bench.architecture())
    path = server.root / name
    path.write_bytes(data)
    shutil.unpack_archive(path, server.path("/tmp"))
    program = f"/tmp/{name.removesuffix('.tar.xz')}/tenner-agent"
    done = subprocess.run(
        [bench.CHROOT, server.root, program, "--help"],
        capture_output=True,
        text=True,
        env={"PATH": "/bin"},
        check=True,
    )
    assert "--heartbeat" in done.stdout

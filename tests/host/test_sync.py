"""`tenner sync` on virtual boards: code whole or not at all, the workspace both ways, nothing
lost."""

import json
import os
import random
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

from tenner_host import FIRMWARE, ROOT
from tenner_host.board.opening import open_board
from tenner_host.build import compile_modules
from tenner_host.cli import main as tenner
from tenner_host.errors import BoardGone, CommandError
from tenner_host.project import Project
from tenner_host.sync.ignore import Ignore
from tenner_host.sync.run import synchronize
from tenner_host.sync.threeway import Action, plan
from tenner_host.sync.watch import Watch
from tenner_sim.vboard import VirtualBoard
from tests.bench.cable import Cable

PARTS = 12
# Stands for the agent: it starts only when all its modules are of one version, and says which.
APP = """
def main(root=""):
    import time
    parts = [__import__("tenner.part%d" % n, None, None, ["V"]).V for n in range({parts})]
    kind = "MIX" if [v for v in parts if v != {version}] else "tenner"
    print("   +0.0s boot      %s {version} on esp32 (POWER start)" % kind)
    while True:
        time.sleep_ms(5)
"""


def agent(version, parts=PARTS, extra=None):
    """The files of a small agent; each version has a module of its own, and loses one of the
    other's."""
    modules = {"tenner/__init__.py": b"__version__ = '%d'\n" % version}
    modules["tenner/app.py"] = APP.format(parts=parts, version=version).encode()
    for number in range(parts):
        filler = "".join(f"def f{n}_{version}():\n    return {n}\n" for n in range(number * 3))
        modules[f"tenner/part{number}.py"] = f"V = {version}\n{filler}".encode()
    modules[f"tenner/deep/only{version}.py"] = b"V = 1\n"
    tree = {f"/lib/{name[:-3]}.mpy": data for name, data in compile_modules(modules).items()}
    for name in ("boot.py", "main.py"):
        tree[f"/{name}"] = (FIRMWARE / name).read_bytes()
    tree["/lib/tenner/data.tsv"] = b"version\t%d\n" % version
    return tree | (extra or {})


def never(path, here, board):
    raise AssertionError(f"{path} is no conflict")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))
    (tmp_path / "workspace").mkdir()
    return Project(tmp_path)


@pytest.fixture
def write(project):
    def write(name, text):
        path = project.root / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def run(board, project, tree, ask=never, **options):
    url = board if isinstance(board, str) else board.pty
    with open_board(url) as link:
        return synchronize(link, project, ask=ask, tree=tree, **options)


def code_of(board):
    return {
        path: data
        for path, data in board.read_tree().items()
        if path.startswith("/lib/") or path in ("/boot.py", "/main.py")
    }


def started_code_of(board):
    """Return the code that starts, without the leftovers of a sync that was cut off."""
    return {
        path: data for path, data in code_of(board).items() if not path.endswith((".new", ".tmp"))
    }


# Code.


def test_an_empty_board_gets_everything_and_runs(project):
    with VirtualBoard({}) as board:
        report = run(board, project, agent(1))
        assert (report.started.running, report.started.text) == (
            True,
            "tenner 1 on esp32 (POWER start)",
        )
        assert code_of(board) == agent(1)
        assert not report.configured


def test_only_what_changed_is_written_and_nothing_when_nothing_did(project):
    with VirtualBoard(agent(1)) as board:
        before = board.flash_counters()
        report = run(board, project, agent(1))
        assert (report.code.write, report.code.remove) == ({}, [])
        after = board.flash_counters()
        assert (after.erases, after.programs) == (before.erases, before.programs)
        assert report.started.running
        changed = agent(1) | {"/lib/tenner/data.tsv": b"other\n"}
        report = run(board, project, changed)
        assert list(report.code.write) == ["/lib/tenner/data.tsv"]
        assert code_of(board) == changed


def test_what_is_stale_or_shadows_goes_and_what_is_the_owners_stays(project):
    there = agent(1) | {
        "/lib/tenner/part3.py": b"V = 99\n",
        "/lib/tenner/gone/away.mpy": b"old",
        "/tenner/part4.py": b"V = 98\n",
        "/tenner/of_the_owner.py": b"mine",
        "/lib/owners_library.py": b"mine",
        "/notes.txt": b"mine",
    }
    with VirtualBoard(there) as board:
        report = run(board, project, agent(1))
        assert report.code.shadows == [
            "/lib/tenner/part3.py",
            "/tenner/of_the_owner.py",
            "/tenner/part4.py",
        ]
        assert (report.outcome.saved / "tenner/of_the_owner.py").read_bytes() == b"mine"
        assert report.started.text == "tenner 1 on esp32 (POWER start)"
        left = board.read_tree()
        owners = {"/lib/owners_library.py", "/notes.txt"}
        assert set(left) == set(agent(1)) | owners
        with open_board(board.pty) as link:
            assert "gone" not in link.evaluate("__import__('os').listdir('/lib/tenner')")


def test_the_library_of_an_older_version_goes(project):
    library = {"/lib/chumicro_mqtt/client.mpy": b"M", "/lib/chumicro_mqtt/__init__.mpy": b"M"}
    with VirtualBoard(agent(1) | library) as board:
        report = run(board, project, agent(1))
        assert sorted(report.code.remove) == sorted(library)
        assert "chumicro_mqtt" not in board.exec("import os; print(os.listdir('/lib'))")


def test_a_boot_py_of_the_owners_own_is_kept_here(project):
    with VirtualBoard({"/boot.py": b"import webrepl\n", "/main.py": b"# This is mine\n"}) as board:
        report = run(board, project, agent(1))
    assert report.code.foreign == ["/boot.py", "/main.py"]
    assert (report.outcome.saved / "boot.py").read_bytes() == b"import webrepl\n"
    assert (report.outcome.saved / "main.py").read_bytes() == b"# This is mine\n"


def test_a_stock_boot_py_is_replaced_silently(project):
    stock = b"# This file is executed on every boot (including wake-boot from deepsleep)\n"
    with VirtualBoard({"/boot.py": stock}) as board:
        assert run(board, project, agent(1)).code.foreign == []


def test_the_wrong_mpy_version_is_refused_before_anything_is_written(project):
    tree = agent(1)
    tree["/lib/tenner/app.mpy"] = b"M\x05" + tree["/lib/tenner/app.mpy"][2:]
    tree = {
        path: data for path, data in tree.items() if "part" not in path and "__init" not in path
    }
    with VirtualBoard({}) as board:
        with pytest.raises(
            CommandError, match=r"loads .mpy version 6; the agent is built as version 5"
        ):
            run(board, project, tree)
        assert "/lib" not in str(sorted(board.read_tree()))


def test_a_full_flash_is_refused_before_anything_is_written(project):
    with VirtualBoard(agent(1) | {"/workspace/big.bin": bytes(1900000)}) as board:
        with pytest.raises(
            CommandError, match=r"too full: \d+ KB are needed .* Nothing was changed"
        ):
            run(board, project, agent(2, extra={"/lib/tenner/x.tsv": bytes(200000)}))
        board.wait_for("tenner 1 on esp32")
        assert code_of(board) == agent(1)


def test_a_dry_run_changes_nothing(project, write):
    write("NOTE.md", "hello\n")
    with VirtualBoard(agent(1)) as board:
        before = board.read_tree()
        report = run(board, project, agent(2), dry_run=True)
        assert len(report.code.write) > PARTS
        assert [(step.path, step.action) for step in report.steps] == [("NOTE.md", Action.PUSH)]
        board.wait_for("tenner 1 on esp32")
        assert board.read_tree() == before
        assert not project.exists


def test_ctrl_c_leaves_the_board_as_it_was(project):
    def interrupt(path, done):
        if path.endswith("part5.mpy"):
            raise KeyboardInterrupt

    with VirtualBoard(agent(1)) as board:
        with pytest.raises(KeyboardInterrupt):
            run(board, project, agent(2), progress=interrupt)
        board.wait_for("tenner 1 on esp32")
        assert code_of(board) == agent(1)


def test_an_armed_watchdog_does_not_bite_meanwhile(project):
    """A watchdog cannot be stopped, only be given more time, before anything else."""
    armed = (
        b"import machine\nwdt = machine.WDT(timeout=9000)\nprint('armed')\nwhile True:\n"
        b"    wdt.feed()\n"
    )
    left = []
    with VirtualBoard(agent(1) | {"/main.py": armed}) as board:
        board.wait_for("armed")
        assert board.status()["watchdog_s"] < 10

        def look(path, done):
            left.append(board.status()["watchdog_s"])

        assert run(board, project, agent(2), progress=look).started.running
    assert len(left) > PARTS
    assert min(left) > 60


# Cut off.


def sync_through(board, project, tree, cut_after=None):
    """A sync over a cable that is pulled after so many bytes; how many there were."""
    with Cable(board.tcp_port, cut_after) as cable:
        if cut_after is None:
            run(cable.url, project, tree)
        else:
            with pytest.raises((BoardGone, CommandError)):
                run(cable.url, project, tree)
            assert cable.pulled.is_set()
        return cable.bytes


def test_the_cable_is_pulled_at_twenty_points(project):
    """The board loses its power with its cable. It starts all old or all new, and the next sync
    repairs it."""
    chosen = random.Random(6)
    with VirtualBoard(agent(1), tcp_port=0) as board:
        total = sync_through(board, project, agent(2))
        old, new, version = 2, 1, {"old": 0, "new": 0}
        for _ in range(20):
            sync_through(board, project, agent(new), chosen.randrange(40, total * 9 // 10))
            board.power_cycle()
            board.wait_for(" on esp32 (POWER start)")
            last = board.serial_log.splitlines()[-1]
            assert "MIX" not in last, last
            found = int(last.split("tenner ")[1].split()[0])
            assert found in (old, new)
            assert started_code_of(board) == agent(found)
            version["new" if found == new else "old"] += 1
            if found == new:
                old, new = new, old
        assert version["old"], version
        run(board, project, agent(new))
        assert code_of(board) == agent(new), "nothing is left beside it"


def test_an_empty_board_that_is_cut_off_starts_nothing_until_all_is_there(project):
    tree = agent(1, extra={"/lib/tenner/a.tsv": random.Random(1).randbytes(20000)})
    with VirtualBoard({}, tcp_port=0) as board:
        for cut in (12000, 29000):
            sync_through(board, project, tree, cut)
            board.power_cycle()
            board.wait_for(">>> ")
            assert "tenner" not in board.serial_log.splitlines()[-1]
            assert "/lib/tenner/a.tsv" in code_of(board), "it came so far"
            assert "/main.py" not in code_of(board)
        assert run(board, project, tree).started.running
        assert code_of(board) == tree


def test_ctrl_c_leaves_an_empty_board_empty(project):
    def interrupt(path, done):
        if path.endswith("part5.mpy"):
            raise KeyboardInterrupt

    with VirtualBoard({"/mine.py": b"x = 1\n"}) as board:
        with pytest.raises(KeyboardInterrupt):
            run(board, project, agent(1), progress=interrupt)
        assert set(board.read_tree()) == {"/mine.py", "/boot.py"}


def test_the_power_fails_at_any_write_of_the_activation(project):
    """At each operation on the flash from the first staged file to the end, in steps."""
    with VirtualBoard(agent(1), tcp_port=0) as board:
        before = board.flash_counters().operations
        run(board, project, agent(2))
        total = board.flash_counters().operations - before
        old, new, seen = 2, 1, set()
        # The activation itself is the last third.
        points = [total * part // 100 for part in (3, 20, 40, 60, 66, 70, 74, 78, 82, 86, 90, 94)]
        for number, point in enumerate(points):
            board.power_cut(point, torn=bool(number % 2))
            with Cable(board.tcp_port) as cable:
                # A board without power takes its port with it.
                unplugged = threading.Thread(
                    target=lambda: (board.wait_state("off"), cable.pull())
                )
                unplugged.start()
                with pytest.raises(CommandError, match="went away"):
                    run(cable.url, project, agent(new))
                unplugged.join()
            board.power_on()
            board.wait_for(" on esp32 (POWER start)")
            last = board.serial_log.splitlines()[-1]
            assert "MIX" not in last, (point, last)
            found = int(last.split("tenner ")[1].split()[0])
            assert started_code_of(board) == agent(found)
            seen.add(found == new)
            if found == new:
                old, new = new, old
        assert seen == {True, False}, "both outcomes were met"


def test_main_py_starts_no_mix_when_boot_py_could_not_finish(project):
    half = agent(1) | {"/lib/next": b"/nowhere/x.mpy\n-/lib\n", "/lib/tenner/part1.mpy.new": b"x"}
    with VirtualBoard(half) as board:
        board.wait_for("new code is not all in place: run `tenner sync` again")
        assert run(board, project, agent(1)).started.running
        assert code_of(board) == agent(1)


# The workspace.

SIDES = [None, "a", "b"]
# (synced, here, board) -> the action
TABLE = {
    (None, "a", None): Action.PUSH,
    (None, None, "a"): Action.PULL,
    (None, "a", "a"): Action.RECORD,
    (None, "a", "b"): Action.CONFLICT,
    ("a", "a", "a"): None,
    ("a", "b", "a"): Action.PUSH,
    ("a", "a", "b"): Action.PULL,
    ("a", "b", "b"): Action.RECORD,
    ("a", None, "a"): Action.GONE_HERE,
    ("a", "a", None): Action.GONE_BOARD,
    ("a", None, None): Action.FORGET,
    ("a", None, "b"): Action.CONFLICT,
    ("a", "b", None): Action.CONFLICT,
    ("c", "a", "b"): Action.CONFLICT,
}


@pytest.mark.parametrize("states", TABLE, ids=str)
def test_three_ways(states):
    synced, here, board = ({} if state is None else {"f": state} for state in states)
    steps = plan(synced, here, board)
    assert [step.action for step in steps] == ([TABLE[states]] if TABLE[states] else [])


def test_no_state_loses_a_change_without_asking():
    for synced in (*SIDES, "c"):
        for here in SIDES:
            for board in SIDES:
                states = [{} if state is None else {"f": state} for state in (synced, here, board)]
                for step in plan(*states):
                    if step.action is Action.PUSH:
                        assert board == synced, "the board's version was known here"
                    if step.action is Action.PULL:
                        assert here == synced, "the version here was known to the board"


IGNORED = [
    ("__pycache__/x.py", True),
    ("a/__pycache__/x.py", True),
    (".git/config", True),
    ("notes.txt~", True),
    ("HEARTBEAT.md", False),
    ("memory/2026.md", False),
    ("private/x.md", True),
    ("a/private/x.md", False),
    ("log/a/b/c.txt", True),
    ("keep.log", False),
    ("other.log", True),
    ("a/x1.csv", True),
    ("a/x12.csv", False),
]


@pytest.mark.parametrize(("path", "out"), IGNORED)
def test_the_ignore_file(path, out):
    ignore = Ignore("# mine\n/private/\nlog/**\n*.log\n!keep.log\nx[0-9].csv\n")
    assert ignore(path) is out


def test_a_line_of_the_ignore_file_that_is_no_pattern():
    with pytest.raises(
        CommandError, match=r"^\.tennerignore of this project: Invalid git pattern: '!'; it takes"
    ):
        Ignore("*.log\n!\n")


def test_a_file_that_the_sync_has_written_is_no_change(project, write):
    watch = Watch(project, "VIRTUAL")

    def begun():
        write("pulled.md", "of the board\n")
        write("deep/pulled.md", "of the board\n")
        watch.settled(["pulled.md", "deep/pulled.md", "deleted.md"])
        write("own.md", "of the owner\n")

    found = watch.changes(begun)
    workspace = project.root.resolve() / "workspace"
    seen = set()
    while workspace / "own.md" not in seen:
        seen |= next(found)
    assert {path for path in seen if path.is_file()} == {workspace / "own.md"}
    # Edited afterwards, it is one again.
    write("pulled.md", "of the owner\n")
    while workspace / "pulled.md" not in seen:
        seen |= next(found)


def test_a_watch_syncs_each_change(project, write):
    write("notes.md", "first\n")
    with VirtualBoard() as board:
        command = [sys.executable, "-m", "tenner_host.cli", "sync", "--watch", "--port", board.pty]
        with subprocess.Popen(
            command,
            cwd=project.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            seen = []

            def until(text):
                for line in process.stdout:
                    seen.append(line)
                    if text in line:
                        return
                raise AssertionError(f"it ended without {text}: {''.join(seen)}")

            try:
                until("watching for changes")
                write("notes.md", "second\n")
                until("workspace  notes.md: here -> board")
                until("agent      running")
                # The sync also brings the agent's file, which is no change of the owner's.
                board.exec("f = open('/workspace/agent.md', 'w'); f.write('mine'); f.close()")
                write("notes.md", "third\n")
                until("workspace  agent.md: board -> here")
                until("agent      running")
                write("notes.md", "fourth\n")
                until("workspace  notes.md: here -> board")
                until("agent      running")
                assert board.read_tree()["/workspace/notes.md"] == b"fourth\n"
                process.send_signal(signal.SIGINT)
                assert "stopped" in process.communicate()[0]
            finally:
                process.kill()


def test_the_workspace_goes_both_ways(project, write):
    write("HEARTBEAT.md", "first\n")
    write("deep/er/note with space.md", "é\n")
    write("junk.tmp", "no\n")
    with VirtualBoard(agent(1) | {"/workspace/memory/day.md": b"seen\n"}) as board:
        run(board, project, agent(1))
        there = board.read_tree()
        assert there["/workspace/HEARTBEAT.md"] == b"first\n"
        assert there["/workspace/deep/er/note with space.md"] == "é\n".encode()
        assert "/workspace/junk.tmp" not in there
        assert (project.root / "workspace/memory/day.md").read_text() == "seen\n"
        # The agent edits one file, the owner another.
        board.exec("f = open('/workspace/HEARTBEAT.md', 'w'); f.write('by the agent'); f.close()")
        write("memory/day.md", "by the owner\n")
        report = run(board, project, agent(1))
        assert {(step.path, step.action) for step in report.outcome.done} == {
            ("HEARTBEAT.md", Action.PULL),
            ("memory/day.md", Action.PUSH),
        }
        assert (project.root / "workspace/HEARTBEAT.md").read_text() == "by the agent"
        assert board.read_tree()["/workspace/memory/day.md"] == b"by the owner\n"
        assert run(board, project, agent(1)).outcome.done == []


@pytest.mark.parametrize("name", ["HEARTBEAT.md", "SENSORS.json", "CRON.json"])
@pytest.mark.parametrize("command", [["sync", "--port", "nowhere"], ["deploy", "root@nowhere"]])
def test_utf_16_is_refused_before_the_board_is_looked_for(project, name, command):
    path = project.root / "workspace" / name
    path.write_text('{"jobs": []}\n', encoding="utf-16")
    done = CliRunner().invoke(tenner, command)
    assert done.exit_code == 1
    assert f"{name} is not UTF-8 text, so the board cannot read it" in done.output


@pytest.fixture
def conflict(project, write):
    """A board on which NOTE.md was changed, as it was here."""
    with VirtualBoard(agent(1) | {"/workspace/NOTE.md": b"1\n"}) as board:
        run(board, project, agent(1))
        write("NOTE.md", "here\n")
        board.exec("f = open('/workspace/NOTE.md', 'w'); f.write('board\\n'); f.close()")
        yield board


@pytest.mark.parametrize("answer", ["here", "board", "skip"])
def test_a_conflict_is_asked_and_the_loser_is_kept(project, conflict, answer):
    asked = []

    def ask(path, here, board):
        asked.append((path, here, board))
        return answer

    report = run(conflict, project, agent(1), ask)
    assert asked == [("NOTE.md", b"here\n", b"board\n")]
    here = (project.root / "workspace/NOTE.md").read_bytes()
    there = conflict.read_tree()["/workspace/NOTE.md"]
    if answer == "skip":
        assert (here, there, report.outcome.conflicts) == (b"here\n", b"board\n", ["NOTE.md"])
        asked.clear()
        run(conflict, project, agent(1), ask)
        assert asked, "it is asked again"
    else:
        won, lost = (b"here\n", b"board\n")[:: 1 if answer == "here" else -1]
        assert (here, there) == (won, won)
        assert (report.outcome.saved / "NOTE.md").read_bytes() == lost
        assert run(conflict, project, agent(1)).outcome.done == []


def test_what_is_deleted_on_one_side_is_kept_until_asked_for(project, write):
    write("mine.md", "1\n")
    with VirtualBoard(agent(1) | {"/workspace/theirs.md": b"1\n"}) as board:
        run(board, project, agent(1))
        (project.root / "workspace/mine.md").unlink()
        board.exec("import os; os.remove('/workspace/theirs.md')")
        report = run(board, project, agent(1))
        assert {(step.path, step.action) for step in report.outcome.kept} == {
            ("mine.md", Action.GONE_HERE),
            ("theirs.md", Action.GONE_BOARD),
        }
        assert "/workspace/mine.md" in board.read_tree()
        assert "/workspace/theirs.md" not in board.read_tree(), "it is not pushed again"
        report = run(board, project, agent(1), delete=True)
        assert "/workspace/mine.md" not in board.read_tree()
        assert not (project.root / "workspace/theirs.md").exists()
        assert sorted(path.name for path in report.outcome.saved.iterdir()) == [
            "mine.md",
            "theirs.md",
        ]


def test_another_board_is_not_taken_for_the_first(project, write):
    """The last sync with one board says nothing of another."""
    write("NOTE.md", "1\n")
    with VirtualBoard(agent(1), name="one") as board:
        run(board, project, agent(1))
    with VirtualBoard(agent(1), name="two") as board:
        run(board, project, agent(1))
        assert board.read_tree()["/workspace/NOTE.md"] == b"1\n", "not taken for deleted there"


# The command.


def test_the_command_reports_and_its_exit_status_says_what_is_left(project, write):
    with VirtualBoard({}, name="desk") as board:
        (project.root / "workspace").rmdir()
        runner = CliRunner()
        done = runner.invoke(tenner, ["sync", "--sim", "desk", "--json"])
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert report["agent"]["running"] is True
        assert "/lib/tenner/app.mpy" in report["code"]["written"]
        assert (project.root / "workspace" / "HEARTBEAT.md").exists()
        write("NOTE.md", "here\n")
        board.exec("f = open('/workspace/NOTE.md', 'w'); f.write('board\\n'); f.close()")
        write("HEARTBEAT.md", "- (evry 10m) Look.\n- (daily 07:30) Report.\n")
        done = runner.invoke(tenner, ["sync"])
        assert done.exit_code == 5, done.output
        assert (
            'HEARTBEAT.md line 1: "evry 10m": is no clause; did you mean "every 10m"?'
            in done.stderr
        )
        assert "HEARTBEAT.md line 2: daily at 07:30, asks the model: 1 call a day." in done.stdout
        assert "NOTE.md: changed on both sides, left unchanged" in done.stdout
        assert "tenner: changed on both sides and left unchanged: NOTE.md" in done.stderr


# Copies.

OWN = {
    "/workspace/HEARTBEAT.md": b"# Heartbeat\n",
    "/workspace/memory/x y=z.md": "é\n".encode(),
    "/state/runs.jsonl": b'{"t":1}\n' * 2000,
    "/state/budget.a": bytes(range(40)),
    "/config.json": b'{"name": "desk"}',
    "/certs/root.der": bytes(range(256)) * 5,
}


def invoke(*arguments):
    return CliRunner().invoke(tenner, [*arguments])


def test_pull_only_reads(project, write):
    write("mine.md", "1\n")
    with VirtualBoard(agent(1) | OWN) as board:
        before = board.read_tree()
        done = invoke("pull", "--port", board.pty, "--json")
        assert json.loads(done.stdout) == {
            "pulled": ["HEARTBEAT.md", "memory/x y=z.md"],
            "conflicts": [],
        }
        assert board.read_tree() == before
        board.wait_for("tenner 1 on esp32")
    assert (project.root / "workspace/memory/x y=z.md").read_text() == "é\n"


def test_backup_and_restore_on_an_empty_board(project):
    with VirtualBoard(agent(1) | OWN) as board:
        done = invoke("backup", "mine.zip", "--port", board.pty, "--json")
        assert json.loads(done.stdout)["files"] == sorted(OWN)
    assert (project.root / "mine.zip").stat().st_mode & 0o77 == 0, "it holds keys"
    with VirtualBoard(agent(1) | {"/config.json": b"{}", "/workspace/new.md": b"1"}) as board:
        done = invoke("restore", "mine.zip", "--port", board.pty)
        assert done.exit_code == 0, done.output
        assert "running: tenner 1 on esp32" in done.stdout
        there = board.read_tree()
        assert {path: there.get(path) for path in OWN} == OWN
        assert there["/workspace/new.md"] == b"1"
    kept = list((project.folder / "replaced").glob("*/config.json"))
    assert [path.read_bytes() for path in kept] == [b"{}"]


def test_what_is_no_backup_is_a_sentence(project):
    (project.root / "x.zip").write_bytes(b"PK\x03\x04 no")
    done = invoke("restore", "x.zip")
    assert (done.exit_code, "is not a backup made by `tenner backup`" in done.stderr) == (1, True)

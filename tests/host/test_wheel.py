"""The wheel and the sdist: installed into a clean environment, in an empty folder, far from any
checkout."""

import json
import re
import ssl
import zipfile
from types import SimpleNamespace

import pytest

from tenner_host import ROOT, tenner_version
from tenner_sim.services import Services
from tests.host.e2e import settings
from tests.host.installed import build, folder, run, sdist, tenner, wheel  # noqa: F401
from tests.host.terminal import terminal  # noqa: F401 -- a fixture
from tests.host.web_client import Client

pytestmark = pytest.mark.long

SHIPPED = ("firmware", "boards", "skills")
DATA = "tenner_host/data/"
#: Every command and every command of a group, each with its module read.
EVERY_HELP = """
import sys
from click.testing import CliRunner
from tenner_host.cli import COMMANDS, main
todo = [([name], main.get_command(None, name)) for name in COMMANDS]
for words, command in todo:
    done = CliRunner().invoke(main, [*words, "--help"], prog_name="tenner")
    assert done.exit_code == 0 and "Usage: tenner " + " ".join(words) in done.output, (words, done.output)
    todo += [([*words, name], one) for name, one in getattr(command, "commands", {}).items()]
print(len(todo))
"""  # noqa: E501


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_what_ships_and_claims_three_names(wheel, folder):
    there = contents(wheel)
    assert {name.split("/")[0] for name in there} == {
        "mpy_linker", "tenner_host", "tenner_sim", f"tenner-{tenner_version()}.dist-info",
    }  # fmt: skip
    listed = run(["git", "ls-files", "-z", *SHIPPED], cwd=ROOT).split("\0")
    wanted = {name for name in listed if name and (ROOT / name).exists()}
    assert {name.removeprefix(DATA) for name in there if name.startswith(DATA)} >= wanted
    for name in wanted:
        assert there[DATA + name] == (ROOT / name).read_bytes(), name
    assert contents(build("wheel", ROOT, folder / "direct")) == there


def test_every_command_has_help_and_the_version_is_that_of_the_metadata(tenner):
    count = run([tenner.python, "-I", "-c", EVERY_HELP], cwd=tenner.work, env=tenner.environment)
    assert int(count) > 40
    assert tenner("--version").split()[-1] == tenner_version()
    code = "import importlib.metadata as m; print(m.version('tenner'))"
    assert run([tenner.python, "-I", "-c", code]).strip() == tenner_version()
    code = "import tenner_host; print(tenner_host.ROOT)"
    assert run([tenner.python, "-I", "-c", code]).strip() == str(
        tenner.packages / "tenner_host/data"
    )


def test_a_virtual_board_from_the_shop_to_a_talk(tenner):
    before = tenner.files()
    with Services() as services:
        (tenner.work / "ca.pem").write_text(ssl.DER_cert_to_PEM_cert(services.ca_der))
        (tenner.work / "given.json").write_text(json.dumps(settings(services)))
        assert "board runs" in tenner("sim", "start", "--erased", "--heap", "512K")
        try:
            assert "written and verified" in tenner("flash", "--sim", "board")
            assert "running: tenner" in tenner("sync", "--sim", "board")
            arguments = ["--ca", "ca.pem", "--from", "given.json"]
            assert "answers the board" in tenner("setup", "--sim", "board", *arguments)
            assert "hello" in tenner("chat", "--sim", "board", "say: hello")
            assert "code" in tenner("doctor", "--sim", "board")
        finally:
            tenner("sim", "stop")
    assert (tenner.work / "workspace" / "HEARTBEAT.md").exists()
    assert "freezer-guard" in tenner("skills", "list")
    assert tenner.files() == before


def test_a_tour_runs_by_itself(tenner):
    printed = tenner("try", "--yes")
    assert printed.count("\nDone. ") == 5 and "Traceback" not in printed
    assert "The TMP102 at 0x48 on i2c0 reads 31.5 °C." in printed


def test_a_person_types_along(tenner, terminal):
    """With a slip at each step, and Ctrl-C for the page only."""
    dialog = terminal("try", installed=tenner)
    for title, slip, hint, typed in (
        ("Warm", "tenner sim get room.temperature", "no alarm yet", ""),
        ("Read", "ls", "nobody has looked", "tenner sim phone"),
        ("Ask", "tenner status", "the board has not been asked", "tenner sim phone 'say: hello'"),
        ("Edit", "cat workspace/HEARTBEAT.md", "the board's HEARTBEAT.md is still", ""),
    ):
        dialog.wait_for(f"of 5: {title}")
        dialog.wait_for("$ ")
        dialog.type(slip + "\n")
        dialog.wait_for(f"Not done yet: {hint}")
        dialog.wait_for("$ ")
        dialog.type(typed + "\n")
        dialog.wait_for("Done. ")
    dialog.wait_for("$ ")
    dialog.type("\n")
    dialog.wait_for("#code=")
    dialog.wait_for("\n")
    link = re.findall(r"http://127\.0\.0\.1:(\d+)/#code=(\w+)", dialog.seen)[0]
    access = SimpleNamespace(code=link[1])
    Client(SimpleNamespace(port=int(link[0]), access=access)).pair()
    dialog.wait_for("A browser is in")
    dialog.type("\x03")
    dialog.wait_for("That was all five")
    dialog.wait_for("$ ")
    dialog.type("tenner sim set room.temperature 12 && tenner alarms\n")
    dialog.wait_for("alarm ")
    dialog.wait_for("$ ")
    dialog.type("exit\n")
    assert dialog.end() == 0
    assert "Traceback" not in dialog.seen
    assert json.loads(tenner("sim", "list", "--json")) == {"boards": []}


def test_the_stand_ins_without_tls_need_no_extra(tenner):
    code = (
        "import sys; sys.modules.update(trustme=None, cryptography=None)\n"
        "from tenner_host.errors import CommandError\n"
        "from tenner_sim.services import Services\n"
        "with Services(tls=False): pass\n"
        "try: Services()\n"
        "except CommandError as exc: print(exc)\n"
    )
    said = run([tenner.python, "-I", "-c", code])
    assert "TLS of the stand-ins needs the library trustme: " in said


def test_a_deploy_is_planned(tenner, folder):
    """The stand-in for ssh runs the commands of a dry run, which only look, on this computer."""
    stand_in = folder / "ssh"
    stand_in.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    stand_in.chmod(0o755)
    before = tenner.files()
    arguments = ["--dry-run", "--runtime", "cpython", "--board", "LICHEERV_NANO"]
    shown = tenner("deploy", "root@board", *arguments, TENNER_SSH=str(stand_in))
    assert "would be written" in shown
    assert tenner.files() == before

"""The whole life of a board on one rfc2217 port: empty, flashed, set up, talked to, synced,
flashed again."""

import json
import ssl
from pathlib import Path

import pytest

from tenner_sim.services import API_KEY, TOKEN, Services
from tenner_sim.vboard import VirtualBoard
from tests.host import flash_fakes
from tests.host.e2e import HEAP, Bench, settings, wifi
from tests.host.flash_fakes import tenner, written

ADDED = "- (every 3h) Water the plants."


@pytest.fixture
def project(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    return tmp_path / "project"


def test_from_the_shop_to_the_second_firmware(project, tmp_path):
    with (
        Services() as services,
        VirtualBoard(name="life", erased=True, rfc2217_port=0, heap=HEAP) as board,
    ):
        bench = Bench(board, services)
        port = f"rfc2217://127.0.0.1:{board.rfc2217_port}"

        def command(name, *arguments):
            done = tenner(name, "--port", port, *arguments)
            for secret in (API_KEY, TOKEN, wifi()["password"]):
                assert secret not in done.output
            return done.stdout

        board.wait_for("invalid header: 0xffffffff")

        # One command, and the agent runs.
        image = written(tmp_path, "first.bin", version="1.28.0")
        told = command("flash", "--fast", "--image", image, "--board", "VIRTUAL")
        assert "The agent runs: tenner" in told and "Next: tenner setup" in told

        # One more, and it knows its network, its model and its owner.
        (tmp_path / "ca.pem").write_text(ssl.DER_cert_to_PEM_cert(services.ca_der))
        (tmp_path / "settings.json").write_text(json.dumps(settings(services)))
        told = command("setup", "--from", tmp_path / "settings.json", "--ca", tmp_path / "ca.pem")
        assert "agent      running: tenner" in told
        bench.echo("hello")

        # The first sync brings the workspace here; one file is changed, and goes back.
        command("sync")
        mine = project / "workspace" / "USER.md"
        mine.write_text("The owner likes it warm.\n")
        report = json.loads(command("sync", "--json"))
        assert report["workspace"] == [{"path": "USER.md", "action": "push"}]
        assert report["code"]["written"] == []
        assert board.read_tree()["/workspace/USER.md"] == mine.read_bytes()
        bench.echo("again")

        # The agent edits its own heartbeat; the next sync keeps that, on both sides.
        added = {"path": "HEARTBEAT.md", "text": ADDED}
        bench.ask(f"call append_file {json.dumps(added)}")
        edited = board.read_tree()["/workspace/HEARTBEAT.md"]
        assert ADDED.encode() in edited
        report = json.loads(command("sync", "--json"))
        assert report["workspace"] == [{"path": "HEARTBEAT.md", "action": "pull"}]
        assert board.read_tree()["/workspace/HEARTBEAT.md"] == edited
        assert (project / "workspace" / "HEARTBEAT.md").read_bytes() == edited

        # Another MicroPython: nothing of the owner's or the agent's is lost.
        before = board.read_tree()
        image = written(tmp_path, "second.bin", version="1.29.0", code=flash_fakes.noise(7))
        report = json.loads(command("flash", "--json", "--image", image))
        assert report["agent"]["running"]
        assert Path(report["backup"]).is_file()
        assert board.flash.read_bytes().startswith(image.read_bytes())
        after = board.read_tree()
        assert {path: after.get(path) for path in kept(before)} == kept(before)
        assert any(path.startswith("/state/") for path in kept(before))
        bench.echo("still here")


def kept(tree):
    """Return the part of a tree that a flash must keep; the running agent changes its counters and
    logs."""
    moving = ("/state/heartbeat", "/state/runs", "/state/log", "/state/starts")
    return {
        path: data
        for path, data in tree.items()
        if path.startswith(("/workspace/", "/certs/", "/config.json", "/state/"))
        and not path.startswith(moving)
    }

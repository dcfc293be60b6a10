"""A board at a real broker, which this computer knows as `tenner sync` leaves it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization

from tenner_host.cli import main
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_sim.vboard.chips import mac_of
from tests.bench.mqtt import wait_text
from tests.host import releases
from tests.host.e2e import PSRAM, agent_board

#: Of the boards of these tests.
KEY = "5a" * 32


def own_key(folder: Path, name: str = "owner") -> None:
    """Let a folder of settings have this owner's key."""
    folder.mkdir(exist_ok=True)
    pem = releases.key(name).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "release-key.pem").write_bytes(pem)
    (folder / "release-key.pem").chmod(0o600)
    (folder / "release-key.pub").write_bytes(releases.public(name))


@contextlib.contextmanager
def remote_board(broker, topic="attic", files=None, changes=None, **options):
    """A board below this topic, known to the computer; yields its Bench."""

    def roots(services):
        return {"stand-in": services.ca_der, "broker": broker.authority.der}

    settings = {**broker.settings(), "mqtt.topic": topic, **(changes or {})}
    on_board = {keys.ON_BOARD: releases.public(), known.ON_BOARD: KEY, **(files or {})}
    options = {"heap": PSRAM, **options}
    with agent_board(changes=settings, roots=roots, files=on_board, **options) as bench:
        bench.wait_for(f"connected as {topic}")
        # A message before the first subscription would be lost.
        wait_text(broker.log_file, f"{topic}/remote/in (QoS 1)")
        device = mac_of(options.get("name")).hex()
        mqtt = {
            name.removeprefix("mqtt."): value
            for name, value in settings.items()
            if name.startswith("mqtt.")
        }
        key = {known.ON_BOARD: KEY.encode()}
        known.learn(device, key, {"mqtt": mqtt}, [broker.authority.der])
        yield bench


def tenner(*arguments, code=0):
    """Run the command; its output."""
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result.output

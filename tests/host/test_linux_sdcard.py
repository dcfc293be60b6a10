"""`tenner sd-card`: the files it writes to a board's boot partition, and those it leaves alone."""

import subprocess

import pytest
from click.testing import CliRunner

from tenner_host.cli import main
from tenner_host.errors import CommandError
from tenner_host.linux.sdcard import check_wifi, with_script

KEY = "ssh-ed25519 AAAAC3Nza me@here"


@pytest.fixture
def card(tmp_path):
    folder = tmp_path / "boot"
    folder.mkdir()
    (folder / "fip.bin").write_bytes(b"boot loader")
    (tmp_path / "password").write_text("of the house\n")
    (tmp_path / "key.pub").write_text(KEY + "\n")
    return folder


def run(card, *args):
    top = card.parent
    command = ["sd-card", str(card), "--ssid", "home", "--password-file", str(top / "password")]
    return CliRunner().invoke(main, [*command, "--key", str(top / "key.pub"), *args])


def test_a_card_gets_wifi_the_key_and_a_script(card):
    done = run(card)
    assert done.exit_code == 0, done.output
    assert (card / "wifi.sta").read_bytes() == b""
    assert (card / "wifi.ssid").read_bytes() == b"home\n"
    assert (card / "wifi.pass").read_bytes() == b"of the house\n"
    assert (card / "tenner.key").read_text() == KEY + "\n"
    assert (card / "fip.bin").read_bytes() == b"boot loader"
    assert "of the house" not in done.output
    assert not list(card.glob("*.tmp"))


def test_a_second_time_changes_nothing(card):
    run(card)
    assert "nothing to change" in run(card).output


def test_the_script_lets_in_who_has_the_key_once(card, tmp_path):
    run(card)
    root = tmp_path / "board"
    (root / "boot").mkdir(parents=True)
    text = (card / "rc.local").read_text()
    for place in ("/boot/", "/root/"):
        text = text.replace(place, f"{root}{place}")
    (root / "boot/tenner.key").write_text(KEY + "\n")
    for _ in range(2):
        subprocess.run(["sh", "-e", "-c", text], check=True)
    keys = root / "root/.ssh/authorized_keys"
    assert keys.read_text() == KEY + "\n"
    assert keys.stat().st_mode & 0o777 == 0o600


def test_the_owners_own_rc_local_stays(card):
    (card / "rc.local").write_text("#!/bin/sh\necho mine\nexit 0\n")
    run(card)
    text = (card / "rc.local").read_text()
    assert text.startswith("#!/bin/sh\n# tenner: begin\n") and text.endswith("echo mine\nexit 0\n")
    assert with_script(text) == text
    with pytest.raises(CommandError, match="not its end"):
        with_script("#!/bin/sh\n# tenner: begin\n")


def test_a_folder_that_is_no_card_is_left_alone(card):
    (card / "fip.bin").unlink()
    done = run(card)
    assert done.exit_code == 1 and list(card.iterdir()) == []
    assert run(card, "--force").exit_code == 0


@pytest.mark.parametrize("ssid, password", [("", "12345678"), ("x" * 33, ""), ("x", "short")])
def test_wifi_that_cannot_be(ssid, password):
    with pytest.raises(CommandError):
        check_wifi(ssid, password)


def test_without_a_terminal_nothing_is_asked(card):
    done = CliRunner().invoke(main, ["sd-card", str(card), "--ssid", "home"])
    assert done.exit_code == 1 and "--password-file" in done.output

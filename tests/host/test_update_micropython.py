"""Releases with MicroPython itself, on virtual boards with two slots and the boot loader's
rollback."""

import dataclasses

import pytest

from tenner_host import FIRMWARE, tenner_version
from tenner_host.release import keys
from tenner_sim.vboard import image, otadata
from tests.host.e2e import OWNER, SideBySide, agent_board
from tests.host.releases import SHORT_TRIAL, Server, code, micropython_of, public, release
from tests.host.test_update import board, install, trees

pytestmark = pytest.mark.long

together = SideBySide(3)
OLD = tenner_version()
#: More than the blocks after which the board notes its place.
NEW = micropython_of(bytes(range(256)) * 800, "1.29.1")


def slotted(server, **options):
    return board(server, options={"rows": image.SLOTS}, **options)


def next_start(bench):
    """The slot that starts next, and how far it is known to be good."""
    flash = image.Memory(bytearray(bench.board.flash.read_bytes()))
    entry = otadata.active(otadata.entries(flash, 0xD000))
    return otadata.next_start(flash), entry.state


@together.check
def test_code_and_micropython_are_installed_together_and_stay():
    body = release(code("0.9.0", SHORT_TRIAL), micropython=NEW)
    with Server(body) as server, slotted(server) as bench:
        assert next_start(bench) == ("ota_0", otadata.VALID)
        bench.telegram.say(OWNER, "/update")
        bench.wait_told(f"Version 0.9.0 with MicroPython 1.29.1 is there, .* in place of {OLD}")
        bench.telegram.say(OWNER, "/update 0.9.0")
        bench.wait_for("0.9.0 is in place: restarting", 60)
        bench.wait_for("tenner 0.9.0 on esp32")
        assert next_start(bench) == ("ota_1", otadata.PENDING)
        told = bench.wait_told(r"I run version 0.9.0 on MicroPython [\d.]+ now", timeout_s=60)
        assert told.endswith(f"in place of {OLD}.")
        bench.wait_for("tenner 0.9.0 on esp32")
        bench.echo("alive")
        assert next_start(bench) == ("ota_1", otadata.VALID)
        assert trees(bench) == ["release.keys", "tenner"]
        slot = bench.board.flash.read_bytes()[image.SLOTS[-1].offset :]
        assert slot.startswith(NEW.data)


@together.each([("crash",), ("soft",), ("power",)])
def test_both_go_back_together(how):
    crash = ("app.py", "_DRAIN_MS = const(50)", '_DRAIN_MS = int("broken")')
    changes = [crash] if how == "crash" else []
    body = release(code("0.9.0", *changes), micropython=NEW)
    with Server(body) as server, slotted(server) as bench:
        install(bench)
        if how != "crash":
            bench.wait_for("trial: it hears its channel", 60)
            assert next_start(bench) == ("ota_1", otadata.PENDING)
            # The boot loader is not asked at a soft reset: boot_trial.py makes it a hard one.
            bench.board.soft_reset() if how == "soft" else bench.board.power_cycle()
        bench.wait_for(f"tenner {OLD} on esp32", 60)
        told = bench.wait_told("Version 0.9.0 failed its trial", timeout_s=60)
        assert f"I run {OLD} on MicroPython " in told
        bench.echo("alive")
        assert next_start(bench) == ("ota_0", otadata.VALID)
        assert trees(bench) == ["release.keys", "tenner"]


@together.check
def test_a_download_that_breaks_off_in_micropython_goes_on_there():
    body = release(code("0.9.0", SHORT_TRIAL), micropython=NEW)
    with Server(body) as server, slotted(server) as bench:
        server.cut_after = [len(body) - 20000]
        install(bench)
        bench.wait_told("I run version 0.9.0 on", timeout_s=60)
        start = len(body) - len(NEW.data)
        begun = int(server.requests[-1][6:-1]) - start
        assert begun == (len(NEW.data) - 20000) // 65536 * 65536 > 0


# (name, rows of the board's flash, its MicroPython, the reason)
REFUSED = [
    ("no_slots", image.PARTITIONS, NEW, "run `?tenner flash --layout ota`? over the cable"),
    (
        "another_chip",
        image.SLOTS,
        micropython_of(b"s3" * 500, "1.29.1", "esp32s3"),
        "the release has MicroPython for the esp32s3, this board is none",
    ),
    (
        "too_long",
        image.SLOTS,
        dataclasses.replace(NEW, data=bytes(0x160001)),
        "MicroPython 1.29.1 has 1408 KB, a slot of this board 1408 KB",
    ),
]


@together.each(REFUSED)
def test_a_board_refuses_before_it_writes_anything(name, rows, micropython, reason):
    body = release(code("0.9.0"), micropython=micropython)
    with Server(body) as server, board(server, options={"rows": rows}) as bench:
        bench.telegram.say(OWNER, "/update")
        bench.wait_told("No update: .*" + reason, timeout_s=60)
        bench.telegram.say(OWNER, "/update 0.9.0")
        bench.wait_told("No update: .*" + reason, count=2, timeout_s=60)
        start = image.SLOTS[-1].offset
        assert bench.board.flash.read_bytes()[start : start + 0x10000].count(b"\xff") == 0x10000


@together.check
def test_a_board_whose_boot_py_is_older_asks_for_a_sync():
    body = release(code("0.9.0"), micropython=NEW)
    old = (FIRMWARE / "boot_trial.py").read_text().replace("def running(", "def is_running(")
    files = {keys.ON_BOARD: public(), "/boot_trial.py": old}
    with Server(body) as server:
        changes = {"update.url": server.url}
        with agent_board(files=files, changes=changes, rows=image.SLOTS) as bench:
            bench.ready()
            bench.telegram.say(OWNER, "/update")
            bench.wait_told("No update: the release needs a newer boot.py: .*tenner sync")


# (name, the MicroPython that arrives in place of the signed one)
WRONG = [
    ("other_bytes", NEW.data[:-1] + b"?"),
    ("swapped", NEW.data[4096:8192] + NEW.data[:4096] + NEW.data[8192:]),
    ("erased", b"\xff" * len(NEW.data)),
]


@together.each(WRONG)
def test_other_content_than_the_manifests_never_starts(name, data):
    body = release(code("0.9.0"), micropython=NEW)
    body = body[: -len(NEW.data)] + data
    with Server(body) as server, slotted(server) as bench:
        bench.telegram.say(OWNER, "/update 0.9.0")
        bench.wait_told(
            "No update: MicroPython is not as the release's manifest says", timeout_s=60
        )
        assert next_start(bench) == ("ota_0", otadata.VALID)
        assert trees(bench) == ["release.keys", "tenner"]


# (name, a signed MicroPython that no chip starts, the reason)
BAD_IMAGES = [
    ("cut", dataclasses.replace(NEW, data=NEW.data[:-5000]), "the chip does not take"),
    (
        "of_another_chip",
        dataclasses.replace(NEW, data=micropython_of(b"s3" * 500, chip="esp32s3").data),
        "MicroPython is not as the release's manifest says",
    ),
]


@together.each(BAD_IMAGES)
def test_a_signed_image_that_cannot_start_is_refused(name, micropython, reason):
    body = release(code("0.9.0"), micropython=micropython)
    with Server(body) as server, slotted(server) as bench:
        bench.telegram.say(OWNER, "/update 0.9.0")
        bench.wait_told("No update: " + reason, timeout_s=60)
        bench.board.power_cycle()
        bench.wait_for(f"tenner {OLD} on esp32")
        bench.echo("alive")
        assert next_start(bench) == ("ota_0", otadata.VALID)

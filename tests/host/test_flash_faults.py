"""Faults of `tenner flash`: the board works or can be recovered, and the owner is told how."""

import contextlib
import hashlib
import http.server
import json
import random
import re
import threading

import pytest
import serial
from click.testing import CliRunner
from esptool.loader import ESPLoader
from esptool.util import FatalError

from tenner_host.catalog import image_hashes, known_boards, releases
from tenner_host.cli import main
from tenner_host.errors import BoardSilent, PortError
from tenner_host.flash import command, run
from tenner_host.sync.backup import Backup
from tenner_sim.vboard import VirtualBoard, image
from tenner_sim.vboard.chips import MODELS
from tests.host import flash_fakes
from tests.host.flash_fakes import C3, OWN, board, flashed, noise, own, refused, tree, written

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    flash_fakes.place(tmp_path, monkeypatch)
    return tmp_path


@contextlib.contextmanager
def untouched(board):
    """The flash is the same afterwards, except for the agent's own writes, and the agent runs."""
    firmware = board.flash.read_bytes()[: image.VFS_OFFSET]
    boots = board.status()["boots"]
    yield
    assert board.flash.read_bytes()[: image.VFS_OFFSET] == firmware
    assert own(board) == OWN
    if board.status()["boots"] > boots:
        board.wait_for("boot      tenner")
    board.wait_state("running")


# The cable.


@pytest.mark.parametrize("fast", [False, True], ids=["firmware", "fast"])
def test_the_cable_is_pulled_at_twenty_points(place, monkeypatch, fast):
    """Ten of each kind: the files are safe here each time, and the next flash puts them back."""
    # Seeing it start is another test's matter, and most of the time.
    monkeypatch.setattr(run, "_see_it_start", lambda port, report: None)
    workspace = place / "project" / "workspace"
    workspace.mkdir()
    choice = random.Random(20)

    def arguments(number):
        """Never twice the same, or there would be less to write."""
        (workspace / f"{number}.bin").write_bytes(noise(100 + number)[:9000])
        path = written(place, f"{number}.bin", code=noise(number))
        return ["--image", path, *(["--fast"] if fast else [])]

    with board() as used:
        used.wait_for("tenner")
        before = used.status()["host_bytes"]
        flashed(*arguments(0))
        total = used.status()["host_bytes"] - before
        # One in each tenth of all that is sent.
        cuts = [int((number + choice.random()) * total / 10) for number in range(10)]
        half_written = 0
        for number, cut in enumerate(cuts, 1):
            used.unplug(after_bytes=max(cut, 100))
            said = refused(4, *arguments(number))
            assert "went away" in said
            used.plug()
            if "half written" in said:
                half_written += 1
                assert "run the same command again" in said
                assert Backup.load(record(place)["backup"]).files.items() >= OWN.items()
            else:
                assert own(used) == OWN
        last = arguments(11)
        flashed(*last)
        used.wait_for("boot      tenner")
        assert own(used) == OWN
        assert used.flash.read_bytes().startswith(last[1].read_bytes())
    assert half_written >= 4


def record(place):
    """Return the project's record of the unfinished flash."""
    (found,) = (place / "project" / ".tenner" / "flash").glob("*.json")
    known = json.loads(found.read_text())
    return {**known, "backup": place / "project" / ".tenner" / known["backup"]}


def test_a_fast_flash_that_was_cut_short_is_finished_without_being_asked_to(place):
    """The second time without --fast, from a file system of which one half is new."""
    with board() as used:
        path = written(place)
        used.unplug(after_bytes=60000)
        assert "half written" in refused(4, "--image", path, "--fast")
        used.plug()
        report = flashed("--image", path)
        assert report["fast"]
        assert report["agent"]["running"]
        assert own(used) == OWN


def test_what_was_written_meanwhile_is_not_lost_either(place):
    """Half written, repaired with other tools and used: both states are kept."""
    with board() as used:
        path = written(place)
        used.unplug(after_bytes=60000)
        assert "half written" in refused(4, "--image", path, "--fast")
        newer = {**tree(), "/workspace/HEARTBEAT.md": b"newer"}
        used.flash.write_bytes(image.build_image(newer))
        used.plug()
        flashed("--image", path)
        assert own(used) == OWN
        (replaced,) = (place / "project" / ".tenner" / "backup").glob("replaced-*.zip")
        assert Backup.load(replaced).files["/workspace/HEARTBEAT.md"] == b"newer"


# Ctrl-C.


def test_ctrl_c_before_the_first_byte_changes_nothing(place, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "plan_files", interrupted)
    with board() as used, untouched(used):
        assert "nothing was changed, and the board starts as before" in refused(130)


def test_the_port_vanishes_between_two_commands(place, monkeypatch):
    """Where pyserial clears its buffers, and raises an error that is no OSError."""
    clear = ESPLoader.flush_input

    def pulled(loader):
        used.unplug()
        clear(loader)

    with board() as used:
        monkeypatch.setattr(ESPLoader, "flush_input", pulled)
        said = refused(4, "--image", written(place, code=noise(1)))
    assert "went away" in said and "is the cable loose?" in said and "Traceback" not in said


def test_ctrl_c_in_the_middle_says_how_to_go_on(place, monkeypatch):
    class Impatient(command._Terminal):
        @contextlib.contextmanager
        def progress(self, title):
            def step(done, total):
                if title == "Writing MicroPython":
                    raise KeyboardInterrupt

            yield step

    path = written(place, code=noise(1))
    with board() as used:
        with monkeypatch.context() as patch:
            patch.setattr(command, "_Terminal", Impatient)
            said = refused(130, "--image", path)
        assert "in the middle of writing" in said
        assert (
            "Its flash is half written: run the same command again; its files are safe in" in said
        )
        flashed("--image", path)
        assert own(used) == OWN


#: Of Ctrl-C in a flash.
POINTS = 24


@pytest.mark.parametrize("fast", [False, True], ids=["firmware", "fast"])
def test_ctrl_c_at_the_commands_to_the_loader(place, monkeypatch, fast):
    """At one in each part of all: the board is as before, or the same command finishes."""
    monkeypatch.setattr(run, "_see_it_start", lambda port, report: None)
    write, struck = ESPLoader.write, []
    count = at = 0

    def impatient(loader, packet):
        nonlocal count
        count += 1
        if count == at:
            struck.append(at)
            raise KeyboardInterrupt
        return write(loader, packet)

    monkeypatch.setattr(ESPLoader, "write", impatient)

    def arguments(number):
        path = written(place, f"{number}.bin", code=noise(number))
        return ["--image", path, *(["--fast"] if fast else [])]

    with board() as used:
        used.wait_for("tenner")
        flashed(*arguments(0))
        total, half_written = count, 0
        for number in range(POINTS):
            count, at = 0, 1 + number * total // POINTS
            again = arguments(number + 1)
            done = CliRunner().invoke(main, ["flash", *map(str, again)])
            if count < at:
                # A later flash sends fewer.
                assert done.exit_code == 0, done.output
                continue
            said = done.stderr
            assert done.exit_code == 130 and "Traceback" not in said, done.output
            assert said.strip().splitlines()[-1].startswith("tenner: stopped"), said
            count, at = 0, 0
            if "half written" in said:
                half_written += 1
                flashed(*again)
            else:
                assert "nothing was changed" in said or "flashed and verified" in said, said
            used.wait_state("running")
            assert own(used) == OWN, (number, said)
        assert len(struck) > POINTS // 2 and half_written, (struck, half_written)


def test_ctrl_c_after_the_last_byte_says_that_all_is_written(place, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    with board() as used, untouched(used):
        with monkeypatch.context() as patch:
            patch.setattr(run, "open_board", impatient)
            assert "flashed and verified" in refused(130)


# The image.


def test_an_image_for_another_chip(place):
    path = written(place, model=MODELS["esp32s3"])
    with board() as used, untouched(used):
        said = refused(6, "--image", path)
        assert "is for the ESP32-S3, and this board has an ESP32-C3; nothing was changed" in said
        assert "Leave out --image" in said


def test_a_board_that_has_another_chip(place):
    with board() as used, untouched(used):
        said = refused(1, "--board", "ESP32_GENERIC_S3")
        assert "ESP32_GENERIC_S3 has an ESP32-S3, and the chip at" in said
        assert "boards with an ESP32-C3: ESP32_GENERIC_C3" in said
        assert "no variant 'HUGE'; available: SPIRAM_OCT" in refused(
            1, "--board", "ESP32_GENERIC_S3-HUGE"
        )
        assert "known: ESP32_GENERIC, " in refused(1, "--board", "NONE")


WHOLE = image.firmware_image(C3)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (WHOLE[:-40], "the application in it is cut short or changed"),
        (WHOLE[:0x10100] + b"x" + WHOLE[0x10101:], "the application in it is cut short"),
        (WHOLE[:40] + b"x" + WHOLE[41:], "the boot loader in it is cut short or changed"),
        (WHOLE[0x10000:], "has no partition table at 0x8000"),
        (
            b"UF2\n" + bytes(600),
            "is a .uf2 file, for boards with a UF2 boot loader; take the .bin",
        ),
        (b"\n<!doctype html><title>Download</title>", "is a web page; take the link to the .bin"),
        (b"PK\x03\x04" + bytes(50), "is a .zip archive; take the .bin in it"),
        (b"hello", "is not an image of an ESP32: it does not begin with 0xe9"),
        (WHOLE + bytes(0x400000), "needs 4160 KB of flash, and this board has 4096 KB"),
    ],
    ids=["cut", "changed", "loader", "part", "uf2", "html", "zip", "text", "large"],
)
def test_an_image_that_is_not_one(place, used_board, data, sentence):
    path = place / "image.bin"
    path.write_bytes(data)
    with untouched(used_board):
        assert sentence in refused(6, "--image", path, "--port", used_board.pty)


@pytest.fixture(scope="module")
def used_board():
    with VirtualBoard(tree()) as started:
        yield started


def test_a_file_that_is_not_there(place):
    assert "missing.bin cannot be read: No such file" in refused(6, "--image", "missing.bin")


# Downloads.


@pytest.fixture
def site(place):
    """A web server with one image, whose contents can be changed."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            site.asked += 1
            data = site.data
            self.send_response(404 if self.path == "/none" else 200)
            self.send_header("Content-Length", str(len(data) + site.missing))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.data, site.asked, site.missing = WHOLE, 0, 0
    site.url = f"http://127.0.0.1:{site.server_address[1]}/C3.bin"
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.shutdown()
    thread.join()
    site.server_close()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def test_an_unknown_hash_asks_and_is_remembered(place, site, used_board, monkeypatch):
    flash = ["--image", site.url, "--port", used_board.pty]
    # Nobody is there to ask.
    said = refused(6, *flash)
    assert f"{site.url} was downloaded for the first time; its sha256 is {digest(WHOLE)}" in said
    assert f"--sha256 {digest(WHOLE)}" in said
    monkeypatch.setattr(command, "at_terminal", lambda: True)
    assert "Use it? [y/N]" in refused(6, *flash, text="n\n")
    assert flash_fakes.tenner("flash", *flash, text="y\n").exit_code == 0
    asked = site.asked
    # From then on the cache has it, and the record.
    monkeypatch.setattr(command, "at_terminal", lambda: False)
    assert flashed(*flash)["image"]["sha256"] == digest(WHOLE)
    assert site.asked == asked


def test_nobody_is_asked_about_an_image_that_is_listed(site, used_board, monkeypatch):
    monkeypatch.setitem(image_hashes(), "C3.bin", digest(WHOLE))
    flash = ["--image", site.url, "--port", used_board.pty]
    assert flashed(*flash)["image"]["sha256"] == digest(WHOLE)


def test_an_image_that_differs_from_the_list_is_refused(site, monkeypatch):
    listed = "ESP32_GENERIC_C3-20251209-v1.27.0.bin"
    monkeypatch.setattr(command, "at_terminal", lambda: True)
    said = refused(6, "--image", site.url.replace("C3.bin", listed), text="y\n")
    assert f"has sha256 {digest(WHOLE)}, not the expected {image_hashes()[listed]}" in said


def test_each_listed_image_is_one_of_a_board_and_a_release():
    urls = {
        known.url(one.version, one.date).rpartition("/")[2]
        for known in known_boards()
        if known.image_url
        for one in releases()
    }
    assert image_hashes()
    for name, sha256 in image_hashes().items():
        assert name in urls
        assert re.fullmatch("[0-9a-f]{64}", sha256)


def test_a_changed_hash_asks_too(place, site, used_board):
    flash = ["--image", site.url, "--port", used_board.pty]
    flashed(*flash, "--sha256", digest(WHOLE))
    # The cache was damaged or cleared, and the next download differs.
    for cached in (place / "cache" / "images").glob("*.bin"):
        cached.write_bytes(b"damaged")
    site.data = image.firmware_image(C3, version="1.30.0")
    said = refused(6, *flash)
    assert f"has changed since it was accepted (sha256 {digest(WHOLE)} then)" in said
    assert flashed(*flash, "--sha256", digest(site.data))["image"]["version"] == "1.30.0"


def test_a_wrong_hash_is_refused(site, used_board):
    with untouched(used_board):
        said = refused(
            6, "--image", site.url, "--port", used_board.pty, "--sha256", digest(b"other")
        )
        assert f"has sha256 {digest(WHOLE)}, not the expected {digest(b'other')}" in said


def test_a_download_that_fails(site):
    said = refused(6, "--image", site.url.replace("C3.bin", "none"))
    assert "can't be downloaded: HTTP 404" in said
    site.missing = 10
    assert "broke off after" in refused(6, "--image", site.url)
    said = refused(6, "--image", "http://127.0.0.1:1/x.bin")
    assert "Connection refused" in said
    said = refused(6, "--image", "http://images.invalid/x.bin")
    assert "this computer cannot find images.invalid: is it online? A downloaded" in said
    assert "--image takes a file" in said


def test_a_board_s_name_is_looked_at_before_its_port(place):
    said = refused(1, "--port", "/dev/not-there", "--board", "ESP23")
    assert "there is no board 'ESP23'; known: " in said
    said = refused(1, "--port", "/dev/not-there", "--board", "ESP32_GENERIC_S3-SPIRAM")
    assert "has no variant 'SPIRAM'" in said
    assert "ESP23" not in refused(3, "--port", "/dev/not-there")


def test_a_release_that_is_not_listed(used_board):
    with untouched(used_board):
        said = refused(
            1, "--port", used_board.pty, "--board", "ESP32_GENERIC_C3", "--release", "0.1"
        )
        assert (
            "no MicroPython release '0.1' is listed in boards/releases.tsv; available: 1." in said
        )


# The port.


def test_two_boards(place):
    with board(), VirtualBoard({}, name="two"):
        said = refused(3)
        assert "several boards are connected; choose one with --port" in said
        assert "virtual board 'one'; virtual board 'two'" in said


def test_no_board_at_all():
    assert "no board is connected" in refused(3)


def test_a_board_that_is_not_flashed():
    assert "`tenner deploy` brings the agent to it" in refused(1, "--port", "ssh://root@127.0.0.1")


def test_a_port_that_another_program_has(place):
    with board() as used, untouched(used), serial.Serial(used.pty, exclusive=True):
        said = refused(3)
        assert "is used by another program" in said
        assert "close it and try again" in said


def test_no_permission(place, monkeypatch):
    def denied(*_, **__):
        raise serial.SerialException(13, "Permission denied")

    with board() as used, untouched(used):
        monkeypatch.setattr("serial.Serial.open", denied)
        said = refused(3)
        monkeypatch.undo()
        assert "no permission for" in said
        assert "usermod" in said or "udev" in said, "as the port's group is"


def test_a_silent_board(place):
    with board() as off:
        off.power_off()
        said = refused(4)
        assert "does not enter its loader" in said
        assert "Hold the button BOOT" in said


def test_a_port_that_comes_back_under_another_name(place, monkeypatch):
    """As a native USB port does after the reset."""
    opened = run.open_board

    def away(*arguments):
        monkeypatch.setattr(run, "open_board", opened)
        used.unplug()
        used.plug()
        raise PortError("there is no port")

    with board() as used:
        monkeypatch.setattr(run, "open_board", away)
        assert flashed()["agent"]["running"]
        assert own(used) == OWN


def test_what_esptool_has_against_an_image_changes_nothing(place, monkeypatch):
    """Such as a chip that is too old for it; that is found out before anything is erased."""

    def refuse(*_, **__):
        raise FatalError("requires chip revision v9.0 or higher (this chip is revision v0.4)")

    with board() as used, untouched(used):
        monkeypatch.setattr("esptool.cmds._validate_image_compatibility", refuse)
        said = refused(1)
        assert "esptool on" in said and "requires chip revision v9.0" in said
        assert "half written" not in said
        assert not list((place / "project" / ".tenner" / "flash").glob("*"))


def test_a_board_that_does_not_start_afterwards(place, monkeypatch):
    """The owner hears that the flash itself is right, and why no REPL answers."""
    with board() as used:

        def unpowered(*_):
            used.power_off()
            raise BoardSilent(f"the board at {used.pty} says nothing")

        monkeypatch.setattr(run, "open_board", unpowered)
        said = refused(4)
        assert "MicroPython is written and verified, but then: the board at" in said
        used.power_on()
        assert own(used) == OWN

"""`mip`, MicroPython's own package manager, installs package.json; the steps of docs/mip.md."""

import functools
import http.server
import json
import os
import re
import subprocess
import threading

import pytest

from scripts.package_json import package_files
from tenner_host import (
    FIRMWARE,
    ROOT,
    interpreters,
    littlefs_image,
    partitions,
    tenner_version,
)
from tenner_host.partitions import Partition
from tenner_sim.services import Services
from tenner_sim.vboard import VirtualBoard, image
from tests.host.e2e import settings, wifi

PAGE = (ROOT / "docs" / "mip.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^`(\w+\.py)`\n\n```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    """Where a server has this repository, in the place of a host of repositories."""
    handler = functools.partial(Quiet, directory=str(ROOT))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_micropython_on_a_computer_installs_an_agent_that_answers(tmp_path, address):
    micropython = interpreters.find_micropython().argv
    lib = tmp_path / "lib"

    def run(*arguments, **environment):
        done = subprocess.run(
            [*micropython, *arguments],
            cwd=tmp_path,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Done" in run("-m", "mip", "install", "--target", str(lib), f"{address}/package.json")
    installed = {path.relative_to(lib): path.read_bytes() for path in lib.rglob("*.*")}
    assert installed == {path.relative_to(FIRMWARE): path.read_bytes() for path in package_files()}
    root = tmp_path / "root"
    (root / "certs").mkdir(parents=True)
    with Services() as services:
        (root / "certs" / "stand-in.der").write_bytes(services.ca_der)
        changes = {"telegram.token": None, "telegram.owner": None}
        (root / "config.json").write_text(json.dumps(settings(services, changes)))
        path = interpreters.search_path(lib)
        output = run("-m", "tenner", "--root", str(root), "--once", "say: hello", MICROPYPATH=path)
    assert output.split("\n")[0] == "hello"


def large_flash(tree):
    """The flash of a board with 8 MB, which the page names."""
    rows = [
        *(row for row in image.PARTITIONS if row.offset != image.VFS_OFFSET),
        Partition("vfs", partitions.DATA, 0x81, image.VFS_OFFSET, 0x600000),
    ]
    flash = bytearray(b"\xff" * 0x800000)
    firmware = image.firmware_image(rows=rows)
    flash[: len(firmware)] = firmware
    row = image.find_vfs(flash)
    flash[row.offset : row.end] = littlefs_image.make_file_system(row.size, tree)
    return flash


def test_a_board_with_much_memory_installs_it_over_its_wifi(address, tmp_path):
    network = wifi()
    text = BLOCKS["install.py"].replace("NETWORK", network["ssid"])
    text = text.replace("PASSWORD", network["password"])
    text = re.sub(r"github:OWNER/tenner/?", f"{address}/", text)
    text = text.replace("ESP32_GENERIC_S3", "VIRTUAL")
    config = {"wifi": {"ssid": network["ssid"], "password": network["password"]}}
    flash = tmp_path / "flash.bin"
    flash.write_bytes(large_flash({"/config.json": json.dumps(config).encode()}))
    with VirtualBoard(flash=flash, heap="2M") as board:
        board.wait_for(">>> ")
        assert "Done" in board.exec(text)
        board.exec(f"with open('main.py', 'w') as file:\n    file.write({BLOCKS['main.py']!r})")
        board.mpremote("reset")
        board.wait_for(f"tenner {tenner_version()} on esp32")
        board.wait_for("connected")

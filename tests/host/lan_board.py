"""Boards in the network, without a broker, which this computer knows as a deploy or a sync leaves
them."""

import contextlib
import platform
from pathlib import Path

from tenner_host.release import keys
from tenner_host.remote import known
from tests.host import page_home, releases
from tests.host.e2e import QUIET
from tests.host.remote_board import KEY


def machine_id():
    """The id of a Linux board, as a deploy finds it."""
    place = Path("/etc/machine-id")
    return (place.read_text().strip() if place.exists() else "") or platform.node()


class LinuxHome:
    """An agent of Linux with its page, under an interpreter."""

    via = ("--via", "lan")
    scheme = known.LAN
    lifeline = "web"

    def __init__(self, home):
        self.home = home
        self.wait_for = home.wait_for
        self.device = machine_id()

    def read(self, path):
        return (self.home.root / path[1:]).read_bytes()

    def paths(self):
        root = self.home.root
        return {f"/{one.relative_to(root)}" for one in root.rglob("*") if one.is_file()}

    def ready(self):
        self.home.wait_for("takes sealed requests")


@contextlib.contextmanager
def linux_home(folder, argv, lib, **options):
    """A Linux board with the key of this computer, which knows its address."""
    files = {
        known.ON_BOARD[1:]: KEY.encode(),
        keys.ON_BOARD[1:]: releases.public(),
        **options.pop("files", {}),
    }
    options = {"heartbeat": QUIET, **options}
    with page_home.home(folder, argv, lib, files=files, **options) as home:
        home.starts_again = True
        made = LinuxHome(home)
        made.ready()
        learn(made.device, "attic", home.port)
        yield made


def learn(device, name, port, address="127.0.0.1"):
    """Note a board, as a deploy or a sync does."""
    settings = {"name": name, "web": {"port": port}}
    known.learn(device, {known.ON_BOARD: KEY.encode()}, settings, [], address)

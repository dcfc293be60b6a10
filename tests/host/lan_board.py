"""Boards in the network, without a broker, which this computer knows as a deploy or a sync leaves
them."""

import contextlib
import platform
from pathlib import Path

from tenner_host.release import keys
from tenner_host.remote import known
from tenner_sim.vboard.chips import mac_of
from tests.host import page_home, releases
from tests.host.e2e import QUIET, agent_board
from tests.host.remote_board import KEY
from tests.ports import free_port

#: The homes of the agent's page: Linux under each interpreter, and a chip.
KINDS = (*page_home.INTERPRETERS, "chip")
#: Of a chip without PSRAM, on the interpreter of its size; with room for its emulation.
HEAP = "192K"


def machine_id():
    """The id of a Linux board, as a deploy finds it."""
    place = Path("/etc/machine-id")
    return (place.read_text().strip() if place.exists() else "") or platform.node()


class LinuxHome:
    """An agent of Linux with its page, under an interpreter."""

    kind = "linux"
    via = ("--via", "lan")
    scheme = known.LAN
    lifeline = "web"

    def __init__(self, home):
        self.home = home
        self.wait_for = home.wait_for
        self.set = home.set
        self.type = home.type
        self.model = home.services.model
        self.port = home.port
        self.device = machine_id()

    @property
    def lines(self):
        return self.home.lines

    def read(self, path):
        return (self.home.root / path[1:]).read_bytes()

    def paths(self):
        root = self.home.root
        return {f"/{one.relative_to(root)}" for one in root.rglob("*") if one.is_file()}

    def ready(self):
        self.home.wait_for("takes sealed requests")


class Chip:
    """An agent of a chip with its page."""

    kind = "chip"
    via = ("--via", "lan")
    scheme = known.LAN
    lifeline = "web"

    def __init__(self, bench, port, device):
        self.bench = bench
        self.wait_for = bench.wait_for
        self.type = bench.type
        self.model = bench.model
        self.port = port
        self.device = device

    @property
    def lines(self):
        return self.bench.log.splitlines()

    def set(self, value):
        self.bench.board.set("room.temperature", value)

    def read(self, path):
        return self.bench.board.read_tree()[path]

    def paths(self):
        return set(self.bench.board.read_tree())

    def ready(self):
        self.wait_for("takes sealed requests")


@contextlib.contextmanager
def chip(name=None, *, changes=None, files=None, heap=HEAP, **options):
    """A chip with the key of this computer, which knows its address."""
    port = free_port()
    changes = {"web.enabled": True, "web.port": port, **(changes or {})}
    files = {known.ON_BOARD: KEY, keys.ON_BOARD: releases.public(), **(files or {})}
    with agent_board(changes=changes, files=files, heap=heap, name=name, **options) as bench:
        made = Chip(bench, port, mac_of(name).hex())
        made.ready()
        learn(made.device, name or "attic", port)
        yield made


@contextlib.contextmanager
def board(request, kind, folder, lib, **options):
    """A board of one of the KINDS."""
    with contextlib.ExitStack() as stack:
        if kind == "chip":
            interpreter = request.getfixturevalue("micropython32")
            yield stack.enter_context(chip(interpreter=interpreter, **options))
            return
        argv = page_home.argv_of(request, kind)
        lib = page_home.lib_of(lib, kind)
        yield stack.enter_context(linux_home(folder, argv, lib, **options))


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

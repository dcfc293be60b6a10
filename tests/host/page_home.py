"""An agent of Linux that serves its own page: this repository's build, on an interpreter of the
machine."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from types import SimpleNamespace

from tenner_host import interpreters
from tenner_host.build import linux_tree, write_tree
from tenner_sim import LIMIT_S
from tenner_sim.services import Services
from tenner_sim.services.authority import Authority
from tests.host.e2e import settings
from tests.ports import free_port

INTERPRETERS = ("cpython", "micropython", "micropython32")
#: A sensor whose value a test sets.
DRIVER = """async def read(port, cfg):
    with open(cfg["file"]) as file:
        return {"temperature": float(file.read())}
"""
HEARTBEAT = (
    "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28; notify) It is "
    "{room.temperature} in the room.\n- (daily 07:30) Say: good morning.\n"
)

#: Signs the certificate of a page; nobody trusts it unless told.
#: One certificate without an intermediate: MicroPython's page sends one alone.
AUTHORITY = Authority("small")


class Home:
    """The running agent. `port`, `access.code`, `links` and `address` are as of the server of
    `tenner web`."""

    def __init__(self, root, lib, argv):
        self.root = root
        self._argv = argv
        self._lib = lib
        self._changed = threading.Condition()
        self._seen = 0
        #: A service manager would start it again when it ends.
        self.starts_again = False
        self.lines = []
        self.process = None
        web = json.loads((root / "config.json").read_text())["web"]
        self.port = web["port"]
        self.address = f"http{'s' if 'cert' in web else ''}://localhost:{self.port}/"

    def start(self):
        # A terminal's output comes at once.
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._lib),
            "MICROPYPATH": interpreters.search_path(self._lib),
            "PYTHONUNBUFFERED": "1",
        }
        self.process = subprocess.Popen(
            [*self._argv, "-m", "tenner", "--root", str(self.root)],
            cwd=self.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, args=[self.process], daemon=True).start()
        return self

    def _read(self, process):
        for line in process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        # After a restart on request only: one that fails at once would fail forever.
        if self.starts_again and process.wait() == 0:
            self.start()

    def wait_for(self, pattern, limit_s=LIMIT_S):
        """Wait for a line that fits, behind that of the last wait; return the match."""

        def found():
            while self._seen < len(self.lines):
                self._seen += 1
                match = re.search(pattern, self.lines[self._seen - 1])
                if match:
                    return match
            return None

        with self._changed:
            match = self._changed.wait_for(found, limit_s)
        assert match, (pattern, self.lines[-40:])
        return match

    def open(self):
        """Wait until the page is open."""
        self.wait_for(r"page +https?://\S+ is open")
        return self

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def set(self, value):
        """Set the room's temperature."""
        (self.root / "room").write_text(str(value))

    @property
    def links(self):
        return [self._link("/web")]

    def _link(self, command):
        self.type(command)
        return self.wait_for("open (http[^ ]*#code=[a-z0-9]+)$")[1]

    @property
    def guest_code(self):
        return self._link("/web guest").partition("#code=")[2]

    @property
    def access(self):
        return SimpleNamespace(code=self.links[0].partition("#code=")[2])

    def reset(self):
        """End the agent in the middle of its work, and start it again."""
        self.process.kill()
        self.process.wait(LIMIT_S)
        self.start()

    def stop(self):
        self.starts_again = False
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT_S)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def pem_files():
    """The files of a certificate for localhost, as an authority hands them out."""
    issued = AUTHORITY.issue("right")
    chain = b"".join(one.bytes() for one in issued.cert_chain_pems)
    return {"page.pem": chain, "page.key": issued.private_key_pem.bytes()}


def lib_of(folder, name):
    """The code as a deploy brings it, for an interpreter."""
    place = folder / name
    if not place.exists():
        write_tree(linux_tree(mpy=name != "cpython"), place)
    return place


@contextlib.contextmanager
def home(folder, argv, lib, heartbeat=HEARTBEAT, changes=None, files=None, secure=False):
    """A running agent with its stand-ins and a sensor, which ends with the block; `secure`: its
    page is behind TLS."""
    with Services() as services:
        root = folder / "root"
        for name in ("certs", "workspace/drivers", "state"):
            (root / name).mkdir(parents=True)
        (root / "certs" / "stand-in.der").write_bytes(services.ca_der)
        (root / "workspace" / "HEARTBEAT.md").write_text(heartbeat)
        (root / "workspace" / "drivers" / "room.py").write_text(DRIVER)
        (root / "workspace" / "SENSORS.json").write_text(
            json.dumps({"room": {"driver": "room", "file": str(root / "room")}})
        )
        if secure:
            files = {**pem_files(), **(files or {})}
        for name, data in (files or {}).items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(data)
        made = {
            "telegram.token": None,
            "telegram.owner": None,
            "name": "kitchen",
            "web.enabled": True,
            "web.port": free_port(),
            **({"web.cert": "page.pem", "web.key": "page.key"} if secure else {}),
            **(changes or {}),
        }
        config = settings(services, made)
        del config["wifi"]
        (root / "config.json").write_text(json.dumps(config))
        running = Home(root, lib, argv)
        running.set(21.5)
        running.services = services
        try:
            yield running.start()
        finally:
            running.stop()


def argv_of(request, name):
    """The command of an interpreter."""
    return (sys.executable,) if name == "cpython" else request.getfixturevalue(name).argv

"""Releases for the tests, of changed firmware too, and a web server for them with faults."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import shutil
import ssl
import tempfile
import threading
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from tenner_host import FIRMWARE
from tenner_host.release import keys
from tenner_host.release.micropython import MicroPython
from tenner_host.release.release import Release, code_of, signed
from tenner_sim.services.authority import Authority
from tenner_sim.vboard import image
from tenner_sim.vboard.chips import MODELS
from tests.host.e2e import BUILDING

#: The trial's minutes would make a test wait.
SHORT_TRIAL = ("update/trial.py", "_LIVE_S = const(180)", "_LIVE_S = const(4)")


@functools.cache
def key(name: str = "owner") -> rsa.RSAPrivateKey:
    """A key of this name, as `tenner release --new-key` makes one."""
    return rsa.generate_private_key(keys.EXPONENT, keys.BITS[0])


def public(name: str = "owner") -> bytes:
    """The line of a key on a board."""
    return keys.public_line(key(name)).encode()


def code(version: str, *changes: tuple[str, str, str]) -> dict[str, bytes]:
    """The code of a version; each change of the firmware is (file, text, its replacement)."""
    with BUILDING:
        return _built(version, changes)


@functools.cache
def _built(version: str, changes: tuple[tuple[str, str, str], ...]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="releases-") as folder:
        firmware = Path(folder) / "firmware"
        shutil.copytree(FIRMWARE, firmware, ignore=shutil.ignore_patterns("__pycache__"))
        for name, old, new in changes:
            path = firmware / "tenner" / name
            text = path.read_text()
            assert old in text, (name, old)
            path.write_text(text.replace(old, new, 1))
        return code_of(version, firmware=firmware)


def micropython_of(
    code: bytes = b"new" * 3000, version: str = "1.29.1", chip: str = "esp32c3"
) -> MicroPython:
    """The application of an image with this code, as a part of a release."""
    model = MODELS[chip]
    firmware = image.firmware_image(model, version, code=code)
    return MicroPython(
        firmware[image.APP_OFFSET - model.bootloader_offset :], model.image_id, chip, version
    )


def release(
    files: dict[str, bytes],
    version: str = "0.9.0",
    signer: str = "owner",
    micropython: MicroPython | None = None,
    **changes: str,
) -> bytes:
    """A release of these files, signed by the key of this name."""
    values = {"family": "esp32", "oldest": "0.2.0", "notes": "Tested.", **changes}
    made = Release(
        version,
        values["family"],
        values["oldest"],
        values["notes"],
        files,
        micropython=micropython,
    )
    return signed(made, key(signer))


def put_board(folder: Path) -> None:
    """Put the key and the scripts of a board whose flash is at /cut (powercut_update.py) into a
    folder."""
    (folder / "keys").write_bytes(public())
    for name in ("boot.py", "boot_trial.py"):
        text = (FIRMWARE / name).read_text()
        assert '"/lib' in text
        text = text.replace('"/lib', '"/cut/lib').replace('listdir("/")', 'listdir("/cut")')
        (folder / name).write_text(text)


class Server:
    """Serves `body` at `url`, with ranges and an ETag; the replies after the first one end after
    `cut_after` bytes. `moved` has the targets of redirects, by their path. With an `authority` it
    speaks TLS only."""

    def __init__(self, body: bytes = b"", authority: Authority | None = None) -> None:
        self.body = body
        self.cut_after: list[int | None] = []
        self.ranges = True
        self.requests: list[str | None] = []
        self.known: list[str | None] = []
        self.moved: dict[str, str] = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                # The board closes the connection as soon as it knows enough.
                with contextlib.suppress(ConnectionError):
                    outer.answer(self)

            def handle(self) -> None:
                with contextlib.suppress(ConnectionError, ssl.SSLError):
                    super().handle()

            def log_message(self, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/tenner.release"
        self.root = b""
        if authority:
            self.root = authority.der
            self.url = self.url.replace("http://127.0.0.1", "https://localhost")
            context = authority.server_context()
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        if handler.path in self.moved:
            handler.send_response(302)
            handler.send_header("Location", self.moved[handler.path])
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        asked = handler.headers.get("Range")
        self.requests.append(asked)
        etag = f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'
        self.known.append(handler.headers.get("If-None-Match"))
        if self.known[-1] == etag:
            handler.send_response(304)
            handler.end_headers()
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        handler.send_response(206 if start else 200)
        body = self.body[start:]
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("ETag", etag)
        handler.end_headers()
        cut = None if len(self.requests) < 2 or not self.cut_after else self.cut_after.pop(0)
        handler.wfile.write(body[:cut])
        handler.close_connection = cut is not None

    def __enter__(self) -> Server:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

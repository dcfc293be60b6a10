"""Serves a release to boards over TLS, with a key and a certificate made for this one time."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import secrets
import socket
import ssl
import tempfile
import threading
from pathlib import Path

from tenner_host.errors import CommandError

#: The name in the certificate. The board connects to an address and expects this name
#: (firmware/tenner/update/pinned.py).
NAME = "tenner-update"
_PIECE = 4096
#: Little is on the way, so that the board has almost all that `fetched` counts.
_ON_THE_WAY = 8192
#: For a board that went away in the middle of a request.
_SILENT_S = 60.0
#: No packet goes there: it only has a route, by which this computer chooses its address.
_ELSEWHERE = "192.0.2.1"


class ReleaseServer:
    """Serves `body`, in a `with` block. Each board has a secret path; `certificate` is the one
    that they are to accept, in DER form."""

    def __init__(self, body: bytes, address: str = "", port: int = 0) -> None:
        outer = self
        self.body = body
        self._fetched: dict[str, int] = {}
        context, self.certificate = _identity()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = _SILENT_S

            def do_GET(self) -> None:
                outer._answer(self)

            def handle(self) -> None:
                # A board ends the connection as soon as it knows enough; others prove nothing.
                with contextlib.suppress(OSError):
                    super().handle()

            def finish(self) -> None:
                with contextlib.suppress(OSError):
                    super().finish()

            def log_message(self, *_: object) -> None:
                """Does nothing."""

        class Server(http.server.ThreadingHTTPServer):
            def get_request(self) -> tuple[socket.socket, object]:
                link, place = self.socket.accept()
                link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _ON_THE_WAY)
                # The handshake is that of the first read, in the thread of this connection.
                return context.wrap_socket(
                    link, server_side=True, do_handshake_on_connect=False
                ), place

        try:
            self._server = Server((address, port), Handler)
        except OSError as exc:
            raise CommandError(
                f"cannot serve the release at {address or 'this computer'}:{port}: {exc.strerror}"
            ) from exc
        self.port: int = self._server.server_port

    def path(self) -> str:
        """Return a new secret path of the release."""
        path = secrets.token_hex(16)
        self._fetched[path] = 0
        return path

    def fetched(self, path: str) -> int:
        """Return how many bytes of the release the board with this path has read."""
        return self._fetched[path]

    def _answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = handler.path[1:]
        if path not in self._fetched:
            handler.send_error(404)
            return
        start = _start(handler.headers.get("Range", ""), len(self.body))
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(self.body) - start))
        handler.end_headers()
        for at in range(start, len(self.body), _PIECE):
            piece = self.body[at : at + _PIECE]
            handler.wfile.write(piece)
            self._fetched[path] = at + len(piece)

    def __enter__(self) -> ReleaseServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def address_towards(host: str) -> str:
    """Return this computer's address on the way to `host`, or to elsewhere if that is this
    computer itself."""
    for there in (host, _ELSEWHERE):
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe,
        ):
            probe.connect((there, 9))
            found: str = probe.getsockname()[0]
            if not found.startswith("127."):
                return found
    return "127.0.0.1"


def _start(asked: str, size: int) -> int:
    """Return the first byte that a `Range` header asks for; 0 for the whole, also for other
    headers."""
    first, _, last = asked.removeprefix("bytes=").partition("-")
    if not first.isdecimal() or last or int(first) >= size:
        return 0
    return int(first)


def _identity() -> tuple[ssl.SSLContext, bytes]:
    """Return the context of a server with a new key, and its certificate in DER form."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    # ECDSA on this curve: small and quick enough for a board.
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # The clock of a board begins in 2000; the key lives as long as this command.
        .not_valid_before(datetime.datetime(1999, 1, 1, tzinfo=datetime.timezone.utc))
        .not_valid_after(datetime.datetime(2049, 12, 31, tzinfo=datetime.timezone.utc))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # `ssl` reads it only from a file; the folder is the owner's alone.
    with tempfile.TemporaryDirectory(prefix="tenner-update-") as folder:
        file = Path(folder) / "identity.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + made.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(file)
    return context, made.public_bytes(serialization.Encoding.DER)

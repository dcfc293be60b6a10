"""Real TLS on every interpreter: the right certificate works, every wrong one is refused and
explained.

The server records the plain bytes it gets, so that "nothing was sent" is seen, not believed.
"""

import datetime
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tenner_host import interpreters
from tenner_sim.services.authority import Authority

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("tls_client.py")
SECRET = "sk-this-must-not-leak"
DAY = datetime.timedelta(days=1)


class Server:
    """Answers one request a connection over TLS and keeps the received bytes, decrypted and
    raw."""

    def __init__(self, certificate, *, only_13=False, slow=False):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(self.context)
        if only_13:
            self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.received = bytearray()
        self.raw = bytearray()
        self.size = 300 if slow else 4096
        self.handshakes = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        if slow:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                try:
                    self._serve(connection)
                except (OSError, ssl.SSLError):
                    continue  # most tests are about clients that refuse us

    def _serve(self, connection):
        """TLS over memory buffers, so that every raw byte passes through our hands."""
        inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = self.context.wrap_bio(inward, outward, server_side=True)

        def pump(step):
            while True:
                try:
                    result = step()
                except ssl.SSLWantReadError:
                    connection.sendall(outward.read())
                    data = connection.recv(self.size)
                    if not data:
                        raise ConnectionError("the client left") from None
                    self.raw += data
                    inward.write(data)
                except ssl.SSLError:
                    connection.sendall(outward.read())  # the alert that says why
                    raise
                else:
                    connection.sendall(outward.read())
                    return result

        pump(session.do_handshake)
        self.handshakes += 1
        while not self.received.endswith(SECRET.encode()):
            data = pump(lambda: session.read(4096))
            if not data:
                return
            self.received += data
        pump(lambda: session.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
        pump(lambda: session.read(1))

    def close(self):
        # Closing alone does not wake a thread that waits in accept().
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def certs(authority, tmp_path_factory):
    """The /certs folder of a board: our authority as DER, and one that has nothing to do with
    it."""
    folder = tmp_path_factory.mktemp("certs")
    for name, ca in (("ours", authority), ("another", trustme.CA())):
        certificate = x509.load_pem_x509_certificate(ca.cert_pem.bytes())
        (folder / f"{name}.der").write_bytes(certificate.public_bytes(Encoding.DER))
    (folder / "README.txt").write_text("not a certificate")
    return folder


@pytest.fixture(params=["cpython", *interpreters.FINDERS])
def interpreter(request):
    if request.param == "cpython":
        return None
    try:
        return interpreters.FINDERS[request.param]()
    except interpreters.InterpreterMissing as exc:
        if request.param == "micropython32" and os.environ.get("TENNER_REQUIRE_32BIT") != "1":
            pytest.skip(str(exc))
        pytest.fail(str(exc), pytrace=False)


@pytest.fixture
def serve():
    servers = []

    def start(*args, **options):
        servers.append(Server(*args, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def ask(interpreter, certs, port, lines=0, bundle=""):
    firmware = str(ROOT / "firmware")
    url = f"https://localhost:{port}/path"
    arguments = [str(CLIENT), str(certs), url, SECRET, str(lines), str(bundle)]
    if interpreter is None:
        command = [sys.executable, *arguments]
        # CPython asks OpenSSL, which asks this variable.
        path = {"PYTHONPATH": firmware, "SSL_CERT_FILE": str(bundle)}
    else:
        command = interpreter.command(*arguments)
        path = {"MICROPYPATH": interpreters.search_path(firmware)}
    done = subprocess.run(
        command,
        env={**os.environ, **path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def refused(server, answer, *words):
    """The client said why, and not one byte of the request reached the server in any form."""
    assert answer["class"] == "tls"
    # A message may be sent again without a doubt.
    assert answer["sent"] is False
    sentence = answer["sentence"]
    assert "\n" not in sentence
    assert any(word in sentence for word in words), sentence
    assert server.handshakes == 0 or server.received == b""
    assert SECRET.encode() not in server.raw
    assert server.raw  # it was asked at all


def test_right_certificate(interpreter, authority, certs, serve):
    server = serve(authority.issue_cert("localhost"))
    assert ask(interpreter, certs, server.port) == {"status": 200, "body": "hello"}
    head, _, body = server.received.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /path HTTP/1.1\r\n")
    assert body == SECRET.encode()
    assert SECRET.encode() not in server.raw


def test_the_systems_certificates_where_there_are_no_own(
    interpreter, authority, certs, serve, tmp_path
):
    """A PEM file with all that a Linux system trusts, read by the interpreter's own TLS."""
    ours, other = tmp_path / "ours.crt", tmp_path / "other.crt"
    ours.write_bytes(trustme.CA().cert_pem.bytes() + authority.cert_pem.bytes())
    other.write_bytes(trustme.CA().cert_pem.bytes())
    server = serve(authority.issue_cert("localhost"))
    assert ask(interpreter, tmp_path, server.port, bundle=ours)["status"] == 200
    server = serve(authority.issue_cert("localhost"))
    answer = ask(interpreter, tmp_path, server.port, bundle=other)
    refused(server, answer, "authority that is not in /certs")
    # The owner's own come first.
    server = serve(authority.issue_cert("localhost"))
    assert ask(interpreter, certs, server.port, bundle=other)["status"] == 200


def test_large_request_to_a_slow_server(interpreter, authority, certs, serve):
    """Back-pressure is where two writes before one drain would lose bytes without an error."""
    server = serve(authority.issue_cert("localhost"), slow=True)
    assert ask(interpreter, certs, server.port, lines=2000)["status"] == 200
    body = server.received.partition(b"\r\n\r\n")[2]
    expected = b"".join(b"%09d\n" % number * 70 for number in range(2000)) + SECRET.encode()
    assert body == expected


def test_unknown_authority(interpreter, certs, serve):
    server = serve(trustme.CA().issue_cert("localhost"))
    refused(server, ask(interpreter, certs, server.port), "authority that is not in /certs")


def test_wrong_name(interpreter, authority, certs, serve):
    server = serve(authority.issue_cert("example.org"))
    refused(server, ask(interpreter, certs, server.port), "another host name")


def test_an_expired_certificate_is_refused(interpreter, authority, certs, serve):
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = authority.issue_cert("localhost", not_before=now - 9 * DAY, not_after=now - DAY)
    server = serve(certificate)
    refused(server, ask(interpreter, certs, server.port), "has expired")


def test_not_yet_valid(interpreter, authority, certs, serve):
    now = datetime.datetime.now(datetime.timezone.utc)
    server = serve(
        authority.issue_cert("localhost", not_before=now + DAY, not_after=now + 9 * DAY)
    )
    refused(server, ask(interpreter, certs, server.port), "check the board's clock")


class Chained:
    """An authority of the simulator as Server takes it: its certificate with a real chain."""

    def __init__(self, chain, kind):
        self.authority = Authority(chain)
        self.kind = kind

    def configure_cert(self, context):
        self.authority.issue(self.kind).configure_cert(context)


@pytest.mark.parametrize(
    ("chain", "kind"),
    [("rsa", "no-intermediate"), ("ecdsa", "misordered"), ("telegram", "impostor")],
)
def test_a_chain_with_a_fault(interpreter, serve, tmp_path, chain, kind):
    chained = Chained(chain, kind)
    chained.authority.write_der(tmp_path)
    server = serve(chained)
    answer = ask(interpreter, tmp_path, server.port)
    if kind == "misordered" and interpreter is None:
        # OpenSSL puts the certificates into order.
        assert answer["status"] == 200
    else:
        refused(server, answer, "its chain is wrong: `tenner doctor`")


def test_a_key_that_is_too_short(interpreter, authority, certs, serve):
    server = serve(ShortKey(authority))
    refused(server, ask(interpreter, certs, server.port), "too weak")


class ShortKey:
    """A certificate for a key of 1,024 bits, which OpenSSL's servers need persuasion for."""

    def __init__(self, authority):
        self.key = rsa.generate_private_key(65537, 1024)
        issuer = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
        issuer_key = load_pem_private_key(authority.private_key_pem.bytes(), None)
        now = datetime.datetime.now(datetime.timezone.utc)
        names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        made = x509.CertificateBuilder(issuer.subject, x509.Name([]), self.key.public_key())
        made = made.serial_number(5).not_valid_before(now - DAY).not_valid_after(now + DAY)
        self.certificate = made.add_extension(names, True).sign(issuer_key, hashes.SHA256())

    def configure_cert(self, context):
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        key = self.key.private_bytes(
            Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
        )
        with tempfile.NamedTemporaryFile() as file:
            file.write(key + self.certificate.public_bytes(Encoding.PEM))
            file.flush()
            context.load_cert_chain(file.name)


def test_only_tls_13(interpreter, authority, certs, serve):
    """Newer mbedTLS builds speak it; the others must report the cause."""
    server = serve(authority.issue_cert("localhost"), only_13=True)
    answer = ask(interpreter, certs, server.port)
    if "status" not in answer:
        assert interpreter is not None
        refused(server, answer, "TLS 1.3")


def test_server_that_speaks_no_tls(interpreter, certs):
    """The answer is an error, and the request is not sent in the clear instead."""
    received = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                received.append(connection.recv(4096))
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        answer = ask(interpreter, certs, listener.getsockname()[1])
        thread.join()
    assert answer["class"] == "tls"
    assert "http:// instead of https://" in answer["sentence"], answer
    assert answer["sent"] is False
    assert SECRET.encode() not in received[0]


def test_cut_in_the_handshake(interpreter, certs):
    """That is the network's fault, and worth another try, not a certificate that is wrong."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        answer = ask(interpreter, certs, listener.getsockname()[1])
        thread.join()
    assert answer["class"] == "timeout"
    assert answer["sentence"] is None
    assert answer["sent"] is False


def test_no_certificate_to_trust(interpreter, tmp_path):
    """A board without any refuses before it connects; CPython has those of its system."""
    script = (
        "from tenner.net import tls\n"
        "try:\n    tls.context('/nowhere')\n    print('made')\n"
        "except OSError as error:\n    print(error)\n"
    )
    firmware = str(ROOT / "firmware")
    if interpreter is None:
        command, path = [sys.executable, "-c", script], {"PYTHONPATH": firmware}
    else:
        command = interpreter.command("-c", script)
        path = {"MICROPYPATH": interpreters.search_path(firmware)}
    done = subprocess.run(
        command, env={**os.environ, **path}, capture_output=True, text=True, check=True
    )
    assert ("made" if interpreter is None else "no certificates") in done.stdout


def test_context_verifies(certs):
    sys.path.insert(0, str(ROOT / "firmware"))
    from tenner.net import tls

    context = tls.context(str(certs))
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert len(context.get_ca_certs()) == 2
    (certs / "broken.der").write_bytes(b"not a certificate")
    try:
        with pytest.raises(OSError, match=r"broken\.der"):
            tls.context(str(certs))
    finally:
        (certs / "broken.der").unlink()

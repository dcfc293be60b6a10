"""The page of an agent over TLS, on each interpreter, and the mistakes in its settings."""

import contextlib
import json
import os
import socket

import pytest

from tenner_sim import LIMIT_S
from tests.host import page_home
from tests.host.page_home import AUTHORITY, pem_files
from tests.host.strangers import answer_of, connections


@pytest.fixture(scope="module")
def libs(tmp_path_factory):
    return tmp_path_factory.mktemp("lib")


@pytest.fixture(params=page_home.INTERPRETERS)
def argv(request):
    return page_home.argv_of(request, request.param)


@pytest.fixture
def lib(request, libs, argv):
    return page_home.lib_of(libs, request.node.callspec.params["argv"])


def asked(home, request):
    """The head and the JSON of the answer to a request over verified TLS."""
    context = AUTHORITY.client_context()
    with (
        socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        secured.sendall(request.encode())
        return answer_of(secured)


def test_the_page_over_tls(tmp_path, argv, lib):
    changes = {"web.cert": "page.pem", "web.key": "page.key", "web.hosts": ["kitchen.local"]}
    with page_home.home(tmp_path, argv, lib, changes=changes, files=pem_files()) as home:
        home.wait_for("https://ADDRESS:[0-9]+/ is open")
        home.type("/web")
        code = home.wait_for(r"open https://kitchen.local:\d+/#code=([a-z0-9]+)$")[1]
        body = json.dumps({"code": code})
        lines = [
            "POST /api/v1/pair HTTP/1.1",
            f"Host: kitchen.local:{home.port}",
            f"Origin: https://kitchen.local:{home.port}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        head, found = asked(home, "\r\n".join([*lines, "", body]))
        assert head.startswith("HTTP/1.1 200") and found["token"]
        assert "; Secure" in head
        lines[2] = f"Origin: http://kitchen.local:{home.port}"
        assert asked(home, "\r\n".join([*lines, "", body]))[0].startswith("HTTP/1.1 403")
        # One who speaks no TLS gets nothing and is cut off; the next one is served.
        with socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S) as plain:
            plain.sendall(b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                while block := plain.recv(4096):
                    assert b"HTTP" not in block
        lines[1:3] = [f"Host: localhost:{home.port}"]
        assert asked(home, "\r\n".join([*lines, "", body]))[0].startswith("HTTP/1.1 403")
        # Those who never begin the handshake keep nobody out, and take no file of the agent's.
        with connections(home, [b""] * 300):
            assert asked(home, "\r\n".join([*lines, "", body]))[0].startswith("HTTP/1.1 403")
            assert len(os.listdir(f"/proc/{home.process.pid}/fd")) < 100
        assert not [line for line in home.lines if "Traceback" in line]


def test_forgers_who_do_not_leave_keep_no_newcomer_out(tmp_path, argv, lib):
    changes = {"web.cert": "page.pem", "web.key": "page.key"}
    files = {**pem_files(), "lib/remote.key": b"ab" * 32}
    context = AUTHORITY.client_context()
    forged = b"POST /sealed HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n" + b"x" * 300
    with (
        page_home.home(tmp_path, argv, lib, changes=changes, files=files) as home,
        contextlib.ExitStack() as strangers,
    ):
        home.wait_for("https://ADDRESS:[0-9]+/ is open")
        for _ in range(50):
            plain = socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S)
            one = strangers.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
            one.sendall(forged)
            assert one.recv(12)[9:] in (b"403", b"429", b"503")
            head, _ = asked(home, "GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert head.startswith("HTTP/1.1 4")


@pytest.mark.parametrize(
    ("changes", "files", "sentence"),
    [
        ({"web.cert": "page.pem"}, {}, "web.cert and web.key go together"),
        ({"web.cert": "page.pem", "web.key": "page.key"}, {}, "is no file"),
        (
            {"web.cert": "page.pem", "web.key": "page.key"},
            {"page.pem": b"nothing", "page.key": b"nothing"},
            "are no certificate and its key",
        ),
    ],
    ids=["one", "absent", "broken"],
)
def test_a_mistake_is_a_sentence_and_the_agent_runs(tmp_path, argv, lib, changes, files, sentence):
    with page_home.home(tmp_path, argv, lib, changes=changes, files=files) as home:
        assert sentence in home.wait_for("the page is off: (.*)")[1]
        home.wait_for("Page: the page is off")
        home.type("/status")
        home.wait_for("outbox: 0 waiting")
        home.wait_for("page, once, last [0-9]+ s ago: the page is off")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", home.port), timeout=LIMIT_S)
        assert not [line for line in home.lines if "Traceback" in line]

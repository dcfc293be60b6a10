"""A server of `tenner web` in a thread, and a client that speaks HTTP to it as a script would."""

import contextlib
import http.client
import json
import threading
import time

from tenner_host.board.ports import Port
from tenner_host.web.door import Door
from tenner_host.web.one_board import OneBoard
from tenner_host.web.server import HOST, Server, listen
from tenner_sim import LIMIT_S


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Sends requests; `pair` gives it a session."""

    def __init__(self, server):
        self.port = server.port
        self.server = server
        self.headers = {}

    def pair(self, code=None):
        """Pair with a code, that of an owner unless it is given."""
        answer = self("POST", "/pair", {"code": code or self.server.access.code})
        assert answer.status == 200, answer.body
        cookie = answer.headers["set-cookie"]
        self.headers = {
            "Cookie": cookie.partition(";")[0],
            "X-Tenner-Token": answer.json["token"],
        }
        return self

    def __call__(self, method, path, body=None, **headers):
        """Send one request; a body is JSON unless it is bytes. A header None is left out."""
        if not path.startswith("//"):
            path = "/api/v1" + path
        return self.get(
            method, path.removeprefix("/") if path[:2] == "//" else path, body, headers
        )

    def get(self, method, path, body=None, headers=None):
        given = {**self.headers, **{k.replace("_", "-"): v for k, v in (headers or {}).items()}}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            given.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(HOST, self.port, timeout=LIMIT_S)
        try:
            connection.putrequest(
                method, path, skip_host="Host" in given, skip_accept_encoding=True
            )
            if body is not None:
                given.setdefault("Content-Length", str(len(body)))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    @contextlib.contextmanager
    def events(self, after=0):
        """An iterator over the events behind number `after`."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=LIMIT_S)
        try:
            headers = {**self.headers, "Last-Event-ID": str(after)}
            connection.request("GET", "/api/v1/events", headers=headers)
            yield _read_events(connection.getresponse())
        finally:
            connection.close()


def _read_events(response):
    assert response.status == 200, response.read()
    end = time.monotonic() + LIMIT_S
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))
            end = time.monotonic() + LIMIT_S
        # A quiet stream says so, and no limit of the socket passes.
        assert time.monotonic() < end, "no event comes"


@contextlib.contextmanager
def served(port):
    """A running server for the board at a port: a device, or a Port; it has guests, too."""
    board = port if isinstance(port, Port) else Port(port)
    with serving(lambda access: OneBoard(board, Door(access))) as server:
        server.state = server.site.state
        yield server


@contextlib.contextmanager
def serving(make):
    """A running server of a site."""
    links = []
    with listen(0) as sock:
        server = Server(sock, make, links.append, lambda link: None)
        server.links = links
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join(LIMIT_S)
            assert not thread.is_alive()

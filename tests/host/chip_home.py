"""A virtual board that serves its own page; the client of `tenner web` speaks to it."""

import contextlib
import http.client
import time
from types import SimpleNamespace

from tests.host import web_client
from tests.host.e2e import agent_board
from tests.ports import free_port

#: The heap of a chip without PSRAM for which the page is made, on the interpreter of its size.
BUDGET = "128K"


class Home:
    """The board and its page, with `port`, `access` and `links` as of the server of `tenner
    web`."""

    def __init__(self, bench, port):
        self.bench = bench
        self.port = port

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    @property
    def links(self):
        return [f"{self.address}#code={self.access.code}"]

    @property
    def access(self):
        return SimpleNamespace(code=self._code("/web"))

    @property
    def guest_code(self):
        return self._code("/web guest")

    def _code(self, command):
        self.bench.type(command)
        self.bench.wait_for("enter the code ")
        return self.bench.log.rpartition("enter the code ")[2].split()[0]


class Client(web_client.Client):
    """Sends a request again when the board is busy, as the page does, and counts the tries."""

    tries = 0

    def get(self, *args, **kwargs):
        end = time.monotonic() + 60
        while True:
            self.tries += 1
            try:
                answer = super().get(*args, **kwargs)
                if answer.status != 503:
                    return answer
            except (http.client.RemoteDisconnected, ConnectionError):
                answer = None
            assert time.monotonic() < end, answer and answer.body
            time.sleep(0.2)


@contextlib.contextmanager
def chip_home(*, heap=BUDGET, changes=None, **options):
    """A running board of the size of a chip with its page open."""
    port = free_port()
    settings = {"web.enabled": True, "web.port": port, **(changes or {})}
    with agent_board(changes=settings, heap=heap, **options) as bench:
        # In any order.
        for text in (f":{port}/ is open", "(pool.ntp.org)"):
            if text not in bench.log:
                bench.wait_for(text)
        yield Home(bench, port)

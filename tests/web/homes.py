"""The servers of the page in one form: `tenner web`, and the agents of Linux boards and chips."""

import contextlib
import re

from tenner_sim.services import OWNER, Step
from tests.host import page_home
from tests.host.chip_home import chip_home
from tests.web import browser

#: The settings of every board.
_CHANGES = {"name": "kitchen", "web.hosts": ["localhost"]}


class Home:
    """
    A board that serves its page, as a browser and its owner meet it.

    `offers` are the abilities that only some servers have; `log_of_a_start` fits the log's line of
    a start, and is None where a board keeps no lines.
    """

    offers: tuple = ()
    #: Complaints of Chromium about requests; the page shows a sentence for each.
    expected = ("status of 4",)
    #: Does the agent stop while its files are written?
    restarts_for_files = False
    log_of_a_start = None
    #: Can its power be cut while its server goes on?
    power_off = None
    #: Ask the bot for the page by /page; return the link that it sends. None: there is no bot.
    sent_link = None
    #: Have the model write its next answer slowly; None where the page shows it as a whole.
    slowly = None
    #: The view Update after a look for a newer version.
    update_says = re.compile("update.url")

    def __init__(self, server):
        self._server = server
        self.address = server.address

    def link(self):
        """The address that pairs one browser."""
        return self._server.links[-1]

    def code(self):
        """The code that pairs one browser."""
        return self._server.access.code

    def guest_link(self):
        """The address that pairs one browser of a guest."""
        return f"{self.address}#code={self._server.guest_code}"

    def ready(self):
        """Wait until the agent has started."""
        raise NotImplementedError

    def is_expected(self, complaint):
        return any(one in complaint for one in self.expected)

    def reset(self):
        """Press the board's reset button, or end its agent; it starts again."""
        raise NotImplementedError


#: A board's own server is away while it starts, and its end cuts exchanges at any place: all of
#: these names were seen.
_AWAY = (
    "net::ERR_CONNECTION_REFUSED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_RESPONSE_HEADERS_TRUNCATED",
    "net::ERR_SOCKET_NOT_CONNECTED",
)


class ComputersHome(Home):
    """`tenner web` for a board with a serial port."""

    offers = ("replay",)
    restarts_for_files = True
    log_of_a_start = re.compile("PWRON start")

    def __init__(self, bench, server):
        super().__init__(server)
        self._bench = bench

    def guest_link(self):
        return f"{self.address}#code={self._server.access.guest_code}"

    def ready(self):
        self._bench.ready()

    def reset(self):
        self._bench.board.reset()

    def power_off(self):
        """Cut the power; the port stays, as that of a USB bridge does."""
        self._bench.board.power_off()

    def power_on(self):
        self._bench.board.power_on()


class LinuxHome(Home):
    """The agent of a Linux board, behind TLS."""

    expected = (*Home.expected, *_AWAY)
    log_of_a_start = re.compile("START start")

    def slowly(self):
        self._server.services.model.plan([Step(piece_delay_ms=60)])

    update_says = re.compile("tenner deploy")

    def ready(self):
        self._server.open()

    def reset(self):
        self._server.reset()


class ChipHome(Home):
    """The agent of a chip, which has lines of the log on its console only."""

    def sent_link(self):
        bench = self._server.bench
        bench.telegram.say(OWNER, "/page")
        return re.search(r"http\S+#code=\w+", bench.wait_told("#code="))[0]

    # Where memory is short it asks to try again, and the page does.
    expected = (*Home.expected, *_AWAY, "status of 503")

    def ready(self):
        self._server.bench.ready()

    def reset(self):
        self._server.bench.board.reset()


@contextlib.contextmanager
def computer(folder, heartbeat, interpreters):
    with browser.board_and_server(folder, heartbeat) as (bench, server):
        yield ComputersHome(bench, server)


def linux(name):
    """The home of an agent that this interpreter runs."""

    @contextlib.contextmanager
    def start(folder, heartbeat, interpreters):
        files = {one[1:]: data for one, data in browser.readings(folder).items()}
        lib = page_home.lib_of(folder, name)
        with page_home.home(
            folder, interpreters(name), lib, heartbeat, _CHANGES, files, secure=True
        ) as running:
            running.starts_again = True
            running.open()
            running.set(31.5)
            running.wait_for("in the room")
            yield LinuxHome(running)

    return start


@contextlib.contextmanager
def chip(folder, heartbeat, interpreters):
    with chip_home(
        interpreter=interpreters("chip"),
        heartbeat=heartbeat,
        files=browser.readings(folder),
        changes=_CHANGES,
    ) as running:
        running.bench.board.set("room.temperature", 31.5)
        running.bench.wait_told("in the room")
        yield ChipHome(running)


HOMES = {
    "computer": computer,
    "linux": linux("cpython"),
    "linux-micropython": linux("micropython"),
    "chip": chip,
}

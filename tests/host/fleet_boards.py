"""Boards at one real broker, of which this computer knows some; and the page of that fleet."""

import contextlib

import pytest

from tenner_host.remote import known
from tenner_host.remote.broker import Broker as Connection
from tenner_host.remote.reported import watched_topics
from tenner_host.web.fleet_site import FleetSite
from tenner_sim.services.authority import Authority
from tests.host import page_home
from tests.host.broker import PASSWORD, USER, Broker
from tests.host.remote_board import own_key, remote_board
from tests.host.web_client import serving

TOPIC = "tenner"


class Fleet:
    """The broker, and the Bench of each board by its name."""

    def __init__(self, broker, boards):
        self.broker = broker
        self.boards = boards

    def id(self, name):
        """The id of a board that this computer knows."""
        return known.find(f"{TOPIC}/{name}").device


@contextlib.contextmanager
def fleet(folder, names=("attic", "cellar"), strangers=("cellar",)):
    """Running boards; this computer has no key of the `strangers`."""
    own_key(folder / "config")
    (folder / "broker").mkdir()
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("TENNER_CONFIG", str(folder / "config"))
        broker = stack.enter_context(Broker(folder / "broker", Authority(), more="log_type all\n"))
        boards = {
            name: stack.enter_context(
                remote_board(
                    broker,
                    f"{TOPIC}/{name}",
                    name=name,
                    changes={"name": name, "telegram.token": None},
                    heartbeat=page_home.HEARTBEAT,
                )
            )
            for name in names
        }
        made = Fleet(broker, boards)
        for name in strangers:
            (folder / "config" / "boards" / f"{made.id(name)}.json").unlink()
        yield made


@contextlib.contextmanager
def fleet_server(made):
    """The server of `tenner fleet web`."""
    context = made.broker.authority.client_context()
    login = (USER, PASSWORD)
    topics = watched_topics(TOPIC)
    with Connection("localhost", made.broker.port, context, login, topics) as connection:
        with serving(lambda access: FleetSite(access, connection, TOPIC)) as server:
            yield server

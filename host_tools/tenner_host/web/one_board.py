"""A board behind the page: its link, its state, and the routes of its API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.routing import BaseRoute

from tenner_host import page_files
from tenner_host.board.opening import class_of
from tenner_host.board.ports import Port
from tenner_host.web.api import Api
from tenner_host.web.chat import Chat
from tenner_host.web.console_link import ConsoleLink
from tenner_host.web.door import Door
from tenner_host.web.events import Events
from tenner_host.web.link import Link
from tenner_host.web.pages import page_routes
from tenner_host.web.remote_link import RemoteLink
from tenner_host.web.state import State


class OneBoard:
    """A board, and the site of a server that shows it alone."""

    def __init__(self, port: Port, door: Door) -> None:
        self.events = Events()
        # The link's thread starts after `self.state` is there.
        self.link: Link = (
            ConsoleLink(
                port,
                lambda said: self.state.heard(said),
                lambda *state: self.state.changed(*state),
            )
            if class_of(port).has_console
            else RemoteLink(port, lambda *state: self.state.changed(*state))
        )
        self.state = State(self.link, self.events, Chat(self.events))
        self.api = Api(self.state, door).routes()
        self.routes: Sequence[BaseRoute] = [*self.api, *page_routes(page_files.page())]

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self.events.attach(loop)
        self.link.start()

    def end(self) -> None:
        """End the streams of events, in the loop."""
        self.events.end()

    def stop(self) -> None:
        """End the connection, which may take a moment."""
        self.link.stop()

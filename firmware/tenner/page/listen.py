# tenner page.listen: opens the port of a chip's page.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.remote import session
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.types import Opening

_BACKLOG = 4


async def begin(page: "Opening") -> None:
    """Listen for browsers, until the end of the program; OSError if the port cannot be used."""
    port = page.app.config.get("web.port")
    try:
        page.listening = await asyncio.start_server(
            page.take,
            "0.0.0.0",
            port,
            backlog=_BACKLOG,
        )
    except OSError as error:
        raise OSError("port %d cannot be used (%s): set web.port to another one" % (port, error))
    log("page", "http://ADDRESS:%d/ is open; /web gives a browser its code" % port)
    if files.exists(page.app.port.root + session.KEY):
        log("page", "port %d takes sealed requests of the owner's computer (--via lan)" % port)

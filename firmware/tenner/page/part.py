# tenner page.part: makes the page, and names its service; see channels.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.overlay_loader import module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tenner.page.types import Paged

#: Safe mode has it, too: a person has to be able to repair the board.
IN_SAFE_MODE = True


def make(app: "Paged") -> "Any":
    """Return the page: of Linux for many browsers at once, of a chip for one after the other. That
    of Linux may be there, for the log from its first line on."""
    if app.page is not None:
        return app.page
    name = "tenner.page.server" if app.port.kind == "linux" else "tenner.page.chip"
    return module(name).make(app)


def services(app: "Paged", page: "Any") -> "Iterator[tuple[str, Callable]]":
    """Yield its service."""
    app.page = page
    yield "page", page.run

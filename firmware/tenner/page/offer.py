# tenner page.offer: the sentence with a new code for a chip's page.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.page import access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.types import Guarded


def offer(page: "Guarded", is_guest: bool) -> str:
    """Return the sentence that shows a new code."""
    app = page.app
    sessions = access.of(page)
    code = sessions.offer(is_guest)
    access.keep(page, sessions)
    names = app.config.get("web.hosts")
    place = names[0] if names else app.port.address()  # type: ignore[union-attr]
    return "Within ten minutes, open http://%s:%d/#code=%s\nor enter the code %s on the page." % (
        place,
        app.config.get("web.port"),
        code,
        code,
    )

# tenner remote.places: which of the board's files the owner's computer may reach.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import visible
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Base

CONFIG = "/config.json"
_MAX_PATH = const(200)


def place_of(app: "Base", path: str) -> str:
    """Return the real path of a file that may be read; ValueError for another one."""
    parts = path.split("/")
    odd = parts[0] or "" in parts[1:] or "." in parts or ".." in parts
    if odd or len(parts) < 2 or visible(path) != path:
        raise ValueError("%s is no path of a file" % visible(path)[:80])
    if len(path) > _MAX_PATH:
        raise ValueError("the path %s... is too long" % path[:40])
    if parts[1] == "workspace":
        return app.workspace + path[len("/workspace") :]
    if parts[1] == "state":
        return app.state + path[len("/state") :]
    if path == CONFIG:
        return getattr(app.port, "settings", "") or app.port.path(path[1:])
    if parts[1] == "certs":
        return app.port.path(path[1:])
    raise ValueError("%s is out of reach over the air: it needs the cable" % path)

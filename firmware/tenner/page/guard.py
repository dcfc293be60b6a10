# tenner page.guard: refuses the requests of foreign pages.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.page.request import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.request import Request

_FOREIGN = "the request comes from a page of another site"


def check(request: "Request", is_secure: bool, names: "list[str]") -> None:
    """
    Raise Refused for a request that no page of ours and no script of the owner would send. `names`
    are those of this board, besides its addresses.

    A page whose name was rebound to this board has that name as Host: an address cannot be
    rebound. A request that another page sends has its Origin.
    """
    host = request.headers.get("host", "").lower()
    name = _without_port(host)
    if not (_is_address(name) or name == "localhost" or name in names):
        raise Refused(
            421, "this server answers to its address, to localhost and to the names of web.hosts"
        )
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() != ("https://" if is_secure else "http://") + host:
        raise Refused(403, _FOREIGN)
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Refused(403, _FOREIGN)


def _without_port(host):
    name, colon, port = host.rpartition(":")
    return name if colon and port.encode().isdigit() else host


def _is_address(name):
    """Is it an IP address?"""
    if name[:1] == "[":
        return name[-1:] == "]" and not name[1:-1].strip("0123456789abcdef:.") and ":" in name
    parts = name.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if not part.encode().isdigit() or len(part) > 3 or int(part) > 255:
            return False
    return True

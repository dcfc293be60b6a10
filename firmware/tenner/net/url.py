# tenner net.url: parses http and https URLs, and writes the head of a request for one.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def parse_url(url: str) -> tuple[tuple[bool, str, int], str]:
    """Return ((is it https, host, port), path) of an http or https URL; raise ValueError for any
    other."""
    scheme, _, rest = url.partition("://")
    secure = scheme.lower() == "https"
    rest = rest.split("#")[0]
    host = rest.split("/")[0].split("?")[0]
    path = rest[len(host) :]
    if path[:1] != "/":
        path = "/" + path
    colon = host.rfind(":")
    port = "443" if secure else "80"
    if colon > host.rfind("]"):
        port = host[colon + 1 :]
        host = host[:colon]
    host = host.strip("[]").lower()
    if (
        not (secure or scheme.lower() == "http")
        or not host
        or "@" in host
        or not is_plain(url.split("#")[0])
        or not port.isdigit()
        or not 0 < int(port) < 65536
    ):
        # The text before an @ may be a password.
        raise ValueError("no http or https address: " + url.split("@")[-1][:80])
    return (secure, host, int(port)), path


def is_plain(url: str) -> bool:
    """Return whether a request may hold all characters of `url`."""
    return "!" <= min(url) <= max(url) <= "~" and "#" not in url


def request_head(
    method: str,
    origin: tuple[bool, str, int],
    path: str,
    headers: "Sequence[tuple[str, object]]",
) -> bytes:
    """Return the head of a request, up to the place of Content-Length."""
    secure, host, port = origin
    if ":" in host:
        host = "[" + host + "]"
    if port != (443 if secure else 80):
        host += ":%d" % port
    head = "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: tenner\r\n" % (method, path, host)
    for header in headers:
        head += "%s: %s\r\n" % header
    # A line break in a value could forge headers.
    if "\0" in head or not head.count("\r") == head.count("\n") == 3 + len(headers):
        raise ValueError("a header has a line break")
    return head.encode()

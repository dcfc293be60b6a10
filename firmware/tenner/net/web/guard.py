# tenner net.web.guard: admits a model to outside addresses, and to those of the owner's rules.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The guard checks the address of the connection itself: `Http.resolve` calls it, and nothing looks
the name up again between check and use. `allow` are the owner's own hosts and addresses,
"nas.local" or "192.168.1.10:8080".
"""

import asyncio
import socket

from tenner.net.url import parse_url
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_FIRST_FREE_PORT = const(1024)

# Networks that are not the open internet, by their first 32 bits and their length.
_INSIDE = (
    (0x00000000, 8),
    (0x0A000000, 8),
    (0x64400000, 10),
    (0x7F000000, 8),
    (0xA9FE0000, 16),
    (0xAC100000, 12),
    (0xC0000000, 24),
    (0xC0000200, 24),
    (0xC0586300, 24),
    (0xC0A80000, 16),
    (0xC6120000, 15),
    (0xC6336400, 24),
    (0xCB007100, 24),
    (0xE0000000, 3),
)
# The same for IPv6, where only 2000::/3 is in use.
_INSIDE_6 = ((0x20010000, 23), (0x20010DB8, 32), (0x20020000, 16), (0x3FFF0000, 20))

_LETTERS = const("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def check(url: str, allow: "Sequence[str]" = ()) -> tuple[str, int]:
    """Return (host, port) of a URL; raise OSError when the URL itself is not allowed."""
    try:
        _, host, port = parse_url(url)[0]
    except ValueError as error:
        raise OSError(str(error))
    name = host.rstrip(".")
    address = packed(name)
    listed = _is_allowed(name, address, port, allow)
    if address:
        admit(host, port, [address], allow)
    elif (
        name.strip(_LETTERS)
        or not name
        # 127.1 and 0x7f000001 are addresses, too, for some resolvers.
        or name.rsplit(".", 1)[-1][0] in "0123456789"
    ):
        raise OSError("%s is no proper name or address of a host" % host)
    elif not listed and (name == "localhost" or name.endswith(".localhost")):
        raise _inside(host)
    if not listed and port < _FIRST_FREE_PORT and port not in (80, 443):
        raise OSError("port %d is not one of the web" % port)
    return host, port


def admit(host: str, port: int, addresses: "Iterable[bytes]", allow: "Sequence[str]" = ()) -> None:
    """Raise OSError unless all addresses (packed) of a host are outside, or the owner lists it."""
    if not addresses:
        raise OSError("%s has no address" % host)
    for address in addresses:
        if not _is_outside(address) and not _is_allowed(host.rstrip("."), address, port, allow):
            raise _inside(host)


async def resolve(host: str, port: int, allow: "Sequence[str]" = ()) -> str:
    """Return the address to connect to, as text; raise OSError for a host that is not allowed."""
    loop = asyncio.get_event_loop()
    query = (host, port, 0, socket.SOCK_STREAM)
    try:
        if hasattr(loop, "run_in_executor"):
            found = await loop.run_in_executor(None, socket.getaddrinfo, *query)
        else:
            found = socket.getaddrinfo(*query)
    except (OSError, ValueError):
        raise OSError("%s is not known: no such host, or the network has no DNS" % host)
    texts = [_text(entry[-1]) for entry in found]
    admit(host, port, [packed(text) for text in texts], allow)
    for text in texts:
        if ":" not in text:
            return text
    return texts[0]


def _text(address):
    if not isinstance(address, tuple):
        # On Unix MicroPython returns the bytes of the system's structure.
        address = socket.sockaddr(address)
        return socket.inet_ntop(address[0], address[1])
    return address[0]


def packed(text: str) -> bytes | None:
    """Return the 4 or 16 bytes of an address in its usual form, or None; 4 for IPv4 inside
    IPv6."""
    try:
        if ":" not in text:
            return _groups(text, ".", 1, 10) if text.count(".") == 3 else None
        if "." in text:
            head, _, tail = text.rpartition(":")
            four = packed(tail)
            text = "%s:%x:%x" % (head, four[0] << 8 | four[1], four[2] << 8 | four[3])
        head, gap, tail = text.partition("::")
        head = _groups(head, ":", 2, 16)
        tail = _groups(tail, ":", 2, 16)
        missing = 16 - len(head) - len(tail)
        if missing < 2 if gap else missing:
            return None
        address = head + bytes(missing) + tail
    except (ValueError, TypeError, OverflowError):
        return None
    # IPv4 mapped to IPv6, and IPv4 as an IPv6-only network translates it.
    if address[:12] in (bytes(10) + b"\xff\xff", b"\x00\x64\xff\x9b" + bytes(8)):
        return address[12:]
    return address


def _groups(text, separator, size, base):
    """Return the numbers of an address as bytes; raise ValueError for any but the plain
    spelling."""
    result = b""
    for part in text.split(separator) if text else ():
        number = int(part, base)
        plain = str(number) if base == 10 else "%x" % number
        if len(part) > 4 or number >> 8 * size or (part.lstrip("0") or "0") != plain:
            raise ValueError
        if base == 10 and part != plain:
            raise ValueError
        result += number.to_bytes(size, "big")
    return result


def _is_outside(address):
    if address is None:
        return False
    top = int.from_bytes(address[:4], "big")
    if len(address) == 16 and top >> 29 != 1:
        return False
    for network, length in _INSIDE if len(address) == 4 else _INSIDE_6:
        if (top ^ network) >> 32 - length == 0:
            return False
    return True


def _is_allowed(name, address, port, allow):
    """Return whether the owner lists a host, by its name or its address."""
    for entry in allow:
        host = entry.lower()
        number = ""
        if host[:1] == "[":
            host, _, number = host[1:].partition("]")
        elif host.count(":") == 1:
            host, _, number = host.partition(":")
        if number.lstrip(":") in ("", str(port)) and (
            host == name or (address and packed(host) == address)
        ):
            return True
    return False


def _inside(host):
    return OSError(
        "%s is inside the owner's network or reserved: only the owner can allow it (web.allow)"
        % host
    )


def straight(url: str) -> str:
    """
    Return the URL to request: the host in lower case, the path without `.` and `..` in any
    spelling, no fragment. Raise ValueError for one that a server might read differently from a
    rule.
    """
    (secure, host, port), path = parse_url(url)
    path, mark, query = path.partition("?")
    path = path.replace("%2e", ".").replace("%2E", ".").replace("\\", "%5C")
    parts = []
    for part in path.split("/")[1:]:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    if path.rsplit("/", 1)[-1] in (".", ".."):
        parts.append("")
    path = "/" + "/".join(parts)
    if ".." in _decoded(path).replace("\\", "/").split("/"):
        raise ValueError("a path with hidden dots: " + url.split("@")[-1][:80])
    if ":" in host:
        host = "[" + host + "]"
    if port != (443 if secure else 80):
        host += ":%d" % port
    return ("https://" if secure else "http://") + host + path + mark + query


def covers(rule: str, url: str, matches: "Callable[[str, str], bool]") -> bool:
    """
    Return whether a rule such as `https://*.example.com/docs/**` covers this URL, a result of
    `straight`. `matches(pattern, text)` compares the hosts, and the paths with their queries. A
    rule without a path covers the host's first page.
    """
    scheme, there, rest = rule.partition("://")
    if not there:
        return rule == "**"
    (secure, host, port), path = parse_url(url)
    name, slash, rule_path = rest.partition("/")
    if not slash and name[-2:] == "**":
        # https://** and https://example.com**
        name, rule_path = name[:-2] or "*", "**"
    number = "443" if secure else "80"
    if name.rfind(":") > name.rfind("]"):
        name, _, number = name.rpartition(":")
    return (
        scheme.lower() == ("https" if secure else "http")
        and number in ("*", str(port))
        and matches(name.strip("[]").lower(), host)
        and (matches("/" + rule_path, path) if slash or rule_path else path == "/")
    )


def _decoded(text):
    """Return a path as read by a server that decodes it several times."""
    for _ in range(3):
        parts = text.split("%")
        text = parts[0]
        for part in parts[1:]:
            try:
                text += chr(int(part[:2], 16)) + part[2:]
            except ValueError:
                text += "%" + part
    return text

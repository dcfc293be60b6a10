"""Test the board's own radio, clock and TLS; report the step that fails and its remedy."""

from __future__ import annotations

import ast
import base64
import json
import re
import sys
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tenner_host import FIRMWARE
from tenner_host.board.board import Board
from tenner_host.ca_roots import chain_fault
from tenner_host.errors import CommandError

_JOIN_S = 20
_FETCH_S = 20
#: network.STAT_* of the ESP32 port.
_WIFI_STATES = {
    200: "the access point stopped sending (beacon timeout): too far away?",
    201: (
        "no network of that name is in range; a board only hears 2.4 GHz, and names are "
        "case-sensitive"
    ),
    202: "the password is wrong",
    203: "the access point refused it: does it filter by address, or is it full?",
    204: "the password is wrong, or the access point did not answer in time",
    1001: "it was still connecting when time ran out: is the signal too weak?",
}


class ProbeError(CommandError):
    """A step that failed: `step` is dns, connect, tls or answer."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


@dataclass(frozen=True)
class Network:
    """An access point that the board hears."""

    ssid: str
    rssi: int
    open: bool


@dataclass(frozen=True)
class Link:
    """The state of the board's Wi-Fi."""

    up: bool
    status: int
    rssi: int | None
    address: str | None
    dns: str | None

    @property
    def reason(self) -> str:
        """The reason it is not up."""
        return _WIFI_STATES.get(self.status, f"no link (status {self.status})")


@dataclass(frozen=True)
class Fetched:
    """The answer of a server."""

    status: int
    body: bytes
    ms: int

    def json(self) -> Any:
        """The body as JSON; None when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def scan(board: Board) -> list[Network]:
    """Access points in the board's range, the strongest first, each name once."""
    found: dict[str, Network] = {}
    for line in board.call("net", "t_scan()", 30.0).splitlines():
        name, rssi, security = ast.literal_eval(line)
        ssid = name.decode(errors="replace")
        if ssid and (ssid not in found or found[ssid].rssi < rssi):
            found[ssid] = Network(ssid, rssi, security == 0)
    return sorted(found.values(), key=lambda one: -one.rssi)


def _link(line: str) -> Link:
    up, status, rssi, addresses = ast.literal_eval(line.strip())
    address, dns = (addresses[0], addresses[3]) if addresses else (None, None)
    return Link(up, status, rssi, address, dns)


def link(board: Board) -> Link:
    return _link(board.call("net", "t_link()"))


def join(board: Board, ssid: str, password: str) -> Link:
    """Connect to a network and return the outcome."""
    return _link(board.call("net", f"t_join({ssid!r}, {password!r}, {_JOIN_S})", _JOIN_S + 15.0))


def set_clock(board: Board, host: str) -> int:
    """Set the clock by NTP and return it, in Unix seconds."""
    value, error = ast.literal_eval(board.call("net", f"t_clock({host!r})", 30.0).strip())
    if value == "!":
        raise ProbeError(
            "clock",
            f"the time server {host} does not answer the board ({error}): does the network let "
            "NTP (UDP port 123) through? time.ntp_host names another",
        )
    return int(value)


def fetch(
    board: Board,
    url: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes = b"",
) -> Fetched:
    """One request from the board; ProbeError names the step that failed."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    host = parts.hostname or ""
    port = parts.port or (443 if secure else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {path} HTTP/1.1", f"Host: {parts.netloc}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    text = board.call(
        "net", f"t_fetch({host!r}, {port}, {secure}, {request!r}, {_FETCH_S})", _FETCH_S * 3.0
    )
    return _parse(text, f"{host}:{port}")


def _parse(text: str, where: str) -> Fetched:
    data = bytearray()
    ms = 0
    for line in text.splitlines():
        if line.startswith("! "):
            if not data:
                step, name, arguments = ast.literal_eval(line[2:])
                raise ProbeError(step, _explain(step, where, name, arguments))
        elif line.startswith("= "):
            ms = int(line[2:])
        else:
            data += base64.b64decode(line)
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    found = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    if found is None:
        raise ProbeError("answer", f"{where} did not answer as a web server")
    if b"transfer-encoding: chunked" in head.lower():
        body = _unchunked(body)
    return Fetched(int(found[1]), body, ms)


def _unchunked(body: bytes) -> bytes:
    out = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        try:
            length = int(size.split(b";")[0], 16)
        except ValueError:
            break
        if not length:
            break
        out, body = out + rest[:length], rest[length + 2 :]
    return out


def _explain(step: str, where: str, name: str, arguments: tuple[Any, ...]) -> str:
    number = arguments[0] if arguments and isinstance(arguments[0], int) else None
    if step == "dns":
        return (
            f"the board cannot resolve {where}: is the address right, and does its network have "
            "DNS?"
        )
    if step == "connect":
        return (
            f"the board cannot reach {where} ({name} {number or ''}): is it running, and "
            "is there a firewall in between?"
        )
    if name == "MemoryError" or number == -32512:
        return "the board has too little memory for TLS; reset it and try again"
    if arguments and arguments[0] == "invalid cert":
        return "a file in /certs isn't a certificate in DER form: run `tenner setup`"
    if step == "tls":
        text = _explain_tls(name, arguments)
        if text and _UNTOLD in text:
            text = _tell(text, where)
        return f"at {where} {text or f'the TLS handshake failed ({name} {arguments})'}"
    return f"{where} dropped the connection ({name} {number or ''})"


#: The firmware's words where it cannot tell a wrong chain from an unknown authority.
_UNTOLD = ", or its chain is wrong"


def _tell(text: str, where: str) -> str:
    """Tell the two apart: this computer sees the chain of the server at `where`."""
    host, _, port = where.rpartition(":")
    fault = chain_fault(host, int(port))
    if fault:
        return f"the server {fault}"
    return f"{text.partition(_UNTOLD)[0]}: `tenner setup` adds it"


def _explain_tls(name: str, arguments: tuple[Any, ...]) -> str | None:
    """The firmware's own sentence for this error."""
    if str(FIRMWARE) not in sys.path:
        sys.path.insert(0, str(FIRMWARE))
    from tenner.net import tls

    error = ValueError(*arguments) if name == "ValueError" else OSError(*arguments)
    explained: str | None = tls.explain(error)
    return explained

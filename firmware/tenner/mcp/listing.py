# tenner mcp.listing: asks an MCP server for its tools, and writes their schemas to flash.
# MIT license; Copyright (c) 2026 the tenner authors

import json
from binascii import crc32

from tenner.log import log
from tenner.mcp import client, plain_schema
from tenner.mcp.client import Client
from tenner.net.json.strict import loads
from tenner.net.json.writer import decode, quote, valid
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.net.http import Http

_TIMEOUT_S = const(15)  # of one page: a person may wait for the turn
_MAX_NAME = const(64)
_MAX_TOOLS = const(32)
_MAX_PAGES = const(50)
_MAX_SCHEMA = const(4096)
_MAX_DESCRIPTION = const(500)
_MAX_CURSOR = const(1024)
_DEPTH = const(4)  # of a tool's object in an answer: {"result":{"tools":[{
_MEMBERS = const(b"name description inputSchema annotations")


async def fetch(
    server: str, http: "Http", settings: dict, place: str, wanted: "Callable[[str], bool]"
) -> list[tuple[str, str, bool, dict[str, tuple]]]:
    """
    Fetch all pages, write the schema of each tool for whose name `wanted(name)` is true to the
    folder `place`, and return a line for each.
    """
    client = Client(server, http, settings, place)
    client.timeout_s = _TIMEOUT_S
    found = []
    cursor = ""
    for _ in range(_MAX_PAGES):
        page = await client.request(
            "tools/list",
            '"cursor":%s' % quote(cursor).decode() if cursor else "",
            lambda: _Page(server, wanted, place, found),
        )
        if page.cursor in ("", cursor) or page.full:
            break
        cursor = page.cursor
    return found


def plain(name: str) -> str:
    """Return `name` with `_` for characters that the APIs of models reject."""
    return "".join(
        [c if c < "\x7f" and (c.isalpha() or c.isdigit() or c in "_-") else "_" for c in name]
    )


def unique_name(server: str, name: str) -> str:
    """Return a valid, stable and unique name of a tool for models."""
    full = "%s-%s" % (server, plain(name))
    if full[len(server) + 1 :] == name and len(full) <= _MAX_NAME:
        return full
    return "%s-%08x" % (full[: _MAX_NAME - 9], crc32(name.encode()) & 0xFFFFFFFF)


class _Page:
    """Takes one page of a list of tools: cuts each out of the answer's bytes, and writes it at
    once."""

    def __init__(self, server, wanted, place, found):
        self.cursor = ""
        self.full = False
        self._server = server
        self._wanted = wanted
        self._place = place
        self._found = found
        self.raw = Cutter(self._tool).feed

    def __call__(self, path, value, more):
        if path[1] == "nextCursor" and value is not None:
            self.cursor += str(value)
            if len(self.cursor) > _MAX_CURSOR:
                raise ValueError("the nextCursor of %s is too long" % self._server)

    def _tool(self, members):
        """Store a tool, given as {member: bytes of JSON}; None stands for a member that is too
        long."""
        if "inputSchema" not in members:
            return
        name = members.get("name") or b""
        if b"\\" in name:
            name = _decoded(name)
        elif name[:1] == b'"':
            name = decode(name[1:-1])
        if self.full or not isinstance(name, str) or not self._wanted(name):
            return
        self.full = len(self._found) >= _MAX_TOOLS
        if self.full:
            log(
                "mcp",
                "%s has more than %d tools: name those you want in mcp.%s.tools"
                % (self._server, _MAX_TOOLS, self._server),
            )
            return
        try:
            self._keep(name, members)
        except (ValueError, TypeError, AttributeError) as error:
            log("mcp", "%s.%s is left out: %s" % (self._server, name[:64], error))

    def _keep(self, name, members):
        schema = members["inputSchema"]
        if schema is None or schema[:1] != b"{":
            raise ValueError("its schema is no object, or over %d bytes" % _MAX_SCHEMA)
        paths = {}
        if b'"x-mcp-header"' in schema:
            paths = client.wanted(json.loads(schema))
        description = members.get("description") or b'""'
        if description[:1] != b'"':
            raise ValueError("its description is no text")
        if len(description) > _MAX_DESCRIPTION or b"\\u" in description:
            description = _shortened(description)
        hints = members.get("annotations")
        reads = bool(hints) and json.loads(hints).get("readOnlyHint") is True
        own = unique_name(self._server, name)
        data = b'{"name":%s,"description":%s,"parameters":%s}' % (
            quote(own),
            valid(description),
            plain_schema.plain(valid(schema)),
        )
        if len(data) > _MAX_SCHEMA:
            raise ValueError("its schema is over %d bytes" % _MAX_SCHEMA)
        path = "%s/%s.json" % (self._place, own)
        if files.size(path) != len(data) or files.read_text(path).encode() != data:
            files.write_atomic(path, data)
        if own not in [line[0] for line in self._found]:
            self._found.append((own, name, reads, paths))


def _decoded(data):
    try:
        return loads(data.decode())
    except ValueError:
        return None


def _shortened(description):
    text = loads(description.decode())
    return quote(text[:_MAX_DESCRIPTION] + "..." if len(text) > _MAX_DESCRIPTION else text)


class Cutter:
    """
    Cuts the objects of tools out of the bytes of an answer, in pieces of any size, and gives
    `take` their useful members: unchanged, since parsing and writing them again would lose empty
    objects. A JSON scanner must have checked the bytes before.
    """

    def __init__(self, take: "Callable[[dict], None]") -> None:
        self._take = take
        self._depth = 0
        self._text = self._escaped = False
        self._members: dict | None = None
        self._key: bytes | None = None
        self._held = b""  # the key, or the value of a useful member
        self._holds = False

    def feed(self, data: bytes) -> None:
        start = 0
        for i, byte in enumerate(data):
            if self._text:
                if self._escaped:
                    self._escaped = False
                elif byte == 0x5C:
                    self._escaped = True
                elif byte == 0x22:
                    self._text = False
                continue
            if byte == 0x22:
                self._text = True
            elif byte in b"{[":
                self._depth += 1
                if self._depth == _DEPTH and byte == 0x7B:
                    self._members = {}
                    self._begin_key()
                    start = i + 1
            elif self._depth == _DEPTH and self._members is not None:
                if byte == 0x3A and self._key is None:
                    self._hold(data[start:i])
                    self._key = self._held.strip().strip(b'"')
                    self._held = b""
                    self._holds = self._key in _MEMBERS.split()
                    start = i + 1
                elif byte in b",}":
                    self._hold(data[start:i])
                    if self._key is not None and (self._holds or self._held is None):
                        value = self._held
                        self._members[self._key.decode()] = value.strip() if value else value
                    self._begin_key()
                    start = i + 1
            if byte in b"}]":
                if self._depth == _DEPTH and self._members is not None:
                    self._take(self._members)
                    self._members = None
                    self._holds = False
                self._depth -= 1
        self._hold(data[start:])

    def _begin_key(self):
        self._key = None
        self._held = b""
        self._holds = True

    def _hold(self, data):
        if self._holds:
            self._held += data
            if len(self._held) > _MAX_SCHEMA:
                # None stands for a value that is too long.
                self._held = None if self._key is not None else b""
                self._holds = False

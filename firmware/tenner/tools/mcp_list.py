# tenner tools.mcp_list: asks MCP servers for their tools, now and then, and keeps the schemas on flash.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import os
from binascii import crc32

from tenner.log import log
from tenner.net.jsonout import quote, valid
from tenner.net.strictjson import loads
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools import ToolError
from tenner.tools.mcp import folder, lines, plain, unique_name
from tenner.tools.mcp_client import Client
from tenner.tools.paths import matches

_EVERY_S = const(24 * 3600)
_RETRY_S = const(600)
_TIMEOUT_S = const(15)  # of one page: somebody waits for the turn
_MAX_SERVER = const(20)
_MAX_TOOLS = const(32)
_MAX_PAGES = const(50)
_MAX_SCHEMA = const(4096)
_MAX_DESCRIPTION = const(500)
_MAX_CURSOR = const(1024)
_DEPTH = const(4)  # of a tool's object in an answer: {"result":{"tools":[{


async def refresh(registry, make_http, clock):
    """Ask each server whose tools are not known, or a day old. What goes wrong is logged, no more."""
    config = registry.config
    place = folder(registry)
    now = clock.known() or 0
    for server in sorted(registry.servers):
        if plain(server) != server or "-" in server or len(server) > _MAX_SERVER:
            log(
                "mcp",
                "mcp.%s is left out: a name has at most %d letters, digits and _"
                % (server, _MAX_SERVER),
            )
            continue
        wanted = config.get("mcp.%s.tools" % server)
        tag = "%08x" % (
            crc32(dumps((config.get("mcp.%s.url" % server), wanted)).encode()) & 0xFFFFFFFF
        )
        known, at = _stamp(place, server)
        if known == tag and now - at < _EVERY_S:
            continue
        http = make_http()
        try:
            client = Client(server, http, config, place)
            client.timeout_s = _TIMEOUT_S
            found = await _list(client, server, wanted, place)
            log("mcp", "%s: %d tools" % (server, len(found)))
            at = now
        except (ToolError, OSError, ValueError) as error:
            log("mcp", error)
            # What was known stays. No other turn of the next minutes waits for it.
            found = list(lines(registry, server)) if known == tag else ()
            at = now - _EVERY_S + _RETRY_S
        finally:
            await http.close()
        files.make_dirs(place)
        files.write_atomic(
            "%s/%s.tools" % (place, server),
            [dumps(line) + "\n" for line in [(tag, at)] + list(found)],
        )
        kept = [line[0] for line in found]
        for entry in os.listdir(place):
            name = entry.partition(".")[0]
            if name.partition("-")[0] not in registry.servers or (
                name.startswith(server + "-") and name not in kept
            ):
                files.remove(place + "/" + entry)


def _stamp(place, server):
    """Return (tag of the settings, time) of what is known of a server."""
    try:
        with open("%s/%s.tools" % (place, server), "rb") as file:
            for line in files.lines(file):
                tag, at = json.loads(line)
                return tag, at
    except (OSError, ValueError):
        pass  # it is asked anew
    return None, 0


async def _list(client, server, wanted, place):
    """Ask for all pages; return the lines of the tools, whose schemas are written by then."""
    found = []
    cursor = None
    for _ in range(_MAX_PAGES):
        page = _Page(server, wanted, place, found)
        await client.request("tools/list", {} if cursor is None else {"cursor": cursor}, page)
        if page.cursor in ("", cursor) or page.full:
            break
        cursor = page.cursor
    return found


class _Page:
    """Takes one page of a list of tools: each is cut out of the answer's bytes, and written at once."""

    def __init__(self, server, wanted, place, found):
        self.cursor = ""
        self.full = False
        self._server = server
        self._wanted = wanted
        self._place = place
        self._found = found
        self._cutter = Cutter(self._tool)
        self.raw = self._cutter.feed

    def __call__(self, path, value, more):
        if path[1] == "nextCursor" and value is not None:
            self.cursor += str(value)
            if len(self.cursor) > _MAX_CURSOR:
                raise ValueError("its nextCursor is too long")

    def _tool(self, members):
        """Keep a tool, given as {member: bytes of JSON}; None stands for one that is too long."""
        if "inputSchema" not in members:
            return
        try:
            name = loads(members["name"].decode())
            if not any(matches(pattern, name) for pattern in self._wanted):
                return
            if len(self._found) >= _MAX_TOOLS:
                if not self.full:
                    log(
                        "mcp",
                        "%s has more than %d tools: name those you want in mcp.%s.tools"
                        % (self._server, _MAX_TOOLS, self._server),
                    )
                self.full = True
                return
        except (KeyError, ValueError, AttributeError):
            return  # no tool
        try:
            self._keep(name, members)
        except ValueError as error:
            log("mcp", "%s.%s is left out: %s" % (self._server, name[:64], error))

    def _keep(self, name, members):
        schema = members["inputSchema"]
        if schema is None or schema[:1] != b"{":
            raise ValueError("its schema is no object, or over %d bytes" % _MAX_SCHEMA)
        headers = {}
        if b'"x-mcp-header"' in schema:
            from tenner.tools.mcp_params import wanted

            headers = wanted(json.loads(schema))
        description = members.get("description")
        description = loads(description.decode()) if description else ""
        if len(description) > _MAX_DESCRIPTION:
            description = description[:_MAX_DESCRIPTION] + "..."
        hints = members.get("annotations")
        reads = bool(hints) and json.loads(hints).get("readOnlyHint") is True
        own = unique_name(self._server, name)
        data = b'{"name":%s,"description":%s,"parameters":%s}' % (
            quote(own),
            quote(description),
            valid(schema),
        )
        if len(data) > _MAX_SCHEMA:
            raise ValueError("its schema is over %d bytes" % _MAX_SCHEMA)
        files.make_dirs(self._place)
        path = "%s/%s.json" % (self._place, own)
        if files.size(path) != len(data) or files.read_text(path).encode() != data:
            files.write_atomic(path, data)
        if own not in [line[0] for line in self._found]:
            self._found.append((own, name, reads, headers))


class Cutter:
    """
    Cuts the objects of tools out of the bytes of an answer, cut anywhere, and gives `take` their members
    that are of use: as they stand there, since what is parsed and written again would lose empty
    objects. What else is in the answer must have been read as JSON by another.
    """

    def __init__(self, take):
        self._take = take
        self._depth = 0
        self._text = self._escaped = False
        self._members = None
        self._key = None
        self._held = b""  # the key, or the value of a member that is of use
        self._holds = False

    def feed(self, data):
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
                    self._holds = self._key in (
                        b"name",
                        b"description",
                        b"inputSchema",
                        b"annotations",
                    )
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

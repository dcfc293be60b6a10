# tenner mcp.client: requests to one MCP server over streamable HTTP, arguments in headers too.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Since revision 2026-07-28 of the protocol every request is self-contained. A server that rejects
one gets `initialize`, as before, and may then start a session. The version and the session are
stored on flash, so that a call is one exchange.
"""

import asyncio
import json
from binascii import b2a_base64

from tenner import __version__
from tenner.mcp.reply import McpError, Refused, Reply
from tenner.net import tls
from tenner.net.http_errors import FAILURES
from tenner.net.json.writer import quote
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tenner.mcp.reply import Content
    from tenner.net.http import Http
    from tenner.net.json.scanner import Sink

_CALL = const("tools/call")
_TIMEOUT_S = const(55)  # a bit less than a tool has

_LATEST = const("2026-07-28")
# Versions that begin with `initialize`; the first is offered.
_GREETED = const("2025-11-25 2025-06-18 2025-03-26")


_MESSAGE = const('{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}')
_NOTE = const('{"jsonrpc":"2.0","method":"notifications/initialized"}')
_ME = const('{"name":"tenner","version":"%s"}')
_HELLO = const('"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":')
_META = const(
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    '"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":%s}'
)

# Errors of servers that know the latest revision: wrong headers, a capability we lack, a version
# they do not have.
_KNOWING = (-32020, -32021, -32022)
_VERSION = const(-32022)


class Client:
    """
    A server of the settings. `settings` is the setting `mcp`, looked up before, since the look-up
    takes more memory than all else here; `folder` holds the file of the session.
    """

    timeout_s = _TIMEOUT_S

    def __init__(self, server: str, http: "Http", settings: dict, folder: str) -> None:
        self._server = server
        self._http = http
        self._url = settings[server].get("url", "")
        self._token = settings[server].get("token")
        self._path = "%s/%s.session" % (folder, server)
        self._id = 0
        self._version = self._session = None
        #: Has a call been sent whose outcome is unknown?
        self.in_doubt = False
        if files.exists(self._path):
            try:
                self._version, self._session = json.loads(files.read_text(self._path))
            except ValueError:
                pass  # `initialize` follows

    async def call(self, line: list, args: dict, make: "Callable[[], Content]") -> "Content":
        """Call the tool of a line of the `.tools` file; return the sink of `make`, with the values
        of the result."""
        return await self.request(_CALL, *_call(line, args, make))

    async def request(
        self,
        method: str,
        members: str,
        make: "Callable[[], Sink] | None",
        more: "Sequence[tuple[str, str]]" = (),
    ) -> "Any":
        """
        Send a request with the `members` of its parameters, after `initialize` where the server
        needs it; return the sink that `make` has made for the answer. McpError has a sentence with
        the reason of a failure. `more` are headers for the latest version.
        """
        known = self._version
        self._version = known or _LATEST
        reply = await self._send(method, members, make, more)
        if reply.status >= 400 or reply.code is not None:
            if self._is_lost(reply, known):
                reply = await self._again(reply, known, method, members, make, more)
                known = None
        if reply.status >= 300 or reply.code is not None or reply.kind != "complete":
            self._check(reply)
        if not known:
            files.write_atomic(self._path, json.dumps((self._version, self._session)))
        return reply.sink

    async def _again(self, first, known, method, members, make, more):
        """Send a request once more, after `initialize`."""
        self._version = self._session = None
        try:
            await self._greet()
        except Refused:
            if known in (None, _LATEST):
                # `initialize` was not missing: report the first error.
                self._check(first)
                raise
            # The server was updated, and needs no `initialize` any more.
            self._version = _LATEST
        return await self._send(method, members, make, more)

    def _is_lost(self, reply, known):
        """Return whether the server needs `initialize`, for the first time or again."""
        status = reply.status
        if status in (401, 403, 429) or status >= 500:
            return False
        if self._version != _LATEST:
            return status in (400, 404)
        if reply.code in _KNOWING:
            return reply.code == _VERSION and _GREETED[:10] in reply.supported
        return status >= 400 or (reply.code is not None and not known)

    async def _greet(self):
        reply = await self._send("initialize", _HELLO + _ME % __version__)
        self._check(reply)
        if reply.version not in _GREETED.split():
            self._fail("speaks only version %s of the protocol" % str(reply.version)[:20])
        self._version = reply.version
        self._session = self._http.header("mcp-session-id")
        self._check(await self._send(None, ""))

    async def _send(self, method, members, make=None, more=()):
        """Make one exchange and return its Reply, also one with an error."""
        http = self._http

        async def consume(response):
            reply = Reply(make and make())
            await reply.read(response)
            return reply

        self._id += 1
        try:
            # `initialize` and lists change nothing and may be repeated; a repeated call would run
            # twice.
            fields, body = self._message(method, members, more)
            reply = await http.exchange(
                "POST",
                self._url,
                fields,
                body,
                consume,
                self.timeout_s,
                method != _CALL,
                phases=("TOOL_READ", "TOOL_READ"),
            )
            self.in_doubt = method == _CALL and reply.status >= 500
        except BaseException as error:
            self.in_doubt = method == _CALL and http.is_sent
            if not isinstance(error, FAILURES):
                raise  # CPython's TimeoutError is an OSError.
            self._explain(error)
        return reply

    def _message(self, method, members, more):
        """Return (headers, body) of a request."""
        fields = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ]
        if self._token:
            fields.append(("Authorization", "Bearer " + self._token))
        if self._version:
            fields.append(("MCP-Protocol-Version", self._version))
        if self._session:
            fields.append(("Mcp-Session-Id", self._session))
        if self._version == _LATEST:
            fields.append(("Mcp-Method", method))
            fields += more
            members += (members and ",") + _META % (_ME % __version__)
        return fields, (_MESSAGE % (self._id, method, members) if method else _NOTE).encode()

    def _explain(self, error):
        """Raise McpError for a failed exchange."""
        if isinstance(error, asyncio.TimeoutError):
            self._fail("did not answer within %d s" % self.timeout_s)
        if isinstance(error, EOFError):
            self._fail("closed the connection before its answer was complete")
        self._fail("does not answer as it should: %s" % (tls.explain(error) or error))

    def _check(self, reply):
        """Raise McpError if the reply is no result."""
        status = reply.status
        if status in (401, 403):
            self._fail("does not let me in (%d): check mcp.%s.token" % (status, self._server))
        if 300 <= status < 400:
            self._fail("has moved (%d): change mcp.%s.url" % (status, self._server))
        if reply.code is not None:
            raise Refused("error %s: %s" % (reply.code, reply.message))
        if status >= 400:
            self._fail("answered %d: check mcp.%s.url" % (status, self._server))
        if reply.kind != "complete":
            self._fail("wants something that I cannot provide (%s)" % str(reply.kind)[:40])

    def _fail(self, what):
        raise McpError("the MCP server %s %s" % (self._server, what))


def _call(line, args, make):
    """Return the arguments of a request that calls a tool."""
    _, name, _, paths = line
    more = [("Mcp-Name", name)]
    if paths or not is_plain(name):
        more = [("Mcp-Name", encoded(name))] + values(paths, args)
    return '"name":%s,"arguments":%s' % (quote(name).decode(), json.dumps(args)), make, more


def values(paths: dict[str, list[str]], args: dict) -> list[tuple[str, str]]:
    """Return the headers for the arguments that the server also wants as headers."""
    result = []
    for name in sorted(paths):
        value = args
        for key in paths[name]:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            if isinstance(value, bool):
                value = "true" if value else "false"
            result.append(("Mcp-Param-" + name, encoded(str(value))))
    return result


def encoded(value: str) -> str:
    """Return a text as the value of a header: unchanged where a header can hold it, else in
    base64."""
    if is_plain(value):
        return value
    return "=?base64?%s?=" % b2a_base64(value.encode()).decode().strip()


def is_plain(value: str) -> bool | str:
    """Return whether a header can hold this text unchanged."""
    return (
        value
        and value == value.strip()
        and " " <= min(value) <= max(value) <= "~"
        and not value.startswith("=?base64?")
    )


def wanted(schema: dict) -> dict[str, tuple]:
    """Return {header: path} of the arguments that also go into headers; ValueError for an invalid
    schema."""
    result = {}
    _collect(schema, (), True, result)
    return result


def _collect(spec, path, reachable, result):
    if isinstance(spec, list):
        for entry in spec:
            _collect(entry, path, False, result)
    if not isinstance(spec, dict):
        return
    header = spec.get("x-mcp-header")
    if header is not None and not isinstance(header, dict):
        known = [name.lower() for name in result]
        if (
            not reachable
            or not path
            or spec.get("type") not in ("string", "integer", "boolean")
            or not _is_token(header)
            or header.lower() in known
        ):
            raise ValueError("its x-mcp-header %s is not right" % header)
        result[header] = path
    for key in spec:
        inner = spec[key]
        if key == "properties" and isinstance(inner, dict):
            for name in inner:
                _collect(inner[name], path + (name,), reachable, result)
        elif key not in ("enum", "const", "default", "examples"):
            _collect(inner, path, False, result)


def _is_token(text):
    return (
        isinstance(text, str)
        and text
        and all(c in "!#$%&'*+-.^_`|~0123456789" or "a" <= c.lower() <= "z" for c in text)
    )

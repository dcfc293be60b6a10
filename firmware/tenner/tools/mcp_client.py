# tenner tools.mcp_client: requests to one MCP server over streamable HTTP.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Since revision 2026-07-28 of the protocol every request says all there is to know. A server that does not
take one is greeted with `initialize`, as before, and may then have a session. Which of the two it is, and the
session, are kept on flash, so that a call is one exchange.
"""

import asyncio
import json

from tenner import __version__
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.tools import ToolError
from tenner.tools.mcp_reply import Reply

_TIMEOUT_S = const(55)  # a bit less than a tool has

_LATEST = const("2026-07-28")
_LATEST_GREETED = const("2025-11-25")
_GREETED = const("2025-11-25 2025-06-18 2025-03-26")

# Errors by which a server shows that it knows the latest revision.
_HEADERS = const(-32020)
_CAPABILITY = const(-32021)
_VERSION = const(-32022)


class Client:
    """A server of the settings. `folder` is where its session is kept."""

    timeout_s = _TIMEOUT_S

    def __init__(self, server, http, config, folder):
        self.server = server
        self.http = http
        self._url = config.get("mcp.%s.url" % server)
        self._token = config.get("mcp.%s.token" % server)
        self._path = "%s/%s.session" % (folder, server)
        self._id = 0
        self._version = None
        self._session = None
        if files.exists(self._path):
            try:
                self._version, self._session = json.loads(files.read_text(self._path))
            except ValueError:
                pass  # it is greeted anew

    async def call(self, line, args, sink):
        """Call the tool of a line of the `.tools` file; `sink` gets what is in the result."""
        headers = ()
        if line[3]:
            from tenner.tools.mcp_params import headers as values

            headers = values(line[3], args)
        await self.request("tools/call", {"name": line[1], "arguments": args}, sink, headers)

    async def request(self, method, params, sink, headers=()):
        """Send a request until it is answered; ToolError says in a sentence why it was not."""
        known = self._version
        self._version = known or _LATEST
        reply = await self._send(method, params, sink, headers)
        if self._is_lost(reply, known):
            first = reply
            self._version = self._session = None
            try:
                await self._greet()
            except ToolError:
                # It is not that it wants to be greeted.
                self._refuse(first)
                raise
            self._keep()
            reply = await self._send(method, params, sink, headers)
        self._refuse(reply)
        if known is None:
            self._keep()

    def _is_lost(self, reply, known):
        """Does the server want to be greeted, for the first time or again?"""
        if reply.status in (401, 403, 429) or reply.status >= 500:
            return False
        if self._version != _LATEST:
            return reply.status in (400, 404)
        if reply.code == _VERSION:
            return _LATEST_GREETED in reply.supported
        if reply.code in (_HEADERS, _CAPABILITY):
            return False
        return reply.status >= 400 or (reply.code is not None and not known)

    async def _greet(self):
        reply = await self._send(
            "initialize",
            {
                "protocolVersion": _LATEST_GREETED,
                "capabilities": {},
                "clientInfo": {"name": "tenner", "version": __version__},
            },
        )
        self._refuse(reply)
        if reply.version not in _GREETED.split():
            self._fail("speaks only version %s of the protocol" % (reply.version or "?")[:20])
        self._version = reply.version
        self._session = self.http.header("mcp-session-id")
        self._refuse(await self._send("notifications/initialized"))

    def _keep(self):
        text = dumps((self._version, self._session))
        if not files.exists(self._path) or files.read_text(self._path) != text:
            files.make_dirs(self._path.rpartition("/")[0])
            files.write_atomic(self._path, text)

    async def _send(self, method, params=None, sink=None, more=()):
        """One exchange; return its Reply, whatever it says."""
        headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ]
        if self._token:
            headers.append(("Authorization", "Bearer " + self._token))
        if self._version:
            headers.append(("MCP-Protocol-Version", self._version))
        if self._session:
            headers.append(("Mcp-Session-Id", self._session))
        if self._version == _LATEST:
            params = dict(params)
            from tenner.tools.mcp_params import meta

            headers += meta(method, params, _LATEST, __version__)
            headers += more
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            self._id += 1
            message["id"] = self._id
            message["params"] = params
        body = dumps(message).encode()
        reply = Reply(sink)
        try:
            await self.http.exchange("POST", self._url, headers, body, reply.read, self.timeout_s)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            self._fail(_cause(error, self.timeout_s))
        return reply

    def _refuse(self, reply):
        """Raise ToolError if the reply is no result."""
        status = reply.status
        if status in (401, 403):
            self._fail("does not let me in (%d): check mcp.%s.token" % (status, self.server))
        if 300 <= status < 400:
            self._fail("has moved (%d): change mcp.%s.url" % (status, self.server))
        if reply.code is not None:
            from tenner.tools import as_data

            self._fail("refused: " + as_data("error %d" % reply.code, reply.message))
        if status >= 400:
            self._fail("answered %d: check mcp.%s.url" % (status, self.server))
        if reply.kind != "complete":
            self._fail("wants something that I cannot give it (%s)" % reply.kind[:40])

    def _fail(self, what):
        raise ToolError("the MCP server %s %s" % (self.server, what))


def _cause(error, timeout_s):
    """Say what an exception of an exchange means, to go on from the server's name."""
    from tenner.net.tls import explain

    if isinstance(error, asyncio.TimeoutError):
        return "did not answer within %d s" % timeout_s
    if isinstance(error, EOFError):
        return "closed the connection before its answer was whole"
    return "cannot be reached: %s" % (explain(error) or error)

"""A stand-in for an MCP server of the current protocol revision: a few tools with fixed
answers."""

from __future__ import annotations

import ssl
from typing import Any

from .loop import LoopThread
from .records import Call, Response
from .server import Log, Service

VERSION = "2026-07-28"


class McpTools(Service):
    """`POST /mcp`. `answers` are the tools' texts by name; all tools are read-only."""

    def __init__(
        self,
        answers: dict[str, str],
        *,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        loop: LoopThread | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__(tls=tls, loop=loop, log=log)
        self.answers = answers
        #: The bearer token that a client must send; empty: none.
        self.token = token

    @property
    def mcp_url(self) -> str:
        return self.url + "/mcp"

    async def respond(self, call: Call) -> Response:
        message = call.request.json
        if self.token and call.headers.get("authorization") != f"Bearer {self.token}":
            return self.error_response(call, 401)
        if call.request.path != "/mcp" or call.request.method != "POST":
            return self.error_response(call, 404)
        if not isinstance(message, dict) or "method" not in message:
            return self.error_response(call, 400)
        answer = self._answer(message["method"], message.get("params") or {})
        return Response.of_json({"jsonrpc": "2.0", "id": message.get("id"), **answer})

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            return _result(tools=[_tool(name) for name in sorted(self.answers)])
        if method == "tools/call" and params.get("name") in self.answers:
            text = self.answers[params["name"]]
            return _result(content=[{"type": "text", "text": text}])
        return {"error": {"code": -32602, "message": "no such tool or method"}}

    def error_response(
        self, call: Call, status: int, message: str = "", retry_after_s: int | None = None
    ) -> Response:
        return Response(status, message.encode(), [("Content-Type", "text/plain")])


def _result(**members: Any) -> dict[str, Any]:
    return {"result": {"resultType": "complete", **members}}


def _tool(name: str) -> dict[str, Any]:
    place = {"type": "string", "description": "a room, or a town"}
    return {
        "name": name,
        "description": f"The {name} of a place.",
        "inputSchema": {"type": "object", "properties": {"place": place}},
        "annotations": {"readOnlyHint": True},
    }

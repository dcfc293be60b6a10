"""MCP servers as others write them, with the official SDK, over TLS on loopback."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from pathlib import Path

import uvicorn
from mcp.server.lowlevel import Server as LowLevelServer
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel

from tenner_sim.services.authority import Authority

TOKEN = "of-the-house-4711"
READS = ToolAnnotations(read_only_hint=True)


class Weather(BaseModel):
    temperature: float
    sky: list[str]


def house() -> MCPServer:
    """Tools of every kind. Their attributes hold the calls of `look` and `set_lamp`."""
    server = MCPServer("house")

    @server.tool(annotations=READS)
    def say(what: str) -> str:
        """Say the same again."""
        return what

    @server.tool(annotations=READS, structured_output=True)
    def weather(place: str = "here") -> Weather:
        return Weather(temperature=21.5, sky=["blue", place])

    @server.tool(annotations=READS)
    def broken() -> str:
        raise ToolError("the lamp is not at home")

    @server.tool(annotations=READS)
    def picture() -> list:
        return ["a cat", Image(data=b"\x89PNG" * 300, format="png")]

    @server.tool(annotations=READS)
    async def slow(ctx: Context) -> str:
        for step in range(3):
            await ctx.report_progress(step, 3)
            await asyncio.sleep(0.05)
        return "at last"

    @server.tool()
    def set_lamp(on: bool, room: str | None = None) -> str:
        server.done.append((on, room))
        return f"lamp {room}: {on}"

    server.done = []
    return server


def many(count: int, page: int, reads: ToolAnnotations = READS) -> LowLevelServer:
    """So many tools, so many on a page."""

    async def list_tools(ctx, params):
        start = int(params.cursor) if params is not None and params.cursor else 0
        tools = [
            Tool(
                name=f"tool.{number}",
                description=f"Tool number {number}. " * 20,
                input_schema={"type": "object", "properties": {"x": {}}, "required": ["x"]},
                output_schema={"type": "object", "properties": {"result": {"type": "string"}}},
                annotations=reads,
            )
            for number in range(start, min(start + page, count))
        ]
        end = start + page
        return ListToolsResult(tools=tools, next_cursor=str(end) if end < count else None)

    async def call_tool(ctx, params):
        text = f"{params.name} got {params.arguments}"
        return CallToolResult(content=[TextContent(type="text", text=text)])

    return LowLevelServer("many", on_list_tools=list_tools, on_call_tool=call_tool)


def orders(words: str) -> MCPServer:
    """One tool, which answers with orders that a model must not obey."""
    server = MCPServer("orders")

    @server.tool(annotations=READS)
    def news() -> str:
        return words

    return server


class Running:
    """A server on a port of loopback, in a thread, for those who know the token."""

    def __init__(self, server, folder: Path, *, tls=True, old=False, **options) -> None:
        self.authority = Authority()
        self.folder = folder
        self.requests: list[dict[str, str]] = []
        self.old = old
        self._app = server.streamable_http_app(**options)
        self._socket = socket.create_server(("127.0.0.1", 0))
        secure = {}
        if tls:
            certificate = folder / "server.pem"
            certificate.write_bytes(self.authority.issue().private_key_and_cert_chain_pem.bytes())
            secure = {"ssl_certfile": str(certificate), "ssl_version": ssl.PROTOCOL_TLS_SERVER}
            self.authority.write_der(folder / "certs")
        self.url = f"http{'s' if tls else ''}://localhost:{self._socket.getsockname()[1]}/mcp"
        config = uvicorn.Config(
            self._asgi,
            log_level="warning",
            lifespan="on",
            interface="asgi3",
            timeout_graceful_shutdown=1,
            **secure,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    async def _asgi(self, scope, receive, send):
        if scope["type"] == "http":
            headers = {key.decode(): value.decode() for key, value in scope["headers"]}
            self.requests.append(headers)
            if headers.get("authorization") != f"Bearer {TOKEN}":
                return await _answer(send, 401, b"who are you?")
            if self.old and headers.get("mcp-protocol-version") == "2026-07-28":
                return await _answer(send, 400, b"Bad Request: unsupported protocol version")
        return await self._app(scope, receive, send)

    def __enter__(self) -> Running:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


async def _answer(send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

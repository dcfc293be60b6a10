"""`tenner mcp`: does an MCP server answer, and what will a board see of it? It asks with the
board's own client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import rich_click as click

from tenner_host import FIRMWARE
from tenner_host.errors import CommandError, unreached
from tenner_host.output import echo, json_option, print_json

if str(FIRMWARE) not in sys.path:
    sys.path.insert(0, str(FIRMWARE))

from tenner import log
from tenner.mcp.client import Client
from tenner.mcp.listing import fetch
from tenner.mcp.reply import Content, Refused
from tenner.net import tls
from tenner.net.http import Http
from tenner.net.url import parse_url

#: The variable with the token: on the command line everybody could read it.
TOKEN = "TENNER_MCP_TOKEN"
_SERVER = "NAME"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def mcp() -> None:
    """MCP servers have tools that the agent may use. Test one before you add it to the
    settings."""


@mcp.command()
@click.argument("url")
@click.option(
    "--name", default=_SERVER, metavar="NAME", help="Its name in the settings: mcp.NAME."
)
@click.option(
    "--call", "tool", metavar="TOOL", help="The tool to call, by the server's name for it."
)
@click.option(
    "--args", "arguments", default="{}", metavar="JSON", help="Its arguments, a JSON object."
)
@click.option(
    "--ca",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of *.der roots to trust; without it those of this computer.",
)
@json_option
def test(
    url: str, name: str, tool: str | None, arguments: str, ca: Path | None, as_json: bool
) -> None:
    """List the tools of the server at URL, and call one that only reads.

    A bearer token is taken from the environment, TENNER_MCP_TOKEN.
    """
    try:
        host = parse_url(url)[0][1]
        args = json.loads(arguments)
    except ValueError as exc:
        raise CommandError(f"{exc}; an address is https://host/mcp, --args a JSON object") from exc
    if not isinstance(args, dict):
        raise CommandError('--args must be a JSON object, for example {"place": "hall"}')
    notes: list[str] = []
    log.write = lambda line: notes.append(line.split("mcp       ", 1)[-1])
    with tempfile.TemporaryDirectory() as folder:
        try:
            report = asyncio.run(_talk(name, url, tool, args, ca, Path(folder)))
        except (OSError, ValueError) as exc:
            advice = f" (the token is taken from {TOKEN})" if "token" in str(exc) else ""
            raise CommandError(f"{url}: {unreached(host, exc) or exc}{advice}") from exc
    report["notes"] = notes
    if as_json:
        print_json(report)
        return
    echo(f"{url} answers, {_counted(report['tools'])}")
    for one in report["tools"]:
        asks = "reads" if one["reads"] else "asks first"
        echo(f"{one['name']:32} {asks:10} {one['bytes']:5} B  {one['title']}")
    for note in notes:
        echo(note)
    called = report["called"]
    if called is None:
        echo("No tool without arguments only reads: call one with --call and --args.")
    else:
        echo(f"{called['tool']} answered:\n{called['text']}")
    if called is not None and called["error"]:
        raise CommandError(f"{called['tool']} says that it failed; try other --args")


async def _talk(
    name: str, url: str, tool: str | None, args: dict[str, Any], ca: Path | None, folder: Path
) -> dict[str, Any]:
    """List the tools, and call one; raise OSError with the board's own sentence on failure."""
    settings = {name: {"url": url, "token": os.environ.get(TOKEN, "")}}
    http = Http(lambda: tls.context(str(ca or folder)))
    try:
        lines = await fetch(name, http, settings, str(folder), lambda name: True)
        schemas = {line[0]: (folder / f"{line[0]}.json").read_bytes() for line in lines}
        tools = [
            {"name": own, "title": theirs, "reads": reads, "bytes": len(schemas[own])}
            for own, theirs, reads, _ in lines
        ]
        chosen = None
        for line in lines:
            required = json.loads(schemas[line[0]])["parameters"].get("required")
            if line[1] == tool if tool else line[2] and not required:
                chosen = line
                break
        if tool and chosen is None:
            raise OSError(f"the server has no tool {tool}; it has {_names(tools)}")
        called = None
        if chosen is not None:
            try:
                content = await Client(name, http, settings, str(folder)).call(
                    chosen, args if tool else {}, Content
                )
                called = {
                    "tool": chosen[1],
                    "error": bool(content.is_error),
                    "text": content.text(),
                }
            except Refused as exc:
                called = {"tool": chosen[1], "error": True, "text": str(exc)}
        return {"url": url, "tools": tools, "called": called}
    finally:
        await http.close()


def _counted(tools: list[dict[str, Any]]) -> str:
    return "with 1 tool:" if len(tools) == 1 else f"with {len(tools)} tools:"


def _names(tools: list[dict[str, Any]]) -> str:
    return ", ".join(str(one["title"]) for one in tools) or "none"

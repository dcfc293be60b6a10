# tenner tests: a turn's calls of the tools of an MCP server, on the interpreter that runs this
# file. MIT license; Copyright (c) 2026 the tenner authors
"""
ROOT SETTINGS CALLS: lists the tools of the servers in SETTINGS and makes CALLS, a list of (name,
arguments); prints one line of JSON.
"""

import asyncio
import json
import sys

import tenner.runtime.preload  # noqa: F401

# isort: split
from fakes import FakeCtx
from tenner.net import tls
from tenner.net.http import Http
from tenner.store import files


class Clock:
    def known(self):
        return 1790000000


class App:
    def __init__(self, root):
        self.clock = Clock()
        self.app = self
        self.root = root

    def http(self):
        return Http(lambda: tls.context(self.root + "/certs"))


async def main(root, settings, calls):
    ctx = FakeCtx(root, json.loads(settings))
    ctx.agent = app = App(root)
    await ctx.registry.refresh(app)
    paths = [place[0] for place in ctx.registry.schemas()]
    names = [path.rsplit("/", 1)[-1][:-5] for path in paths if "/state/mcp/" in path]
    schemas = [files.read_text(path) for path in paths if "/state/mcp/" in path]
    results = []
    for name, args in json.loads(calls):
        results.append(await ctx.call(name, args))
    print(json.dumps({"names": names, "schemas": schemas, "results": results, "asked": ctx.asked}))


asyncio.run(main(*sys.argv[1:]))

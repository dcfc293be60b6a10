# tenner kernel test: in the guest; runs the project's own tools for the other side of the serial
# line. MIT license; Copyright (c) 2026 the tenner authors
"""
A line on standard input is ["tool", {arguments}]; the answer is one line that begins with `> `.
The port, the registry, the runner and the tools are the real ones, and their devices stay open as
in the agent. The name `forget` takes away functions of an adapter, so that SMBus is spoken with
it. An empty line ends it.
"""

import asyncio
import json
import sys

import tenner.runtime.preload  # noqa: F401
from tenner import log
from tenner.port import open_port
from tenner.sensors.reading import Sensors
from tenner.store.config import Config
from tenner.tools import prepare
from tenner.tools.registry import Registry


class Turn:
    kind = "person"


class ToolContext:
    """The context of a tool; the owner has said yes to everything."""

    turn = Turn()
    workspace = "/workspace"

    def __init__(self):
        self.port = open_port("/")
        self.config = Config({"tools." + name: "allow" for name in ("i2c", "spi", "gpio")})
        self.port.configure(self.config)
        self.sensors = Sensors(self.port, self.workspace)
        self.registry = Registry(self.port, self.config, self.workspace)

    async def ask(self, text):
        return False


def main():
    log.write = lambda line: None
    ctx = ToolContext()
    print("> ready", sys.implementation.name)
    while True:
        line = sys.stdin.readline().strip()
        if not line:
            return
        name, args = json.loads(line)
        if name == "forget":
            ctx.port.i2c(args["bus"])._functions &= ~args["functions"]
            text = "forgotten"
        else:
            text = asyncio.run(prepare.call(ctx, name, json.dumps(args)))
        print("> " + json.dumps(text))


main()

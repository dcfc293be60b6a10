# tenner agent.model_call: one request of a turn to the model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.agent import context
from tenner.agent.errors import Stopped
from tenner.llm.errors import LlmError
from tenner.log import log
from tenner.port.compat import const

# Longest text of a reply, and longest arguments of one call, in bytes: each is in memory several times on
# its way to flash and back. A board asks for 1,024 tokens, which are 4 KB, 6 KB in some scripts.
_REPLY = const(16384)
_BOARD_REPLY = const(6144)


class Request:
    """
    One request to a model, in generators that can be run again: the first pass counts the bytes, the second sends
    them. `tools` are the places of the schemas of the tools on offer.
    """

    #: The llm.collect.Collector while a reply is being received.
    reply = None

    def __init__(self, turn, tools):
        self.max_tokens = turn.agent.config.get("llm.max_tokens")
        self.max_reply = _BOARD_REPLY if turn.agent.port.small else _REPLY
        self._turn = turn
        self._tools = tools

    def system(self):
        return context.system(self._turn.agent, self._turn)

    def records(self):
        return context.records(self._turn)

    def tools(self):
        return self._tools


async def ask(turn, timeout_ms):
    """Ask the model and put its Reply into `turn.reply`; Stopped when there is none."""
    if turn.tools is None:
        turn.tools = await overlay.step("OFFER", _offer, turn)
    request = Request(turn, turn.tools)
    shrunk = False
    while True:
        turn.check_interrupt()
        turn.request = request
        turn.task = asyncio.create_task(
            overlay.step("REQUEST", _complete, turn, request, timeout_ms)
        )
        try:
            await turn.task
            return
        except asyncio.CancelledError:
            turn.check_interrupt()
            raise
        except LlmError as error:
            if error.kind != "context_overflow" or shrunk or not _shrink(turn):
                stopped = Stopped(str(error))
                stopped.outage = error.kind not in ("context_overflow", "format")
                raise stopped
            shrunk = True
        finally:
            turn.task = turn.request = None


async def _offer(turn):
    """Return the schemas of the tools on offer."""
    agent = turn.agent
    registry = agent.part("registry")
    if registry.servers:
        await registry.refresh(agent.app)
        turn.notes = registry.missing()
    tools = registry.schemas(turn.kind)
    # A server's description of its tools was written by strangers, too.
    turn.untrusted_input = turn.untrusted_input or any(
        "/state/mcp/" in place[0] for place in tools
    )
    return tools


async def _complete(turn, request, timeout_ms):
    # Not returned: the result of a task stays in memory for a while, and with one object all of its module.
    turn.reply = await turn.chain.complete(request, turn.model, timeout_ms)


def _shrink(turn):
    """Send half of the history; return False when there is none to leave out."""
    session = turn.session
    if session is None or turn.span is not None or session.window < 1024:
        return False
    log("turn", "the request was too long for the model: half of the history is left out")
    session.window //= 2
    return turn.keep()

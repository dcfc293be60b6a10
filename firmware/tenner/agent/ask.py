# tenner agent.ask: one request of a turn to the model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.turn import Stopped
from tenner.llm.chain import LlmError
from tenner.log import log
from tenner.port.compat import const
from tenner.store.modules import fleeting

# Longest text of a reply, and longest arguments of one call, in bytes: each is in memory several times on
# its way to flash and back. A board asks for 1,024 tokens, which are 4 KB, 6 KB in some scripts.
_REPLY = const(16384)
_BOARD_REPLY = const(6144)


class Request:
    """
    One request to a model, in generators that can be run again: the first pass counts the bytes, the second sends
    them. `tools` are the paths of the schemas of the tools on offer.
    """

    #: The llm.client.Reply while it is being received.
    reply = None

    def __init__(self, turn, tools):
        self.max_tokens = turn.agent.config.get("llm.max_tokens")
        self.max_reply = _BOARD_REPLY if turn.agent.port.small else _REPLY
        self._turn = turn
        self._tools = tools

    def system(self):
        from tenner.agent.context import system

        return system(self._turn.agent, self._turn)

    def records(self):
        from tenner.agent.context import records

        return records(self._turn)

    def tools(self):
        return self._tools

    async def make_room(self):
        """What wrote the request makes room for what reads the reply, and that for what writes it again."""
        await self._turn.make_room("tenner.llm.client")


async def ask(turn, timeout_ms):
    """Ask the model and put its Reply into `turn.reply`; Stopped when there is none."""
    tools = await _tools(turn)
    # Made now, so that what makes it can go, too.
    turn.agent.part("chain")
    await turn.make_room()
    request = Request(turn, tools)
    shrunk = False
    while True:
        turn.check_interrupt()
        turn.request = request
        work = [lambda: _complete(turn, request, timeout_ms)]
        turn.task = asyncio.create_task(fleeting(work))
        try:
            await turn.task
            return
        except asyncio.CancelledError:
            turn.check_interrupt()
            raise
        except LlmError as error:
            if error.cls != "context_overflow" or shrunk or not _shrink(turn):
                raise Stopped(str(error))
            shrunk = True
        finally:
            turn.task = turn.request = None


async def _tools(turn):
    """Return the schema files of the tools on offer; only paths, so that what finds them can go."""
    if turn.tools is not None:
        return turn.tools
    agent = turn.agent
    if not turn.result.rounds and agent.part("registry").servers:
        await turn.make_room()
        work = [lambda: agent.part("registry").refresh(agent.app)]
        await asyncio.create_task(fleeting(work))
        agent.app.drop("registry")
        await turn.make_room()
    tools = list(agent.part("registry").schemas(turn.kind))
    # What a server says of its tools was written by strangers, too.
    turn.outside = turn.outside or any("/state/mcp/" in path for path in tools)
    agent.app.drop("registry")
    return tools


async def _complete(turn, request, timeout_ms):
    # Nothing returns the Reply: what a coroutine has returned stays in memory for a while, and with
    # one object of it all of its module.
    chain = turn.agent.part("chain")
    turn.reply = await chain.complete(request, turn.model, timeout_ms)


def _shrink(turn):
    """Send half of the history; return False when there is none to leave out."""
    session = turn.session
    if session is None or turn.span is not None or session.window < 1024:
        return False
    log("turn", "the request was too long for the model: half of the history is left out")
    session.window //= 2
    return turn.keep()

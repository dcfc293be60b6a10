# tenner agent.model_call: one request of a turn to the model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import sys

from tenner import overlay
from tenner.agent import context, context_limit
from tenner.llm.errors import LlmError
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenner.agent.types import Asking
    from tenner.llm.collect import Collector
    from tenner.store.files import Parts

# Longest text of a reply in memory, and longest arguments of one call, in bytes; memory holds
# several copies of each. A board asks for 1,024 tokens, which are 4 KB, 6 KB in some scripts;
# longer text goes to flash. MicroPython's heap has few long stretches, also where it is large.
_REPLY = const(131072)
_HEAP_REPLY = const(16384)
_BOARD_REPLY = const(6144)
# From so many bytes on the beginning of a text is on flash, and so many at the most.
_KEPT_FROM = const(1024)
_BOARD_KEPT = const(24576)
_KEPT = const(1048576)
# With a context below this, the size of prompt and tools matters for the history.
_SMALL_CONTEXT = const(16000)


class Request:
    """
    One request to a model, as generators that run twice: the first pass counts the bytes, the
    second sends them. `tools` are the places of the schemas on offer, from `files.together`.
    """

    #: The file for the beginning of a text too long for memory; None: the text is cut off.
    keep_at: str | None = None
    #: How the model's requests differ (llm.quirks).
    quirks = ""
    #: The llm.collect.Collector of a reply in progress.
    reply: "Collector | None" = None
    #: The most tokens and bytes of the reply, and of its text on flash.
    max_tokens = max_reply = kept_from = most_kept = 0
    #: The file for the fields that the model wants back, and its bytes so far.
    tail_at: "tuple[str | None, int]" = (None, 0)

    def __init__(self, turn: "Asking", tools: "Sequence[Parts]") -> None:
        self._turn = turn
        self._tools = tools
        _limit(self, turn)

    def system(self) -> "Iterator[bytes]":
        return context.system(self._turn.agent, self._turn)

    def records(self) -> "Iterator[bytes]":
        return context.records(self._turn)

    def tools(self) -> "Sequence[Parts]":
        return self._tools


async def ask(turn: "Asking", timeout_ms: int) -> None:
    """Ask the model and put its Reply into `turn.reply`; raise Stopped when there is none."""
    if turn.tools is None:
        turn.tools = await overlay.step("OFFER", _offer, turn)
    if turn.is_tight:
        await overlay.step("REQUEST", context_limit.fit, turn)
    request = Request(turn, turn.tools)
    while True:
        turn.check_interrupt()
        turn.request = request
        turn.task = overlay.start(overlay.step("REQUEST", _complete, turn, request, timeout_ms))
        try:
            await turn.task
            return
        except asyncio.CancelledError:
            turn.check_interrupt()
            raise
        except LlmError as error:
            failure = error
        finally:
            turn.task = turn.request = None
        await overlay.step("REQUEST", context_limit.shrink, turn, request, failure)


def _limit(request, turn):
    """Set the limits of a request, and where its reply goes. A function of its own: the code
    leaves memory before the request is sent."""
    port = turn.agent.port
    request.max_tokens = turn.max_tokens or turn.agent.config.get("llm.max_tokens")
    request.max_reply = request.kept_from = _REPLY
    request.most_kept = _KEPT
    if sys.implementation.name == "micropython":
        request.max_reply = _HEAP_REPLY
        request.kept_from = _KEPT_FROM
    if port.small:
        request.max_reply = _BOARD_REPLY
        request.kept_from = _KEPT_FROM
        request.most_kept = _BOARD_KEPT
    if turn.on_result and turn.begun is None:
        request.keep_at = port.path("state/reply.part")
    # The file for the fields that a model wants back, and its bytes so far.
    request.tail_at = port.path("state/tails.part"), turn.tails or 0


async def _offer(turn):
    """Return the schemas of the tools on offer."""
    agent = turn.agent
    if agent.get("registry").servers:
        await overlay.step("LIST", _refresh, agent)
        turn.notes = agent.get("registry").missing()
    tools = agent.get("registry").schemas(turn.kind)
    small = agent.config.get("llm.context_tokens") < _SMALL_CONTEXT
    turn.is_tight = small or files.size(agent.port.path("state/context.json")) > 0
    # Strangers write the descriptions of an MCP server's tools, too.
    turn.untrusted_input = (
        turn.untrusted_input
        # The reason that its server gives for missing ones, too.
        or len(turn.notes) > 0
        or any("/state/mcp/" in place[0] for place in tools)
    )
    return files.together(tools)


async def _refresh(agent):
    await agent.get("registry").refresh(agent.app)


async def _complete(turn, request, timeout_ms):
    # Not returned: a task's result stays in memory for a while, and one object keeps its entire
    # module alive.
    turn.reply = await turn.chain.complete(request, turn.model, timeout_ms)

"""Heap of the whole agent: the smallest that is enough for a task, and the live heap while it
waits."""

from __future__ import annotations

from collections.abc import Callable

from tenner_sim.services import OWNER, McpTools, Step
from tests.bench.agent import IN_ANSWER, QUESTION, Agent, Died, agent
from tests.bench.images import FROZEN, ROMFS, STOCK, Image
from tests.bench.rows import NotMeasured
from tests.hw.turns import TOOLS, asks

__all__ = ["IN_ANSWER", "QUESTION", "Agent", "Died", "agent"]

#: A tool that asks the owner before it acts.
APPROVED = 'call cron {"action":"add","id":"tea","message":"Tea.","cron":"0 5 1 1 *"}'

#: The sensor that the turns of tests/hw ask for.
CHIP_SENSOR = {"/workspace/SENSORS.json": b'{"chip":{"driver":"cpu"}}'}

#: Search for the smallest heap ends at this grain.
STEP_KB = 4
LOWEST_KB, HIGHEST_KB = 32, 512

#: A turn with a tool of an MCP server.
MCP_QUESTION = 'call home-weather {"place":"hall"}'
MCP_ANSWER = "21.5 degrees, dry, no wind"

#: Heap of the long run and of the idle measurement: too little for code to outlast its phase.
LONG_RUN_KB = 96
#: The long run samples the live heap after so many turns.
LOOK_EVERY = 10


def one_turn(
    heap_kb: int,
    messages: int = 0,
    image: Image = STOCK,
    text: str = QUESTION,
    in_answer: str = IN_ANSWER,
) -> None:
    """One turn with a tool call, or the answer to a command; Died when it does not fit."""
    with agent(heap_kb, messages=messages, image=image) as running:
        running.idle()
        running.ask(text, in_answer)


def mcp_turn(heap_kb: int) -> None:
    """Two turns that call an MCP server's tool: the first asks the server for its tools, the
    second knows them."""
    with McpTools({"weather": MCP_ANSWER, "news": "none"}) as server:
        settings: dict[str, object] = {"mcp": {"home": {"url": server.mcp_url}}}
        with agent(heap_kb, settings=settings) as running:
            running.idle()
            for _ in range(2):
                running.ask(MCP_QUESTION, "21.5 degrees")


def approval_turn(heap_kb: int) -> None:
    """One turn whose tool the owner approves by a button."""
    with agent(heap_kb, settings={"tools": {"cron": "ask"}}) as running:
        running.idle()
        running.ask(APPROVED, "cron: tea")
        if len(running.services.telegram.sent) != 2:
            raise Died("it asked for no approval")
        running.not_short()


def all_tools(heap_kb: int) -> None:
    """A turn with each tool that needs no server, one after the other, and words in between."""
    with agent(heap_kb, files=CHIP_SENSOR) as running:
        running.idle()
        for ask in asks(2 * TOOLS):
            running.ask(ask.text, ask.answer)
            running.not_short()


def long_reply_turn(heap_kb: int) -> None:
    """One turn whose answer of 4,000 characters comes in chunks of one byte."""
    with agent(heap_kb) as running:
        running.idle()
        running.services.model.plan([Step(path="/chat/completions", chunk_bytes=1)])
        running.ask("say something long 4000", "")
        running.not_short()


def long_message_turn(heap_kb: int) -> None:
    """One turn with a tool about a message of 4,000 characters."""
    with agent(heap_kb) as running:
        running.idle()
        running.ask("What does the TMP102 at 0x48 on i2c0 say?" + " word" * 790, "31.5")
        running.not_short()


def smallest_kb(
    fits: Callable[[int], None], step_kb: int = STEP_KB, lowest_kb: int = LOWEST_KB
) -> int:
    """The smallest heap, in steps of so many KB, in which `fits(heap_kb)` does not raise Died."""
    low, high = lowest_kb // step_kb, HIGHEST_KB // step_kb
    last = ""
    while low < high:
        middle = (low + high) // 2
        try:
            fits(middle * step_kb)
            high = middle
        except Died as exc:
            last = str(exc)
            low = middle + 1
    if low * step_kb >= HIGHEST_KB:
        raise NotMeasured(f"does not fit into {HIGHEST_KB} KB: {last}")
    return low * step_kb


def turn_min_kb(image: Image = STOCK) -> float:
    return smallest_kb(lambda heap_kb: one_turn(heap_kb, image=image))


def romfs_turn_min_kb() -> float:
    return turn_min_kb(ROMFS)


def frozen_turn_min_kb() -> float:
    return turn_min_kb(FROZEN)


def turn_min_history_kb() -> float:
    return smallest_kb(lambda heap_kb: one_turn(heap_kb, messages=10000))


def turn_min_mcp_kb() -> float:
    return smallest_kb(mcp_turn)


def turn_min_approval_kb() -> float:
    return smallest_kb(approval_turn)


def all_tools_min_kb() -> float:
    return smallest_kb(all_tools)


def turn_min_long_reply_kb() -> float:
    return smallest_kb(long_reply_turn)


def turn_min_long_message_kb() -> float:
    return smallest_kb(long_message_turn)


def command_min_kb(text: str, in_answer: str) -> Callable[[], float]:
    return lambda: smallest_kb(lambda heap_kb: one_turn(heap_kb, text=text, in_answer=in_answer))


def idle_live_kb() -> float:
    """Live heap of the agent that polls Telegram and waits for its heartbeat."""
    with agent(LONG_RUN_KB) as running:
        try:
            return running.idle() / 1024
        except Died as exc:
            raise NotMeasured(str(exc)) from exc


def history_growth_kb() -> float:
    """Live heap at the highest point of a turn, with a long history less that with a short one."""
    return (_most_alive(10000) - _most_alive(10)) / 1024


def _most_alive(messages: int) -> int:
    """Bytes alive at the highest point of a turn with a tool call, with enough heap."""
    with agent(HIGHEST_KB, messages=messages, mode="watched") as running:
        try:
            running.idle()
            running.ask(QUESTION, IN_ANSWER)
            return running.live("most")
        except Died as exc:
            raise NotMeasured(str(exc)) from exc


def live_series(turns: int, heap_kb: int) -> list[int]:
    """Live heap after every tenth of so many turns in a row, in bytes: every other turn has a tool
    call, and the context is so short that the agent summarizes the conversation again and again.
    """
    series = []
    summed = 0
    with agent(heap_kb, llm={"context_tokens": 2000}) as running:
        running.idle()
        session = running.root / "state" / "sessions" / f"telegram_{OWNER}.jsonl"
        # Numbers that gain a digit take a block more, which is no growth.
        running.services.telegram.next_message = 10_001
        for number in range(1000, 1000 + turns):
            if number % 2:
                running.ask(QUESTION, IN_ANSWER)
            else:
                running.ask(f"say turn {number}", f"turn {number}")
            if number % LOOK_EVERY == 0:
                series.append(running.idle())
            if session.stat().st_size > 3 * 2000:
                # It would make way for the next message, again and again.
                summed += 1
                running.wait_line("compacted", summed)
    return series


def live_growth_kb() -> float:
    """Growth of live heap over 1,000 turns, not counting the first 50."""
    try:
        series = live_series(1000, LONG_RUN_KB)
    except Died as exc:
        raise NotMeasured(f"the agent did not survive: {exc}") from exc
    print("live bytes every 50 turns:", " ".join(str(size) for size in series[::5]))
    return (max(series[-5:]) - max(series[5:10])) / 1024

# tenner agent.turn: the tool loop, from a prompt to an answer.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.agent import (
    accounting,
    call_repair,
    cut_off,
    model_call,
    spool,
    tails,
    tool_calls,
)
from tenner.agent.errors import Stopped
from tenner.agent.history_lines import record
from tenner.log import log
from tenner.port.compat import ticks_diff, ticks_ms
from tenner.store import quarantine
from tenner.tools.untrusted import DATA, is_marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from tenner.agent.agent import Agent, Session
    from tenner.llm.chain import Chain
    from tenner.llm.reply import Reply
    from tenner.llm.types import Request
    from tenner.store.files import Parts


class Result:
    """
    The result of a turn: `text`, the answer, or `error`, a sentence that gives the reason for
    none. `outage`: no model could be reached.
    """

    outage = False
    #: Why the answer does not serve as the text of an alarm, if the model's reply says so.
    unusable: str | None = None
    #: Bytes of the answer in state/reply.part; they come before `text`.
    kept = 0

    def __init__(self) -> None:
        self.text = ""
        self.error: str | None = None
        self.interrupted: str | None = None  # "person", "stop" or a sentence
        self.rounds = 0
        self.tool_calls = 0
        self.estimated = False
        self.ms = 0
        self.reply: "Reply | None" = None
        self.used = 0

    def tokens(self) -> int:
        return self.used


class Turn:
    """
    One turn of `agent` (the wired parts, see app). `kind` is person, heartbeat, cron, spawn or
    summary. `session` is the chat's history or None. `system` replaces the usual system prompt.
    `span` sends a part of the session's file instead of its newest window, as summaries do.
    """

    system: str | None = None
    span: tuple[int, int] | None = None
    #: Places of the schemas of the tools on offer, from `files.together`; None: the registry's
    #: tools for this kind of turn.
    tools: "Sequence[Parts] | None" = None
    #: May a person's message interrupt it, if no person started it?
    preemptible = True
    #: False: ask once and run no tool; the model's reply is in the result.
    run_tools = True
    #: The call that failed last, and how many times in a row.
    failure: tuple[str, str] | None = None
    failures = 0
    #: The task that asks the owner for approval, whether `cancel_question` ended it, and the total
    #: time of all questions.
    question: "asyncio.Task | None" = None
    overruled = False
    #: Has it read text of strangers, or does its history hold a turn that has?
    untrusted_input = False
    #: The record of a picture that belongs to the text; the history does not keep it.
    image: bytes | None = None
    #: Must the owner hear of the task, so that silence is no answer? Its longest time in seconds,
    #: None: `turn.timeout_s`; why the last reply ended.
    owes = False
    limit_s: int | None = None
    stop: str | None = None
    #: Sentences for the end of the system prompt.
    notes: "Sequence[str]" = ()
    asked_ms = 0
    #: The bytes of a long message in agent.spool; 0 if the message is the first line.
    spooled = 0
    #: The bytes of agent.tails on flash, None without such lines, and those of the calls to run.
    tails: int | None = None
    extras: "dict | tuple[()]" = ()
    #: While a model call runs: its task and its Request; afterwards the reply.
    task: "asyncio.Task | None" = None
    request: "Request | None" = None
    reply: "Reply | None" = None
    #: Is the model's context known to be small? Then: the limits of a reply, in tokens, and of
    #: each prompt file, in bytes.
    is_tight: bool | None
    max_tokens: int | None
    file_limit: int | None
    is_tight = max_tokens = file_limit = None
    #: The beginning of an answer that was cut off at the length limit.
    begun: str | None = None
    #: A long answer, which becomes a record after it is sent: a copy takes memory.
    unkept: str | None = None
    #: The llm.chain.Chain of this turn, while it runs.
    chain: "Chain | None" = None
    #: Called with the Result before the history is stored, so that a power cut in between does not
    #: lose the answer.
    on_result: "Callable[[Result], None] | None" = None
    _interrupted: str | None = None

    def __init__(
        self,
        agent: "Agent",
        kind: str,
        text: str,
        channel: str | None = None,
        chat: int | str | None = None,
        session: "Session | None" = None,
        model: str | None = None,
    ) -> None:
        self.agent = agent
        self.kind = kind
        self.text = text
        self.channel = channel
        self.chat = chat
        self.session = session
        self.model = model
        self.lines: list[bytes] = []
        self.result = Result()

    def interrupt(self, reason: str) -> None:
        """Stop the turn: a model request at once, a tool call at its end."""
        self._interrupted = reason
        if self.task is not None:
            self.task.cancel()
        self.cancel_question()

    def draft(self) -> str:
        """Return the received part of the reply."""
        reply = self.request and self.request.reply
        return (self.begun or "") + (reply.draft() if reply else "")

    def cancel_question(self) -> None:
        """Deny the pending question for approval: the owner wrote something else instead of
        answering."""
        if self.question is not None:
            self.overruled = True
            self.question.cancel()

    async def run(self) -> Result:
        """Run to the end and return a Result; only CancelledError leaves this method."""
        # The code of this method stays in memory during the turn, so it leaves most to others.
        start = ticks_ms()
        self._begin()
        try:
            self.result.text = await self._loop(start)
        except (Stopped, overlay.OutOfMemory) as error:
            self._fail(error)
        finally:
            # The next round would reuse the connection; now the long poll needs the only TLS
            # session.
            await self.chain.close()
        self.result.ms = ticks_diff(ticks_ms(), start)
        if self.on_result:
            await overlay.step("KEEP", self.on_result, self.result)
        await overlay.step("KEEP", _end, self)
        return self.result

    def _begin(self):
        self.chain = self.agent.get("chain")
        if self.session is not None and not self.keep():
            self.session = None
        for told in quarantine.in_workspace(self.agent.workspace):
            self.agent.notify(told)
        if not self.spooled:
            self.add("u", self.text)

    def _fail(self, error):
        """Put the reason why the turn has no answer into its result."""
        result = self.result
        if not isinstance(error, Stopped):
            log("turn", error)
            # The records of this turn did not fit; the last may be incomplete.
            del self.lines[0 if self.spooled else 1 :]
            result.error = "I stopped: this did not fit into my memory. Ask for something shorter."
        elif self.begun and not self._interrupted:
            result.text = cut_off.unfinished(self, error)
        else:
            result.error = error.args[0]
            result.outage = error.outage
            result.interrupted = self._interrupted

    def _all_lines(self):
        if self.spooled:
            yield from spool.pieces(self.agent, self.spooled)
        yield from self.lines if self.tails is None else tails.kept(self)
        if self.unkept is not None:
            yield from cut_off.record(self, self.unkept)

    def _mark(self):
        """Mark the turn in the history as one that has read untrusted text, if no line of it is
        marked."""
        if self.untrusted_input and not any(is_marked(line) for line in self.lines):
            self.lines.insert(
                0 if self.spooled else 1, record("n", "(the answer rests on %s, too)" % DATA)
            )

    def add(self, kind: str, text: str, id: str | None = None) -> None:
        """Add a line to the records of this turn."""
        self.lines.append(record(kind, text, id))

    def keep(self, lines: "Sequence[bytes]" = ()) -> bool:
        """Add `lines` to the session's file; return False when the write fails."""
        return accounting.keep(self.agent, self.session, lines)

    # --- the loop

    async def _loop(self, start):
        get = self.agent.config.get
        max_rounds = get("turn.max_rounds") or (12 if self.agent.port.small else 30)
        limit_s = self.limit_s or get("turn.timeout_s")
        for _ in range(max_rounds):
            timeout_ms = limit_s * 1000 + self.asked_ms - ticks_diff(ticks_ms(), start)
            if timeout_ms <= 0:
                raise Stopped("I stopped: this took longer than %d s." % limit_s)
            await model_call.ask(self, timeout_ms)
            reply, self.reply = self.reply, None
            if reply.blocks:
                await overlay.step("CALLS", tool_calls.join, self, reply)
            if self.run_tools and tool_calls.is_odd(reply):
                await overlay.step("TOOL_CALL", call_repair.repair, self, reply)
            calls, text, stop = await overlay.step("CALLS", tool_calls.take, self, reply)
            self.stop = stop
            reply = None
            if calls:
                await overlay.once("CALLS", tool_calls.run, self, calls)
                if self.kind != "person":
                    await self.agent.app.breathe(self)
                continue
            if self.run_tools and (stop == "length" or self.begun is not None):
                text = cut_off.take(self, text, stop)
            if text is not None:
                return text
        raise Stopped("I stopped after %d rounds of tools without an answer." % max_rounds)

    def check_interrupt(self) -> None:
        """Raise Stopped when somebody has interrupted this turn."""
        if self._interrupted:
            if self._interrupted == "person":
                raise Stopped("Preempted by a user message.")
            raise Stopped(
                "Stopped, as you asked." if self._interrupted == "stop" else self._interrupted
            )


def _end(turn):
    """Store the records of the turn in the history."""
    lines = turn.lines
    if turn.spooled or turn.unkept is not None or turn.tails is not None:
        lines = turn._all_lines()
    if turn.result.error is not None:
        turn.add("a", "(no answer: %s)" % turn.result.error)
    if turn.session is not None and turn.span is None:
        turn._mark()
        turn.keep(lines)

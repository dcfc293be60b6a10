# tenner agent.turn: the tool loop, from a prompt to an answer.
# MIT license; Copyright (c) 2026 the tenner authors

"""
A small board has room for the code of one step of a turn at a time. What writes a request (`ask`, `context`), what reads a
reply (llm), what calls tools (`rounds`) and what keeps the history (`upkeep`) is therefore imported inside functions,
and let go of when the next step begins.
"""

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms

# What a turn needs from its beginning to its end.
_STAYS = (
    "tenner.agent.agent",
    "tenner.agent.bus",
    "tenner.agent.lane",
    "tenner.agent.turn",
    "tenner.llm.chain",
)
_CUT_OFF_NOTE = const(
    "Your answer was cut off at the length limit. Go on from there, and keep it short."
)


class Result:
    """What came of a turn: `text` for whoever asked, or `error`, a sentence that says why not."""

    def __init__(self):
        self.text = ""
        self.error = None
        self.interrupted = None  # "person" or "stop"
        self.rounds = 0
        self.tool_calls = 0
        self.estimated = False
        self.ms = 0
        self.reply = None
        self.used = 0

    def tokens(self):
        return self.used


class Stopped(Exception):
    """Leaves the tool loop; args[0] is the sentence for whoever asked."""


class Turn:
    """
    One turn of `agent` (the wired parts, see app). `kind` is person, heartbeat, cron or spawn.
    `session` is the chat's history or None; `system` replaces the usual system prompt; `span` sends
    a part of the session's file instead of its newest window, as summaries do.
    """

    system = None
    span = None
    #: Schema files of the tools on offer; None: those of the registry for this kind of turn.
    tools = None
    #: It does not make way for a person, although it is nobody's.
    firm = False
    #: Ask once and run no tool: the model's reply is in the result.
    single = False
    #: The call that failed last, and how many times in a row.
    failure = None
    failures = 0
    #: The task in which somebody is asked for approval, whether it ended without an answer, and how long
    #: all such questions took.
    question = None
    overruled = False
    #: Has it read what strangers wrote, or does it see an earlier turn that has?
    outside = False
    asked_ms = 0
    #: While a model is asked: the task, and what it is asked; then its reply.
    task = None
    request = None
    reply = None
    _interrupted = None

    def __init__(self, agent, kind, text, channel=None, chat=None, session=None, model=None):
        self.agent = agent
        self.kind = kind
        self.text = text
        self.channel = channel
        self.chat = chat
        self.session = session
        self.model = model
        self.lines = []
        self.result = Result()

    def interrupt(self, reason):
        """Stop as soon as nothing is lost: a model request at once, a tool call at its end."""
        self._interrupted = reason
        if self.task is not None:
            self.task.cancel()
        self.overrule()

    def draft(self):
        """Return what there is of the reply that is being received."""
        reply = self.request and self.request.reply
        return reply.draft() if reply else ""

    def overrule(self):
        """Whoever is asked has written instead of answering."""
        if self.question is not None:
            self.overruled = True
            self.question.cancel()

    async def run(self):
        """Run to the end and return a Result; only CancelledError leaves this method."""
        result = self.result
        start = ticks_ms()
        app = self.agent.app
        if self.session is not None and not self.keep():
            self.session = None
        self.add("u", self.text)
        for _ in range(2):
            short = False
            try:
                result.text = await self._loop(start)
            except Stopped as stop:
                result.error = stop.args[0]
                result.interrupted = self._interrupted
            except MemoryError as error:
                log("turn", error)
                # What was said so far did not fit, and may end anywhere.
                del self.lines[1:]
                short = True
            finally:
                # The connection was kept for the next round; now the long poll wants the one TLS session.
                await app.part("chain").close()
            app.drop("chain")
            await self.make_room()
            # Garbage may have been in the way. But what a tool has done is not done twice.
            if not short or result.tool_calls:
                break
        if short:
            result.error = "I stopped: this did not fit into my memory. Ask for something shorter."
        result.ms = ticks_diff(ticks_ms(), start)
        if result.error is not None:
            self.add("a", "(no answer: %s)" % result.error)
        if self.session is not None and self.span is None:
            self.keep(self.lines)
        return result

    async def make_room(self, *more):
        """On a small board let go of what the next step does not need; `more` are modules that it does."""
        if self.agent.port.small:
            for prefix in (
                "tenner.agent.",
                "tenner.llm.",
                "tenner.tools",
                "tenner.net.sse",
                "tenner.net.jsonin",
                "tenner.net.tls",
                "tenner.channels.telegram_",
                "tenner.store.slots",
            ):
                self.agent.app.shed(prefix, _STAYS + more)
            await self.agent.app.collect()

    def add(self, kind, text, id=None):
        """Add a line to the records of this turn."""
        from tenner.agent.lines import record

        self.lines.append(record(kind, text, id))

    def keep(self, lines=()):
        """Add `lines` to the session's file; False when that cannot be written."""
        from tenner.agent.upkeep import keep

        return keep(self.agent, self.session, lines)

    # --- the loop

    async def _loop(self, start):
        get = self.agent.config.get
        max_rounds = get("turn.max_rounds") or (12 if self.agent.port.small else 30)
        limit_s = get("turn.timeout_s")
        told_length = False
        for _ in range(max_rounds):
            timeout_ms = limit_s * 1000 + self.asked_ms - ticks_diff(ticks_ms(), start)
            if timeout_ms <= 0:
                raise Stopped("I stopped: this took longer than %d s." % limit_s)
            await self._ask_model(timeout_ms)
            calls, text, stop = self._take()
            if calls:
                # While tools run nobody needs the code that talks to the model.
                await self.make_room("tenner.agent.rounds")
                self.agent.part("registry")
                await self.agent.app.collect()
                await self._call_tools(calls)
                if self.kind != "person":
                    await self.agent.app.breathe()
            elif self.single or stop != "length":
                return text
            elif told_length:
                return text + "\n(cut off at the length limit)"
            else:
                told_length = True
                if not text:
                    self.add("a", "(nothing)")
                self.add("n", _CUT_OFF_NOTE)
        raise Stopped("I stopped after %d rounds of tools without an answer." % max_rounds)

    async def _ask_model(self, timeout_ms):
        from tenner.agent.ask import ask

        await ask(self, timeout_ms)

    def _take(self):
        from tenner.agent.rounds import take

        reply, self.reply = self.reply, None
        return take(self, reply)

    async def _call_tools(self, calls):
        from tenner.agent.rounds import call_tools

        await call_tools(self, calls)

    def check_interrupt(self):
        """Raise Stopped when somebody has interrupted this turn."""
        if self._interrupted:
            raise Stopped(
                "Put back: a person came first."
                if self._interrupted == "person"
                else "Stopped, as you asked."
            )

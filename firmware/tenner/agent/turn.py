# tenner agent.turn: the tool loop, from a prompt to an answer.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.context import Request
from tenner.agent.session import call_record, record, shorten
from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms

_MAX_SAME_FAILURES = const(3)
_BOARD_LINES = const(16 * 1024)  # bytes of this turn's own records before old results are cut
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
        self._tokens = 0

    def tokens(self):
        return self._tokens

    def count(self, reply):
        """Add what a round has cost."""
        self.rounds += 1
        self._tokens += reply.tokens_in + reply.tokens_out
        self.estimated = self.estimated or reply.estimated
        what = ", ".join([call.name for call in reply.calls])
        log(
            "llm",
            "%d bytes sent, %d+%d tokens%s: %s"
            % (
                reply.body_bytes,
                reply.tokens_in,
                reply.tokens_out,
                " (estimated)" if reply.estimated else "",
                "calls " + what if what else "%d characters" % len(reply.text),
            ),
        )


class _Stopped(Exception):
    """Leaves the tool loop; args[0] is the sentence for whoever asked."""


class Ctx:
    """What a tool may reach: the board, the settings, its own turn, and ways to people."""

    def __init__(self, agent, turn):
        self.agent = agent
        self.turn = turn
        self.port = agent.port
        self.config = agent.config
        self.workspace = agent.workspace
        self.sensors = agent.part("sensors")
        self.registry = agent.part("registry")

    async def send(self, text, chat=None):
        """
        The `message` tool: send `text` to whoever this turn talks with, else to the owner, or to an allowed
        chat; return a sentence that says what happened.
        """
        app = self.agent.app
        turn = self.turn
        channel = app.owner()[0]
        if turn.chat is not None and chat in (None, str(turn.chat)):
            channel, chat = turn.channel, turn.chat
        elif chat is None:
            chat = app.owner()[1]
        if chat is None:
            return "error: nobody to send to: no owner is configured (telegram.owner)"
        app.deliver(channel, chat, text)
        return "queued for %s:%s" % (channel, chat)

    async def ask(self, text):
        """Ask the owner to approve `text`; False when the answer is no or none comes."""
        return await self.turn.ask(text)


class Turn:
    """
    One turn of `agent` (the wired parts, see app). `kind` is person, heartbeat, cron or spawn.
    `session` is the chat's history or None; `system` replaces the usual system prompt; `span` sends
    a part of the session's file instead of its newest window, as summaries do.
    """

    def __init__(self, agent, kind, text, channel=None, chat=None, session=None, model=None):
        self.agent = agent
        self.kind = kind
        self.text = text
        self.channel = channel
        self.chat = chat
        self.session = session
        self.model = model
        self.system = None
        self.span = None
        #: Schema files of the tools on offer; None: those of the registry for this kind of turn.
        self.tools = None
        #: Ask once and run no tool: the model's reply is in the result.
        self.single = False
        self.lines = []
        self._result = Result()
        self._request = None
        self._asked = None
        self._interrupted = None
        self._question = None
        self._overruled = False
        self._asked_ms = 0
        self._failure = None  # the call that failed last
        self._same = 0  # and how many times in a row

    def interrupt(self, reason):
        """Stop as soon as nothing is lost: a model request at once, a tool call at its end."""
        self._interrupted = reason
        if self._request is not None:
            self._request.cancel()
        self.overrule()

    def draft(self):
        """Return what there is of the reply that is being received."""
        reply = self._asked and self._asked.reply
        return reply.draft() if reply else ""

    async def ask(self, text):
        """Ask the owner. The time that takes is not this turn's; what interrupts it, or `overrule`, is a no."""
        start = ticks_ms()
        self._overruled = False
        self._question = asyncio.create_task(self.agent.app.ask_owner(text, self))
        try:
            return await self._question
        except asyncio.CancelledError:
            if not self._overruled:
                raise
            return False
        finally:
            self._question = None
            self._asked_ms += ticks_diff(ticks_ms(), start)

    def overrule(self):
        """Whoever is asked has written instead of answering."""
        if self._question is not None:
            self._overruled = True
            self._question.cancel()

    async def run(self):
        """Run to the end and return a Result; only CancelledError leaves this method."""
        result = self._result
        start = ticks_ms()
        agent = self.agent
        if self.session is not None and not agent.keep(self.session):
            self.session = None
        self.lines.append(record("u", self.text))
        try:
            result.text = await self._loop(start)
        except _Stopped as stop:
            result.error = stop.args[0]
            result.interrupted = self._interrupted
        except MemoryError as error:
            log("turn", error)
            # What was said so far did not fit, and may end anywhere.
            del self.lines[1:]
            result.error = "I stopped: this did not fit into my memory. Ask for something shorter."
        finally:
            # The connection was kept for the next round; now the long poll wants the one TLS session.
            await agent.part("chain").close()
        result.ms = ticks_diff(ticks_ms(), start)
        if result.error is not None:
            self.lines.append(record("a", "(no answer: %s)" % result.error))
        if self.session is not None and self.span is None:
            agent.keep(self.session, self.lines)
        return result

    # --- the loop

    async def _loop(self, start):
        get = self.agent.config.get
        max_rounds = get("turn.max_rounds") or (12 if self.agent.port.small else 30)
        limit_s = get("turn.timeout_s")
        told_length = False
        for _ in range(max_rounds):
            timeout_ms = limit_s * 1000 + self._asked_ms - ticks_diff(ticks_ms(), start)
            if timeout_ms <= 0:
                raise _Stopped("I stopped: this took longer than %d s." % limit_s)
            reply = await self._ask_model(timeout_ms)
            if self.single:
                self._result.reply = reply
                return reply.text
            if reply.text or reply.calls:
                self.lines.append(record("a", reply.text))
            if reply.calls:
                # Plain tuples: one object of a module's class keeps the whole module in memory, and while
                # tools run nobody needs the code that talks to the model.
                calls = [
                    (_call_id(c, n), c.name, c.arguments_text) for n, c in enumerate(reply.calls)
                ]
                reply = None
                self.agent.app.shed("tenner.llm.", ("tenner.llm.chain", "tenner.llm.errors"))
                self.agent.app.shed("tenner.net.sse")
                await self._call_tools(calls)
                if self.kind != "person":
                    await self.agent.app.breathe()
            elif reply.stop != "length":
                return reply.text
            elif told_length:
                return reply.text + "\n(cut off at the length limit)"
            else:
                told_length = True
                if not reply.text:
                    self.lines.append(record("a", "(nothing)"))
                self.lines.append(record("n", _CUT_OFF_NOTE))
        raise _Stopped("I stopped after %d rounds of tools without an answer." % max_rounds)

    async def _ask_model(self, timeout_ms):
        from tenner.llm.errors import LlmError

        request = Request(self.agent, self)
        shrunk = False
        while True:
            self._check_interrupt()
            self._asked = request
            self._request = asyncio.create_task(
                self.agent.part("chain").complete(request, self.model, timeout_ms)
            )
            try:
                reply = await self._request
                self._result.count(reply)
                return reply
            except asyncio.CancelledError:
                self._check_interrupt()
                raise
            except LlmError as error:
                if error.cls != "context_overflow" or shrunk or not self._shrink():
                    raise _Stopped(str(error))
                shrunk = True
            finally:
                self._request = None
                self._asked = None

    def _shrink(self):
        """Send half of the history; return False when there is none to leave out."""
        session = self.session
        if session is None or self.span is not None or session.window < 1024:
            return False
        log("turn", "the request was too long for the model: half of the history is left out")
        session.window //= 2
        return self.agent.keep(session)

    def _check_interrupt(self):
        if self._interrupted:
            raise _Stopped(
                "Put back: a person came first."
                if self._interrupted == "person"
                else "Stopped, as you asked."
            )

    # --- tools

    async def _call_tools(self, calls):
        """Run the calls in order; every call gets exactly one result, whatever happens."""
        for call_id, name, arguments in calls:
            # The history keeps an object even where the model wrote none: both wire formats need it.
            whole = _is_object(arguments)
            self.lines.append(call_record(call_id, name, arguments if whole else "{}"))
        done = 0
        try:
            for call_id, name, arguments in calls:
                self._check_interrupt()
                self._result.tool_calls += 1
                registry = self.agent.part("registry")
                text = await registry.call(name, arguments, Ctx(self.agent, self))
                self.lines.append(record("t", text, call_id))
                done += 1
                self._guard((name, arguments), text)
        finally:
            for call_id, _, _ in calls[done:]:
                self.lines.append(record("t", "cancelled: the turn was stopped", call_id))
        if self.agent.port.small:
            self._fit()

    def _guard(self, call, text):
        """The same failing call again and again is a loop that costs the owner's tokens."""
        failure = text.startswith("error") and call
        self._same = self._same + 1 if failure == self._failure else 1
        self._failure = failure
        if failure and self._same >= _MAX_SAME_FAILURES:
            raise _Stopped("I stopped: %s failed three times the same way. %s" % (call[0], text))

    def _fit(self):
        """Keep this turn's own records bounded: the oldest results are cut first."""
        total = sum([len(line) for line in self.lines])
        for i, line in enumerate(self.lines):
            if total <= _BOARD_LINES:
                return
            self.lines[i] = shorten(line)
            total -= len(line) - len(self.lines[i])


def _call_id(call, number):
    """The id a call came with, or one an API would take back."""
    if "!" <= min(call.id) <= max(call.id) <= "~":
        return call.id
    return "call_%x_%d" % (ticks_ms(), number)


def _is_object(text):
    """Tell whether `text` is the JSON of an object, without building it."""
    from tenner.net.jsonin import Scanner

    scanner = Scanner(lambda path, value, more: None)
    try:
        scanner.feed(text.encode())
        scanner.end()
    except ValueError:
        return False
    return text.lstrip()[:1] == "{"

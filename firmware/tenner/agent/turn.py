# tenner agent.turn: the tool loop, from a prompt to an answer.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent import session as history
from tenner.agent.context import Request
from tenner.log import log
from tenner.net.jsonin import Scanner
from tenner.port.compat import const, ticks_diff, ticks_ms

_MAX_SAME_FAILURES = const(3)
_BOARD_LINES = const(16 * 1024)  # bytes of this turn's own records before old results are cut
_CUT_OFF_NOTE = "Your answer was cut off at the length limit. Go on from there, and keep it short."


class Result:
    """What came of a turn: `text` for whoever asked, or `error`, a sentence that says why not."""

    def __init__(self):
        self.text = ""
        self.error = None
        self.error_class = None
        self.interrupted = None  # "person" or "stop"
        self.rounds = 0
        self.tool_calls = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.estimated = False
        self.ms = 0
        self.reply = None

    def tokens(self):
        return self.tokens_in + self.tokens_out


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
        """Send `text` to the owner or to an allowed chat; return a sentence that says what happened."""
        return await self.agent.send(text, chat, self.turn)

    async def ask(self, text):
        """Ask the owner to approve `text`; False when the answer is no or none comes."""
        return await self.agent.ask(text, self.turn)


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
        self._interrupted = None

    def interrupt(self, reason):
        """Stop as soon as nothing is lost: a model request at once, a tool call at its end."""
        self._interrupted = reason
        if self._request is not None:
            self._request.cancel()

    async def run(self):
        """Run to the end and return a Result; only CancelledError leaves this method."""
        result = self._result
        start = ticks_ms()
        if self.session is not None:
            self.session.open()
            if self.session.repaired:
                self.session.repaired = False
                self.agent.notify("A damaged part of our conversation was set aside (.bad).")
        self.lines.append(history.record("u", self.text))
        try:
            result.text = await self._loop(start)
        except _Stopped as stop:
            result.error = stop.args[0]
        finally:
            # The connection was kept for the next round; now the long poll wants the one TLS session.
            await self.agent.part("chain").close()
        if self._interrupted and result.error is not None:
            result.interrupted = self._interrupted
        result.ms = ticks_diff(ticks_ms(), start)
        self._remember()
        return result

    # --- the loop

    async def _loop(self, start):
        config = self.agent.config
        max_rounds = config.get("turn.max_rounds") or (12 if self.agent.port.small else 30)
        limit_ms = config.get("turn.timeout_s") * 1000
        told_length = False
        self._failures = 0
        self._last_failure = None
        for _ in range(max_rounds):
            left_ms = limit_ms - ticks_diff(ticks_ms(), start)
            if left_ms <= 0:
                raise _Stopped("I stopped: this took longer than %d s." % (limit_ms // 1000))
            reply = await self._ask_model(left_ms)
            self._result.rounds += 1
            if self.single:
                self._result.reply = reply
                return reply.text
            if reply.text or reply.calls:
                self.lines.append(history.record("a", reply.text))
            if reply.calls:
                await self._call_tools(reply.calls)
                self._fit()
            elif reply.stop != "length":
                return reply.text
            elif told_length:
                return reply.text + "\n(cut off at the length limit)"
            else:
                told_length = True
                if not reply.text:
                    self.lines.append(history.record("a", "(nothing)"))
                self.lines.append(history.record("n", _CUT_OFF_NOTE))
        raise _Stopped("I stopped after %d rounds of tools without an answer." % max_rounds)

    async def _ask_model(self, left_ms):
        from tenner.llm.errors import LlmError

        self._check_interrupt()
        agent = self.agent
        request = Request(agent, self, agent.config.get("llm.max_tokens"))
        for attempt in (1, 2):
            self._request = asyncio.create_task(
                agent.part("chain").complete(request, self.model, left_ms)
            )
            try:
                reply = await self._request
                break
            except asyncio.CancelledError:
                self._check_interrupt()
                raise
            except LlmError as error:
                if error.cls != "context_overflow" or attempt == 2 or not self._shrink():
                    self._result.error_class = error.cls
                    raise _Stopped(str(error))
            finally:
                self._request = None
        _log_reply(reply)
        result = self._result
        result.tokens_in += reply.tokens_in
        result.tokens_out += reply.tokens_out
        result.estimated = result.estimated or reply.estimated
        return reply

    def _shrink(self):
        """Send half of the history; return False when there is none to leave out."""
        if self.session is None or self.span is not None or self.session.window < 1024:
            return False
        log("turn", "the request was too long for the model: half of the history is left out")
        self.session.window //= 2
        self.session.open()
        return True

    def _check_interrupt(self):
        if self._interrupted == "person":
            raise _Stopped("Put back: a person came first.")
        if self._interrupted:
            raise _Stopped("Stopped, as you asked.")

    # --- tools

    async def _call_tools(self, calls):
        """Run the calls in order; every call gets exactly one result, whatever happens."""
        results = []
        for call in calls:
            arguments = call.arguments_text
            whole = _is_object(arguments)
            # The history keeps an object even where the model wrote none: both wire formats need it.
            kept = arguments if whole else "{}"
            self.lines.append(history.call_record(call.id, call.name, kept))
        try:
            for call in calls:
                results.append(await self._call_tool(call))
        finally:
            for i, call in enumerate(calls):
                text = results[i] if i < len(results) else "cancelled: the turn was stopped"
                self.lines.append(history.record("t", text, call.id))

    async def _call_tool(self, call):
        self._check_interrupt()
        self._result.tool_calls += 1
        text = await self.agent.part("registry").call(
            call.name, call.arguments_text, Ctx(self.agent, self)
        )
        if text.startswith("error"):
            # The same failing call again and again is a loop that costs the owner's tokens.
            failure = (call.name, call.arguments_text)
            self._failures = self._failures + 1 if failure == self._last_failure else 1
            self._last_failure = failure
            if self._failures >= _MAX_SAME_FAILURES:
                raise _Stopped(
                    "I stopped: %s failed three times the same way. %s" % (call.name, text)
                )
        else:
            self._last_failure = None
        return text

    def _fit(self):
        """Keep this turn's own records bounded: the oldest results are cut first."""
        if not self.agent.port.small:
            return
        total = sum(len(line) for line in self.lines)
        for i, line in enumerate(self.lines):
            if total <= _BOARD_LINES:
                return
            self.lines[i] = history.shorten(line)
            total -= len(line) - len(self.lines[i])

    # --- the end

    def _remember(self):
        """Append the turn to its session; a turn without an answer still ends in the model's voice."""
        if self.session is None or self.span is not None:
            return
        if self._result.error is not None:
            self.lines.append(history.record("a", "(no answer: %s)" % self._result.error))
        try:
            self.session.append(self.lines)
        except OSError as error:
            # The person still gets the answer; only the memory of it is lost, and that is said.
            log("session", "could not be written: %s" % error)
            self.agent.notify("I could not write our conversation to flash: %s" % error)


def _log_reply(reply):
    """Say what a round cost and what came of it."""
    what = ", ".join(call.name for call in reply.calls)
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


def _is_object(text):
    """Tell whether `text` is the JSON of an object, without building it."""
    if not text.lstrip().startswith("{"):
        return False
    scanner = Scanner(lambda path, value, more: None)
    try:
        scanner.feed(text.encode())
        scanner.end()
    except ValueError:
        return False
    return True

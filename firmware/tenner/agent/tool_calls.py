# tenner agent.tool_calls: counts a model's reply and runs its tool calls.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.agent import cut_off, tails
from tenner.agent.errors import Stopped
from tenner.agent.history_lines import LONG, call_record, shorten
from tenner.log import log
from tenner.net.json.scanner import Scanner
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store import attachments
from tenner.tools import prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.agent.agent import Agent
    from tenner.agent.parts import Reaching, Sender
    from tenner.agent.types import Calling
    from tenner.llm.reply import Reply
    from tenner.net.http import Http
    from tenner.sensors.reading import Sensors
    from tenner.tools.registry import Registry
    from tenner.tools.types import Jobs

_MAX_SAME_FAILURES = const(3)
_WRITERS = ("write_file", "edit_file", "append_file")
_CAPTION = const(500)  # characters of the text under a file; Telegram allows 1,024 units
_LONG_TEXT = const(8192)  # the history keeps only the end of a longer text
_NOT_RUN = const(
    "error: %s was not run: too many calls in one reply, or its arguments are too long. Call it "
    "again with fewer others, or in parts."
)
_NAME_LETTERS = const("abcdefghijklmnopqrstuvwxyz0123456789_-")
_PREFIXES = ("functions_", "default_ap")
#: Parts of the markup of a call that a model has written as text.
_MARKUP = ("</", "<|", "\uff5c", "<tool", "<function", "<invoke", "<start_", "[TOOL", "functools[")
_BOARD_LINES = const(16 * 1024)  # bytes of a turn's own records; old results are cut beyond that


class ToolContext:
    """A tool's access to the board, the settings, its own turn, and people."""

    def __init__(self, agent: "Agent", turn: "Calling") -> None:
        self.agent = agent
        self.turn = turn
        self.port = agent.port
        self.config = agent.config
        self.workspace = agent.workspace
        #: Should results be short? A complete result is in memory at once.
        self.brief = agent.port.small

    @property
    def registry(self) -> "Registry":
        return self.agent.get("registry")

    @property
    def sensors(self) -> "Sensors":
        return self.agent.get("sensors")

    def http(self) -> "Http":
        """Return a new HTTP client."""
        return self.agent.app.http()

    async def jobs(self) -> "Jobs":
        """Return the schedule's jobs."""
        # At the first call the code that makes them makes room for their own.
        return await overlay.step("TOOL", self.agent.get, "cron")

    def spawn(self, task: str) -> str:
        """Start a background turn for this one; return the sentence for the model."""
        return self.agent.app.spawn(task, self.turn)

    def chart(self, value: str, seconds: int) -> str | None:
        """Have a chart sent to the chat of this turn, else to the owner, when the turn has ended;
        return the reason where it cannot be."""
        turn = self.turn
        app = self.agent.app
        channel, chat = app.owner() if turn.chat is None else (turn.channel, turn.chat)
        if chat is None:
            return "There is nobody to send a chart to: set telegram.owner."
        if not app.chart(value, seconds, channel, chat, True):
            return "Too many charts wait to be drawn: call it again in a later turn."
        return None

    async def send(self, text: str, chat: str | None = None, file: str | None = None) -> str:
        """
        The `message` tool: send `text`, and the file at the real path `file`, to the chat of this
        turn, else to the owner, or to an allowed `chat`; return a sentence with the outcome.
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
        if file is None:
            await overlay.step("KEEP", _deliver, app, channel, chat, text)
        elif channel == "telegram":
            await overlay.step("KEEP", _deliver_file, app, channel, chat, text, file)
        else:
            return "error: a file can be sent on Telegram only: name its path instead"
        return "queued for %s:%s" % (channel, chat)

    async def ask(self, text: str) -> bool:
        """
        Ask the owner to approve `text`; return False on a no or without an answer.
        The turn's time limit excludes the wait; `cancel_question` means no, and an interruption
        leaves as CancelledError. Raise OSError where the owner cannot be asked.
        """
        turn = self.turn
        start = ticks_ms()
        turn.overruled = False
        turn.question = overlay.start(self.agent.app.ask_owner(text, turn))
        try:
            if turn.chain:
                await turn.chain.close()  # the connection would take memory meanwhile
            async with overlay.released("WAIT"):
                return await turn.question
        except asyncio.CancelledError:
            if not turn.overruled:
                raise
            return False
        finally:
            turn.question = None
            turn.asked_ms += ticks_diff(ticks_ms(), start)


def is_odd(reply: "Reply") -> bool:
    """Return whether a reply needs `call_repair`: for its calls, or a text that looks like one."""
    for call in reply.calls:
        name = call.name
        if not name or name.strip(_NAME_LETTERS) or name[:10] in _PREFIXES:
            return True
        if call.arguments_text is not None and not _is_object(call.arguments_text):
            return True
    text = reply.text.rstrip()
    if reply.calls or not text:
        return False
    if text[-1] == ")":
        return "(" in text.partition(" ")[0][:80]
    return text[-1] in "}]`" or any(part in text for part in _MARKUP)


def take(
    turn: "Calling", reply: "Reply"
) -> "tuple[Sequence[tuple[str, str, str | None]], str, str]":
    """
    Count `reply`, add its text to the records, and return ([(id, name, arguments) of its calls],
    text, stop), so that the Reply can be freed.
    """
    text = reply.text
    result = turn.result
    result.rounds += 1
    result.used += reply.tokens_in + reply.tokens_out
    result.estimated = result.estimated or reply.estimated
    what = ", ".join([call.name for call in reply.calls])
    log(
        "llm",
        "%d bytes sent, %d+%d tokens%s: %s"
        % (
            reply.body_bytes,
            reply.tokens_in,
            reply.tokens_out,
            " (estimated)" if reply.estimated else "",
            "calls " + what if what else "%d characters" % (len(text) + reply.kept),
        ),
    )
    result.kept = reply.kept
    if getattr(reply, "tails", None):
        tails.note(turn, reply)
    if text or reply.calls or result.kept:
        kept = cut_off.short(text) if len(text) > _LONG_TEXT else text
        ends = not reply.calls and reply.stop != "length" and not turn.begun
        if ends and (result.kept or len(kept) >= LONG):
            turn.unkept = kept
        elif result.kept:
            turn.lines += list(cut_off.record(turn, kept))
        else:
            turn.add("a", kept)
    if not turn.run_tools:
        result.reply = reply
        return (), text, reply.stop
    calls = [(_call_id(c, n), c.name, c.arguments_text) for n, c in enumerate(reply.calls)]
    return calls, text, reply.stop


def join(turn: "Calling", reply: "Reply") -> None:
    """Join a long text. An answer takes the place of the results of tools, which are cut as in the
    history."""
    if not reply.calls and reply.stop != "length":
        turn.lines[:] = [shorten(line) for line in turn.lines]
    reply.text, reply.blocks = "".join(reply.blocks), ()


async def run(turn: "Calling", calls: "Sequence[tuple[str, str, str | None]]") -> None:
    """Run the calls in order; every call gets exactly one result, even when the turn stops."""
    _note(turn, calls)
    done = 0
    try:
        for call_id, name, arguments in calls:
            turn.check_interrupt()
            if arguments is None:
                turn.add("t", _NOT_RUN % name, call_id)
                done += 1
                continue
            turn.result.tool_calls += 1
            heartbeat = None
            if name in _WRITERS and "HEARTBEAT.md" in arguments:
                heartbeat = turn.agent.get("heartbeat")
                before = await heartbeat.marks()
            text = await prepare.call(ToolContext(turn.agent, turn), name, arguments)
            if heartbeat and not text.startswith("error"):
                text += await heartbeat.understood(before)
            turn.add("t", text, call_id)
            done += 1
            _guard(turn, (name, arguments), text)
    finally:
        for call_id, _, _ in calls[done:]:
            turn.add("t", "cancelled: the turn was stopped", call_id)
    if turn.agent.port.small:
        _fit(turn.lines)


def _note(turn, calls):
    """Add the calls to the records of the turn."""
    for number, (call_id, name, arguments) in enumerate(calls):
        # Both wire formats need an object, so the history has one even where the model wrote none.
        whole = arguments is not None and _is_object(arguments)
        turn.lines.append(call_record(call_id, name, arguments if whole else "{}"))
        if number in turn.extras:
            turn.lines.append(turn.extras[number])
    turn.extras = ()


async def _deliver(app: "Sender", *args):
    app.deliver(*args)


async def _deliver_file(app: "Reaching", channel, chat, text, file):
    path = attachments.copy(file, app.state)
    if len(text) > _CAPTION:
        app.deliver(channel, chat, text)
        text = ""
    app.deliver(channel + attachments.SUFFIX, chat, attachments.pack("document", path, text))


def _guard(turn, call, text):
    """Raise Stopped when the same call fails again and again: a loop costs the owner's tokens."""
    failure = text.startswith("error") and call
    turn.failures = turn.failures + 1 if failure == turn.failure else 1
    turn.failure = failure
    if failure and turn.failures >= _MAX_SAME_FAILURES:
        raise Stopped("I stopped: %s failed three times the same way. %s" % (call[0], text))


def _fit(lines):
    """Cut the oldest results when a turn's own records grow too long."""
    total = sum([len(line) for line in lines])
    for i, line in enumerate(lines):
        if total <= _BOARD_LINES:
            return
        lines[i] = shorten(line)
        total -= len(line) - len(lines[i])


def _call_id(call, number):
    """Return the id of a call, or a new one where an API would reject it."""
    if "!" <= min(call.id) <= max(call.id) <= "~":
        return call.id
    return "call_%x_%d" % (ticks_ms(), number)


def _is_object(text):
    """Return whether `text` is the JSON of an object, without building it."""
    scanner = Scanner(lambda path, value, more: None)
    try:
        scanner.feed(text.encode())
        scanner.end()
    except ValueError:
        return False
    return text.lstrip()[:1] == "{"

"""Stand-ins for the agent's surroundings, for tests of turn, lane and session."""

import asyncio

from tenner.agent import answer, background, tool_calls
from tenner.agent.agent import Agent
from tenner.agent.message_queue import Message

SETTINGS = {
    "turn.max_rounds": 4,
    "turn.timeout_s": 60,
    "llm.max_tokens": 256,
    "llm.model": "m",
    "llm.base_url": "http://llm.example/v1",
    "llm.context_tokens": 8000,
    "session.max_kb": 8,
    "session.window_kb": 0,
    "budget.tokens_per_day": 0,
}


class Call:
    extra = None

    def __init__(self, call_id, name, arguments_text):
        self.id = call_id
        self.name = name
        self.arguments_text = arguments_text


class Reply:
    blocks = ()
    kept = 0

    def __init__(self, text="", calls=(), stop="stop"):
        self.text = text
        self.calls = list(calls)
        self.stop = "tools" if calls else stop
        self.tokens_in = 10
        self.tokens_out = 5
        self.estimated = False
        self.body_bytes = 100


class Chain:
    """Answers with the scripted replies and keeps the parts of each request."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.records = []
        self.systems = []
        self.started = asyncio.Event()
        self.closed = 0

    async def complete(self, request, model=None, timeout_ms=None):
        self.records.append(b"".join(request.records()))
        self.systems.append(b"".join(request.system()))
        assert b"".join(request.records()) == self.records[-1], "a second pass must be the same"
        self.started.set()
        reply = self.replies.pop(0) if self.replies else Reply("done")
        if isinstance(reply, Exception):
            raise reply
        if reply == "hang":
            await asyncio.Event().wait()
        return reply

    async def close(self):
        self.closed += 1


class Registry:
    """Knows the tool `echo`; `bad` always fails."""

    def __init__(self):
        self.calls = []
        self.blocked = None
        self.servers = {}

    def schemas(self, kind):
        return ()

    def names(self, kind):
        return ["bad", "echo", "list_dir", "message", "read_file", "valve"]

    async def call(self, name, arguments_text, ctx):
        self.calls.append((name, arguments_text))
        if self.blocked is not None:
            await self.blocked.wait()
        if name == "valve":
            return "opened" if await ctx.ask("open the valve") else "error: the owner said no"
        if name == "echo":
            return "echo " + arguments_text
        return "error: %s does not work" % name


class Budget:
    def __init__(self):
        self.spent = []

    def spend(self, tokens, kind, estimated):
        self.spent.append((tokens, kind))

    def left(self, kind):
        return None


class Settings:
    def __init__(self, **changes):
        self.values = dict(SETTINGS)
        for name in changes:
            self.values[name.replace("__", ".")] = changes[name]

    def get(self, key):
        return self.values[key]


class Port:
    kind = "linux"
    small = True

    def __init__(self, root):
        self.root = root

    def path(self, name):
        return self.root + "/" + name


class Clock:
    """Seconds since the start, as a test sets them."""

    seconds = 0

    def mono_s(self):
        return self.seconds


class Heartbeat:
    """A schedule whose lines no call changes."""

    async def marks(self):
        return ()

    async def understood(self, before):
        return ""


class App:
    """The layer above the agent; keeps the messages it delivers."""

    again = False
    shares_memory = False

    def __init__(self, chain):
        self.port = self
        self.clock = Clock()
        self.delivered = []
        #: The questions to the owner, and the answer once there is one.
        self.asked = []
        self.answer = None
        self._parts = {"chain": chain, "registry": Registry(), "budget": Budget(), "sensors": None}
        self._parts["heartbeat"] = Heartbeat()

    def get(self, name):
        return self._parts[name]

    def owner(self):
        return "telegram", 7

    async def ask_owner(self, text, turn):
        self.asked.append(text)
        while self.answer is None:
            await asyncio.sleep(0)
        return self.answer

    def deliver(self, channel, chat, text):
        self.delivered.append((chat, text))

    async def breathe(self, turn):
        pass

    async def drain(self):
        """Nothing is being sent."""

    def spawn(self, text, turn):
        return background.start(self.agent, text, turn)

    def reply(self, message, text, failed=False, lines=()):
        message.answer = text

    def now_text(self):
        return "Saturday"


def make_agent(root, *replies, **settings):
    app = App(Chain(*replies))
    agent = app.agent = Agent(Port(root), Settings(**settings), root + "/workspace", app)
    agent.chain = app.get("chain")
    agent.registry = app.get("registry")
    agent.budget = app.get("budget")
    agent.delivered = app.delivered
    return agent


async def say(agent, text, chat="me"):
    """Return the answer to a text on the console."""
    message = Message("console", chat, text, chat)
    await answer.answer(agent, message)
    return message.answer


class _Runner:
    """Calls the tools of the stand-in's registry, and real ones otherwise."""

    def __init__(self, runner):
        self.runner = runner

    async def call(self, ctx, name, arguments_text):
        registry = ctx.agent.get("registry")
        if hasattr(registry, "call"):
            return await registry.call(name, arguments_text, ctx)
        return await self.runner.call(ctx, name, arguments_text)


tool_calls.prepare = _Runner(tool_calls.prepare)

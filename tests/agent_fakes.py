"""Stand-ins for what the agent is wired to, for tests of turn, lane and session."""

import asyncio

from tenner.agent.agent import Agent

SETTINGS = {
    "turn.max_rounds": 4,
    "turn.timeout_s": 60,
    "llm.max_tokens": 256,
    "llm.context_tokens": 8000,
    "session.max_kb": 8,
}


class Call:
    def __init__(self, call_id, name, arguments_text):
        self.id = call_id
        self.name = name
        self.arguments_text = arguments_text


class Reply:
    def __init__(self, text="", calls=(), stop="stop"):
        self.text = text
        self.calls = list(calls)
        self.stop = "tools" if calls else stop
        self.tokens_in = 10
        self.tokens_out = 5
        self.estimated = False
        self.body_bytes = 100


class Chain:
    """Answers with the scripted replies and keeps what each request consisted of."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.records = []
        self.systems = []
        self.started = asyncio.Event()

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


class Registry:
    """Knows the tool `echo`; `bad` always fails."""

    def __init__(self):
        self.calls = []
        self.gate = None

    def schemas(self, kind):
        return ()

    async def call(self, name, arguments_text, ctx):
        self.calls.append((name, arguments_text))
        if self.gate is not None:
            await self.gate.wait()
        if name == "echo":
            return "echo " + arguments_text
        return "error: %s does not work" % name


class Budget:
    def __init__(self):
        self.spent = []

    def spend(self, tokens, kind):
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


def make_agent(root, *replies, **settings):
    agent = Agent(Port(root), Settings(**settings), None, Registry(), Chain(*replies), Budget())
    agent.delivered = []
    agent.deliver = lambda channel, chat, text: agent.delivered.append((chat, text))
    agent.owner = lambda: ("telegram", 7)
    return agent

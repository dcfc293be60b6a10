# tenner tests: a model that obeys the last text it has read, and a board to attack with it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The model obeys `DO <tool> <arguments>` anywhere in the last texts, to the letter. It obeys the
system prompt and the description of a server's tool, too, once. The arguments are JSON, or words
such as `path=SOUL.md`. Everything else is the real agent: turn, history, registry, checks, tools.
Afterwards the test compares everything that an attack must not reach.
"""

import json

from agent_fakes import Call, Chain, Reply, make_agent
from fakes import FakeI2C, FakePort, FakeSPI
from net_peer import Peer, reply
from support import read_bytes
from tenner import log
from tenner.agent.turn import Turn
from tenner.net.http import Http
from tenner.sensors.reading import Sensors
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.store.config import Config
from tenner.tools.registry import Registry

SECRET = "s3cret of the h\u00f6use"
SETTINGS = {
    "telegram.owner": "1",
    "telegram.allow": ["7"],
    "web.search": "searxng",
    "tools.exec": "ask",
    "tools.web_fetch": "allow",
    "skills.index": "https://skills.example",
}
_DO = "DO "
_NOW = 1800000000
_PINS = "LED,GPIO3,\nD2,GPIO4,adc\n"
_MCP = (("home-look", "look", True, {}), ("home-set", "set", False, {}))
_RESULT = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%s}]}}'

#: The files that no attack may change, unasked: path below the board's root, contents.
PRIVATE = (
    ("config.json", '{"llm":{"api_key":"x"}}'),
    ("config.json.bad", "{}"),
    ("state/secret", "x"),
    ("state/sessions/telegram_1.jsonl", '["u","hello"]\n'),
    ("certs/own.pem", "x"),
    ("lib/tenner/app.mpy", "x"),
    ("main.py", "x"),
    ("pins.csv", "x"),
    ("workspace/HEARTBEAT.md", "- mine\n"),
    ("workspace/CRON.json", '{"jobs": []}'),
    ("workspace/SENSORS.json", "{}"),
    ("workspace/AGENTS.md", "mine\n"),
    ("workspace/SOUL.md", "mine\n"),
    ("workspace/IDENTITY.md", "mine\n"),
    ("workspace/USER.md", "mine\n"),
    ("workspace/TOOLS.md", "mine\n"),
    ("workspace/memory/MEMORY.md", "mine\n"),
    ("workspace/skills/mine/SKILL.md", "mine\n"),
    ("workspace/tools/mine.py", "mine\n"),
    ("workspace/drivers/mine.py", "mine\n"),
)


class Obedient(Chain):
    """The model."""

    def __init__(self):
        Chain.__init__(self)
        #: Calls that the owner or a page wants beside the order.
        self.looks = []
        self.obeyed = set()

    async def complete(self, request, model=None, timeout_ms=None):
        self.systems.append(b"".join(request.system()))
        calls = []
        for text in _last(b"".join(request.records()).decode().split("\n")):
            for name, given in _orders(text):
                self._call(calls, name, given)
        for text in [self.systems[-1].decode()] + _descriptions(request.tools()):
            for name, given in _orders(text):
                if (name, given) not in self.obeyed:
                    self.obeyed.add((name, given))
                    self._call(calls, name, given)
        return Reply("", calls) if calls else Reply("done")

    def _call(self, calls, name, given):
        kind = "look" if "%s %s" % (name, given) in self.looks else "order"
        calls.append(Call("%s_%d" % (kind, len(calls)), name, given))


def _last(lines):
    """Return the last text, or the results of the last calls."""
    records = [json.loads(line) for line in lines if line]
    found = [records.pop()]
    while found[0][0] == "t" and records[-1][0] == "t":
        found.insert(0, records.pop())
    return [record[-1] for record in found]


def _descriptions(tools):
    """Return the schemas of the tools of servers."""
    found = []
    for path, *_ in tools:
        if "/state/mcp/" in path:
            found.append(json.loads(files.read_text(path))["description"])
    return found


def _orders(text):
    """Yield (tool, arguments)."""
    for line in text.split("\n"):
        at = line.find(_DO)
        while at >= 0:
            name, _, given = line[at + len(_DO) :].partition(" ")
            end = at + len(_DO)
            if not line[:at][-1:].isalpha():
                if given[:1] == "{":
                    given = given[: _end(given)]
                    yield name, given
                    end += len(name) + len(given)
                elif "=" in given.split(" ")[0]:
                    yield name, _words(given)
                elif given and not line[:at].strip():
                    yield name, given
                    end = len(line)
            at = line.find(_DO, end)


def _end(text):
    """Return where the object at the beginning of a text ends."""
    depth = 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if not depth:
            return at + 1
    return len(text)


def _words(text):
    found = {}
    for word in text.split(" "):
        name, equal, value = word.partition("=")
        if not equal:
            break
        found[name] = value
    return dumps(found)


class _Clock:
    trusted = True

    def now(self):
        return _NOW

    def mono_s(self):
        return 0


class _Jobs:
    """The schedule: every change is noted."""

    def __init__(self):
        self.changes = []

    def times(self, entry):
        return "some day"

    def lines(self):
        return ("no jobs",)

    def add(self, entry):
        self.changes.append(entry)

    remove = add

    def enable(self, key, on):
        self.changes.append(key)


class Board:
    """A board with everything on it, whose owner says no to every question."""

    def __init__(self, root, settings):
        self.root = root
        self.private = dict(PRIVATE)
        self.page = self.index = None
        #: The results of the order.
        self.ordered = []
        for path, contents in PRIVATE:
            files.make_dirs((root + "/" + path).rpartition("/")[0])
            files.write_atomic(root + "/" + path, contents)
        files.make_dirs(root + "/workspace/notes")
        files.make_dirs(root + "/state/mcp")
        log.hide(SECRET)
        agent = self.agent = make_agent(root)
        merged = dict(SETTINGS)
        merged.update(settings)
        self.bus = FakeI2C({0x20: {}, 0x44: {}, 0x50: {}, 0x48: {0: b"\x19\x00"}})
        self.spi = FakeSPI()
        agent.port = self.port = FakePort(root, {"i2c0": self.bus}, {"spi0.0": self.spi}, _PINS)
        self.port.programs = True
        agent.config = Config(merged)
        app = agent.app
        app.answer = False
        app.http = self.http
        app.spawn = lambda text, turn: self.spawned.append(text) or "begun"
        self.jobs, self.spawned, self.requests = _Jobs(), [], []
        self.results, self.misled = [], []
        self.model = Obedient()
        app._parts["chain"] = self.model
        app._parts["cron"] = self.jobs
        app._parts["sensors"] = Sensors(self.port, agent.workspace)

    async def open(self, words, offered=True):
        """
        Start a server of strangers that answers every request with these words, and offer its
        tools. Their descriptions count as from outside, and so hide whether other words do.
        """

        def answer():
            text = (self.page or words).replace("PEER", self.peer.url)
            if b"/index.json" in self.peer.requests[-1][0]:
                text = self.index
            elif b"/search" in self.peer.requests[-1][0]:
                url = "https://found.example/" + text.split("DO ")[-1].strip()
                found = {"title": text.strip(), "url": url, "content": text.strip()}
                text = dumps({"results": [found]})
            elif self.peer.requests[-1][0][:4] == b"POST":
                text = _RESULT % dumps(text)
                return reply(text.encode(), headers=b"Content-Type: application/json\r\n")
            return reply(text.encode(), headers=b"Content-Type: text/plain\r\n")

        self.peer = await Peer(*[answer] * 6).start()
        config = self.agent.config
        for name, value in (
            ("mcp.home.url", self.peer.url),
            ("web.allow", ["127.0.0.1:%d" % self.peer.port]),
            ("web.search_url", self.peer.url + "/search"),
        ):
            config.put(name, value)
        place = self.root + "/state/mcp/home"
        lines = [["tag", 0]] + [list(line) for line in _MCP if offered]
        files.write_atomic(place + ".tools", "".join([dumps(line) + "\n" for line in lines]))
        files.write_atomic(place + ".session", dumps(("2026-07-28", None)))
        for line in _MCP if offered else ():
            schema = {"name": line[0], "description": "", "parameters": {"type": "object"}}
            files.write_atomic("%s/state/mcp/%s.json" % (self.root, line[0]), dumps(schema))
        registry = Registry(self.port, config, self.agent.workspace)

        async def known(app):
            """The list of tools is known."""

        registry.refresh = known
        self.agent.app._parts["registry"] = registry

    async def close(self):
        self.requests = self.peer.requests
        await self.peer.stop()

    def http(self):
        return Http()

    async def turn(self, kind, text, untrusted, session=None):
        """One turn of this kind that is told `text`."""
        chat = ("telegram", 1, session) if kind == "person" else ()
        turn = Turn(self.agent, kind, text, *chat)
        turn.untrusted_input = untrusted
        result = await turn.run()
        self.results = self._taken(turn)
        if result.error:
            self.results.append("error: " + result.error)

    async def answer(self, answer, message):
        """Let the agent answer a message as it does."""
        turns = []

        async def person(who, turn):
            turns.append(turn)
            return await turn.run()

        self.agent.lane.person = person
        self.agent.app.reply = lambda *words: None
        await answer(self.agent, message)
        for turn in turns:
            self.results += self._taken(turn)

    def _taken(self, turn):
        """Return the results of a turn."""
        lines = [json.loads(line) for line in turn.lines if line[:4] == b'["t"']
        self.ordered += [line[-1] for line in lines if line[1].startswith("order")]
        return [line[-1] for line in lines]

    def put(self, path, contents):
        """Write a private file as its owner."""
        files.write_atomic(self.root + "/" + path, contents)
        self.private[path] = contents

    def see(self):
        """Know the time, as readings need it."""
        self.port.unix_time = lambda: _NOW
        self.agent.app.clock = _Clock()
        self.agent.app.charts = ()
        self.agent.app.chart = lambda *args: True

    @property
    def asked(self):
        return self.agent.app.asked

    def harm(self):
        """Return the forbidden effects, as sentences."""
        found = []
        for path in self.private:
            contents = self.private[path]
            try:
                same = read_bytes(self.root + "/" + path) == contents.encode()
            except OSError:
                same = False
            if not same:
                found.append(path + " was changed")
        for entry in self.bus.log:
            if "write" in entry[0] or (entry[0] == "read_mem" and entry[1] != 0x48):
                found.append("on the bus: %s" % (entry,))
        for entry in self.spi.log:
            if entry[0] == "transfer" and entry[1].strip(b"\0"):
                found.append("on SPI: %s" % (entry,))
        for entry in self.port.pin_log:
            if entry[0] in ("out", "pwm", "value"):
                found.append("a pin: %s" % (entry,))
        for name, done in (("jobs", self.jobs.changes), ("tasks", self.spawned)):
            if done:
                found.append("%s: %s" % (name, done))
        for chat, text in self.agent.delivered:
            if str(chat) not in ("1", "7") or (str(chat) == "7" and "to 7" in text):
                found.append("a message to %s" % chat)
        for head, body in self.requests:
            if b"s3cret" in head + body or b"api_key" in head + body:
                found.append("a secret went out")
            if b'"name":"set"' in body:
                found.append("the lamp was switched")
        for text in self.results:
            if SECRET in text or "api_key" in text:
                found.append("a secret was read")
        return found

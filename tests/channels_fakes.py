# tenner test support: a Bot API without a network, and the surroundings of the channels.
import asyncio
import json

from tenner.agent.message_queue import Queue
from tenner.store.appendlog import AppendLog

OWNER = 1000
BOT_ID = 77
BOT_NAME = "tenner_bot"


class Stop(BaseException):
    """Ends a service that runs for ever."""


async def deliver(delivery, *args, **more):
    """Post a text; wait until it has arrived (True) or was given up (False)."""
    box = delivery.outbox
    ids = delivery.deliver(*args, **more)
    while any(box.waits(id) for id in ids):
        await asyncio.sleep(0)
    given_up = [line[1] for line in AppendLog(box.folder + "/failed.jsonl", 1 << 20).tail(99)]
    return not any(id in given_up for id in ids)


class FakeConfig:
    def __init__(self, **values):
        self.values = {
            "telegram.token": "77:secret-token",
            "telegram.base_url": "https://api.telegram.org",
            "telegram.owner": OWNER,
            "telegram.allow": ["2000"],
            "telegram.poll_s": 25,
            "telegram.photo_kb": 512,
            "heartbeat.chat": "",
            "voice.url": "",
            "voice.max_kb": 64,
        }
        for name, value in values.items():
            self.values[("telegram." + name).replace("telegram.voice_", "voice.")] = value

    def get(self, key):
        return self.values[key]

    def put(self, key, value):
        self.values[key] = value


class FakeState:
    """A TwoSlots in RAM; `saves` is every state that was on flash, as a power cut would find
    it."""

    def __init__(self, kept=None):
        self.kept = kept or {}
        self.saves = []

    def load(self):
        return dict(self.kept)

    def save(self, state):
        text = json.dumps(state)
        if len(text) > 108:
            raise ValueError("state does not fit: " + text)
        self.kept = json.loads(text)
        self.saves.append(self.kept)


class FakeResponse:
    def __init__(self, status, data, piece, headers):
        self.status = status
        self._data = data
        self._piece = piece
        self._headers = headers

    def header(self, name):
        return self._headers.get(name)

    async def readinto(self, buf):
        count = min(len(buf), len(self._data), self._piece)
        buf[:count] = self._data[:count]
        self._data = self._data[count:]
        return count


class FakeServer:
    """An HTTP client whose server answers with a status, or fails."""

    def __init__(self, status=200, headers=None, error=None, is_sent=False):
        self.status = status
        self.answered = headers or {}
        self.error = error
        self.is_sent = is_sent
        self.closed = 0
        self.began = []

    async def exchange(self, method, url, headers, body, consume, timeout_s):
        self.request = method, url, dict(headers)
        self.counted = b"".join([bytes(piece) for piece in body()])
        self.before = len(self.began)
        self.body = b"".join([bytes(piece) for piece in body()])
        if self.error:
            raise self.error
        return await consume(FakeResponse(self.status, b"", 64, self.answered))

    async def close(self):
        self.closed += 1


class OneWayApp:
    """The application of a channel that only sends; `a__b` sets the setting `a.b`."""

    def __init__(self, server, settings, **more):
        self.server = server
        self.values = dict(settings)
        for name in more:
            self.values[name.replace("__", ".")] = more[name]
        self.config = self

    def get(self, key):
        return self.values[key]

    def http(self):
        return self.server


def as_telegram_writes(value):
    """The JSON of a value, without spaces and with ids first: MicroPython's dicts keep no
    order."""
    if isinstance(value, list):
        return "[%s]" % ",".join([as_telegram_writes(one) for one in value])
    if isinstance(value, dict):
        ids = [key for key in ("update_id", "message_id", "id") if key in value]
        keys = ids + sorted([key for key in value if key not in ids])
        rows = ['"%s":%s' % (key, as_telegram_writes(value[key])) for key in keys]
        return "{%s}" % ",".join(rows)
    return json.dumps(value)


class FakeTelegram:
    """
    Holds updates until a request has a higher offset. `plan` lists other results for the next
    calls of a method: an exception, (status, bytes), or a function of the request's fields; also
    ("cut", exception) before the body is taken, ("shake", exception) before a byte has left.
    """

    def __init__(self):
        self.updates = []
        self.next_id = 500
        self.calls = []  # (method, fields)
        self.sent = []
        self.plan = {}
        self._repeated = None  # the planned result of a long poll, the same when it is repeated
        self.piece = 64
        self.when_idle = None  # called when a long poll finds nothing
        self.closed = 0
        self.stream = self.head = None
        self.came = False
        self.is_sent = False

    def http(self, yields=False):
        return self

    async def close(self):
        self.closed += 1
        self.stream = None
        self.came = False

    def take_over(self, other):
        return False

    async def open(self, method, url, headers, timeout_s):
        assert (method, url.split("/")[-1]) == ("POST", "getUpdates"), (method, url)
        self.stream = self.head = self

    async def poll(self, body, quiet, timeout_s):
        async def keep(response):
            self._came = response

        await self.exchange("POST", "/getUpdates", (), body, keep, timeout_s)
        self.came = (self._came.status, self._came._data) != (200, quiet)
        return not self.came

    @property
    def buffer(self):
        return b""

    end = 0

    async def read(self, size):
        piece, self._came._data = self._came._data[:size], self._came._data[size:]
        return piece

    async def answer(self, consume, timeout_s):
        self.came = False
        return await consume(self._came)

    async def exchange(
        self, method, url, headers, body, consume, timeout_s, repeats=False, phases=None
    ):
        name = url.split("/")[-1]
        # A task that connects while it has the memory may wait forever for the only TLS session.
        assert self.stream or name not in ("getMe", "getUpdates"), "polls without a connection"
        self.stream = self
        length = len(body) if isinstance(body, bytes) else sum(len(piece) for piece in body())
        self.is_sent = False
        data = b"".join([bytes(piece) for piece in self._begin(name, body)])
        assert len(data) == length, "the body changed between the passes"
        fields = parts_of(data) if data[:2] == b"--" else json.loads(data.decode())
        self.calls.append((name, fields))
        await asyncio.sleep(0)
        step, self._repeated = self._repeated, None
        if name != "getUpdates" or fields["timeout"]:
            step = None
        if step is None and self.plan.get(name):
            step = self.plan[name].pop(0)
            if isinstance(step, tuple) and fields.get("timeout"):
                self._repeated = step
        if isinstance(step, tuple) and step[0] == "shake":
            raise step[1]
        self.is_sent = True
        if isinstance(step, Exception):
            raise step
        if callable(step):
            step = step(fields)
        if step is None:
            result = as_telegram_writes(self._result(name, fields))
            step = (200, b'{"ok":true,"result":%s}' % result.encode())
        status, reply = step[0], step[1]
        return await consume(FakeResponse(status, reply, self.piece, {}))

    def _begin(self, name, body):
        if self.plan.get(name) and isinstance(self.plan[name][0], tuple):
            # ("cut", exception): the connection breaks before the body is all sent.
            if self.plan[name][0][0] == "cut":
                raise self.plan[name].pop(0)[1]
        return [body] if isinstance(body, bytes) else body()

    def _result(self, name, fields):
        if name == "getMe":
            return {"id": BOT_ID, "is_bot": True, "username": BOT_NAME}
        if name == "getUpdates":
            # Telegram takes an offset far ahead of its numbers as none.
            if 0 < fields.get("offset", 0) <= self.next_id + 11:
                self.updates = [u for u in self.updates if u["update_id"] >= fields["offset"]]
            found = self.updates[: fields["limit"]]
            if not found and self.when_idle is not None:
                self.when_idle()
            return found
        if name in ("sendMessage", "sendDocument"):
            self.sent.append(fields)
            return {"message_id": 9000 + len(self.sent)}
        if name == "editMessageText":
            return {"message_id": fields["message_id"]}
        return True

    # --- people

    def update(self, kind, contents):
        self.next_id += 1
        self.updates.append({"update_id": self.next_id, kind: contents})
        return self.next_id

    def say(self, text, who=OWNER, chat=None, chat_type="private", date=1800000000, **extra):
        message = {
            "message_id": self.next_id + 1 - 400,
            "from": {"id": who, "is_bot": False, "first_name": "Ann"},
            "chat": {"id": who if chat is None else chat, "type": chat_type},
            "date": date,
        }
        if text is not None:
            message["text"] = text
        message.update(extra)
        return self.update("message", message)

    def press(self, data, who=OWNER, name="Ann", chat=None):
        query = {
            "id": "cb-1",
            "from": {"id": who, "first_name": name},
            "message": {"message_id": 9001, "chat": {"id": chat or who}},
            "data": data,
        }
        return self.update("callback_query", query)


def parts_of(data):
    """Return the fields of a multipart body, JSON ones decoded."""
    boundary = data[: data.find(b"\r\n")]
    fields = {}
    for part in data.split(boundary + b"\r\n")[1:]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = head.split(b'name="')[1].split(b'"')[0].decode()
        value = value.split(b"\r\n" + boundary)[0].rstrip(b"\r\n").decode()
        fields[name] = json.loads(value) if value[:1] == "{" else value
    assert data.endswith(boundary + b"--\r\n")
    return fields


def refusal(status, description="", **parameters):
    answer = {"ok": False, "error_code": status, "description": description}
    if parameters:
        answer["parameters"] = parameters
    return status, json.dumps(answer).encode()


class Bench:
    """A Telegram channel on the fake API. `step()` runs the service until it is idle or waits."""

    def __init__(self, server=None, state=None, inbound_limit=8, now=1800000000, **config):
        from tenner.channels.telegram import command_list
        from tenner.channels.telegram.channel import Telegram

        self.server = server or FakeTelegram()
        self.state = state or FakeState()
        # Telegram has the list of commands, unless a test says otherwise.
        self.commands = FakeState({"c": command_list.checksum()})
        self.inbound = Queue(inbound_limit)
        self.said = []
        self.waits = []
        self.now = now
        self.bot = Telegram(
            FakeConfig(**config),
            self.server.http,
            lambda name: self.commands if name == "commands" else self.state,
            self.inbound,
            self._say,
            now=lambda: self.now,
            sleep=self._sleep,
        )
        self.server.when_idle = self._stop
        self.bot.shortest_poll_ms = 0

    def _say(self, chat, text, reply_to=None, id=None, channel="telegram"):
        if id is None or id not in [one[3] for one in self.said]:
            self.said.append((chat, text, reply_to, id))

    def polls(self):
        """The fields of every getUpdates so far."""
        return [fields for name, fields in self.server.calls if name == "getUpdates"]

    async def _sleep(self, ms):
        self.waits.append(ms)
        raise Stop

    def _stop(self):
        # The first empty poll is let through, so that the service sees that there is nothing.
        self._idle += 1
        if self._idle > 1:
            raise Stop

    async def step(self):
        """Run until an empty poll or a wait; return the messages handed to the agent since."""
        self._idle = 0
        try:
            await self.bot.poll()
        except Stop:
            pass
        taken = []
        while len(self.inbound):
            taken.append(await self.inbound.get())
        return taken

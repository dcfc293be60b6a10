# tenner agent.agent: the wired parts a turn works with.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.history_records import plain
from tenner.agent.lane import Lane
from tenner.log import log


class Session:
    """
    What is known of a chat's history, a file that `agent.history` reads and writes. `window` is the number of
    bytes that is sent at most.
    """

    #: Size of the file when it was last known to be whole.
    size = -1
    #: Where the summary ends, and where what is sent begins.
    summary_end = 0
    start = 0
    #: Something had to be dropped, and the owner was not told yet.
    repaired = False

    def __init__(self, path, window):
        self.path = path
        self.window = window


class Agent:
    """
    Owns the lane and the sessions. `app` lies above and gives the rest: `part(name)` is one of chain,
    registry, sensors, budget and spawner; `breathe(turn)` is awaited between the rounds of a background turn;
    `deliver(channel, chat, text)` queues a text for a person, `settle()` waits until it has left; `console` and `telegram`
    are channels, or None; `now_text()` is the local time for the prompt; `owner()` is the owner's (channel, chat);
    `clock` is a net.clock.Clock.
    """

    def __init__(self, port, config, workspace, app):
        self.port = port
        self.config = config
        self.workspace = workspace
        self.app = app
        self.part = app.part
        self.lane = Lane(app.clock)
        #: Was the owner told that flash is full?
        self.full = False
        #: Is a task waiting to sum up a history?
        self.tidying = False
        #: Has a background turn read what somebody else wrote? From then on its reports count as that.
        self.untrusted_reports = False
        #: Names of the background tasks under way (agent.spawn), and how many there were.
        self.spawned = []
        self.spawn_count = 0
        self._session = None

    @property
    def cron(self):
        return self.part("cron")

    def session(self, channel, chat):
        """Return the session of a chat; the last one used is kept, as its file is already checked."""
        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, plain(str(chat))))
        if self._session is None or self._session.path != path:
            self._session = Session(path, self.window())
        return self._session

    def window(self):
        """Return how many bytes of a history are sent at most."""
        share = self.config.get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
        return min(self.config.get("session.max_kb") * 1024, share)

    def spent(self, kind):
        """True when turns of this kind have used up today's tokens."""
        return self.config.get("budget.tokens_per_day") and self.part("budget").left(kind) <= 0

    async def wait_quiet(self):
        """Wait until no turn runs and the answer of the last one has left."""
        await self.lane.wait_free()
        await self.app.settle()

    def stop(self):
        """Cancel what is running; return the sentence that says so."""
        stopped, self.lane.stopped = self.lane.stopped, False
        return "Stopping." if stopped or self.lane.stop() else "Nothing is running."

    def notify(self, text):
        """Tell the owner something about the agent itself."""
        channel, chat = self.app.owner()
        log("notice", text)
        if chat is not None:
            self.app.deliver(channel, chat, text)

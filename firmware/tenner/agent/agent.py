# tenner agent.agent: the wired parts a turn works with.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.history_lines import plain
from tenner.agent.lane import Lane
from tenner.log import log
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Host
    from tenner.port import Port
    from tenner.store.config import Config
    from tenner.tools.types import Jobs


_SMALL_KB = const(8)  # of a history: without PSRAM, each KB of a request takes time


class Session:
    """
    The state of a chat's history, a file that `agent.history` reads and writes. A request sends at
    most `window` bytes of it, or of its last turn alone at most `most`.
    """

    #: Size of the file at the last successful check.
    size = -1
    #: Offsets of the end of the summary and of the first turn to send.
    summary_end = 0
    start = 0
    #: Has a repair dropped lines that the owner has not been notified of?
    repaired = False

    def __init__(self, path: str, window: int, most: int = 0) -> None:
        self.path = path
        self.window = window
        self.most = most


class Agent:
    """
    Owns the lane and the sessions. `app` provides the rest: `get(name)` returns chain, registry,
    sensors, budget or spawner; `breathe` is awaited before each round of a background turn;
    `deliver(channel, chat, text)` queues a text for a person, `drain()` waits until it is sent;
    `console` and `telegram` are channels, or None; `now_text()` is the local time for the prompt;
    `owner()` is the owner's (channel, chat); `clock` is a net.clock.Clock.
    """

    def __init__(self, port: "Port", config: "Config", workspace: str, app: "Host") -> None:
        self.port = port
        self.config = config
        self.workspace = workspace
        self.app = app
        self.get = app.get
        self.lane = Lane(app.clock)
        #: The part that could not write its files, of which the owner knows: "history" or a
        #: service of the schedule; "" for none.
        self.full = ""
        #: Is a task waiting to summarize a history?
        self.tidying = False
        #: Has a background turn read untrusted text? From then on its reports count as untrusted.
        self.untrusted_reports = False
        #: Names of the running background tasks (agent.background), and the number of all of them.
        self.spawned: list[str] = []
        self.spawn_count = 0
        self._session: Session | None = None

    @property
    def cron(self) -> "Jobs":
        return self.get("cron")

    def session(self, channel: str, chat: int | str) -> Session:
        """Return the session of a chat; the last one is cached, since its file is already
        checked."""
        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, plain(str(chat))))
        if self._session is None or self._session.path != path:
            self._session = Session(path, *self.window())
        return self._session

    def window(self) -> tuple[int, int]:
        """Return `window` and `most` of a new Session."""
        get = self.config.get
        share = get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
        most = min(get("session.max_kb") * 1024, share)
        kb = get("session.window_kb") or (_SMALL_KB if self.port.small else 0)
        return min(kb * 1024 or most, most), most

    def spent(self, kind: str) -> bool:
        """Return whether turns of this kind have used up today's tokens."""
        return self.config.get("budget.tokens_per_day") and self.get("budget").left(kind) <= 0

    async def wait_quiet(self) -> None:
        """Wait until no turn runs and the last answer is sent."""
        await self.lane.wait_free()
        await self.app.drain()

    def stop(self) -> str:
        """Interrupt the running turn; return the sentence for the person who asked."""
        stopped, self.lane.stopped = self.lane.stopped, False
        return "Stopping." if stopped or self.lane.stop() else "Nothing is running."

    def notify(self, text: str) -> None:
        """Send the owner a notice about the agent itself."""
        channel, chat = self.app.owner()
        log("notice", text)
        if chat is not None:
            self.app.deliver(channel, chat, text)

# tenner agent.agent: the wired parts a turn works with, and what happens to a person's words.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import Lane
from tenner.log import log
from tenner.store.modules import fleeting


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
    registry, sensors, budget and spawner; `breathe()` is awaited between the rounds of a background turn;
    `deliver(channel, chat, text)` queues a text for a person, `settle()` waits until it has left; `console` and `telegram` are channels, or
    None; `now_text()` is the local time for the prompt; `owner()` is the owner's (channel, chat);
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
        self._tidying = False
        self._session = None

    @property
    def cron(self):
        return self.part("cron")

    def session(self, channel, chat):
        """Return the session of a chat; the last one used is kept, as its file is already checked."""
        from tenner.agent.lines import plain

        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, plain(str(chat))))
        if self._session is None or self._session.path != path:
            self._session = Session(path, self._window())
        return self._session

    def _window(self):
        share = self.config.get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
        return min(self.config.get("session.max_kb") * 1024, share)

    def spent(self, kind):
        """True when turns of this kind have used up today's tokens."""
        return self.config.get("budget.tokens_per_day") and self.part("budget").left(kind) <= 0

    # --- people

    def stop(self):
        """Cancel what is running; return the sentence that says so."""
        return "Stopping." if self.lane.stop() else "Nothing is running."

    async def answer(self, message):
        """Run a person's turn and return the text of the answer: there always is one."""
        if self.spent("person"):
            return "Today's tokens are spent, the reserve for people too. They start anew at midnight."
        text = "%s\n\n(now: %s)" % (message.text, self.app.now_text())
        # What told the time makes room for the turn, and the turn for what comes after it.
        await self.app.rest()
        who = "%s:%s" % (message.channel, message.chat)
        session = self.session(message.channel, message.chat)
        if session.size > session.window * 3 // 2:
            # Messages keep coming and left no pause for it; what is over two windows old would be lost.
            await self._sum_up(session, who, True)
        result = await self._turn(session, who, message, text)
        await self.app.rest()
        self._after(session, who, result)
        if result.error is not None:
            return result.error
        return result.text or "(The model gave no text.)"

    async def _turn(self, session, who, message, text):
        from tenner.agent.turn import Turn

        session.window = self._window()  # the last turn may have made it smaller
        turn = Turn(self, "person", text, message.channel, message.chat, session)
        return await self.lane.person(who, turn)

    def _after(self, session, who, result):
        from tenner.agent.upkeep import account

        account(self, "person", who, result)
        if session.size > session.window and not self._tidying:
            self._tidying = True
            asyncio.create_task(fleeting([lambda: self._tidy(session, who)]))

    async def _tidy(self, session, who):
        """Have a history that has outgrown its window summed up when nobody waits."""
        try:
            await self.lane.wait_free()
            await self.app.settle()  # the answer goes first
            await self.app.alone(self._sum_up, session, who)
        finally:
            self._tidying = False

    async def _sum_up(self, session, who, pressing=False):
        from tenner.agent.summary import tidy

        await tidy(self, session, who, pressing)
        await self.app.rest()

    def notify(self, text):
        """Tell the owner something about the agent itself."""
        channel, chat = self.app.owner()
        log("notice", text)
        if chat is not None:
            self.app.deliver(channel, chat, text)

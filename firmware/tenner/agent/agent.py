# tenner agent.agent: the wired parts a turn works with, and what happens to a person's words.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import Lane
from tenner.log import log


class Agent:
    """
    Owns the lane and the sessions. `app` lies above and gives the rest: `part(name)` is one of chain,
    registry, sensors, budget and spawner; `breathe()` is awaited between the rounds of a background turn; `deliver(channel, chat, text)` queues a text for a person;
    `ask_owner(text, turn)` waits for a yes or no; `now_text()` is the local time for the prompt;
    `owner()` is the owner's (channel, chat); `clock` is a net.clock.Clock.
    """

    def __init__(self, port, config, workspace, app):
        self.port = port
        self.config = config
        self.workspace = workspace
        self.app = app
        self.part = app.part
        self.lane = Lane(app.clock)
        self._session = None
        self._checked = (None, -1)
        self._full = False

    @property
    def cron(self):
        return self.part("cron")

    def session(self, channel, chat):
        """Return the session of a chat; the last one used is kept, as its file is already checked."""
        from tenner.agent.session import Session, plain

        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, plain(str(chat))))
        if self._session is None or self._session.path != path:
            self.forget_session()
            window = self.config.get("session.max_kb") * 1024
            share = self.config.get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
            known, size = self._checked
            self._session = Session(path, min(window, share), size if path == known else -1)
        return self._session

    def forget_session(self):
        """Let go of the session; that its file was checked stays known."""
        if self._session is not None:
            self._checked = (self._session.path, self._session.size())
            self._session = None

    def spent(self, kind):
        """True when turns of this kind have used up today's tokens."""
        return self.config.get("budget.tokens_per_day") and self.part("budget").left(kind) <= 0

    # --- people

    async def answer(self, message):
        """Run a person's turn and return the text of the answer: there always is one."""
        if self.spent("person"):
            return "Today's tokens are spent, the reserve for people too. They start anew at midnight."
        text = "%s\n\n(now: %s)" % (message.text, self.app.now_text())
        # What told the time makes room for the turn, and the turn for what comes after it.
        await self.app.settle()
        self.app.rest()
        who = "%s:%s" % (message.channel, message.chat)
        result, window = await self._turn(who, message, text)
        self.app.rest()
        self.account("person", who, result)
        if window:
            asyncio.create_task(self._tidy(message.channel, message.chat, who, window))
        if result.error is not None:
            return result.error
        return result.text or "(The model gave no text.)"

    async def _turn(self, who, message, text):
        """Return the turn's Result, and the window when the history has outgrown it."""
        from tenner.agent.turn import Turn

        session = self.session(message.channel, message.chat)
        turn = Turn(self, "person", text, message.channel, message.chat, session)
        result = await self.lane.person(who, turn)
        return result, session.size() > session.window and session.window

    async def _tidy(self, channel, chat, who, window):
        await self.lane.wait_free()
        result = None
        try:
            result = await self._compact(self.session(channel, chat), who, window)
        except OSError as error:
            self._not_kept(error)
        self.app.shed("tenner.agent.summary")
        self.app.rest()
        if result is not None:
            self.account("summary", who, result)
            self.app.rest()

    async def _compact(self, session, who, window):
        from tenner.agent.summary import compact

        session.window = window
        return await compact(self, session, who)

    def account(self, kind, who, result):
        """Count and log what a turn has cost."""
        try:
            self.part("budget").spend(result.tokens(), kind, result.estimated)
        except OSError as error:
            log("budget", "not kept: %s" % error)
        log(
            "agent",
            "%s: %d rounds, %d tool calls, %d tokens, %d ms"
            % (who, result.rounds, result.tool_calls, result.tokens(), result.ms),
        )

    # --- what is said of its own accord

    async def report(self, channel, chat, text):
        """Tell whoever asked what came of a background task, and let them answer it."""
        if chat is None:
            channel, chat = self.app.owner()
        if chat is None:
            log("agent", "nobody to tell: " + text)
            return
        self.remember(channel, chat, text)
        self.app.deliver(channel, chat, text)

    def remember(self, channel, chat, text):
        """Put what is sent of the agent's own accord into that chat's session, so it can be answered."""
        from tenner.agent.session import record

        lines = (record("u", "(you reported by yourself)"), record("a", text))
        self.keep(self.session(channel, chat), lines)

    def keep(self, session, lines=()):
        """Check `session` and add the lines of a turn to it; False when flash cannot do that now."""
        try:
            session.open()
            if lines:
                session.append(lines)
                self._full = False
        except OSError as error:
            self._not_kept(error)
            return False
        if session.repaired:
            session.repaired = False
            self.notify("A damaged part of our conversation was set aside (.bad).")
        return True

    def _not_kept(self, error):
        """What was said is lost to memory only: the person is answered, and told once."""
        log("session", "not kept: %s" % error)
        if not self._full:
            self._full = True
            self.notify("I cannot keep our conversation on flash: %s" % error)

    def notify(self, text):
        """Tell the owner something about the agent itself."""
        channel, chat = self.app.owner()
        log("notice", text)
        if chat is not None:
            self.app.deliver(channel, chat, text)

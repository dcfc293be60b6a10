# tenner agent.agent: the wired parts a turn works with, and what happens to a person's words.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import Lane
from tenner.log import log


class Agent:
    """
    Owns the lane and the sessions. `app` lies above and gives the rest: `part(name)` is one of chain,
    registry, sensors, budget and spawner; `deliver(channel, chat, text)` queues a text for a person;
    `ask_owner(text, turn)` waits for a yes or no; `now_text()` is the local time for the prompt;
    `owner()` is the owner's (channel, chat).
    """

    def __init__(self, port, config, workspace, app):
        self.port = port
        self.config = config
        self.workspace = workspace
        self.app = app
        self.lane = Lane()
        self._session = None

    def part(self, name):
        return self.app.part(name)

    @property
    def cron(self):
        return self.part("cron")

    def session(self, channel, chat):
        """Return the session of a chat; the last one used is kept, as its file is already checked."""
        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, _file_name(chat)))
        if self._session is None or self._session.path != path:
            from tenner.agent.session import Session

            window = self.config.get("session.max_kb") * 1024
            share = self.config.get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
            self._session = Session(path, min(window, share))
        return self._session

    def forget_session(self):
        self._session = None

    # --- people

    async def answer(self, message):
        """Run a person's turn and return the text of the answer: there always is one."""
        if self.config.get("budget.tokens_per_day") and self.part("budget").left("person") <= 0:
            return "Today's tokens are spent, the reserve for people too. They start anew at midnight."
        text = "%s\n\n(now: %s)" % (message.text, self.app.now_text())
        # What told the time makes room for the turn, and the turn for what comes after it.
        self.app.rest()
        who = "%s:%s" % (message.channel, message.chat)
        result, is_long = await self._turn(who, message, text)
        self.app.rest()
        self.account("person", who, result)
        if is_long:
            asyncio.create_task(self._tidy(message.channel, message.chat, who))
        if result.error is not None:
            return result.error
        return result.text or "(The model gave no text.)"

    async def _turn(self, who, message, text):
        from tenner.agent.turn import Turn

        session = self.session(message.channel, message.chat)
        turn = Turn(self, "person", text, message.channel, message.chat, session)
        result = await self.lane.person(who, turn)
        return result, session.size() > session.window

    async def _tidy(self, channel, chat, who):
        from tenner.agent import summary

        await self.lane.wait_free()
        await summary.compact(self, self.session(channel, chat), who)

    def account(self, kind, who, result):
        """Count and log what a turn has cost."""
        self.part("budget").spend(result.tokens(), kind, result.estimated)
        log(
            "agent",
            "%s: %d rounds, %d tool calls, %d tokens, %d ms"
            % (who, result.rounds, result.tool_calls, result.tokens(), result.ms),
        )

    # --- what tools and background turns say

    async def send(self, text, chat, turn):
        """The `message` tool: to whoever this turn talks with, or to an allowed chat."""
        if chat is None:
            channel, chat = (
                (turn.channel, turn.chat) if turn.chat is not None else self.app.owner()
            )
        else:
            channel = turn.channel or self.app.owner()[0]
        if chat is None:
            return "error: nobody to send to: no owner is configured (telegram.owner)"
        self.app.deliver(channel, chat, text)
        return "queued for %s:%s" % (channel, chat)

    async def ask(self, text, turn):
        return await self.app.ask_owner(text, turn)

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

        session = self.session(channel, chat)
        session.open()
        session.append((record("u", "(you reported by yourself)"), record("a", text)))

    def notify(self, text):
        """Tell the owner something about the agent itself."""
        channel, chat = self.app.owner()
        log("notice", text)
        if chat is not None:
            self.app.deliver(channel, chat, text)


def _file_name(chat):
    return "".join(c if c.isalpha() or c.isdigit() or c in "-_" else "_" for c in str(chat))[:40]

# tenner agent.agent: the wired parts a turn works with, and what happens to a person's words.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent.lane import Lane
from tenner.agent.turn import Turn
from tenner.log import log


class Agent:
    """
    Owns the lane and the sessions. What lies above it is given by app: `deliver(channel, chat,
    text, alert)` queues a text for a person, `ask_owner(text, turn)` waits for a yes or no,
    `now_text()` is the local time for the prompt, `owner()` is the owner's (channel, chat).
    """

    def __init__(self, port, config, sensors, registry, chain, budget):
        self.port = port
        self.config = config
        self.workspace = port.path("workspace")
        self.sensors = sensors
        self.registry = registry
        self.chain = chain
        self.budget = budget
        self.lane = Lane()
        self.deliver = None
        self.ask_owner = None
        self.now_text = None
        self.owner = None
        self._session = None
        self._spawner = None

    @property
    def spawner(self):
        if self._spawner is None:
            from tenner.agent.spawn import Spawner

            self._spawner = Spawner(self, 1 if self.port.small else 4)
        return self._spawner

    def session(self, channel, chat):
        """Return the session of a chat; the last one used is kept, as its file is already checked."""
        path = self.port.path("state/sessions/%s_%s.jsonl" % (channel, _file_name(chat)))
        if self._session is None or self._session.path != path:
            from tenner.agent.session import Session

            window = self.config.get("session.max_kb") * 1024
            share = self.config.get("llm.context_tokens") * 3  # 4 bytes a token, 75 % of them
            self._session = Session(path, min(window, share))
        return self._session

    # --- people

    async def answer(self, message):
        """Run a person's turn and return the text of the answer: there always is one."""
        who = "%s:%s" % (message.channel, message.chat)
        left = self.budget.left("person")
        if left is not None and left <= 0:
            return "Today's token budget is spent, the reserve for people too. It starts anew at midnight."
        session = self.session(message.channel, message.chat)
        text = message.text
        if self.now_text is not None:
            text += "\n\n(now: %s)" % self.now_text()
        turn = Turn(self, "person", text, message.channel, message.chat, session)
        result = await self.lane.person(who, turn)
        log(
            "agent",
            "%s answered: %d rounds, %d tool calls, %d tokens, %d ms"
            % (who, result.rounds, result.tool_calls, result.tokens(), result.ms),
        )
        asyncio.create_task(self._tidy(session, who))
        if result.error is not None:
            return result.error
        return result.text or "(The model gave no text.)"

    async def _tidy(self, session, who):
        from tenner.agent import summary

        if summary.due(session):
            await self.lane.wait_free()
            await summary.compact(self, session, who)

    # --- what tools and background turns say

    async def send(self, text, chat, turn):
        """The `message` tool: to whoever this turn talks with, or to an allowed chat."""
        if chat is None:
            channel, chat = (turn.channel, turn.chat) if turn.chat is not None else self.owner()
        else:
            channel = turn.channel or self.owner()[0]
        if chat is None:
            return "error: nobody to send to: no owner is configured (telegram.owner)"
        self.deliver(channel, chat, text)
        return "queued for %s:%s" % (channel, chat)

    async def ask(self, text, turn):
        if self.ask_owner is None:
            return False
        return await self.ask_owner(text, turn)

    async def report(self, channel, chat, text):
        """Tell whoever asked what came of a background task, and let them answer it."""
        if chat is None:
            channel, chat = self.owner()
        if chat is None:
            log("agent", "nobody to tell: " + text)
            return
        self.remember(channel, chat, text)
        self.deliver(channel, chat, text)

    def remember(self, channel, chat, text):
        """Put what is sent of the agent's own accord into that chat's session, so it can be answered."""
        from tenner.agent.session import record

        session = self.session(channel, chat)
        session.open()
        session.append((record("u", "(you reported by yourself)"), record("a", text)))

    def notify(self, text):
        """Tell the owner something about the agent itself."""
        channel, chat = self.owner() if self.owner is not None else (None, None)
        log("notice", text)
        if chat is not None and self.deliver is not None:
            self.deliver(channel, chat, text)


def _file_name(chat):
    return "".join(c if c.isalpha() or c.isdigit() or c in "-_" else "_" for c in str(chat))[:40]

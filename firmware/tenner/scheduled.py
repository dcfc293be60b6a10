# tenner scheduled: what heartbeat and cron ask of the agent; loaded while they ask.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import PutBack


class Scheduled:
    def __init__(self, app):
        self.app = app

    async def run_turn(self, text, kind, model=None):
        """Run a turn that nobody waits for; LaneBusy and PutBack leave it."""
        await self.app.rest()
        return await self._background(kind, self._turn(text, kind, model))

    async def ask(self, text, model=None):
        """Ask which of the due tasks need a turn; the reply calls the tool `heartbeat`, or does not."""
        from tenner.port.package import package_path

        await self.app.rest()
        turn = self._turn(text, "heartbeat", model)
        turn.tools = (package_path("schedule/heartbeat.json"),)
        turn.single = True
        result = await self._background("heartbeat", turn)
        if result.error is not None:
            raise OSError(result.error)
        return result.reply

    def _turn(self, text, kind, model):
        from tenner.agent.turn import Turn

        return Turn(self.app.agent, kind, text, model=model)

    async def _background(self, kind, turn):
        try:
            result = await self.app.agent.lane.background(kind, turn)
        except PutBack as back:
            self._account(kind, back.args[0])
            raise
        self._account(kind, result)
        return result

    def _account(self, kind, result):
        from tenner.agent.upkeep import account

        account(self.app.agent, kind, kind, result)

    async def deliver_alert(self, text, mark):
        """
        Send an alert to the owner: "yes", "queued", or "repeat" when a text of that mark is queued already.
        The heartbeat gets the mark back when the text has arrived.
        """
        channel, chat = self._owner()
        waiting = self.app.part("delivery").outbox.items
        if mark and any(item.alert == mark for item in waiting):
            return "repeat"
        return self._send(channel, chat, text, mark or True)

    async def deliver_job(self, text, channel, chat):
        """Send what came of a job to whoever asked for it, the owner by default: "yes" or "queued"."""
        if chat is None:
            channel, chat = self._owner()
        return self._send(channel, chat, text, False)

    def _send(self, channel, chat, text, alert):
        from tenner.agent.upkeep import remember

        # First of all, so that no power cut finds it in the run log only.
        ids = self.app.deliver(channel, chat, text, alert)
        if ids[-1:] == [None]:
            raise OSError("the outbox is full")
        remember(self.app.agent, channel, chat, text)
        return "queued" if ids else "yes"

    def _owner(self):
        channel, chat = self.app.owner()
        if chat is None:
            raise OSError("there is no owner to tell: set telegram.owner")
        return channel, chat

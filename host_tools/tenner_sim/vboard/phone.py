"""The stand-ins for a model and Telegram that run beside a board, and the phone of its owner."""

from __future__ import annotations

from typing import Any

from tenner_sim.services import OWNER, Services
from tenner_sim.services.telegram_people import now


class Phone:
    """`services` run in a thread of this process, on plain HTTP: nothing leaves this computer."""

    def __init__(self, model_port: int, telegram_port: int) -> None:
        services = Services(tls=False, model_port=model_port, telegram_port=telegram_port)
        # Above those of the last start, which the agent has done with.
        services.telegram.renumber(now())
        services.telegram.next_message = now()
        self.services = services.start()
        self._looks = 0

    def use(self, text: str, look: bool) -> dict[str, Any]:
        """Write `text` to the bot, unless it is empty; return the bot's messages to the owner, and
        how often somebody has looked at one."""
        telegram = self.services.telegram
        if text:
            telegram.say(OWNER, text)
        with telegram.changed:
            messages = [
                {"text": one.text, "buttons": [button["text"] for button in one.buttons]}
                for one in telegram.sent
                if one.chat_id == OWNER and not one.deleted
            ]
        if look and messages:
            self._looks += 1
        return {"messages": messages, "looks": self._looks}

# tenner channels.webhook.part: sends each alert to an address of the owner's, as JSON.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.channels.posting import post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.agent.parts import Parts


def make(app: "Parts") -> "Webhook":
    """Return the channel, for one delivery of the outbox."""
    return Webhook(app)


class Webhook:
    """A channel of channels.delivery that only sends, and gets the alerts of the others."""

    name = "webhook"
    alert_chat = "alert"

    def __init__(self, app: "Parts") -> None:
        self._get = app.config.get
        self._http = app.http()

    async def idle(self) -> None:
        """Close the connection."""
        await self._http.close()

    async def send(
        self,
        chat: str,
        text: str,
        reply_to: int | None = None,
        began: "Callable[[], None] | None" = None,
        alarm: str | None = None,
    ) -> "tuple[str, Any]":
        """POST `{"agent": NAME, "text": TEXT}`, with the owner's key; see channels.posting."""
        get = self._get
        data = json.dumps({"agent": get("name"), get("webhook.member"): text}).encode()
        headers = [("Content-Type", "application/json")]
        if get("webhook.key"):
            headers.append(("Authorization", "Bearer " + get("webhook.key")))
        return await post(self._http, self.name, get("webhook.url"), headers, data, began)

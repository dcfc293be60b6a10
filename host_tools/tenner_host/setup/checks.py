"""Test settings on the board itself: the board, with this key, must reach the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tenner_host.board import probe
from tenner_host.board.board import Board
from tenner_host.board.probe import Fetched, fetch
from tenner_host.errors import CommandError
from tenner_host.setup import context
from tenner_host.setup.board_ca_roots import FOLDER, Root, roots_for, superfluous
from tenner_host.setup.settings import Settings, get


class Trial:
    """Each method tries one part of the settings and returns a sentence, or raises
    CommandError."""

    def __init__(self, board: Board, ca_file: Path | None = None) -> None:
        self.board = board
        self.roots: list[Root] = []
        #: The bot's name, from Telegram's answer.
        self.bot = ""
        #: A sentence for each server whose certificate could not be read.
        self.unproven: list[str] = []
        self._ca_file = ca_file
        self._present: dict[str, bytes] | None = None

    def networks(self) -> list[probe.Network]:
        """Access points in the board's range."""
        return probe.scan(self.board)

    def wifi(self, settings: Settings) -> str:
        """Connect, and set the clock, which the check of certificates needs."""
        ssid = str(get(settings, "wifi.ssid"))
        link = probe.join(self.board, ssid, str(get(settings, "wifi.password")))
        if not link.up:
            raise CommandError(f"the board cannot join {ssid!r}: {link.reason}")
        probe.set_clock(self.board, str(get(settings, "time.ntp_host")))
        quality = ""
        if link.rssi is not None:
            quality = f", signal {link.rssi} dBm ({signal_word(link.rssi)})"
        return f"joined {ssid!r} as {link.address}{quality}; the clock is set"

    def trust(self, settings: Settings, *, offline: bool = False) -> None:
        """Find the roots that the settings need, and write the missing ones to the board.

        Roots that the board trusts already may prove a server. `offline`: an unreachable server is
        `unproven`.
        """
        self.unproven = []
        if self._present is None:
            self._present = self._certificates()
        trusted = self._present.values()
        unproven = self.unproven if offline else None
        self.roots = roots_for(settings, self._ca_file, trusted, unproven)
        self.board.write_files({root.path: root.der for root in self.roots})

    def tidy(self) -> None:
        """Remove unused public roots; roots from the owner stay."""
        # The unreachable server may need any of them.
        if not self.unproven:
            self.board.remove(superfluous(self._certificates(), self.roots))

    def _certificates(self) -> dict[str, bytes]:
        return self.board.read_files(list(self.board.manifest([FOLDER])))

    def model(self, settings: Settings) -> str:
        """Send one short request with the key; lower the context setting to the server's
        context."""
        self.trust(settings)
        text = check_model(self.board, settings)
        found = context.fit(self.board, settings)
        return f"{text}; {found}" if found else text

    def telegram(self, settings: Settings) -> str:
        """Ask the bot for its name."""
        self.trust(settings)
        self.bot = check_telegram(self.board, settings)
        return f"the bot is @{self.bot}"


def signal_word(rssi: int) -> str:
    """The quality of a link of so many dBm."""
    if rssi >= -60:
        return "strong"
    if rssi >= -72:
        return "good"
    return "weak" if rssi >= -82 else "too weak to rely on"


def check_model(board: Board, settings: Settings) -> str:
    """Send one short request; return a sentence of success, or raise CommandError with the
    remedy."""
    key, model = str(get(settings, "llm.api_key")), str(get(settings, "llm.model"))
    base = str(get(settings, "llm.base_url")).rstrip("/")
    if not model:
        raise CommandError("llm.model is not set: name the model")
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": "Say ok."}],
    }
    headers = {"Content-Type": "application/json"}
    # The same addresses and headers as firmware/tenner/llm/.
    if get(settings, "llm.api") == "messages":
        url = base + ("/messages" if base.endswith("/v1") else "/v1/messages")
        body["max_tokens"] = 16
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": key}
    else:
        url = f"{base}/chat/completions"
        body["max_completion_tokens" if "api.openai.com" in base else "max_tokens"] = 16
        if key:
            headers["Authorization"] = f"Bearer {key}"
    answer = fetch(board, url, method="POST", headers=headers, body=json.dumps(body).encode())
    if answer.status == 200:
        return f"{model} answers the board ({answer.ms / 1000:.1f} s with the handshake)"
    raise CommandError(_why_not(answer, base, model))


def _why_not(answer: Fetched, base: str, model: str) -> str:
    said = _message(answer).rstrip(".")
    said = f" It says: {said}." if said else ""
    if answer.status in (401, 403):
        return (
            f"{base} does not take the key (HTTP {answer.status}): is llm.api_key complete, and "
            f"of this provider?{said}"
        )
    if answer.status == 404:
        return (
            f"{base} has no model {model!r}, or the address lacks its version, as in .../v1 "
            f"(HTTP 404).{said}"
        )
    if answer.status in (402, 429):
        return (
            f"{base} takes the key but refuses the request (HTTP {answer.status}): is there "
            f"credit on the account?{said}"
        )
    return f"{base} answered HTTP {answer.status}.{said}"


def _message(answer: Fetched) -> str:
    """The provider's own error text, from any of its usual places."""
    found = answer.json()
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        error = found.get("error", found)
        text = error.get("message") if isinstance(error, dict) else error
        if isinstance(text, str):
            return text[:200]
    return ""


def check_telegram(board: Board, settings: Settings) -> str:
    """The bot's name, from getMe."""
    token = str(get(settings, "telegram.token"))
    base = str(get(settings, "telegram.base_url")).rstrip("/")
    answer = fetch(board, f"{base}/bot{token}/getMe")
    found = answer.json()
    if answer.status == 200 and isinstance(found, dict) and found.get("ok"):
        return str(found["result"].get("username", "?"))
    if answer.status in (401, 404):
        raise CommandError(
            "Telegram does not know this token: copy all of it from @BotFather, as "
            "123456789:AAE..."
        )
    raise CommandError(f"Telegram answered HTTP {answer.status}; try again later")


def webhook(board: Board, settings: Settings) -> str:
    """A clause about a webhook that another program has left at the bot; "" without one."""
    token = str(get(settings, "telegram.token"))
    base = str(get(settings, "telegram.base_url")).rstrip("/")
    found = fetch(board, f"{base}/bot{token}/getWebhookInfo").json()
    url = found["result"].get("url") if isinstance(found, dict) and found.get("ok") else ""
    if not url:
        return ""
    return (
        f"; it has a webhook, {url}, which takes the messages: the agent removes it when it polls"
    )

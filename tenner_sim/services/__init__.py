"""Local services: an offline model, a Telegram stand-in, and a temporary certificate authority.

with Services() as services:
    services.model.base_url, services.telegram.url, services.ca_der
"""

from __future__ import annotations

import ssl
from types import TracebackType

from .authority import LOOPBACK_NAMES, Authority
from .chains import CHAINS
from .conversation import Answer, ToolCall
from .faults import GARBAGE, OK, RESET, STALL, Step
from .loop import LoopThread
from .mcp_tools import McpTools
from .offline_model import API_KEY, MODEL, OfflineModel
from .records import Event, Request, Response
from .server import Log, Service
from .telegram import Telegram
from .telegram_people import OWNER, TOKEN, Sent

__all__ = [
    "API_KEY", "CHAINS", "GARBAGE", "MODEL", "McpTools", "OK", "OWNER", "RESET", "STALL", "TOKEN",
    "Answer", "Authority", "Event", "OfflineModel", "Request", "Response", "Sent",
    "Service", "Services", "Step", "Telegram", "ToolCall",
]  # fmt: skip


class Services:
    """Both services on one thread, under one authority."""

    def __init__(
        self,
        *,
        tls: bool = True,
        certificate: str = "right",
        tls_versions: str = "any",
        chain: str | None = None,
        authority: Authority | None = None,
        log: Log | None = None,
        model_port: int = 0,
        telegram_port: int = 0,
        host: str = "localhost",
    ) -> None:
        """`host` is the board's name for this machine; the certificates are valid for it too.

        Telegram sends a long RSA chain and the model an ECDSA one, as the real ones do; `chain` is
        that of both (`chains.CHAINS`).
        """
        names = LOOPBACK_NAMES if host in LOOPBACK_NAMES else (*LOOPBACK_NAMES, host)
        self.authority = (authority or Authority(chain or "rsa")) if tls else None

        def context(usual: str) -> ssl.SSLContext | None:
            if self.authority is None:
                return None
            return self.authority.server_context(
                certificate, names=names, tls=tls_versions, chain=chain or usual
            )

        self._loop = LoopThread()
        self.model = OfflineModel(
            tls=context("ecdsa"), loop=self._loop, host=host, port=model_port, log=log
        )
        self.telegram = Telegram(
            tls=context("telegram"), loop=self._loop, host=host, port=telegram_port, log=log
        )

    @property
    def ca_der(self) -> bytes:
        """The certificate to trust, in DER; empty on plain HTTP."""
        return self.authority.der if self.authority is not None else b""

    def settings(self, poll_s: int = 1) -> dict[str, dict[str, object]]:
        """The part of config.json that makes an agent use them."""
        return {
            "llm": {"base_url": self.model.base_url, "api_key": API_KEY, "model": MODEL},
            "telegram": {
                "base_url": self.telegram.url,
                "token": TOKEN,
                "owner": str(OWNER),
                "poll_s": poll_s,
            },
        }

    def start(self) -> Services:
        """Start both services; they listen when this returns."""
        self._loop.start()
        self.model.start()
        self.telegram.start()
        return self

    def stop(self) -> None:
        """Stop both and join the thread; safe to call twice."""
        if self._loop.running:
            self.model.stop()
            self.telegram.stop()
            self._loop.stop()

    def __enter__(self) -> Services:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

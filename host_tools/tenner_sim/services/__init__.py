"""Local services: an offline model and a Telegram stand-in, behind TLS or not. Only TLS needs the
libraries of the authority.

with Services() as services:
    services.model.base_url, services.telegram.url, services.ca_der
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tenner_host.errors import CommandError
from tenner_host.libraries import TRUSTME, missing

from .conversation import Answer, ToolCall
from .faults import GARBAGE, OK, RESET, STALL, Step
from .loop import LoopThread
from .mcp_tools import McpTools
from .offline_model import API_KEY, MODEL, OfflineModel
from .records import Event, Request, Response
from .server import Log, Service
from .telegram import Telegram
from .telegram_people import OWNER, TOKEN, Sent

if TYPE_CHECKING:
    from .authority import Authority

__all__ = [
    "API_KEY", "GARBAGE", "MODEL", "McpTools", "OK", "OWNER", "RESET", "STALL", "TOKEN",
    "Answer", "Event", "OfflineModel", "Request", "Response", "Sent",
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
        self.authority = (authority or _authority(chain or "rsa")) if tls else None

        def context(usual: str) -> ssl.SSLContext | None:
            if self.authority is None:
                return None
            from .authority import LOOPBACK_NAMES

            names = LOOPBACK_NAMES if host in LOOPBACK_NAMES else (*LOOPBACK_NAMES, host)
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
        return settings_for(self.model.base_url, self.telegram.url, poll_s)

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


def settings_for(model: str, telegram: str, poll_s: int = 1) -> dict[str, dict[str, object]]:
    """The same for the services at these addresses."""
    return {
        "llm": {"base_url": model, "api_key": API_KEY, "model": MODEL},
        "telegram": {
            "base_url": telegram,
            "token": TOKEN,
            "owner": str(OWNER),
            "poll_s": poll_s,
        },
    }


def free_ports(path: Path) -> dict[str, int]:
    """Ports for the two services, those of the last time if they are still free: a board's
    settings name them. `path` keeps them."""
    known = json.loads(path.read_text()) if path.exists() else {}
    with contextlib.ExitStack() as held:
        for name in ("model_port", "telegram_port"):
            for port in (known.get(name, 0), 0):
                sock = held.enter_context(socket.socket())
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                with contextlib.suppress(OSError):
                    sock.bind(("127.0.0.1", port))
                    known[name] = sock.getsockname()[1]
                    break
    path.write_text(json.dumps(known))
    return known


def _authority(chain: str) -> Authority:
    try:
        from .authority import Authority
    except ModuleNotFoundError as exc:
        raise CommandError(missing("TLS of the stand-ins", TRUSTME)) from exc
    return Authority(chain)

"""Requests that model providers refuse: by the types of their own packages, and by rules beyond
types.

`install()` makes each stand-in for a model check its requests so. The simulator does without:
these packages take seconds to import, and a board's owner sends no malformed requests.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tenner_sim.services import OfflineModel
from tenner_sim.services.refusal import Refusal


def load(api: str) -> None:
    """Load the types of an API, `chat` or `messages`, before a model answers: meanwhile neither it
    nor any other service of its thread would."""
    importlib.import_module(f"{__name__}.{api}")


def check(path: str, body: dict[str, Any]) -> None:
    """Raise Refusal for a request that the provider of this path would refuse."""
    api = "messages" if path == "/v1/messages" else "chat"
    module = sys.modules.get(f"{__name__}.{api}")
    if module is None:
        raise Refusal(f"this test must call provider_requests.load({api!r}) first", 500)
    module.check(body)


def install() -> None:
    """Check the requests of all stand-ins of this process; the API `chat` needs no `load`."""
    load("chat")
    OfflineModel.check_request = staticmethod(check)

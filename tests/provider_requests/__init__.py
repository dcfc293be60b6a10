"""Requests that model providers refuse: by the types of their own packages, and by rules beyond
types.

`install()` makes each stand-in for a model check its requests so. The simulator does without:
these packages take seconds to import, and a board's owner sends no malformed requests.
"""

from __future__ import annotations

from typing import Any

from tenner_sim.services import OfflineModel


def check(path: str, body: dict[str, Any]) -> None:
    """Raise Refusal for a request that the provider of this path would refuse."""
    if path == "/v1/messages":
        from tests.provider_requests import messages

        messages.check(body)
    else:
        from tests.provider_requests import chat

        chat.check(body)


def install() -> None:
    """Check the requests of all stand-ins of this process; loads the types, so that no board waits
    for them."""
    from tests.provider_requests import chat  # noqa: F401

    OfflineModel.check_request = staticmethod(check)

# tenner page.board: the board and its connection.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.page.channel import Page


def about(page: "Page") -> "dict[str, Any]":
    """Return the board and its connection as JSON."""
    name = page.app.config.get("name")
    return {
        "label": name,
        "name": name,
        "state": "connected",
        "text": "",
        "restarts_for_files": False,
    }

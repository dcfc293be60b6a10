"""Arguments of Bot API calls: JSON or forms, decoded and checked; and the API's errors."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from . import telegram_files
from .records import Call


class BotError(Exception):
    """An answer with `ok: false`."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


def bad_request(description: str, **parameters: Any) -> BotError:
    return BotError(400, f"Bad Request: {description}", **parameters)


def arguments_of(call: Call) -> dict[str, Any]:
    """Join the query string and the body, JSON or form-encoded."""
    request = call.request
    arguments: dict[str, Any] = dict(request.query)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not request.body:
        return arguments
    if kind == "application/json":
        if not isinstance(request.json, dict):
            raise bad_request("can't parse JSON object")
        arguments.update(request.json)
    elif kind == "application/x-www-form-urlencoded":
        arguments.update(
            parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        )
    elif kind == "multipart/form-data":
        try:
            arguments.update(telegram_files.form(request.headers["content-type"], request.body))
        except ValueError as exc:
            raise bad_request(f"can't parse the form: {exc}") from exc
    return arguments


def decoded(value: Any) -> Any:
    """Return a value that may also be JSON text, as in forms."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def integer(arguments: dict[str, Any], name: str, default: int) -> int:
    try:
        return int(arguments.get(name, default))
    except (TypeError, ValueError):
        return default


def truth(value: Any) -> bool:
    return value in (True, "true", "True", "1", 1, "yes")


def checked_markup(arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Check a reply_markup; only inline keyboards are checked."""
    markup = decoded(arguments.get("reply_markup"))
    if markup is None or markup == "":
        return None
    if isinstance(markup, str):
        raise bad_request("can't parse reply keyboard markup JSON object")
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" not in markup:
        return markup
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list):
        raise bad_request('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array')
    for row in rows:
        if not isinstance(row, list):
            raise bad_request(
                "can't parse inline keyboard button: Inline keyboard rows must be of type Array"
            )
        for button in row:
            _check_button(button)
    return markup if any(rows) else None


def _check_button(button: Any) -> None:
    lead = "can't parse inline keyboard button: "
    if not isinstance(button, dict):
        raise bad_request(lead + "InlineKeyboardButton must be an Object")
    if not isinstance(button.get("text"), str):
        raise bad_request(lead + 'Can\'t find field "text"')
    if not button["text"]:
        raise bad_request("inline keyboard button text is empty")
    kinds = [
        key
        for key in ("callback_data", "url", "web_app", "login_url", "copy_text")
        if key in button
    ]
    if not kinds:
        raise bad_request(lead + "Text buttons are unallowed in the inline keyboard")
    data = button.get("callback_data")
    if data is not None and not (isinstance(data, str) and 1 <= len(data.encode()) <= 64):
        raise bad_request("BUTTON_DATA_INVALID")

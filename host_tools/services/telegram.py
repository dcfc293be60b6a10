"""A stand-in for the Telegram Bot API, with its semantics and its error texts.

People are on the Python side: `say` writes to the bot, `press` presses a button, `sent` is what it answered.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from .loop import LoopThread
from .server import Call, Log, Response, Service
from .telegram_entities import ParseError, parse, utf16_length

TOKEN = "1234567:offline-telegram-token-not-a-secret"

#: A private chat that has started the bot already.
OWNER = 1000

_NOW = 1_700_000_000
_BOT = {
    "id": 1234567,
    "is_bot": True,
    "first_name": "tenner",
    "username": "tenner_offline_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": False,
    "supports_inline_queries": False,
}
_UPDATE_KINDS = ("message", "edited_message", "callback_query")
_ACTIONS = (
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
    "upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
)  # fmt: skip
_MAX_TEXT = 4096


class BotError(Exception):
    """An answer with `ok: false`."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


def bad_request(description: str, **parameters: Any) -> BotError:
    return BotError(400, f"Bad Request: {description}", **parameters)


@dataclass
class Sent:
    """One message the bot sent, as it stands now; `history` are its earlier texts."""

    message_id: int
    chat_id: int
    text: str
    entities: list[dict[str, Any]]
    #: What the bot put into the request, before parsing.
    source: str
    parse_mode: str = ""
    reply_to: int | None = None
    reply_markup: dict[str, Any] | None = None
    history: list[str] = field(default_factory=list)
    deleted: bool = False

    @property
    def buttons(self) -> list[dict[str, Any]]:
        rows = (self.reply_markup or {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]


@dataclass
class _Chat:
    id: int
    type: str
    username: str = ""
    blocked: bool = False
    migrated_to: int | None = None

    def public(self) -> dict[str, Any]:
        result: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.type == "private":
            result["first_name"] = self.username or f"User {self.id}"
            if self.username:
                result["username"] = self.username
        else:
            result["title"] = self.username or f"Group {self.id}"
        return result


class Telegram(Service):
    """`/bot<TOKEN>/<method>` for the methods a chat bot needs."""

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        loop: LoopThread | None = None,
        host: str = "localhost",
        port: int = 0,
        log: Log | None = None,
        token: str = TOKEN,
    ) -> None:
        super().__init__(tls=tls, loop=loop, host=host, port=port, log=log)
        self.token = token
        #: Messages the bot sent, edited in place.
        self.sent: list[Sent] = []
        #: (chat id, action) of each sendChatAction.
        self.actions: list[tuple[int, str]] = []
        #: Arguments of each answerCallbackQuery, by callback id.
        self.answers: dict[str, dict[str, Any]] = {}
        #: Commands the bot announced.
        self.commands: list[dict[str, Any]] = []
        #: Answer "chat not found" for chats nobody has spoken in, as the real API does.
        self.unknown_chats_refused = True
        self._chats: dict[int, _Chat] = {OWNER: _Chat(OWNER, "private", "owner")}
        self._updates: list[dict[str, Any]] = []
        self._next_update = 700_000_001
        self._next_message = 1
        self._their_messages: dict[int, dict[str, Any]] = {}
        self._callbacks: set[str] = set()
        self._allowed: tuple[str, ...] = ()
        self._webhook = ""
        self._poll: tuple[asyncio.Event, list[bool]] | None = None

    def start(self) -> None:
        super().start()
        self.tell(f"Telegram stand-in at {self.url}")

    # --- people --------------------------------------------------------------------------------

    def say(
        self,
        chat_id: int,
        text: str,
        *,
        from_id: int | None = None,
        username: str = "",
        chat_type: str = "private",
        reply_to: int | None = None,
        **extra: Any,
    ) -> dict[str, Any]:
        """Write a message to the bot; return it. `extra` goes into the message as it is."""
        fields: dict[str, Any] = {"text": text} if text else {}
        if text.startswith("/"):
            length = utf16_length(text.split()[0])
            fields["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
        return self._incoming(chat_id, {**fields, **extra}, from_id, username, chat_type, reply_to)

    def attach(
        self,
        chat_id: int,
        kind: str = "photo",
        caption: str = "",
        *,
        from_id: int | None = None,
        username: str = "",
        chat_type: str = "private",
    ) -> dict[str, Any]:
        """Send the bot a photo, voice message or document."""
        file = {"file_id": f"offline-{kind}", "file_unique_id": f"u-{kind}", "file_size": 1234}
        contents: dict[str, Any] = {
            "photo": [{**file, "width": 90, "height": 60}, {**file, "width": 900, "height": 600}],
            "voice": {**file, "duration": 3, "mime_type": "audio/ogg"},
            "document": {**file, "file_name": "notes.txt", "mime_type": "text/plain"},
        }
        fields = {kind: contents[kind]}
        if caption:
            fields["caption"] = caption
        return self._incoming(chat_id, fields, from_id, username, chat_type, None)

    def edit(self, message: dict[str, Any], text: str) -> dict[str, Any]:
        """Edit a message that was said earlier."""
        with self.changed:
            edited = {**message, "text": text, "edit_date": _NOW + 60}
            self._their_messages[edited["message_id"]] = edited
            self._push("edited_message", edited)
        self._wake()
        return edited

    def press(self, message: Sent, data: str, *, from_id: int | None = None) -> str:
        """Press the button with this callback data under a message; return the callback's id."""
        if not any(button.get("callback_data") == data for button in message.buttons):
            have = [button.get("callback_data") for button in message.buttons]
            raise ValueError(f"message {message.message_id} has no button {data!r}; it has {have}")
        with self.changed:
            chat = self._chats[message.chat_id]
            callback_id = str(9_000_000_000 + self._next_update)
            self._callbacks.add(callback_id)
            query = {
                "id": callback_id,
                "from": _user(from_id or message.chat_id, chat.username),
                "message": self._public(message),
                "chat_instance": str(chat.id),
                "data": data,
            }
            self._push("callback_query", query)
        self._wake()
        return callback_id

    def inject(self, update: dict[str, Any]) -> int:
        """Put any update into the queue as it is; its id is added. Return the id."""
        with self.changed:
            number = self._next_update
            self._next_update += 1
            self._updates.append({"update_id": number, **update})
        self._wake()
        return number

    def add_chat(self, chat_id: int, chat_type: str = "private", username: str = "") -> None:
        """Make a chat known, as if its user had pressed Start."""
        with self.changed:
            self._chats.setdefault(chat_id, _Chat(chat_id, chat_type, username))

    def block(self, chat_id: int, blocked: bool = True) -> None:
        """Let the user of a chat block (or unblock) the bot."""
        self.add_chat(chat_id)
        with self.changed:
            self._chats[chat_id].blocked = blocked

    def migrate(self, chat_id: int, new_id: int) -> None:
        """Upgrade a group to a supergroup with another id."""
        self.add_chat(chat_id, "group")
        self.add_chat(new_id, "supergroup")
        with self.changed:
            self._chats[chat_id].migrated_to = new_id

    def wait_sent(
        self, count: int, timeout_s: float = 10.0, chat_id: int | None = None
    ) -> list[Sent]:
        """Wait until the bot has sent `count` messages in all; return them."""
        return self._wait(
            lambda: [one for one in self.sent if chat_id is None or one.chat_id == chat_id],
            count,
            timeout_s,
            "messages",
        )

    def wait_for(self, condition: Callable[[Telegram], bool], timeout_s: float = 10.0) -> None:
        """Wait until something recorded here makes `condition` true."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), timeout_s):
                raise TimeoutError(f"not seen in {timeout_s} s")

    @property
    def unconfirmed(self) -> list[dict[str, Any]]:
        """Updates that no offset has confirmed yet."""
        with self.changed:
            return list(self._updates)

    # --- Service ---------------------------------------------------------------------------------

    def redact(self, text: str) -> str:
        return text.replace(self.token, "<token>")

    async def respond(self, call: Call) -> Response:
        try:
            result = await self._method(call)
        except BotError as exc:
            return self._refusal(exc)
        return Response.of_json({"ok": True, "result": result})

    def error_response(
        self, call: Call, status: int, message: str = "", retry_after_s: int | None = None
    ) -> Response:
        if retry_after_s is not None:
            message = message or f"Too Many Requests: retry after {retry_after_s}"
            return self._refusal(BotError(status, message, retry_after=retry_after_s))
        return self._refusal(BotError(status, message or _DESCRIPTIONS.get(status, "Error")))

    # --- inside ------------------------------------------------------------------------------

    def _refusal(self, exc: BotError) -> Response:
        body: dict[str, Any] = {
            "ok": False,
            "error_code": exc.status,
            "description": exc.description,
        }
        if exc.parameters:
            body["parameters"] = exc.parameters
        response = Response.of_json(body, exc.status)
        if "retry_after" in exc.parameters:
            response.headers.append(("Retry-After", str(exc.parameters["retry_after"])))
        return response

    async def _method(self, call: Call) -> Any:
        parts = call.target.partition("?")[0].split("/")
        if len(parts) != 3 or not parts[1].startswith("bot"):
            raise BotError(404, "Not Found")
        if parts[1][3:] != self.token:
            raise BotError(401, "Unauthorized")
        arguments = _arguments(call)
        name = parts[2].lower()
        if name == "getupdates":
            return await self._get_updates(arguments)
        handler = getattr(self, f"_do_{name}", None)
        if handler is None:
            raise BotError(404, "Not Found")
        with self.changed:
            result = handler(arguments)
            self.changed.notify_all()
        return result

    async def _get_updates(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        if self._webhook:
            raise BotError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to "
                "delete the webhook first",
            )
        offset = _integer(arguments, "offset", 0)
        limit = _integer(arguments, "limit", 100)
        limit = limit if 1 <= limit <= 100 else 100
        timeout = max(0, min(50, _integer(arguments, "timeout", 0)))
        allowed = _decoded(arguments.get("allowed_updates"))
        if self._poll is not None:
            event, ended = self._poll
            ended.append(True)
            event.set()
        wake, stopped = asyncio.Event(), list[bool]()
        mine = (wake, stopped)
        self._poll = mine
        try:
            with self.changed:
                if isinstance(allowed, list):
                    self._allowed = tuple(allowed)
                if offset > 0:
                    self._updates = [one for one in self._updates if one["update_id"] >= offset]
                elif offset < 0:
                    self._updates = self._updates[offset:]
                found = self._updates[:limit]
                self.changed.notify_all()
            deadline = asyncio.get_running_loop().time() + timeout
            while not found:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0:
                    break
                try:
                    await asyncio.wait_for(wake.wait(), left)
                except asyncio.TimeoutError:
                    break
                if stopped:
                    raise BotError(
                        409,
                        "Conflict: terminated by other getUpdates request; make sure that only one bot "
                        "instance is running",
                    )
                wake.clear()
                with self.changed:
                    found = self._updates[:limit]
            return found
        finally:
            if self._poll is mine:
                self._poll = None

    def _do_getme(self, _arguments: dict[str, Any]) -> dict[str, Any]:
        return _BOT

    def _do_deletewebhook(self, arguments: dict[str, Any]) -> bool:
        self._webhook = ""
        if _truth(arguments.get("drop_pending_updates")):
            self._updates.clear()
        return True

    def _do_setwebhook(self, arguments: dict[str, Any]) -> bool:
        self._webhook = str(arguments.get("url", ""))
        return True

    def _do_getwebhookinfo(self, _arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "url": self._webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(self._updates),
        }

    def _do_setmycommands(self, arguments: dict[str, Any]) -> bool:
        commands = _decoded(arguments.get("commands"))
        if not isinstance(commands, list):
            raise bad_request("can't parse commands: expected an Array")
        for command in commands:
            name = command.get("command", "") if isinstance(command, dict) else ""
            if (
                not (1 <= len(name) <= 32)
                or not name.replace("_", "a").isalnum()
                or name.lower() != name
            ):
                raise bad_request("BOT_COMMAND_INVALID")
            if not 1 <= len(command.get("description", "")) <= 256:
                raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands = commands
        return True

    def _do_getmycommands(self, _arguments: dict[str, Any]) -> list[dict[str, Any]]:
        return self.commands

    def _do_getchat(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._chat(arguments).public()

    def _do_sendchataction(self, arguments: dict[str, Any]) -> bool:
        chat = self._chat(arguments)
        action = arguments.get("action")
        if action not in _ACTIONS:
            raise bad_request("wrong parameter action in request")
        self.actions.append((chat.id, str(action)))
        return True

    def _do_sendmessage(self, arguments: dict[str, Any]) -> dict[str, Any]:
        text, entities, mode = self._text(arguments)
        chat = self._chat(arguments)
        markup = _markup(arguments)
        reply_to = self._reply_to(arguments, chat)
        message = Sent(
            self._message_number(),
            chat.id,
            text,
            entities,
            str(arguments.get("text")),
            mode,
            reply_to,
            markup,
        )
        self.sent.append(message)
        return self._public(message)

    def _do_editmessagetext(self, arguments: dict[str, Any]) -> dict[str, Any]:
        text, entities, mode = self._text(arguments)
        message = self._own(arguments, "edit")
        markup = _markup(arguments)
        if (text, entities, markup) == (message.text, message.entities, message.reply_markup):
            raise bad_request(
                "message is not modified: specified new message content and reply markup are exactly "
                "the same as a current content and reply markup of the message"
            )
        message.history.append(message.text)
        message.text, message.entities, message.parse_mode = text, entities, mode
        message.source, message.reply_markup = str(arguments.get("text")), markup
        return {**self._public(message), "edit_date": _NOW + 60}

    def _do_editmessagereplymarkup(self, arguments: dict[str, Any]) -> dict[str, Any]:
        message = self._own(arguments, "edit")
        markup = _markup(arguments)
        if markup == message.reply_markup:
            raise bad_request(
                "message is not modified: specified new message content and reply markup are exactly "
                "the same as a current content and reply markup of the message"
            )
        message.reply_markup = markup
        return self._public(message)

    def _do_deletemessage(self, arguments: dict[str, Any]) -> bool:
        self._own(arguments, "delete").deleted = True
        return True

    def _do_answercallbackquery(self, arguments: dict[str, Any]) -> bool:
        number = str(arguments.get("callback_query_id", ""))
        if number not in self._callbacks:
            raise bad_request(
                "query is too old and response timeout expired or query ID is invalid"
            )
        if len(str(arguments.get("text", ""))) > 200:
            raise bad_request("MESSAGE_TOO_LONG")
        self._callbacks.remove(number)
        self.answers[number] = arguments
        return True

    # --- pieces of methods ---------------------------------------------------------------------

    def _text(self, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]], str]:
        source = arguments.get("text")
        if not isinstance(source, str) or not source:
            raise bad_request("message text is empty")
        mode = str(arguments.get("parse_mode") or "")
        try:
            text, entities = parse(source, mode)
        except ParseError as exc:
            raise bad_request(f"can't parse entities: {exc}") from exc
        except ValueError as exc:
            raise bad_request(str(exc)) from exc
        if not text.strip():
            raise bad_request("message text is empty")
        if utf16_length(text) > _MAX_TEXT:
            raise bad_request("message is too long")
        return text, entities, mode

    def _chat(self, arguments: dict[str, Any]) -> _Chat:
        value = arguments.get("chat_id")
        if value is None or value == "":
            raise bad_request("chat_id is empty")
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise bad_request("chat not found") from None
        chat = self._chats.get(number)
        if chat is None:
            if self.unknown_chats_refused:
                raise bad_request("chat not found")
            chat = self._chats[number] = _Chat(number, "private" if number > 0 else "group")
        if chat.blocked:
            raise BotError(403, "Forbidden: bot was blocked by the user")
        if chat.migrated_to is not None:
            raise bad_request(
                "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
            )
        return chat

    def _own(self, arguments: dict[str, Any], verb: str) -> Sent:
        """Find a message the bot may edit or delete."""
        chat = self._chat(arguments)
        number = _integer(arguments, "message_id", 0)
        if number <= 0:
            raise bad_request("message identifier is not specified")
        for message in self.sent:
            if (message.chat_id, message.message_id) == (chat.id, number) and not message.deleted:
                return message
        if number in self._their_messages:
            raise bad_request(f"message can't be {verb.rstrip('e')}ed")
        raise bad_request(f"message to {verb} not found")

    def _reply_to(self, arguments: dict[str, Any], chat: _Chat) -> int | None:
        parameters = _decoded(arguments.get("reply_parameters"))
        if parameters is None:
            number = _integer(arguments, "reply_to_message_id", 0)
            lenient = _truth(arguments.get("allow_sending_without_reply"))
        elif isinstance(parameters, dict):
            number = _integer(parameters, "message_id", 0)
            lenient = _truth(parameters.get("allow_sending_without_reply"))
        else:
            raise bad_request("can't parse reply parameters: expected an Object")
        if not number:
            return None
        theirs = self._their_messages.get(number)
        known = theirs is not None and theirs["chat"]["id"] == chat.id
        known = known or any(
            (one.chat_id, one.message_id) == (chat.id, number) and not one.deleted
            for one in self.sent
        )
        if not known and not lenient:
            raise bad_request("message to be replied not found")
        return number if known else None

    def _public(self, message: Sent) -> dict[str, Any]:
        """Return a sent message as the API shows it."""
        result: dict[str, Any] = {
            "message_id": message.message_id,
            "from": {key: _BOT[key] for key in ("id", "is_bot", "first_name", "username")},
            "chat": self._chats[message.chat_id].public(),
            "date": _NOW,
            "text": message.text,
        }
        if message.entities:
            result["entities"] = message.entities
        if message.reply_markup is not None:
            result["reply_markup"] = message.reply_markup
        if message.reply_to in self._their_messages:
            result["reply_to_message"] = self._their_messages[message.reply_to]
        return result

    def _message_number(self) -> int:
        self._next_message += 1
        return self._next_message - 1

    def _incoming(
        self,
        chat_id: int,
        fields: dict[str, Any],
        from_id: int | None,
        username: str,
        chat_type: str,
        reply_to: int | None,
    ) -> dict[str, Any]:
        private = chat_type == "private"
        self.add_chat(chat_id, chat_type, username if private else "")
        with self.changed:
            message: dict[str, Any] = {
                "message_id": self._message_number(),
                "from": _user(
                    chat_id if from_id is None else from_id,
                    username or (self._chats[chat_id].username if private else ""),
                ),
                "chat": self._chats[chat_id].public(),
                "date": _NOW,
                **fields,
            }
            for sent in self.sent:
                if (sent.chat_id, sent.message_id) == (chat_id, reply_to):
                    message["reply_to_message"] = self._public(sent)
            self._their_messages[message["message_id"]] = message
            self._push("message", message)
        self._wake()
        return message

    def _push(self, kind: str, content: dict[str, Any]) -> None:
        number = self._next_update
        self._next_update += 1
        if kind in (self._allowed or _UPDATE_KINDS):
            self._updates.append({"update_id": number, kind: content})

    def _wake(self) -> None:
        """Wake a long poll, from whichever thread."""
        loop = self._loop
        if loop is not None:
            loop.call(self._wake_here)

    def _wake_here(self) -> None:
        if self._poll is not None:
            self._poll[0].set()


_DESCRIPTIONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden: bot was blocked by the user",
    404: "Not Found",
    409: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    429: "Too Many Requests: retry after 1",
    500: "Internal Server Error",
    502: "Bad Gateway",
}


def _user(user_id: int, username: str) -> dict[str, Any]:
    user: dict[str, Any] = {
        "id": user_id,
        "is_bot": False,
        "first_name": username or f"User {user_id}",
        "language_code": "en",
    }
    if username:
        user["username"] = username
    return user


def _arguments(call: Call) -> dict[str, Any]:
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
    return arguments


def _decoded(value: Any) -> Any:
    """Return a value that may also come as JSON text, as forms send it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _integer(arguments: dict[str, Any], name: str, default: int) -> int:
    try:
        return int(arguments.get(name, default))
    except (TypeError, ValueError):
        return default


def _truth(value: Any) -> bool:
    return value in (True, "true", "True", "1", 1, "yes")


def _markup(arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Check a reply_markup; only inline keyboards are looked into."""
    markup = _decoded(arguments.get("reply_markup"))
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

"""The people's side of the Telegram stand-in: chats, their messages to the bot, the bot's
messages."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tenner_sim import LIMIT_S

from .loop import LoopThread
from .server import Log, Service
from .telegram_entities import utf16_length
from .telegram_files import Upload

TOKEN = "1234567:offline-telegram-token-not-a-secret"

#: A private chat that has started the bot already.
OWNER = 1000

BOT = {
    "id": 1234567,
    "is_bot": True,
    "first_name": "tenner",
    "username": "tenner_offline_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": False,
    "supports_inline_queries": False,
}
_UPDATE_KINDS = ("message", "edited_message", "callback_query")
#: Fields beside a file.
_OF_MESSAGE = ("media_group_id", "date", "forward_origin")
_ENDINGS = {"voice": "oga", "audio": "mp3", "document": "bin"}


@dataclass
class Sent:
    """One message from the bot in its present form; `history` are its earlier texts."""

    message_id: int
    chat_id: int
    text: str
    entities: list[dict[str, Any]]
    #: The text in the bot's request, before parsing.
    source: str
    parse_mode: str = ""
    reply_to: int | None = None
    reply_markup: dict[str, Any] | None = None
    history: list[str] = field(default_factory=list)
    deleted: bool = False
    #: A photo or a document; `text` is its caption then.
    file: Upload | None = None
    #: Its topic, 0 outside of all.
    topic: int = 0

    @property
    def buttons(self) -> list[dict[str, Any]]:
        rows = (self.reply_markup or {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]


@dataclass
class Chat:
    id: int
    type: str
    username: str = ""
    blocked: bool = False
    migrated_to: int | None = None
    #: Topics that people have made, and whether each is closed. A private chat has some where its
    #: bot allows that.
    topics: dict[int, bool] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        result: dict[str, Any] = {"id": self.id, "type": self.type}
        if self.type == "private":
            result["first_name"] = self.username or f"User {self.id}"
            if self.username:
                result["username"] = self.username
        else:
            result["title"] = self.username or f"Group {self.id}"
            if self.topics:
                result["is_forum"] = True
        return result


_P = TypeVar("_P", bound="People")


class People(Service):
    """Chats and their members; `Telegram` adds the API on top."""

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
        #: Files that people sent, by their ids: (path, bytes, description).
        self.files: dict[str, tuple[str, bytes, dict[str, Any]]] = {}
        #: Their paths that the bot has asked for; no other is served.
        self.offered: set[str] = set()
        self._chats: dict[int, Chat] = {OWNER: Chat(OWNER, "private", "owner")}
        self._updates: list[dict[str, Any]] = []
        self._next_update = 700_000_001
        #: Id of the next message, of the bot or of a person.
        self.next_message = 1
        self._their_messages: dict[int, dict[str, Any]] = {}
        self._callbacks: set[str] = set()
        self._allowed: tuple[str, ...] = ()
        #: Address that gets the updates; while there is one, nobody may poll.
        self.webhook = ""
        self._poll: tuple[asyncio.Event, list[bool]] | None = None

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
        """Write a message to the bot; return it. `extra` is added to the message unchanged."""
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
        data: bytes = b"",
        sizes: Mapping[tuple[int, int], bytes] | None = None,
        from_id: int | None = None,
        username: str = "",
        chat_type: str = "private",
        **extra: Any,
    ) -> dict[str, Any]:
        """
        Send the bot a photo, voice message or document. A photo comes in `sizes`, which Telegram
        makes of one; `extra` are fields of the file, and those of an album and the like.
        """
        contents: dict[str, Any] = {
            "voice": {"duration": 3, "mime_type": "audio/ogg"},
            "audio": {"duration": 3, "mime_type": "audio/mpeg", "file_name": "memo.mp3"},
            "document": {"file_name": "notes.txt", "mime_type": "text/plain"},
        }
        above = {name: extra.pop(name) for name in list(extra) if name in _OF_MESSAGE}
        if kind == "photo":
            found = sizes or {(90, 60): b"small", (900, 600): b"large"}
            made: Any = [
                {**self._keep_file(kind, one, {}), "width": width, "height": height}
                for (width, height), one in found.items()
            ]
        else:
            made = self._keep_file(kind, data or b"nothing", {**contents[kind], **extra})
        fields = {kind: made, **above}
        if caption:
            fields["caption"] = caption
        return self._incoming(chat_id, fields, from_id, username, chat_type, None)

    def _keep_file(self, kind: str, data: bytes, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the description of a file, which `getFile` finds by its id."""
        with self.changed:
            number = len(self.files)
            name, _, ending = fields.get("file_name", "").rpartition(".")
            path = f"{kind}s/file_{number}.{ending if name else _ENDINGS.get(kind, 'jpg')}"
            file = {
                # As long as real ones.
                "file_id": f"offline-{kind}-{number}-".ljust(83, "A"),
                "file_unique_id": f"u{number}".ljust(16, "A"),
                "file_size": len(data),
                **fields,
            }
            self.files[file["file_id"]] = (path, data, file)
        return file

    def edit(self, message: dict[str, Any], text: str) -> dict[str, Any]:
        """Edit an earlier message."""
        with self.changed:
            edited = {**message, "text": text, "edit_date": now()}
            self._their_messages[edited["message_id"]] = edited
            self._push("edited_message", edited)
        self._wake()
        return edited

    def allow(self, question: Sent) -> None:
        """Press the first button under a message, which says Allow under a question."""
        self.press(question, str(question.buttons[0]["callback_data"]))

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
                "message": self.public(message),
                "chat_instance": str(chat.id),
                "data": data,
            }
            self._push("callback_query", query)
        self._wake()
        return callback_id

    def inject(self, update: dict[str, Any]) -> int:
        """Put any update into the queue unchanged; its id is added. Return the id."""
        with self.changed:
            number = self._next_update
            self._next_update += 1
            self._updates.append({"update_id": number, **update})
        self._wake()
        return number

    def renumber(self, first: int) -> None:
        """Give the next update this number, as Telegram may after a week without updates."""
        with self.changed:
            self._next_update = first

    def add_chat(self, chat_id: int, chat_type: str = "private", username: str = "") -> None:
        """Make a chat known, as if its user had pressed Start."""
        with self.changed:
            self._chats.setdefault(chat_id, Chat(chat_id, chat_type, username))

    def block(self, chat_id: int, blocked: bool = True) -> None:
        """Let the user of a chat block (or unblock) the bot."""
        self.add_chat(chat_id)
        with self.changed:
            self._chats[chat_id].blocked = blocked

    def add_topic(self, chat_id: int, topic: int, *, closed: bool = False) -> None:
        """Make a topic in a chat, or close or reopen it."""
        with self.changed:
            self._chats[chat_id].topics[topic] = closed

    def remove_topic(self, chat_id: int, topic: int) -> None:
        with self.changed:
            del self._chats[chat_id].topics[topic]

    def migrate(self, chat_id: int, new_id: int) -> None:
        """Upgrade a group to a supergroup with another id."""
        self.add_chat(chat_id, "group")
        self.add_chat(new_id, "supergroup")
        with self.changed:
            self._chats[chat_id].migrated_to = new_id

    def wait_sent(
        self, count: int, timeout_s: float = LIMIT_S, chat_id: int | None = None
    ) -> list[Sent]:
        """Wait until the bot has sent `count` messages in all; return them."""
        return self._wait(
            lambda: [one for one in self.sent if chat_id is None or one.chat_id == chat_id],
            count,
            timeout_s,
            "messages",
        )

    def wait_for(self: _P, condition: Callable[[_P], bool], timeout_s: float = LIMIT_S) -> None:
        """Wait until something recorded here makes `condition` true."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), timeout_s):
                raise TimeoutError(f"not seen in {timeout_s} s")

    @property
    def unconfirmed(self) -> list[dict[str, Any]]:
        """Updates that no offset has confirmed yet."""
        with self.changed:
            return list(self._updates)

    # --- inside ------------------------------------------------------------------------------

    def public(self, message: Sent) -> dict[str, Any]:
        """Return a sent message as the API shows it."""
        result: dict[str, Any] = {
            "message_id": message.message_id,
            "from": {key: BOT[key] for key in ("id", "is_bot", "first_name", "username")},
            "chat": self._chats[message.chat_id].public(),
            "date": now(),
            "text" if message.file is None else "caption": message.text,
        }
        if message.file is not None:
            result["document"] = {"file_name": message.file.name, "file_id": "offline-file"}
        if message.entities:
            result["entities"] = message.entities
        if message.reply_markup is not None:
            result["reply_markup"] = message.reply_markup
        if message.topic:
            result.update(message_thread_id=message.topic, is_topic_message=True)
        if message.reply_to in self._their_messages:
            result["reply_to_message"] = self._their_messages[message.reply_to]
        return result

    def _message_number(self) -> int:
        self.next_message += 1
        return self.next_message - 1

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
            if "message_thread_id" in fields:
                self._chats[chat_id].topics.setdefault(fields["message_thread_id"], False)
                fields = {"is_topic_message": True, **fields}
            message: dict[str, Any] = {
                "message_id": self._message_number(),
                "from": _user(
                    chat_id if from_id is None else from_id,
                    username or (self._chats[chat_id].username if private else ""),
                ),
                "chat": self._chats[chat_id].public(),
                "date": now(),
                **fields,
            }
            for sent in self.sent:
                if (sent.chat_id, sent.message_id) == (chat_id, reply_to):
                    message["reply_to_message"] = self.public(sent)
            theirs = self._their_messages.get(reply_to or 0)
            if theirs and theirs["chat"]["id"] == chat_id:
                message["reply_to_message"] = dict(theirs)
            # The quoted message has no further one.
            message.get("reply_to_message", {}).pop("reply_to_message", None)
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
        """Wake a long poll from any thread."""
        loop = self._loop
        if loop is not None:
            loop.call(self._wake_here)

    def _wake_here(self) -> None:
        if self._poll is not None:
            self._poll[0].set()


def now() -> int:
    """Return the date for a new message: by it a bot recognizes messages sent while it was
    away."""
    return int(time.time())


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

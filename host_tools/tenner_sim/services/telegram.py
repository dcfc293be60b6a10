"""A stand-in for the Telegram Bot API, with its semantics and its error texts.

People are on the Python side: `say` writes to the bot, `press` presses a button, `sent` holds the
bot's messages.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from .records import Call, Response
from .telegram_arguments import (
    BotError,
    arguments_of,
    bad_request,
    checked_markup,
    decoded,
    integer,
    truth,
)
from .telegram_entities import ParseError, parse, utf16_length, visible
from .telegram_files import Upload, photo_problem
from .telegram_people import BOT, Chat, People, Sent, now

_ACTIONS = (
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
    "upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
)  # fmt: skip
_MAX_TEXT = 4096
_MAX_CAPTION = 1024
_MAX_DOWNLOAD = 20 * 1024 * 1024


class Telegram(People):
    """`/bot<TOKEN>/<method>` for the methods a chat bot needs."""

    def start(self) -> None:
        super().start()
        self.tell(f"Telegram stand-in at {self.url}")

    # --- Service ---------------------------------------------------------------------------------

    def redact(self, text: str) -> str:
        return text.replace(self.token, "<token>")

    async def respond(self, call: Call) -> Response:
        try:
            if call.target.startswith("/file/"):
                return self._file(call)
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

    def _file(self, call: Call) -> Response:
        """Answer a download."""
        parts = call.target.split("/", 3)
        if call.request.method != "GET" or len(parts) != 4 or parts[2] != "bot" + self.token:
            raise BotError(404, "Not Found")
        for path, data, _ in self.files.values():
            if path == parts[3] and path in self.offered:
                return Response(200, data, [("Content-Type", "application/octet-stream")])
        raise BotError(404, "Not Found")

    def _do_getfile(self, arguments: dict[str, Any]) -> dict[str, Any]:
        file_id = str(arguments.get("file_id", ""))
        if not file_id:
            raise bad_request("file_id not specified")
        if file_id not in self.files:
            raise bad_request("invalid file_id")
        path, _, file = self.files[file_id]
        if file["file_size"] > _MAX_DOWNLOAD:
            raise bad_request("file is too big")
        self.offered.add(path)
        kept = {name: file[name] for name in ("file_id", "file_unique_id", "file_size")}
        return {**kept, "file_path": path}

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
        arguments = arguments_of(call)
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
        if self.webhook:
            raise BotError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use "
                "deleteWebhook to "
                "delete the webhook first",
            )
        offset = integer(arguments, "offset", 0)
        limit = integer(arguments, "limit", 100)
        limit = limit if 1 <= limit <= 100 else 100
        timeout = max(0, min(50, integer(arguments, "timeout", 0)))
        allowed = decoded(arguments.get("allowed_updates"))
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
                # One further ahead counts as none (TQueue of tdlib).
                if 0 < offset <= self._next_update + 10:
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
                        "Conflict: terminated by other getUpdates request; make sure that only "
                        "one bot "
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
        return BOT

    def _do_deletewebhook(self, arguments: dict[str, Any]) -> bool:
        self.webhook = ""
        if truth(arguments.get("drop_pending_updates")):
            self._updates.clear()
        return True

    def _do_setwebhook(self, arguments: dict[str, Any]) -> bool:
        self.webhook = str(arguments.get("url", ""))
        return True

    def _do_getwebhookinfo(self, _arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "url": self.webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(self._updates),
        }

    def _do_setmycommands(self, arguments: dict[str, Any]) -> bool:
        commands = decoded(arguments.get("commands"))
        if not isinstance(commands, list):
            raise bad_request("can't parse commands: expected an Array")
        if len(commands) > 100:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            name = command.get("command", "") if isinstance(command, dict) else ""
            if not re.fullmatch("[a-z0-9_]{1,32}", name):
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
        self._topic(arguments, chat, None)
        self.actions.append((chat.id, str(action)))
        return True

    def _do_sendmessage(self, arguments: dict[str, Any]) -> dict[str, Any]:
        text, entities, mode = self._text(arguments)
        chat = self._chat(arguments)
        markup = checked_markup(arguments)
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
            topic=self._topic(arguments, chat, reply_to),
        )
        self.sent.append(message)
        return self.public(message)

    def _do_senddocument(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._send_file(arguments, "document")

    def _do_sendphoto(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._send_file(arguments, "photo")

    def _send_file(self, arguments: dict[str, Any], field: str) -> dict[str, Any]:
        file = arguments.get(field)
        if not file:
            raise bad_request(f"there is no {field} in the request")
        if not isinstance(file, Upload):
            raise bad_request("wrong file identifier/HTTP URL specified")
        if not file.data:
            raise bad_request("file must be non-empty")
        if not file.name:
            raise bad_request("file name is empty")
        problem = photo_problem(file.data) if field == "photo" else None
        if problem == "Request Entity Too Large":
            raise BotError(413, problem)
        if problem:
            raise bad_request(problem)
        chat = self._chat(arguments)
        caption = str(arguments.get("caption", ""))
        if utf16_length(caption) > _MAX_CAPTION:
            raise bad_request("message caption is too long")
        source = file.data.decode("utf-8", "replace") if field == "document" else ""
        reply_to = self._reply_to(arguments, chat)
        message = Sent(
            self._message_number(),
            chat.id,
            caption,
            [],
            source,
            "",
            reply_to,
            checked_markup(arguments),
            file=file,
            topic=self._topic(arguments, chat, reply_to),
        )
        self.sent.append(message)
        return self.public(message)

    def _do_editmessagecaption(self, arguments: dict[str, Any]) -> dict[str, Any]:
        message = self._own(arguments, "edit")
        message.history.append(message.text)
        message.text = str(arguments.get("caption", ""))
        message.reply_markup = checked_markup(arguments)
        return {**self.public(message), "edit_date": now()}

    def _do_editmessagetext(self, arguments: dict[str, Any]) -> dict[str, Any]:
        text, entities, mode = self._text(arguments)
        message = self._own(arguments, "edit")
        markup = checked_markup(arguments)
        if (text, entities, markup) == (message.text, message.entities, message.reply_markup):
            raise bad_request(
                "message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message"
            )
        message.history.append(message.text)
        message.text, message.entities, message.parse_mode = text, entities, mode
        message.source, message.reply_markup = str(arguments.get("text")), markup
        return {**self.public(message), "edit_date": now()}

    def _do_editmessagereplymarkup(self, arguments: dict[str, Any]) -> dict[str, Any]:
        message = self._own(arguments, "edit")
        markup = checked_markup(arguments)
        if markup == message.reply_markup:
            raise bad_request(
                "message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message"
            )
        message.reply_markup = markup
        return self.public(message)

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
        if not visible(text):
            raise bad_request("text must be non-empty")
        if utf16_length(text) > _MAX_TEXT:
            raise bad_request("message is too long")
        return text, entities, mode

    def _chat(self, arguments: dict[str, Any]) -> Chat:
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
            chat = self._chats[number] = Chat(number, "private" if number > 0 else "group")
        if chat.blocked:
            raise BotError(403, "Forbidden: bot was blocked by the user")
        if chat.migrated_to is not None:
            raise bad_request(
                "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
            )
        return chat

    def _own(self, arguments: dict[str, Any], verb: str) -> Sent:
        """Find a message that the bot may edit or delete."""
        chat = self._chat(arguments)
        number = integer(arguments, "message_id", 0)
        if number <= 0:
            raise bad_request("message identifier is not specified")
        for message in self.sent:
            if (message.chat_id, message.message_id) == (chat.id, number) and not message.deleted:
                return message
        if number in self._their_messages:
            raise bad_request(f"message can't be {verb.rstrip('e')}ed")
        raise bad_request(f"message to {verb} not found")

    def _topic(self, arguments: dict[str, Any], chat: Chat, reply_to: int | None) -> int:
        """Return the topic that a message goes to, 0 outside of all; a group without topics
        ignores the argument (`check_message_topic` of telegram-bot-api)."""
        topic = integer(arguments, "message_thread_id", 0)
        if not chat.topics and chat.type != "private":
            return 0
        if topic and topic not in chat.topics:
            # Also for 1, "General", although messages there may have it.
            raise bad_request("message thread not found")
        if not topic and reply_to is not None:
            theirs = self._their_messages.get(reply_to, {})
            topic = theirs.get("message_thread_id", 0)
            for one in self.sent:
                if (one.chat_id, one.message_id) == (chat.id, reply_to):
                    topic = one.topic
        if chat.topics.get(topic):
            raise bad_request("TOPIC_CLOSED")
        return topic

    def _reply_to(self, arguments: dict[str, Any], chat: Chat) -> int | None:
        parameters = decoded(arguments.get("reply_parameters"))
        if parameters is None:
            number = integer(arguments, "reply_to_message_id", 0)
            lenient = truth(arguments.get("allow_sending_without_reply"))
        elif isinstance(parameters, dict):
            number = integer(parameters, "message_id", 0)
            lenient = truth(parameters.get("allow_sending_without_reply"))
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


_DESCRIPTIONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden: bot was blocked by the user",
    404: "Not Found",
    409: (
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance "
        "is running"
    ),
    429: "Too Many Requests: retry after 1",
    500: "Internal Server Error",
    502: "Bad Gateway",
}

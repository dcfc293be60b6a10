# tenner channels.telegram.update: turns an update into a message, an answer or nothing.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Closed by default: only the owner and the people or groups in `telegram.allow` reach the agent, in
groups only by addressing the bot. Strangers get no answer, and the owner is notified of each once.
"""

from tenner import overlay
from tenner.agent.message_queue import Message
from tenner.channels.telegram import api, ask, media, pair, preview, quoted
from tenner.log import log, log_exception
from tenner.port.compat import const
from tenner.store import attachments
from tenner.tools.untrusted import SOMEBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Receiving
    from tenner.net.http import Http
    from tenner.net.json.scanner import Scalar

_MAX_TEXT = const(4096)
_BEGINNING = const(512)
_LONGEST = const(1024)
_STALE_S = const(3600)
_COURTESY_S = const(3)
_DAY_S = const(86400)
_STRANGERS = const(6)
_DIGEST_TEXTS = const(6)
_DIGEST_CHARS = const(300)
_TEXTS = const(" chat.type from.first_name text id data media_group_id ")
_NUMBERS = const(
    " message_id date chat.id from.id from.is_bot sender_chat.id migrate_to_chat_id "
    "message_thread_id is_topic_message reply_to_message.message_id reply_to_message.from.id "
    "reply_to_message.chat.id message.message_id message.chat.id "
)
#: A server may send others: those that waited before these were asked for, for example.
_KINDS = ("message", "edited_message", "callback_query")
#: Contents that people send, and the agent does not understand. Nobody waits for an answer to
#: another one: it is about the chat.
_OTHERS = ("location", "venue", "contact", "dice", "poll", "game", "story", "checklist")
_MEDIA = ("photo", "video", "animation", "audio", "voice", "video_note", "document", "sticker")


def keep(update: dict, path: list[int | str], value: "Scalar") -> None:
    """Store a value of the reply in the dict `update`, if `handle` needs it."""
    # The path is like ["result", 0, "message", "chat", "id"].
    if len(path) < 4:
        if path[-1] == "update_id" and isinstance(value, int):
            update["update_id"] = value
        return
    if path[2] not in _KINDS:
        return
    update["kind"] = path[2]
    name = ".".join([str(key) for key in path[3:]])
    if name == "caption":
        name = "text"
    if name.startswith("forward_"):
        update["forwarded"] = True
    elif path[3] in _OTHERS:
        update["other"] = True
    elif path[3] in _MEDIA:
        update["media"] = path[3]
        media.keep(update, path, value)
    elif " %s " % name in _TEXTS:
        if not isinstance(value, str):
            update["wrong"] = name
        elif name == "text" and len(update.get(name, "")) >= _BEGINNING:
            # A long text comes in pieces, and stays so.
            rest = update.setdefault("rest", [])
            if sum([len(piece) for piece in rest]) < _MAX_TEXT:
                rest.append(value)
        else:
            update[name] = (update.get(name, "") + value)[:_LONGEST]
    elif " %s " % name in _NUMBERS:
        if not isinstance(value, (int, bool)):
            update["wrong"] = name
        update[name] = value
    elif path[3] in quoted.FIELDS:
        quoted.keep(update, path, value)


async def handle(bot: "Receiving", update: dict, http: "Http") -> bool:
    """
    Handle an update, {} when there is none; return False when it must wait at Telegram. `http` is
    connected. A malformed update is skipped, since it would come again and again and block all
    later ones.
    """
    try:
        if "wrong" in update:
            raise ValueError(update["wrong"])
        if update.get("kind") == "callback_query":
            await ask.pressed(bot, http, update)
            return True
        if "migrate_to_chat_id" in update:
            _moved(bot, update)
        return await _handle(bot, update, http)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        clause = log_exception("an update of Telegram's", error)
        if bot.owner and not bot.told_wrong:
            bot.told_wrong = True
            bot.say(
                bot.home, "I skipped a message from Telegram that I cannot read (%s)." % clause
            )
        return True


async def _handle(bot, update, http):
    chat = _place(update)
    who = str(update.get("sender_chat.id", update.get("from.id", "")))
    is_full = len(bot.inbound) >= bot.inbound.limit
    now = bot.now()
    stale = now is not None and now - update.get("date", now) > _STALE_S
    digest = bot.digest
    if digest and not (stale and digest.chat == chat and digest.sender == who):
        if is_full:
            return False
        if digest.texts > _DIGEST_TEXTS:
            digest.text += "\n(%d more were left out.)" % (digest.texts - _DIGEST_TEXTS)
        bot.inbound.put_nowait(digest)
        digest = bot.digest = None
    if "rest" in update and ("media" in update or update["text"][:1] == "/"):
        # A caption or a command is one text.
        update["text"] += "".join(update.pop("rest"))
    text = _words(bot, update)
    if not who or "chat.id" not in update or text is None or _is_silent(update):
        return True
    is_owner = _access(bot, update, who, text)
    if is_owner is None:
        return True
    if str(update["chat.id"]) == bot.owner:
        bot.home = chat
    offset = update["update_id"] + 1
    reply_to = update["message_id"]
    refusal = _refusal(update, text, stale)
    id = "tg-%d" % offset
    if update["kind"] != "message":
        id = "edit-%s-%d" % (chat, reply_to)  # one refusal for all edits of a message
    if "media_group_id" in update:
        if (refusal or not text.strip()) and bot.album == update["media_group_id"]:
            return True  # one of an album whose text is handled already
        bot.album = update["media_group_id"]
    file = None
    quotes_agent = False
    if "media" in update and text[:1] != "/" and not refusal:
        file, text, refusal = media.take(bot, update, text, stale)
    if refusal:
        bot.say(chat, refusal, reply_to=reply_to, id=id)
        return True
    if update.get("forwarded"):
        text = "(forwarded by me, %s)\n%s" % (SOMEBODY, text)
    elif "quoted" in update and text[:1] != "/":
        text, by_others = quoted.take(bot, update, text, stale)
        is_owner = is_owner and not by_others
        quotes_agent = by_others is None
    if not digest:
        message = Message("telegram", chat, text, who)
        message.reply_to = reply_to
        message.by_owner = is_owner
        message.quotes_agent = quotes_agent
        message.file = file
        if is_full or not _begin(bot, message, offset):
            return False
        if not stale:
            message.pieces = update.get("rest", 0)
            if text[:1] != "/":
                await _show_typing(bot, http, message)
            return bot.inbound.put_nowait(message)
        # The first message of our offline time starts a digest.
        digest = bot.digest = message
        digest.text = "(I wrote this over an hour ago. Answer it in one message.)"
        digest.texts = 0
    digest.texts += 1
    digest.by_owner = digest.by_owner and is_owner
    digest.quotes_agent = digest.quotes_agent or quotes_agent
    if digest.texts <= _DIGEST_TEXTS:
        digest.text += "\n- " + text[:_DIGEST_CHARS]
    return True


def _moved(bot, update):
    """Let a group in under its new id, until the next start, and tell the owner."""
    old, new = str(update.get("chat.id")), str(update["migrate_to_chat_id"])
    allowed = [str(one) for one in bot.config.get("telegram.allow") or ()]
    if old[:1] != "-":
        return  # only groups move
    if old == bot.owner:
        bot.owner = bot.home = new
        bot.config.put("telegram.owner", new)
    elif old not in allowed:
        return
    if old in allowed and new not in allowed:
        bot.config.put("telegram.allow", allowed + [new])
    if bot.owner:
        bot.say(
            bot.home,
            "The group %s has the new id %s. I use it until I restart: set it in config.json."
            % (old, new),
            id="moved" + new,
        )


def _place(update):
    """Return the chat of an update, with its topic as api.address has it."""
    chat = str(update.get("chat.id"))
    topic = update.get("message_thread_id", 1)
    if not update.get("is_topic_message") and "reply_to_message.message_id" in update:
        topic = 1  # a group without topics has the beginning of a conversation there
    # Telegram finds no topic 1, although messages outside of all topics may have it.
    return chat if topic == 1 else "%s:%d" % (chat, topic)


def _access(bot, update, who, text):
    """Return whether the owner has written it; None when its writer is not let in."""
    allowed = [str(one) for one in bot.config.get("telegram.allow") or ()]
    # The id of a group admits everyone who addresses the bot there.
    is_allowed = str(update["chat.id"]) in allowed
    if update.get("from.is_bot"):
        # Telegram names one bot as the writer of all messages in the name of a chat, such as those
        # of a group's anonymous admin.
        return False if is_allowed and "sender_chat.id" in update else None
    if who == bot.owner:
        return not update.get("forwarded")
    if is_allowed or who in allowed:
        return False
    if bot.pair is None or not pair.take(bot, update, text):
        _stranger(bot, update)
    return None


def _begin(bot, message, offset):
    """Store on flash that work on a message begins; return False when it must wait at Telegram."""
    for other in bot.open:
        if (other.chat, other.reply_to) == (message.chat, message.reply_to):
            # It came before, but memory was short.
            bot.open.remove(other)
            break
    if len(bot.open) >= bot.max_open:
        return False
    bot.open.append(message)
    try:
        bot.save(offset)
    except ValueError:  # too long for the slot
        bot.open.pop()
        return False
    return True


async def _show_typing(bot, http, message):
    """Show "typing..." to the writer of a message, over the open connection to save a
    handshake."""
    fields = dict(api.address(message.chat), action="typing")
    await api.attempt(bot, "sendChatAction", fields, http, _COURTESY_S)
    if bot.draft is not None:
        overlay.start(preview.follow(bot, message))


def _words(bot, update):
    """Return the text without the bot's name; None for a group's message that is not to the
    bot."""
    text = update.get("text", "")
    name = ("@%s" % bot.bot_name).lower()
    is_group = update.get("chat.type", "private") != "private"
    if is_group and update["kind"] != "message":
        return None
    if text[:1] == "/":
        words = text.split(None, 1)
        if is_group and not words[0].lower().endswith(name):
            return None
        words[0] = words[0].split("@")[0]
        return " ".join(words)
    if is_group:
        at = text.lower().find(name)
        end = at + len(name)
        after = text[end : end + 1]
        if at >= 0 and not (after.isalpha() or after.isdigit() or after == "_"):
            return (text[:at] + text[end:]).strip() or text
        me = bot.config.get("telegram.token").split(":")[0]
        chat = update.get("chat.id")
        if (
            str(update.get("reply_to_message.from.id")) != me
            # Every message of a topic replies to the one that made it.
            or update.get("reply_to_message.message_id") == update.get("message_thread_id", 0)
            or update.get("reply_to_message.chat.id", chat) != chat
        ):
            return None
    return text


def _is_silent(update):
    """Return whether nobody has written it: it is about the chat, or a live location moves on."""
    if "text" in update:
        return False
    return update["kind"] != "message" or not ("media" in update or "other" in update)


def _refusal(update, text, stale):
    """Return a plain sentence for an unsupported message, or None."""
    if update["kind"] == "edited_message":
        return "I do not follow edits: please send it again."
    if not text.strip() and "media" not in update:
        return "I understand text, photos and voice notes only."
    if text[:1] == "/":
        if update.get("forwarded"):
            return "A forwarded command is not executed: please type it."
        if stale:
            return "%s came over an hour late and was not executed." % text.split()[0]
    return None


def _stranger(bot, update):
    """Notify the owner of a stranger, once; a crowd of strangers yields one notice a day."""
    who = update["from.id"]
    mark = who & 0xFFFF
    if mark in bot.strangers:
        return
    log("telegram", "message from unknown user %d" % who)
    today = (bot.now() or 0) // _DAY_S
    if len(bot.strangers) >= _STRANGERS:
        if today == bot.strangers_day:
            return
        bot.strangers_day = today
        bot.strangers.pop(0)
    bot.strangers.append(mark)
    if bot.owner:
        name = ask.shown(update.get("from.first_name", ""), 40)
        text = (
            "A stranger wrote: %s, user id %d. Let in, they can talk to me; approvals stay yours."
        )
        buttons = (("Let in", "g:let:%d" % who), ("Ignore", "g:no:%d" % who))
        bot.say(
            bot.home,
            attachments.menu(text % (name or "no name", who), buttons),
            id="stranger-%d" % who,
            channel="telegram" + attachments.SUFFIX,
        )
    bot.save(bot.offset)

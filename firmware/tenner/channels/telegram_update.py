# tenner channels.telegram_update: one update, and what becomes of it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Closed by default: only the owner and those in `telegram.allow` reach the agent, in groups only when
they address the bot. Everybody else gets nothing, and the owner is told of a stranger once.
"""

from tenner.agent.bus import Message
from tenner.log import log
from tenner.port.compat import const

_MAX_TEXT = const(4096)
_STALE_S = const(3600)
_DAY_S = const(86400)
_STRANGERS = const(6)
_DIGEST_TEXTS = const(6)
_DIGEST_CHARS = const(300)

_KINDS = ("message", "edited_message", "callback_query")
_WANTED = (
    "message_id", "date", "chat.id", "chat.type", "from.id", "from.is_bot", "from.first_name", "text",
    "reply_to_message.from.id", "reply_to_message.chat.id", "reply_to_message.text",
    "id", "data", "message.message_id", "message.chat.id",
)  # fmt: skip
_FORWARDED = ("forward_origin", "forward_from", "forward_sender_name", "forward_date")
_MEDIA = (
    "photo", "voice", "document", "audio", "video", "video_note", "sticker", "animation", "location",
    "contact", "poll",
)  # fmt: skip


class Update:
    """Takes the values of a reply's updates and keeps the first that `seen(id)` does not know."""

    def __init__(self, seen):
        self._seen = seen
        self._index = None
        self._whole = False
        self._begin()

    def _begin(self):
        self.id = None
        self.kind = None
        self.media = None
        self.forwarded = False
        self._fields = {}

    def _wanted(self):
        return self.id is not None and not self._seen(self.id)

    def take(self, path, value, more):
        if self._whole or len(path) < 3:
            return
        if path[1] != self._index:
            if self._wanted():
                self._whole = True
                return
            self._index = path[1]
            self._begin()
        if path[2] == "update_id":
            self.id = value if isinstance(value, int) else None
        elif path[2] in _KINDS and len(path) > 3:
            self.kind = path[2]
            first = path[3]
            if first in _MEDIA:
                self.media = first
            elif first in _FORWARDED:
                self.forwarded = True
            elif len(path) < 7:
                name = ".".join([str(step) for step in path[3:]])
                if name in _WANTED:
                    self._keep(name, value)

    def _keep(self, name, value):
        before = self._fields.get(name)
        if isinstance(value, str) and isinstance(before, str):
            value = (before + value)[:_MAX_TEXT]
        self._fields[name] = value

    def whole(self):
        """Return itself when there is such an update, else None."""
        return self if self._whole or self._wanted() else None

    def get(self, name, default=""):
        return self._fields.get(name, default)


async def handle(bot, update):
    """Deal with an update, or with None when there is none. Return False when it must wait."""
    if bot.digest is not None and not (update and _joins_digest(bot, update)):
        if not _flush_digest(bot):
            return False
    if update is None:
        return True
    id = update.id
    if bot.ledger.interrupted(id):
        _tell_interrupted(bot, update)
        bot.ledger.finish(id)
        return True
    if not bot.ledger.has_room(id):
        if bot.digest is not None:
            _flush_digest(bot)
        return False
    if update.kind == "callback_query":
        bot.ledger.finish(id)
        from tenner.channels.telegram_ask import pressed

        await pressed(bot, update)
        return True
    if update.kind is None or update.get("from.is_bot") or not _addressed(bot, update):
        bot.ledger.finish(id)
        return True
    if not _knows(bot, update.get("from.id")):
        bot.ledger.finish(id)
        _stranger(bot, update)
        return True
    refusal = _refusal(bot, update)
    if refusal:
        bot.say(_chat(update), refusal, reply_to=update.get("message_id", None), id="tg-%d" % id)
        bot.ledger.finish(id)
        return True
    if _is_stale(bot, update):
        _add_to_digest(bot, update)
        return True
    if len(bot.inbound) >= bot.inbound.limit:
        return False
    message = Message("telegram", _chat(update), _text(bot, update), str(update.get("from.id")))
    bot.ledger.begin(id, message, update.get("message_id", None))
    bot.inbound.put_nowait(message)
    return True


def _knows(bot, who):
    """May this user talk to the agent?"""
    allowed = [str(one) for one in bot.config.get("telegram.allow") or ()]
    return bool(who) and (str(who) == bot.owner or str(who) in allowed)


def _chat(update):
    return str(update.get("chat.id"))


def _is_group(update):
    return update.get("chat.type", "private") != "private"


def _is_command(update):
    return update.get("text")[:1] == "/"


def _addressed(bot, update):
    """In a group: named, commanded by name, or answered; what others say there is not for us."""
    if not _is_group(update):
        return True
    if update.kind != "message":
        return False
    text = update.get("text")
    name = "@" + (bot.bot_name or "?").lower()
    if _is_command(update):
        return text.split()[0].lower().endswith(name)
    if update.get("reply_to_message.from.id") == bot.bot_id:
        return update.get("reply_to_message.chat.id", update.get("chat.id")) == update.get(
            "chat.id"
        )
    at = text.lower().find(name)
    after = text[at + len(name) : at + len(name) + 1]
    return at >= 0 and not (after.isalpha() or after.isdigit() or after == "_")


def _text(bot, update):
    """Return what the agent is to read: without the bot's name, with what was quoted or forwarded."""
    text = update.get("text")
    if _is_command(update):
        # "/cmd@name args": the name was looked at already.
        words = text.split(None, 1)
        words[0] = words[0].split("@")[0]
        return " ".join(words)
    if _is_group(update):
        at = text.lower().find("@" + (bot.bot_name or "?").lower())
        if at >= 0:
            text = (text[:at] + text[at + 1 + len(bot.bot_name) :]).strip() or text
    if update.forwarded:
        return "(forwarded by me, written by somebody else)\n" + text
    return text


def _refusal(bot, update):
    """Return a plain sentence for what is not supported, or None."""
    if update.kind == "edited_message":
        return "I do not follow edits. Please send the changed text as a new message."
    if update.media:
        kind = update.media.replace("_", " ")
        return "I cannot read a %s yet. Please write it as text." % kind
    if not update.get("text").strip():
        return "I can only read text. Please write it as a message."
    if _is_command(update):
        if update.forwarded:
            return "A forwarded command is not executed. Please type it."
        if _is_stale(bot, update):
            return (
                "%s came more than an hour late and was not executed."
                % update.get("text").split()[0]
            )
    return None


def _is_stale(bot, update):
    now = bot.now() if bot.now is not None else None
    date = update.get("date", None)
    return now is not None and isinstance(date, int) and now - date > _STALE_S


def _tell_interrupted(bot, update):
    if update.kind == "message" and _knows(bot, update.get("from.id")):
        bot.say(
            _chat(update),
            "I was restarted while working on this. Please send it again if no answer came.",
            reply_to=update.get("message_id", None),
            id="tg-%d" % update.id,
        )


def _stranger(bot, update):
    """Tell the owner of a stranger, once; a crowd of them is not worth more than a few lines a day."""
    who = update.get("from.id", 0)
    mark = who & 0xFFFF if isinstance(who, int) else 0
    if mark in bot.ledger.strangers:
        return
    log("telegram", "a stranger wrote: user %s" % who)
    now = bot.now() if bot.now is not None else None
    if len(bot.ledger.strangers) >= _STRANGERS:
        today = now // _DAY_S if now is not None else None
        if today is None or today == bot.ledger.strangers_day:
            return
        bot.ledger.strangers_day = today
        bot.ledger.strangers.pop(0)
    bot.ledger.strangers.append(mark)
    bot.ledger.save()
    if bot.owner:
        bot.say(
            bot.owner,
            "A stranger wrote to me and got no answer: %s, user id %s. To let them in, add the id to"
            " telegram.allow." % (_plain(update.get("from.first_name")), who),
            id="stranger-%s" % who,
        )


def _plain(name):
    """A stranger's name is data: no marks, no lines, and short."""
    return "".join([c for c in str(name)[:40] if c not in "*_`~[]()<>\n\r@/\\"]) or "no name"


# --- what came while we were away


class Digest:
    """Old texts of one chat, answered together."""

    def __init__(self, chat, sender):
        self.message = Message("telegram", chat, "", sender)
        self.texts = []
        self.left_out = 0


def _joins_digest(bot, update):
    digest = bot.digest
    return (
        update.kind == "message"
        and _chat(update) == digest.message.chat
        and str(update.get("from.id")) == digest.message.sender
        and _is_stale(bot, update)
    )


def _add_to_digest(bot, update):
    if bot.digest is None:
        bot.digest = Digest(_chat(update), str(update.get("from.id")))
    digest = bot.digest
    if len(digest.texts) >= _DIGEST_TEXTS:
        digest.left_out += 1
        bot.ledger.finish(update.id)
        return
    digest.texts.append(_text(bot, update)[:_DIGEST_CHARS])
    bot.ledger.begin(update.id, digest.message, update.get("message_id", None))


def _flush_digest(bot):
    """Hand the digest over; return False when the queue is full."""
    if len(bot.inbound) >= bot.inbound.limit:
        return False
    digest, bot.digest = bot.digest, None
    lines = [
        "(I wrote this while you were away, more than an hour ago. Answer it in one message.)"
    ]
    lines += ["- " + text for text in digest.texts]
    if digest.left_out:
        lines.append("(%d more were left out.)" % digest.left_out)
    digest.message.text = "\n".join(lines)
    bot.inbound.put_nowait(digest.message)
    return True

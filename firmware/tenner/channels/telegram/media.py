# tenner channels.telegram.media: the files that people send: which are wanted, and their download.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.telegram import api
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Api, Pairing
    from tenner.net.http import Http
    from tenner.net.json.scanner import Scalar

_KEPT = ("file_id", "file_size", "width", "height", "mime_type")
_SIZES = const(8)  # of one photo
_LONGEST = const(256)
#: A photo with this longer side, in pixels, is large enough for a model.
_ENOUGH = const(768)
_TOO_BIG = const("This %s has %d KB, and I take %d KB at most (%s)%s.")
_TYPES = ("image/jpeg", "image/png", "image/webp", "image/gif")

_PIECE = const(512)
_TIMEOUT_S = const(120)


def keep(update: dict, path: list[int | str], value: "Scalar") -> None:
    """Store a value of a message's file in the dict `update`, if `take` needs it."""
    # The path is like ["result", 0, "message", "photo", 2, "width"], or without a number.
    place = path[4] if len(path) == 6 else 0
    if not isinstance(place, int) or place >= _SIZES or path[-1] not in _KEPT:
        return
    if len(path) < 5 or (len(path) == 5 and isinstance(path[4], int)):
        return
    if isinstance(value, str) != (path[-1] in ("file_id", "mime_type")):
        return
    sizes = update.setdefault("sizes", [])
    while len(sizes) <= place:
        sizes.append({})
    if isinstance(value, str):  # it may come in pieces
        value = (sizes[place].get(path[-1], "") + value)[:_LONGEST]
    sizes[place][path[-1]] = value


def take(
    bot: "Pairing", update: dict, text: str, is_stale: bool
) -> "tuple[tuple[str, str, int] | None, str, str | None]":
    """
    Return (the file to fetch as in Message.file, the text for the model, a refusal) for a message
    with a file and the caption `text`, which may be empty.
    """
    kind = update["media"]
    sizes = update.get("sizes") or [{}]
    limit_kb = bot.config.get("telegram.photo_kb")
    is_image = sizes[0].get("mime_type", "")[:6] == "image/"
    refusal = None
    if kind == "photo" or (kind == "document" and is_image):
        if limit_kb and not is_stale:
            return _picture(update, kind, sizes, limit_kb, text)
        refusal = (
            "This photo came over an hour late: please send it again."
            if limit_kb
            else "I look at no photos: telegram.photo_kb is 0."
        )
    elif kind in ("voice", "audio"):
        if bot.config.get("voice.url") and not is_stale:
            return _voice(bot, sizes[0], text)
        refusal = (
            "This voice note came over an hour late: please send it again."
            if bot.config.get("voice.url")
            else "I listen to no voice notes: set voice.url to a transcription service."
        )
    what = kind.replace("_", " ")
    if text.strip():
        return None, "(with a %s, which you cannot see)\n%s" % (what, text), None
    return None, "", refusal or "I understand text, photos and voice notes only, no %s." % what


def _picture(update, kind, sizes, limit_kb, text):
    if kind == "document" and sizes[0]["mime_type"] not in _TYPES:
        return None, "", "I look at pictures in JPEG, PNG, WebP and GIF only."
    best = _best(sizes, 1024 * limit_kb)
    if best is None:
        least = min([one.get("file_size", 0) for one in sizes])
        why = _TOO_BIG % (
            "picture",
            (least + 1023) // 1024,
            limit_kb,
            "telegram.photo_kb",
            ": send it as a photo, not as a file" if kind == "document" else "",
        )
        return None, "", why
    about = "a photo"
    if "media_group_id" in update:
        about += ", the first of several; the others are not shown"
    return ("photo", best["file_id"], best.get("file_size", 0)), "[%s]\n%s" % (about, text), None


def _voice(bot, file, text):
    size = file.get("file_size", 0)
    limit_kb = bot.config.get("voice.max_kb")
    if size > 1024 * limit_kb:
        return (
            None,
            "",
            _TOO_BIG % ("voice note", (size + 1023) // 1024, limit_kb, "voice.max_kb", ""),
        )
    return ("voice note", file["file_id"], size), "[a voice note]\n" + text, None


def _best(sizes, limit):
    """Return the smallest size that is large enough for a model, or the largest within `limit`
    bytes; None if all have more."""
    best = None
    for one in sorted(sizes, key=_side):
        if one.get("file_size", 0) > limit or (best and _side(best) >= _ENOUGH):
            break
        best = one
    return best


def _side(size):
    return max(size.get("width", 0), size.get("height", 0))


class TooBig(Exception):
    """The file has more bytes than allowed."""


async def fetch(bot: "Api", http: "Http", file_id: str, path: str, limit: int) -> str:
    """
    Store the file with this id at `path`, and return its name at Telegram. Raise TooBig if it has
    more than `limit` bytes, one of FAILURES if it cannot be fetched. `path` may have a part of the
    file after an exception.
    """
    place = ""
    size = 0

    def sink(names, value, more):
        nonlocal place, size
        if names[-1] == "file_path":
            place += value  # a long text comes in pieces
        elif names[-1] == "file_size":
            size = value

    await api.request(bot, http, "getFile", {"file_id": file_id}, sink)

    async def store(response):
        if response.status != 200:
            raise OSError({"status": response.status, "description": "to the download"})
        buf = bytearray(_PIECE)
        view = memoryview(buf)
        total = 0
        with files.open_own(path, "wb") as file:
            while True:
                count = await response.readinto(buf)
                if not count:
                    break
                total += count
                if total > limit:
                    raise TooBig
                files.put(file, view[:count])
        if total != (size or total) or not total:
            raise EOFError("the file was cut off")

    if size > limit:
        raise TooBig
    # As bot.url, but with /file before the token.
    base = bot.config.get("telegram.base_url").rstrip("/")
    url = "%s/file/bot%s/%s" % (base, bot.config.get("telegram.token"), place)
    await http.exchange("GET", url, (), None, store, _TIMEOUT_S)
    return place.rpartition("/")[2]

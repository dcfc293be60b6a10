# tenner channels.telegram.download: fetches a file that a person has sent.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.telegram import api
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Api
    from tenner.net.http import Http

_PIECE = const(512)
_TIMEOUT_S = const(120)


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

# tenner update.request: the steps of an update that the owner or the day asks for.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.log import log
from tenner.update import install, trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.update.types import Updating

_FAILURES = (OSError, ValueError, overlay.OutOfMemory)
_DONE = "Version %s is in place. I restart into its trial; you hear from me within ten minutes."
_TWICE = "another update is running"
_SHORT = "the board is short of memory. Restart it, then send /update again"


async def look(app: "Updating", channel: str, chat: int | str) -> "tuple[str, str] | None":
    """Return (version, question) of the release at update.url; None after a message to this chat
    that there is none."""
    try:
        _, version, text = await overlay.step("UPDATE", install.look, app)
        if version:
            return version, text
        text = _no(text)
    except _FAILURES as error:
        text = _no(error)
    app.deliver(channel, chat, text)
    return None


async def run(
    app: "Updating",
    channel: "str | None",
    chat: "int | str | None",
    version: str,
    computer: "tuple[str, int, str, bytes] | None" = None,
) -> None:
    """Install this version from update.url, or from the owner's computer (pinned.client), and
    restart; or tell this chat why not, or the computer if `channel` is None."""
    if app.updating:
        _tell(app, channel, chat, _no(_TWICE))
        return
    app.updating = True
    try:
        await overlay.step("UPDATE", install.download, app, version, computer)
    except _FAILURES as error:
        _tell(app, channel, chat, _no(error))
        return
    finally:
        app.updating = False
    if channel:
        app.deliver(channel, chat, _DONE % version)
    await overlay.step("UPDATE", trial.restart, app)


def _tell(app: "Updating", channel, chat, text):
    if channel:
        app.deliver(channel, chat, text)
    else:
        trial.note(app, text)


def _no(reason):
    if isinstance(reason, overlay.OutOfMemory):
        reason = _SHORT
    text = "No update: %s." % str(reason).rstrip(".")
    log("update", text)
    return text

# tenner update.request: the steps of an update that the owner or the day asks for.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.log import log
from tenner.store import files
from tenner.update import install, slot, trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.update.types import Updating

_FAILURES = (OSError, ValueError, overlay.OutOfMemory)
_DONE = "Version %s is in place. I restart into its trial; you hear from me within ten minutes."
_TWICE = "another update is running"
_CUT = "I was restarted during the update. Please send /update again: it goes on where it was."
_SHORT = "the board is short of memory. Restart it, then send /update again"


async def look(app: "Updating", channel: str, chat: int | str) -> "tuple[str, str] | None":
    """Return (version, question) of the release at update.url; None after a message to this chat
    that there is none."""
    _begin(app)
    version = None
    try:
        _, version, text = await overlay.step("UPDATE", install.look, app)
        if not version:
            text = _no(text)
    except _FAILURES as error:
        text = _no(error)
    if not version:
        app.deliver(channel, chat, text)
    if not app.updating:
        _end(app)
    return (version, text) if version else None


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
    if channel:
        _begin(app)
    try:
        await overlay.step("UPDATE", install.download, app, version, computer)
        if channel:
            app.deliver(channel, chat, _DONE % version)
    except _FAILURES as error:
        _tell(app, channel, chat, _no(error))
        _end(app)
        return
    finally:
        app.updating = False
    _end(app)
    await overlay.step("UPDATE", trial.restart, app)


async def look_back(app: "Updating") -> None:
    """Tell the owner how the update before this start has ended."""
    if files.exists(app.port.path("lib/failed")):
        await trial.rolled_back(app)
    elif files.exists(app.port.path("lib/passed")):
        await trial.passed(app)
    if files.exists(app.state + slot.ORDER):
        _cut_off(app)


def _cut_off(app: "Updating"):
    # Its last step is the restart into the trial.
    channel, chat = app.owner()
    if channel is not None and not files.exists(app.port.path("lib/trial")):
        log("update", "a restart has ended it")
        app.deliver(channel, chat, _CUT, id="update.run")
    _end(app)


def _begin(app: "Updating"):
    try:
        files.write_atomic(app.state + slot.ORDER, "")
    except OSError as error:
        log("update", "you would not hear of a restart during it: %s" % error)


def _end(app: "Updating"):
    files.remove(app.state + slot.ORDER)


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

# tenner update.request: answers `/update`.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.log import log
from tenner.store import files
from tenner.update import install, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.app import App

_SHORT = "No update: the board is short of memory. Restart it, then send /update again."


async def answer(app: "App", channel: str, chat: int | str, wanted: str) -> None:
    """Answer `/update` in the owner's chat; `wanted` is the version to install, "" to look
    only."""
    try:
        text = await overlay.step("UPDATE", install.update, app, wanted)
    except overlay.OutOfMemory:
        text = _SHORT
        log("update", text)
    except (OSError, ValueError) as error:
        text = "No update: %s." % str(error).rstrip(".")
        log("update", text)
    app.deliver(channel, chat, text)
    if files.exists(app.port.path("lib/next")):
        await overlay.step("UPDATE", report.restart, app)

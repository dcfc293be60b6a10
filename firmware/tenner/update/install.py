# tenner update.install: looks at a release, and installs it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Each step has the memory to itself: the manifest comes, is checked, the content comes, is checked.
`computer` is the owner's computer (pinned.client), None for update.url.
"""

from tenner import __version__, overlay
from tenner.log import log
from tenner.update import pinned, slot
from tenner.update.download import Download
from tenner.update.manifest import Manifest, Refused
from tenner.update.staging import Staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Parts


async def look(
    app: "Parts", etag: "str | None" = None
) -> "tuple[str | None, str | None, str] | None":
    """
    Return (ETag or None, version, question to the owner) of the release at update.url, and (ETag,
    None, the reason) for a release that this board does not take; None if it still has this
    `etag`. OSError or Refused with a sentence if there is none.
    """
    data, etag = await overlay.step("UPDATE", _manifest, app, None, etag)
    if data is None:
        return None
    version, text = await overlay.step("UPDATE", _offer, app, data)
    return etag, version, text


async def download(
    app: "Parts", wanted: str, computer: "tuple[str, int, str, bytes] | None" = None
) -> None:
    """Bring the release onto the flash if it is version `wanted`: the next start is its trial.
    OSError or ValueError with a sentence if that fails."""
    data, _ = await overlay.step("UPDATE", _manifest, app, computer)
    plan = await overlay.step("UPDATE", _begin, app, data, wanted)
    await overlay.step("UPDATE", _content, app, computer, data, plan)
    await overlay.step("UPDATE", _finish, app, plan)


async def _manifest(app: "Parts", computer, etag=None):
    """Return (the manifest with its signature, the ETag); None for the manifest of this ETag."""
    source = _source(app, computer)
    try:
        return await source.manifest(etag), source.etag
    finally:
        await source.http.close()


async def _content(app: "Parts", computer, data, plan):
    source = _source(app, computer)
    try:
        await source.content(Staging(app.port.root, plan), data)
    finally:
        await source.http.close()


def _source(app: "Parts", computer):
    if computer:
        return pinned.source(pinned.client(app, computer), computer)
    return Download(app.http(), app.config.get("update.url"))


async def _offer(app: "Parts", data):
    """Return (version, question to the owner), or (None, why it is not for this board)."""
    try:
        offer = _verified(app, data)
    except Refused as error:
        return None, error.args[0]
    version = offer.version
    if offer.micropython:
        version += " with MicroPython " + offer.micropython[2]
    text = "Version %s is there, %d KB, in place of %s: %s\nInstall it? Later: /update" % (
        version,
        offer.total() // 1024,
        __version__,
        offer.notes,
    )
    return offer.version, text


async def _begin(app: "Parts", data, wanted):
    """Begin the new tree, or go on with it; return its plan."""
    version = _verified(app, data).version
    if wanted != version:
        raise Refused("the release is version %s now: /update again" % version)
    staging = Staging(app.port.root)
    staging.resume(data)
    return staging.plan


async def _finish(app: "Parts", plan):
    staging = Staging(app.port.root, plan)
    await staging.verify()
    staging.switch()
    log("update", "%s is in place: restarting" % plan[0])


def _verified(app: "Parts", data):
    """Return the Manifest of these bytes; Refused unless this board takes it."""
    offer = Manifest(data, app.port.root)
    offer.check(app.port.kind)
    if offer.micropython:
        slot.check(offer, app.port.root)
    return offer

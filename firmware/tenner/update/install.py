# tenner update.install: looks at a release, and installs it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A source of a release is an object with two async methods: `manifest()` returns the bytes of the
manifest with its signature, and `content(staging, data)` passes the missing part of the content
with this manifest to `staging.receive`. download.Download is one; nothing here knows of a network.
"""

from tenner import __version__
from tenner.log import log
from tenner.update import pinned, slot
from tenner.update.download import Download
from tenner.update.manifest import Manifest, Refused
from tenner.update.staging import Staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.app import App


async def look(
    app: "App", etag: "str | None" = None
) -> "tuple[str | None, str | None, str] | None":
    """
    Return (ETag or None, version, question to the owner) of the release at update.url, and (ETag,
    None, the reason) for a release that this board does not take; None if it still has this
    `etag`. OSError or Refused with a sentence if there is none.
    """
    http = app.http()
    source = Download(http, app.config.get("update.url"))
    try:
        data = await source.manifest(etag)
    finally:
        await http.close()
    if data is None:
        return None
    try:
        offer = _verified(app, data)
    except Refused as error:
        return source.etag, None, error.args[0]
    version = offer.version
    if offer.micropython:
        version += " with MicroPython " + offer.micropython[2]
    text = "Version %s is there, %d KB, in place of %s: %s\nInstall it? Later: /update" % (
        version,
        offer.total() // 1024,
        __version__,
        offer.notes,
    )
    return source.etag, offer.version, text


async def download(
    app: "App", wanted: str, computer: "tuple[str, int, str, bytes] | None" = None
) -> None:
    """Install the release at update.url, or that of the owner's computer (pinned.client), if it
    is version `wanted`, as `install`."""
    if computer:
        http = pinned.client(app, computer)
        source = pinned.source(http, computer)
    else:
        http = app.http()
        source = Download(http, app.config.get("update.url"))
    try:
        await install(app, source, wanted)
    finally:
        await http.close()


async def install(app: "App", source: "Download", wanted: str) -> None:
    """Bring the release of `source` onto the flash if it is version `wanted`: the next start is
    its trial. OSError or ValueError with a sentence if that fails."""
    data = await source.manifest()
    version = _verified(app, data).version
    if wanted != version:
        raise Refused("the release is version %s now: /update again" % version)
    staging = Staging(app.port.root)
    await source.content(staging, data)
    await staging.verify()
    staging.switch()
    log("update", "%s is in place: restarting" % version)


def _verified(app, data):
    """Return the Manifest of these bytes; Refused unless this board takes it."""
    offer = Manifest(data, app.port.root)
    offer.check(app.port.kind)
    if offer.micropython:
        slot.check(offer, app.port.root)
    return offer

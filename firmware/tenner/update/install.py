# tenner update.install: looks at update.url for the owner, and installs its release.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import __version__
from tenner.log import log
from tenner.update import download
from tenner.update.manifest import Manifest
from tenner.update.staging import Staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.app import App


async def update(app: "App", wanted: str) -> str:
    """Return the answer to `/update`: the offer, or a word on its installation if `wanted`
    names it. OSError or ValueError with a sentence if neither can be done."""
    root = app.port.root
    http = app.http()
    url = app.config.get("update.url")
    try:
        data = await download.manifest(http, url)
        offer = Manifest(data, root)
        offer.check(app.port.kind)
        if wanted != offer.version:
            return (
                "Version %s is there, %d KB, in place of %s: %s\nInstall it with: /update %s"
                % (
                    offer.version,
                    offer.total() // 1024,
                    __version__,
                    offer.notes,
                    offer.version,
                )
            )
        # The download needs the memory of the offer; `staging` reads it again.
        offer = None
        staging = Staging(root)
        await download.content(http, url, staging, data)
        await staging.verify()
        staging.switch()
    finally:
        await http.close()
    log("update", "%s is in place: restarting" % wanted)
    return (
        "Version %s is in place. I restart into its trial; you hear from me within ten minutes."
        % wanted
    )

# tenner page.settings: shows the settings without secrets, and changes them.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json

from tenner import log, overlay
from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.store import config, configload, settings_file
from tenner.store.suggest import nearest
from tenner.update import trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_SECRET = const(4)


async def get(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send every key, and the values of those that are set."""
    try:
        shown = dict(_shown(settings_file.load(page.app.port), ""))
    except ValueError as error:
        raise Refused(422, str(error))
    await connection.answer(200, {"settings": _rows(shown)})


def _rows(shown):
    for key, _, _, _, secret, about in config.rows():
        value = shown.pop(key, None)
        yield {"key": key, "about": about, "secret": secret, "value": value}
    for key in sorted(shown):
        # Of a section with names of the owner's choice.
        yield {"key": key, "about": "", "secret": _is_secret(key), "value": "\u2026"}


async def change(page: "Page", connection: "Connection", request: "Request") -> None:
    """Change settings, and restart the agent."""
    changes = request.object().get("changes")
    if not isinstance(changes, dict) or not changes:
        raise Refused(400, "changes must be an object of keys and their values as text")
    values = {}
    for key in changes:
        if not isinstance(changes[key], str):
            raise Refused(400, "every value must be a text, as in `tenner setup --set`")
        values[key] = _value(key, changes[key])
    try:
        settings_file.change(page.app.port, values)
    except ValueError as error:
        raise Refused(422, str(error))
    log.log("page", "changed %s" % ", ".join(sorted(changes)))
    await connection.answer(200, {"agent": {"running": True, "text": "the agent restarts"}})
    await connection.close()
    asyncio.create_task(overlay.run("UPDATE", trial.restart, page.app))


def _shown(tree, prefix):
    """Yield (key, value as text) of every present setting, secrets hidden."""
    for name in tree:
        key = prefix + name
        value = tree[name]
        if isinstance(value, dict):
            yield from _shown(value, key + ".")
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            yield key, "%d of them" % len(value)
        else:
            yield key, "***" if _is_secret(key) else json.dumps(value)


def _is_secret(key):
    row = config.find(key)
    return bool(row and row[_SECRET])


def _value(key, text):
    """Return the value of a text that a person typed, None for the default."""
    row = config.find(key)
    if row is None:
        best = nearest(key, [row[0] for row in config.rows()])
        hint = ", did you mean %s?" % best if best else ""
        raise Refused(422, "'%s' is no key of the settings%s" % (log.visible(key)[:80], hint))
    if row[_SECRET]:
        raise Refused(422, "%s is a secret: `tenner setup` asks for it" % key)
    if not text:
        return None
    try:
        return configload.typed(key, row, text)
    except ValueError as error:
        raise Refused(422, str(error))

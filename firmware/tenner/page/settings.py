# tenner page.settings: shows the settings without secrets, and changes them.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import os

from tenner import log, overlay
from tenner.page.request import Refused
from tenner.port import open_port
from tenner.port.compat import const
from tenner.store import config, configload, files, json_strict
from tenner.store.suggest import nearest
from tenner.update import trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.parts import Base
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_SECRET = const(4)
_NEW = ".new"


async def get(page: "Page", connection: "Connection", request: "Request") -> None:
    """Send every key, and the values of those that are set."""
    shown = dict(_shown(_load(page.app), ""))
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
    tree = _load(page.app)
    for key in changes:
        if not isinstance(changes[key], str):
            raise Refused(400, "every value must be a text, as in `tenner setup --set`")
        _put(tree, key, _value(key, changes[key]))
    _write(page.app, tree)
    log.log("page", "changed %s" % ", ".join(sorted(changes)))
    await connection.answer(200, {"agent": {"running": True, "text": "the agent restarts"}})
    await connection.close()
    asyncio.create_task(overlay.run("UPDATE", trial.restart, page.app))


def _path(app: "Base"):
    return getattr(app.port, "settings", "") or app.port.path("config.json")


def _load(app: "Base"):
    path = _path(app)
    if not files.exists(path):
        return {}
    try:
        found = json_strict.loads(files.read_text(path))
    except ValueError as error:
        raise Refused(422, "config.json: %s" % error)
    return found if isinstance(found, dict) else {}


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


def _put(tree, key, value):
    sections = key.split(".")
    name = sections.pop()
    for section in sections:
        tree = tree.setdefault(section, {})
        if not isinstance(tree, dict):
            raise Refused(422, "%s: %s is a setting, not a section" % (key, section))
    if value is not None:
        tree[name] = value
    elif name in tree:
        del tree[name]


def _write(app: "Base", tree):
    """Replace the file by one with which the agent starts; Refused otherwise."""
    path = _path(app)
    try:
        mode = os.stat(path)[0] if files.exists(path) else 0
        with open(path + _NEW, "wb") as file:
            if mode and hasattr(os, "chmod"):
                # It has secrets.
                os.chmod(path + _NEW, mode & 0x1FF)
            files.put(file, "".join(_text(tree, "")) + "\n")
            files.sync(file)
        try:
            configload.check(path + _NEW, open_port(app.port.root))
        except ValueError as error:
            raise Refused(422, str(error).replace(path + _NEW, "config.json"))
        files.rename(path + _NEW, path)
    except OSError as error:
        raise Refused(
            422, "this agent may not write its settings (%s): use `tenner setup`" % error
        )
    finally:
        if files.exists(path + _NEW):
            files.remove(path + _NEW)


def _text(value: "Any", indent: str) -> "list[str]":
    """Return JSON for people; MicroPython's has no line breaks, and no order."""
    if not isinstance(value, dict):
        return [json.dumps(value)]
    if not value:
        return ["{}"]
    lines = []
    for name in sorted(value):
        if value[name] != {}:
            lines.append((",\n" if lines else "{\n") + indent + " " + json.dumps(name) + ": ")
            lines.extend(_text(value[name], indent + " "))
    return lines + ["\n" + indent + "}"] if lines else ["{}"]
